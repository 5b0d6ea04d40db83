#!/usr/bin/env bash
# cli.sh - the command line from outside: usage errors, exit codes, output that cannot be written, things that are no spec.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1

cat >good.stb <<'SPEC'
stb 1
storage directory here { path = "/var/tmp" }
volume v {}
workload io w {
  volume  = v
  size    = 1MiB
  rw      = randwrite
  runtime = 1s
}
matrix m {
  storage  = [here]
  workload = [w]
}
SPEC
sed 's/ runtime/ runtiem/' good.stb >bad.stb

# usage
expect "no command is a usage error" 2 "$STB"
expect "help is no error" 0 "$STB" help
says "help lists run" '^  run FILE' out
expect "an unknown command is a usage error" 2 "$STB" rnu
says "it suggests the near one" 'did you mean `stb run`'
expect "a misplaced option is a usage error" 2 "$STB" check good.stb --only a=b
says "it is named" 'stb check. has no option `--only`'
expect "a missing operand is a usage error" 2 "$STB" plan
expect "version" 0 "$STB" version
for e in psync libaio io_uring null; do says "version tells of $e" "^  $e " out; done
says "version tells the client library" 'database client: .+' out
for c in check plan run report clean explain topology version help; do
	expect "$c --help" 0 "$STB" $c --help
done
expect "explain an attribute" 0 "$STB" explain io.bs
expect "explain an option as an option" 2 "$STB" explain --only
says "it says how" "stb explain only"
expect "explain an option" 0 "$STB" explain set
says "who has it" "stb plan" out
expect "explain nonsense" 2 "$STB" explain no_such_thing_anywhere

# exit codes of check and plan
expect "a good spec" 0 "$STB" check good.stb
expect "a bad spec" 1 "$STB" check bad.stb
says "names file and place" 'bad.stb:8:'
expect "check of several files reports the bad one" 1 "$STB" check good.stb bad.stb
expect "plan of a bad spec" 1 "$STB" plan bad.stb
expect "run of a bad spec" 1 "$STB" run bad.stb
expect "plan" 0 "$STB" plan good.stb
expect "an unknown profile" 1 "$STB" plan good.stb --profile nobody
expect "an unknown param" 1 "$STB" plan good.stb --set nobody=1
"$STB" check --format json bad.stb >json 2>/dev/null
holds "JSON diagnostics are JSON" jq -e '.[0].code and .[0].line' json
expect "plan as JSON" 0 "$STB" plan good.stb --format json
holds "plan JSON has cells" jq -e '.cells | length == 1' out
"$STB" plan good.stb --format json -o p1.json && "$STB" plan good.stb --format json -o p2.json
holds "plans are byte-identical" cmp -s p1.json p2.json
id=$(jq -r '.cells[0].id' p1.json)
expect "plan of a part by two digits of an id" 0 "$STB" plan good.stb --only "${id:0:2}"
says "it says what the whole is" '\(--only\)' out
expect "plan of a part that is nothing" 2 "$STB" plan good.stb --only 'storage = nobody'
expect "JSON is the whole plan" 2 "$STB" plan good.stb --only "$id" --format json
printf 'stb 1\nstorage directory d { path = "/var/tmp" }\n' >nothing.stb
expect "run of a spec without a matrix" 1 "$STB" run nothing.stb
says "it says what is missing" 'no matrix is declared'
expect "plan into a directory that is not there" 3 "$STB" plan good.stb -o no/such/p.json
expect "plan onto a device writes there and leaves it" 0 "$STB" plan good.stb -o /dev/null
holds "/dev/null is still a device" test -c /dev/null
holds "no temporary files stay" test -z "$(find . -name '*.tmp-*')"

# output that cannot be written
"$STB" plan good.stb >/dev/full 2>err
holds "standard output full is exit 3" test $? = 3
says "and is said" 'cannot write to standard output' err
"$STB" plan good.stb >&- 2>err
holds "standard output closed is exit 3" test $? = 3
for words in 'plan good.stb' 'plan good.stb --format json' 'explain schema' 'check good.stb' 'help' 'version'; do
	{ sleep 0.2; "$STB" $words 2>err; echo $? >code; } | true
	holds "a reader that went away is no fault: $words" test "$(cat code)" = "$("$STB" $words >/dev/null 2>&1; echo $?)"
	lacks "nor worth a word: $words" 'standard output' err
done

