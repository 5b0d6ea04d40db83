#!/usr/bin/env bash
# run_signals.sh - a run that is told to stop, killed, or loses its server: what is kept, what is cleaned, what `clean` can still do.
. "$(dirname "$0")/../support/integration.bash"
. "$(dirname "$0")/../support/server.bash"
cd "$work" || exit 1
mkdir store

cat >long.stb <<SPEC
stb 1
storage directory here { path = "$work/store" }
volume v {}
workload io quick {
  volume     = v
  size       = 1MiB
  rw         = randwrite
  runtime    = 300ms
  time_based = true
}
workload io long {
  volume     = v
  size       = 1MiB
  rw         = randwrite
  runtime    = 60s
  time_based = true
}
matrix m {
  storage  = [here]
  workload = [quick, long]
}
report r {
  from    = m
  rows    = workload
  metrics = [iops]
}
SPEC

measuring() { grep -q '"status":"ok"' "$1/journal.jsonl" 2>/dev/null && [ "$(grep -c '"ev":"begin","op":"measure"' "$1/journal.jsonl")" = 2 ]; }
alive() { kill -0 "$1" 2>/dev/null; }
gone() { ! alive "$1"; }

for sig in INT TERM HUP; do
	# a background job of a shell without job control ignores SIGINT; env puts it back
	env --default-signal=INT "$STB" run long.stb -o stop-$sig >out 2>err &
	pid=$!
	at_end "kill -KILL $pid 2>/dev/null"
	holds "SIG$sig: the run gets to its second cell" wait_for 30 measuring stop-$sig
	kill -$sig $pid
	sleep 0.2
	kill -$sig $pid 2>/dev/null # a second one does not skip clean-up
	wait $pid
	code=$?
	holds "SIG$sig: exit 5" test $code = 5
	says "SIG$sig: it is said" 'interrupted by (SIG)?'$sig err
	says "SIG$sig: the first cell is kept" ',quick,.*,iops,.*,ok$' stop-$sig/results.csv
	lacks "SIG$sig: the second is not counted" ',long,' stop-$sig/results.csv
	holds "SIG$sig: a report is made of what there is" test -s stop-$sig/report.md
	holds "SIG$sig: nothing is left" test -z "$(leftovers stop-$sig)$(ls store)"
done

# SIGKILL leaves a directory and no process; clean removes it
"$STB" run long.stb -o killed >out 2>err &
pid=$!
at_end "kill -KILL $pid 2>/dev/null"
holds "SIGKILL: the run gets to its second cell" wait_for 30 measuring killed
children=$(cat /proc/$pid/task/$pid/children)
expect "a report while it works" 0 "$STB" report long.stb --results killed
says "which says that more may come" 'still going on' out
lacks "and not that it has ended" 'ended early' out
expect "clean refuses while it works" 3 "$STB" clean killed
says "and says so" 'still going on'
kill -KILL $pid
wait $pid 2>/dev/null
for c in $children; do holds "SIGKILL: its measuring process ends" wait_for 10 gone "$c"; done
holds "SIGKILL: something is left" test -n "$(ls store)"
says "SIGKILL: the first result is kept" ',quick,.*,iops,.*,ok$' killed/results.csv
printf '{"ev":"gone","ki' >>killed/journal.jsonl
expect "clean takes it away, also after a torn line" 0 "$STB" clean killed
holds "clean: nothing is left" test -z "$(ls store)"
expect "clean again finds nothing" 0 "$STB" clean killed
says "and says that" 'nothing is left' out
expect "a report can be made of a killed run" 0 "$STB" report long.stb --results killed
says "which says that it ended early" 'ended early' out

