#!/usr/bin/env bash
# mix.sh - workloads at the same time: one start, each to its own end, figures of each, and one message where one of them fails.
. "$(dirname "$0")/../support/integration.bash"
. "$(dirname "$0")/../support/server.bash"
cd "$work" || exit 1
mkdir store

# value FILE METRIC [REPETITION]: of the first cell that has it
value() { awk -F, -v m="$2" -v r="${3:-1}" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 && $at["metric"] == m && $at["repetition"] == r { print $at["value"]; exit }' "$1"; }

cat >io.stb <<SPEC
stb 1
param length = 1s
storage directory here { path = "$work/store" }
volume v { storage = here }
volume w { storage = here }
workload io reader {
  volume     = v
  filename   = "reader"
  size       = 4MiB
  rw         = randrw
  rwmixread  = 70%
  runtime    = length
  time_based = true
  ramp_time  = 200ms
}
workload io writer {
  volume     = v
  filename   = "writer"
  size       = 4MiB
  rw         = write
  bs         = 64KiB
  numjobs    = 2
  runtime    = length
  time_based = true
}
workload io copier {
  volume = w
  size   = 3MiB
  rw     = write
  bs     = 4KiB
  loops  = 2
  verify = crc32c
}
workload io scanner {
  volume = w
  filename = "scanned"
  size   = 2MiB
  rw     = read
  bs     = 8KiB
}
workload mix timed { run = [reader, writer] }
workload mix sized { run = [copier, scanner] }
workload mix both { run = [reader, copier] }
matrix m {
  workload = [timed, sized, both]
  repeat   = 2
  interval = 100ms
}
matrix alone { workload = [copier, scanner] }
report r {
  from    = m
  where   { workload = timed }
  rows    = workload
  metrics = [reader.iops, reader.read.iops, reader.lat_p99, writer.bw_bytes, writer.lat_p99, overlap]
}
claim all_of_it {
  from   = m
  metric = copier.io_bytes
  where  { workload = [sized, both] }
  value  = 6MiB
}
claim fast {
  from   = m
  metric = reader.iops
  where  { workload = timed }
  value  = 1/s..*
}
SPEC

expect "the run" 0 "$STB" run io.stb -o run
lacks "nothing is said to have failed" 'failed|error' out
for r in 1 2; do
	holds "rep $r: both were measured for their time" jq -nre --argjson a "$(value run/results.csv reader.runtime_ms $r)" --argjson b "$(value run/results.csv writer.runtime_ms $r)" \
		'$a > 950 and $b > 950'
	holds "rep $r: at the same time" awk -v o="$(value run/results.csv overlap $r)" 'BEGIN { exit !(o > 50) }'
done
for w in copier scanner; do
	for m in io_bytes iops runtime_ms; do
		awk -F, -v w=$w -v m=$m '($2 == w && $5 == m && $4 == 1) || ($2 == "sized" && $5 == w "." m && $4 == 1)' run/results.csv >"$w.$m"
	done
	holds "$w: bytes as alone" test "$(cut -d, -f7 $w.io_bytes | sort -u | wc -l)" = 1 -a "$(wc -l <$w.io_bytes)" = 2
	holds "$w: I/Os as alone" test "$(paste -d, $w.iops $w.runtime_ms | awk -F, '{ printf "%.0f\n", $7 * $15 / 1000 }' | sort -u | wc -l)" = 1
done
holds "what was written is read back" test "$(grep -c ',copier\.verify_errors,,0,' run/results.csv)" = 4
holds "directions of a member" test "$(grep -cE ',timed,.*,reader\.(read|write)\.iops,' run/results.csv)" = 4
holds "a device is nobody's" test -z "$(grep -E ',(reader|writer|copier|scanner)\.dev_' run/results.csv)"
holds "CPU time is each one's" test "$(grep -cE ',timed,.*,(reader|writer)\.cpu_sys,' run/results.csv)" = 4
says "a member that ended by size alone marks the cell" ',both,.*,reader\.iops,.*,ended_by_size$' run/results.csv
# series_of RUN METRICS: in how many repetitions there is a series of each of them
series_of() { grep -E ",($2)," "$1/series.csv" | cut -d, -f1-3,5 | sort -u | wc -l; }
holds "series of both" test "$(series_of run 'reader\.iops|writer\.iops')" -ge 4
holds "and they overlap" awk -F, '$2 == 1 && $3 == 1 && $5 == "reader.iops" && $7 > 0 { a[$1, int($4 * 10)] = 1 } $2 == 1 && $3 == 1 && $5 == "writer.iops" && $7 > 0 { b[$1, int($4 * 10)] = 1 }
	END { for (i in a) n += (i in b); exit !(n >= 2) }' run/series.csv
holds "histograms of each" test "$(ls run/histograms | grep -cE -- '-s1-r[12]-1-reader(-read|-write)?\.csv$')" = 12 -a "$(ls run/histograms | grep -c -- '-2-writer\.csv$')" = 2
says "the report names them" 'reader IOPS.*reader read IOPS.*writer bandwidth' run/report.md
lacks "claims on members hold" 'fails' run/report.md
expect "and are checked" 0 "$STB" report io.stb --results run --check
expect "compared with itself" 0 "$STB" compare run run
says "member by member" 'reader\.lat_p99|reader p99' out
expect "nothing is left to resume" 0 "$STB" resume run
expect "reused" 0 "$STB" run io.stb -o again --reuse run
holds "reused whole" test "$(grep -c ',writer\.iops,' again/results.csv)" = 2 -a "$(ls again/histograms | wc -l)" = "$(ls run/histograms | wc -l)"
rm "again/histograms/$(ls again/histograms | grep -m 1 -- '-2-writer')"
expect "a lost histogram of a member is measured again" 0 "$STB" resume again
holds "and is there" test "$(ls again/histograms | wc -l)" = "$(ls run/histograms | wc -l)"
holds "nothing is left" test -z "$(leftovers run)$(leftovers again)$(ls store)"
expect "explained" 0 "$STB" explain "$(tail -n 1 run/results.csv | cut -c 1-16)" io.stb
expect "a plan that was saved" 0 "$STB" plan io.stb --format json -o plan.json
holds "names the members of a cell" jq -e '[.cells[] | select(.members)] | length == 3 and all(.[]; .members | length == 2)' plan.json

# --- overrides reach a member; steady members are waited for

sed -e '/^report/,$d' -e '/^matrix/,/^}/d' -e '/^matrix alone/d' io.stb >base.stb
{
	cat base.stb
	cat <<'SPEC'
matrix m {
  workload = [timed]
  axis size { set = workload.writer.bs  values = [4KiB, 128KiB] }
}
SPEC
} >axis.stb
expect "an axis of a member" 0 "$STB" run axis.stb -o axis --set length=300ms
holds "two sizes, measured as such" awk -F, '/,writer\.io_bytes,/ { for (i = 1; i <= NF; i++) if ($i == "128KiB") big += ($8 % 131072 == 0); n++ } END { exit !(n == 2 && big == 1) }' axis/results.csv
{
	sed 's/^  ramp_time  = 200ms/  ramp_time = 200ms\n  steady_state { metric = iops  deviation = 100%  window = 2s  limit = 10s }/' base.stb
	echo 'matrix m { workload = timed }'
} >steady.stb
expect "steady beside one that is measured cold" 1 "$STB" check steady.stb
says "it is told why" 'waits until `reader` is steady, and `writer` would not be there: it has no ramp_time'
sed -i 's/^  numjobs    = 2/  numjobs = 2\n  ramp_time = 100ms/' steady.stb
expect "steady beside one that warms up" 0 "$STB" run steady.stb -o steady --set length=300ms
holds "the proof is kept" jq -es 'any(.[]; .members.reader.steady_state.reached == true)' steady/journal.jsonl

# --- refused at check

refused() { # NAME PATTERN LINES
	{ cat base.stb; echo "$3"; } >refused.stb
	expect "$1" 1 "$STB" check refused.stb
	says "$1: why" "$2"
}
refused "a member called read" 'runs a workload called `read`' 'workload io read { volume = v size = 1MiB rw = read filename = "x" }
workload mix x { run = [reader, read] }
matrix m { workload = x }'
refused "one twice" 'names reader twice' 'workload mix x { run = [reader, reader] }
matrix m { workload = x }'
refused "a mix in a mix" 'mixes do not nest' 'workload mix x { run = [timed, copier] }
matrix m { workload = x }'
refused "another writes what one verifies" 'write one file|lets `other` write what `copier` verifies' 'workload io other { volume = w size = 3MiB rw = randwrite }
workload mix x { run = [copier, other] }
matrix m { workload = x }'
refused "a device of one member" 'counts for the whole mix' 'matrix m { workload = timed }
report x { rows = workload metrics = [reader.dev_read_ios] }'

# --- what goes wrong

# a volume that somebody else fills while the run is on
mkdir small
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=12m stb-test-small small 2>/dev/null; then
	at_end "umount '$work/small' 2>/dev/null"
	{
		cat base.stb
		cat <<SPEC
storage directory tight { path = "$work/small" }
volume t { storage = tight }
workload io filler {
  volume    = t
  size      = 8MiB
  rw        = write
  bs        = 64KiB
  fallocate = none
}
workload mix doomed { run = [reader, filler] }
matrix m { workload = [scanner, doomed, copier] }
SPEC
	} >full.stb
	"$STB" run full.stb -o full --set length=20s >out 2>err &
	pid=$!
	at_end "kill -TERM $pid 2>/dev/null"
	wait_for 30 test -e full/results.csv
	head -c 11000000 /dev/zero >small/filler 2>/dev/null
	wait $pid
	holds "no space for one: exit 5" test $? = 5
	says "no space for one: it is named, with the reason" 'workload `filler` of the mix: .*No space left' err
	holds "no space for one: one message" test "$(grep -c 'No space left' err)" -le 2
	says "no space for one: what the other did is kept" ',doomed,.*,reader\.io_bytes,B,[1-9].*,invalid:errors$' full/results.csv
	holds "no space for one: and it was stopped" jq -ne --argjson ms "$(value full/results.csv reader.runtime_ms)" '$ms < 15000'
	holds "no space for one: the cells before and after are ok" test "$(grep -cE ',(scanner|copier),.*,iops,.*,ok$' full/results.csv)" = 2
	rm -f small/filler
	holds "no space for one: nothing is left" test -z "$(leftovers full)$(find store small -mindepth 1)"
	umount small
else
	skip "mix: no space" "needs root and mounts"
fi

# one is killed: the others end with it, and what they counted is kept
sed 's/length = 1s/length = 30s/' base.stb >long.stb
cat >>long.stb <<'SPEC'
workload mix three { run = [copier, reader, writer] }
matrix m { workload = [sized, three] interval = 100ms }
SPEC
measuring() { [ "$(grep -c '"ev":"begin","op":"measure"' "$1/journal.jsonl" 2>/dev/null)" = 2 ]; }
children() { cat "/proc/$1/task/$1/children"; }
three() { [ "$(children "$1" | wc -w)" = 3 ]; } # the copier has done its size, and waits to read it back
gone() { ! kill -0 "$1" 2>/dev/null; }
begin() { # DIR: a run that is measuring the mix of three
	env --default-signal=INT "$STB" run long.stb -o "$1" >out 2>err &
	pid=$!
	at_end "kill -KILL $pid 2>/dev/null"
	holds "$1: the run gets to its second cell" wait_for 30 measuring "$1"
	holds "$1: all members are there" wait_for 30 three $pid
	sleep 1
}
begin killed
set -- $(children $pid)
kill -KILL "$3" # the last one that was started
wait $pid
holds "a member killed: exit 5" test $? = 5
says "a member killed: it is named" 'workload `writer` of the mix: the measuring process was killed by signal 9' err
holds "a member killed: one message" test "$(grep -c 'error: .*killed by signal' err)" = 1
says "a member killed: the others' figures are kept" ',three,.*,reader\.io_bytes,B,[1-9].*,invalid:disturbed$' killed/results.csv
says "a member killed: and what it had counted itself" ',three,.*,writer\.io_bytes,B,[1-9].*,invalid:disturbed$' killed/results.csv
says "a member killed: the other cell is good" ',sized,.*,copier\.iops,.*,ok$|,sized,.*,copier\.iops,.*,ended_by_size$' killed/results.csv
holds "a member killed: nothing is left" test -z "$(leftovers killed)$(ls store)"

begin stopped
kill -INT $pid
wait $pid
holds "SIGINT: exit 5" test $? = 5
lacks "SIGINT: the mix is not counted" ',three,' stopped/results.csv
holds "SIGINT: nothing is left" test -z "$(leftovers stopped)$(ls store)"

begin crashed
set -- $(children $pid)
kill -KILL $pid
wait $pid 2>/dev/null
for c in "$@"; do holds "SIGKILL: its measuring process ends" wait_for 10 gone "$c"; done
expect "SIGKILL: clean" 0 "$STB" clean crashed
holds "SIGKILL: nothing is left" test -z "$(ls store)"

# asked to stop while it warms up, or waits until it is steady
stopped_in() { # NAME SPEC OPTIONS...
	local name=$1 since
	shift
	"$STB" run "$@" -o "term-$name" >out 2>err &
	pid=$!
	at_end "kill -KILL $pid 2>/dev/null"
	holds "SIGTERM, $name: it begins" wait_for 60 begun "term-$name"
	sleep 1
	since=$SECONDS
	kill -TERM $pid
	wait $pid
	holds "SIGTERM, $name: exit 5" test $? = 5
	holds "SIGTERM, $name: what is left of it is not waited for" test $((SECONDS - since)) -lt 60
	holds "SIGTERM, $name: it is not counted" test "$(wc -l <"term-$name/results.csv")" = 1
	holds "SIGTERM, $name: nothing is left" test -z "$(leftovers "term-$name")$(ls store)"
}
sed 's/ramp_time = [0-9]*ms/ramp_time = 200s/' steady.stb >warming.stb
stopped_in warming warming.stb
sed 's/window = 2s  limit = 10s/window = 150s  limit = 200s/' steady.stb >settling.stb
stopped_in settling settling.stb

# --- with a database

if [ -n "$(lacks_server)" ]; then
	skip "mix: a database" "needs $(lacks_server)"
	exit $failed
fi
cat >db.stb <<SPEC
stb 1
param length = 1s
storage directory here { path = "$work/store" }
volume v { storage = here }
volume beside { storage = here }
database mysql server {
  volume = v
  options {
    innodb_buffer_pool_size = 16MiB
    $small_redo
  }
}
workload oltp points { database = server  script = point_select  table_size = 1_000  threads = 2  time = length  warmup_time = 300ms }
workload oltp updates { database = server  script = update_index  table_size = 1_000  threads = 3  time = length  rate = 50/s }
workload oltp few { database = server  script = point_select  table_size = 1_000  events = 200  time = length }
workload io backup { volume = beside  size = 2MiB  rw = write  bs = 64KiB  runtime = length  time_based = true  ramp_time = 100ms }
workload io scan { volume = v  size = 2MiB  rw = read  runtime = length  time_based = true }
workload mix loads { run = [points, updates] }
workload mix loaded { run = [backup, points, scan] }
workload mix counted { run = [few, points] }
matrix m { workload = [loads, loaded, counted]  interval = 200ms }
report r {
  rows    = workload
  where   { workload = loaded }
  metrics = [points.tps, points.lat_p95, backup.bw_bytes, scan.iops, server.cpu_us_per_event, overlap]
}
claim counts { metric = few.events  where { workload = counted }  value = 200 }
SPEC
expect "databases: the run" 0 "$STB" run db.stb -o db
of_cell() { awk -F, -v w="$1" -v m="$2" '$2 == w && index($0, "," m ",") { print $(NF - 1) }' db/results.csv; } # WORKLOAD METRIC
says "databases: both loads are measured" ',loads,.*,points\.tps,1/s,[1-9]' db/results.csv
says "databases: and the second one" ',loads,.*,updates\.tps,1/s,[1-9]' db/results.csv
says "databases: one with a rate has service times" ',loads,.*,updates\.svc_mean,' db/results.csv
says "databases: io beside it" ',loaded,.*,backup\.io_bytes,B,[1-9]' db/results.csv
says "databases: io on the database's own volume" ',loaded,.*,scan\.iops,1/s,[1-9]' db/results.csv
holds "databases: the server counts once for all" test "$(grep -c ',server\.cpu_ms,' db/results.csv)" = 3 -a -z "$(grep -E ',(points|updates|few)\.server\.' db/results.csv)"
holds "databases: events of a member as alone" test "$(value db/results.csv few.events)" = 200
holds "databases: and as long as any of them runs" awk -v rows="$(of_cell counted server.rows_read)" -v events="$(of_cell counted points.events)" 'BEGIN { exit !(rows > 0.9 * events && events > 0) }'
holds "databases: nothing is left" test -z "$(leftovers db)$(ls store)"
refused_db() { # NAME PATTERN LINES
	{ sed '/^matrix/,$d' db.stb; echo "$3"; } >refused.stb
	expect "$1" 1 "$STB" check refused.stb
	says "$1: why" "$2"
}
refused_db "databases: tables of two shapes" 'their `table_size` says otherwise' 'workload oltp more { database = server script = read_only table_size = 2_000 time = 1s }
workload mix x { run = [points, more] }
matrix m { workload = x }'

sed 's/warmup_time = 300ms/warmup_time = 200s/' db.stb >db-warming.stb
stopped_in database db-warming.stb --only 'workload = loaded'

# the server dies: one message, of a member that works on it, and those that live on end with it
loaded() { # DIR: a run that measures io beside a database
	"$STB" run db.stb -o "$1" --set length=30s --only 'workload = loaded' >out 2>err &
	pid=$!
	at_end "kill -KILL $pid 2>/dev/null"
	serving() { grep -q '"ev":"begin","op":"measure"' "$1/journal.jsonl" 2>/dev/null && [ "$(children $pid | wc -w)" = 4 ]; }
	holds "databases: $1: the mix runs" wait_for 60 serving "$1"
	sleep 1
}
died() { # DIR: what the run that lost its server says
	wait $pid
	holds "databases: $1: exit 5" test $? = 5
	says "databases: $1: the member is named" 'workload `points` of the mix: .*(server|mysqld|mariadbd).*(died|killed|ended|signal)' err
	says "databases: $1: the other's figures are kept" ',loaded,.*,backup\.io_bytes,B,[1-9].*,invalid:disturbed$' "$1/results.csv"
	holds "databases: $1: nothing is left" test -z "$(leftovers "$1")$(ls store)"
}
loaded dead
kill -KILL $(servers_of dead)
died dead
loaded unnoticed # by the member that is on it, which sleeps
set -- $(for c in $(children $pid); do grep -qaE 'mariadbd|mysqld' "/proc/$c/cmdline" || echo "$c"; done) # backup, points, scan
kill -STOP "$2"
kill -KILL $(servers_of unnoticed)
sleep 1
kill -CONT "$2"
died unnoticed

# --- with a server that is there already

make_server "$work/ext"
run_server "$work/ext" "$work/ext.sock" --skip-networking >ext.log 2>&1 &
ext=$!
at_end 'kill -KILL $ext 2>/dev/null; wait $ext 2>/dev/null'
sql() { sql_through "$work/ext.sock" "" "$1"; }
holds "external: the server is there" wait_for 60 sql "CREATE DATABASE sbtest"
cat >ext.stb <<SPEC
stb 1
param length = 1s
storage directory here { path = "$work/store" }
storage external disk {}
volume of_server { storage = disk }
volume beside { storage = here }
database external server {
  volume = of_server
  socket = "$work/ext.sock"
}
workload oltp points { database = server  script = point_select  table_size = 500  threads = 2  time = length  warmup_time = 200ms }
workload oltp few { database = server  script = point_select  table_size = 500  events = 100  time = length }
workload io backup { volume = beside  size = 2MiB  rw = write  bs = 64KiB  runtime = length  time_based = true }
workload mix beside_it { run = [backup, points] }
workload mix all { run = [few, backup, points] }
matrix m { workload = [beside_it, all]  repeat = 2  interval = 200ms }
report r { rows = workload  metrics = [points.tps, backup.bw_bytes, overlap] }
claim counts { metric = few.events  where { workload = all }  value = 100 }
SPEC
expect "external: the run" 0 "$STB" run ext.stb -o ext-run
says "external: the load" ',beside_it,.*,points\.tps,1/s,[1-9].*,ok$' ext-run/results.csv
says "external: io beside it" ',beside_it,.*,backup\.io_bytes,B,[1-9].*,ok$' ext-run/results.csv
holds "external: together" awk -F, '$2 == "beside_it" && /,overlap,/ { n += $(NF - 1) > 50 } END { exit n != 2 }' ext-run/results.csv
holds "external: the server counts once for all" test "$(grep -c ',server\.rows_read,' ext-run/results.csv)" = 4
lacks "external: its process is not known" ',server\.cpu' ext-run/results.csv
holds "external: series of both" test "$(series_of ext-run 'points\.tps|backup\.iops')" = 8
holds "external: events as asked" test "$(grep -c ',all,.*,few\.events,,100,' ext-run/results.csv)" = 2
expect "external: the claim" 0 "$STB" report ext.stb --results ext-run --check
holds "external: nothing is left" test -z "$(leftovers ext-run)$(ls store)$(sql 'SHOW TABLES FROM sbtest')"

# it goes away meanwhile: it is not ours, so that nobody but its member can notice
"$STB" run ext.stb -o ext-gone --set length=30s --only 'workload = beside_it' >out 2>err &
pid=$!
at_end "kill -KILL $pid 2>/dev/null"
both() { grep -q '"ev":"begin","op":"measure"' ext-gone/journal.jsonl 2>/dev/null && [ "$(children $pid | wc -w)" = 2 ]; }
holds "external: the mix runs" wait_for 60 both
sleep 1
kill -KILL $ext
wait $ext 2>/dev/null
wait $pid
holds "external: gone: exit 6, since its tables cannot be dropped" test $? = 6
says "external: gone: the member is named" 'workload `points` of the mix: ' err
says "external: gone: the other's figures are kept" ',beside_it,.*,backup\.io_bytes,B,[1-9].*,invalid:errors$' ext-gone/results.csv
holds "external: gone: nothing is left here" test -z "$(leftovers ext-gone)$(ls store)"
run_server "$work/ext" "$work/ext.sock" --skip-networking >>ext.log 2>&1 &
ext=$!
holds "external: back again" wait_for 60 sql "SELECT 1"
expect "external: back again: clean" 0 "$STB" clean ext-gone
holds "external: back again: our tables are dropped" test -z "$(sql 'SHOW TABLES FROM sbtest')"
exit $failed
