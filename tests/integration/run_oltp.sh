#!/usr/bin/env bash
# run_oltp.sh - a private server from spec to report: what is recorded, that it ends with its run however that ends, and a server that dies.
. "$(dirname "$0")/../support/integration.bash"
. "$(dirname "$0")/../support/server.bash"
cd "$work" || exit 1
mkdir store

cat >db.stb <<SPEC
stb 1
param length = 1s
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
  time       = length
}
workload oltp writes {
  database   = server
  script     = write_only
  table_size = 1_000
  threads    = 2
  time       = length
}
matrix m {
  storage  = [here]
  database = [server]
  workload = [points, writes]
  repeat   = 2
}
report r {
  from    = m
  rows    = workload
  metrics = [tps, lat_p95, server.cpu_us_per_event]
}
SPEC

expect "the run" 0 "$STB" run db.stb -o run
holds "the data set was loaded once for all of them" test "$(grep -c '"ev":"begin","op":"load data set"' run/journal.jsonl)" = 1
holds "four repetitions are ok" test "$(grep ',tps,' run/results.csv | grep -c ',ok$')" = 4
holds "the version is recorded" jq -e '.databases.server.servers[].version' run/environment.json
holds "its variables too" jq -e '.databases.server.variables.innodb_flush_log_at_trx_commit == "2"' run/environment.json
says "the report has transactions" 'transactions/s' run/report.md
holds "the server's CPU time is in each repetition" test "$(grep -cE ',server\.cpu_ms,ms,[0-9.]*[1-9][0-9.]*,ok$' run/results.csv)" = 4
holds "its buffer pool, its rows" test "$(grep -cE ',server\.(buffer_pool_read_requests|rows_read),,[1-9][0-9.]*,ok$' run/results.csv)" = 8
holds "reads write nothing, writes do" jq -es '[.[] | select(.ev == "result") | .metrics] | length == 4 and
	all(if .["server.rows_updated"] > 0 then .["server.rows_inserted"] > 0 and .["server.log_written"] > 0 else .["server.rows_inserted"] == 0 and .["server.rows_deleted"] == 0 end)
	and ([.[] | select(.["server.rows_updated"] > 0)] | length) == 2' run/journal.jsonl
says "the report shows what is asked of it" 'server CPU per event' run/report.md
holds "nothing is left" test -z "$(leftovers run)$(ls store)"

gone() { ! kill -0 "$1" 2>/dev/null; }

# the server is killed in the middle of a repetition
"$STB" run db.stb -o dies --set length=4s >out 2>err &
pid=$!
at_end "kill -TERM $pid 2>/dev/null"
holds "death: the run gets to measuring" wait_for 60 begun dies
sleep 1
server=$(server_of dies)
holds "death: its server is found" test -n "$server"
[ -n "$server" ] && kill -KILL "$server"
wait $pid
holds "death: exit 5" test $? = 5
says "death: the repetition is marked" '"status":"invalid:disturbed"' dies/journal.jsonl
says "death: the reason is with its result" '"reason":"[^"]*killed by signal 9' dies/journal.jsonl
says "death: with what happened" 'killed by signal 9|SIGKILL|signal 9' err
holds "death: the others are ok on a new server" test "$(grep ',tps,' dies/results.csv | grep -c ',ok$')" = 3
holds "death: nothing is left" test -z "$(leftovers dies)$(ls store)"

# the server stands still to the end of a repetition: it stalled, and what it had done until then is kept
"$STB" run db.stb -o stall --set length=6s >out 2>err &
pid=$!
at_end "kill -TERM $pid 2>/dev/null"
holds "stall: the run gets to measuring" wait_for 60 begun stall
sleep 1
server=$(server_of stall)
holds "stall: its server is found" test -n "$server"
if [ -n "$server" ]; then
	still_until_result "$server" stall