# while a server is made or started: a server that never gets there is given up at the signal, not when its time is over
if [ -n "$mysqld" ]; then
	mkdir -p fake/bin
	ln -s "$(dirname "$(dirname "$(readlink -f "$mysqld")")")/share" fake/share
	: >fake/pid && chmod 666 fake/pid
	cat >"fake/bin/$(basename "$mysqld")" <<-SH
		#!/bin/sh
		case "\$*" in
		*--version* | *--help*) exec "$mysqld" "\$@" ;;
		*--bootstrap* | *--initialize*) [ -e "$work/fake/slow-init" ] || exec "$mysqld" "\$@" ;;
		esac
		echo \$\$ >"$work/fake/pid"
		exec sleep 1000
	SH
	chmod 755 fake/bin/*
	cat >server.stb <<-SPEC
		stb 1
		storage directory here { path = "$work/store" }
		volume v { storage = here }
		database mysql server { volume = v  options { innodb_buffer_pool_size = 16MiB  $small_redo } }
		workload oltp points { database = server  script = point_select  table_size = 100  time = 1s }
		matrix m { storage = here  database = server  workload = points }
	SPEC
	for step in init start; do
		for sig in INT TERM; do
			name=$step-$sig
			rm -f fake/slow-init
			[ $step = start ] || : >fake/slow-init
			: >fake/pid
			env --default-signal=INT PATH="$work/fake/bin:$PATH" "$STB" run server.stb -o $name >out 2>err &
			pid=$!
			at_end "kill -KILL $pid 2>/dev/null"
			holds "$name: the run waits for its server" wait_for 60 test -s fake/pid
			server=$(cat fake/pid)
			sleep 0.3
			kill -$sig $pid
			holds "$name: it does not wait on" wait_for 20 gone $pid
			wait $pid
			holds "$name: exit 5" test $? = 5
			says "$name: it is said" 'interrupted by (SIG)?'$sig err
			lacks "$name: as no failure" 'error' err
			holds "$name: the server is gone" gone "${server:-1}"
			holds "$name: nothing is left" test -z "$(leftovers $name)$(ls store)"
			holds "$name: nothing is given as measured" test "$(wc -l <$name/results.csv)" = 1
		done
	done
else
	skip "signals while a server starts" "no mariadbd or mysqld"
fi

# a private server that hangs: its end is not waited for as in a run that nobody stops, and after a second signal not at all
if [ -n "$mysqld" ]; then
	sed 's/time = 1s/time = 60s/' server.stb >hang.stb
	for times in 1 2; do
		name=hang-$times
		"$STB" run hang.stb -o $name >out 2>err &
		pid=$!
		at_end "kill -KILL $pid 2>/dev/null"
		holds "$name: the run gets to its cell" wait_for 60 begun $name
		sleep 0.5
		server=$(server_of $name)
		kill -STOP "${server:-$pid}"
		for ((i = 0; i < times; i++)); do kill -TERM $pid; sleep 0.3; done
		holds "$name: stb ends long before a minute is over" wait_for 40 gone $pid
		wait $pid
		holds "$name: exit 5" test $? = 5
		says "$name: it is said" 'interrupted by (SIG)?TERM' err
		holds "$name: the server is gone" gone "${server:-1}"
		holds "$name: nothing is left" test -z "$(leftovers $name)$(ls store)"
	done
	"$STB" run hang.stb -o shot >out 2>err &
	pid=$!
	at_end "kill -KILL $pid 2>/dev/null"
	holds "a server that is killed: the run gets to its cell" wait_for 60 begun shot
	sleep 0.5
	kill -KILL "$(server_of shot)"
	wait $pid
	holds "a server that is killed: exit 5" test $? = 5
	says "a server that is killed: by what, and not by whom" 'killed by signal 9 \(Killed\).*, and not by stb' err
	lacks "a server that is killed: no words of its log that are about something else" 'its log says' err
fi

# a journal that names what is not the run's is refused
mkdir forged precious
echo keep >precious/file
mark=$(sed -n 's/.*"mark":"\([0-9a-f]*\)".*/\1/p' killed/journal.jsonl | head -n 1)
printf '{"ev":"start","mark":"%s","pid":1,"pid_start":1}\n{"ev":"made","kind":"dir","object":"%s"}\n' "$mark" "$work/precious" >forged/journal.jsonl
expect "clean refuses what does not carry the mark" 6 "$STB" clean forged
holds "and leaves it" test -f precious/file

# a measuring process that is killed: its repetition is marked, the run goes on
sed 's/runtime    = 60s/runtime    = 3s/' long.stb >short.stb
"$STB" run short.stb -o child >out 2>err &
pid=$!
at_end "kill -KILL $pid 2>/dev/null"
holds "child: the run gets to its second cell" wait_for 30 measuring child
sleep 0.3
kill -KILL $(cat /proc/$pid/task/$pid/children)
wait $pid
holds "child: exit 5" test $? = 5
says "child: the reason is given" 'killed by signal 9' err
holds "child: nothing is left" test -z "$(leftovers child)$(ls store)"
for words in 'XFSZ ulimit -f' 'BUS cut short' 'SEGV report it' 'ILL another processor'; do
	sig=${words%% *}
	"$STB" run short.stb -o child-$sig >out 2>err &
	pid=$!
	at_end "kill -KILL $pid 2>/dev/null"
	holds "child, SIG$sig: the run gets to its second cell" wait_for 30 measuring child-$sig
	kill -$sig $(cat /proc/$pid/task/$pid/children)
	wait $pid
	holds "child, SIG$sig: exit 5" test $? = 5
	says "child, SIG$sig: by name" "killed by signal [0-9]+ \\(SIG$sig: " err
	says "child, SIG$sig: with its own remedy" "what to do: .*${words#* }" err
	lacks "child, SIG$sig: and no other" 'out of memory' err
done
(ulimit -f 100 && exec "$STB" run long.stb --only 'workload = quick' -o small) >out 2>err
holds "a limit of file sizes is told as one: exit 5" test $? = 5
says "a limit of file sizes is told as one" 'ulimit -f' err

exit $failed
