#!/usr/bin/env bash
# run_fresh.sh - fresh data for every cell from copies of the loaded files: what the plan says, what is carried out, replicas, a run killed in the
# middle of a copy, a place without room for one.
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
  options {
    innodb_buffer_pool_size        = 16MiB
    $small_redo
    innodb_flush_log_at_trx_commit = 2
  }
}
workload oltp writes {
  database   = server
  script     = write_only
  table_size = 5_000
  threads    = 2
  time       = length
}
matrix m {
  storage  = [here]
  database = [server]
  workload = [writes]
  axis threads { set = workload.writes.threads  values = [1, 2] }
  repeat   = 2
  fresh    = repetition
}
report r {
  from    = m
  rows    = threads
  metrics = [tps]
}
SPEC

ops() { jq -r 'select(.ev == "begin") | .op' "$1/journal.jsonl" | tr '\n' ',' ; }

expect "the plan" 0 "$STB" plan db.stb
says "it restores before each measurement" '^ +[0-9]+ +restore data +group 1' out
says "and sets aside once" 'set data aside' out
says "it says how often, and what that takes" 'restored 4x from a copy of the loaded files, about .* each; writes .* each, needs .* more of space' out
says "it says what is cached" "gives each repetition a copy of the server's files" out
says "the cost counts them" '1 provisionings and 4 restorings included' out
sed 's/fresh    = repetition/fresh = group/' db.stb >group.stb
expect "a group's data is loaded once and not copied" 0 "$STB" plan group.stb
lacks "so it is" 'restore' out
sed -e 's/fresh    = repetition/fresh = cell/' -e 's/values = \[1, 2\]/values = [2]/' db.stb >single.stb
expect "a single cell has nothing to share" 0 "$STB" plan single.stb
lacks "so nothing is copied" 'restore' out
sed 's/^volume v .*/volume v { storage = here  size = 80MiB }/; s/^storage directory here/storage loop here/; s/^storage loop here {/storage loop here { size = 100MiB /' db.stb >small.stb
expect "a volume without room for two" 0 "$STB" plan small.stb
lacks "is loaded anew" 'restore data' out

expect "the run" 0 "$STB" run db.stb -o run
holds "it was loaded once" test "$(ops run | tr ',' '\n' | grep -c '^load data set$')" = 1
holds "and restored before each measurement" test "$(ops run)" = "provision,start database,load data set,set data aside,$(for i in 1 2 3 4; do printf 'restore data,start database,measure,stop database,'; done)remove,"
holds "every repetition is ok" test "$(grep -c ',tps,.*,ok$' run/results.csv)" = 4
holds "each began with the same rows: what it deletes it finds" jq -es '[.[] | select(.ev == "result") | .metrics | .["server.rows_deleted"] / .events] | all(. > 0.99)' run/journal.jsonl
holds "nothing is left" test -z "$(leftovers run)$(ls store)$(ls parts)"

# replicas: each on a copy of its own files, following from where it stood
sed -e 's/  redo_volume = part/  binlog_volume = part\n  topology = semisync_replica/' db.stb >replicas.stb
expect "replicas: the run" 0 "$STB" run replicas.stb -o replicas
holds "replicas: they were loaded once" test "$(ops replicas | tr ',' '\n' | grep -c '^load data set$')" = 1
holds "replicas: every repetition is ok" test "$(grep -c ',tps,.*,ok$' replicas/results.csv)" = 4
holds "replicas: each commit was acknowledged" jq -es '[.[] | select(.ev == "result") | .metrics] | all(.["server.semisync_no_tx"] == 0 and .["server.semisync_tx"] > 0)' replicas/journal.jsonl
holds "replicas: nothing is left" test -z "$(leftovers replicas)$(ls store)$(ls parts)"

# killed in the middle of a copy: nothing of it is taken for whole, and the rest is done on data that were loaded anew
copying() { [ "$(grep -c '"ev":"begin","op":"restore data"' killed/journal.jsonl 2>/dev/null)" = 2 ]; }
"$STB" run db.stb -o killed --set length=500ms >out 2>err &
pid=$!
at_end "kill -KILL $pid 2>/dev/null"
until copying || ! kill -0 $pid 2>/dev/null; do :; done
kill -KILL $pid
wait $pid 2>/dev/null
holds "killed: one repetition was done" test "$(grep -c '"ev":"result"' killed/journal.jsonl)" = 1
expect "killed: resume" 0 "$STB" resume killed
holds "killed: what stood there was removed" test "$(jq -r 'select(.ev == "begin") | .op' killed/journal.jsonl | grep -c '^load data set$')" = 2
holds "killed: every repetition is there once" test "$(grep ',tps,' killed/results.csv | grep -c ',ok$')" = 4
holds "killed: the three that lacked got fresh data" test "$(jq -r 'select(.ev == "begin") | .op' killed/journal.jsonl | grep -c '^restore data$')" = 5
holds "killed: nothing is left" test -z "$(leftovers killed)$(ls store)$(ls parts)"