fi
wait $pid
holds "stall: exit 5" test $? = 5
says "stall: status" ',tps,1/s,.*,invalid:stalled$' stall/results.csv
says "stall: its events are kept" ',events,,[1-9][0-9]*,invalid:stalled$' stall/results.csv
# both to where the run gave up waiting, 10 s after its end
stalled() { awk -F, -v m="$1" '$NF == "invalid:stalled" && $(NF - 3) == m { print $(NF - 1) }' stall/results.csv; } # METRIC
of_stalled() { awk -F, -v id="$(awk -F, '$NF == "invalid:stalled" { print $1; exit }' stall/results.csv)" \
	'$1 == id && $3 == 1 && $5 == "tps" { print $4, $7 }' stall/series.csv; }
of_stalled >rows
holds "stall: rows of zeros to the end" awk '{ zeros = $2 == 0 ? zeros + $1 - last : 0; last = $1 } END { exit !(last >= 16 && zeros >= 9) }' rows
holds "stall: its time counts in the rate" awk -v tps="$(stalled tps)" -v n="$(stalled events)" '{ last = $1; done += $2 * ($1 - before); before = $1 }
	END { exit !(n > 0 && tps > 0.99 * n / last && tps < 1.01 * n / last && done > 0.99 * n && done < 1.01 * n) }' rows
holds "stall: with the latencies until then" grep -qE ',lat_p95,ms,.*,invalid:stalled$' stall/results.csv

# the volume fills up: one message, what was counted is kept, and it ends at once
if [ "$(id -u)" = 0 ]; then
	cat >full.stb <<SPEC
stb 1
storage tmpfs memory { size = 200MiB }
volume v { storage = memory }
database mysql server {
  volume = v
  options { innodb_buffer_pool_size = 16MiB  $small_redo  innodb_flush_log_at_trx_commit = 2 }
}
workload oltp rows { database = server  script = bulk_insert  threads = 2  time = 120s }
matrix m { workload = rows }
report r { rows = workload  metrics = [tps] }
SPEC
	expect "full: exit 5" 5 timeout 100 "$STB" run full.stb -o full
	says "full: says of what" "sbtest[12]. is full \(1114\)"
	says "full: and what to do" 'give the volume more space'
	says "full: status" ',tps,1/s,.*,invalid:errors$' full/results.csv
	says "full: its events are kept" ',events,,[1-9][0-9]*,invalid:errors$' full/results.csv
	holds "full: nothing is left" test -z "$(leftovers full)"
else
	skip "full: a volume that fills up" "needs root"
fi

# an open loop: service time beside latency, the rate that was achieved, and too much of it
cat >rate.stb <<SPEC
stb 1
storage directory here { path = "$work/store" }
volume v { storage = here }
database mysql server {
  volume = v
  options { innodb_buffer_pool_size = 16MiB  $small_redo  innodb_lock_wait_timeout = 1 }
}
workload oltp w {
  database   = server
  script     = write_only
  rand_type  = zipfian
  rand_zipfian_exp = 1.2
  table_size = 20
  threads    = 8
  time       = 2s
  rate       = 50
}
matrix m {
  workload = w
  axis rate { set = workload.w.rate  values = [50/s, 900_000/s] }
}
report r { rows = rate  metrics = [tps, rate_achieved, svc_p50, lat_p50] }
SPEC
sed -i 's/rate       = 50$/rate       = 50\/s/' rate.stb
expect "rate: the run" 5 "$STB" run rate.stb -o rate
holds "rate: what can be met is met" test "$(grep ',rate_achieved,' rate/results.csv | grep -c ',ok$')" = 1
holds "rate: what cannot is not" test "$(grep ',rate_achieved,' rate/results.csv | grep -c ',invalid:rate$')" = 1
says "rate: says how far it came" 'the rate was not met: of .* transactions/s that arrived .* were done, and rate_tolerance = 5%'
says "rate: service times" ',svc_p50,ms,' rate/results.csv
holds "rate: their histograms" sh -c 'ls rate/histograms | grep -q -- "-svc.csv"'
says "rate: the report says how rows were drawn" 'rows are drawn by zipfian \(rand_zipfian_exp = 1\.2\) in w' rate/report.md
says "rate: and which errors were tried again" 'errors that were tried again, over all repetitions: [0-9]+ x 1213 \(deadlock\)' rate/report.md
holds "rate: the journal has them by code" jq -es 'map(select(.ev == "result") | .errors["1213"] // 0) | add > 0' rate/journal.jsonl
holds "rate: and how alike the threads were served" jq -es 'map(select(.ev == "result") | .fairness.events_mean) | all(. > 0)' rate/journal.jsonl
holds "rate: and by how many threads of ours" jq -es 'map(select(.ev == "result") | .client == {threads: 8, near_server_threads: false}) | all' rate/journal.jsonl
"$STB" report rate.stb --results rate >again.md 2>err
holds "rate: the report can be made again" cmp -s rate/report.md again.md

