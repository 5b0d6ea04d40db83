#!/usr/bin/env bash
# run_room.sh - what an external server has no room for, connections or prepared statements, is refused before anything is touched.
. "$(dirname "$0")/../support/integration.bash"
. "$(dirname "$0")/../support/server.bash"
cd "$work" || exit 1

[ -z "$(lacks_server)" ] || { skip "room: a server of one's own" "needs $(lacks_server)"; exit 0; }
export STB_TEST_PASSWORD=secret_word_$$

make_server "$work/data"
run_server "$work/data" "$work/sock" --skip-networking --max-connections=12 --max-prepared-stmt-count=50 >server.log 2>&1 &
server=$!
at_end "kill -KILL $server 2>/dev/null"
sql() { sql_through "$work/sock" "" "$1"; }
wait_for 60 sql "SELECT 1"
user() { sql "CREATE USER $1@localhost IDENTIFIED BY '$STB_TEST_PASSWORD' $2; GRANT ALL ON sbtest.* TO $1@localhost"; } # NAME LIMITS
sql "CREATE DATABASE sbtest" # of the external one
user bench ""
user few "WITH MAX_USER_CONNECTIONS 5"
tables() { sql "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'sbtest'"; }

cat >db.stb <<SPEC
stb 1
param n = 4
storage external disk {}
volume v { storage = disk }
database external server { volume = v  socket = "$work/sock"  user = "bench"  password = env("STB_TEST_PASSWORD") }
workload oltp w {
  database   = server
  script     = read_only
  table_size = 100
  threads    = n
  time       = 300ms
  db_ps_mode = disable
}
matrix m { workload = w }
report r { rows = workload  metrics = [tps] }
SPEC
refused() { # NAME COMMAND...: nothing of it is there afterwards
	local name=$1
	shift
	expect "$name: refused" 3 "$@" -o refused
	holds "$name: nothing was made" test ! -e refused -a "$(tables)" = 0
}

# a server that stb starts gets its open files from here: below what it reckons with it would allow fewer connections, or end in the middle
mkdir store
cat >private.stb <<SPEC
stb 1
param n = 10
storage directory here { path = "$work/store" }
volume v { storage = here }
database mysql server { volume = v  options { innodb_buffer_pool_size = 16MiB  $small_redo } }
workload oltp w { database = server  script = point_select  table_size = 100  threads = n  time = 300ms }
matrix m { workload = w }
report r { rows = workload  metrics = [tps] }
SPEC
sed 's/options { /options { max_connections = 50  /' private.stb >stated.stb
[ $family = MariaDB ] && base=430 || base=810
with_files() { (ulimit -n "$1" && shift && exec "$@"); } # N COMMAND...
expect "open files: too few for the server" 3 with_files $((base + 10)) "$STB" run private.stb -o files
says "open files: how many, and for what" "database .server. cannot be run: .*d needs $((base + 11)) open files for 11 connections, and may have $((base + 10)) here"
says "open files: what to do" "what to do: raise the hard limit \(ulimit -Hn $((base + 11)), as root\), or use fewer threads$"
says "open files: which line" "asked for at private\.stb:$(grep -n 'database mysql' private.stb | cut -d: -f1):"
holds "open files: nothing was made" test ! -e files -a -z "$(ls store)"
expect "open files: doctor" 3 with_files $((base + 10)) "$STB" doctor private.stb
says "open files: doctor says the same" "needs $((base + 11)) open files for 11 connections" out
expect "open files: as many as the server reckons with" 0 with_files $((base + 11)) "$STB" run private.stb -o files
says "open files: it was measured" ',tps,.*,ok$' files/results.csv
expect "open files: too few for the connections that are stated" 3 with_files $((base + 49)) "$STB" run stated.stb -o stated
says "open files: those count" "needs $((base + 50)) open files for 50 connections"
expect "open files: as many" 0 with_files $((base + 50)) "$STB" run stated.stb -o stated
expect "open files: the limit is raised as far as it may be" 0 bash -c "ulimit -Sn 100 && exec \"$STB\" run private.stb -o soft"

