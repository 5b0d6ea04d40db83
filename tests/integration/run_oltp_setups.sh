#!/usr/bin/env bash
# run_oltp_setups.sh - private servers of more than one part: redo log and temporary files on volumes of their own, and replicas, one of which
# is cut off or dies in the middle.
. "$(dirname "$0")/../support/integration.bash"
. "$(dirname "$0")/../support/server.bash"
cd "$work" || exit 1
mkdir store parts

cat >db.stb <<SPEC
stb 1
param length = 1s
storage directory here { path = "$work/store" }
storage directory there { path = "$work/parts" }
volume v { storage = here }
volume part { storage = there }
database mysql server {
  volume      = v
  redo_volume = part
  tmp_volume  = part
  options {
    innodb_buffer_pool_size        = 16MiB
    $small_redo
    innodb_flush_log_at_trx_commit = 2
  }
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
  workload = [writes]
  repeat   = 2
}
report r {
  from    = m
  rows    = workload
  metrics = [tps]
}
SPEC

replica_of() { # of one with a single replica: the server that has no port
	local p
	for p in $(servers_of "$1"); do
		tr '\0' ' ' <"/proc/$p/cmdline" 2>/dev/null | grep -q -- '--port=' || echo "$p"
	done | head -n 1
}
made_at() { find "$1" -mindepth 2 -name "$2" -type d -perm 700 2>/dev/null | head -n 1; }
# run NAME SPEC: in the background, until it measures
run() {
	"$STB" run "$2" -o "$1" --set length="$3" >out 2>err &
	pid=$!
	at_end "kill -TERM $pid 2>/dev/null"
	holds "$1: the run gets to measuring" wait_for 120 begun "$1"
	sleep 1
}

# each part lies where it should
expect "parts: the plan" 0 "$STB" plan db.stb
says "parts: the plan names the volumes" 'redo on .*there' out
run apart db.stb 4s
holds "parts: one volume serves both" test "$(ls parts | wc -l)" = 1
holds "parts: the redo log" test -s "$(made_at parts redo)/ib_logfile0" -o -d "$(made_at parts redo)/#innodb_redo"
holds "parts: temporary files" test -n "$(made_at parts tmp)"
holds "parts: no redo log with the data" test -z "$(find store -name 'ib_logfile*')"
holds "parts: they belong to the server" test "$(stat -c %u "$(made_at parts redo)")" = "$(stat -c %u "/proc/$(servers_of apart | head -n 1)")"
wait $pid
holds "parts: the run" test $? = 0
holds "parts: the running server says so" jq -e '.databases.server.variables | (.innodb_log_group_home_dir | test("/parts/.*/redo/?$")) and (.tmpdir | test("/parts/.*/tmp$"))' apart/environment.json
holds "parts: nothing is left" test -z "$(leftovers apart)$(ls store)$(find parts -mindepth 1 -name 'stb-*')"

# on loop volumes with file systems: what is mounted is what is written to
if [ "$(id -u)" = 0 ] && [ -e /dev/loop-control ] && command -v mkfs.ext4 >/dev/null; then
	sed -e "s|^storage directory there .*|storage loop there { path = \"$work/parts\"  size = 128MiB }|" -e 's|^volume part .*|volume part { storage = there  size = 96MiB  filesystem = ext4 }|' \
		db.stb >loop.stb
	expect "loop: the run" 0 "$STB" run loop.stb -o loop
	holds "loop: its redo log was mounted" jq -e '.databases.server.variables.innodb_log_group_home_dir | test("/redo/?$")' loop/environment.json
	holds "loop: nothing is left" test -z "$(leftovers loop)$(ls store)$(ls parts)"
else
	skip "loop: redo log on a file system of its own" "needs root, loop devices and mkfs.ext4"
fi

# a binary log belongs to replicas
sed 's/  tmp_volume  = part/  binlog_volume = part/' db.stb >single.stb
expect "a single server keeps no binary log" 1 "$STB" check single.stb

# replicas: each a server of its own, with its own copy of the volumes
sed -e 's/  tmp_volume  = part/  binlog_volume = part\n  topology = async_replica\n  replicas = 2/' -e 's/metrics = .*/metrics = [tps, replica_lag]/' db.stb >async.stb
run async async.stb 3s
holds "async: three servers" test "$(servers_of async | wc -l)" = 3
holds "async: with a copy of each volume" test "$(ls store | wc -l)" = 3 -a "$(ls parts | wc -l)" = 3
holds "async: the primary's binary log" test -s "$(made_at parts binlog)/log.000001"
wait $pid
holds "async: the run" test $? = 0
holds "async: both repetitions are ok" test "$(grep -c ',tps,.*,ok$' async/results.csv)" = 2
holds "async: lag is in the series, for every interval" test "$(grep -c ',replica_lag,s,' async/series.csv)" = "$(grep -c ',tps,' async/series.csv)"
says "async: and in the results" ',replica_lag,s,[0-9.]*,ok$' async/results.csv
holds "async: replicas are recorded" jq -e '[.databases.server.servers | to_entries[] | select(.key | test(" replica [12]$")) | .value.differs.read_only] == ["ON", "ON"]' async/environment.json
holds "async: passwords are nowhere" sh -c '! grep -rqi "MASTER_PASSWORD\|SOURCE_PASSWORD\|IDENTIFIED BY" async'
holds "async: nothing is left" test -z "$(leftovers async)$(ls store)$(ls parts)"

