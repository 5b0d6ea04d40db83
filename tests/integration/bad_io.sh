#!/usr/bin/env bash
# bad_io.sh - what goes wrong under an io workload, each fault in the middle of a matrix: one message with object, operation, reason, what to do
# and the place in the spec; the cell is marked, those before and after it are measured, and what has become of the target is said.
#
# What can be known before anything is provisioned is refused there instead, with exit 3.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1
mkdir before after bad
deny="python3 $repo/tests/support/deny.py"
root=""
[ "$(id -u)" = 0 ] && root=yes

# spec NAME STORAGE-OF-THE-BAD-CELL WORKLOAD-ATTRIBUTES: three cells that differ in where they lie
spec() {
	cat >"$1.stb" <<SPEC
stb 1
storage directory before { path = "$work/before" }
storage $2
storage directory after { path = "$work/after" }
volume v {}
workload io w {
  volume = v
  size   = 2MiB
$3
}
matrix m {
  storage  = [before, bad, after]
  workload = w
}
SPEC
}

here="directory here { path = \"$work/before\" }"
# workloads NAME BEFORE BAD AFTER [STORAGE]: three cells that differ in what they do
workloads() {
	cat >"$1.stb" <<SPEC
stb 1
storage ${5:-$here}
volume v { storage = here }
workload io before { volume = v  size = 2MiB  $2 }
workload io bad { volume = v  size = 2MiB  $3 }
workload io after { volume = v  size = 2MiB  $4 }
matrix m { workload = [before, bad, after] }
SPEC
}

# told NAME WHAT: one message in $work/err, complete
told() {
	holds "$1: one message" test "$(grep -c '^stb: error:' err)" = 1
	says "$1: which says what, of what, and why" "^stb: error: .*$2"
	says "$1: where it was asked for" '^  asked for at [a-z0-9]*\.stb:[0-9]+:[0-9]+'
	says "$1: what to do" '^  what to do: .'
}

# marked NAME RUN STATUS...: of the three cells
marked() {
	local name=$1 run=$2
	shift 2
	holds "$name: the cell is marked, the others are measured" test "$(jq -r 'select(.ev == "result").status' "$run/journal.jsonl" | tr '\n' ' ')" = "$* "
}

# left NAME: and the target
left() {
	says "$1: what has become of the target" '^  state of the target: .*volume `v` stays as it is until'
	holds "$1: nothing is left" test -z "$(find before after -mindepth 1)"
}

# while_bad NAME COMMAND...: runs NAME.stb and, while its second cell is measured, the command
while_bad() {
	local name=$1 pid
	shift
	"$STB" run "$name.stb" -o "$name" >out 2>err &
	pid=$!
	at_end "kill -TERM $pid 2>/dev/null"
	wait_for 60 sh -c "[ \$(grep -c '\"ev\":\"begin\",\"op\":\"measure\"' $name/journal.jsonl) = 2 ]"
	sleep 0.5
	"$@"
	wait $pid
	code=$?
}

# --- a library between stb and the kernel: faults at a place, or at a time, that no real device keeps
cat >faults.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* psync's I/O comes through here: FAULT is the number of the error that I/O at 1 MiB meets below a directory called bad */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	const char *fault = getenv("FAULT");
	char link[64], path[512];
	ssize_t n;
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	if (fault && (number == SYS_pwrite64 || number == SYS_pread64) && a[3] == 1 << 20) {
		snprintf(link, sizeof(link), "/proc/thread-self/fd/%ld", a[0]); /* a worker has a table of its own */
		n = readlink(link, path, sizeof(path) - 1);
		if (n > 0 && (path[n] = 0, strstr(path, "/bad/"))) {
			errno = atoi(fault);
			return -1;
		}
	}
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Kernels of old: FLAGS are those that the ring may not have */
int io_uring_queue_init(unsigned entries, void *ring, unsigned flags)
{
	static int (*real)(unsigned, void *, unsigned);
	const char *old = getenv("FLAGS");

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "io_uring_queue_init");
	if (old && (flags & (unsigned)strtoul(old, NULL, 0)))
		return -EINVAL;
	return real(entries, ring, flags);
}

