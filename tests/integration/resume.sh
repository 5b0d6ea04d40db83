#!/usr/bin/env bash
# resume.sh - runs that are killed at many points and go on: nothing lost but the repetition that was measured, nothing twice, nothing left.
. "$(dirname "$0")/../support/integration.bash"
. "$(dirname "$0")/../support/server.bash"
cd "$work" || exit 1
mkdir store other

cat >eight.stb <<SPEC
stb 1
storage directory one { path = "$work/store" }
storage directory two { path = "$work/other" }
volume v {}
workload io w {
  volume     = v
  size       = 1MiB
  rw         = randrw
  runtime    = 400ms
  time_based = true
}
matrix m {
  storage  = [one, two]
  workload = w
  axis bs {
    set    = workload.bs
    values = [4KiB, 8KiB, 16KiB, 32KiB]
  }
  repeat   = 3
  order    = declared
  interval = 100ms
}
report r {
  from    = m
  rows    = bs
  columns = storage
  metrics = [iops, lat_p95]
}
SPEC

results() { grep -c '"ev":"result"' "$1/journal.jsonl" 2>/dev/null; }
has_results() { [ "$(results "$1")" -ge "$2" ]; }
sessions() { jq -r 'select(.ev == "start") | .mark' "$1/journal.jsonl" | sort -u | wc -l; }
# a run in the background that is killed when a condition holds: start_and_kill DIR CONDITION... -- COMMAND...
start_and_kill() {
	local dir=$1 cond=() pid
	shift
	while [ "$1" != -- ]; do cond+=("$1"); shift; done
	shift
	"$@" >out 2>err </dev/null &
	pid=$!
	at_end "kill -KILL $pid 2>/dev/null"
	wait_for 60 "${cond[@]}" || { bad "$dir gets there" "it did not"; cat err; }
	kill -KILL $pid
	wait $pid 2>/dev/null
}
# whole NAME DIR CELLS REPETITIONS: complete, no duplicates, all of it in every file
whole() {
	local n=$(($3 * $4))
	holds "$1: $n repetitions" test "$(grep -c ',iops,' "$2/results.csv")" = $n
	holds "$1: of $3 cells" test "$(tail -n +2 "$2/results.csv" | cut -d, -f1 | sort -u | wc -l)" = "$3"
	holds "$1: no duplicates" test -z "$(awk -F, '{ print $1, $(NF-5), $(NF-4), $(NF-3) }' "$2/results.csv" | sort | uniq -d)"
	holds "$1: every row whole" test -z "$(awk -F, 'NR == 1 { n = NF } NF != n' "$2/results.csv")"
	holds "$1: the rows are those of the journal" test "$(tail -n +2 "$2/results.csv" | awk -F, '{ print $1, $(NF-5), $(NF-4), $(NF-3) }' | sort | md5sum)" = \
		"$(jq -r 'select(.ev == "result") | .cell[0:16] as $c | .slot as $s | .repetition as $r | .metrics | keys[] | "\($c) \($s) \($r) \(.)"' \
			"$2/journal.jsonl" | sort -u | md5sum)"
	holds "$1: each has its histogram" test "$(ls "$2/histograms" | grep -c -- '-r[0-9]*\.csv$')" = $n
	holds "$1: each has its series" test "$(tail -n +2 "$2/series.csv" | cut -d, -f1-3 | sort -u | wc -l)" = $n
	holds "$1: no point of a series twice" test -z "$(cut -d, -f1-5 "$2/series.csv" | sort | uniq -d)"
	holds "$1: the journal is JSON, line by line" sh -c "jq -ce . '$2/journal.jsonl' >/dev/null"
	holds "$1: nothing is left" test -z "$(find store other -mindepth 1)"
	holds "$1: a report is there" test -s "$2/report.md"
}

# SIGKILL during cell 4, repetition 2: 10 stand, 14 are run
start_and_kill o8 begun o8 11 -- "$STB" run eight.stb -o o8
holds "O8: 10 results before the kill" test "$(results o8)" = 10
tail -n +2 o8/results.csv | sort >before
expect "O8: resume" 0 "$STB" resume o8
says "O8: it says what stands" '10 of 24 repetitions are there, 14 are to be done'
whole "O8" o8 8 3
holds "O8: what stood is kept as it was" test -z "$(tail -n +2 o8/results.csv | sort | comm -13 - before)"
holds "O8: only the missing ones were measured" test "$(results o8)" = 24
holds "O8: two sessions in the journal" test "$(sessions o8)" = 2
holds "O8: and the same two in environment.json" test "$(jq -r '.sessions[].id' o8/environment.json | sort)" = \
	"$(jq -r 'select(.ev == "start") | .mark' o8/journal.jsonl | sort)"
