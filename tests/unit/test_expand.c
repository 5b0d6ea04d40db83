/*
 * test_expand.c - matrices to cells: nesting, conditions, exclusions, binding, strength, the limit; and what the plan makes of them.
 */
#include "tests/unit/planned.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define DISK "storage directory disk { path = \"/srv/a\" }\n"
#define DATA "volume data { storage = disk }\n"
#define W "workload io w { volume = data size = 1GiB rw = randwrite }\n"

static void expect_labels(struct planned *p, const char *const *labels, uint32_t n)
{
	cr_assert(p->plan);
	cr_assert_eq(p->plan->n_cells, n, "%u cells", p->plan->n_cells);
	for (uint32_t i = 0; i < n; i++)
		cr_expect_str_eq(stb_plan_cell_label(&p->c.arena, p->plan, i), labels[i]);
}

Test(expand, axes_nest_by_kind_then_as_written)
{
	static const char *const labels[] = { "disk / w / 1 / 4KiB", "disk / w / 1 / 8KiB", "disk / w / 2 / 4KiB", "disk / w / 2 / 8KiB" };
	struct planned p = { 0 };

	planned_open(&p, DISK "volume data {}\n" W
		"matrix m { workload = w\n axis jobs { set = workload.numjobs values = [1, 2] }\n axis bs { set = workload.bs values = [4KiB, 8KiB] }\n"
		" storage = disk }\n");
	expect_labels(&p, labels, 4);
	cr_expect_str_eq(planned_workload(&p, 3, "bs"), "8KiB");
	cr_expect_str_eq(planned_workload(&p, 3, "numjobs"), "2");
	planned_close(&p);
}

Test(expand, a_conditional_axis_leaves_other_cells_without_a_value)
{
	static const char *const labels[] = { "w / 1", "r / 8KiB / 1", "r / 8KiB / 2", "r / 16KiB / 1", "r / 16KiB / 2" };
	struct planned p = { 0 };

	planned_open(&p, DISK DATA W "workload io r { volume = data size = 1GiB rw = read }\n"
		"matrix m { workload = [w, r]\n axis bs { where { workload = r } set = workload.bs values = [8KiB, 16KiB] }\n"
		" axis jobs { set = workload.numjobs values = [1, 2] }\n"
		" exclude { reason = \"one is enough\" where { bs = none jobs = 2 } } }\n");
	expect_labels(&p, labels, 5);
	cr_expect_eq(p.plan->cells[0].point[1], STB_NONE);
	cr_expect_str_eq(planned_workload(&p, 0, "bs"), "4KiB");
	planned_close(&p);
}

Test(expand, selectors_compare_values_not_spelling)
{
	static const char *const labels[] = { "w / 4KiB", "w / 1MiB" };
	struct planned p = { 0 };

	planned_open(&p, DISK DATA W "let big = 64KiB\n"
		"matrix m { workload = w\n axis bs { set = workload.bs values = [4096B, 8KiB, 16KiB, 64KiB, 1MiB] }\n"
		" exclude { reason = \"range\" where { bs = 8KiB..16384B } }\n exclude { reason = \"let\" where { bs = big } } }\n");
	expect_labels(&p, labels, 2);
	planned_close(&p);
}

Test(expand, a_point_sets_several_things)
{
	struct planned p = { 0 };

	planned_open(&p, DISK DATA "database mysql db { volume = data options { sync_binlog = 5 } }\n"
		"workload oltp w { database = db script = read_write time = 10s }\n"
		"matrix m { workload = w axis durability {\n"
		"  point full { label = \"all\" database.options.sync_binlog = 1 database.db.options.innodb_flush_log_at_trx_commit = 1 }\n"
		"  point none_at_all { database.options.sync_binlog = 0 workload.threads = 4 } } }\n");
	cr_assert(p.plan);
	cr_assert_eq(p.plan->n_cells, 2);
	cr_expect_eq(p.plan->n_groups, 2);
	cr_expect_str_eq(p.plan->matrices[0].axes[1].values[0].label, "all");
	cr_expect_str_eq(planned_workload(&p, 1, "threads"), "4");
	const struct stb_plan_block *db = &p.plan->blocks[p.plan->groups[1].database];

	cr_expect_str_eq(stb_plan_attr(db, "options.sync_binlog")->val.str, "0");
	cr_expect_null(stb_plan_attr(db, "options.innodb_flush_log_at_trx_commit"));
	planned_close(&p);
}