/* The second context for seven events in a process or its parent is one too many. */
int io_setup(int events, void *context)
{
	static int (*real)(int, void *);
	static int sevens;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "io_setup");
	if (events == 7 && sevens++)
		return -EAGAIN;
	return real(events, context);
}

/* LOCKED: other processes of the user have locked what the limit allows */
int io_uring_register_buffers(void *ring, const void *pieces, unsigned n)
{
	static int (*real)(void *, const void *, unsigned);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "io_uring_register_buffers");
	return getenv("LOCKED") ? -ENOMEM : real(ring, pieces, n);
}
C
if ! "${CC:-cc}" -shared -fPIC -o faults.so faults.c 2>cc.err; then
	bad "the library that fails" "$(head -n 1 cc.err)"
	exit 1
fi
faulty="env LD_PRELOAD=$work/faults.so"

# --- errors of the device
for rw in write read; do
	spec "eio$rw" "directory bad { path = \"$work/bad\" }" "  rw = $rw"
	expect "EIO, $rw: exit 5" 5 $faulty FAULT=5 "$STB" run "eio$rw.stb" -o "eio$rw"
	told "EIO, $rw" "cannot $rw 4096 bytes at offset 1048576 of .stb.data. .workload .w.*: Input/output error"
	marked "EIO, $rw" "eio$rw" ok invalid:errors ok
	left "EIO, $rw"
done
says "EIO, read: which was only read" 'state of the target: it was only read'
expect "EIO, once more: exit 5" 5 $faulty FAULT=5 "$STB" run eiowrite.stb -o eioagain
says "EIO, write: how far it came" 'state of the target: 256 of 257 I/Os were done, 256 of them writes'
sed 's/^  rw = write/  rw = write  error_limit = 1/' eiowrite.stb >borne.stb
expect "EIO, within error_limit: exit 0" 0 $faulty FAULT=5 "$STB" run borne.stb -o borne
marked "EIO, within error_limit" borne ok ok ok

# --- no space, in the middle: the file system is filled while the cell before is measured
if [ -n "$root" ] && mount -t tmpfs -o size=4m stb-test-bad bad 2>/dev/null; then
	at_end "umount '$work/bad' 2>/dev/null"
	spec nospace "directory bad { path = \"$work/bad\" }" '  rw = write  fallocate = none  end_fsync = true'
	sed -i 's/^matrix m {/matrix m {\n  override { where { storage = before } workload.runtime = 2s  workload.time_based = true }/' nospace.stb
	"$STB" run nospace.stb -o nospace >out 2>err &
	pid=$!
	at_end "kill -TERM $pid 2>/dev/null"
	wait_for 30 grep -q '"ev":"begin","op":"measure"' nospace/journal.jsonl
	head -c 3000000 /dev/zero >bad/filler
	wait $pid
	holds "no space: exit 5" test $? = 5
	told "no space" 'cannot write 4096 bytes at offset [0-9]+ of .stb.data. .workload .w.*: No space left on device'
	marked "no space" nospace ok invalid:errors ok
	left "no space"
	holds "no space: nor on the full one" test "$(ls bad)" = filler
	umount bad
else
	skip "no space" "needs root"
fi

# --- a file that is cut short under us
spec short "directory bad { path = \"$work/bad\" }" '  rw = randread  runtime = 2s  time_based = true'
while_bad short sh -c 'find bad -name stb.data -exec truncate -s 4096 {} +'
holds "cut short: exit 5" test "$code" = 5
told "cut short" 'short read at offset [0-9]+ of .stb.data. .workload .w.*: expected 4096 bytes, got 0'
marked "cut short" short ok invalid:errors ok
left "cut short"

