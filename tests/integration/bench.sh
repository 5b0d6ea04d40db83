#!/usr/bin/env bash
# bench.sh - the benchmarks' specs: what stb refuses would be found only by whoever measures.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1
export STB
expect "every case has a spec that stb accepts" 0 python3 -B "$repo/tests/bench/run" --check
says "they are checked: the scripts that write are warned of" 'W0439' err

# A device of a case's own, where hot_add fails, and what killed runs left that came to no device.
mkdir -p killed-0
cat >zram.py <<'EOF'
import os, sys, types
sys.path.insert(0, sys.argv[1])
import cases_io

def denied(path, *args):
    if path.startswith("/sys"):
        raise PermissionError(path)
    return open(path, *args)

cases_io.open = denied
cases_io.time = types.SimpleNamespace(sleep=lambda _: None)
zram = cases_io.Zram
zram.PREFIX = f"{sys.argv[2]}/killed-"
try:
    zram(1, True)
    sys.exit("a device that cannot be is there")
except PermissionError:
    pass
left = [name for name in os.listdir(sys.argv[2]) if name.startswith("killed-")]
assert not left, left

mounted = zram.PREFIX + "0"
os.mkdir(mounted)
with open(f"{mounted}/number", "w") as f:
    f.write("none")
cases_io.os = types.SimpleNamespace(path=types.SimpleNamespace(ismount=lambda _: True))
cases_io.subprocess = types.SimpleNamespace(DEVNULL=None, run=lambda *_, **__: types.SimpleNamespace(returncode=1))
zram.remove(mounted)
EOF
expect "zram devices: nothing stays, nothing is waited for without end" 0 python3 -B zram.py "$repo/tests/bench" "$work"
exit $failed
