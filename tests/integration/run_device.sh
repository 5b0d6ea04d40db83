#!/usr/bin/env bash
# run_device.sh - what the block device did beside what was asked of it: all of it with direct I/O, nothing where the page cache has it.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1

if [ "$(id -u)" != 0 ]; then
	skip "loop volumes" "needs root"
	exit 0
fi
if [ ! -e /dev/loop-control ]; then
	skip "loop volumes" "needs loop devices"
	exit 0
fi

# figure DIR METRIC WORKLOAD
figure() {
	awk -F, -v m="$2" -v w="$3" 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
		$col["metric"] == m && $col["workload"] == w { print $col["value"]; exit }' "$1/results.csv"
}

# between VALUE LOW HIGH
between() {
	awk -v v="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(v != "" && v >= a && v <= b) }'
}

mkdir store
cat >loop.stb <<'SPEC'
stb 1
storage loop image { size = 64MiB }
volume raw { storage = image filesystem = none }
workload io fill { volume = raw  size = 16MiB  rw = write  bs = 1MiB }
workload io direct { volume = raw  size = 16MiB  rw = randwrite  bs = 64KiB  direct = true }
workload io back { volume = raw  size = 16MiB  rw = randread  bs = 64KiB  direct = true  prepare = [fill] }
workload io dropped { volume = raw  size = 16MiB  rw = randread  bs = 64KiB  loops = 3  prepare = [fill] }
workload io cached { volume = raw  size = 16MiB  rw = randread  bs = 64KiB  runtime = 500ms  time_based = true  invalidate = false
  ramp_time = 1500ms  prepare = [fill] }
matrix m { workload = [direct, back, dropped, cached] }
report r { rows = workload  metrics = [io_bytes, dev_write_bytes, dev_read_bytes]  units { io_bytes = "MiB"  dev_write_bytes = "MiB"  dev_read_bytes = "MiB" } }
SPEC
expect "a raw loop volume" 0 "$STB" run loop.stb -o done
holds "direct writes reach the device" between "$(figure done dev_write_bytes direct)" 16777216 17000000
holds "one by one" between "$(figure done dev_write_ios direct)" 240 300
holds "and nothing is read for them" test "$(figure done dev_read_ios direct)" = 0
holds "direct reads do too" between "$(figure done dev_read_bytes back)" 16777216 17000000
holds "invalidate has each pass read from the device" between "$(figure done dev_read_bytes dropped)" $((3 * 16777216)) $((6 * 16777216)) # read ahead, too
holds "reads of cached blocks are many" between "$(figure done io_bytes cached)" 16777216 1e15
holds "and none of them reaches the device" test "$(figure done dev_read_ios cached)" = 0
expect "a report that sets them side by side" 0 "$STB" report loop.stb --results done
says "with both figures" 'direct .* 16\.[0-9]+ .* 16\.[0-9]+' "$work/out"

sed 's/storage loop image { size = 64MiB }/storage tmpfs image { size = 64MiB }/; s/ filesystem = none//; s/direct = true//; s/prepare = \[fill\]//' loop.stb >memory.stb
sed -i '/^report/d' memory.stb
expect "a volume in memory" 0 "$STB" run memory.stb -o memory
holds "has no such figures" test -z "$(figure memory dev_read_ios cached)"
exit $failed
