#!/usr/bin/env bash
# reuse.sh - results of an earlier run that are taken over: which ones, from where, and that the new directory stands alone.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1
mkdir store other

cat >two.stb <<SPEC
stb 1
param more = 2
storage directory one { path = "$work/store" }
storage directory two { path = "$work/other" }
volume v {}
workload io w {
  volume     = v
  size       = 1MiB
  rw         = randrw
  runtime    = 300ms
  time_based = true
}
matrix m {
  storage  = [one, two]
  workload = w
  axis bs {
    set    = workload.bs
    values = [4KiB, 8KiB]
  }
  repeat   = 2
  interval = 100ms
}
report r {
  from    = m
  rows    = bs
  columns = storage
  metrics = [iops]
}
SPEC
sed 's/\[4KiB, 8KiB\]/[4KiB, 8KiB, 16KiB]/; s/repeat   = 2/repeat   = 3/' two.stb >three.stb
rows_of() { tail -n +2 "$1/results.csv" | sort; }
measured() { grep -c '"ev":"begin","op":"measure"' "$1/journal.jsonl"; }

expect "the run" 0 "$STB" run two.stb -o first
expect "the same again" 0 "$STB" run two.stb -o same --reuse first
says "all is taken over" '8 repetitions are taken over from .*/first'
holds "nothing is measured" test "$(measured same)" = 0
holds "nothing is provisioned" test "$(grep -c '"ev":"made"' same/journal.jsonl)" = 0
holds "the rows are the same" test "$(rows_of first | md5sum)" = "$(rows_of same | md5sum)"
holds "the histograms too" diff -r first/histograms same/histograms
holds "the series too" test "$(sort first/series.csv | md5sum)" = "$(sort same/series.csv | md5sum)"
expect "more cells and repetitions" 0 "$STB" run three.stb -o more --reuse first
holds "only the missing ones are measured" test "$(measured more)" = 10
holds "18 repetitions" test "$(grep -c ',iops,' more/results.csv)" = 18
holds "no duplicates" test -z "$(awk -F, '{ print $1, $(NF-5), $(NF-4), $(NF-3) }' more/results.csv | sort | uniq -d)"
holds "what was taken over is as it was" test -z "$(rows_of first | comm -13 <(rows_of more) -)"
session=$(jq -r .mark first/journal.jsonl | head -n 1)
holds "the environment says from where" jq -e --arg s "$session" '.reused | length == 1 and .[0].repetitions == 8 and .[0].sessions == [$s]' more/environment.json
holds "the journal too" test "$(jq -r 'select(.ev == "result" and .from.session == "'"$session"'") | .cell' more/journal.jsonl | wc -l)" = 8
says "the report has a footnote" "2 of 3 repetitions taken over from .*/first \(session $session\)" more/report.md

# it stands alone, and what is taken over again keeps its origin
mv first gone
expect "a report without the earlier run" 0 "$STB" report three.stb --results more
says "with the footnote" 'taken over' out
expect "taken over once more" 0 "$STB" run three.stb -o third --reuse more
holds "from where it was measured" test "$(jq -r 'select(.ev == "result") | .from.session' third/journal.jsonl | sort -u | wc -l)" = 2
mv gone first

# a killed run that took over goes on
"$STB" run three.stb -o killed --reuse first >out 2>err &
pid=$!
at_end "kill -KILL $pid 2>/dev/null"
wait_for 30 sh -c '[ "$(grep -c "\"ev\":\"begin\",\"op\":\"measure\"" killed/journal.jsonl)" -ge 3 ]'
kill -KILL $pid
wait $pid 2>/dev/null
expect "a kill and resume" 0 "$STB" resume killed
says "what was taken over stands" '10 of 18 repetitions are there'
holds "18 repetitions after it" test "$(grep -c ',iops,' killed/results.csv)" = 18
says "and is footnoted" 'taken over' killed/report.md

# what does not fit
change() { rm -rf bad && cp -r first bad && jq "$1" bad/environment.json >e && mv e bad/environment.json; }
change '.kernel = "4.4.0"'
expect "of another machine" 3 "$STB" run two.stb -o no --reuse bad
says "is refused with the reason" 'measured on another machine: kernel was 4.4.0'
holds "before anything is made" test ! -e no
change '.stb.version = "0.0.1"'
expect "of another version" 3 "$STB" run two.stb -o no --reuse bad
rm -rf bad && cp -r first bad && sed -i 's/"commit":"[^"]*"/"commit":"0123456789ab"/' bad/journal.jsonl
expect "of another build of the same version" 3 "$STB" run two.stb -o no --reuse bad
says "is refused, naming both" 'commit 0123456789ab.*and this is'
holds "before anything of it is made" test ! -e no
change '.storage.two.filesystem = "zfs"'
expect "a storage class that is another now" 0 "$STB" run two.stb -o part --reuse bad
says "is told" '4 not, since their storage or database is another one now'
holds "and measured" test "$(measured part)" = 4
rm -rf bad && cp -r first bad
sed -i '0,/"status":"ok"/s//"status":"invalid:errors"/' bad/journal.jsonl
: >"bad/histograms/$(ls bad/histograms | tail -n 1)"
expect "failed ones and broken files" 0 "$STB" run two.stb -o mended --reuse bad
holds "are measured" test "$(measured mended)" = 2
expect "only what is selected" 0 "$STB" run two.stb -o only --reuse first --only 'storage = one'
holds "is taken over" test "$(grep -c ',iops,' only/results.csv)" = 4
sed 's/rw         = randrw/rw         = randwrite/' two.stb >other.stb
expect "of other cells" 0 "$STB" run other.stb -o others --reuse first --reuse same
says "nothing is taken over" '0 repetitions are taken over'
holds "all is measured" test "$(measured others)" = 8
expect "of what is no run" 3 "$STB" run two.stb -o no --reuse store
expect "of what is not there" 3 "$STB" run two.stb -o no --reuse nowhere
holds "nothing is left" test -z "$(find store other -mindepth 1)"
exit $failed