# rows that one workload takes are another's: said with what restores them, and where that is to be written
sed -e 's/^workload oltp writes/workload oltp takes { database = server  script = delete  rand_type = uniform  table_size = 5_000  threads = 2  events = 5_000 }\n&/' \
	-e 's/\[writes\]/[takes, writes]/; s/= write_only/&  rand_type = uniform/; s/axis threads .*//; s/rows    = threads/rows    = workload/; s/repeat   = 2//; s/= repetition/= once/; s/= 5_000  t/= 500  t/; s/= 5_000$/= 500/' db.stb >taken.stb
expect "taken: the run" 5 "$STB" run taken.stb -o taken
says "taken: what is there" 'cannot use the data set: .sbtest1. has ids .*, the workload says 1\.\.500'
says "taken: what restores it" 'what to do: set fresh = repetition in matrix .m.: with fresh = once '
says "taken: where" "asked for at taken\.stb:$(grep -n '^matrix m' taken.stb | cut -d: -f1):1"
sed 's/= once/= repetition/' taken.stb >restored.stb
expect "taken: that helps" 0 "$STB" run restored.stb -o restored

# a server that dies: all is made anew, its copy too
sed 's/axis threads .*//; s/rows    = threads/rows    = workload/; s/repeat   = 2/repeat   = 3/' db.stb >dies.stb
"$STB" run dies.stb -o dies --set length=3s >out 2>err &
pid=$!
at_end "kill -TERM $pid 2>/dev/null"
wait_for 60 begun dies
sleep 0.5
mark=$(sed -n 's/.*"mark":"\([0-9a-f]*\)".*/\1/p' dies/journal.jsonl | head -n 1)
for p in $(grep -lF "$mark" /proc/[0-9]*/cmdline 2>/dev/null | sed 's|/proc/||; s|/.*||'); do
	case $(readlink "/proc/$p/exe") in */mariadbd | */mysqld) kill -KILL "$p" ;; esac
done
wait $pid
holds "dies: exit 5" test $? = 5
holds "dies: the others are ok" test "$(grep -c ',tps,.*,ok$' dies/results.csv)" = 2
holds "dies: loaded twice, restored after that" test "$(ops dies | tr ',' '\n' | grep -c '^load data set$')/$(ops dies | tr ',' '\n' | grep -c '^restore data$')" = 2/3
holds "dies: nothing is left" test -z "$(leftovers dies)$(ls store)$(ls parts)"

# no room for a copy: it is said, and every measurement has data that were loaded anew
mkdir tight
if [ $family = MariaDB ] && [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=72m,mode=0755 stb-test-tight tight 2>/dev/null; then
	at_end "umount '$work/tight' 2>/dev/null"
	sed -e "s|path = \"$work/store\"|path = \"$work/tight\"|" -e 's/  redo_volume = part//' -e 's/  time       = length/  events     = 500/' \
		db.stb >tight.stb # few events: undo logs of a fast machine would fill what is free
	expect "no room: the run" 0 "$STB" run tight.stb -o tight-run
	says "no room: it is said once" 'there is no room for a copy of the loaded data beside it: .* so it is loaded anew'
	holds "no room: once" test "$(grep -c 'no room for a copy' err)" = 1
	holds "no room: loaded for each" test "$(ops tight-run | tr ',' '\n' | grep -c '^load data set$')" = 4
	holds "no room: and restarted after each load, as with copies" test "$(ops tight-run | tr ',' '\n' | grep -c '^start database$')" = 8
	holds "no room: every repetition is ok" test "$(grep -c ',tps,.*,ok$' tight-run/results.csv)" = 4
elif [ $family = MariaDB ]; then
	skip "no room: the run" "needs root, to mount a tmpfs"
else
	skip "no room: the run" "needs MariaDB, whose files have the size that is asked for here"
fi

exit $failed
