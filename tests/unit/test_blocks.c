/*
 * test_blocks.c - what blocks mean in a plan: like, pins, servers and clients, the volumes of a database, runs that are compared. What is said
 * about wrong ones is in tests/golden/diag.
 */
#include "runtime/result/result.h"
#include "tests/unit/planned.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct stb_plan_block *block(const struct planned *p, const char *kind, const char *name)
{
	for (uint32_t i = 0; i < p->plan->n_blocks; i++) {
		if (!strcmp(p->plan->blocks[i].kind, kind) && !strcmp(p->plan->blocks[i].name, name))
			return &p->plan->blocks[i];
	}
	cr_assert_fail("no %s %s", kind, name);
	return NULL;
}

static const char *text(const struct planned *p, const char *kind, const char *name, const char *attr)
{
	const struct stb_plan_attr *a = stb_plan_attr(block(p, kind, name), attr);

	return a ? stb_val_text(&p->plan->arena, &a->val) : NULL;
}

static void open_plan(struct planned *p, const char *spec)
{
	*p = (struct planned){ 0 };
	planned_open(p, spec);
	cr_assert(p->plan, "no plan of: %s", spec);
}

#define IO "volume v {}\nworkload io w { size = 1MiB rw = write }\n"

Test(blocks, like_lays_what_is_written_over_the_other)
{
	struct planned p;

	/* in any order, through several, entry by entry */
	open_plan(&p, "storage loop c { like = b limits { write_iops = 3/s } }\n"
		      "storage loop b { like = a size = 2GiB label = \"b\" }\n"
		      "storage loop a { size = 1GiB filesystem = xfs limits { read_iops = 1/s write_iops = 2/s } label = \"a\" }\n" IO
		      "matrix m { like = n workload = w storage = [a, b, c] }\n"
		      "matrix n { repeat = 3 workload = w storage = a volume = v axis x { set = workload.bs values = [4KiB, 8KiB] } }\n");
	cr_expect_str_eq(text(&p, "storage", "c", "size"), "2GiB");
	cr_expect_str_eq(text(&p, "storage", "c", "filesystem"), "xfs");
	cr_expect_str_eq(text(&p, "storage", "c", "limits.read_iops"), "1/s");
	cr_expect_str_eq(text(&p, "storage", "c", "limits.write_iops"), "3/s");
	cr_expect_null(block(&p, "storage", "c")->label);
	cr_expect_str_eq(block(&p, "storage", "b")->label, "b");
	cr_assert_eq(p.plan->n_matrices, 2);
	cr_expect_eq(p.plan->matrices[0].n_cells, 6);
	cr_expect_eq(p.plan->matrices[0].repeat, 3);
	planned_close(&p);
}

Test(blocks, a_profile_does_not_reach_through_like)
{
	struct planned p = { .o.profile = "p" };

	planned_open(&p, "storage tmpfs a { size = 1GiB }\nstorage tmpfs b { like = a }\n" IO
			 "matrix m { workload = w volume = v storage = [a, b] }\nprofile p { storage tmpfs a { size = 2GiB } }\n");
	cr_assert(p.plan);
	cr_expect_str_eq(text(&p, "storage", "a", "size"), "2GiB");
	cr_expect_str_eq(text(&p, "storage", "b", "size"), "1GiB");
	planned_close(&p);
}

Test(blocks, profiles_merge_maps_replace_rules_and_unset)
{
	struct planned p = { .o.profile = "p" };

	planned_open(&p, "storage loop a { size = 1GiB limits { read_iops = 1/s write_iops = 2/s } mount_options = [\"noatime\"] }\n" IO
			 "pin q { vcpus = 2 vcpu \"0-1\" { node = 1 } mempolicy = bind memnodes = \"1\" }\n"
			 "server host s { cpus = 2 memory = 1GiB pin = q }\n"
			 "matrix m { workload = w volume = v storage = a server = s }\n"
			 "profile p { storage loop a { limits { read_iops = none } mount_options = [\"lazytime\"] }\n"
			 "pin q { vcpu \"0\" { node = 0 } vcpu \"1\" { cpus = \"1\" } mempolicy = none memnodes = none }\n"
			 "server host s { memory = none } }\n");
	cr_assert(p.plan);
	cr_expect_null(text(&p, "storage", "a", "limits.read_iops"));
	cr_expect_str_eq(text(&p, "storage", "a", "limits.write_iops"), "2/s");
	cr_expect_str_eq(text(&p, "storage", "a", "mount_options"), "[\"lazytime\"]");
	cr_expect_null(text(&p, "pin", "q", "vcpu.0-1.node"));
	cr_expect_str_eq(text(&p, "pin", "q", "vcpu.1.cpus"), "\"1\"");
	cr_expect_str_eq(text(&p, "pin", "q", "mempolicy"), "default");
	cr_expect_null(text(&p, "server", "s", "memory"));
	planned_close(&p);
}

