#!/usr/bin/env bash
# run_faults.sh - runs into which something breaks from outside: what they say is true, and what was measured is kept.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1
mkdir store

cat >io.stb <<SPEC
stb 1
param length = 300ms
storage directory here { path = "$work/store" }
volume v {}
workload io a {
  volume     = v
  size       = 1MiB
  rw         = randwrite
  runtime    = length
  time_based = true
}
workload io b {
  volume     = v
  size       = 1MiB
  rw         = randread
  runtime    = length
  time_based = true
}
matrix m {
  storage  = [here]
  workload = [a, b]
  repeat   = 2
  interval = 100ms
}
report r {
  from    = m
  rows    = workload
  metrics = [iops]
}
claim absurd {
  from     = m
  metric   = iops
  where    { workload = a }
  baseline { workload = b }
  ratio    = 1_000_000
}
SPEC
sed '/^claim/,$d' io.stb >plain.stb

# standard output that takes nothing: the environment refused nothing, and the results are complete
"$STB" run plain.stb -o full >/dev/full 2>err
code=$?
holds "stdout full: exit 3, no failed cells" test $code = 3
lacks "stdout full: nothing is said to have failed" 'failed'
says "stdout full: it is said" 'cannot write to standard output'
says "stdout full: the results are complete" 'results are complete'
holds "stdout full: they are" test "$(grep -c ',iops,' full/results.csv)" = 4 -a -s full/report.md

# a reader that goes away takes nothing from the run
{ "$STB" run plain.stb -o gone 2>err; echo $? >code; } | true
holds "stdout closed by its reader: exit 0" test "$(cat code)" = 0
says "stdout closed by its reader: where the results are" 'results are complete all the same, in gone'
lacks "stdout closed by its reader: no error" 'error'
holds "stdout closed by its reader: the journal says the same" test "$(jq -r 'select(.ev == "finish").exit' gone/journal.jsonl)" = 0
holds "stdout closed by its reader: all is there" test "$(grep -c ',iops,.*,ok$' gone/results.csv)" = 4 -a -s gone/report.md

# signals that were ignored at start stay ignored
env --ignore-signal=HUP "$STB" run plain.stb --set length=1s -o nohup >out 2>err &
pid=$!
sleep 1
kill -HUP $pid
wait $pid
holds "ignored SIGHUP: the run goes on" test $? = 0
holds "ignored SIGHUP: all is measured" test "$(grep -c ',iops,.*,ok$' nohup/results.csv)" = 4

# names
mkdir names && cd names || exit 1
for i in 1 2 3 4; do "$STB" run ../plain.stb --only 'workload = a' >/dev/null 2>err.$i & done
wait
holds "four runs at once without a name: four directories" test "$(ls -d stb-run-* | wc -l)" = 4
cd ..
"$STB" run plain.stb -o race >/dev/null 2>race.1 &
"$STB" run plain.stb -o race >/dev/null 2>race.2
wait
holds "two runs of one name: the other is told" test "$(cat race.1 race.2 | grep -c 'exists already')" = 1

# what is left out, and what was stopped, is told apart
expect "a selection" 0 "$STB" run plain.stb --only 'workload = a' -o part
holds "a selection: the journal has it" jq -se '.[0].only == "workload = a" and (.[0].cells | length) == 1 and .[0].planned == 2' part/journal.jsonl
"$STB" run plain.stb --set length=3s -o stop >out 2>err &
pid=$!
wait_for 20 grep -q '"status":"ok"' stop/journal.jsonl
kill -TERM $pid
wait $pid
holds "interrupted: exit 5" test $? = 5
holds "interrupted: the journal says how far" jq -se '.[-1] | .ev == "finish" and .stopped == "interrupted by SIGTERM" and .planned == 4 and .done == 1' stop/journal.jsonl

# a measuring process that is killed: no zeros, and results agree with the series
"$STB" run plain.stb --set length=2s -o child >out 2>err &
pid=$!
wait_for 20 begun child
sleep 1
kill -KILL $(cat /proc/$pid/task/$pid/children)
wait $pid
holds "killed child: exit 5" test $? = 5
says "killed child: status" ',iops,1/s,.*,invalid:disturbed$' child/results.csv
lacks "killed child: nothing is 0" ',iops,1/s,0,' child/results.csv
says "killed child: the reason is with the result" '"reason":"[^"]*killed by signal 9' child/journal.jsonl
id=$(awk -F, '/invalid:disturbed/ { print $1; exit }' child/results.csv)
holds "killed child: the series and the total agree" awk -F, -v id="$id" '
	FNR == NR { if ($1 == id && $5 == 1 && $6 == "io_bytes") want = $8; next }
	$1 == id && $3 == 1 && $5 == "bw_bytes" { got += $7 * ($4 - last); last = $4 }
	END { exit !(want > 0 && got > 0.98 * want && got < 1.02 * want) }' child/results.csv child/series.csv

# the run directory goes away
"$STB" run plain.stb --set length=1s -o lost >out 2>err &
pid=$!
wait_for 20 grep -q '"status":"ok"' lost/journal.jsonl
rm -rf lost
wait $pid
holds "lost directory: exit 5" test $? = 5
lacks "lost directory: no claim that the tables are there" 'The tables are in' out
says "lost directory: that is said" 'Not everything could be written' out
says "lost directory: the tables are shown" '^\| a ' out
holds "lost directory: nothing is left" test -z "$(ls store)"

# no space for the run directory: a retry finds no remains
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=4k tmpfs small 2>/dev/null; then
	at_end "umount '$work/small' 2>/dev/null"
	expect "no space: refused" 3 "$STB" run plain.stb -o small/run
	holds "no space: nothing remains" test ! -e small/run
	umount small
else
	skip "no space: refused" "needs root and mounts"
fi

expect "a claim that fails" 0 "$STB" run io.stb -o claim
says "a claim that fails: where it counts" 'report io.stb --results claim --check'

mkfifo secret
cat >fifo.stb <<SPEC
stb 1
storage external disk {}
volume v { storage = disk }
database external db { volume = v  host = "127.0.0.1"  password = file("$work/secret") }
workload oltp o { database = db  script = point_select  time = 1s }
matrix m { database = db  workload = o }
report r { metrics = [tps] }
SPEC
expect "a FIFO as password file" 3 timeout 20 "$STB" run fifo.stb -o fifo
says "a FIFO as password file: refused" 'no regular file'
says "a FIFO as password file: what to do" 'what to do'

exit $failed
