/*
 * walk.h - what is known while the cells of one matrix are walked. Private to expand.c, chain.c and expand_tell.c.
 */
#ifndef STB_WALK_H
#define STB_WALK_H

#include "compiler/expand.h"

enum { STB_MAX_AXES = 64 };

struct stb_lack { /* a reference that nothing binds */
	const struct stb_block *block;
	const struct stb_schema_attr *row;
	uint32_t n_cells, first_cell;
};

struct stb_walk {
	struct stb_expansion *x;
	struct stb_xmatrix *m;
	uint32_t point[STB_MAX_AXES];
	uint64_t n, limit;         /* counting: stops when n exceeds limit */
	bool counting;
	bool filling;              /* at the chain of a fill */
	bool only_io;              /* no workload of the spec takes a database, whatever axes offer */
	bool only_loads;           /* no setting touches another block than a workload: axes by kind alone make the env */
	const struct stb_env *last_env, *last_base;
	uint32_t last_point[STB_MAX_AXES]; /* of the leading axes, with last_env */
	bool by_cell;              /* some address may say ${cell.AXIS} */
	struct stb_xsettings active;
	uint32_t workload;         /* its axis */
	struct stb_intern chains;  /* workload, offers and settings in force -> struct stb_chain */
	const char *tail;          /* of the cells' identities */
	size_t tail_len;
	uint32_t *points;          /* room for those of the cells to come */
	uint32_t n_same, same_a, same_b;
	struct stb_lack *lacks;
	uint32_t n_lacks, cap_lacks;
	uint32_t n_errors_before;  /* of this matrix: cells that are the same may be their consequence */
};

/*
 * chain.c: the chain of the cell at w->point, with the settings in w->active. NULL: it is not complete, which was counted (w->lacks) or
 * reported. Settings that touch a block of it are marked as seen in the cell.
 */
const struct stb_chain *stb_chain_find(struct stb_walk *w, uint32_t cell);
/* All blocks of the cell but its workloads. chain may be NULL: then only what axes describe is followed. */
const struct stb_env *stb_env_find(struct stb_walk *w, const struct stb_chain *chain, uint32_t cell);

/* Tells once, with the number of cells, what was counted. */
void stb_walk_tell(struct stb_walk *w);

#endif
