#!/usr/bin/env bash
# run_tables.sh - the tables that a run makes on a server that stays: named in the journal, dropped by `clean` after a kill, told where that cannot be.
. "$(dirname "$0")/../support/integration.bash"
. "$(dirname "$0")/../support/server.bash"
cd "$work" || exit 1

[ -z "$(lacks_server)" ] || { skip "tables: a server of one's own" "needs $(lacks_server)"; exit 0; }
export STB_TEST_PASSWORD=secret_word_$$ STB_TEST_SCHEMA=bench

make_server "$work/data"
server= # pid
stop_server() { [ -n "$server" ] && kill -KILL "$server" 2>/dev/null && wait "$server" 2>/dev/null; server=; }
at_end stop_server
sql() { sql_through "$work/sock" "" "$1"; }
start_server() {
	stop_server
	run_server "$work/data" "$work/sock" --skip-networking >>server.log 2>&1 &
	server=$!
	wait_for 60 sql "SELECT 1"
}
cat >db.stb <<SPEC
stb 1
storage external disk {}
volume v { storage = disk }
database external server {
  volume   = v
  socket   = "$work/sock"
  user     = "bench"
  password = env("STB_TEST_PASSWORD")
  schema   = "bench"
}
workload oltp points { database = server  script = point_select  tables = 3  table_size = 100  time = 60s }
matrix m { workload = points }
report r { rows = workload  metrics = [tps] }
SPEC
sed 's/schema   = "bench"/schema   = env("STB_TEST_SCHEMA")/' db.stb >named.stb
sed 's/time = 60s/time = 300ms/' db.stb >short.stb
start_server
sql "CREATE DATABASE bench; CREATE USER bench@localhost IDENTIFIED BY '$STB_TEST_PASSWORD'; GRANT ALL ON bench.* TO bench@localhost"
tables() { sql "SELECT COALESCE(GROUP_CONCAT(TABLE_NAME ORDER BY TABLE_NAME), '') FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'bench'"; }
begin_run() { # SPEC DIR: in the background, until it measures; $pid
	"$STB" run "$1" -o "$2" >out 2>err </dev/null &
	pid=$!
	at_end "kill -KILL $pid 2>/dev/null"
	holds "$2: the run gets to its cell" wait_for 60 begun "$2"
}
killed_run() {
	begin_run "$@"
	kill -KILL $pid
	wait $pid 2>/dev/null
}
no_secret() { holds "$1: the password is nowhere" sh -c '! grep -rqF "$STB_TEST_PASSWORD" "$0"' "$1"; }

# a run that ends: made and gone, in that order
expect "whole: the run" 0 "$STB" run short.stb -o whole
holds "whole: the data set is in the journal, before the load, and its end" test \
	"$(jq -r 'select(.kind == "tables" or .op == "load data set" or .op == "remove") | .ev' whole/journal.jsonl | xargs)" = "begin made end begin gone end"
says "whole: by schema and address" '"made","kind":"tables","object":"sbtest1..sbtest3 in schema bench of database server \(.*/sock\)"' whole/journal.jsonl
holds "whole: no tables are left" test -z "$(tables)"

# killed: clean drops them
for spec in db named; do
	killed_run $spec.stb $spec
	holds "$spec: tables are left" test "$(tables)" = sbtest1,sbtest2,sbtest3,stb_dataset
	no_secret $spec
	sql "CREATE TABLE bench.sbtest9 (id INT); CREATE TABLE bench.theirs (id INT)"
	expect "$spec: clean without the password" 6 env -u STB_TEST_PASSWORD "$STB" clean $spec
	says "$spec: says what is missing" 'STB_TEST_PASSWORD'
	says "$spec: and where it was asked for" "asked for at $spec.stb:"
	expect "$spec: clean" 0 "$STB" clean $spec
	says "$spec: says what went" 'removed tables sbtest1..sbtest3' out
	holds "$spec: nothing else went" test "$(tables)" = sbtest9,theirs
	expect "$spec: clean again" 0 "$STB" clean $spec
	says "$spec: finds nothing" 'nothing is left' out
	no_secret $spec
	sql "DROP TABLE bench.sbtest9, bench.theirs"
done

# what another run has made there since is not this run's
killed_run db.stb older
killed_run db.stb newer
expect "two runs: clean of the older one" 0 "$STB" clean older
says "two runs: leaves what is not its own" 'left alone: tables' out
holds "two runs: all is there" test "$(tables)" = sbtest1,sbtest2,sbtest3,stb_dataset
expect "two runs: clean of the newer one" 0 "$STB" clean newer
holds "two runs: all is gone" test -z "$(tables)"

# a resumed run takes away what its first session left
killed_run db.stb again
"$STB" resume again >out 2>err </dev/null &
pid=$!
at_end "kill -KILL $pid 2>/dev/null"
holds "resumed: it measures" wait_for 60 sh -c 'test "$(grep -c "\"ev\":\"begin\",\"op\":\"measure\"" again/journal.jsonl)" = 2'
kill -TERM $pid
wait $pid
holds "resumed: exit 5" test $? = 5
holds "resumed: no tables are left" test -z "$(tables)"

# the server is gone at the end: said, with the statement that does it by hand, and exit 6
begin_run db.stb lost
stop_server
wait $pid
holds "lost server: exit 6" test $? = 6
says "lost server: what is left" 'tables sbtest1..sbtest3 in schema bench of database server'
says "lost server: the spec line" 'asked for at db.stb:'
byhand='DROP TABLE IF EXISTS `bench`.`?sbtest1`?, `bench`.`?sbtest2`?, `bench`.`?sbtest3`?, `bench`.`?stb_dataset`?;'
says "lost server: the statement" "$byhand"
says "lost server: what to do" "stb clean 'lost'|stb clean '.*/lost'"
expect "lost server: clean while it is gone" 6 "$STB" clean lost
says "lost server: clean says the same" "$byhand"
says "lost server: clean says what is left" 'tables? .*are still there|are still there'
holds "lost server: each line once, as everywhere: what, which line, what to do" test \
	"$(sed -E 's/^(stb: error: [0-9]+ of|stb: error|  asked for at|  what to do|  by hand).*/\1/' err | tr '\n' '|')" = \
	"stb: error|  asked for at|  what to do|  by hand|stb: error: 1 of|"
