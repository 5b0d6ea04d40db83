#!/usr/bin/env bash
# targets.sh - every command that writes, at places that take nothing: not allowed, not there, no directory, full. Each says what it could not do
# with what, why, and what to do; nothing is left at the place, and a run that could not go on there goes on when it can.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1
chmod 777 .
mkdir store locked adir
chmod 777 store
echo x >afile
cat >s.stb <<SPEC
stb 1
storage directory here { path = "$work/store" }
volume v {}
workload io w {
  volume = v
  size   = 1MiB
  rw     = write
}
matrix m {
  storage  = [here]
  workload = [w]
}
report r {
  from    = m
  rows    = workload
  metrics = [iops]
}
SPEC
printf '[a]\ndirectory=/srv\nsize=1m\n' >j.fio
user() { "$@"; }
[ "$(id -u)" != 0 ] || user() { as_nobody "$@"; }

# told NAME OBJECT REASON: one error, of the object, with the reason at its end and what to do
told() {
	says "$1: of what, and why" "^stb: error: .*\`[^\`]*$2[^\`]*\`.*$3\$"
	says "$1: what to do" '^  what to do: [a-z`]'
	holds "$1: once" test "$(grep -c '^stb: error' err)" = 1
}
# half DIR: a run without its result, as after a kill
half() {
	cp -r good "$1"
	sed -i '/"ev":"result"/,$d' "$1/journal.jsonl"
}
expect "a run" 0 user "$STB" run s.stb -o good
chmod -R a+rwX good

writers=("run s.stb -o" "report s.stb --results good -o" "import fio j.fio -o" "export fio s.stb -o" "plan s.stb -o" "topology --save")
# refuse PLACE REASON: all of the writers at PLACE
refuse() {
	local words
	for words in "${writers[@]}"; do
		# shellcheck disable=SC2086
		expect "$words $1: exit 3" 3 user "$STB" $words "$1"
		told "$words $1" "${1%%/*}" "$2"
		holds "$words $1: nothing is left" test ! -e "$1" -a -z "$(find . -name '*.tmp-*')"
	done
}
chmod 755 locked
refuse locked/new 'Permission denied'
refuse missing/new 'No such file or directory'
refuse afile/new 'Not a directory'
for words in "${writers[@]:2}"; do
	# shellcheck disable=SC2086
	expect "$words of a directory" 3 user "$STB" $words adir
	told "$words of a directory" adir 'Is a directory'
done
expect "reports into a file" 3 user "$STB" report s.stb --results good -o afile
told "reports into a file" afile 'Not a directory'
expect "reports into a directory that may not be written" 3 user "$STB" report s.stb --results good -o locked
told "reports into a directory that may not be written" locked 'Permission denied'
sed 's/^  //' s.stb >locked/f.stb
expect "a spec that may not be written" 3 user "$STB" fmt -w locked/f.stb
told "a spec that may not be written" 'locked/f.stb' 'Permission denied'

# what reads a run's directory
for place in 'missing No such file or directory' 'afile Not a directory' 'adir No such file or directory'; do
	dir=${place%% *}
	for words in resume clean "compare good" "report s.stb --results"; do
		[ "$words $dir" != "report s.stb --results afile" ] || continue # a file may be one of figures
		# shellcheck disable=SC2086
		expect "$words $dir: exit 3" 3 user "$STB" $words $dir
		told "$words $dir" $dir "${place#* }"
	done
done
half locked/run
for words in resume clean; do
	expect "$words where the journal may not be written" 3 user "$STB" $words locked/run
	told "$words where the journal may not be written" 'locked/run/journal.jsonl' 'Permission denied'
done
half part
chmod -R a+rwX part
for dir in part part/histograms; do
	chmod 755 $dir
	cp part/journal.jsonl before
	expect "resume where $dir may not be written" 3 user "$STB" resume part
	told "resume where $dir may not be written" $dir 'Permission denied'
	holds "resume where $dir may not be written: the run is as it was" cmp -s before part/journal.jsonl
	chmod 777 $dir
done
expect "and goes on where it may" 0 user "$STB" resume part
chmod 000 good/series.csv
half unread
chmod -R a+rwX unread
chmod 000 unread/series.csv
expect "resume where the series may not be read" 3 user "$STB" resume unread
told "resume where the series may not be read" 'unread/series.csv' 'Permission denied'
chmod 644 good/series.csv

if [ "$(id -u)" != 0 ]; then
	skip "a full file system" "needs root"
	exit $failed
fi
mkdir full
mount -t tmpfs -o size=4m,mode=777 stb-test-full full || { bad "a full file system" "no tmpfs"; exit 1; }
at_end "umount '$work/full' 2>/dev/null || umount -l '$work/full'"
half full/part
half full/left
mkdir full/reports
mark=$(sed -n 's/.*"mark":"\([0-9a-f]*\)".*/\1/p' good/journal.jsonl | head -n 1)
printf '{"ev":"made","kind":"dir","object":"%s"}\n' "$work/store/stb-$mark-7" >>full/left/journal.jsonl
for j in full/part/journal.jsonl full/left/journal.jsonl; do # to the end of a page, so that not a byte more has room
	printf '{"ev":"pad","pad":"%*s"}\n' $((4096 - ($(stat -c %s $j) + 23) % 4096)) '' >>$j
done
sed 's/^  //' s.stb >full/f.stb
cp full/f.stb before.stb
chmod -R a+rwX full
dd if=/dev/zero of=full/fill bs=4k 2>/dev/null
refuse full/new 'No space left on device'
expect "reports into a full directory" 3 user "$STB" report s.stb --results good -o full/reports
told "reports into a full directory" full/reports 'No space left on device'
holds "reports into a full directory: none is there, not half of one either" test -z "$(ls full/reports)"
expect "a spec on a full file system" 3 user "$STB" fmt -w full/f.stb
told "a spec on a full file system" 'full/f.stb' 'No space left on device'
holds "a spec on a full file system: it is as it was" cmp -s before.stb full/f.stb
cp full/part/journal.jsonl before
expect "resume on a full file system" 3 user "$STB" resume full/part
told "resume on a full file system" full/part 'No space left on device'
expect "clean on a full file system: exit 6, it will be asked for again" 6 user "$STB" clean full/left
told "clean on a full file system" 'full/left/journal.jsonl' 'No space left on device'
rm full/fill
expect "with space again it goes on" 0 user "$STB" resume full/part
holds "and has its figures" grep -q ',iops,' full/part/results.csv
expect "with space again it is cleaned" 0 user "$STB" clean full/left
for words in "report s.stb --results good" "compare good good" "import fio j.fio" "export fio s.stb" "plan s.stb" "plan s.stb --format json" "fmt s.stb" \
	"doctor s.stb" "topology" "explain workload" "version" "help" "check s.stb --format json"; do
	# shellcheck disable=SC2086
	"$STB" $words >/dev/full 2>err
	got=$?
	holds "$words, output that takes nothing: exit 3" test $got = 3
	says "$words, output that takes nothing" '^stb: error: cannot write to standard output: No space left on device'
done
exit $failed