# --- direct I/O that is refused: before anything is made where a file without a name can tell, else by the cell
if [ -n "$root" ] && mount -t ramfs stb-test-bad bad 2>/dev/null; then
	at_end "umount '$work/bad' 2>/dev/null"
	spec direct "directory bad { path = \"$work/bad\" }" '  rw = randread  direct = true'
	expect "O_DIRECT refused: exit 3" 3 "$STB" run direct.stb -o direct
	told "O_DIRECT refused" 'cannot open .*/bad/stb.data. for direct I/O: ramfs refuses O_DIRECT'
	holds "O_DIRECT refused: nothing was made" test ! -e direct -a -z "$(find before bad after -mindepth 1)"
	expect "O_DIRECT refused: doctor knows" 3 "$STB" doctor direct.stb
	says "O_DIRECT refused: and says where" 'storage bad.*direct I/O' "$work/out"
	expect "O_DIRECT refused at the cell: exit 5" 5 $deny 257:2:0x400000 95 "$STB" run direct.stb -o direct
	told "O_DIRECT refused at the cell" 'cannot open .*/bad/.*stb.data. for direct I/O: ramfs refuses O_DIRECT'
	marked "O_DIRECT refused at the cell" direct ok invalid:errors ok
	left "O_DIRECT refused at the cell"

	spec reserve "directory bad { path = \"$work/bad\" }" '  rw = write'
	expect "space that cannot be reserved: exit 0" 0 "$STB" run reserve.stb -o reserve
	says "space that cannot be reserved: it is told" 'note: engine .psync. runs without space reserved for its files .ramfs has no fallocate'
	marked "space that cannot be reserved" reserve ok ok ok

	if [ -e /dev/loop-control ]; then
		# an image that cannot be read directly: the device works, and its figures are those of the page cache
		spec buffered "loop bad { size = 16MiB  path = \"$work/bad\" }" '  rw = randread  direct = true'
		expect "a loop device through the page cache: exit 5" 5 "$STB" run buffered.stb -o buffered
		told "a loop device through the page cache" 'loop device ./dev/loop[0-9]+. of volume .v. .* through the page cache: ramfs refuses O_DIRECT on .*/bad/'
		marked "a loop device through the page cache" buffered ok invalid:fallback ok
		holds "a loop device through the page cache: it was measured" grep -q ',bad,.*,iops,.*,invalid:fallback$' buffered/results.csv
		holds "a loop device through the page cache: nothing is left" test -z "$(find before bad after -mindepth 1)"

		# nor can blocks be given back to that image
		workloads notrim 'rw = write' 'rw = trim  prepare = []' 'rw = write' "loop here { size = 16MiB  path = \"$work/bad\"  filesystem = none }"
		expect "a device that cannot trim: exit 5" 5 "$STB" run notrim.stb -o notrim
		holds "a device that cannot trim: one message of it" test "$(grep -c '^stb: error: cannot trim (discard) ./dev/loop[0-9]*. of workload .bad.: Operation not supported' err)" = 1
		says "a device that cannot trim: what to do" 'what to do: put the volume on a device or file system that can discard blocks'
		marked "a device that cannot trim" notrim invalid:fallback invalid:errors invalid:fallback
	else
		skip "a loop device through the page cache" "needs loop devices"
	fi
	umount bad
else
	skip "O_DIRECT refused" "needs root"
fi

# --- blocks that the device does not have: known to the compiler below 512 bytes, to the device above
workloads odd 'rw = read' 'rw = read  direct = true  bs = 1000B' 'rw = read'
expect "bs = 1000B with direct I/O: exit 1" 1 "$STB" run odd.stb -o odd
says "bs = 1000B with direct I/O: where" 'odd\.stb:[0-9]+:[0-9]+'
workloads zram 'rw = read  direct = true' 'rw = read  direct = true  bs = 512B' 'rw = read  direct = true' 'zram here { size = 64MiB }'
expect "smaller blocks than zram's: exit 1" 1 "$STB" run zram.stb -o zram
says "smaller blocks than zram's: where, and which they are" 'bs = 512B. is no multiple of 4096 bytes, the blocks of zram .here.'
says "smaller blocks than zram's: where" 'zram\.stb:5:[0-9]+'
if [ -n "$root" ] && [ -e /dev/loop-control ]; then
	truncate -s 64M sectors.img
	dev=$(losetup -f --show --sector-size 4096 sectors.img)
	at_end "losetup -d '$dev' 2>/dev/null"
	mkfs.ext4 -q -b 4096 "$dev" && mount "$dev" bad && at_end "umount '$work/bad' 2>/dev/null"
	workloads blocks 'rw = read  direct = true' 'rw = read  direct = true  bs = 512B' 'rw = read  direct = true' "directory here { path = \"$work/bad\" }"
	expect "smaller blocks than the device's: exit 5" 5 "$STB" run blocks.stb -o blocks
	told "smaller blocks than the device's" 'cannot read 512 bytes at offset [0-9]+ of .stb.data. .workload .bad.*: Invalid argument'
	says "smaller blocks than the device's: that it is that" 'bs must be a multiple of the logical block size'
	marked "smaller blocks than the device's" blocks ok invalid:errors ok
	says "smaller blocks than the device's: the target" 'state of the target: it was only read'
	umount bad
	losetup -d "$dev"