# 10 threads, one connection for the server's status, one that holds the tables: as many as there are
expect "as many as the server has" 0 "$STB" run db.stb --set n=10 -o whole
says "as many as the server has: measured, and its status too" ',server\.rows_read,' whole/results.csv
refused "one more" "$STB" run db.stb --set n=11
says "one more: why" 'workload .w. on database .server.: cannot connect 11 threads: the server allows 12 connections \(max_connections\), stb has 2 of its own, 0 are taken'
says "one more: what to do" "what to do: raise the server's max_connections to at least 13, or use fewer threads"
says "one more: which line" "asked for at db\.stb:$(grep -n 'workload oltp' db.stb | cut -d: -f1):"
expect "one more: doctor" 3 "$STB" doctor --connect --set n=11 db.stb
says "one more: doctor says the same" 'cannot connect 11 threads: the server allows 12 connections' out
expect "as many: doctor" 0 "$STB" doctor --connect --set n=10 db.stb
says "as many: doctor says so" '12 connections' out
sed 's/dataset = create//; s/db_ps_mode = disable/db_ps_mode = disable  dataset = use/' db.stb >use.stb
expect "tables that are held by nobody: one connection less is asked for" 5 "$STB" run use.stb --set n=11 -o use # but there are no such tables
lacks "tables that are held by nobody: there is room" 'max_connections'

# what others have there counts
for i in 1 2 3; do (exec "$sql_client" --no-defaults -S "$work/sock" -u root -e "DO SLEEP(60)") >/dev/null 2>&1 & others[i]=$!; done
at_end 'kill -KILL "${others[@]}" 2>/dev/null'
sleeping() { test "$(sql "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'DO SLEEP%'")" = 3; }
wait_for 20 sleeping
refused "others are there" "$STB" run db.stb --set n=8
says "others are there: they count" 'cannot connect 8 threads: .* 12 connections .*, stb has 2 of its own, 3 are taken'
expect "others are there: room beside them" 0 "$STB" run db.stb --set n=7 -o beside
{ kill -KILL "${others[@]}" && wait "${others[@]}"; } 2>/dev/null

# workloads of a mix are there at the same time
sed '/^matrix/,$d' db.stb >mix.stb
cat >>mix.stb <<'SPEC'
workload oltp other { like = w  script = point_select }
workload mix both { run = [w, other] }
matrix m { workload = both }
report r { rows = workload  metrics = [w.tps] }
SPEC
refused "a mix" "$STB" run mix.stb --set n=5
says "a mix: of all together" 'workload .both. on database .server.: cannot connect 10 threads: .* stb has 3 of its own'
expect "a mix: with room" 0 "$STB" run mix.stb --set n=4 -o mix

# prepared statements, and the limit of an account
sed 's/db_ps_mode = disable//' db.stb >prepared.stb
refused "prepared statements" "$STB" run prepared.stb --set n=8
says "prepared statements: why" 'workload .w. on database .server.: cannot prepare 56 statements \(of all threads\): the server allows 50 \(max_prepared_stmt_count\), 0 are taken'
says "prepared statements: what to do" 'db_ps_mode = disable'
expect "prepared statements: with room" 0 "$STB" run prepared.stb --set n=7 -o prepared
sed 's/"bench"/"few"/' db.stb >few.stb
refused "an account" "$STB" run few.stb --set n=4
says "an account: why" 'cannot connect 4 threads: the server allows the user 5 connections \(max_user_connections\), and stb has 2 of its own'
says "an account: what to do" 'allow the user at least 6 on the server \(ALTER USER .*\), or use fewer threads'
expect "an account: with room" 0 "$STB" run few.stb --set n=3 -o few
holds "all of it is gone" test "$(tables)" = 0

exit $failed
