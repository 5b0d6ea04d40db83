#!/usr/bin/env bash
# run_steady.sh - steady_state: a cell that becomes steady, with its proof, and one that cannot within its limit.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1
mkdir store

# spec NAME CRITERION: one cell at a rate that any machine keeps
spec() {
	cat >"$1.stb" <<SPEC
stb 1
storage directory here { path = "$work/store" }
volume v { storage = here }
workload io w {
  volume = v
  size   = 1MiB
  rw     = randread
  runtime = 1s
  time_based = true
  ramp_time = 100ms
  rate_iops = 500/s
  steady_state { metric = iops  $2  window = 2s  limit = 3s }
}
matrix m { workload = w  repeat = 1 }
report r { rows = workload  metrics = [iops] }
SPEC
}

spec steady 'deviation = 50%'
expect "a cell that becomes steady" 0 "$STB" run steady.stb -o steady
holds "its result stands" grep -q ',iops,1/s,.*,ok$' steady/results.csv
holds "the window is the runtime, not the warm-up" awk -F, '$0 ~ /,runtime_ms,/ { for (i = 1; i <= NF; i++) if ($i == "runtime_ms") v = $(i + 2) } END { exit !(v >= 1000 && v < 1900) }' steady/results.csv
holds "the journal has the proof" grep -q '"steady_state": *{"reached": *true, *"after_s": *[23]\.' steady/journal.jsonl
expect "the report" 0 "$STB" report steady.stb --results steady
says "has a footnote of it" 'measured once iops was steady: after [23] s, deviation over 2 s [0-9.e+-]*%' "$work/out"

spec never 'deviation = 0.001%'
sed -i 's/rate_iops = 500/rate_process = poisson rate_tolerance = 90% rate_iops = 500/' never.stb
expect "a cell that cannot become steady" 5 "$STB" run never.stb -o never
says "says how steady it was" 'iops was not steady within 3 s: the steadiest 2 s have a deviation of [0-9.e+-]*%, and deviation = 0.001%'
says "and what to do" 'longer limit'
holds "it is measured all the same, and marked" grep -q ',iops,1/s,.*,invalid:not_steady$' never/results.csv
holds "the journal knows too" grep -q '"steady_state": *{"reached": *false' never/journal.jsonl
expect "the report of it" 0 "$STB" report never.stb --results never
says "keeps it out" 'not trustworthy \(not steady: iops was not steady within 3 s' "$work/out"

holds "nothing is left" test -z "$(ls store)"
exit $failed