# a replica that does not follow to the end of a repetition is told of, also where nobody waits for it
sed 's/  replicas = 2/  replicas = 1/' async.stb >silent.stb
run silent silent.stb 4s
replica=$(replica_of silent)
if [ -n "$replica" ]; then
	still_until_result "$replica" silent
fi
wait $pid
holds "silent: exit 5" test $? = 5
says "silent: the repetition does not count" ',1,1,tps,1/s,.*,invalid:disturbed$' silent/results.csv
says "silent: which replica" 'after the measurement replica 1 of database .server. does not answer' err
says "silent: the next one is on replicas that have caught up" ',1,2,tps,1/s,.*,ok$' silent/results.csv
holds "silent: nothing is left" test -z "$(leftovers silent)$(ls store)$(ls parts)"

# of a mix lag is there for as long as any of its workloads is on the server, whichever is named first
sed -e 's/^workload oltp writes/workload oltp short { database = server  script = point_select  table_size = 1_000  time = 1s }\n&/' \
	-e 's/^matrix m/workload mix ahead { run = [short, writes] }\nworkload mix behind { run = [writes, short] }\n&/' \
	-e 's/\[writes\]/[ahead, behind]/; s/repeat   = 2/repeat   = 1/; s/metrics = .*/metrics = [replica_lag]/' silent.stb >mixed.stb
expect "mixed: the run" 0 "$STB" run mixed.stb -o mixed --set length=3s
holds "mixed: lag goes on beyond the end of the short one" awk -F, '$5 == "replica_lag" { bad = bad || $4 <= last[$1]; last[$1] = $4 }
	$5 == "short.tps" { end[$1] = $4 } END { for (c in end) { n++; bad = bad || last[c] <= end[c] } exit bad || n != 2 }' mixed/series.csv
sed 's/\[ahead, behind\]/[ahead]/' mixed.stb >later.stb
run later later.stb 6s
replica=$(replica_of later)
sleep 1 # the short one is over
if [ -n "$replica" ]; then
	still_until_result "$replica" later
fi
wait $pid
says "mixed: the lag grows while a replica is silent beside the longer one" ',1,1,[0-9.]*,replica_lag,s,[1-9]' later/series.csv
says "mixed: and is that of the repetition" ',1,1,replica_lag,s,[1-9].*,invalid:disturbed$' later/results.csv
holds "mixed: nothing is left" test -z "$(leftovers mixed)$(leftovers later)$(ls store)$(ls parts)"

# a replica that stands still: commits go unacknowledged, the repetition does not count; the next one is on replicas that follow again
sed -e 's/  tmp_volume  = part/  topology = semisync_replica/' -e "s/    $redo_option/    $semi_sync_timeout = 500\n&/" \
	-e 's/metrics = .*/metrics = [tps, server.semisync_tx]/' db.stb >semi.stb
run cut semi.stb 8s
replica=$(replica_of cut)
holds "cut off: its replica is found" test -n "$replica"
if [ -n "$replica" ]; then
	still_until_result "$replica" cut
fi
wait $pid
holds "cut off: exit 5" test $? = 5
says "cut off: the repetition does not count" ',1,1,tps,1/s,.*,invalid:fallback$' cut/results.csv
says "cut off: why" 'commits went unacknowledged' err
says "cut off: how many" ',1,1,server\.semisync_no_tx,,[1-9]' cut/results.csv
says "cut off: the lag grows while it is silent" ',1,1,[0-9.]*,replica_lag,s,[1-9]' cut/series.csv
says "cut off: the next one is ok" ',1,2,tps,1/s,.*,ok$' cut/results.csv
holds "cut off: and each of its commits was acknowledged" jq -es '[.[] | select(.ev == "result" and .status == "ok") | .metrics] |
	length == 1 and .[0]["server.semisync_no_tx"] == 0 and .[0]["server.semisync_tx"] > 0' cut/journal.jsonl
holds "cut off: nothing is left" test -z "$(leftovers cut)$(ls store)$(ls parts)"

# a replica that dies is told with its log, and the servers are made anew
run dies semi.stb 5s
replica=$(replica_of dies)
[ -n "$replica" ] && kill -KILL "$replica"
wait $pid
holds "replica dies: exit 5" test $? = 5
says "replica dies: which one, and how" 'replica 1 of database .server.: the server was killed by signal 9' err
says "replica dies: with the end of its log" 'log (is kept in|says|holds)' err
says "replica dies: the repetition does not count" ',1,1,tps,1/s,.*,invalid:disturbed$' dies/results.csv
says "replica dies: the next one is ok" ',1,2,tps,1/s,.*,ok$' dies/results.csv
holds "replica dies: nothing is left" test -z "$(leftovers dies)$(ls store)$(ls parts)"