else
	skip "smaller blocks than the device's" "needs loop devices"
fi

# --- a device that vanishes: its disk is taken away while it is read
if [ -n "$root" ] && [ -e /dev/fuse ] && [ -e /dev/loop-control ]; then
	mkdir disk
	python3 "$repo/tests/support/paced_disk.py" "$work/disk" 48 "$work/never" >ready 2>disk.err &
	disk=$!
	at_end "kill $disk 2>/dev/null; umount -l '$work/disk' 2>/dev/null"
	wait_for 20 grep -q ready ready
	dev=$(losetup -f --show disk/disk)
	at_end "losetup -d '$dev' 2>/dev/null"
	if mkfs.ext4 -q -b 4096 -O ^has_journal "$dev" && mount "$dev" bad; then
		at_end "umount '$work/bad' 2>/dev/null || umount -l '$work/bad' 2>/dev/null"
		spec gone "directory bad { path = \"$work/bad\" }" '  rw = randread  direct = true  runtime = 2s  time_based = true'
		while_bad gone kill -KILL $disk 2>/dev/null
		holds "a device that vanishes: exit 5, or 6 where its file system cannot be cleaned" test "$code" = 5 -o "$code" = 6
		told_of=$(grep -c '^stb: error: cannot read 4096 bytes at offset' err)
		holds "a device that vanishes: one message of the cell" test "$told_of" = 1
		says "a device that vanishes: which says what, of what, and why" 'cannot read 4096 bytes at offset [0-9]+ of .stb.data. .workload .w.*: Input/output error'
		says "a device that vanishes: where it was asked for" 'asked for at gone.stb:[0-9]+'
		says "a device that vanishes: what to do" 'what to do: see the kernel log'
		says "a device that vanishes: what has become of the target" 'state of the target: it was only read; volume `v` stays as it is until'
		marked "a device that vanishes" gone ok invalid:errors ok
	else
		bad "a device that vanishes" "no file system on the paced disk"
	fi
	umount bad 2>/dev/null || umount -l bad
	losetup -d "$dev" 2>/dev/null
	umount disk 2>/dev/null || umount -l disk
	wait $disk 2>/dev/null
else
	skip "a device that vanishes" "needs FUSE"
fi

# --- limits: events of libaio, memory that may be locked
workloads aio 'rw = read' 'rw = read  ioengine = libaio  iodepth = 7' 'rw = read'
if "$STB" version | grep -q '^  libaio    usable'; then
	expect "no events left for libaio: exit 3" 3 $deny 206 11 "$STB" run aio.stb -o aio
	told "no events left for libaio" 'cannot set up engine .libaio. for 7 events: [0-9]+ of the [0-9]+ that fs.aio-max-nr allows are in use'
	holds "no events left for libaio: nothing was made" test ! -e aio
	expect "no events left for libaio: doctor knows" 3 $deny 206 11 "$STB" doctor aio.stb
	lacks "no events left for libaio: doctor calls nothing of it good" '^ok +(libaio|.*ioengine libaio)' out
	expect "no events left for libaio: of stb itself" 0 $deny 206 11 "$STB" doctor
	says "no events left for libaio: of stb itself, by the same rule" '^misses +ioengine libaio; have cannot set up engine .libaio' out
	lacks "no events left for libaio: of stb itself, nothing is good" '^ok +(libaio|ioengine libaio)' out
	expect "events taken by others meanwhile: exit 5" 5 $faulty "$STB" run aio.stb -o aio
	told "events taken by others meanwhile" 'cannot set up engine .libaio. for 7 events: [0-9]+ of the [0-9]+ that fs.aio-max-nr allows are in use'
	marked "events taken by others meanwhile" aio ok invalid:errors ok
	left "events taken by others meanwhile"
