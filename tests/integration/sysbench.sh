#!/usr/bin/env bash
# sysbench.sh - what `stb export sysbench` writes, carried out by sysbench 1.0.20 itself against a private server: as many events and queries
# as `stb run` of the same cell makes. And back: what `stb import sysbench` makes of that script runs.
. "$(dirname "$0")/../support/integration.bash"
. "$(dirname "$0")/../support/server.bash"
cd "$work" || exit 1
command -v sysbench >/dev/null || { skip "sysbench itself" "needs sysbench"; exit $failed; }

# sysbench's own lists of options: each is known
{
	sysbench --help
	for script in oltp_read_write oltp_read_only oltp_insert oltp_delete bulk_insert select_random_points select_random_ranges; do sysbench $script help; done
} 2>/dev/null | sed -nE 's/^ *--([a-z_-]+).*/\1/p' | sort -u >options
holds "sysbench lists its options" test "$(wc -l <options)" -gt 60
bare="sysbench oltp_read_write --threads=3 --time=5"
"$STB" import sysbench -- "$bare run" 2>/dev/null | tail -n +6 >bare.stb
unknown= silent=
while read -r option; do
	"$STB" import sysbench -- "$bare --$option=7 run" >one.out 2>one.err
	grep -qE 'no version of sysbench has it' one.err && unknown="$unknown $option"
	[ -s one.err ] || ! tail -n +6 one.out | cmp -s - bare.stb || silent="$silent $option"
done <options
holds "each is known:$unknown" test -z "$unknown"
# at 7 these say what holds anyway, or nothing that is measured is said by them
holds "each is translated or told:$silent" test -z "$silent"

make_server "$work/data"
run_server "$work/data" "$work/my.sock" --skip-networking --innodb-flush-log-at-trx-commit=2 >server.log 2>&1 &
pid=$!
at_end "kill -KILL $pid 2>/dev/null"
sql() { sql_through "$work/my.sock" hidden_word "$1"; }
wait_for 60 sql_through "$work/my.sock" "" "ALTER USER root@localhost IDENTIFIED BY 'hidden_word'"
sql "CREATE DATABASE sbtest"
export STB_TEST_PASSWORD=hidden_word

cat >spec.stb <<SPEC
stb 1
storage external disk {}
volume v { storage = disk }
database external server {
  volume   = v
  socket   = "$work/my.sock"
  password = env("STB_TEST_PASSWORD")
}
workload oltp point_select {
  database   = server
  script     = point_select
  tables     = 2
  table_size = 500
  threads    = 2
  events     = 2000
}
workload oltp read_only {
  like       = point_select
  script     = read_only
  sum_ranges = 2
  db_ps_mode = disable
}
workload oltp read_write {
  like      = point_select
  script    = read_write
  threads   = 1
  rand_type = uniform
}
workload oltp write_only {
  like      = point_select
  script    = write_only
  threads   = 1
  rand_type = uniform
  skip_trx  = true
}
matrix m {
  database = [server]
  workload = [point_select, read_only, read_write, write_only]
}
SPEC

# figure FILE METRIC: of the one repetition in a results.csv
figure() { awk -F, -v m="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["metric"] == m { print $at["value"] }' "$1"; }
# printed FILE LABEL: a number of sysbench's report
printed() { sed -n "s/^ *$2: *\([0-9]*\).*/\1/p" "$1" | head -n 1; }

# commands FILE: how many statements of each kind the server has carried out
commands() { sql "SHOW GLOBAL STATUS LIKE 'Com%'" | awk '$1 ~ /^Com_(select|insert|update|delete|begin|commit|rollback)$/' >"$1"; }
# apart A B C D: kinds of which the server did more or fewer from A to B than from C to D; what either does besides its transactions is
# less than a hundred statements
apart() {
	awk 'FILENAME != last { last = FILENAME; k++ } { n[k, $1] = $2; names[$1] }
		END { for (c in names) { x = n[2, c] - n[1, c]; y = n[4, c] - n[3, c]; d = x > y ? x - y : y - x
			if (d > 100 + 0.005 * (x > y ? x : y)) printf "%s %d %d ", c, x, y } }' "$@"
}

for w in point_select read_only read_write write_only; do
	expect "$w: export" 0 "$STB" export sysbench spec.stb --cell "workload = $w" -o "$w.sh"
	lacks "$w: the secret is not in it" hidden_word "$w.sh"
	commands com.1
	sh "$w.sh" >"$w.out" 2>"$w.err"
	holds "$w: sysbench carries it out" test $? = 0
	commands com.2
	holds "$w: it cleaned up" test -z "$(sql 'SHOW TABLES FROM sbtest')"
	expect "$w: stb carries the cell out" 0 "$STB" run spec.stb --only "workload = $w" -o "run-$w"
	events=$(printed "$w.out" 'total number of events')
	queries=$(printed "$w.out" 'total')
	holds "$w: as many events" test "$events" = "$(figure "run-$w/results.csv" events)" -a "$events" = 2000
	per_event=$(awk -v q="$(figure "run-$w/results.csv" qps)" -v t="$(figure "run-$w/results.csv" tps)" 'BEGIN { printf "%.3f", q / t }')
	holds "$w: as many queries in each ($queries, $per_event)" test "$per_event" = "$(awk -v q="$queries" -v e="$events" 'BEGIN { printf "%.3f", q / e }')"
	expect "$w: import of the script" 0 "$STB" import sysbench -o "$w.stb" -- "$(cat "$w.sh")"
	commands com.3
	expect "$w: stb carries the import out" 0 "$STB" run "$w.stb" -o "back-$w"
	commands com.4
	different=$(apart com.1 com.2 com.3 com.4)
	holds "$w: the server carried out the same statements: $different" test -z "$different"
	holds "$w: as many events once more" test "$(figure "back-$w/results.csv" events)" = 2000
done
kill $pid
wait $pid 2>/dev/null
exit $failed
