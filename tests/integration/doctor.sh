#!/usr/bin/env bash
# doctor.sh - what a spec needs that is not there: the same that `run` refuses, all of it at once, and nothing touched.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1
mkdir store

cat >good.stb <<SPEC
stb 1
storage directory here { path = "$work/store" }
volume v {}
workload io w {
  volume   = v
  size     = 1MiB
  rw       = randwrite
  runtime  = 1s
}
matrix m {
  storage  = [here]
  workload = [w]
}
SPEC
expect "what can be run" 0 "$STB" doctor good.stb
says "each need is named" 'ok +workload w: ioengine psync' out
says "with what there is" 'ok +space on .*/store: .* free at once; have ' out
says "in sum" 'this machine can run it' out
holds "nothing is made" test -z "$(find store -mindepth 1)$(ls -d stb-run* 2>/dev/null)"
expect "as JSON" 0 "$STB" doctor good.stb --format json
holds "it is JSON" jq -e '.runnable and (.lines | length > 4) and ([.lines[].status] | index("lacks") | not)' out
expect "stb itself" 0 "$STB" doctor
says "its engines" 'ok +ioengine psync' out
says "and limits" '/dev/shm' out
if [ -w /sys/class/zram-control/hot_remove ]; then
	devices=$(ls -d /sys/block/zram*)
	expect "zram: is looked for" 0 "$STB" doctor
	says "zram: devices can be added" 'ok +/sys/class/zram-control: storage zram; have devices can be added' out
	holds "zram: and none was" test "$(ls -d /sys/block/zram*)" = "$devices"
else
	says "zram: what is missing" 'misses +/sys/class/zram-control: storage zram; have cannot add a zram device' out
	says "zram: and what to do" 'what to do: (load the driver|run as root)' out
fi
expect "stb itself as JSON" 0 "$STB" doctor --format json
holds "it is JSON too" jq -e '.lines | length > 8' out
sed 's/runtime/runtiem/' good.stb >bad.stb
expect "a spec that is wrong" 1 "$STB" doctor bad.stb
expect "an unknown profile" 1 "$STB" doctor good.stb --profile nobody

# lacking NAME SPEC PATTERN COMMAND...: doctor lists it, run refuses it with the same words
lacking() {
	local name=$1 spec=$2 pattern=$3
	shift 3
	expect "$name: doctor" 3 "$@" "$STB" doctor "$spec"
	says "$name: why" "why: .*$pattern" out
	says "$name: what to do" 'what to do' out
	expect "$name: run" 3 "$@" "$STB" run "$spec" -o "$work/no"
	says "$name: the same words" "$pattern"
}
sed "s|$work/store|$work/nowhere|; s/1MiB/900TiB/; s/ioengine.*//" good.stb >much.stb
lacking "no directory" much.stb 'nowhere'
sed 's/1MiB/900TiB/' good.stb >huge.stb
lacking "no space" huge.stb 'need|needed'
# each part of a server counts where it lies
mkdir parts
cat >parts.stb <<SPEC
stb 1
storage directory here { path = "$work/store" }
storage directory there { path = "$work/parts" }
volume v { storage = here }
volume part { storage = there }
database mysql server { volume = v  redo_volume = part  options { innodb_log_file_size = 1000GiB } }
workload oltp w { database = server  script = point_select  table_size = 100  threads = 1  time = 1s }
matrix m { workload = w }
SPEC
lacking "no space for a redo log" parts.stb 'storage .there. .*/parts.* is too small: 1024000 MiB are needed'
sed 's/redo_volume = part /tmp_volume = part /; s/ innodb_log_file_size = 1000GiB //; s/table_size = 100/table_size = 2_000_000_000  tables = 1000/' parts.stb >tmp.stb
expect "temporary files are counted" 3 "$STB" doctor tmp.stb
says "on their own volume" 'lacks +(storage there|space on .*/parts)' out
sed 's/redo_volume = part /binlog_volume = part  topology = async_replica /; s/ innodb_log_file_size = 1000GiB //; s/table_size = 100/table_size = 2_000_000_000  tables = 1000/' parts.stb >binlog.stb
expect "a binary log is counted" 3 "$STB" doctor binlog.stb
says "on its own volume" 'lacks +(storage there|space on .*/parts)' out
sed 's/size     = 1MiB/&  direct = true  ioengine = io_uring/' good.stb >uring.stb
lacking "no io_uring" uring.stb 'sandbox' python3 "$repo/tests/support/deny.py" 425 1
cat >pins.stb <<'SPEC'
stb 1
pin far { vcpus = 1  vcpu "0" { node = 63 } }
server host s { pin = far }
storage directory here { path = "/var/tmp" }
volume v {}
workload io w { volume = v  size = 1MiB  rw = write }
matrix m { server = s  storage = here  workload = w }
SPEC
expect "a pin to a node that is not there" 3 "$STB" doctor pins.stb
says "is named" 'lacks +pins' out
sed 's/storage directory here .*/storage external here { }/' good.stb >external.stb
lacking "what is described only" external.stb 'external'

