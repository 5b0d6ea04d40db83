#!/usr/bin/env bash
# run_hold.sh - the tables of a run on an external server are its own for as long as it goes on: other runs, lost connections, odd servers.
. "$(dirname "$0")/../support/integration.bash"
. "$(dirname "$0")/../support/server.bash"
cd "$work" || exit 1

for tool in python3 jq; do
	command -v $tool >/dev/null || { skip "hold: a server of one's own" "needs $tool"; exit 0; }
done
[ -z "$(lacks_server)" ] || { skip "hold: a server of one's own" "needs $(lacks_server)"; exit 0; }
export STB_TEST_PASSWORD=secret_word_$$

make_server "$work/data"
run_server "$work/data" "$work/sock" --skip-networking >server.log 2>&1 &
server=$!
at_end "{ kill -KILL $server; wait $server; } 2>/dev/null"
sql() { sql_through "$work/sock" "" "$1"; }
wait_for 60 sql "SELECT 1"
sql "CREATE DATABASE sbtest; CREATE USER bench@localhost IDENTIFIED BY '$STB_TEST_PASSWORD'; GRANT ALL ON sbtest.* TO bench@localhost"
tables() { sql "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'sbtest'"; }
holder() { sql "SELECT COALESCE(MAX(IS_USED_LOCK(CONCAT('stb.', value))), 'nobody') FROM sbtest.stb_dataset WHERE name = 'run'"; }
held() { [ "$(holder)" != nobody ]; }
results() { test "$(grep -c '"ev":"result"' "$1/journal.jsonl")" -ge 1; } # DIR
measuring_again() { test "$(grep -c '"ev":"begin","op":"measure"' "$1/journal.jsonl")" -ge 2; } # DIR

cat >db.stb <<SPEC
stb 1
param length = 300ms
storage external disk {}
volume v { storage = disk }
database external server { volume = v  socket = "$work/sock"  user = "bench"  password = env("STB_TEST_PASSWORD") }
workload oltp w { database = server  script = point_select  table_size = 100  time = length }
matrix m { workload = w  repeat = 2  cooldown = 4s }
report r { rows = workload  metrics = [tps] }
SPEC
sed 's/  repeat = 2  cooldown = 4s//' db.stb >once.stb

# servers, or what stands before them, that know no such locks: it works, and what is missing is said
cat >proxy.py <<'PY'
import os, socket, sys, threading

path, real, word = sys.argv[1], sys.argv[2], sys.argv[3].encode().rjust(9)
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(64)
print("ready", flush=True)

def carry(a, b, change):
    try:
        while data := a.recv(65536):
            b.sendall(data.replace(b"GET_LOCK(", word) if change else data)
    except OSError:
        pass
    for s in (a, b):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

while True:
    client, _ = listener.accept()
    server = socket.socket(socket.AF_UNIX)
    server.connect(real)
    threading.Thread(target=carry, args=(client, server, True), daemon=True).start()
    threading.Thread(target=carry, args=(server, client, False), daemon=True).start()
PY
proxy= # pid
stop_proxy() { [ -n "$proxy" ] && { kill -KILL $proxy; wait $proxy; } 2>/dev/null; proxy=; }
at_end stop_proxy
for word in 'NULLIF(' 'NO_LOCK(' 'LOCATE('; do # gives NULL, an error, 0
	stop_proxy
	rm -f "$work/proxied" proxy.log
	python3 proxy.py "$work/proxied" "$work/sock" "$word" >proxy.log 2>&1 &
	proxy=$!
	wait_for 20 grep -q ready proxy.log
	sed "s|$work/sock|$work/proxied|" once.stb >odd.stb
	rm -rf odd
	expect "$word for GET_LOCK: the run" 0 "$STB" run odd.stb -o odd
	says "$word for GET_LOCK: is measured" ',tps,.*,ok$' odd/results.csv
	holds "$word for GET_LOCK: it is said, once" test "$(grep -c 'stb: note: other runs of stb cannot be told that this one works in its schema of database .server.' err)" = 1
	says "$word for GET_LOCK: why" 'a run that has ended: (GET_LOCK gives (NULL|0), and IS_USED_LOCK knows nobody who has the lock|GET_LOCK: .*NO_LOCK.* \([0-9]+\))'
	holds "$word for GET_LOCK: its tables are gone" test "$(tables)" = 0
done
stop_proxy
expect "a server with locks" 0 "$STB" run once.stb -o whole
lacks "a server with locks: nothing is to be said" 'cannot be told'

# the connection that holds is lost between two repetitions: it is had anew
"$STB" run db.stb -o lost >out 2>err &
pid=$!
at_end "kill -TERM $pid 2>/dev/null"
holds "lost: the first repetition ends" wait_for 60 results lost
was=$(holder)
holds "lost: the tables are held" test "$was" != nobody
"$STB" run once.stb -o second >second.out 2>second.err
holds "lost: another run is refused" test $? = 5
says "lost: it is told by which connection" "another run of stb, which goes on \(connection $was of the server\)" second.err
says "lost: and what to do where nobody is there any more" "what to do: wait for its end, or give the database another .schema.; if its machine went down, KILL $was on the server" second.err
sql "KILL $was"
holds "lost: the second one begins" wait_for 60 measuring_again lost
holds "lost: the tables are held again" wait_for 10 held
wait $pid
holds "lost: exit 0" test $? = 0
holds "lost: both count" test "$(grep -c ',tps,.*,ok$' lost/results.csv)" = 2
holds "lost: the tables are gone at the end" test "$(tables)" = 0

# and where another run has taken the tables meanwhile nothing is measured on them
"$STB" run db.stb -o taken >out 2>err &
pid=$!
at_end "kill -TERM $pid 2>/dev/null"
holds "taken: the first repetition ends" wait_for 60 results taken
was=$(holder)
sql "KILL $was"
"$STB" run once.stb -o thief --set length=8s >thief.out 2>thief.err &
thief=$!
at_end "kill -TERM $thief 2>/dev/null"
wait $pid
holds "taken: exit 5" test $? = 5
says "taken: why" 'the tables in schema .sbtest. are not this run.s any more: another one has taken them while the connection that held them was lost'
holds "taken: the second repetition did not count" test "$(grep -c ',tps,.*,ok$' taken/results.csv)" = 1
wait $thief
holds "taken: the other run is as any" test $? = 0
holds "taken: the tables are gone at the end" test "$(tables)" = 0

# runs that begin at the same moment: one has the schema, the others are told
for i in 1 2 3 4; do "$STB" run once.stb -o race-$i --set length=6s >race-$i.out 2>race-$i.err & racers[i]=$!; done
for i in 1 2 3 4; do wait "${racers[i]}"; codes[i]=$?; done
holds "at once: one is measured (${codes[*]})" test "$(grep -l ',tps,.*,ok$' race-*/results.csv | wc -l)" = 1
holds "at once: the others are told why" test "$(grep -lE 'another run of stb, which goes on|another run of stb is about to take the schema' race-*.err | wc -l)" = 3
holds "at once: the tables are gone at the end" test "$(tables)" = 0

exit $failed
