#!/usr/bin/env bash
# agreement.sh - latencies beside fio's, on a device whose speed is known: a loop device over a disk that does 500 reads a second
# (tests/support/paced_disk.py). Not a figure of this machine: both sides see the same disk, alternating, and the medians are compared.
#
#   mean of lat     within 2% of fio's
#   p50, p95        within 5%
#   p99             among fio's own runs, or one histogram bucket (1/64) beside them, since both round
#
# Everything runs in real time class where that is allowed, so that a busy machine delays neither the disk nor one of the two sides.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1
seconds=2

if [ "$(id -u)" != 0 ]; then
	skip "latencies beside fio's" "needs root"
	exit 0
fi
if [ ! -e /dev/loop-control ]; then
	skip "latencies beside fio's" "needs loop devices"
	exit 0
fi
if [ ! -e /dev/fuse ] || ! grep -qw fuse /proc/filesystems; then
	skip "latencies beside fio's" "needs FUSE"
	exit 0
fi
realtime=""
chrt -f 10 true 2>/dev/null && realtime="chrt -f 10"

mkdir disk mnt
take_away() {
	local i
	rm -f paced # so that unmounting does not wait
	mountpoint -q mnt && umount mnt
	[ -z "${dev:-}" ] || losetup -d "$dev"
	for i in 1 2 3 4 5 6 7 8 9 10; do
		mountpoint -q disk || break
		umount disk 2>/dev/null || sleep 0.2
	done
	mountpoint -q disk && umount -l disk
	[ -z "${server:-}" ] || wait "$server"
}
at_end take_away
$realtime python3 "$repo/tests/support/paced_disk.py" "$work/disk" 64 "$work/paced" >ready 2>disk.err &
server=$!
wait_for 20 grep -q ready ready
dev=$(losetup -f --show disk/disk 2>>disk.err)
if ! mkfs.ext4 -q -b 4096 "$dev" 2>>disk.err || ! mount "$dev" mnt 2>>disk.err; then
	bad "the paced disk" "$(tail -n 1 disk.err)"
	exit 1
fi
mkdir mnt/store
fio --name=layout --filename=mnt/fio.data --size=16M --rw=write --bs=1M --end_fsync=1 >fio.out 2>&1
touch paced

# Each side appends "mean p50 p95 p99" in ns to its file.
run_fio() { # ENGINE
	$realtime fio --name=lat --filename=mnt/fio.data --size=16M --direct=1 --rw=randread --bs=4k --ioengine="$1" --iodepth=1 --time_based \
		--runtime=$seconds --norandommap --randrepeat=0 --thread --lat_percentiles=1 --output-format=json >fio.out 2>&1
	sed -n '/^{/,$p' fio.out | jq -r '.jobs[0].read.lat_ns | [.mean, .percentile["50.000000"], .percentile["95.000000"], .percentile["99.000000"]] | @tsv'
}
run_stb() { # ENGINE [DEPTH]
	cat >lat.stb <<SPEC
stb 1
storage directory here { path = "$work/mnt/store" }
volume v { storage = here }
workload io w {
  volume        = v
  size          = 16MiB
  rw            = randread
  bs            = 4KiB
  ioengine      = $1
  iodepth       = ${2:-1}
  direct        = true
  runtime       = ${seconds}s
  time_based    = true
  norandommap   = true
  randrepeat    = false
}
matrix m { workload = w }
SPEC
	rm -rf lat
	$realtime "$STB" run lat.stb -o lat >out 2>err
	awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
		$col["status"] == "ok" { v[$col["metric"]] = $col["value"] * 1e6 }
		END { print v["lat_mean"] "\t" v["lat_p50"] "\t" v["lat_p95"] "\t" v["lat_p99"] }' lat/results.csv
}
median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# near COLUMN SHARE: whether the medians of both sides are that near
near() {
	awk -v a="$(cut -f"$1" fio.lat | median)" -v b="$(cut -f"$1" stb.lat | median)" -v s="$2" \
		'BEGIN { exit !(a > 0 && b >= a * (1 - s) && b <= a * (1 + s)) }'
}
among() { # p99, beside the runs of fio
	cut -f4 fio.lat | sort -g | awk -v p="$(cut -f4 stb.lat | median)" '
		NR == 1 { least = $1 } { most = $1 } END { exit !(p >= least * (1 - 1 / 64) && p <= most * (1 + 1 / 64)) }'
}
agree() { near 1 0.02 && near 2 0.05 && near 3 0.05 && among; }
judge() { # NAME COMMAND...
	if "${@:2}"; then ok "$1"; else
		bad "$1" "mean, p50, p95, p99 in ns, of fio and of stb, run by run:"
		paste fio.lat stb.lat | sed 's/^/    /'
	fi
}
pairs() { # ENGINE FIRST LAST: fio twice as often, and each side first in turn
	local pair
	for ((pair = $2; pair <= $3; pair++)); do
		run_fio "$1" >>fio.lat
		if [ $((pair % 2)) = 1 ]; then
			run_stb "$1" >>stb.lat
			run_fio "$1" >>fio.lat
		else
			run_fio "$1" >>fio.lat
			run_stb "$1" >>stb.lat
		fi
	done
}

wait_for 10 test -s mnt/fio.data
run_stb psync >/dev/null # lays its file out
for engine in psync io_uring; do
	if [ $engine = io_uring ] && ! "$STB" version | grep -q '^  io_uring  usable'; then
		skip "latencies beside fio's, io_uring" "no io_uring in this kernel"
		continue
	fi
	: >fio.lat
	: >stb.lat
	pairs $engine 1 3
	agree || pairs $engine 4 9 # a machine that stood still meanwhile moves a median of three, not one of nine
	judge "mean of lat is fio's within 2%, $engine" near 1 0.02
	judge "p50 is fio's within 5%, $engine" near 2 0.05
	judge "p95 is fio's within 5%, $engine" near 3 0.05
	judge "p99 is among fio's, $engine" among
done

# a disk that does one thing at a time has as many waiting as were asked for: the achieved depth, which is beside the asked one
if "$STB" version | grep -q '^  libaio    usable'; then
	run_stb libaio 8 >/dev/null
	depth=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next } $col["metric"] == "depth_mean" { print $col["value"] }' lat/results.csv)
	holds "the achieved depth, $depth, is the asked one" awk -v d="$depth" 'BEGIN { exit !(d > 7.5 && d <= 8) }'
fi
exit $failed
