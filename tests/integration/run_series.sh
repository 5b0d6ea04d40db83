#!/usr/bin/env bash
# run_series.sh - series.csv against results.csv over hundreds of short repetitions: the rates of a repetition times their intervals are what it
# counted, its times ascend without drift, and the last one is the end of its window.
. "$(dirname "$0")/../support/integration.bash"
. "$(dirname "$0")/../support/server.bash"
cd "$work" || exit 1
mkdir store

cat >io.stb <<SPEC
stb 1
param interval = 100ms
param times = 60
storage directory here { path = "$work/store" }
volume v {}
workload io timed {
  volume     = v
  size       = 1MiB
  rw         = randrw
  ioengine   = null
  iodepth    = 4
  numjobs    = 2
  runtime    = 200ms
  time_based = true
}
workload io warmed {
  like      = timed
  ioengine  = psync
  iodepth   = 1
  rw        = write
  end_fsync = true
  ramp_time = 50ms
  runtime   = 110ms
}
workload io sized {
  volume = v
  size   = 4MiB
  rw     = write
  fdatasync = 64
}
matrix m {
  storage  = [here]
  workload = [timed, warmed, sized]
  repeat   = times
  interval = interval
}
SPEC
cat >db.stb <<SPEC
stb 1
storage directory here { path = "$work/store" }
volume v {}
database mysql server {
  volume = v
  options {
    innodb_buffer_pool_size        = 16MiB
    $small_redo
    innodb_flush_log_at_trx_commit = 0
  }
}
workload oltp points {
  database    = server
  script      = point_select
  table_size  = 1_000
  threads     = 3
  time        = 200ms
}
workload oltp warmed {
  like        = points
  script      = write_only
  warmup_time = 60ms
  time        = 130ms
}
workload oltp counted {
  like   = points
  script = update_index
  events = 300
}
matrix m {
  storage  = [here]
  database = [server]
  workload = [points, warmed, counted]
  repeat   = 30
  interval = 100ms
}
SPEC

# agree RUN [INTERVAL_S]: each repetition of RUN whose series does not hold what results.csv says of it, or whose times do not ascend on the
# boundaries of intervals (some may be left out: a busy machine holds stb up)
agree() {
	awk -F, -v OFS=, -v interval="${2:-0.1}" '
	function off(a, b) { return a > b ? a - b : b - a }
	FNR == 1 { next }
	FILENAME ~ /results/ {
		key = $1 OFS $(NF - 5) OFS $(NF - 4)
		seen[key] = 1
		if ($(NF - 3) == "events" || $(NF - 3) == "io_bytes" || $(NF - 3) == "qps" || $(NF - 3) == "iops" || $(NF - 3) == "runtime_ms" || $(NF - 3) == "errors_per_s" || $(NF - 3) == "tps")
			is[key OFS $(NF - 3)] = $(NF - 1)
		next
	}
	{
		key = $1 OFS $2 OFS $3
		id = key OFS $5
		if ($4 <= end[id] + 0) { print "times do not ascend: " $0; bad = 1 }
		if (open[id]) { print "an interval in the middle is not one: " $0; bad = 1 }
		open[id] = off($4, interval * int($4 / interval + 0.5)) > 1e-6
		sum[id] += $7 * ($4 - end[id])
		end[id] = $4
		counted[id] = 1
	}
	END {
		for (key in seen) {
			checked++
			if ((key OFS "io_bytes") in is) {
				window = is[key OFS "runtime_ms"] / 1000
				want["iops"] = is[key OFS "iops"] * window
				want["bw_bytes"] = is[key OFS "io_bytes"]
				if (off(end[key OFS "iops"], window) > 1e-6) { print key ": the series ends at " end[key OFS "iops"] ", the window at " window; bad = 1 }
				for (m in want)
					if (!counted[key OFS m] || off(sum[key OFS m], want[m]) > (m == "iops" ? 0.5 : 256)) {
						printf "%s: %s counted %.1f, series %.1f\n", key, m, want[m], sum[key OFS m]; bad = 1
					}
			} else {
				window = is[key OFS "events"] / is[key OFS "tps"]
				if (off(end[key OFS "tps"], window) > 1e-5) { print key ": the series ends at " end[key OFS "tps"] ", the window at " window; bad = 1 }
				if (off(sum[key OFS "tps"], is[key OFS "events"]) > 0.5) { printf "%s: events %.1f, series %.1f\n", key, is[key OFS "events"], sum[key OFS "tps"]; bad = 1 }
				if (off(sum[key OFS "qps"], is[key OFS "qps"] * window) > 0.5) { printf "%s: queries %.1f, series %.1f\n", key, is[key OFS "qps"] * window, sum[key OFS "qps"]; bad = 1 }
			}
		}
		if (!checked) { print "there is nothing to compare"; bad = 1 }
		exit bad
	}' "$1/results.csv" "$1/series.csv"
}

