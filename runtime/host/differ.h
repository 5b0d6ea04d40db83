/*
 * differ.h - two environment records against each other: what is otherwise, and whether figures of the two still belong together.
 *
 * Pure: reads what stb_host_describe() and the run's record wrote, never the machine.
 */
#ifndef STB_DIFFER_H
#define STB_DIFFER_H

#include "runtime/base/arena.h"

struct json_t;

struct stb_difference {
	const char *what;      /* "kernel", "storage disk: device.model" */
	const char *was, *is;  /* as people read them; "not known" where one of them could not be read */
	const char *kind, *name; /* "storage" or "database" and its name, where it is about one; else NULL */
	bool matters;          /* figures from before and after do not belong into one table */
};

struct stb_differences {
	struct stb_arena arena;
	struct stb_difference *items; /* in the order of the records: machine, storage, addresses, databases */
	size_t n, cap;
	size_t n_matter;
};

/*
 * What matters: kernel, architecture, processor and how many of them may be used, governor, memory (by more than 2%), huge pages, stb's version
 * and commit; under each storage class file system, mount options and device (by model, serial and size, else by its name), its scheduler and write cache;
 * address and server version of each database. Only recorded: distribution, swap, names and mount points that moved, variables of a
 * server (with `variables`), and what one of the two does not know.
 *
 * Storage classes and databases that only one of them has are no difference: the cells tell that.
 */
void stb_differences_find(struct stb_differences *d, const struct json_t *was, const struct json_t *is, bool variables);
/* Whether it is the commit of a build: outside of a repository there is none. */
bool stb_commit_known(const char *commit);
void stb_differences_fini(struct stb_differences *d);

#endif
