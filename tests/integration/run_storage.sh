#!/usr/bin/env bash
# run_storage.sh - loop devices and tmpfs from spec to report, and their removal after every kind of end.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1
if [ "$(id -u)" != 0 ]; then
	skip "loop and tmpfs volumes" "needs root"
	exit 0
fi
if ! losetup -f >/dev/null 2>&1; then
	skip "loop volumes" "needs loop devices"
	exit 0
fi

cat >loop.stb <<'SPEC'
stb 1
param length = 300ms
storage loop image { size = 512MiB }
storage tmpfs memory { size = 64MiB }
volume ext { filesystem = ext4 }
volume raw { filesystem = none }
volume plain {}
workload io direct {
  size       = 8MiB
  rw         = randwrite
  direct     = true
  runtime    = length
  time_based = true
}
workload io buffered {
  size       = 8MiB
  rw         = randwrite
  runtime    = length
  time_based = true
}
matrix on_loop {
  storage  = [image]
  volume   = [ext, raw]
  workload = [direct]
}
matrix on_tmpfs {
  storage  = [memory]
  volume   = [plain]
  workload = [buffered]
}
report r {
  from    = on_loop
  rows    = volume
  metrics = [iops]
}
SPEC
expect "loop and tmpfs" 0 "$STB" run loop.stb -o run
holds "three cells are ok" test "$(grep -c ',iops,.*,ok$' run/results.csv)" = 3
holds "nothing is left" test -z "$(leftovers run)"

for sig in TERM KILL; do
	"$STB" run loop.stb -o $sig --set length=60s --only 'volume = ext' >out 2>err &
	pid=$!
	at_end "kill -TERM $pid 2>/dev/null"
	holds "SIG$sig: the run gets to measuring" wait_for 60 begun $sig
	holds "SIG$sig: it is mounted" test -n "$(leftovers $sig)"
	kill -$sig $pid
	wait $pid 2>/dev/null
	sleep 0.3
	if [ $sig = KILL ]; then
		holds "SIGKILL: it stays mounted" test -n "$(leftovers KILL)"
		expect "clean" 0 "$STB" clean KILL
	fi
	holds "SIG$sig: nothing is left" test -z "$(leftovers $sig)"
done

# unmounting fails while somebody sits in the mount: exit 6, what is left, and the command that undoes it
"$STB" run loop.stb -o busy --set length=2s --only 'volume = ext' >out 2>err &
pid=$!
at_end "kill -TERM $pid 2>/dev/null"
wait_for 60 begun busy
dir=$(sed -n 's/.*"kind":"mount","object":"\([^"]*\)".*/\1/p' busy/journal.jsonl | head -n 1)
sleep 600 <"$dir" &
sitter=$!
at_end "kill -KILL $sitter 2>/dev/null"
wait $pid
code=$?
kill $sitter
wait $sitter 2>/dev/null
case $code in
6)
	ok "a busy mount is exit 6"
	says "what is left is listed" "^  (mount $dir|loop /dev/loop[0-9]+)"
	says "with the command that undoes it" "stb clean '.*busy'"
	expect "which works" 0 "$STB" clean busy ;;
0) ok "a busy mount is exit 6 (it could be detached all the same)" ;;
*) bad "a busy mount is exit 6" "exit $code" ;;
esac
holds "busy: nothing is left" test -z "$(leftovers busy)"

# a zram device of our own: raw and with a file system, removed after every kind of end; the devices of others stay
zrams() { ls -d /sys/block/zram* 2>/dev/null; }
if [ -w /sys/class/zram-control/hot_remove ]; then
	before=$(zrams)
	cat >zram.stb <<'SPEC'
stb 1
param length = 300ms
param packing = "lzo-rle"
storage zram squeezed {
  size      = 64MiB
  algorithm = packing
}
volume raw { filesystem = none }
volume ext { filesystem = ext4 }
workload io writes {
  size       = 8MiB
  rw         = randwrite
  direct     = true
  runtime    = length
  time_based = true
}
matrix m {
  storage  = [squeezed]
  volume   = [raw, ext]
  workload = [writes]
}
SPEC
	expect "zram" 0 "$STB" run zram.stb -o zram
	holds "both cells are ok" test "$(grep -c ',iops,.*,ok$' zram/results.csv)" = 2
	holds "nothing is left of zram" test -z "$(leftovers zram)"
	holds "the zram devices are those there were" test "$(zrams)" = "$before"
	for volume in raw ext; do
		"$STB" run zram.stb -o zram-$volume --set length=60s --only "volume = $volume" >out 2>err &
		pid=$!
		at_end "kill -TERM $pid 2>/dev/null"
		holds "zram $volume: it gets to measuring" wait_for 60 begun zram-$volume
		kill -KILL $pid
		wait $pid 2>/dev/null
		sleep 0.3
		holds "zram $volume: SIGKILL leaves the device" test "$(zrams)" != "$before"
		expect "zram $volume: clean" 0 "$STB" clean zram-$volume
		holds "zram $volume: nothing is left" test -z "$(leftovers zram-$volume)"
		holds "zram $volume: the device is gone" test "$(zrams)" = "$before"
	done
	expect "zram: an algorithm that the kernel lacks" 5 "$STB" run zram.stb -o zram-none --set 'packing="nothing"'
	says "zram: names it, and those there are" "cannot compress volume .raw. with algorithm .nothing."
	says "zram: the remedy" "this kernel has: .*lz"
	holds "zram: nothing is left of a refused one" test -z "$(leftovers zram-none)"
	holds "zram: no device of a refused one" test "$(zrams)" = "$before"
else
	skip "zram volumes" "needs zram"
fi

# options that name what they must not
sed 's/volume ext .*/volume ext {\n  filesystem = ext4\n  mkfs_options = ["-F", "\/dev\/sda"]\n}/' loop.stb >device.stb
expect "mkfs options that name a device" 1 "$STB" check device.stb
sed 's/  size       = 8MiB/  filename   = "..\/..\/escape"\n  size       = 8MiB/' loop.stb >climb.stb
expect "a filename that climbs out" 1 "$STB" check climb.stb

exit $failed