expect "io" 0 "$STB" run io.stb -o io
agree io >disagree
holds "180 repetitions of io have in their series what they counted: $(head -n 3 disagree | tr '\n' ';')" test ! -s disagree
for interval in 333ms=0.333 250ms=0.25 100100us=0.1001; do
	seconds=${interval#*=} interval=${interval%=*}
	expect "io, interval $interval" 0 "$STB" run io.stb -o "io-$interval" --set interval=$interval --set times=3 --only 'workload = timed'
	agree "io-$interval" "$seconds" >disagree
	holds "$interval: the series has what was counted: $(head -n 3 disagree | tr '\n' ';')" test ! -s disagree
done
sed -i 's/runtime    = 200ms/runtime    = 1300ms/' io.stb
expect "io, 333.3ms" 0 "$STB" run io.stb -o thirds --set interval=333300us --set times=1 --only 'workload = timed'
agree thirds 0.3333 >disagree
holds "times are to the microsecond where the interval is: $(head -n 3 disagree | tr '\n' ';')" test ! -s disagree
expect "io, 250ms" 0 "$STB" run io.stb -o quarters --set interval=250ms --set times=1 --only 'workload = timed'
holds "and to the millisecond otherwise" test -z "$(grep ',iops,' quarters/series.csv | cut -d, -f4 | sed '$d' | grep -Ev '^[01]\.(000|250|500|750)$')"

# a stall: a library between stb and the kernel holds one write back for 1.3 s
cat >stall.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

long syscall(long number, ...)
{
	static long (*real)(long, ...);
	static int count;
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_pwrite64 && ++count == 1000)
		usleep(1300000);
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
C
cat >stall.stb <<SPEC
stb 1
storage directory here { path = "$work/store" }
volume v { storage = here }
workload io w {
  volume     = v
  size       = 1MiB
  rw         = randwrite
  runtime    = 1500ms
  time_based = true
}
matrix m {
  workload = w
  interval = 100ms
}
SPEC
if "${CC:-cc}" -shared -fPIC -o stall.so stall.c 2>cc.err; then
	expect "a stall of 1.3 s" 0 env LD_PRELOAD="$work/stall.so" "$STB" run stall.stb -o stall
	for metric in iops bw_bytes; do
		n=$(awk -F, -v m=$metric '$5 == m { if ($7 == 0) s += $4 - end; end = $4 } END { printf "%.0f", s * 10 }' stall/series.csv)
		holds "a stall is rows of zeros, not missing rows: $n tenths of a second of $metric" test "$n" -ge 7
	done
	agree stall >disagree
	holds "a stall: the series has what was counted: $(head -n 3 disagree | tr '\n' ';')" test ! -s disagree
else
	bad "a stall of 1.3 s" "$(head -n 1 cc.err)"
fi

expect "oltp" 0 "$STB" run db.stb -o db
agree db >disagree
holds "90 repetitions of oltp have in their series what they counted: $(head -n 3 disagree | tr '\n' ';')" test ! -s disagree

# While stb is stopped its measuring process goes on: nobody knows what it did when, and the series says so with one row of that length.
cat >stopped.stb <<SPEC
stb 1
storage directory here { path = "$work/store" }
volume v {}
database mysql server {
  volume = v
  options {
    innodb_buffer_pool_size = 16MiB
    $small_redo
  }
}
workload io files {
  volume     = v
  size       = 1MiB
  rw         = randwrite
  runtime    = 3s
  time_based = true
  rate_iops  = 500/s
}
workload oltp points {
  database    = server
  script      = point_select
  table_size  = 1_000
  threads     = 1
  time        = 3s
}
matrix disk {
  storage  = [here]
  workload = [files]
  interval = 100ms
}
matrix base {
  storage  = [here]
  database = [server]
  workload = [points]
  interval = 100ms
}
SPEC
for workload in files points; do
	"$STB" run stopped.stb -o "stopped-$workload" --only "workload = $workload" >out 2>err &
	pid=$!
	wait_for 60 begun "stopped-$workload"
	sleep 0.5
	kill -STOP $pid
	sleep 4
	kill -CONT $pid
	wait $pid
	got=$?
	holds "stopped for a while, $workload" test "$got" = 0
	[ "$got" = 0 ] || sed 's/^/    /' err | head -n 20
	agree "stopped-$workload" >disagree
	holds "stopped, $workload: the series has what was counted: $(head -n 3 disagree | tr '\n' ';')" test ! -s disagree
	for metric in iops bw_bytes tps qps; do
		grep -q ",$metric," "stopped-$workload/series.csv" || continue
		longest=$(awk -F, -v m=$metric '$5 == m { if ($4 - end > most) { most = $4 - end; rate = $7 } end = $4 } END { printf "%.0f %s", most * 10, rate }' "stopped-$workload/series.csv")
		holds "stopped, $workload: one row covers it: $longest" test "${longest% *}" -ge 10 -a "${longest#* }" != 0.000
	done
done

exit $failed