Test(expand, strength)
{
	static const char spec[] = DISK DATA "workload io w { volume = data size = 1GiB rw = randwrite bs = 8KiB numjobs = 2 fsync = 2 }\n"
		"matrix m { workload = w\n axis f { set = workload.fsync values = [9] }\n override { workload.bs = 16KiB workload.numjobs = 3 } }\n"
		"profile p { workload io w { numjobs = 4 } }\n"
		"profile q { workload io w { bs = none } }\n";
	struct planned p = { 0 }, q = { .o.profile = "p" }, r = { .o.profile = "q" };

	planned_open(&p, spec);
	cr_expect_str_eq(planned_workload(&p, 0, "bs"), "16KiB");
	cr_expect_str_eq(planned_workload(&p, 0, "numjobs"), "3");
	cr_expect_str_eq(planned_workload(&p, 0, "fsync"), "9");
	planned_close(&p);
	planned_open(&q, spec);
	cr_expect_str_eq(planned_workload(&q, 0, "bs"), "16KiB");
	cr_expect_str_eq(planned_workload(&q, 0, "numjobs"), "4");
	planned_close(&q);
	planned_open(&r, spec);
	cr_expect_str_eq(planned_workload(&r, 0, "bs"), "4KiB", "none in a profile unsets, past the override too");
	planned_close(&r);
}

Test(expand, every_value_has_its_origin)
{
	struct planned p = { 0 };

	planned_open(&p, DISK "volume data {}\nworkload io w { size = 1GiB rw = randwrite bs = 4KiB }\n"
		"matrix m { storage = disk volume = data workload = w override { workload.numjobs = 3 } axis f { set = workload.fsync values = [9] } }\n");
	cr_assert(p.plan);
	const struct stb_plan_block *w = &p.plan->blocks[p.plan->cells[0].workload];

	cr_expect_eq(stb_plan_attr(w, "bs")->origin, STB_FROM_LINE);
	cr_expect(stb_plan_attr(w, "bs")->is_default, "4KiB is the default, however it was written");
	cr_expect_eq(stb_plan_attr(w, "numjobs")->origin, STB_FROM_OVERRIDE);
	cr_expect_eq(stb_plan_attr(w, "fsync")->origin, STB_FROM_AXIS);
	cr_expect_eq(stb_plan_attr(w, "volume")->origin, STB_FROM_AXIS);
	cr_expect_eq(stb_plan_attr(w, "iodepth")->origin, STB_FROM_DEFAULT);
	cr_expect_eq(stb_plan_attr(w, "iodepth")->span, STB_NONE);
	cr_expect_neq(stb_plan_attr(w, "size")->span, STB_NONE);
	planned_close(&p);
}

Test(expand, the_limit_is_exact)
{
	static const char spec[] = DISK DATA W
		"matrix m { workload = w axis a { set = workload.numjobs values = [1, 2, 3] } axis b { set = workload.bs values = [4KiB, 8KiB] } }\n";
	struct planned six = { .o.max_cells = 6 }, five = { .o.max_cells = 5 };

	planned_open(&six, spec);
	cr_expect(six.plan);
	planned_close(&six);
	planned_open(&five, spec);
	cr_expect_null(five.plan);
	cr_expect_eq(planned_count(&five, STB_E0505), 1);
	planned_close(&five);
}

Test(expand, the_limit_counts_cells_of_conditional_axes)
{
	static const char spec[] = DISK DATA W "workload io r { volume = data size = 1GiB rw = read }\n"
		"matrix m { workload = [w, r] axis a { where { workload = r } set = workload.numjobs values = [1, 2, 3] } }\n";
	struct planned four = { .o.max_cells = 4 }, three = { .o.max_cells = 3 };

	planned_open(&four, spec);
	cr_expect(four.plan, "1 + 3 cells, although the product is 6");
	planned_close(&four);
	planned_open(&three, spec);
	cr_expect_eq(planned_count(&three, STB_E0505), 1);
	planned_close(&three);
}