says "O8: the report says that it was resumed" 'resumed: measured in 2 sessions' o8/report.md
expect "O8: resume of what is whole" 0 "$STB" resume o8
says "O8: finds nothing to do" 'nothing to do: 24 of 24 repetitions'
holds "O8: which adds no session" test "$(sessions o8)$(jq '.sessions | length' o8/environment.json)" = 22
says "O8: to the report neither" 'measured in 2 sessions' o8/report.md
whole "O8 again" o8 8 3

# killed again and again, at whatever point
start_and_kill often begun often 3 -- "$STB" run eight.stb -o often
for n in 6 9 12; do start_and_kill often has_results often $n -- "$STB" resume often; done
start_and_kill often grep -q '"op":"provision"' often/journal.jsonl -- "$STB" resume often
expect "killed five times: resume" 0 "$STB" resume often
whole "killed five times" often 8 3
holds "killed five times: six sessions" test "$(sessions often)" -ge 5

# wherever the journal ends: within a line, between row and record, after a record
for bytes in 1 7 60 400 1500; do
	rm -rf cut && cp -r o8 cut
	size=$(stat -c %s cut/journal.jsonl)
	# the last measured part of the first session's journal; results.csv has all rows, which have no record then
	truncate -s $((size * 6 / 10 - bytes)) cut/journal.jsonl
	# a line without its end is none, even where all of its JSON is there
	left=$(head -n "$(wc -l <cut/journal.jsonl)" cut/journal.jsonl | jq -c 'select(.ev == "result")' | wc -l)
	expect "journal cut: resume" 0 "$STB" resume cut
	says "journal cut: nothing but the cut is lost" "$left of 24 repetitions are there"
	whole "journal cut" cut 8 3
done
# half a row, half a point of a series, a histogram without a record
rm -rf torn && cp -r o8 torn
last=$(grep -n '"ev":"result"' torn/journal.jsonl | tail -n 1 | cut -d: -f1)
head -n $((last - 1)) o8/journal.jsonl >torn/journal.jsonl
truncate -s -17 torn/results.csv
truncate -s -9 torn/series.csv
expect "torn rows: resume" 0 "$STB" resume torn
says "torn rows: one is lost" '23 of 24'
whole "torn rows" torn 8 3
rm -f torn/results.csv torn/report.md
: >"torn/histograms/$(ls torn/histograms | head -n 1)"
expect "a lost results.csv: resume" 0 "$STB" resume torn
says "an empty histogram: measured again" '1 of them have lost their histograms'
whole "a lost results.csv" torn 8 3

# what is not to be gone on with
expect "no run" 3 "$STB" resume store
expect "no such directory" 3 "$STB" resume nowhere
refused() { # NAME PATTERN
	sum=$(cat bad/journal.jsonl bad/results.csv bad/environment.json | sha256sum)
	expect "$1: refused" 3 "$STB" resume bad
	says "$1: the reason" "$2"
	says "$1: what to do" 'what to do'
	holds "$1: nothing is changed" test "$sum" = "$(cat bad/journal.jsonl bad/results.csv bad/environment.json | sha256sum)"
}
one_is_lost() { rm "$1/histograms/$(ls "$1/histograms" | head -n 1)"; } # so that there is something to do
anew() { rm -rf bad && cp -r torn bad && one_is_lost bad; }
anew; sed -i 's/"randrw"/"randread"/' bad/plan.json; refused "a changed plan" 'plan.json.*changed'
anew; "$STB" plan eight.stb --format json --set x=1 >/dev/null 2>&1
sed 's/repeat   = 3/repeat   = 2/' eight.stb >two.stb; "$STB" plan two.stb --format json -o bad/plan.json
refused "another plan" 'not the plan that this run began with'
anew; rm bad/plan.json; refused "no plan" 'plan.json'
anew; sed -i 's/"version":"[^"]*"/"version":"0.0.1"/' bad/journal.jsonl; refused "another version" 'begun by stb 0.0.1'
anew; sed -i 's/"commit":"[^"]*"/"commit":"0123456789ab"/' bad/journal.jsonl; refused "another build" 'commit 0123456789ab.*and this is'
anew; sed -i '3s/.*/garbage/' bad/journal.jsonl; refused "a damaged journal" 'damaged at line 3'
change() { anew; jq "$1" bad/environment.json >e && mv e bad/environment.json; }
change '.kernel = "4.4.0"'; refused "another kernel" 'kernel was 4.4.0'
change '.cpu.usable += 1'; refused "another number of processors" 'cpu.usable'
change '.memory_bytes *= 2'; refused "other memory" 'memory_bytes'
change '.storage.one.filesystem = "zfs"'; refused "another file system" 'storage one: filesystem was zfs'
change '.storage.two.device = {name: "sdz", model: "Other disk", serial: "X1"} | .storage.two.mount.options = "rw,sync"'
refused "another device" 'storage two'
change '.swap_bytes += 4096 | .distribution = "Another"'
expect "harmless differences: resume" 0 "$STB" resume bad
says "harmless differences: said" 'note: swap_bytes was'
holds "harmless differences: kept" jq -e '[.sessions[-1].differs[].what] | index("swap_bytes") and index("distribution")' bad/environment.json
anew; echo nothing >bad/environment.json; refused "no record of the machine" 'environment.json'