else
	bad "no events left for libaio" "libaio is not usable here"
fi
if "$STB" version | grep -q '^  io_uring  usable'; then
	mkdir limited && chmod 777 limited
	workloads locked 'rw = read  ioengine = io_uring  iodepth = 64' 'rw = read  ioengine = io_uring  iodepth = 64  fixedbufs = true' 'rw = read' \
		"directory here { path = \"$work/limited\" }"
	install -m 755 "$STB" limited-stb
	# as a user that is nobody else: the limit is for all that a user has locked
	limited() { # BYTES COMMAND...
		local user=""
		[ -z "$root" ] || user="setpriv --reuid=$((200000 + $$ % 100000)) --regid=65534 --clear-groups"
		$user prlimit --memlock="$1:$1" "${@:2}"
	}
	expect "too little memory may be locked: exit 3" 3 limited 65536 "$work/limited-stb" run locked.stb -o limited/run
	told "too little memory may be locked" 'cannot register 256 KiB of buffers with io_uring: the limit of locked memory .ulimit -l. is 64 KiB'
	says "too little memory may be locked: where" 'asked for at locked.stb:5:[0-9]+'
	holds "too little memory may be locked: nothing was made" test -z "$(find limited -mindepth 1)"
	expect "too little memory may be locked: doctor knows" 3 limited 65536 "$work/limited-stb" doctor locked.stb
	lacks "too little memory may be locked: doctor calls it good nowhere" '^ok +locked memory' out
	expect "too little memory may be locked: of stb itself" 0 limited 65536 "$work/limited-stb" doctor
	says "too little memory may be locked: a limit is no more than a limit" '^note +locked memory: .* have a limit of 64(\.0)?KiB for all' out
	says "too little memory may be locked: what to do" 'what to do: raise it .ulimit -l.' out
	expect "no memory may be locked: of stb itself" 0 limited 1024 "$work/limited-stb" doctor
	says "no memory may be locked: there are no rings" '^misses +ioengine io_uring; have cannot set up engine' out
	lacks "no memory may be locked: nothing of it is good" '^(ok|note) +(locked memory|ioengine io_uring)' out
	if [ -n "$root" ]; then
		expect "root locks beyond the limit: in a spec" 0 prlimit --memlock=1024:1024 "$work/limited-stb" doctor locked.stb
		says "root locks beyond the limit: it is none" '^ok +locked memory: .*; have no limit' out
		expect "root locks beyond the limit: of stb itself" 0 prlimit --memlock=1024:1024 "$work/limited-stb" doctor
		says "root locks beyond the limit: it is none for itself either" '^ok +locked memory: .*; have no limit' out
	fi
	sed -i 's/^matrix m .*/workload mix both { run = [bad, after] }\nmatrix m { workload = both }/; s/workload io after {/& filename = "other"/' locked.stb
	expect "too little memory may be locked: nor in a mix" 3 limited 65536 "$work/limited-stb" run locked.stb -o limited/run
	workloads locked 'rw = read  ioengine = io_uring  iodepth = 64' 'rw = read  ioengine = io_uring  iodepth = 64  fixedbufs = true' 'rw = read' \
		"directory here { path = \"$work/limited\" }"
	expect "memory locked by others meanwhile: exit 5" 5 limited 1048576 $faulty LOCKED=1 "$work/limited-stb" run locked.stb -o limited/run
	told "memory locked by others meanwhile" 'cannot register 256 KiB of buffers with io_uring: the limit of locked memory .ulimit -l. is 1024 KiB for all processes'
	marked "memory locked by others meanwhile" limited/run ok invalid:errors ok
	says "memory locked by others meanwhile: who did not ask by name does without, and is told" 'note: engine .io_uring. runs without registered buffers .*ulimit -l'
	holds "memory locked by others meanwhile: the result has it" jq -se 'map(select(.ev == "result")) | .[0].engine.without | test("registered buffers")' limited/run/journal.jsonl
	rm -rf limited/run
	holds "memory locked by others meanwhile: nothing is left" test -z "$(find limited -mindepth 1)"

	# --- kernels before DEFER_TASKRUN (6.1), and before COOP_TASKRUN (5.19): the ring of their time, and it is told
	workloads older 'rw = read' 'rw = read  ioengine = io_uring' 'rw = read'
	for flags in 0x3000 0x3100; do
		expect "an older kernel ($flags): exit 0" 0 $faulty FLAGS=$flags "$STB" run older.stb -o older$flags
		says "an older kernel ($flags): it is told" 'note: engine .io_uring. runs without .*defer_taskrun .this kernel is older than 6.1'
		holds "an older kernel ($flags): the result has it" jq -se 'map(select(.ev == "result"))[1].engine.without | test("defer_taskrun")' older$flags/journal.jsonl
		holds "an older kernel ($flags): and what there is instead" test "$(jq -r 'select(.ev == "result").engine.with // empty' older$flags/journal.jsonl | grep -c coop_taskrun)" = $((flags == 0x3000))
		marked "an older kernel ($flags)" older$flags ok ok ok
	done

	# --- io_uring that is forbidden, and completions that cannot be polled for
	workloads ring 'rw = read' 'rw = read  ioengine = io_uring' 'rw = read'
	for errno in 1 38; do
		expect "io_uring refused ($errno): exit 3" 3 $deny 425 $errno "$STB" run ring.stb -o ring
		told "io_uring refused ($errno)" 'cannot use engine .io_uring.: (a sandbox|this kernel has none)'
		holds "io_uring refused ($errno): nothing was made" test ! -e ring
	done
	if [ -n "$root" ] && [ -e /sys/class/zram-control/hot_add ]; then
		workloads workers 'rw = write  direct = true' 'rw = randread  ioengine = io_uring  direct = true  iodepth = 8  prepare = [before]' \
			'rw = randrw  ioengine = io_uring  direct = true  prepare = [before]' 'zram here { size = 32MiB  filesystem = none }'
		expect "a device without non-blocking I/O: exit 0" 0 "$STB" run workers.stb -o workers
		says "a device without non-blocking I/O: it is told" 'note: engine .io_uring. runs without non-blocking I/O .*kernel workers'
		holds "a device without non-blocking I/O: the results have it" jq -se 'map(select(.ev == "result"))
			| (.[0].engine.without // "" | test("non-blocking") | not) and all(.[1,2]; .engine.without | test("non-blocking"))
			and (.[1].engine.with | test("sched_batch")) and (.[2].engine.with | test("sched_batch") | not)' workers/journal.jsonl
	else
		skip "a device without non-blocking I/O" "needs zram"
	fi
	workloads polled 'rw = read' 'rw = read  ioengine = io_uring  direct = true  hipri = true' 'rw = read' 'directory here { path = "/dev/shm" }'
	expect "no poll queues: exit 3" 3 "$STB" run polled.stb -o polled
	told "no poll queues" 'cannot poll for completions .hipri.: there is no block device with poll queues'
	holds "no poll queues: nothing was made" test ! -e polled
	for class in 'loop here { size = 32MiB }' 'zram here { size = 32MiB }' 'tmpfs here { size = 32MiB }'; do
		[ -n "$root" ] && { [ "${class%% *}" != loop ] || [ -e /dev/loop-control ]; } && { [ "${class%% *}" != zram ] || [ -e /sys/class/zram-control/hot_add ]; } || {
			skip "${class%% *} devices cannot be polled" "needs ${class%% *}"
			continue
		}
		workloads pollclass 'rw = read' 'rw = read  ioengine = io_uring  direct = true  hipri = true' 'rw = read' "$class"
		expect "${class%% *} devices cannot be polled: exit 3" 3 "$STB" run pollclass.stb -o pollclass
		told "${class%% *} devices cannot be polled" "cannot poll for completions .hipri.: storage .here. is of type ${class%% *}, which has no poll queues"
		says "${class%% *} devices cannot be polled: where" 'asked for at pollclass.stb:5:[0-9]+'
		holds "${class%% *} devices cannot be polled: nothing was made" test ! -e pollclass
	done
else
	skip "io_uring" "no io_uring in this kernel"
fi

exit $failed
