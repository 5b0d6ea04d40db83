#!/usr/bin/env bash
# run_still.sh - a private server that stands still when a repetition is to begin: it is ended and made anew, as one that died is.
. "$(dirname "$0")/../support/integration.bash"
. "$(dirname "$0")/../support/server.bash"
cd "$work" || exit 1
[ -n "$mysqld" ] || { skip "still: a private server" "no mariadbd or mysqld"; exit 0; }

spec() { # DIR
	mkdir "$1"
	cat <<SPEC
stb 1
storage directory here { path = "$work/$1" }
volume v {}
database mysql server {
  volume = v
  options { innodb_buffer_pool_size = 16MiB  $small_redo }
}
workload oltp points { database = server  script = point_select  table_size = 100  threads = 2  time = 2s }
matrix m { storage = here  database = server  workload = points  repeat = 3  cooldown = 3s }
report r { rows = workload  metrics = [tps] }
SPEC
}
results() { test "$(grep -c '"ev":"result"' "$1/journal.jsonl")" -ge 1; } # DIR
measuring() { grep -q '"ev":"begin","op":"measure"' "$1/journal.jsonl"; }
gone() { ! kill -0 "$1" 2>/dev/null; }
stop_server_of() { # NAME: leaves the pid in $server
	server=$(server_of "$1")
	holds "$1: its server is found" test -n "$server"
	[ -n "$server" ] && kill -STOP "$server" && at_end "kill -KILL $server 2>/dev/null"
}

# one between two repetitions, one in the middle of a repetition and for good; both at once, since it is waiting that takes the time
spec at-between >between.stb
spec at-middle >middle.stb
"$STB" run between.stb -o between >between.out 2>between.err &
first=$!
"$STB" run middle.stb -o middle >middle.out 2>middle.err &
second=$!
at_end "kill -TERM $first $second 2>/dev/null"
holds "middle: the run gets to measuring" wait_for 60 measuring middle
sleep 0.5
stop_server_of middle
in_middle=$server
holds "between: the first repetition ends" wait_for 60 results between
stop_server_of between
in_between=$server
wait $first
holds "between: exit 0, since nothing that counts was lost" test $? = 0
says "between: which one, and what became of it" 'database .server.: the server gave no answer for 30 s \(.*\) and was killed' between.err
says "between: what to do" 'what to do: (read the server|see whether)' between.err
holds "between: it is gone" gone "${in_between:-1}"
holds "between: all repetitions count" test "$(grep -c ',tps,.*,ok$' between/results.csv)" = 3
holds "between: the others on a server made anew" test "$(grep -c '"ev":"begin","op":"load data set"' between/journal.jsonl)" = 2
holds "between: nothing is left" test -z "$(leftovers between)$(ls at-between)"
wait $second
holds "middle: exit 5" test $? = 5
says "middle: the repetition stalled" ',tps,1/s,.*,invalid:stalled$' middle/results.csv
says "middle: and its server was ended" 'the server gave no answer for 30 s \(.*\) and was killed' middle.err
holds "middle: it is gone" gone "${in_middle:-1}"
holds "middle: the others count" test "$(grep -c ',tps,.*,ok$' middle/results.csv)" = 2
holds "middle: nothing is left" test -z "$(leftovers middle)$(ls at-middle)"

# a signal is not kept waiting for that
spec at-signal >signal.stb
"$STB" run signal.stb -o signal >out 2>err &
pid=$!
at_end "kill -TERM $pid 2>/dev/null"
holds "signal: the first repetition ends" wait_for 60 results signal
stop_server_of signal
sleep 5 # by now it is asked for an answer
kill -TERM $pid
kill -TERM $pid
holds "signal: the run ends" wait_for 20 gone $pid
wait $pid
holds "signal: exit 5" test $? = 5
holds "signal: the server is gone" gone "${server:-1}"
holds "signal: nothing is left" test -z "$(leftovers signal)$(ls at-signal)"

exit $failed
