#!/usr/bin/env bash
# recorded.sh - published tables from published numbers: the specs in tests/golden/recorded, their figures, the documents beside them.
#
# The plan's hash is left out of the comparison: it changes with every attribute that is added, the published table must not.
# STB_UPDATE_GOLDEN=1 rewrites the documents; read the diff before you commit it.
. "$(dirname "$0")/../support/integration.bash"
golden=$repo/tests/golden/recorded
cd "$work" || exit 1

without_hash() { sed '/^- plan: /d' "$1"; }

for spec in "$golden"/*.stb; do
	name=$(basename "$spec" .stb)
	expect "$name checks clean" 0 "$STB" check "$spec"
	lacks "$name has no warnings" '^warning'
	expect "$name holds its claims" 0 "$STB" report "$spec" --results "$golden/$name.csv" --check
	without_hash out >"$name.md"
	[ -z "${STB_UPDATE_GOLDEN:-}" ] || cp "$name.md" "$golden/$name.md"
	if diff -u "$golden/$name.md" "$name.md" >diff; then ok "$name prints the published table"; else
		bad "$name prints the published table" "differs from tests/golden/recorded/$name.md"
		sed 's/^/    /' diff | head -n 40
	fi
done

# The figures that were published, to the digit.
published() { says "$1: $2" "\| +$2 \|" "$golden/$1.md"; }
published ack-fio '2\.49x'
published ack-mysql '2\.45x'
for x in '\+8\.41%' '\+1\.03%' '\+14\.96%' '\+5\.26%'; do published zstack-vnuma "$x"; done

# What does not hold, does not fit, or is not there.
spec=$golden/ack-fio.stb
sed 's/92000/91000/' "$golden/ack-fio.csv" >less.csv
expect "a claim that fails is exit 4 under --check" 4 "$STB" report "$spec" --results less.csv --check
says "it is named" 'claim `iops`'
says "the document is there all the same" '\*\*fails\*\*' out
expect "and no error without --check" 0 "$STB" report "$spec" --results less.csv
head -n 3 "$golden/ack-fio.csv" >half.csv
expect "a claim without data fails under --check" 4 "$STB" report "$spec" --results half.csv --check
says "and says so" 'no data' out
sed '/^claim/,/^}/d' "$spec" >noclaim.stb
expect "a gate that judges nothing does not pass" 4 "$STB" report noclaim.stb --results "$golden/ack-fio.csv" --check
says "and says why" 'nothing could be judged: the spec makes no claim'
expect "without --check it is a report like any other" 0 "$STB" report noclaim.stb --results "$golden/ack-fio.csv"
head -c -1 "$golden/ack-fio.csv" >torn.csv
expect "a last line without a line end counts" 0 "$STB" report noclaim.stb --results torn.csv
says "and a warning names file and line" 'warning: torn\.csv:[0-9]+: the last line .* has no line end'
says "the report says so, once" '^> Warning: torn' out
sed 's/pmem_lvm/pmem/' "$golden/ack-fio.csv" >other.csv
expect "a row that matches no cell" 3 "$STB" report "$spec" --results other.csv
says "names file, line and value" 'other\.csv:4: `pmem` is no value of axis `storage`'
says "lists the values" 'ssd, pmem_lvm'
expect "the same rows twice" 3 "$STB" report "$spec" --results "$golden/ack-fio.csv" --results "$golden/ack-fio.csv"
says "are refused" 'ack-fio\.csv:2: .*already'
expect "no such file" 3 "$STB" report "$spec" --results nowhere.csv
expect "a device is no result" 3 "$STB" report "$spec" --results /dev/zero
mkdir empty
expect "a directory without results.csv" 3 "$STB" report "$spec" --results empty
says "says what a run directory is" 'run directory'

expect "files instead of standard output" 0 "$STB" report "$spec" --results "$golden/ack-fio.csv" -o made
holds "Markdown" grep -q '2.49x' made/report.md
holds "CSV in long form" grep -qx ',pmem_lvm,,iops,value,92000,1/s,' made/report-scratch.csv
exit $failed
