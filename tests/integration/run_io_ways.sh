#!/usr/bin/env bash
# run_io_ways.sh - what an io workload can do besides plain blocks: trims, several sizes, offsets, skew, contents, verify, rates, pauses. Each shows
# its effect on real files.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1
mkdir store

# spec NAME WORKLOAD-ATTRIBUTES: one cell in a directory; results in NAME/
spec() {
	cat >"$1.stb" <<SPEC
stb 1
storage directory here { path = "$work/store" }
volume v { storage = here }
workload io w {
  volume = v
  size   = 4MiB
$2
}
matrix m { workload = w }
SPEC
}

# figure NAME METRIC
figure() {
	awk -F, -v m="$2" 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next } $col["metric"] == m { print $col["value"]; exit }' "$1/results.csv"
}

# between VALUE LOW HIGH
between() {
	awk -v v="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(v != "" && v >= a && v <= b) }'
}

# --- trims: the file is filled first, and gone afterwards
spec trim '  rw = trim
  bs = 64KiB'
expect "trims of a file" 0 "$STB" run trim.stb -o trim
holds "of all of its blocks" test "$(figure trim io_bytes)" = 4194304
spec trims '  rw = trim
  bs = 64KiB
  ioengine = libaio'
expect "trims with an asynchronous engine are refused" 1 "$STB" check trims.stb
says "by name" 'E0531'

# --- several sizes: shares by number, each block once, and the last I/O cut where it is sequential
spec sizes '  rw = randwrite
  size = 16MiB
  bs = [4KiB, 64KiB]
  bs_percent = [80%, 20%]'
sed -i '/size   = 4MiB/d' sizes.stb
expect "several sizes" 0 "$STB" run sizes.stb -o sizes
holds "all bytes once" test "$(figure sizes io_bytes)" = 16777216
# 256 cells of 64 KiB: 80% of the I/Os are 4 KiB, so a fifth of the cells holds them: 51 cells of 16, and 205 of one
n=$(awk -F, 'NR > 1 { n += $2 } END { print n }' sizes/histograms/*-s1-r1.csv)
holds "in the asked shares" between "$n" 1000 1050
spec sequential '  rw = write
  bs = [4KiB, 12KiB]
  bs_percent = [50%, 50%]'
expect "sizes that do not divide each other, in order" 0 "$STB" run sequential.stb -o sequential
holds "all bytes once" test "$(figure sequential io_bytes)" = 4194304

# --- where the region begins
spec offset '  rw = write
  offset = 8MiB
  numjobs = 1
  end_fsync = true'
expect "an offset" 0 "$STB" run offset.stb -o offset
holds "moves the region's bytes" test "$(figure offset io_bytes)" = 4194304

# --- skew
for d in 'zipf(1.2)' 'pareto(0.2)' 'normal(10%)' 'zoned([90%, 10%], [10%, 90%])'; do
	spec skew "  rw = randread
  random_distribution = $d"
	rm -rf skew
	expect "offsets by $d" 0 "$STB" run skew.stb -o skew
	holds "as many as asked for" test "$(figure skew io_bytes)" = 4194304
done

# --- verify, on clean data, in every order, with every digest and engine
for rw in write randwrite; do
	for digest in crc32c md5 sha256; do
		spec clean "  rw = $rw
  verify = $digest
  loops = 2"
		rm -rf clean
		expect "clean data verifies: $rw, $digest" 0 "$STB" run clean.stb -o clean
		holds "and says so" test "$(figure clean verify_errors)" = 0
	done
done
spec cleansizes '  rw = randwrite
  bs = [4KiB, 16KiB]
  bs_percent = [60%, 40%]
  ioengine = libaio
  iodepth = 8
  runtime = 300ms
  time_based = true
  verify = crc32c
  buffer_compress_percentage = 40%'
expect "clean data verifies: several sizes, a pass cut short, in flight together" 0 "$STB" run cleansizes.stb -o cleansizes
holds "and says so" test "$(figure cleansizes verify_errors)" = 0

# a volume that lies: a library between stb and the kernel damages, loses or misplaces one write
cat >liar.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* psync's writes come through here: of 4096 bytes at 40960 something else becomes */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	static char copy[4096];
	static int count;
	const char *how = getenv("LIAR");
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	if (!how || number != SYS_pwrite64 || a[2] != 4096 || a[3] != 40960)
		return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	memcpy(copy, (void *)a[1], sizeof(copy));
	count++;
	if (!strcmp(how, "flip"))
		copy[1000] ^= 1;
	if (!strcmp(how, "lose") || (!strcmp(how, "stale") && count > 1))
		return 4096;
	if (!strcmp(how, "misplace"))
		a[3] -= 4096;
	return real(number, a[0], (long)copy, a[2], a[3], a[4], a[5]);
}
C
spec liar '  rw = write
  loops = 2
  verify = crc32c'
