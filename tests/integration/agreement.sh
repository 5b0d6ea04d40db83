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

# within NAME COLUMN SHARE: the medians of both sides
within() {
	local a b
	a=$(cut -f"$2" fio.lat | median) b=$(cut -f"$2" stb.lat | median)
	if awk -v a="$a" -v b="$b" -v s="$3" 'BEGIN { exit !(a > 0 && b >= a * (1 - s) && b <= a * (1 + s)) }'; then ok "$1"; else
		bad "$1" "stb has $b ns, fio $a ns"
		paste fio.lat stb.lat | sed 's/^/    /'
	fi
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
	for pair in 1 2 3; do
		run_fio $engine >>fio.lat
		if [ $((pair % 2)) = 1 ]; then
			run_stb $engine >>stb.lat
			run_fio $engine >>fio.lat
		else
			run_fio $engine >>fio.lat
			run_stb $engine >>stb.lat
		fi
	done
	within "mean of lat is fio's within 2%, $engine" 1 0.02
	within "p50 is fio's within 5%, $engine" 2 0.05
	within "p95 is fio's within 5%, $engine" 3 0.05
	p99=$(cut -f4 stb.lat | median)
	if cut -f4 fio.lat | sort -g | awk -v p="$p99" 'NR == 1 { least = $1 } { most = $1 } END { exit !(p >= least * (1 - 1 / 64) && p <= most * (1 + 1 / 64)) }'; then
		ok "p99 is among fio's, $engine"
	else
		bad "p99 is among fio's, $engine" "stb has $p99 ns, fio $(cut -f4 fio.lat | tr '\n' ' ')"
	fi
done

# a disk that does one thing at a time has as many waiting as were asked for: the achieved depth, which is beside the asked one
if "$STB" version | grep -q '^  libaio    usable'; then
	run_stb libaio 8 >/dev/null
	depth=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next } $col["metric"] == "depth_mean" { print $col["value"] }' lat/results.csv)
	holds "the achieved depth, $depth, is the asked one" awk -v d="$depth" 'BEGIN { exit !(d > 7.5 && d <= 8) }'
fi
exit $failed