no_secret lost
start_server
holds "lost server: it kept them" test "$(tables)" = sbtest1,sbtest2,sbtest3,stb_dataset
sql "$(sed -n 's/.*by hand: //p' err)"
holds "lost server: the statement does it" test -z "$(tables)"
expect "lost server: then clean finds them gone" 0 "$STB" clean lost
says "lost server: and says so" 'gone already: tables' out

# two groups of one run: no schema is both's at the same time
start_server
cat >two.stb <<SPEC
stb 1
storage external disk {}
volume v { storage = disk }
database external server { volume = v  socket = "$work/sock"  user = "bench"  password = env("STB_TEST_PASSWORD")  schema = "bench" }
workload oltp few { database = server  script = point_select  tables = 1  table_size = 100  time = 200ms }
workload oltp many { database = server  script = point_select  tables = 3  table_size = 50  time = 200ms }
matrix m { workload = [few, many]  fresh = once }
report r { rows = workload  metrics = [tps] }
SPEC
expect "two groups, side by side" 3 "$STB" run two.stb -o two
says "two groups: why" 'two groups of this run would have their tables in one schema of database .server. at the same time'
says "two groups: which line" 'asked for at two\.stb:4:'
holds "two groups: nothing was made" test ! -e two -a -z "$(tables)"
sed 's/fresh = once/fresh = group  repeat = 2/' two.stb >turns.stb
expect "two groups, in turns" 0 "$STB" run turns.stb -o turns
holds "two groups: all are ok" test "$(grep -c ',tps,.*,ok$' turns/results.csv)" = 4
holds "two groups: nothing is left" test -z "$(tables)"
# what the plan cannot tell: one schema by two names
if [ $family = MariaDB ]; then # to whose accounts a password can be shown without TLS
	sed -e 's/^database external server .*/&\ndatabase external again { volume = v  host = "127.0.0.1"  port = PORT  user = "bench"  password = env("STB_TEST_PASSWORD")  schema = "bench" }/' \
		-e 's/workload oltp many { database = server/workload oltp many { database = again/' two.stb >aliased.stb
	stop_server
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	sed -i "s/PORT/$port/" aliased.stb
	run_server "$work/data" "$work/sock" --bind-address=127.0.0.1 --port="$port" >>server.log 2>&1 &
	server=$!
	wait_for 60 sql "SELECT 1"
	sql "CREATE USER bench@127.0.0.1 IDENTIFIED BY '$STB_TEST_PASSWORD'; GRANT ALL ON bench.* TO bench@127.0.0.1"
	expect "one schema by two names" 5 "$STB" run aliased.stb -o aliased
	says "one schema: why" 'cannot load the data set: the schema holds the tables of another group of this run'
	says "one schema: the first group is measured" ',few,.*,tps,.*,ok$' aliased/results.csv
	lacks "one schema: the second is not" ',many,.*,tps,' aliased/results.csv
	holds "one schema: nothing is left" test -z "$(tables)"
else
	skip "one schema by two names" "needs MariaDB"
fi

# a server that is another one than before: neither resumed nor taken over
sed 's/time = 60s/time = 1s/; s/matrix m {/matrix m { repeat = 3/' db.stb >again.stb
begin_run again.stb other
wait_for 60 grep -q '"ev":"result"' other/journal.jsonl
kill -TERM $pid
wait $pid
holds "another server: one repetition is there" test "$(grep -c '"ev":"result"' other/journal.jsonl)" -ge 1
was=$(sql "SELECT @@GLOBAL.innodb_flush_log_at_trx_commit")
sql "SET GLOBAL innodb_flush_log_at_trx_commit = 0"
cp -r other before
expect "another server: resume" 3 "$STB" resume other
says "another server: what differs" 'database .server. is not as it was when the figures in .other. were measured: .innodb_flush_log_at_trx_commit. was .1., is .0.'
says "another server: what to do" 'what to do: make the server as it was, or measure anew'
says "another server: which line" 'asked for at again\.stb:'
holds "another server: nothing was changed" diff -r before other
expect "another server: reuse" 3 "$STB" run again.stb --reuse other -o reused
says "another server: the same words" 'database .server. is not as it was when the figures in .*other. were measured'
holds "another server: nothing was made" test ! -e reused
sql "SET GLOBAL innodb_flush_log_at_trx_commit = $was"
expect "the server as it was: reuse" 0 "$STB" run again.stb --reuse other -o reused
expect "the server as it was: resume" 0 "$STB" resume other
holds "the server as it was: all is there" test "$(grep -c ',tps,.*,ok$' other/results.csv)" = 3
holds "the server as it was: nothing is left" test -z "$(tables)"

# the schema went, and its tables with it
killed_run db.stb gone
sql "DROP DATABASE bench"
expect "no schema: clean" 0 "$STB" clean gone
says "no schema: finds its tables gone" 'gone already: tables' out
expect "no schema: a run" 3 "$STB" run short.stb -o none
says "no schema: why" 'user .bench. cannot enter schema .bench.: .*\(1049\)'
says "no schema: which line" "asked for at short\.stb:$(grep -n schema short.stb | cut -d: -f1)"
holds "no schema: nothing was made" test ! -e none

exit $failed
