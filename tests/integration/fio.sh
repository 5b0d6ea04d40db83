#!/usr/bin/env bash
# fio.sh - beside fio itself: job files that are imported and exported do the same I/O, a round trip changes nothing, every option that fio
# has is known, fio's own latencies give fio's percentiles; and files that are no job files.
. "$(dirname "$0")/../support/integration.bash"
here=$(cd "$(dirname "$0")" && pwd)/fio
mkdir "$work/files" && cd "$work/files" || exit 1

command -v fio >/dev/null || { skip fio "fio is not installed"; exit 0; }

# fio_json OUT FILE: fio's report; fio writes nothing beside its files
fio_json() { fio --output-format=json --output="$1" --aux-path="$work" "$2" >/dev/null 2>"$work/fio.err"; }

# effective SPEC WORKLOAD: its attributes as they hold, without where it lies
effective() { "$STB" plan --format json "$1" 2>/dev/null | jq -S --arg w "$2" '.blocks[] | select(.kind == "workload" and .name == $w) | .attrs | del(.volume)'; }

round_trip() { # NAME WORKLOAD
	local name=$1 w=$2
	"$STB" export fio "$work/$name.stb" --cell "workload = $w" -o "$work/$w.out.fio" 2>"$work/err" || {
		bad "$w: export" "$(head -n 3 "$work/err" | tr '\n' ' ')"
		return
	}
	"$STB" import fio "$work/$w.out.fio" -o "$work/$w.again.stb" 2>"$work/err" || {
		bad "$w: import of the export" "$(head -n 3 "$work/err" | tr '\n' ' ')"
		return
	}
	effective "$work/$name.stb" "$w" >"$work/a"
	effective "$work/$w.again.stb" "$w" >"$work/b"
	if [ -s "$work/a" ] && cmp -s "$work/a" "$work/b"; then ok "$w: a round trip changes nothing"; else
		bad "$w: a round trip changes nothing" "$(diff "$work/a" "$work/b" | head -n 6 | tr '\n' ' ')"
	fi
}

