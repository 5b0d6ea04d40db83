/*
 * test_rule_pairs.c - every rule both ways: a spec in which it fires, and the nearest one in which it does not. A rule that is new in
 * rules.def fails here until it has its pair. Boundaries in numbers are in test_rules.c, what the rules say in tests/golden/diag.
 */
#include "compiler/rule.h"
#include "tests/unit/planned.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define DISK "storage directory disk { path = \"/srv\" }\nvolume v { storage = disk }\n"
#define LOOP "storage loop image { size = 4GiB }\nvolume v { storage = image }\n"
#define RAW "storage loop image { size = 4GiB }\nvolume v { storage = image filesystem = none }\n"
#define ZRAM "storage zram memory { size = 4GiB }\nvolume v { storage = memory }\n"
#define RAW_ZRAM "storage zram memory { size = 4GiB }\nvolume v { storage = memory filesystem = none }\n"
#define IO(attrs) "workload io w { volume = v size = 1GiB " attrs " }\nmatrix m { workload = w }\n"
#define MYSQL(attrs) "database mysql d { volume = v " attrs " }\n"
#define EXTERNAL(attrs) "database external d { " attrs " }\n"
#define OLTP(attrs) "workload oltp w { database = d time = 10s " attrs " }\nmatrix m { workload = w }\n"
#define TIMED(name, time) "workload io " name " { volume = v size = 1GiB rw = read filename = \"" name "\" time_based = true runtime = " time " }\n"
#define TWO_OLTP(options, a, b) DISK MYSQL(options) BOTH_OLTP(a, b)
#define BOTH_OLTP(a, b) "workload oltp a { database = d time = 10s " a " }\n" \
	"workload oltp b { database = d time = 10s " b " }\nworkload mix x { run = [a, b] }\nmatrix m { workload = x }\n"
#define FILL(attrs) "workload io fill { volume = v size = 1GiB rw = write verify = md5 " attrs " }\n"
#define ON(class, volume) class "\nvolume v { " volume " }\nworkload io w { size = 1MiB rw = write }\n" \
	"matrix m { storage = s volume = v workload = w }\n"
#define PINNED(server, client) DISK "pin a { vcpus = 2 vcpu \"0-1\" { cpus = \"" server "\" } }\n" \
	"pin b { vcpus = 2 vcpu \"0-1\" { cpus = \"" client "\" } }\n" \
	"server host db { pin = a }\nserver host load { pin = b }\n" MYSQL("") \
	"workload oltp w { client = load script = read_only time = 1s }\nmatrix m { server = db database = d workload = w }\n"

