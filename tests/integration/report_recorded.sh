#!/usr/bin/env bash
# report_recorded.sh - published comparisons made again from their published numbers, through the program: tables, claims, exit codes.
. "$(dirname "$0")/../support/integration.bash"
cd "$repo/tests/golden/recorded" || exit 1

same() { diff "$1" <(grep -v '^- plan: ' "$2") >&2; } # the plan's hash is no part of what is kept

for name in ack-fio ack-mysql gce-local-ssd zstack-vnuma; do
	expect "$name: check is clean" 0 "$STB" check $name.stb
	lacks "$name: no warning" '^warning'
	expect "$name: its claims hold" 0 "$STB" report $name.stb --results $name.csv --check
	holds "$name: the tables are as kept" same "$name.md" "$work/out"
	expect "$name: external storage is not run" 3 "$STB" run $name.stb -o "$work/run"
	holds "$name: and nothing is made" test ! -e "$work/run"
done
"$STB" report ack-fio.stb --results ack-fio.csv >"$work/out"
holds "ack-fio: 2.49x twice" test "$(grep -o '2\.49x' "$work/out" | wc -l)" -ge 2
"$STB" report ack-mysql.stb --results ack-mysql.csv >"$work/out"
says "ack-mysql: 2.45x" '2\.45x' "$work/out"
"$STB" report zstack-vnuma.stb --results zstack-vnuma.csv >"$work/out"
for figure in '\+8\.41%' '\+1\.03%' '\+14\.96%' '\+5\.26%'; do says "zstack-vnuma: $figure" "$figure" "$work/out"; done

# another number, another verdict
sed 's/92000/50000/' ack-fio.csv >"$work/less.csv"
expect "a claim that fails is exit 4" 4 "$STB" report ack-fio.stb --results "$work/less.csv" --check
says "and is named" 'claim `iops` fails'
expect "without --check it is a report like any other" 0 "$STB" report ack-fio.stb --results "$work/less.csv"
grep -v pmem ack-mysql.csv >"$work/half.csv"
expect "a claim without its data is not taken for granted" 4 "$STB" report ack-mysql.stb --results "$work/half.csv" --check

# files
expect "into a directory" 0 "$STB" report ack-fio.stb --results ack-fio.csv -o "$work/out.d"
holds "Markdown as on standard output" same ack-fio.md "$work/out.d/report.md"
holds "CSV of the report" test -s "$work/out.d/report-scratch.csv"
expect "CSV alone" 0 "$STB" report ack-fio.stb --results ack-fio.csv -o "$work/csv.d" --format csv
holds "without Markdown" test ! -e "$work/csv.d/report.md"
expect "CSV needs a directory" 2 "$STB" report ack-fio.stb --results ack-fio.csv --format csv

# results that do not belong
sed 's/^ssd,/hdd,/' ack-mysql.csv >"$work/wrong.csv"
expect "a row that matches no cell" 3 "$STB" report ack-mysql.stb --results "$work/wrong.csv"
says "is named by file and line" 'wrong\.csv:2'
expect "the same file twice" 3 "$STB" report ack-mysql.stb --results ack-mysql.csv --results ack-mysql.csv
expect "a file that is none" 3 timeout 10 "$STB" report ack-mysql.stb --results /dev/zero
: >"$work/empty.csv"
expect "an empty file" 3 "$STB" report ack-mysql.stb --results "$work/empty.csv"

exit $failed
