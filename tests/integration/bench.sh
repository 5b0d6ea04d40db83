#!/usr/bin/env bash
# bench.sh - the benchmarks' specs: what stb refuses would be found only by whoever measures.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1
export STB
expect "every case has a spec that stb accepts" 0 python3 -B "$repo/tests/bench/run" --check
says "they are checked: the scripts that write are warned of" 'W0439' err
exit $failed