static const struct {
	enum stb_code code;
	const char *fires, *quiet;
} pairs[] = {
	/* io */
	{ STB_E0401, DISK IO("rw = read iodepth = 2"), DISK IO("rw = read iodepth = 1") },
	{ STB_E0402, DISK IO("rw = read ioengine = libaio direct = true iodepth = 4097"),
		DISK IO("rw = read ioengine = libaio direct = true iodepth = 4096") },
	{ STB_E0403, DISK IO("rw = read direct = true bs = 1KiB + 1B"), DISK IO("rw = read direct = true bs = 512B") },
	{ STB_E0403, ZRAM IO("rw = write direct = true bs = 2KiB"), ZRAM IO("rw = write bs = 2KiB") },
	{ STB_E0403, RAW_ZRAM IO("rw = trim bs = 1000B"), RAW_ZRAM IO("rw = trim bs = 4KiB prepare = []") },
	{ STB_E0404, DISK IO("rw = read bs = 3KiB"), DISK IO("rw = read bs = 4KiB") },
	{ STB_W0405, DISK IO("rw = read ioengine = io_uring iodepth = 4"), DISK IO("rw = read ioengine = io_uring iodepth = 4 direct = true") },
	{ STB_N0406, DISK IO("rw = read runtime = 10s"), DISK IO("rw = read runtime = 10s time_based = true") },
	{ STB_E0407, DISK IO("rw = read time_based = true"), DISK IO("rw = read time_based = true runtime = 1s") },
	{ STB_E0408, DISK IO("rw = read rwmixread = 70%"), DISK IO("rw = rw rwmixread = 70%") },
	{ STB_E0409, DISK IO("rw = read fsync = 8"), DISK IO("rw = write fsync = 8") },
	{ STB_E0410, DISK IO("rw = read norandommap = true"), DISK IO("rw = randread norandommap = true") },
	{ STB_N0411, DISK IO("rw = read direct = true invalidate = false"), DISK IO("rw = read invalidate = false") },
	{ STB_W0412, "storage tmpfs s { size = 2GiB }\nvolume v { storage = s }\n" IO("rw = read direct = true"),
		"storage tmpfs s { size = 2GiB }\nvolume v { storage = s }\n" IO("rw = read") },
	{ STB_E0414, RAW IO("rw = write filename = \"x\""), LOOP IO("rw = write filename = \"x\"") },
	{ STB_E0415, DISK IO("rw = read fallocate = none"), DISK IO("rw = write fallocate = none") },
	{ STB_E0416, RAW IO("rw = write numjobs = 2"), RAW IO("rw = write numjobs = 2 shared_file = true") },
	{ STB_N0417, DISK IO("rw = read numjobs = 2"), DISK IO("rw = read numjobs = 1") },
	{ STB_E0418, LOOP IO("rw = write numjobs = 4"), LOOP IO("rw = write numjobs = 3") },
	{ STB_E0490, DISK IO("rw = read bs = [4KiB, 8KiB] bs_percent = [50%, 49%]"), DISK IO("rw = read bs = [4KiB, 8KiB] bs_percent = [50%, 50%]") },
	{ STB_E0530, DISK IO("rw = randread bs = [4KiB, 12KiB, 16KiB] bs_percent = [40%, 30%, 30%]"),
		DISK IO("rw = randread bs = [4KiB, 8KiB, 16KiB] bs_percent = [40%, 30%, 30%]") },
	{ STB_E0532, DISK "workload io w { volume = v size = 16KiB rw = randread random_distribution = zoned([50%, 1%], [50%, 99%]) }\nmatrix m { workload = w }\n",
		DISK "workload io w { volume = v size = 16KiB rw = randread random_distribution = zoned([50%, 13%], [50%, 87%]) }\nmatrix m { workload = w }\n" },
	{ STB_E0531, DISK IO("rw = trim ioengine = libaio"), DISK IO("rw = trim ioengine = psync") },
	{ STB_W0493, DISK IO("rw = trim loops = 2"), DISK IO("rw = trim loops = 1") },
	{ STB_W0493, DISK IO("rw = trim numjobs = 2 shared_file = true"), DISK IO("rw = trim numjobs = 2") },
	{ STB_W0494, DISK IO("rw = read ioengine = libaio direct = true iodepth = 2 thinktime = 1ms"),
		DISK IO("rw = read ioengine = libaio direct = true iodepth = 1 thinktime = 1ms") },
	{ STB_E0491, DISK IO("rw = read ioengine = libaio direct = true iodepth = 4 iodepth_batch = 5"),
		DISK IO("rw = read ioengine = libaio direct = true iodepth = 4 iodepth_batch = 4") },
	{ STB_E0492, DISK IO("rw = read ioengine = libaio direct = true fixedbufs = true"),
		DISK IO("rw = read ioengine = io_uring direct = true fixedbufs = true") },
	{ STB_E0493, DISK IO("rw = read ioengine = io_uring hipri = true"), DISK IO("rw = read ioengine = io_uring direct = true hipri = true") },
	{ STB_E0494, DISK IO("rw = read verify = md5"), DISK IO("rw = write verify = md5") },
	{ STB_N0491, DISK IO("rw = write"), DISK IO("rw = write verify = crc32c") },
	{ STB_E0527, DISK IO("rw = read offset = 1KiB"), DISK IO("rw = read offset = 4KiB") },
	{ STB_E0528, DISK IO("rw = read refill_buffers = true"), DISK IO("rw = write refill_buffers = true") },
	{ STB_N0492, DISK IO("rw = randread random_distribution = zipf(1.2)"), DISK IO("rw = randread") },
	{ STB_N0494, DISK IO("rw = read time_based = true runtime = 10s"), DISK IO("rw = read runtime = 10s") },
	{ STB_E0495, DISK IO("rw = read rate = 1MiB/s rate_iops = 100/s"), DISK IO("rw = read rate_iops = 100/s") },
	{ STB_E0496, DISK IO("rw = read runtime = 1s rate = 4095B/s"), DISK IO("rw = read runtime = 1s rate = 4KiB/s") },
	{ STB_W0492, "storage directory disk { path = \"/srv\" limits { read_iops = 100/s } }\nvolume v { storage = disk }\n" IO("rw = read rate_iops = 101/s"),
		"storage directory disk { path = \"/srv\" limits { read_iops = 100/s } }\nvolume v { storage = disk }\n" IO("rw = read rate_iops = 100/s") },
	{ STB_E0497, DISK IO("rw = read rate_process = poisson"), DISK IO("rw = read rate_process = poisson rate_iops = 5/s") },
	{ STB_W0491, DISK IO("rw = read rate_iops = 100/s thinktime = 5ms"), DISK IO("rw = read thinktime = 5ms") },
	{ STB_W0495, DISK IO("rw = read runtime = 1s thinktime = 1s"), DISK IO("rw = read runtime = 1s thinktime = 999ms") },
	{ STB_N0493, DISK IO("rw = read rate_iops = 100/s numjobs = 2"), DISK IO("rw = read rate_iops = 100/s numjobs = 1") },
	{ STB_E0498, DISK IO("rw = read time_based = true runtime = 1s steady_state { metric = iops window = 30s limit = 60s }"),
		DISK IO("rw = read time_based = true runtime = 1s steady_state { metric = iops slope = 5% window = 30s limit = 60s }") },
	{ STB_E0499, DISK "volume o { storage = disk }\nworkload io fill { volume = o size = 1GiB rw = write }\n" IO("rw = read prepare = [fill]"),
		DISK FILL("") IO("rw = read prepare = [fill]") },
	{ STB_E0522, RAW IO("rw = read"), RAW IO("rw = read prepare = []") },
	/* oltp */
	{ STB_E0430, DISK MYSQL("") "workload oltp w { database = d script = read_only }\nmatrix m { workload = w }\n",
		DISK MYSQL("") "workload oltp w { database = d script = read_only events = 10 }\nmatrix m { workload = w }\n" },
	{ STB_E0431, DISK MYSQL("") OLTP("script = point_select index_updates = 2"), DISK MYSQL("") OLTP("script = read_write index_updates = 2") },
	{ STB_E0432, DISK MYSQL("") OLTP("script = update_index index_updates = 0"), DISK MYSQL("") OLTP("script = update_index index_updates = 1") },
	{ STB_E0433, DISK MYSQL("") OLTP("script = read_write tables = 203 threads = 9"), DISK MYSQL("") OLTP("script = read_write tables = 202 threads = 9") },
	{ STB_W0434, EXTERNAL("host = \"db\"") OLTP("script = read_write tables = 203 threads = 9"),
		EXTERNAL("host = \"db\"") OLTP("script = read_write tables = 202 threads = 9") },
	{ STB_E0435, DISK MYSQL("") OLTP("script = read_only threads = 151"), DISK MYSQL("") OLTP("script = read_only threads = 150") },
	{ STB_E0435, EXTERNAL("host = \"db\" options { max_connections = 9 }") OLTP("script = read_only threads = 8"),
		EXTERNAL("host = \"db\" options { max_connections = 9 }") OLTP("script = read_only threads = 8 dataset = use") },
	{ STB_E0436, DISK MYSQL("") OLTP("script = point_select skip_trx = true"), DISK MYSQL("") OLTP("script = read_only skip_trx = true") },
	{ STB_W0437, DISK MYSQL("") "workload oltp w { database = d time = 10s script = insert }\nmatrix m { workload = w repeat = 2 }\n",
		DISK MYSQL("") "workload oltp w { database = d time = 10s script = insert }\nmatrix m { workload = w repeat = 2 fresh = repetition }\n" },
	{ STB_N0438, DISK MYSQL("") OLTP("script = insert auto_inc = false"), DISK MYSQL("") OLTP("script = insert") },
	{ STB_E0439, DISK MYSQL("") OLTP("script = read_only dataset = use"), EXTERNAL("host = \"db\"") OLTP("script = read_only dataset = use") },
	{ STB_W0439, EXTERNAL("host = \"db\"") OLTP("script = update_index dataset = use"), EXTERNAL("host = \"db\"") OLTP("script = point_select dataset = use") },
	{ STB_E0440, EXTERNAL("host = \"db\"") OLTP("script = read_only dataset = use create_secondary = false"),
		EXTERNAL("host = \"db\"") OLTP("script = read_only dataset = create create_secondary = false") },
	{ STB_E0441, EXTERNAL("host = \"db\" socket = \"/run/s\"") OLTP("script = read_only"), EXTERNAL("socket = \"/run/s\"") OLTP("script = read_only") },
	{ STB_E0442, RAW MYSQL("") OLTP("script = read_only"), LOOP MYSQL("") OLTP("script = read_only") },
	{ STB_E0443, DISK MYSQL("") OLTP("script = bulk_insert tables = 4"), DISK MYSQL("") OLTP("script = insert tables = 4") },
	{ STB_E0444, DISK MYSQL("") OLTP("script = read_write ignore_errors = [] retry = sysbench"),
		DISK MYSQL("") OLTP("script = read_write ignore_errors = [1213] retry = sysbench") },
	{ STB_E0418, LOOP MYSQL("") OLTP("script = read_only tables = 1000 table_size = 100_000"), LOOP MYSQL("") OLTP("script = read_only") },
	{ STB_E0529, DISK MYSQL("") OLTP("script = read_only rand_type = zipfian rand_spec_pct = 2%"),
		DISK MYSQL("") OLTP("script = read_only rand_type = special rand_spec_pct = 2%") },
	{ STB_E0496, DISK MYSQL("") OLTP("script = read_only rate = 1/11s"), DISK MYSQL("") OLTP("script = read_only rate = 1/10s") },
	{ STB_E0497, DISK MYSQL("") OLTP("script = read_only rate_tolerance = 9%"), DISK MYSQL("") OLTP("script = read_only rate_tolerance = 9% rate = 5/s") },
	{ STB_W0490, DISK MYSQL("") OLTP("script = select_random_points tables = 2"), DISK MYSQL("") OLTP("script = select_random_points tables = 1") },
	{ STB_N0490, DISK MYSQL("") OLTP("script = read_only tables = 4 threads = 5"), DISK MYSQL("") OLTP("script = read_only tables = 4 threads = 4") },
	{ STB_E0443, DISK MYSQL("") OLTP("script = bulk_insert tables = 2"), DISK MYSQL("") OLTP("script = bulk_insert threads = 2") },
	{ STB_E0444, DISK MYSQL("") OLTP("script = read_write ignore_errors = [] retry = sysbench"),
		DISK MYSQL("") OLTP("script = read_write ignore_errors = [1213] retry = sysbench") },
	/* mixes */
	{ STB_E0435, TWO_OLTP("", "script = read_only threads = 100", "script = read_only threads = 50"),
		TWO_OLTP("", "script = read_only threads = 100", "script = read_only threads = 49") },
	{ STB_E0435, TWO_OLTP("options { max_connections = 201 }", "script = read_only threads = 100", "script = read_only threads = 100"),
		TWO_OLTP("options { max_connections = 202 }", "script = read_only threads = 100", "script = read_only threads = 100") },
	{ STB_E0433, TWO_OLTP("", "script = read_write tables = 202 threads = 5", "script = read_write tables = 202 threads = 5"),
		TWO_OLTP("", "script = read_write tables = 202 threads = 5", "script = read_write tables = 202 threads = 4") },
	{ STB_W0434, EXTERNAL("host = \"db\"") BOTH_OLTP("script = read_write tables = 202 threads = 5", "script = read_write tables = 202 threads = 5"),
		EXTERNAL("host = \"db\"") BOTH_OLTP("script = read_write tables = 202 threads = 5", "script = read_write tables = 202 threads = 4") },
	{ STB_W0434, EXTERNAL("host = \"db\"") BOTH_OLTP("script = read_write tables = 202 threads = 5", "script = read_write tables = 202 threads = 5"),
		EXTERNAL("host = \"db\" options { max_prepared_stmt_count = 20000 }")
		BOTH_OLTP("script = read_write tables = 202 threads = 5", "script = read_write tables = 202 threads = 5") },
	{ STB_E0433, EXTERNAL("host = \"db\" options { max_prepared_stmt_count = 18199 }")
		BOTH_OLTP("script = read_write tables = 202 threads = 5", "script = read_write tables = 202 threads = 5"),
		EXTERNAL("host = \"db\" options { max_prepared_stmt_count = 18200 }")
		BOTH_OLTP("script = read_write tables = 202 threads = 5", "script = read_write tables = 202 threads = 5") },
	{ STB_E0524, DISK FILL("filename = \"a\"") "workload io b { volume = v size = 1GiB rw = read filename = \"a\" }\nworkload mix x { run = [fill, b] }\n"
		"matrix m { workload = x }\n",
		DISK FILL("filename = \"a\"") "workload io b { volume = v size = 1GiB rw = read filename = \"b\" }\nworkload mix x { run = [fill, b] }\n"
		"matrix m { workload = x }\n" },
	{ STB_W0524, DISK TIMED("a", "10s") TIMED("b", "11s") "workload mix x { run = [a, b] }\nmatrix m { workload = x }\n",
		DISK TIMED("a", "10s") TIMED("b", "10s") "workload mix x { run = [a, b] }\nmatrix m { workload = x }\n" },
	{ STB_N0524, DISK FILL("filename = \"a\"") TIMED("b", "10s") "workload mix x { run = [fill, b] }\nmatrix m { workload = x }\n",
		DISK TIMED("a", "10s") TIMED("b", "10s") "workload mix x { run = [a, b] }\nmatrix m { workload = x }\n" },
	/* volumes */
	{ STB_E0450, ON("storage directory s { path = \"/srv\" }", "filesystem = xfs"), ON("storage loop s { size = 4GiB }", "filesystem = xfs") },
	{ STB_E0451, ON("storage loop s { size = 4GiB filesystem = none }", "mount_options = [\"noatime\"]"),
		ON("storage loop s { size = 4GiB }", "mount_options = [\"noatime\"]") },
	{ STB_E0452, ON("storage loop s { size = 4GiB }", "size = 4GiB + 1B"), ON("storage loop s { size = 4GiB }", "size = 4GiB") },
	{ STB_E0453, ON("storage loop s { size = 200MiB }", "filesystem = xfs"), ON("storage loop s { size = 400MiB }", "filesystem = xfs") },
	{ STB_E0454, ON("storage device s { serial = \"S1\" by_id = \"nvme-A\" }", ""), ON("storage device s { serial = \"S1\" }", "") },
	{ STB_E0457, ON("storage lvm s { devices = [\"nvme-A\", \"nvme-B\"] layout = striped stripes = 3 }", ""),
		ON("storage lvm s { devices = [\"nvme-A\", \"nvme-B\"] layout = striped stripes = 2 }", "") },
	{ STB_E0458, ON("storage kubernetes s { class_name = \"fast\" }", ""), ON("storage kubernetes s { class_name = \"fast\" }", "size = 1GiB") },
	{ STB_E0460, ON("storage directory s { path = \"/srv\" }", "discard = true"), ON("storage loop s { size = 4GiB }", "discard = true") },
	{ STB_N0477, ON("storage device s { serial = \"S1\" }", ""), ON("storage device s { serial = \"S1\" erase = \"S1\" }", "") },
	/* databases */
	{ STB_E0459, DISK MYSQL("replicas = 2") OLTP("script = read_only"), DISK MYSQL("topology = async_replica replicas = 2") OLTP("script = read_only") },
	{ STB_E0471, EXTERNAL("host = \"db\" tls = disabled tls_ca = \"/ca\"") OLTP("script = read_only"),
		EXTERNAL("host = \"db\" tls = verify_ca tls_ca = \"/ca\"") OLTP("script = read_only") },
	{ STB_E0472, DISK "server host s { memory = 1GiB }\n" MYSQL("options { innodb_buffer_pool_size = 2GiB }")
		"workload oltp w { time = 1s script = read_only }\nmatrix m { server = s database = d workload = w }\n",
		DISK "server host s { memory = 4GiB }\n" MYSQL("options { innodb_buffer_pool_size = 2GiB }")
		"workload oltp w { time = 1s script = read_only }\nmatrix m { server = s database = d workload = w }\n" },
	{ STB_E0418, DISK "storage loop s { size = 64MiB }\nvolume r { storage = s }\n" MYSQL("redo_volume = r") OLTP("script = read_only"),
		DISK "storage loop s { size = 1GiB }\nvolume r { storage = s }\n" MYSQL("redo_volume = r") OLTP("script = read_only") },
	{ STB_E0455, "storage loop s { size = 4GiB }\nvolume v { storage = s size = 2GiB }\nvolume r { storage = s size = 2GiB + 1MiB }\n"
		MYSQL("redo_volume = r") OLTP("script = read_only"),
		"storage loop s { size = 4GiB }\nvolume v { storage = s size = 2GiB }\nvolume r { storage = s size = 2GiB }\n"
		MYSQL("redo_volume = r") OLTP("script = read_only") },
	{ STB_E0456, "storage device s { serial = \"A\" }\nstorage device t { serial = \"A\" }\nvolume v { storage = s }\nvolume r { storage = t }\n"
		MYSQL("redo_volume = r") OLTP("script = read_only"),
		"storage device s { serial = \"A\" }\nstorage device t { serial = \"B\" }\nvolume v { storage = s }\nvolume r { storage = t }\n"
		MYSQL("redo_volume = r") OLTP("script = read_only") },
	/* servers and pins */
	{ STB_E0463, "pin a { vcpus = 2 vcpu \"0\" { cpus = \"0\" } }\n", "pin a { vcpus = 2 vcpu \"0-1\" { cpus = \"0\" } }\n" },
	{ STB_W0474, PINNED("0-1", "1-2"), PINNED("0-1", "2-3") },
	{ STB_W0476, DISK "pin p { vcpus = 5 strategy = smart }\nserver host s { cpus = 4 pin = p }\n"
		"workload io w { volume = v size = 1MiB rw = write }\nmatrix m { server = s workload = w }\n",
		DISK "pin p { vcpus = 4 strategy = smart }\nserver host s { cpus = 4 pin = p }\n"
		"workload io w { volume = v size = 1MiB rw = write }\nmatrix m { server = s workload = w }\n" },
};

