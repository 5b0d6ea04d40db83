/*
 * compile.h - the passes in their order: parse, resolve, check, expand, lower. What the driver and the tests call.
 */
#ifndef STB_COMPILE_H
#define STB_COMPILE_H

#include "compiler/diag.h"
#include "runtime/plan/plan.h"

/*
 * Where texts come from: the file system, or what a driver puts in its place (a revision of git). A real path is absolute and has neither
 * links nor dots; files are told apart by it.
 */
struct stb_loader {
	const char *root; /* real path that includes stay beneath, "" for / */
	/* The real path of a path, in the arena; NULL with errno. */
	char *(*real)(const struct stb_loader *l, struct stb_arena *a, const char *path);
	enum stb_source_status (*load)(const struct stb_loader *l, struct stb_sources *s, const char *real, const char *name, uint32_t *file,
		int *errno_out);
};
struct stb_topology;

struct stb_compile_options {
	const char *profile;      /* NULL: bare */
	const char *const *set;   /* "name=value" */
	uint32_t n_set;
	uint64_t max_cells;       /* 0: 100,000 */
	const struct stb_loader *loader; /* NULL: the file system */
	const struct stb_topology *topology; /* pins are judged on it; NULL: only by what holds everywhere */
	bool check_profiles;      /* `check`: also under each profile (diagnostics name it) */
};

struct stb_compilation {
	struct stb_sources sources;
	struct stb_sink sink;
	struct stb_arena arena;
};

void stb_compilation_init(struct stb_compilation *c);
void stb_compilation_fini(struct stb_compilation *c);

/* Reads a file alone ("-": standard input). false: the sink says why not. */
STB_NODISCARD bool stb_compile_load(struct stb_compilation *c, const char *path, const struct stb_loader *l, uint32_t *file);

/*
 * Reads path (and its includes) and makes the plan. NULL when there is an error; what was found lies in c->sink either way.
 * Opens nothing for writing, starts nothing, connects nowhere. The plan is sealed and verified; the caller frees it.
 */
struct stb_plan *stb_compile_file(struct stb_compilation *c, const char *path, const struct stb_compile_options *o);
/* The same from bytes (tests, fuzzing): includes are not followed (each is an error). */
struct stb_plan *stb_compile_bytes(struct stb_compilation *c, const char *name, const char *bytes, size_t len,
	const struct stb_compile_options *o);

#endif