Test(blocks, the_pin_axis_binds_the_server_and_not_the_client)
{
	struct planned p;

	open_plan(&p, "storage directory d { path = \"/srv\" }\nvolume v { storage = d }\ndatabase mysql db { volume = v }\n"
		      "pin a { vcpus = 1 vcpu \"0\" { node = 0 } }\npin b { vcpus = 1 vcpu \"0\" { node = 1 } }\n"
		      "server host s {}\nserver host c { cpus = 1 }\n"
		      "workload oltp t { script = read_only time = 1s database = db client = c }\n"
		      "matrix m { server = s pin = [a, b] workload = t }\n");
	cr_assert_eq(p.plan->n_cells, 2);
	cr_expect_str_neq(p.plan->cells[0].id, p.plan->cells[1].id);
	cr_expect_str_eq(p.plan->blocks[p.plan->cells[1].client].name, "c");
	cr_expect_null(text(&p, "server", "c", "pin"));
	cr_expect(stb_plan_attr(&p.plan->blocks[p.plan->cells[1].server], "pin"));
	cr_expect(p.plan->groups[0].not_run);
	planned_close(&p);
}

Test(blocks, other_volumes_are_mounts_and_no_axis_binds_them)
{
	struct planned p;

	open_plan(&p, "storage directory d { path = \"/srv\" }\nvolume a {}\nvolume r {}\n"
		      "database mysql db { redo_volume = r }\nworkload oltp t { script = read_only time = 1s }\n"
		      "matrix m { storage = d volume = a database = db workload = t }\n");
	cr_assert_eq(p.plan->groups[0].n_mounts, 2);
	cr_expect_str_eq(p.plan->groups[0].mounts[1].role, "redo");
	cr_expect_str_eq(p.plan->blocks[p.plan->groups[0].mounts[1].volume].name, "r");
	cr_expect_null(text(&p, "database", "db", "tmp_volume"));
	planned_close(&p);
}

/* Addresses differ from cell to cell and from place to place; what is measured does not. */
Test(blocks, addresses_are_in_the_plan_and_in_no_id)
{
	static const char spec[] = "storage device d { %s }\n" IO "matrix m { storage = d volume = v workload = w }\n";
	char id[2][STB_HASH_HEX], a[400];
	struct planned p;

	for (int i = 0; i < 2; i++) {
		snprintf(a, sizeof(a), spec, i ? "serial = \"S1\" erase = \"S1\"" : "by_id = \"nvme-${cell.volume}\"");
		open_plan(&p, a);
		memcpy(id[i], p.plan->cells[0].id, STB_HASH_HEX);
		cr_expect_eq(p.plan->n_devices, 1);
		cr_expect(strstr(p.plan->devices[0], i ? "serial S1: overwritten" : "by-id nvme-v: no consent"), "%s", p.plan->devices[0]);
		planned_close(&p);
	}
	cr_expect_str_eq(id[0], id[1]);
}

Test(blocks, runs_are_an_axis_of_the_same_cells)
{
	struct stb_results *r;
	struct stb_err err;
	struct planned p;

	stb_err_clear(&err);
	open_plan(&p, "storage tmpfs d { size = 1GiB }\n" IO
		      "matrix m { runs = [base, branch] storage = d volume = v workload = w axis bs { set = workload.bs values = [4KiB, 8KiB] } }\n");
	cr_assert_eq(p.plan->n_cells, 4);
	cr_expect_str_eq(p.plan->matrices[0].axes[0].kind, "run");
	cr_expect_str_eq(p.plan->cells[0].id, p.plan->cells[2].id);
	cr_expect_eq(p.plan->cells[2].same_as, 0);
	cr_expect_str_eq(stb_results_run_of(p.plan, 3), "branch");
	r = stb_results_new(p.plan);
	cr_assert_eq(stb_results_add(r, 0, 1, 1, "iops", 5, STB_STATUS_OK, &err), 0);
	cr_expect(stb_results_first(r, 0, "iops"));
	cr_expect_null(stb_results_first(r, 2, "iops"), "a run is compared with itself");
	cr_expect_eq(stb_results_reading(r, "branch", &err), 0);
	cr_expect_neq(stb_results_reading(r, "other", &err), 0);
	stb_results_free(r);
	planned_close(&p);
}