# interrupted, and killed
"$STB" run db.stb -o stop --set length=60s >out 2>err &
pid=$!
at_end "kill -TERM $pid 2>/dev/null"
holds "stop: the run gets to measuring" wait_for 60 begun stop
kill -TERM $pid
wait $pid
holds "stop: exit 5" test $? = 5
holds "stop: nothing is left" test -z "$(leftovers stop)$(ls store)"

"$STB" run db.stb -o killed --set length=60s >out 2>err &
pid=$!
at_end "kill -TERM $pid 2>/dev/null"
holds "SIGKILL: the run gets to measuring" wait_for 60 begun killed
server=$(server_of killed)
kill -KILL $pid
wait $pid 2>/dev/null
holds "SIGKILL: the server ends with it" wait_for 30 gone "${server:-1}"
expect "SIGKILL: clean" 0 "$STB" clean killed
holds "SIGKILL: nothing is left" test -z "$(leftovers killed)$(ls store)"

# where the run directory lies is no matter to the server's user; only where its volume lies is
mkdir -m 700 private
expect "closed run directory: the run" 0 "$STB" run db.stb -o private/run

# options: what the server changes without a word is told before anything is measured; each variant has its own record
cat >variants.stb <<SPEC
stb 1
storage directory here { path = "$work/store" }
volume v { storage = here }
database mysql server {
  volume = v
  options { innodb_buffer_pool_size = 16MiB  $small_redo  skip_innodb_adaptive_hash_index = true  performance_schema_instrument = "a=ON"
    sql_mode = "ANSI"  innodb_flush_method = $([ $family = MariaDB ] && echo 0 || echo '"fsync"') }
}
workload oltp points { database = server  script = point_select  table_size = 100  threads = 1  time = 300ms }
matrix m {
  storage = here
  database = server
  workload = points
  axis commit { set = database.options.innodb_flush_log_at_trx_commit  values = [1, 2] }
}
report r { rows = commit  metrics = [tps] }
SPEC
expect "variants: the run" 0 "$STB" run variants.stb -o variants
holds "variants: each server is stated with its cell" jq -e '.databases.server as $d | [$d.servers[] |
	{cell: .cells[0], commit: (.differs.innodb_flush_log_at_trx_commit // $d.variables.innodb_flush_log_at_trx_commit)} | .commit] | sort == ["1", "2"]' variants/environment.json
holds "variants: what cannot be compared is listed" jq -e '[.databases.server.servers[].unverified] | unique == [["performance_schema_instrument"]]' variants/environment.json
unverified='^stb: warning: no variable of the server shows whether .performance_schema_instrument. of database .server. is in force \(variants\.stb:6:'
holds "variants: and said once a server, with its line" test "$(grep -cE "$unverified" err)" = 2
lacks "variants: of nothing else" 'no variable of the server shows whether .(innodb|sql)'
sed 's/values = \[1, 2\]/values = [2, 9]/' variants.stb >clamped.stb
expect "clamped: one variant cannot be had" 5 "$STB" run clamped.stb -o clamped
says "clamped: both values are named" 'innodb_flush_log_at_trx_commit. is .'$clamped_commit'. there, the spec says .9.'
says "clamped: the other is measured" ',tps,.*,ok$' clamped/results.csv
holds "clamped: nothing is given as a figure" test "$(grep -c ',tps,' clamped/results.csv)" = 1
says "clamped: the journal says why" '"status":"invalid:disturbed".*"reason":"[^"]*innodb_flush_log_at_trx_commit' clamped/journal.jsonl
sed 's/performance_schema_instrument = "a=ON"/version = true/' variants.stb >version2.stb
expect "an option that only renames the server" 1 "$STB" check version2.stb
holds "clamped: nothing is left" test -z "$(leftovers clamped)$(ls store)"

# as an ordinary user
if [ "$(id -u)" = 0 ] && id nobody >/dev/null 2>&1 && command -v setpriv >/dev/null; then
	mkdir theirs && chown nobody theirs
	sed "s|$work/store|$work/theirs|" db.stb >user.stb
	expect "user: the run" 0 as_nobody env TMPDIR=/tmp "$STB" run user.stb -o "$work/theirs/run"
	holds "user: nothing is left but the run directory" test "$(ls theirs)" = run
else
	skip "user: the run" "needs root"
fi

# refused at check, or before anything is touched
sed "s/$redo_option .*/"'plugin_load = "evil.so"/' db.stb >plugin.stb
expect "options that load code" 1 "$STB" check plugin.stb
sed "s/$redo_option .*/"'datadir = "x"/' db.stb >datadir.stb
expect "options that stb owns" 1 "$STB" check datadir.stb
sed 's/volume = v$/volume = v\n  version = "1.2.3"/' db.stb >version.stb
expect "a version that is not here" 3 "$STB" run version.stb -o version
says "names both" '1\.2\.3'
holds "nothing was made" test ! -e version
env PATH=/nowhere "$STB" check db.stb >/dev/null 2>&1
holds "check needs no server" test $? = 0

# an option that the server does not know: refused before anything is touched, with its line and the name that may be meant
sed "s/$redo_option .*/innodb_flush_log_at_trx_comit = 1/" db.stb >unknown.stb
expect "an option that the server does not know" 3 "$STB" run unknown.stb -o unknown
sed 's|(/.*, [0-9.]*[^)]*)|(SERVER)|; s|unknown.stb:[0-9]*:[0-9]*|unknown.stb:LINE|' err >message
cat >wanted <<'TEXT'
stb: error: database `server` cannot have the option `innodb_flush_log_at_trx_comit`: the server (SERVER) knows none of that name
  asked for at unknown.stb:LINE
  what to do: did you mean `innodb_flush_log_at_trx_commit`? else remove it from `options`
TEXT
holds "the message" diff wanted message
says "its line" "unknown\\.stb:$(grep -n comit unknown.stb | cut -d: -f1):"
holds "nothing was made" test ! -e unknown -a -z "$(ls store)"
expect "doctor says the same" 3 "$STB" doctor unknown.stb
says "in the same words" 'cannot have the option .innodb_flush_log_at_trx_comit.' out
[ $family = MariaDB ] && other="innodb_redo_log_capacity" || other="innodb_log_file_size"
sed "s/$redo_option .*/$other = 16MiB/" db.stb >other.stb
expect "an option of the other family of servers" 3 "$STB" run other.stb -o other
says "what this one has instead" "knows none of that name"
says "and by which name" "it has .$redo_option"
sed "s/$redo_option .*/innodb_buffer_pool_load_at = true  skip_innodb_doublewrite = 1  enable_innodb_stats_auto_recalc = 1/; s/length = 1s/length = 100ms/; s/repeat   = 2/repeat   = 1/" db.stb >known.stb
expect "options as the server reads them" 0 "$STB" run known.stb -o known

# a server that is there already: asserted, used, and left as it was but for our tables
if [ -z "$(lacks_server)" ]; then
	make_server "$work/ext"
	run_server "$work/ext" "$work/ext.sock" --skip-networking >ext.log 2>&1 &
	ext=$!
	at_end "kill -KILL $ext 2>/dev/null"
	sql() { sql_through "$work/ext.sock" hidden_word "$1"; }
	wait_for 60 sql_through "$work/ext.sock" "" "ALTER USER root@localhost IDENTIFIED BY 'hidden_word'"
	sql "CREATE DATABASE sbtest"
	cat >ext.stb <<SPEC
stb 1
storage external disk {}
volume v {
  storage = disk
}
database external server {
  volume   = v
  socket   = "$work/ext.sock"
  password = env("STB_TEST_PASSWORD")
  options { innodb_flush_log_at_trx_commit = 1 }
}
workload oltp points {
  database   = server
  script     = point_select
  table_size = 100
  time       = 1s
}
matrix m {
  database = [server]
  workload = [points]
  repeat   = 2
  cooldown = 100ms
}
report r {
  from    = m
  rows    = workload
  metrics = [tps]
}
SPEC
	export STB_TEST_PASSWORD=hidden_word
	expect "external: the run" 0 "$STB" run ext.stb -o ext-run
	holds "external: its repetition is ok" grep -q ',tps,.*,ok$' ext-run/results.csv
	holds "external: what it did meanwhile" grep -q ',server\.rows_read,,[1-9].*,ok$' ext-run/results.csv
	holds "external: its process is not known" sh -c '! grep -q server.cpu ext-run/results.csv'
	holds "external: its variables are recorded" jq -e '.databases.server.variables.innodb_buffer_pool_size == "16777216"' ext-run/environment.json
	holds "external: the secret is nowhere" sh -c '! grep -rq hidden_word ext-run out err'
	holds "external: its name is in the record" grep -q 'env:STB_TEST_PASSWORD' ext-run/environment.json
	sed 's/trx_commit = 1/trx_commit = 2/' ext.stb >ext-options.stb
	expect "external: an option that differs" 3 "$STB" run ext-options.stb -o ext-options
	says "external: both values are named" 'innodb_flush_log_at_trx_commit'
	# two runs on one schema: the tables of one that goes on are left alone, those of one that was killed are not
	sed 's/  time *= .*/  time       = 60s/' ext.stb >long.stb
	"$STB" run long.stb -o ext-long >long.out 2>&1 &
	long=$!
	wait_for 60 jq -se 'map(select(.ev == "begin" and .op == "measure")) | length > 0' ext-long/journal.jsonl
	expect "external: a second run on the schema of one that goes on" 5 "$STB" run ext.stb -o ext-second
	says "external: whose tables they are" 'the tables of the schema are those of another run of stb, which goes on' err
	says "external: and what to do" 'wait for its end, or give the database another `schema`' err
	holds "external: the tables are there still" test "$(sql 'SELECT COUNT(*) FROM sbtest.sbtest1')" -gt 0
	kill -KILL $long
	wait $long 2>/dev/null
	expect "external: a run after one that was killed" 0 "$STB" run ext.stb -o ext-third
	holds "external: is as any other" grep -q ',tps,.*,ok$' ext-third/results.csv
	(unset STB_TEST_PASSWORD; expect "external: no secret" 3 "$STB" run ext.stb -o ext-none; exit $failed) || failed=1
	STB_TEST_PASSWORD=wrong expect "external: a wrong secret" 3 "$STB" run ext.stb -o ext-wrong
	sql "CREATE DATABASE other; CREATE TABLE other.sbtest1 (id INT)"
	sed 's/  socket /  schema = "other"\n  socket /' ext.stb >ext-other.stb
	"$STB" run ext-other.stb -o ext-other >out 2>err
	code=$?
	holds "external: tables of unknown origin are not touched" test $code = 3 -o $code = 5
	holds "external: they are as they were" test "$(sql 'SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = "other"')" = 1
	sql "CREATE USER bench@localhost IDENTIFIED BY 'hidden_word'; CREATE DATABASE closed"
	for schema in closed absent; do
		sed "s/  socket /  schema = \"$schema\"  user = \"$([ $schema = closed ] && echo bench || echo root)\"\n  socket /" ext.stb >$schema.stb
		expect "external: schema $schema" 3 "$STB" run $schema.stb -o ext-$schema
		says "external: schema $schema: the reason" "cannot enter schema .$schema.*\(10(44|49)\)"
		says "external: schema $schema: its line" "asked for at $schema.stb:$(grep -n schema $schema.stb | cut -d: -f1)"
		holds "external: schema $schema: nothing was made" test ! -e ext-$schema
	done

	# a user who may not do what the load, or the workload, does there: asked before anything is touched, and what is advised helps
	as() { sed "s/  socket /  user = \"$1\"\n  socket /" ext.stb; } # USER
	user() { sql "CREATE USER $1@localhost IDENTIFIED BY 'hidden_word'; $2"; } # NAME STATEMENTS
	user watcher "GRANT SELECT ON sbtest.* TO watcher@localhost"
	as watcher >watcher.stb
	expect "external: a user who may only read" 3 "$STB" run watcher.stb -o ext-watcher
	says "external: what the user lacks" "user .watcher. lacks INSERT, DELETE, CREATE in schema .sbtest.: .*denied.*\(1142\)" err
	says "external: its line" "asked for at watcher.stb:$(grep -n user watcher.stb | cut -d: -f1)" err
	holds "external: nothing was made" test ! -e ext-watcher -a -z "$(sql 'SHOW TABLES FROM sbtest')"
	expect "external: doctor says so, too" 3 "$STB" doctor --connect watcher.stb
	says "external: in the same words" 'lacks INSERT, DELETE, CREATE in schema' out
	sed 's/  table_size = 100/  table_size = 100  script = update_index/; s/  script     = point_select//' watcher.stb >updater.stb
	expect "external: a workload that updates" 3 "$STB" run updater.stb -o ext-updater
	says "external: needs one more right" 'lacks INSERT, UPDATE, DELETE, CREATE in schema' err
	sql "$(sed -n 's/.*what to do: say on the server: \(GRANT [^;]*\);.*/\1/p' err)"
	expect "external: what is advised helps" 0 "$STB" run updater.stb -o ext-granted
	[ $family = MariaDB ] && lacked="INSERT DELETE CREATE DROP" || lacked="INSERT DELETE CREATE"
	for right in $lacked; do
		user "no_$right" "GRANT ALL ON sbtest.* TO no_$right@localhost; REVOKE $right ON sbtest.* FROM no_$right@localhost"
		as "no_$right" >lacks.stb
		expect "external: a user without $right" 3 "$STB" run lacks.stb -o "ext-$right"
		says "external: without $right: is told so" "lacks $right in schema" err
	done
	user teller "CREATE TABLE sbtest.sbtest1 (id INT, k INT); GRANT INSERT, UPDATE, DELETE, CREATE, DROP, INDEX ON sbtest.* TO teller@localhost;
		GRANT SELECT (k) ON sbtest.sbtest1 TO teller@localhost"
	as teller >teller.stb
	expect "external: a user who may read a column only" 3 "$STB" run teller.stb -o ext-teller
	says "external: lacks the right to read" "lacks SELECT in schema .*\(1143\)" err
	sql "DROP TABLE sbtest.sbtest1"
	user actor "CREATE ROLE loader; GRANT ALL ON sbtest.* TO loader; GRANT loader TO actor@localhost; SET DEFAULT ROLE loader $([ $family = MariaDB ] && echo FOR || echo TO) actor@localhost"
	as actor >actor.stb
	expect "external: rights by a role" 0 "$STB" run actor.stb -o ext-actor
	user guest "GRANT ALL ON \`sb%\`.* TO guest@localhost"
	as guest >guest.stb
	expect "external: rights by a pattern" 0 "$STB" run guest.stb -o ext-guest

	sed 's/  table_size = 100/  table_size = 100  dataset = use/; s/  socket /  schema = "other"\n  socket /' ext.stb >use.stb
	expect "external: tables that are not as the workload says" 5 "$STB" run use.stb -o ext-use
	says "external: the line that asked for them" "asked for at use.stb:$(grep -n 'dataset = use' use.stb | cut -d: -f1)"
	kill $ext
	wait $ext 2>/dev/null
else
	skip "external: a server of one's own" "needs $(lacks_server)"
fi

exit $failed