# a replica that is gone before a repetition: the group is made anew rather than measured without it
first_result() { grep -q '"ev":"result"' "$1/journal.jsonl"; }
sed 's/  replicas = 2/  replicas = 1/; s/  repeat   = 2/  repeat   = 2\n  cooldown = 4s/' async.stb >pause.stb
run before pause.stb 2s
wait_for 60 first_result before
replica=$(replica_of before)
[ -n "$replica" ] && kill -KILL "$replica"
wait $pid
holds "replica gone before: exit 0" test $? = 0
says "replica gone before: it is said" 'replica 1 of database .server.: the server was killed by signal 9' err
holds "replica gone before: both repetitions count" test "$(grep -c ',tps,.*,ok$' before/results.csv)" = 2
holds "replica gone before: on servers made anew" test "$(grep -c '"ev":"begin","op":"load data set"' before/journal.jsonl)" = 2
holds "replica gone before: nothing is left" test -z "$(leftovers before)$(ls store)$(ls parts)"

# one that stands still before a repetition is not waited for for ever, nor measured with
run still pause.stb 2s
wait_for 60 first_result still
replica=$(replica_of still)
[ -n "$replica" ] && kill -STOP "$replica" && at_end "kill -CONT $replica 2>/dev/null; kill -KILL $replica 2>/dev/null"
wait $pid
says "replica stopped before: it is said" 'replica 1 of database .server.: the server gave no answer for 30 s' err
holds "replica stopped before: both repetitions count, the second on servers made anew" test "$(grep -c ',tps,.*,ok$' still/results.csv)/$(grep -c '"ev":"begin","op":"load data set"' still/journal.jsonl)" = 2/2
holds "replica stopped before: nothing is left" test -z "$(leftovers still)$(ls store)$(ls parts)"

# ports that somebody takes between the moment they were found free and the server's own try
if [ -n "$mysqld" ]; then
	mkdir -p fake/bin
	ln -s "$(dirname "$(dirname "$(readlink -f "$mysqld")")")/share" fake/share
	mkdir -m 777 fake/state && : >fake/state/taken && chmod 666 fake/state/taken
	cat >fake/hold.py <<-'PY'
		import os, socket, sys, time
		s = socket.socket()
		s.bind(("127.0.0.1", int(sys.argv[1])))
		s.listen(1)
		open(sys.argv[2], "w").write(str(os.getpid()))
		time.sleep(60)
	PY
	cat >"fake/bin/$(basename "$mysqld")" <<-SH
		#!/bin/bash
		port=
		for a; do case \$a in --port=*) port=\${a#--port=} ;; esac; done
		if [ -n "\$port" ] && [ "\$(wc -l <"$work/fake/state/taken")" -lt 2 ]; then
			echo "\$port" >>"$work/fake/state/taken"
			python3 "$work/fake/hold.py" "\$port" "$work/fake/state/held.\$port" >/dev/null 2>&1 </dev/null &
			until [ -s "$work/fake/state/held.\$port" ]; do :; done
		fi
		exec "$mysqld" "\$@"
	SH
	chmod 755 fake/bin/*
	at_end 'for p in "$work"/fake/state/held.*; do kill -KILL "$(cat "$p")" 2>/dev/null; done'
	sed 's/  replicas = 2/  replicas = 1/' async.stb >ports.stb
	PATH="$work/fake/bin:$PATH" expect "taken ports: the run" 0 "$STB" run ports.stb -o ports
	holds "taken ports: two were lost" test "$(wc -l <fake/state/taken)" = 2
	holds "taken ports: the servers were made once" test "$(grep -c '"ev":"begin","op":"provision"' ports/journal.jsonl)" = 1
	holds "taken ports: both repetitions are ok" test "$(grep -c ',tps,.*,ok$' ports/results.csv)" = 2
	holds "taken ports: no log is kept of what was mended" test -z "$(ls ports/*.log 2>/dev/null)"
	holds "taken ports: nothing is left" test -z "$(leftovers ports)$(ls store)$(ls parts)"
else
	skip "taken ports: the run" "needs mariadbd or mysqld"
fi

# SIGKILL takes all of them down
run killed semi.stb 60s
pids=$(servers_of killed)
holds "SIGKILL: there are two servers" test "$(echo "$pids" | wc -l)" = 2
kill -KILL $pid
wait $pid 2>/dev/null
none_left() { for p in $pids; do kill -0 "$p" 2>/dev/null && return 1; done; true; }
holds "SIGKILL: every server ends with it" wait_for 30 none_left
expect "SIGKILL: clean" 0 "$STB" clean killed
holds "SIGKILL: nothing is left" test -z "$(leftovers killed)$(ls store)$(ls parts)"

exit $failed