Test(expand, a_product_beyond_64_bits_is_only_a_message)
{
	struct planned p = { 0 };
	char text[16384], *at = text;

	at += sprintf(at, "%s", DISK DATA W "matrix m { workload = w\n");
	for (int i = 0; i < 24; i++) {
		at += sprintf(at, " axis a%d { set = workload.numjobs values = [1, 2, 3, 4, 5, 6, 7, 8] }\n", i);
	}
	strcpy(at, "}\n");
	planned_open(&p, text);
	cr_expect_null(p.plan);
	cr_expect_eq(planned_count(&p, STB_E0505), 1);
	planned_close(&p);
}

Test(expand, one_impossible_cell_is_one_error)
{
	struct planned p = { 0 };

	planned_open(&p, DISK DATA "workload io w { volume = data size = 1GiB rw = randread direct = true }\n"
		"matrix m { workload = w axis e { set = workload.ioengine values = [psync, io_uring] } axis d { set = workload.iodepth values = [1, 16] } }\n");
	cr_expect_null(p.plan);
	cr_expect_eq(planned_count(&p, STB_E0401), 1);
	cr_expect_eq(p.c.sink.n_errors, 1);
	planned_close(&p);
	planned_open(&p, DISK DATA "workload io w { volume = data size = 1GiB rw = randread direct = true }\n"
		"matrix m { workload = w axis e { set = workload.ioengine values = [psync, io_uring] } axis d { set = workload.iodepth values = [1, 16] }\n"
		" exclude { reason = \"psync does one I/O at a time\" where { e = psync d = 16 } } }\n");
	cr_assert(p.plan);
	cr_expect_eq(p.plan->n_cells, 3);
	planned_close(&p);
}

Test(expand, explicit_references_stay)
{
	struct planned p = { 0 };

	planned_open(&p, DISK "storage directory fast { path = \"/srv/b\" }\nvolume data {}\nvolume fixed { storage = disk }\n"
		"workload io a { size = 1GiB rw = randwrite volume = data }\nworkload io b { size = 1GiB rw = randwrite volume = fixed }\n"
		"matrix m { storage = [disk, fast] workload = [a, b] exclude { reason = \"fixed\" where { storage = fast workload = b } } }\n");
	cr_assert(p.plan);
	cr_assert_eq(p.plan->n_cells, 3);
	const struct stb_plan_group *g = &p.plan->groups[p.plan->cells[1].group];

	cr_expect_str_eq(p.plan->blocks[g->mounts[0].volume].name, "fixed");
	cr_expect_str_eq(p.plan->blocks[g->mounts[0].storage].name, "disk");
	planned_close(&p);
}

Test(lower, the_volume_has_the_file_system_of_its_class)
{
	struct planned p = { 0 };

	planned_open(&p, "storage loop a { size = 8GiB }\nstorage loop b { size = 8GiB filesystem = xfs mount_options = [\"noatime\"] }\n"
		"storage loop c { size = 8GiB filesystem = xfs }\n" DISK
		"volume va { storage = a }\nvolume vb { storage = b }\nvolume vc { storage = c filesystem = none }\nvolume vd { storage = disk }\n"
		"workload io w { size = 1GiB rw = randwrite }\nmatrix m { volume = [va, vb, vc, vd] workload = w }\n");
	cr_assert(p.plan);
	cr_expect_str_eq(planned_block(&p, "volume", "va", "filesystem"), "ext4");
	cr_expect_str_eq(planned_block(&p, "volume", "vb", "filesystem"), "xfs");
	cr_expect_str_eq(planned_block(&p, "volume", "vb", "mount_options"), "[noatime]");
	cr_expect_str_eq(planned_block(&p, "volume", "vc", "filesystem"), "none");
	cr_expect_str_eq(planned_block(&p, "volume", "vd", "filesystem"), "-");
	cr_assert_eq(p.plan->n_privileges, 3);
	cr_expect_str_eq(p.plan->privileges[0], "root: mounts ext4 on a loop device (storage a)");
	cr_expect_str_eq(p.plan->privileges[2], "root: attaches a loop device (storage c)");
	planned_close(&p);
}

