#!/usr/bin/env bash
# run_io.sh - io workloads from spec to report: the run directory, statuses, what happens to a cell that fails, and that nothing is left.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1
mkdir store

cat >io.stb <<SPEC
stb 1
param bs = 4KiB
storage directory here { path = "$work/store" }
storage directory memory { path = "/dev/shm" }
volume v {}
workload io timed {
  volume     = v
  size       = 4MiB
  rw         = randwrite
  bs         = bs
  runtime    = 1s
  time_based = true
}
workload io mixed {
  volume  = v
  size    = 2MiB
  rw      = randrw
  numjobs = 2
}
workload io capped {
  volume  = v
  size    = 1MiB
  rw      = write
  runtime = 60s
}
matrix m {
  storage  = [here, memory]
  workload = [timed, mixed, capped]
  repeat   = 2
  interval = 250ms
}
report r {
  from     = m
  rows     = workload
  columns  = storage
  metrics  = [iops, lat_p95]
  show     = [value, percent]
  baseline { storage = here }
}
SPEC

expect "the run" 0 "$STB" run io.stb -o run
for f in plan.json environment.json journal.jsonl results.csv series.csv report.md report-r.csv; do
	holds "run/$f is there" test -s run/$f
done
says "the report is on standard output" '^\|' out
says "with where the files are" 'run/report.md' out
holds "12 repetitions" test "$(grep -c ',iops,' run/results.csv)" = 12
holds "of two per cell" test "$(grep ',iops,' run/results.csv | cut -d, -f1 | sort | uniq -c | awk '$1 != 2' | wc -l)" = 0
holds "size before runtime is marked" test "$(grep ',capped,' run/results.csv | grep ',iops,' | grep -c ended_by_size)" = 4
holds "the rest is ok" test "$(grep ',iops,' run/results.csv | grep -c ',ok$')" = 8
holds "mixed has both directions" grep -q ',mixed,.*,read\.iops,' run/results.csv
holds "every repetition has a histogram" test "$(ls run/histograms | grep -c -- '-s1-r[12]\.csv$')" = 12
holds "the series has several rows per timed repetition" test "$(grep -c ',iops,' run/series.csv)" -ge 8
holds "the journal is JSON, line by line" sh -c 'jq -ce . run/journal.jsonl >/dev/null'
holds "it has a result per repetition" test "$(grep -c '"ev":"result"' run/journal.jsonl)" = 12
holds "what was made has gone" sh -c '[ "$(grep -c "\"ev\":\"made\"" run/journal.jsonl)" = "$(grep -c "\"ev\":\"gone\"" run/journal.jsonl)" ]'
holds "the environment names kernel and version" jq -e '.kernel and .stb.version and .storage.here.filesystem and .cpu.usable' run/environment.json
holds "nothing is left" test -z "$(leftovers run)"
holds "nor in the class's directory" test -z "$(ls store)"
expect "the report can be made again" 0 "$STB" report io.stb --results run
holds "and says the same" sh -c 'head -n "$(wc -l <run/report.md)" out | cmp -s - run/report.md'
expect "clean finds nothing to do" 0 "$STB" clean run
says "and says so" 'nothing is left' out

# some cells only
expect "--only takes a selector" 0 "$STB" run io.stb -o only --only 'storage = memory  workload = mixed'
holds "and runs nothing else" test "$(grep -c ',iops,' only/results.csv)" = 2
id=$(jq -r '.cells[0].id' run/plan.json | cut -c1-12)
expect "--only takes an id" 0 "$STB" run io.stb -o byid --only "$id"
holds "of one cell" test "$(grep ',iops,' byid/results.csv | cut -d, -f1 | sort -u | wc -l)" = 1
expect "--set replaces a param" 0 "$STB" run io.stb -o set --set bs=8KiB --only 'storage = memory  workload = timed'
holds "in the plan too" grep -q 8192 set/plan.json

# a cell that fails does not stop the rest: a small file system that fills up while the cell before is measured
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=4m stb-test-small small 2>/dev/null; then
	at_end "umount '$work/small' 2>/dev/null"
	cat >full.stb <<SPEC