static unsigned told(const char *text, enum stb_code code, unsigned *errors)
{
	struct planned p = { 0 };
	unsigned n;

	planned_open(&p, text);
	n = planned_count(&p, code);
	*errors = p.c.sink.n_errors;
	if (*errors && !n)
		stb_sink_print(&p.c.sink, STB_DIAG_HUMAN, stderr);
	planned_close(&p);
	return n;
}

Test(rule_pairs, each_fires_and_just_does_not)
{
	for (size_t i = 0; i < STB_LEN(pairs); i++) {
		const struct stb_code_info *code = stb_code_info(pairs[i].code);
		unsigned errors;

		cr_expect_geq(told(pairs[i].fires, pairs[i].code, &errors), 1, "%s is not told of\n%s", code->name, pairs[i].fires);
		cr_expect_eq(errors > 0, code->severity == STB_SEV_ERROR, "%s\n%s", code->name, pairs[i].fires);
		cr_expect_eq(told(pairs[i].quiet, pairs[i].code, &errors), 0, "%s is told of\n%s", code->name, pairs[i].quiet);
		cr_expect_eq(errors, 0, "%s: another error\n%s", code->name, pairs[i].quiet);
	}
}

Test(rule_pairs, every_rule_has_one)
{
	size_t n;
	const struct stb_rule *rules = stb_rules(&n);

	for (size_t i = 0; i < n; i++) {
		bool found = false;

		for (size_t k = 0; k < STB_LEN(pairs) && !found; k++)
			found = pairs[k].code == rules[i].code;
		cr_expect(found, "%s (%s) has no pair", stb_code_info(rules[i].code)->name, rules[i].doc);
	}
}