agreement() { # NAME
	local name=$1 w rc cells
	expect "$name: import" 0 "$STB" import fio "$here/$name.fio" -o "$work/$name.stb"
	[ -s "$work/$name.stb" ] || return
	expect "$name: the spec is right" 0 "$STB" check "$work/$name.stb"
	expect "$name: and in form" 0 "$STB" fmt --check "$work/$name.stb"
	fio_json "$work/$name.json" "$here/$name.fio" || { bad "$name: fio" "$(head -n 3 "$work/fio.err")"; return; }
	rm -rf ./*
	"$STB" run "$work/$name.stb" -o "$work/$name.run" >"$work/out" 2>"$work/err"
	rc=$?
	if [ $rc != 0 ]; then
		bad "$name: run" "$(head -n 5 "$work/err")"
	elif python3 "$here/agree.py" "$work/$name.json" "$work/$name.run" >"$work/out"; then
		ok "$name: the same I/Os and bytes"
	else
		bad "$name: the same I/Os and bytes" "$(cat "$work/out")"
	fi
	mapfile -t cells < <("$STB" plan --format json "$work/$name.stb" | jq -r '.blocks[.cells[].workload].name')
	for w in "${cells[@]}"; do
		round_trip "$name" "$w"
		[ -s "$work/$w.out.fio" ] || continue
		fio_json "$work/$w.out.json" "$work/$w.out.fio" || { bad "$w: fio takes the export" "$(head -n 3 "$work/fio.err")"; continue; }
		[ ${#cells[@]} = 1 ] || continue
		if python3 "$here/agree.py" "$work/$name.json" "$work/$w.out.json" >"$work/out"; then ok "$w: the export does the same"; else
			bad "$w: the export does the same" "$(cat "$work/out")"
		fi
	done
	holds "$name: the export leaves no files" test -z "$(ls)"
}

# can FILE: whether this machine has what a job file needs; else it is skipped
direct=yes ring=yes
dd if=/dev/zero of=probe bs=4k count=1 oflag=direct 2>/dev/null || direct=
fio --name=probe --filename=probe --ioengine=io_uring --rw=write --size=4k >/dev/null 2>&1 || ring=
rm -f probe
can() {
	grep -q '^direct=1' "$1" && [ -z "$direct" ] && { skip "$(basename "$1" .fio)" "no direct I/O on this file system"; return 1; }
	grep -q '^ioengine=io_uring' "$1" && [ -z "$ring" ] && { skip "$(basename "$1" .fio)" "io_uring is not allowed here"; return 1; }
	return 0
}

n=0
for f in "$here"/*.fio; do
	n=$((n + 1))
	can "$f" && agreement "$(basename "$f" .fio)"
done
holds "at least twenty job files" test $n -ge 20

# fio's own list of options
{
	fio --cmdhelp=all
	for e in $(fio --enghelp | tail -n +2); do fio --enghelp="$e"; done
} 2>/dev/null | sed -nE 's/^ *([a-z][a-z_0-9-]*) *: .*/\1/p' | sort -u >"$work/options"
{
	echo '[job]'
	sed 's/$/=1/' "$work/options"
} >"$work/options.fio"
holds "fio lists its options" test "$(wc -l <"$work/options")" -gt 200
expect "all of them in one job" 1 "$STB" import fio "$work/options.fio"
lacks "none is unknown" 'E0802'
# each alone: the spec is another one, or the option is told of
printf '[job]\ndirectory=/srv\nsize=1m\n' >"$work/bare.fio"
"$STB" import fio "$work/bare.fio" 2>/dev/null | tail -n +4 >"$work/bare.stb"
silent=
while read -r option; do
	told=
	for value in 1 7; do # 1 may be what holds anyway
		{ cat "$work/bare.fio"; echo "$option=$value"; } >"$work/one.fio"
		"$STB" import fio "$work/one.fio" >"$work/one.out" 2>"$work/one.err"
		[ $? -le 1 ] || silent="$silent $option(exit)"
		{ [ -s "$work/one.err" ] || ! tail -n +4 "$work/one.out" | cmp -s - "$work/bare.stb"; } && told=yes && break
	done
	[ -n "$told" ] || silent="$silent $option"
done < <(grep -vx stonewall "$work/options") # which a single job need not be told of
holds "each is translated or told:$silent" test -z "$silent"
# and as words of a command line
expect "jobs as words" 0 "$STB" import fio -- fio --name=words --directory=/srv --rw=randread --bs=8k --size 1m -iodepth 1
says "are a workload" '^workload io words' "$work/out"
expect "jobs as one text" 0 "$STB" import fio -- 'fio --name=words --directory=/srv --size=1m'
expect "a job file as a word of a command" 0 "$STB" import fio -- fio --output-format=json "$work/bare.fio"
says "what belongs to fio is told" 'output-format=json. is left out'

# how many I/Os a call hands over, and how many completions it takes, by fio's own count of its export
can "$here/batches.fio" && {
	"$STB" import fio "$here/batches.fio" -o "$work/batches.stb" 2>/dev/null
	holds "batches are a turn of as many" grep -q 'iodepth_batch *= 8' "$work/batches.stb"
	"$STB" export fio "$work/batches.stb" -o "$work/batches.fio" 2>/dev/null
	fio_json "$work/batches.json" "$work/batches.fio"
	for way in iodepth_submit iodepth_complete; do
		few=$(sed -n '/^{/,$p' "$work/batches.json" | jq "[.jobs[].$way[\"1\",\"4\"] // 0] | add < 50")
		holds "most calls of the export are of more than four: $way" test "$few" = true
	done
}

# what fio does not do, or does otherwise: the export says so, and fio shows it
others() { # NAME WORKLOAD
	cat >"$work/$1.stb" <<SPEC
stb 1
storage directory s { path = "$work" }
volume v { storage = s }
workload io w { volume = v  size = 1MiB  $2 }
matrix m { workload = w }
SPEC
}
others holes 'rw = trim  bs = 64KiB'
expect "a file is not trimmed by fio: told" 1 "$STB" export fio "$work/holes.stb" -o "$work/holes.fio"
says "a file is not trimmed by fio: in the file" '^# NOT TRANSLATED, changes what is measured: workload w: rw = trim' "$work/holes.fio"
holds "a file is not trimmed by fio: it is not" test "$(fio_json "$work/holes.json" "$work/holes.fio" >/dev/null 2>&1 && sed -n '/^{/,$p' "$work/holes.json" | jq '.jobs[0].error')" != 0
others ramp 'rw = read  ramp_time = 1s'
expect "ramp_time takes of fio's size: told" 1 "$STB" export fio "$work/ramp.stb" -o "$work/ramp.fio"
says "ramp_time takes of fio's size: in the file" '^# NOT TRANSLATED, changes what is measured: workload w: ramp_time' "$work/ramp.fio"
printf '[ramp]\nfilename=%s\nrw=read\nsize=1m\nrate_iops=128\nramp_time=1s\n' "$work/ramp.data" >"$work/ramp.in.fio"
fio_json "$work/ramp.json" "$work/ramp.in.fio" || bad "ramp_time takes of fio's size: fio" "$(head -n 3 "$work/fio.err")"
holds "ramp_time takes of fio's size: it does" test "$(sed -n '/^{/,$p' "$work/ramp.json" | jq 'if .jobs[0].error == 0 then .jobs[0].read.total_ios else 256 end')" -lt 250
expect "ramp_time takes of fio's size: so its import warns" 0 "$STB" import fio "$work/ramp.in.fio"
says "ramp_time takes of fio's size: of that" 'counts towards size'
others ramped 'rw = read  ramp_time = 1s  runtime = 1s  time_based = true'
expect "ramp_time by time is the same" 0 "$STB" export fio "$work/ramped.stb"

# a raw device: a loop device of this test's own
if [ "$(id -u)" != 0 ]; then
	skip "raw loop device" "needs root"
elif [ ! -e /dev/loop-control ]; then
	skip "raw loop device" "needs loop devices"
else
	truncate -s 16M "$work/image"
	loop=$(losetup --find --show "$work/image")
	at_end "losetup -d $loop 2>/dev/null"
	for rw in randwrite trim randread; do
		cat >"$work/raw.fio" <<JOB
[raw]
filename=$loop
rw=$rw
bs=64k
size=8m
offset=4m
JOB
		cat >"$work/raw.stb" <<SPEC
stb 1
storage loop disk { size = 16MiB }
volume v { filesystem = none }
workload io raw {
  rw     = $rw
  bs     = 64KiB
  size   = 8MiB
  offset = 4MiB
  prepare = []
}
matrix m { storage = [disk]  volume = [v]  workload = [raw] }
SPEC
		expect "raw $rw: a device needs a name that stays" 1 "$STB" import fio "$work/raw.fio" -o "$work/raw.in.stb"
		holds "raw $rw: the rest is there" grep -q "offset *= 4MiB" "$work/raw.in.stb"
		fio_json "$work/raw.json" "$work/raw.fio" || bad "raw $rw: fio" "$(head -n 3 "$work/fio.err")"
		rm -rf "$work/raw.run"
		expect "raw $rw: stb" 0 "$STB" run "$work/raw.stb" -o "$work/raw.run"
		python3 "$here/agree.py" "$work/raw.json" "$work/raw.run" >"$work/agree.out"
		holds "raw $rw: the same I/Os and bytes: $(cat "$work/agree.out")" test $? = 0
		"$STB" export fio "$work/raw.stb" -o "$work/raw.out.fio" 2>/dev/null
		sed -i "/^\[raw\]/a filename=$loop" "$work/raw.out.fio"
		fio_json "$work/raw.out.json" "$work/raw.out.fio" || bad "raw $rw: fio takes the export" "$(head -n 3 "$work/fio.err")"
		python3 "$here/agree.py" "$work/raw.json" "$work/raw.out.json" >"$work/agree.out"
		holds "raw $rw: the export does the same: $(cat "$work/agree.out")" test $? = 0
	done
	losetup -d "$loop"
fi

# agreement of percentiles: fio's log of every I/O through stb's histogram
make -s --no-print-directory -C "$repo" PROFILE="$(basename "$(dirname "$STB")")" hist_of_log >"$work/build" 2>&1 ||
	bad "hist_of_log builds" "$(tail -n 5 "$work/build")"
hist=$(dirname "$STB")/hist_of_log
cat >"$work/log.fio" <<JOB
[logged]
rw=randrw
size=16m
bs=4k
write_lat_log=$work/log
log_avg_msec=0
log_offset=1
clat_percentiles=1
lat_percentiles=1
percentile_list=1:5:10:25:50:75:90:95:99:99.5:99.9:99.95
JOB
(cd "$work/files" && fio --output-format=json --output="$work/log.json" "$work/log.fio" >/dev/null 2>&1)
for kind in clat lat; do
	for d in 0:read 1:write; do
		awk -F', ' -v d="${d%%:*}" '$3 == d' "$work/log_$kind.1.log" >"$work/$kind.log"
		sed -n '/^{/,$p' "$work/log.json" | jq -r --arg d "${d#*:}" --arg k "${kind}_ns" \
			'.jobs[0][$d][$k] | "n=\(.N)", (.percentile | to_entries[] | "\(.key)=\(.value)")' >"$work/percentiles"
		mapfile -t wanted < <(grep -v '^n=' "$work/percentiles")
		"$hist" "$work/$kind.log" "${wanted[@]}" >"$work/buckets"
		holds "fio's ${d#*:} $kind log has every I/O" test "$(sed -n 's/^n=//p' "$work/percentiles")" = "$(sed -n 's/^count //p' "$work/buckets")"
		holds "12 percentiles of ${d#*:} $kind" test "$(grep -vc '^count' "$work/buckets")" = 12
		awk '!/^count/ && ($2 - $3 > 1 || $3 - $2 > 1)' "$work/buckets" >"$work/apart"
		holds "fio's ${d#*:} $kind percentiles within one bucket" test ! -s "$work/apart"
	done
done

# comments in every place of a job file: what fio makes of them is what the import makes of them, or it is told
unquote() { sed -E 's/\\(.)/\1/g'; }
while IFS= read -r case; do
	printf "[global]\ndirectory=/srv\nsize=64k\n$case\n" >"$work/comment.fio"
	fio --showcmd "$work/comment.fio" >"$work/comment.cmd" 2>/dev/null
	takes=$?
	name=$(sed -nE 's/.*--name=(.*)/\1/p' "$work/comment.cmd" | sed 's/ --.*//; s/ *$//')
	file=$(sed -nE 's/.* --filename=(.*) *$/\1/p' "$work/comment.cmd" | sed 's/ *$//')
	bs=$(sed -nE 's/.* --bs=([^ ]*).*/\1/p' "$work/comment.cmd")
	"$STB" import fio "$work/comment.fio" >"$work/comment.stb" 2>"$work/err"
	if [ $? = 0 ]; then
		is=$(sed -nE 's/^  label *= "(.*)"$/\1/p; s/^workload io (\w+) \{/\1/p' "$work/comment.stb" | tail -n 1)
		is_file=$(sed -nE 's/^  filename *= "(.*)"$/\1/p' "$work/comment.stb" | unquote)
		is_bs=$(sed -nE 's/^  bs *= ([0-9]*)KiB$/\1k/p' "$work/comment.stb")
		holds "$case: the job is fio's: $is, $is_file, $is_bs" test "$is|$is_file|$is_bs" = "$name|${file:-$name}|${bs:-4k}"
	else
		holds "$case: fio changes the name, or refuses it as well" test $takes != 0 -o "$name" != t
	fi
done <<'CASES'
[t];x
[t]#x
 [t] ; x]