Test(lower, what_is_described_is_not_run)
{
	struct planned p = { 0 };

	planned_open(&p, "storage external ssd {}\nvolume data { storage = ssd }\n" W
		"database mysql db { volume = data }\nworkload oltp t { database = db script = read_only time = 1s }\n"
		"database external there { host = \"192.0.2.1\" volume = data }\nworkload oltp u { database = there script = read_only time = 1s }\n"
		"matrix m { workload = [w, t, u] }\n");
	cr_assert(p.plan);
	cr_assert_eq(p.plan->n_groups, 3);
	cr_expect_str_eq(p.plan->groups[0].not_run, "storage external `ssd` is described, not provisioned");
	cr_expect(p.plan->groups[1].not_run);
	cr_expect_null(p.plan->groups[2].not_run);
	cr_expect_eq(p.plan->groups[2].n_mounts, 0, "the volume of an external database describes");
	cr_expect_eq(p.plan->n_privileges, 0);
	planned_close(&p);
}

Test(lower, overrides_of_a_replaced_block_fall_away)
{
	struct planned p = { .o.profile = "laptop" };

	planned_open(&p, DISK DATA "database external db { host = \"192.0.2.1\" }\nworkload oltp w { database = db script = read_only time = 1s }\n"
		"matrix m { workload = w override { database.host = \"192.0.2.9\" } }\n"
		"profile laptop { database mysql db { volume = data } }\n");
	cr_assert(p.plan);
	cr_assert_eq(p.plan->n_notes, 1);
	cr_expect_str_eq(p.plan->notes[0], "the override of `database.host` falls away: profile `laptop` replaces database `db`");
	cr_expect_str_eq(p.plan->blocks[p.plan->groups[0].database].type, "mysql");
	planned_close(&p);
}

Test(lower, addresses_name_the_cell)
{
	struct planned p = { 0 };

	planned_open(&p, "server external a {}\nserver external b {}\n"
		"database external db { host = \"db-${cell.server}.example\" }\nworkload oltp w { database = db script = read_only time = 1s }\n"
		"matrix m { server = [a, b] workload = w }\n");
	cr_assert(p.plan);
	cr_expect_eq(p.plan->n_groups, 2);
	cr_expect_str_eq(stb_plan_attr(&p.plan->blocks[p.plan->groups[1].database], "host")->val.str, "db-b.example");
	planned_close(&p);
}

Test(lower, bytes_and_times)
{
	struct planned p = { 0 };

	planned_open(&p, DISK DATA
		"workload io rd { volume = data size = 1GiB rw = randread numjobs = 2 runtime = 30s ramp_time = 5s }\n"
		"workload io wr { volume = data size = 1GiB rw = randwrite numjobs = 2 filename = \"b\" }\n"
		"workload io mix { volume = data size = 1GiB rw = randrw rwmixread = 75% shared_file = true numjobs = 4 filename = \"c\" }\n"
		"workload io nul { volume = data size = 1GiB rw = randwrite ioengine = null }\n"
		"workload io tb { volume = data size = 1GiB rw = randwrite runtime = 1s time_based = true filename = \"d\" }\n"
		"matrix m { workload = [rd, wr, mix, nul, tb] }\n");
	cr_assert(p.plan);
	cr_assert_eq(p.plan->n_groups, 1);
	cr_expect_eq(p.plan->cells[0].write_bytes, 0);
	cr_expect_eq(p.plan->cells[0].measure_ns, 35000000000ull);
	cr_expect_eq(p.plan->cells[1].write_bytes, 2ull << 30);
	cr_expect_eq(p.plan->cells[2].write_bytes, 1ull << 30, "a quarter of four jobs of 1GiB");
	cr_expect_eq(p.plan->cells[3].write_bytes, 0);
	cr_expect_eq(p.plan->cells[4].write_bytes, STB_UNBOUNDED);
	cr_expect_eq(p.plan->groups[0].load_bytes, 3ull << 30, "two files of rd, one of mix");
	cr_expect_eq(p.plan->groups[0].space_bytes, 6ull << 30, "rd 2, wr 2, mix 1, tb 1");
	planned_close(&p);
}

Test(lower, absurd_sizes_saturate)
{
	struct planned p = { 0 };

	planned_open(&p, DISK DATA "workload io w { volume = data size = 4096TiB rw = randwrite numjobs = 4096 }\nmatrix m { workload = w }\n");
	cr_assert(p.plan);
	cr_expect_eq(p.plan->groups[0].space_bytes, UINT64_MAX);
	planned_close(&p);
}