stb 1
storage directory first { path = "$work/store" }
storage directory small { path = "$work/small" }
storage directory last { path = "$work/store" }
volume v {}
workload io w {
  volume     = v
  size       = 2MiB
  rw         = randwrite
  fallocate  = none
  runtime    = 2s
  time_based = true
}
matrix m {
  storage  = [first, small, last]
  workload = [w]
}
report r {
  from     = m
  rows     = storage
  metrics  = [iops]
  show     = [value, percent]
  baseline { storage = first }
}
SPEC
	"$STB" run full.stb -o full >out 2>err &
	pid=$!
	at_end "kill -TERM $pid 2>/dev/null"
	wait_for 30 test -e full/results.csv
	head -c 5000000 /dev/zero >small/filler 2>/dev/null
	wait $pid
	holds "a full disk: exit 5" test $? = 5
	says "with the reason" 'No space left' err
	holds "the cells before and after are ok" test "$(grep -c ',\(first\|last\),w,.*,iops,.*,ok$' full/results.csv)" = 2
	lacks "the failed one is not" ',small,w,.*,ok$' full/results.csv
	says "and has no percentage" '\| small.*n/a' full/report.md
	rm -f small/filler
	holds "nothing is left on it" test -z "$(ls small)"
else
	skip "a full disk" "needs root"
fi

# what lives at the same time on one file system is summed
if [ "$(id -u)" = 0 ] && mkdir both && mount -t tmpfs -o size=5m stb-test-both both 2>/dev/null; then
	at_end "umount '$work/both' 2>/dev/null"
	mkdir both/a both/b
	cat >once.stb <<SPEC
stb 1
storage directory a { path = "$work/both/a" }
storage directory b { path = "$work/both/b" }
volume v {}
workload io w {
  volume = v
  size   = 3MiB
  rw     = write
}
matrix m {
  storage  = [a, b]
  workload = [w]
  fresh    = once
}
report r {
  from    = m
  rows    = storage
  metrics = [iops]
}
SPEC
	expect "space of what lives together is summed" 3 "$STB" run once.stb -o once
	says "need and have are named" 'need 6.*MiB.*at the same time.*have'
	says "and what would help" 'fresh = group'
	sed 's/once$/group/' once.stb >group.stb
	expect "one after the other it fits" 0 "$STB" run group.stb -o group
else
	skip "space of what lives together" "needs root"
fi

# a run directory that fills up
if [ "$(id -u)" = 0 ] && mkdir tiny && mount -t tmpfs -o size=64k stb-test-tiny tiny 2>/dev/null; then
	at_end "umount '$work/tiny' 2>/dev/null"
	"$STB" run io.stb -o tiny/run >out 2>err
	code=$?
	holds "a full run directory ends the run" test $code = 3 -o $code = 5
	says "and says so" 'space left|No space' err
	holds "and cleans up" test -z "$(ls store)"
else
	skip "a full run directory" "needs root"
fi

# engines and modes that are not to be had here
cat >asked.stb <<SPEC
stb 1
storage directory here { path = "$work/store" }
volume v {}
workload io w {
  volume   = v
  size     = 1MiB
  rw       = randwrite
  direct   = true
  ioengine = io_uring
}
matrix m {
  storage  = [here]
  workload = [w]
}
SPEC
uring="python3 $repo/tests/support/deny.py 425" # io_uring_setup
expect "io_uring forbidden by a sandbox" 3 $uring 1 "$STB" run asked.stb -o asked
says "is told as such" 'io_uring.*sandbox'
says "at its place in the spec" 'asked for at asked.stb:[0-9]+'
expect "io_uring not in the kernel" 3 $uring 38 "$STB" run asked.stb -o asked
says "is told apart" 'io_uring.*: this kernel has none'
holds "nothing was made" test ! -e asked
expect "version says why it is not usable" 0 $uring 1 "$STB" version
says "in one line" '^  io_uring  not usable: .*sandbox' out
if [ "$(id -u)" = 0 ] && mkdir ram && mount -t ramfs stb-test-ram ram 2>/dev/null; then
	at_end "umount '$work/ram' 2>/dev/null"
	sed "s|$work/store|$work/ram|; s/io_uring/psync/" asked.stb >direct.stb
	expect "direct I/O refused by the file system" 3 "$STB" run direct.stb -o direct
	says "is named with what to do" 'ramfs refuses O_DIRECT'
	holds "nothing is left there" test -z "$(ls ram)"
else
	skip "direct I/O refused" "needs root"
fi

# a place that cannot be written
if [ "$(id -u)" = 0 ] && id nobody >/dev/null 2>&1 && command -v setpriv >/dev/null; then
	mkdir locked mine && chown nobody mine && chmod 755 "$work" locked
	sed "s|$work/store|$work/locked|" io.stb >locked.stb
	expect "a directory that is not writable" 3 as_nobody "$STB" run locked.stb -o "$work/mine/run"
	says "is named" "locked"
	expect "a run directory that cannot be made" 3 as_nobody "$STB" run io.stb -o "$work/locked/run"
	expect "an ordinary user can run" 0 as_nobody "$STB" run io.stb -o "$work/mine/run" --only 'storage = memory'
else
	skip "a directory that is not writable" "needs root"
fi

exit $failed