; [x]\n[t]
 # [x]\n[t]
[t]\n;bs=8k
[t]\nbs=8k;bs=4k
[t]\nbs=8k # more
[t]\nfilename=x;y
[t]\nfilename=x#y
[t]\nfilename=x\\\\;y
[t]\nfilename="x#y"
[a]b]
[a [b]
[a;b]
[ab#c]
[;b]
[ab;
[a] b
[]
[t]\nrw;=read
[t]\nrw
[t]\nsi;ze=1m
CASES
long=$(printf 'n%.0s' $(seq 254))
for name in "$long" "${long}n"; do
	printf '[%s]\ndirectory=/srv\nfilename=x\nsize=64k\n' "$name" >"$work/comment.fio"
	whole=1
	fio --showcmd "$work/comment.fio" 2>/dev/null | grep -q -- "--name=$name " && whole=0
	expect "a name of ${#name} bytes: fio takes it whole, or it is told" $whole "$STB" import fio "$work/comment.fio"
done

# no job files, and other trouble
cd "$work" || exit 1
expect "no tool" 2 "$STB" import
expect "an unknown tool" 2 "$STB" import fyo x.fio
says "the near one is meant" 'did you mean `fio`'
expect "no file" 2 "$STB" import fio
expect "two files that are not there" 1 "$STB" import fio a b
expect "a file that is not there" 1 "$STB" import fio nowhere.fio
says "it is named" 'nowhere.fio'
expect "a directory" 1 "$STB" import fio .
says "it says so" 'is a directory'
mkfifo pipe
expect "a FIFO does not block" 1 timeout 10 "$STB" import fio pipe
expect "a device is not read" 1 timeout 10 "$STB" import fio /dev/zero
printf '[a]\nsize=1m\0\n' >nul.fio
expect "a NUL byte" 1 "$STB" import fio nul.fio
says "it says where" 'nul.fio:2:8'
head -c 10000000 /dev/zero | tr '\0' x >long.fio
sed -i '1i [a]' long.fio
expect "a line of 10 MB" 1 "$STB" import fio long.fio
says "it says how fio takes it" 'fio cuts lines'
truncate -s 1G huge.fio
expect "a huge file" 1 "$STB" import fio huge.fio
head -c 67108864 /dev/urandom >junk.fio
expect "64 MiB of anything" 1 timeout 60 "$STB" import fio junk.fio
holds "is one message" test "$(grep -c '^error' err)" = 1
(echo '[a]'; yes 'bs=4k') | head -c 67108864 >large.fio
expect "64 MiB of options" 1 timeout 60 "$STB" import fio large.fio
holds "is one message too" test "$(grep -c '^error' err)" = 1
rm -f junk.fio large.fio huge.fio long.fio
seq -f '[job%.0f]' 5000 >sections.fio
expect "5,000 sections" 1 timeout 60 "$STB" import fio sections.fio
says "is told with the limit" 'more than 1000 sections'
seq -f '[job%.0f]' 900 | sed '1i [global]\nsize=1m\nstonewall\ndirectory=/srv' >sections.fio
expect "900 jobs" 0 timeout 60 "$STB" import fio sections.fio
printf '\357\273\277[a]\nsize=1m\n' >bom.fio
expect "a byte-order mark" 1 "$STB" import fio bom.fio
says "it is called by its name" 'byte-order mark'
printf '[a]\r\ndirectory=/srv\r\nsize=1m\r\n' >crlf.fio
expect "lines of another system" 0 "$STB" import fio crlf.fio
for i in $(seq 20); do echo "include i$((i + 1)).inc" >"i$i.inc"; done
echo 'bs=4k' >i21.inc
printf '[a]\ninclude i1.inc\n' >deep.fio
expect "includes of includes of includes" 1 "$STB" import fio deep.fio
says "have a limit" 'more includes than a job file has'
holds "which is told once" test "$(grep -c '^error' err)" = 1
yes 'bs=4k' | head -n 50000 | sed '1i [a]' >many.fio
expect "50,000 options" 1 "$STB" import fio many.fio
printf 'include b.inc\n' >b.inc
printf '[a]\ninclude b.inc\n' >cycle.fio
expect "a cycle of includes" 1 "$STB" import fio cycle.fio
says "it is called one" 'includes itself'
printf '[a]\ndirectory=%s\nrw=write\nsize=1m\nfoo=1\n' "$work" >unknown.fio
expect "an unknown option" 1 "$STB" import fio unknown.fio -o unknown.stb
holds "the spec is written all the same" grep -q 'NOT TRANSLATED, unknown: foo=1' unknown.stb
printf '[a]\ndirectory=%s\nrw=write\nsize=1m\n' "$work" >good.fio
expect "standard output that is closed" 3 bash -c '"$0" import fio good.fio >&-' "$STB"
expect "a place that cannot be written" 3 "$STB" import fio good.fio -o /nowhere/x.stb

# what fio cannot express
cat >tmpfs.stb <<SPEC
stb 1
storage tmpfs memory { size = 64MiB }
volume v { storage = memory }
workload io w { volume = v  size = 1MiB  rw = randread }
workload io u { volume = v  size = 1MiB  rw = randrw  rwmixread = 33.3% }
matrix m { workload = [w, u] }
SPEC
expect "a class that fio does not make" 1 "$STB" export fio tmpfs.stb --cell 'workload = w'
says "it is named" 'storage tmpfs `memory`: fio provisions no storage'
says "the job file is written, with a comment" '# NOT TRANSLATED, changes what is measured: storage memory' out
expect "a share that is no whole percent" 1 "$STB" export fio tmpfs.stb --cell 'workload = u'
says "it is told with its line" 'rwmixread = 33.3%.: fio takes whole percent'
expect "several cells need a choice" 2 "$STB" export fio tmpfs.stb
exit $failed