Test(lower, data_sets_are_shared_by_content)
{
	struct planned p = { 0 };

	planned_open(&p, DISK DATA "database mysql db { volume = data }\n"
		"workload oltp a { database = db script = read_only time = 1s }\nworkload oltp b { database = db script = read_write time = 1s threads = 4 }\n"
		"workload oltp c { database = db script = read_write time = 1s tables = 2 }\nmatrix m { workload = [a, b, c] }\n");
	cr_assert(p.plan);
	cr_expect_eq(p.plan->n_groups, 2);
	cr_expect_eq(p.plan->cells[0].group, p.plan->cells[1].group);
	cr_expect_neq(p.plan->groups[0].dataset, p.plan->groups[1].dataset);
	cr_expect_str_eq(p.plan->blocks[p.plan->groups[0].dataset].kind, "dataset");
	planned_close(&p);
}

Test(lower, the_same_text_is_the_same_plan)
{
	static const char spec[] = DISK "storage directory fast { path = \"/srv/b\" }\nvolume data {}\n" W
		"matrix m { storage = [disk, fast] workload = w axis bs { set = workload.bs values = [4KiB, 8KiB, 16KiB] } }\n"
		"report r { rows = storage columns = bs metrics = [iops, lat_p95] show = [value, ratio] baseline { storage = disk } }\n";
	struct planned p = { 0 }, q = { 0 };
	char *a, *b;

	planned_open(&p, spec);
	planned_open(&q, spec);
	cr_assert(p.plan && q.plan);
	a = planned_json(&p);
	b = planned_json(&q);
	cr_expect_str_eq(a, b);
	free(a);
	free(b);
	planned_close(&p);
	planned_close(&q);
}

Test(lower, form_changes_neither_plan_hash_nor_ids)
{
	struct planned p = { 0 }, q = { 0 };

	planned_open(&p, DISK DATA W "matrix m { workload = w }\nreport r { metrics = [iops] decimals { iops = 1 } headings { iops = \"I\" } }\n");
	planned_open(&q, "# moved\nreport r {\n\n headings { iops = \"I\" }\n decimals { iops = 1 }\n metrics = [iops] }\n"
		"workload io w { rw = randwrite size = 1024MiB volume = data }\nvolume data { storage = disk }\n" DISK "matrix m { workload = [w] }\n");
	cr_assert(p.plan && q.plan);
	cr_expect_str_eq(p.plan->hash, q.plan->hash);
	cr_expect_str_eq(p.plan->cells[0].id, q.plan->cells[0].id);
	planned_close(&p);
	planned_close(&q);
}

/* `rate` is a byte rate of an io workload and a rate of an oltp one: the blocks that are there say which. */
Test(expand, an_axis_has_the_type_that_the_attribute_has_in_the_blocks_at_hand)
{
	static const char oltp[] = "database mysql db { volume = data }\nworkload oltp o { database = db script = point_select time = 1s }\n";
	static const char axis[] = "matrix m { workload = %s\n axis a { set = workload.%srate values = [%s] } }\n";
	struct planned p = { 0 };
	char text[1024];
	int n = snprintf(text, sizeof(text), DISK DATA "%s", oltp);

	snprintf(text + n, sizeof(text) - (size_t)n, axis, "o", "", "100/s, 200/s");
	planned_open(&p, text);
	cr_assert(p.plan);
	cr_expect_str_eq(planned_workload(&p, 1, "rate"), "200/s");
	planned_close(&p);
	n = snprintf(text, sizeof(text), DISK DATA W "%s", oltp);
	snprintf(text + n, sizeof(text) - (size_t)n, axis, "o", "o.", "100/s, 200/s");
	planned_open(&p, text);
	cr_assert(p.plan, "named, it has the type of its block");
	planned_close(&p);
	snprintf(text + n, sizeof(text) - (size_t)n, axis, "w", "", "100/s");
	planned_open(&p, text);
	cr_expect_eq(planned_count(&p, STB_E0301), 1, "both are there: it has to suit both");
	planned_close(&p);
}