# what is no spec
expect "a missing file" 1 "$STB" check nowhere.stb
mkfifo fifo
expect "a FIFO does not block" 1 timeout 10 "$STB" check fifo
expect "/dev/zero does not fill memory" 1 timeout 10 "$STB" check /dev/zero
expect "a directory" 1 "$STB" check .
printf 'stb 1\n\0\0\0' >nul.stb
expect "NUL bytes" 1 "$STB" check nul.stb
head -c 10000000 /dev/zero | tr '\0' '{' >braces.stb
expect "10 MB of braces" 1 timeout 60 "$STB" check braces.stb
: >empty.stb
expect "an empty file" 1 "$STB" check empty.stb
if [ "$(id -u)" = 0 ] && id nobody >/dev/null 2>&1 && command -v setpriv >/dev/null; then
	chmod 755 "$work"
	cp good.stb secret.stb && chmod 000 secret.stb
	expect "an unreadable file" 1 as_nobody "$STB" check secret.stb
fi

# --only
expect "--only with an unknown axis" 2 "$STB" run good.stb --only sotrage=here
says "it suggests the axis" 'did you mean `storage`'
expect "--only with an unknown value" 2 "$STB" run good.stb --only storage=there
expect "--only with nonsense" 2 "$STB" run good.stb --only 'storage = ['
expect "--only with an id that is none" 2 "$STB" run good.stb --only 0000

# the run directory
mkdir there
expect "a run directory that exists" 3 "$STB" run good.stb -o there
says "it is named, with what to do" 'there. exists already'
holds "and left alone" test -z "$(ls there)"
expect "a run directory without a parent" 3 "$STB" run good.stb -o no/such/dir
expect "clean of what is no run" 3 "$STB" clean there
expect "report without results" 2 "$STB" report good.stb
expect "report from a missing file" 3 "$STB" report good.stb --results nowhere.csv

# refusals before anything is touched
sed 's/repeat.*//; s/^matrix m {/&\n  schedule { days = 2  at = [03:00] }/' good.stb >schedule.stb
expect "a schedule is refused" 3 "$STB" run schedule.stb -o sched
says "with what to do" 'schedule = none'
holds "nothing was made" test ! -e sched
cat >external.stb <<'SPEC'
stb 1
storage external cloud {}
volume v {}
workload io w {
  volume  = v
  size    = 1MiB
  rw      = randwrite
  runtime = 1s
}
matrix m {
  storage  = [cloud]
  workload = [w]
}
SPEC
expect "io on external storage is planned" 0 "$STB" plan external.stb
expect "and not run" 3 "$STB" run external.stb -o ext
says "at its place in the spec" 'asked for at external.stb:[0-9]+'
holds "nothing was made for it" test ! -e ext
sed 's/size    = 1MiB/size    = 900TiB/' good.stb >huge.stb
expect "more space than there is" 3 "$STB" run huge.stb -o huge
says "need and have are named" 'need|have'
sed 's|"/var/tmp"|"/var/tmp/stb-no-such-directory"|' good.stb >nodir.stb
expect "a storage directory that is not there" 3 "$STB" run nodir.stb -o nodir
holds "leaves nothing" test ! -e nodir

# topologies
expect "the topology of this machine" 0 "$STB" topology
says "it has a table" '^node +memory +pCPUs' out
if command -v taskset >/dev/null && [ "$(nproc)" -gt 1 ]; then
	one=$(taskset -cp $$ | sed 's/.*[ ,-]//')
	expect "the topology of a bound process" 0 taskset -c "$one" "$STB" topology
	says "tells what it may use" "may run on 1 of the [0-9]+ pCPUs: $one\$" out
fi
expect "a topology is saved" 0 "$STB" topology --save t.json
holds "without output" test ! -s out
holds "as JSON" jq -e '.stb_topology == 1 and (.nodes | length > 0)' t.json
expect "and shown again" 0 "$STB" topology --topology t.json
expect "and saved again" 0 "$STB" topology --topology t.json --save t2.json
holds "the same" cmp -s t.json t2.json
sed 's/"cpus": "/&x/' t.json >wrong.json
expect "a wrong topology" 3 "$STB" topology --topology wrong.json
says "is refused at its place" 'wrong.json.: nodes\[0\]: `cpus`, column 1: '
expect "a topology that is not there" 3 "$STB" topology --topology nowhere.json
expect "a FIFO is no topology" 3 timeout 10 "$STB" topology --topology fifo
expect "a place that cannot be written" 3 "$STB" topology --save no/such/t.json

# another tool's command line without `--`, whatever stands where
for line in 'oltp_read_write --tables=8 run' '--tables=8 oltp_read_write run' '--threads 4 oltp_insert run'; do
	expect "import without --: $line" 2 "$STB" import sysbench $line
	says "is told that it is missing: $line" 'what to do: write `--` in front of another tool.s command line'
done

exit $failed
