#!/usr/bin/env bash
# compare.sh - two runs against each other, from their directories: what is worse, what is on one side only, what the machines differ in.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1
mkdir store

cat >s.stb <<SPEC
stb 1
param size = 1MiB
storage directory here { path = "$work/store" label = "a | b <i> @all" }
volume v {}
workload io w {
  volume = v
  size   = size
  rw     = randwrite
}
matrix m {
  storage  = [here]
  workload = w
  axis bs {
    set    = workload.bs
    values = [4KiB, 8KiB]
  }
  repeat = 3
}
report r {
  from    = m
  rows    = bs
  metrics = [iops, lat_mean]
}
SPEC
sed 's/\[4KiB, 8KiB\]/[4KiB, 16KiB]/' s.stb >t.stb
expect "a run" 0 "$STB" run s.stb -o old
expect "a run of a changed spec" 0 "$STB" run t.stb -o changed

# figures as they are to be: [metric] *= of every row of the new run, a little apart from repetition to repetition
figures() { # DIR METRIC FACTOR
	awk -F, -v OFS=, -v m="$2" -v f="$3" '$(NF-3) == m { $(NF-1) = 1000 * f * (1 + $(NF-4) / 10000) } 1' "$1/results.csv" >rows && mv rows "$1/results.csv"
}
figures old iops 1; figures old lat_mean 1
rm -rf new && cp -r old new
expect "a run and its copy" 0 "$STB" compare old new --check
says "no difference" '4 comparisons: 4 no difference' out
figures new iops 0.8; figures new lat_mean 0.8
expect "slower, and of less latency" 0 "$STB" compare old new
says "fewer iops are worse" ' iops .*-20.00%.*worse, beyond the threshold' out
says "less latency is better" ' lat_mean .*-20.00%.*better' out
says "the mean over cells" 'iops: -20.00% over 2 cells' out
says "the machines are the same" 'the same in all that is recorded' out
expect "--check fails" 4 "$STB" compare old new --check
says "it says so" '2 of 4 comparisons are worse'
expect "a threshold that is not reached" 0 "$STB" compare old new --check --threshold 25%
expect "of one metric that is better" 0 "$STB" compare old new --check --metric lat_mean
expect "as JSON" 0 "$STB" compare old new --format json
holds "it is JSON" jq -e '.regressions == 2 and (.rows | length == 4) and ([.rows[].verdict] | sort == ["better","better","worse","worse"]) and
	(.rows[0].interval_percent | length == 2) and .environment == []' out
expect "as Markdown" 0 "$STB" compare old new --format markdown
says "a table" '^\| .*iops.* \| +worse' out
lacks "a spec's words are no markup" '<i>' out

expect "of two specs" 0 "$STB" compare old changed
says "cells of the old one" 'Only in the old run' out
says "and of the new one" 'Only in the new run' out
holds "common ones are compared" test "$(grep -c ' iops ' out)" = 1
jq '.kernel = "9.9" | .swap_bytes = 77' new/environment.json >e && mv e new/environment.json
expect "of two machines" 0 "$STB" compare old new
says "what differs is listed" 'kernel: .* -> 9.9' out
says "also what is minor" '\(minor\) swap_bytes' out

expect "of a metric that no cell has" 0 "$STB" compare old new --metric qps
says "nothing is compared" 'nothing is compared: no cell of both runs has .qps'
expect "a check of that" 4 "$STB" compare old new --metric qps --check
says "the reason is the right one" 'nothing is compared: no cell of both runs has .qps'
lacks "and the only one" 'three repetitions'

# one repetition is no claim, and a check of nothing does not pass
for d in old new; do grep -E ',(repetition|1,1),' $d/results.csv >rows; rm -rf $d-one; cp -r $d $d-one; mv rows $d-one/results.csv; done
expect "of one repetition" 0 "$STB" compare old-one new-one
says "no claim" 'no claim \(n = 1\)' out
lacks "nothing is called worse" 'worse,' out
expect "a check of nothing" 4 "$STB" compare old-one new-one --check
says "says what it lacks" 'nothing could be judged'
sed -i 's/,ok$/,invalid:errors/' new/results.csv
expect "a run that failed does not pass" 4 "$STB" compare old new --check
says "invalid cells are kept out" 'n/a \(new run: not trustworthy' out
rm new/environment.json
expect "without a record of the machine" 0 "$STB" compare old new
says "it says so" 'Environment' out
expect "what is no run" 3 "$STB" compare old store
says "what to do" 'directory of a run'
expect "no such metric" 2 "$STB" compare old new --metric iopss
expect "a threshold without unit" 2 "$STB" compare old new --threshold 5
expect "one directory" 2 "$STB" compare old
exit $failed
