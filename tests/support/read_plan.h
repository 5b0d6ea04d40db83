/*
 * read_plan.h - reads every block of a plan as a run would before it touches anything: what loads is refused there or can be worked with.
 * For the unit tests and the fuzz target of plans, which share nothing else.
 */
#ifndef STB_TEST_READ_PLAN_H
#define STB_TEST_READ_PLAN_H

#include "runtime/db/oltp.h"
#include "runtime/db/server.h"
#include "runtime/io/config.h"
#include "runtime/io/io.h"
#include "runtime/storage/volume.h"

#include <string.h>

static inline int stb_test_read_database(const struct stb_plan_block *b, struct stb_arena *a, struct stb_err *err)
{
	const struct stb_option_file f = { .data_dir = "/d", .tmp_dir = "/t", .socket = "/s", .pid_file = "/p", .error_log = "/e" };
	struct stb_db_address address;
	struct stb_buf text;
	const char *version;
	int rc;

	if (!strcmp(b->type, "external"))
		return stb_db_external_address(b, a, &address, err);
	stb_buf_init(&text);
	rc = stb_mysqld_read(b, &version, err) || stb_option_file(&text, &f, b, err) ? -1 : 0;
	stb_buf_fini(&text);
	return rc;
}

/* 0, or -1 with *err where a run refuses it. */
static inline int stb_test_read_block(const struct stb_plan_block *b, struct stb_arena *a, struct stb_err *err)
{
	struct stb_io_config io;
	struct stb_oltp oltp;
	struct stb_dataset set;

	if (!strcmp(b->kind, "database"))
		return stb_test_read_database(b, a, err);
	if (!strcmp(b->kind, "dataset"))
		return stb_dataset_read(&set, b, err);
	if (strcmp(b->kind, "workload"))
		return 0; /* volumes and storage in pairs; servers and pins are not carried out */
	if (!strcmp(b->type, "oltp")) {
		STB_ASSERT(stb_oltp_workers(b) > 0);
		return stb_oltp_read(&oltp, b, err);
	}
	STB_ASSERT(stb_io_workers(b) > 0);
	return stb_io_config_read(&io, b, err);
}

/* The same of all that the plan has; the first refusal. All are read, whatever is refused. */
static inline int stb_test_read_plan(const struct stb_plan *p, struct stb_err *err)
{
	struct stb_arena a;
	struct stb_err one = { 0 };
	int rc = 0;

	stb_arena_init(&a);
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		stb_err_clear(&one);
		if (!stb_test_read_block(&p->blocks[i], &a, &one))
			continue;
		STB_ASSERT(one.set && one.what[0]);
		if (!rc)
			*err = one;
		rc = -1;
	}
	for (uint32_t i = 0; i < p->n_groups; i++) {
		for (uint32_t k = 0; k < p->groups[i].n_mounts; k++) {
			struct stb_volume_spec spec;

			stb_err_clear(&one);
			if (!stb_volume_spec_read(&spec, p, &p->groups[i].mounts[k], &one))
				continue;
			STB_ASSERT(one.set && one.what[0]);
			if (!rc)
				*err = one;
			rc = -1;
		}
	}
	stb_arena_fini(&a);
	return rc;
}

#endif