# more CPUs than a cpu_set_t has: the kernel fills none that is too small. A library between stb and the kernel adds CPU 2000.
cat >many.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	long got;

	if (size < 2048 / 8) {
		errno = EINVAL;
		return -1;
	}
	CPU_ZERO_S(size, set);
	got = syscall(SYS_sched_getaffinity, pid, size, set);
	if (got < 0)
		return -1;
	CPU_SET_S(2000, size, set);
	return 0;
}
C
if "${CC:-cc}" -shared -fPIC -o many.so many.c 2>cc.err; then
	cpus=$(nproc)
	for spec in "" good.stb; do
		# shellcheck disable=SC2086
		LD_PRELOAD="$work/many.so" "$STB" doctor $spec >out 2>err
		says "a machine of 2001 CPUs ${spec:+with a spec}" "^ok +CPUs; have $((cpus + 1)) that this process may use" out
	done
else
	bad "a machine of 2001 CPUs" "$(head -n 1 cc.err)"
fi

# several lacks at once
cat >several.stb <<SPEC
stb 1
storage directory a { path = "$work/none1" }
storage directory b { path = "$work/none2" }
volume v {}
workload io w { volume = v  size = 1MiB  rw = write }
matrix m { storage = [a, b]  workload = w }
SPEC
expect "several" 3 "$STB" doctor several.stb
holds "all of them are listed" test "$(grep -c '^lacks' out)" -ge 2
expect "of the selected cells alone" 3 "$STB" doctor several.stb --only 'storage = b'
lacks "the others are not looked at" 'none1' out

if [ "$(id -u)" = 0 ] && id nobody >/dev/null 2>&1 && command -v setpriv >/dev/null; then
	printf 'stb 1\nstorage loop l { size = 64MiB }\nvolume v {}\nworkload io w { volume = v  size = 1MiB  rw = write }\nmatrix m { storage = l  workload = w }\n' >loop.stb
	chmod 755 "$work" && mkdir mine && chown nobody mine && cp loop.stb mine
	cd mine || exit 1
	expect "without root" 3 as_nobody "$STB" doctor loop.stb
	cd ..
	says "is told" 'needs root' out
	says "with where it is asked for" 'asked for at .*loop.stb:2' out
fi

# nobody is connected to, unless that was asked for
python3 - "$work/port" "$work/connected" <<'PY' &
import socket, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(5)
s.settimeout(60)
open(sys.argv[1] + ".new", "w").write(str(s.getsockname()[1]))
__import__("os").rename(sys.argv[1] + ".new", sys.argv[1])
try:
    c, _ = s.accept()
    open(sys.argv[2], "w").write("yes")
    c.close()
except OSError:
    pass
PY
listener=$!
at_end "kill -KILL $listener 2>/dev/null; wait $listener 2>/dev/null"
wait_for 20 test -s port
cat >db.stb <<SPEC
stb 1
storage external disk {}
volume v { storage = disk }
database external db { volume = v  host = "127.0.0.1"  port = $(cat port)  password = env("STB_TEST_NO_SUCH") }
workload oltp o { database = db  script = point_select  time = 1s }
matrix m { database = db  workload = o }
SPEC
expect "an external database" 0 "$STB" doctor db.stb
says "is not asked" 'asks +database db: .*not looked at' out
holds "nobody connected" test ! -e connected
export STB_TEST_NO_SUCH=secret
expect "with --connect" 3 "$STB" doctor db.stb --connect
holds "it is asked" wait_for 10 test -e connected
holds "and what it says is told, once" test "$(grep -cE 'lacks +database db' out)" = 1
lacks "no secret is shown" 'secret' out
exit $failed
