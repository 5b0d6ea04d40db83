/*
 * test_later.c - what the schema marks as not carried out yet is what `stb run` refuses, and nothing else: the rows are walked, so that neither
 * explain nor run can say what the other does not.
 */
#include "runtime/db/db.h"
#include "runtime/db/oltp.h"
#include "runtime/exec/exec.h"
#include "runtime/io/config.h"
#include "runtime/storage/volume.h"
#include "compiler/schema.h"
#include "tests/unit/planned.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DISK "storage directory disk { path = \"/tmp\" }\n"
#define VOLUME "volume v { storage = disk }\n"
#define IO(attrs) DISK VOLUME "workload io w {\nvolume = v\nsize = 1MiB\n" attrs "\n}\nmatrix m { workload = w }\n"
#define IO_ON(blocks) blocks "workload io w { volume = v size = 1MiB rw = write }\nmatrix m { workload = w }\n"
#define OLTP(database, attrs) DISK VOLUME database "workload oltp w {\ndatabase = d\nscript = read_write\ntime = 1s\n" attrs "\n}\nmatrix m { workload = w }\n"
#define MYSQL "database mysql d { volume = v }\n"

/* A spec that sets a row, or a type, to what could be marked. Whoever marks another one writes its spec here. */
static const struct {
	const char *what, *spec;
} specs[] = {
	{ "storage device", IO_ON("storage device disk { serial = \"X\" erase = \"X\" }\n" VOLUME) },
	{ "storage lvm", IO_ON("storage lvm disk { devices = [\"a\"] erase = [\"a\"] }\n" VOLUME) },
	{ "storage pmem", IO_ON("storage pmem disk { namespace = \"namespace0.0\" erase = \"namespace0.0\" }\n" VOLUME) },
	{ "storage zram", IO_ON("storage zram disk { size = 64MiB }\n" VOLUME) },
	{ "storage kubernetes", IO_ON("storage kubernetes disk { class_name = \"x\" }\nvolume v { storage = disk size = 1GiB }\n") },
	{ "server host", DISK VOLUME "server host h { cpus = 1 }\nworkload io w { volume = v size = 1MiB rw = write }\nmatrix m { server = h workload = w }\n" },
	{ "pin", DISK VOLUME "pin p { vcpus = 1 vcpu \"0\" { cpus = \"0\" } }\nserver host h { pin = p }\nworkload io w { volume = v size = 1MiB rw = write }\n"
		"matrix m { server = h workload = w }\n" },
	{ "workload mix", DISK VOLUME "workload io a { volume = v size = 1MiB rw = write filename = \"a\" }\nworkload io b { volume = v size = 1MiB rw = write "
		"filename = \"b\" }\nworkload mix w { run = [a, b] }\nmatrix m { workload = w }\n" },
	{ "storage.limits.read_iops", IO_ON("storage directory disk {\npath = \"/tmp\"\nlimits {\nread_iops = 5/s\n}\n}\n" VOLUME) },
	{ "storage.limits.write_iops", IO_ON("storage directory disk {\npath = \"/tmp\"\nlimits {\nwrite_iops = 5/s\n}\n}\n" VOLUME) },
	{ "storage.limits.read_bw", IO_ON("storage directory disk {\npath = \"/tmp\"\nlimits {\nread_bw = 5MiB/s\n}\n}\n" VOLUME) },
	{ "storage.limits.write_bw", IO_ON("storage directory disk {\npath = \"/tmp\"\nlimits {\nwrite_bw = 5MiB/s\n}\n}\n" VOLUME) },
	{ "storage.filesystem", IO_ON("storage loop disk {\nsize = 256MiB\nfilesystem = btrfs\n}\n" VOLUME) },
	{ "volume.filesystem", IO_ON("storage loop disk { size = 256MiB }\nvolume v {\nstorage = disk\nfilesystem = btrfs\n}\n") },
	{ "volume.discard", IO_ON("storage loop disk { size = 64MiB }\nvolume v {\nstorage = disk\ndiscard = true\n}\n") },
	{ "volume.access_modes", NULL }, /* check lets it pass on a Kubernetes class only, which is refused as a whole */
	{ "database.topology", OLTP("database mysql d {\nvolume = v\ntopology = async_replica\n}\n", "") },
	{ "database.replicas", OLTP("database mysql d {\nvolume = v\ntopology = semisync_replica\nreplicas = 2\n}\n", "") },
	{ "database.redo_volume", OLTP("volume o { storage = disk }\ndatabase mysql d {\nvolume = v\nredo_volume = o\n}\n", "") },
	{ "database.binlog_volume", OLTP("volume o { storage = disk }\ndatabase mysql d {\nvolume = v\nbinlog_volume = o\ntopology = async_replica\n}\n", "") },
	{ "database.tmp_volume", OLTP("volume o { storage = disk }\ndatabase mysql d {\nvolume = v\ntmp_volume = o\n}\n", "") },
	{ "database.tls", OLTP("database external d {\nhost = \"127.0.0.1\"\ntls = required\n}\n", "") },
	{ "database.tls_ca", OLTP("database external d {\nhost = \"127.0.0.1\"\ntls = verify_ca\ntls_ca = \"/x\"\n}\n", "") },
	{ "database.tls_cert", OLTP("database external d {\nhost = \"127.0.0.1\"\ntls = required\ntls_cert = \"/x\"\ntls_key = \"/y\"\n}\n", "") },
	{ "database.tls_key", OLTP("database external d {\nhost = \"127.0.0.1\"\ntls = required\ntls_cert = \"/x\"\ntls_key = \"/y\"\n}\n", "") },
	{ "workload.rw", IO_ON("storage loop disk { size = 64MiB filesystem = none }\n" VOLUME "workload io t { volume = v size = 1MiB\nrw = trim\n}\n"
		"matrix n { workload = t }\n") },
	{ "workload.bs", IO("rw = write\nbs = [4KiB, 8KiB]\nbs_percent = [50%, 50%]") },
	{ "workload.bs_percent", IO("rw = write\nbs = [4KiB, 8KiB]\nbs_percent = [50%, 50%]") },
	{ "workload.iodepth_batch", IO("rw = write\nioengine = libaio\niodepth = 4\niodepth_batch = 2") },
	{ "workload.offset", IO("rw = write\noffset = 1MiB") },
	{ "workload.random_distribution", IO("rw = randwrite\nrandom_distribution = zipf(1.2)") },
	{ "workload.refill_buffers", IO("rw = write\nrefill_buffers = true") },
	{ "workload.buffer_compress_percentage", IO("rw = write\nbuffer_compress_percentage = 50%") },
	{ "workload.verify", IO("rw = write\nverify = crc32c") },
	{ "workload.verify_fatal", IO("rw = write\nverify = crc32c\nverify_fatal = true") },
	{ "workload.rate_iops", IO("rw = write\nrate_iops = 100/s") },
	{ "workload.rate", IO("rw = write\nrate = 1MiB/s") },
	{ "workload.rate_process", IO("rw = write\nrate_iops = 100/s\nrate_process = poisson") },
	{ "workload.thinktime", IO("rw = write\nthinktime = 1ms") },
	{ "workload.registerfiles", IO("rw = write\nioengine = io_uring\nregisterfiles = true") },
	{ "workload.fixedbufs", IO("rw = write\nioengine = io_uring\nfixedbufs = true") },
	{ "workload.sqpoll", IO("rw = write\nioengine = io_uring\nsqpoll = true") },
	{ "workload.hipri", IO("rw = write\nioengine = io_uring\ndirect = true\nhipri = true") },
	{ "workload.prepare", IO("rw = read\nprepare = [f]\n}\nworkload io f {\nvolume = v\nsize = 1MiB\nrw = write") },
	{ "workload.rate_tolerance", IO("rw = write\nrate_iops = 100/s\nrate_tolerance = 10%") },
	{ "workload.oltp.rate", OLTP(MYSQL, "rate = 50/s") },
	{ "workload.oltp.rate_tolerance", OLTP(MYSQL, "rate = 50/s\nrate_tolerance = 10%") },
	{ "workload.client", OLTP(MYSQL "server host c { cpus = 1 }\n", "client = c") },
	{ "workload.script", OLTP(MYSQL, "}\nworkload oltp x {\ndatabase = d\ntime = 1s\nscript = bulk_insert\n}\nmatrix n { workload = x }\nworkload oltp y {\nlike = w") },
	{ "workload.retry", OLTP(MYSQL, "retry = sysbench") },
	{ "workload.reconnect", OLTP(MYSQL, "reconnect = 5") },
	{ "workload.rand_type", OLTP(MYSQL, "rand_type = zipfian") },
	{ "workload.rand_spec_iter", OLTP(MYSQL, "rand_spec_iter = 3") },
	{ "workload.rand_spec_pct", OLTP(MYSQL, "rand_spec_pct = 2%") },
	{ "workload.rand_spec_res", OLTP(MYSQL, "rand_spec_res = 50%") },
	{ "workload.rand_pareto_h", OLTP(MYSQL, "rand_type = pareto\nrand_pareto_h = 0.3") },
	{ "workload.rand_zipfian_exp", OLTP(MYSQL, "rand_type = zipfian\nrand_zipfian_exp = 0.9") },
	{ "workload.random_points", OLTP(MYSQL, "}\nworkload oltp x {\ndatabase = d\ntime = 1s\nscript = select_random_points\nrandom_points = 5\n}\n"
		"matrix n { workload = x }\nworkload oltp y {\nlike = w") },
	{ "workload.number_of_ranges", OLTP(MYSQL, "}\nworkload oltp x {\ndatabase = d\ntime = 1s\nscript = select_random_ranges\nnumber_of_ranges = 5\n}\n"
		"matrix n { workload = x }\nworkload oltp y {\nlike = w") },
	{ "workload.delta", OLTP(MYSQL, "}\nworkload oltp x {\ndatabase = d\ntime = 1s\nscript = select_random_ranges\ndelta = 6\n}\nmatrix n { workload = x }\n"
		"workload oltp y {\nlike = w") },
	{ "matrix.schedule.days", DISK VOLUME "workload io w { volume = v size = 1MiB rw = write }\nmatrix m { workload = w\nschedule {\ndays = 2\nat = [03:00]\n}\n}\n" },
	{ "matrix.schedule.at", DISK VOLUME "workload io w { volume = v size = 1MiB rw = write }\nmatrix m { workload = w\nschedule {\nat = [03:00]\ndays = 2\n}\n}\n" },
};