if "${CC:-cc}" -shared -fPIC -o liar.so liar.c 2>cc.err; then
	expect "a volume that tells the truth" 0 env LD_PRELOAD="$work/liar.so" "$STB" run liar.stb -o truth
	for how in flip lose stale misplace; do
		expect "a volume that lies ($how) is found" 5 env LD_PRELOAD="$work/liar.so" LIAR=$how "$STB" run liar.stb -o "liar-$how"
		holds "and its figures do not count" grep -q 'invalid:errors' "liar-$how/results.csv"
		case $how in
		flip) says "with the byte" '1 of 1024 blocks read back .* offset 40960 of `stb.data` is damaged: expected byte 0x.* at offset 41960, found 0x' ;;
		lose) says "with what is there instead" 'offset 40960 of `stb.data` was lost: expected the data of pass 2, found zeros' ;;
		stale) says "with the passes" 'offset 40960 of `stb.data` is stale: expected the data of pass 2, found that of pass 1' ;;
		misplace) says "with both places" '2 of 1024 .* offset 36864 of `stb.data` is in the wrong place: expected offset 36864 in its header, found 40960' ;;
		esac
	done
	sed 's/verify = crc32c/verify = crc32c\n  verify_fatal = true/' liar.stb >fatal.stb
	expect "verify_fatal ends with the first one" 5 env LD_PRELOAD="$work/liar.so" LIAR=misplace "$STB" run fatal.stb -o fatal
	says "which is the only one named" '1 of 10 blocks'
else
	echo "not ok the library that lies - $(head -1 cc.err)"
	failed=1
fi

# --- rates and pauses: never more than was due, whatever the machine does meanwhile
spec rated '  rw = randread
  rate_iops = 200/s
  rate_tolerance = 100%
  runtime = 1s
  time_based = true'
expect "a rate" 0 "$STB" run rated.stb -o rated
holds "is not exceeded" between "$(figure rated io_bytes)" 4096 $((200 * 4096))
holds "is told beside what was achieved" between "$(figure rated rate_achieved)" 1 201
holds "service time is apart from latency" between "$(figure rated svc_mean)" 0.0001 "$(figure rated lat_max)"
holds "with a histogram of its own" test -s rated/histograms/*-s1-r1-svc.csv
spec bytes '  rw = write
  bs = [4KiB, 16KiB]
  bs_percent = [50%, 50%]
  rate = 1MiB/s
  rate_process = poisson
  rate_tolerance = 100%
  ioengine = libaio
  iodepth = 4
  runtime = 500ms'
expect "a byte rate, at random" 0 "$STB" run bytes.stb -o bytes
holds "is not exceeded by far" between "$(figure bytes io_bytes)" 4096 1500000
spec toofast '  rw = randread
  rate_iops = 1000000000/s
  runtime = 200ms
  time_based = true'
expect "a rate that cannot be met" 5 "$STB" run toofast.stb -o toofast
holds "is a status of the result" grep -q 'iops,.*invalid:rate' toofast/results.csv
says "with both figures" 'the rate was not met: of .* I/Os/s that were due .* were done'
says "and what to do" 'what to do: ask for a lower rate, or let more I/Os be under way'
spec pauses '  rw = randread
  thinktime = 10ms
  runtime = 500ms
  time_based = true'
expect "pauses" 0 "$STB" run pauses.stb -o pauses
holds "leave no time for more" between "$(figure pauses io_bytes)" 4096 $((51 * 4096))

# --- contents
cat >contents.stb <<SPEC
stb 1
storage directory here { path = "$work/store" }
volume v { storage = here }
workload io w {
  volume = v
  size = 4MiB
  rw = write
  bs = 64KiB
  buffer_compress_percentage = 75%
}
matrix m { workload = w }
SPEC
expect "compressible data" 0 "$STB" run contents.stb -o contents
sed 's/buffer_compress_percentage = 75%/refill_buffers = true/' contents.stb >refill.stb
expect "refilled buffers" 0 "$STB" run refill.stb -o refill

# --- what runs before the first measurement
cat >prepare.stb <<SPEC
stb 1
storage directory here { path = "$work/store" }
volume v { storage = here }
workload io fill {
  volume = v
  size = 2MiB
  rw = write
  bs = 64KiB
}
workload io fill_more {
  volume = v
  size = 2MiB
  offset = 2MiB
  rw = write
  bs = 64KiB
  verify = crc32c
}
workload io w {
  volume = v
  size = 4MiB
  rw = randread
  prepare = [fill, fill_more]
}
matrix m {
  workload = w
  repeat = 2
}
SPEC
expect "what prepares is in the plan" 0 "$STB" plan prepare.stb
says "with the group" 'filled by .*fill, .*fill_more' out
expect "workloads that prepare" 0 "$STB" run prepare.stb -o prepare
holds "run once a group" test "$(grep -c '"ev":"begin".*"op":"load' prepare/journal.jsonl)" = 1
holds "and are not measured" test "$(grep -c ',iops,' prepare/results.csv)" = 2
sed 's/repeat = 2/repeat = 2\n  fresh = repetition/' prepare.stb >anew.stb
expect "with fresh = repetition" 0 "$STB" run anew.stb -o anew
holds "they run before each" test "$(grep -c '"ev":"begin".*"op":"load' anew/journal.jsonl)" = 2
if [ "$(id -u)" = 0 ] && losetup -f >/dev/null 2>&1; then
	sed 's|^storage.*|storage loop here { size = 16MiB }|; s|storage = here }|storage = here  filesystem = none }|' prepare.stb >raw.stb
	expect "a raw volume is filled" 0 "$STB" run raw.stb -o raw
	holds "and measured" test "$(grep -c ',iops,' raw/results.csv)" = 2
else
	skip "a raw volume is filled" "needs root"
fi

holds "nothing is left" test -z "$(ls store)"
exit $failed
