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
	if [ $rc = 3 ] && grep -q 'checks and plans' "$work/err"; then
		ok "$name: this version does not carry it out, and says so before anything is touched"
	elif [ $rc != 0 ]; then
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
	for e in libaio io_uring pvsync2 mmap; do fio --enghelp=$e; done
} 2>/dev/null | sed -nE 's/^ *([a-z][a-z_0-9-]*) *: .*/\1/p' | sort -u >"$work/options"
{
	echo '[job]'
	sed 's/$/=1/' "$work/options"
} >"$work/options.fio"
holds "fio lists its options" test "$(wc -l <"$work/options")" -gt 200
expect "all of them in one job" 1 "$STB" import fio "$work/options.fio"
lacks "none is unknown" 'E0802'
holds "each is told, or in the spec" test "$(grep -c . "$work/out")" -gt 200

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

# no job files, and other trouble
cd "$work" || exit 1
expect "no tool" 2 "$STB" import
expect "an unknown tool" 2 "$STB" import fyo x.fio
says "the near one is meant" 'did you mean `fio`'
expect "no file" 2 "$STB" import fio
expect "two files" 2 "$STB" import fio a b
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