static const char *spec_of(const char *what, bool *known)
{
	*known = false;
	for (size_t i = 0; i < STB_LEN(specs); i++) {
		if (strcmp(specs[i].what, what))
			continue;
		*known = true;
		return specs[i].spec;
	}
	return NULL;
}

/* What a run says on standard error; its exit code. */
static int run(const struct planned *p, char *text, size_t size)
{
	char dir[] = "/tmp/stb-test-later-XXXXXX", sub[64];
	const struct stb_exec_options o = { .plan = p->plan, .dir = sub, .spec = "x.stb", .version = "0", .commit = "0" };
	const int saved = dup(2), fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	int code;
	ssize_t n;

	cr_assert(mkdtemp(dir));
	snprintf(sub, sizeof(sub), "%s/run", dir);
	cr_assert(fd >= 0);
	dup2(fd, 2);
	code = stb_exec_run(&o);
	fflush(stderr);
	dup2(saved, 2);
	close(saved);
	n = pread(fd, text, size - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	cr_expect(!rmdir(dir), "nothing was made");
	return code;
}

/* The text of a line of a spec that planned_open() compiled. */
static const char *line_of(const char *spec, const char *message)
{
	const char *at = strstr(message, "asked for at "), *colon = at ? strchr(at, ':') : NULL;
	static char line[256];
	int n = colon ? atoi(colon + 1) - 2 : -1; /* behind `stb 1` */

	for (; n > 0 && *spec; n--)
		spec += strcspn(spec, "\n") + 1;
	snprintf(line, sizeof(line), "%.*s", n == 0 ? (int)strcspn(spec, "\n") : 0, spec);
	return line;
}

static void refused(const char *what, const char *attr, const char *spec)
{
	struct planned p = { 0 };
	char text[4096], name[80];

	planned_open(&p, spec);
	cr_assert(p.plan, "%s: the spec is wrong", what);
	cr_expect_eq(run(&p, text, sizeof(text)), STB_EXIT_ENVIRONMENT, "%s", what);
	snprintf(name, sizeof(name), attr ? "`%s = " : "%s", attr ? attr : strcmp(what, "pin") ? what : "server host");
	cr_expect(strstr(text, name), "%s is not named: %s", what, text);
	cr_expect(strstr(text, "not carry"), "%s: %s", what, text);
	cr_expect(strstr(text, "what to do: "), "%s: %s", what, text);
	if (attr) { /* the line is that of the attribute, or of the first of those that are refused together */
		const char *line = line_of(spec, text);
		char word[80];

		snprintf(word, sizeof(word), "%.*s", (int)strcspn(line, " ="), line);
		cr_expect(*word && strstr(text, word), "%s: `%s` is no line of it: %s", what, line, text);
		cr_expect(!strchr(line, '{') || strstr(line, attr), "%s: `%s` is a block: %s", what, line, text);
	}
	planned_close(&p);
}

Test(later, what_is_marked_is_refused_by_name_and_line)
{
	size_t n, n_refused = 0;
	const struct stb_schema_type *types = stb_schema_types(&n);
	const struct stb_schema_attr *rows;
	char what[96];
	bool known;

	for (size_t i = 0; i < n; i++) {
		if (!types[i].later)
			continue;
		snprintf(what, sizeof(what), "%s%s%s", stb_kind_name(types[i].kind), *types[i].type ? " " : "", types[i].type);
		const char *spec = spec_of(what, &known);

		cr_assert(known, "%s is marked and has no spec here", what);
		refused(what, NULL, spec);
		n_refused++;
	}
	rows = stb_schema_rows(&n);
	for (size_t i = 0; i < n; i++) {
		if (!rows[i].later)
			continue;
		/* io and oltp have some of the same name */
		snprintf(what, sizeof(what), "%s.%s.%s", stb_kind_name(rows[i].kind), rows[i].types, rows[i].name);
		const char *spec = spec_of(what, &known);

		if (!known) {
			snprintf(what, sizeof(what), "%s.%s", stb_kind_name(rows[i].kind), rows[i].name);
			spec = spec_of(what, &known);
		}
		cr_assert(known, "%s is marked and has no spec here", what);
		if (spec)
			refused(what, strcmp(what, "matrix.schedule.at") ? rows[i].name : "schedule.days", spec);
		n_refused++;
	}
	cr_expect_gt(n_refused, 0u);
}

/* --- and nothing else ---------------------------------------------------------------------------------------------------------------- */

static struct stb_val any_value(struct stb_arena *a, const struct stb_schema_attr *row, enum stb_vtype type)
{
	struct stb_val v = { .type = type, .num = 1, .den = 1 };

	if (type == STB_V_LIST) {
		v.n_items = 1;
		v.items = STB_NEW_ARRAY(a, struct stb_val, 1);
		v.items[0] = any_value(a, row, row->elem == STB_V_NONE ? STB_V_STRING : row->elem);
	} else if (type == STB_V_WORD && row->words) {
		v.str = stb_arena_strndup(a, row->words, strcspn(row->words, " "));
	} else if (type == STB_V_STRING || type == STB_V_WORD || type == STB_V_REF || type == STB_V_SECRET) {
		v.str = type == STB_V_SECRET ? "env:X" : "/x";
	} else if (row->min) {
		stb_schema_bound(row->min, &v);
	}
	return v;
}

static int read_io(struct planned *p, struct stb_plan_block *b, struct stb_err *err)
{
	struct stb_io_config c;

	(void)p;
	return stb_io_config_read(&c, b, err);
}

static int read_oltp(struct planned *p, struct stb_plan_block *b, struct stb_err *err)
{
	struct stb_oltp o;

	(void)p;
	return stb_oltp_read(&o, b, err);
}

static int read_volume(struct planned *p, struct stb_plan_block *b, struct stb_err *err)
{
	struct stb_volume_spec s;

	(void)b;
	return stb_volume_spec_read(&s, p->plan, &p->plan->groups[0].mounts[0], err);
}

static int read_mysql(struct planned *p, struct stb_plan_block *b, struct stb_err *err)
{
	(void)p;
	return stb_mysqld_preflight(b, err);
}

static int read_external(struct planned *p, struct stb_plan_block *b, struct stb_err *err)
{
	struct stb_db_address addr;

	memset(&addr, 0, sizeof(addr));
	return stb_db_external_address(b, &p->plan->arena, &addr, err);
}

/* Each attribute of the type in turn has a value that is not its default; the room that carries the type out must have read it. */
static void nothing_unread(const char *spec, enum stb_kind kind, const char *type, int (*read)(struct planned *, struct stb_plan_block *, struct stb_err *))
{
	static const char *const fields[] = { "label", "note", "like" }; /* of the block, no attributes */
	struct planned p = { 0 };
	struct stb_plan_block *b = NULL, was;
	size_t n;
	const struct stb_schema_attr *rows = stb_schema_rows(&n);

	planned_open(&p, spec);
	cr_assert(p.plan, "%s", spec);
	for (uint32_t i = 0; i < p.plan->n_blocks; i++)
		if (!strcmp(p.plan->blocks[i].kind, stb_kind_name(kind)) && !strcmp(p.plan->blocks[i].type, type))
			b = &p.plan->blocks[i];
	cr_assert(b);
	was = *b;
	for (size_t i = 0; i < n; i++) {
		const struct stb_schema_attr *row = &rows[i];
		struct stb_plan_attr *a = NULL;
		struct stb_err err;
		char unread[96];
		bool is_field = false;

		for (size_t k = 0; k < STB_LEN(fields); k++)
			is_field |= !strcmp(row->name, fields[k]);
		if (row->kind != kind || !stb_schema_applies(row, type) || is_field || row->flags & (STB_STRUCTURAL | STB_OPEN_MAP | STB_INNER))
			continue;
		*b = was;
		b->attrs = STB_NEW_ARRAY(&p.plan->arena, struct stb_plan_attr, was.n_attrs + 1);
		memcpy(b->attrs, was.attrs, was.n_attrs * sizeof(*was.attrs));
		for (uint32_t k = 0; k < b->n_attrs; k++)
			if (!strcmp(b->attrs[k].name, row->name))
				a = &b->attrs[k];
		if (!a) {
			a = &b->attrs[b->n_attrs++];
			*a = (struct stb_plan_attr){ .name = row->name, .val = any_value(&p.plan->arena, row, row->type), .span = STB_NONE };
		}
		a->is_default = false;
		stb_err_clear(&err);
		snprintf(unread, sizeof(unread), "does not act on its attribute `%s`", row->name);
		if (read(&p, b, &err) && strstr(err.what, unread))
			cr_expect(row->later, "%s %s: nothing carries `%s` out, and it is not marked", stb_kind_name(kind), type, row->name);
	}
	*b = was;
	planned_close(&p);
}

Test(later, what_is_not_marked_is_read_by_its_room)
{
	nothing_unread(IO("rw = randwrite"), STB_K_WORKLOAD, "io", read_io);
	nothing_unread(OLTP(MYSQL, ""), STB_K_WORKLOAD, "oltp", read_oltp);
	nothing_unread(IO("rw = write"), STB_K_STORAGE, "directory", read_volume);
	nothing_unread(IO_ON("storage tmpfs disk { size = 64MiB }\n" VOLUME), STB_K_STORAGE, "tmpfs", read_volume);
	nothing_unread(IO_ON("storage loop disk { size = 64MiB }\n" VOLUME), STB_K_STORAGE, "loop", read_volume);
	nothing_unread(IO_ON("storage loop disk { size = 64MiB }\n" VOLUME), STB_K_VOLUME, "", read_volume);
	nothing_unread(IO("rw = write"), STB_K_VOLUME, "", read_volume);
	nothing_unread(OLTP(MYSQL, ""), STB_K_DATABASE, "mysql", read_mysql);
	nothing_unread(OLTP("database external d { host = \"127.0.0.1\" }\n", ""), STB_K_DATABASE, "external", read_external);
}

/* What needs nothing that is marked is planned as carried out, also where the value that would hold anyway is stated. */
Test(later, values_that_hold_anyway_are_carried_out)
{
	static const char *const plain[] = {
		IO("rw = write"), IO("rw = write\nbs = [8KiB]"), IO("rw = write\nprepare = []"), OLTP(MYSQL, ""),
		OLTP("database mysql d { volume = v topology = single }\n", "retry = rollback\nreconnect = 0\nrand_type = special\nrand_spec_iter = 12"),
		IO_ON(DISK "volume v { storage = disk access_modes = [ReadWriteOnce] discard = false }\n"),
		IO_ON("storage loop disk { size = 256MiB filesystem = btrfs }\nvolume v { storage = disk filesystem = ext4 }\n"),
		OLTP("database external d { host = \"127.0.0.1\" tls = disabled }\n", ""),
	};

	for (size_t i = 0; i < STB_LEN(plain); i++) {
		struct planned p = { 0 };
		struct stb_plan_totals totals;
		struct stb_err err;
		uint8_t *runs;

		planned_open(&p, plain[i]);
		cr_assert(p.plan, "%s", plain[i]);
		for (uint32_t b = 0; b < p.plan->n_blocks; b++)
			cr_expect_null(p.plan->blocks[b].not_run, "%s", p.plan->blocks[b].not_run);
		cr_expect_null(p.plan->groups[0].not_run, "%s", p.plan->groups[0].not_run);
		runs = stb_plan_runnable(p.plan, NULL);
		stb_plan_totals(p.plan, runs, &totals);
		cr_expect_eq(totals.n_measurements, 1u);
		stb_err_clear(&err);
		if (p.plan->groups[0].n_mounts)
			cr_expect(!read_volume(&p, NULL, &err), "%s", err.what);
		free(runs);
		planned_close(&p);
	}
}

Test(later, a_workload_that_is_not_carried_out_is_not_counted)
{
	static const char spec[] = DISK VOLUME "workload io a { volume = v size = 1MiB rw = write }\nworkload io b { volume = v size = 1MiB rw = write filename = \"b\" }\n"
		"workload mix both { run = [a, b] }\nmatrix m { workload = [a, both] repeat = 3 }\n";
	struct planned p = { 0 };
	struct stb_plan_totals totals;
	uint8_t *runs;

	planned_open(&p, spec);
	cr_assert(p.plan);
	runs = stb_plan_runnable(p.plan, NULL);
	stb_plan_totals(p.plan, runs, &totals);
	cr_expect_eq(totals.n_measurements, stb_schema_type(STB_K_WORKLOAD, "mix")->later ? 3u : 6u);
	free(runs);
	planned_close(&p);
}