# a run that still goes on, and two that want to go on at once
start_and_kill live begun live 2 -- "$STB" run eight.stb -o live
env --default-signal=INT "$STB" resume live >out2 2>err2 & # a background job would ignore SIGINT
pid=$!
at_end "kill -KILL $pid 2>/dev/null"
wait_for 30 begun live 3
expect "a run that still goes on" 3 "$STB" resume live
says "is named" "still going on \(process $pid\)"
kill -STOP $pid
expect "also while it is stopped" 3 "$STB" resume live
kill -CONT $pid
kill -INT $pid
wait $pid
holds "interrupted: exit 5" test $? = 5
sed -i "s/\"pid\":$pid,/\"pid\":$$,/" live/journal.jsonl
sed -i '/"ev":"finish"/d' live/journal.jsonl
expect "a process number that is another's" 0 "$STB" resume live
whole "after SIGINT" live 8 3

# a cell whose environment was mended is measured again
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=4m stb-test-small small 2>/dev/null; then
	at_end "umount '$work/small' 2>/dev/null"
	sed "s|path = \"$work/other\"|path = \"$work/small\"|; s/rw         = randrw/rw = randwrite\n  fallocate = none/; s/repeat   = 3/repeat   = 1/; s/size       = 1MiB/size       = 2MiB/" eight.stb >full.stb
	"$STB" run full.stb -o full >out 2>err &
	pid=$!
	at_end "kill -TERM $pid 2>/dev/null"
	wait_for 30 test -e full/results.csv
	head -c 5000000 /dev/zero >small/filler 2>/dev/null
	wait $pid
	holds "a full disk: exit 5" test $? = 5
	says "a full disk: the report says so" 'No space left' full/report.md
	rm -f small/filler
	expect "mended: resume" 0 "$STB" resume full
	says "mended: what failed is measured again" '4 of 8 repetitions are there, 4 are to be done; 4 of them failed before'
	whole "mended" full 8 1
	lacks "mended: the report does not speak of it any more" 'No space left' full/report.md
	lacks "mended: nor do the results" 'invalid' full/results.csv
	umount small
else
	skip "a cell whose environment was mended" "needs root"
fi

# a selection stays one
start_and_kill part has_results part 2 -- "$STB" run eight.stb -o part --only 'storage = two'
expect "--only: resume" 0 "$STB" resume part
says "--only: of the selected cells" 'of 12 repetitions'
whole "--only" part 4 3
# a private server: what was provisioned and loaded once is lost, and made anew before anything is measured
if [ -n "$mysqld" ]; then
	cat >db.stb <<SPEC
stb 1
storage directory here { path = "$work/store" }
volume v {}
database mysql server {
  volume = v
  options {
    innodb_buffer_pool_size        = 16MiB
    $small_redo
    innodb_flush_log_at_trx_commit = 2
  }
}
workload oltp points {
  database   = server
  script     = point_select
  table_size = 1_000
  threads    = 2
  time       = 1s
}
workload oltp writes {
  like   = points
  script = write_only
}
matrix m {
  storage  = [here]
  database = [server]
  workload = [points, writes]
  repeat   = 2
  fresh    = once
}
report r {
  from    = m
  rows    = workload
  metrics = [tps, lat_p95]
}
SPEC
	step() { grep -q "\"ev\":\"$2\",\"op\":\"$3\"" "$1/journal.jsonl" 2>/dev/null; }
	start_and_kill db step db begin "load data set" -- "$STB" run db.stb -o db
	start_and_kill db begun db 3 -- "$STB" resume db
	n=$(results db)
	expect "database: resume" 0 "$STB" resume db
	says "database: goes on" "$n of 4 repetitions are there"
	holds "database: four repetitions are ok" test "$(grep ',tps,' db/results.csv | grep -c ',ok$')" = 4
	holds "database: provisioned anew in each session" test "$(grep -c '"ev":"begin","op":"provision"' db/journal.jsonl)" = 3
	holds "database: loaded before it is measured" sh -c "jq -r 'select(.ev == \"start\" or .ev == \"end\") | .op // .ev' db/journal.jsonl |
		tr '\n' ' ' | grep -q 'start provision start database load data set measure .*start provision start database load data set measure'"
	holds "database: nothing is left" test -z "$(leftovers db)$(find store -mindepth 1)"
	jq '.binaries.server.version = "5.7.1"' db/environment.json >e && mv e db/environment.json
	one_is_lost db
	expect "another version of the server" 3 "$STB" resume db
	says "is named" 'server of database server: version was 5.7.1'
else
	skip "database: resume" "no mariadbd or mysqld"
fi
exit $failed
