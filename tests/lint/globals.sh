#!/bin/bash
# No mutable state at file scope but the signal flag, the log level and the allocation counter: a look at the symbols of what was built.
set -u
cd "$(dirname "$0")/../.."
lib=build/release/libstb.a
[ -f $lib ] || { echo "not ok globals - $lib is not built"; exit 1; }
# d D b B: initialised and zeroed data. Names that may be there, each with its reason.
allow='^(stb_signal_flag|stb_log_level|stb_alloc_calls)$'
got=$(nm -A $lib build/release/obj/compiler/driver/*.o 2>/dev/null | awk '$(NF-1) ~ /^[dDbBC]$/ { print $NF, $1 }' |
	grep -vE '^(stb_yydebug|\.|__func__|__PRETTY|yy_)' | sort -u)
rc=0
n=0
while read -r sym where; do
	[ -n "$sym" ] || continue
	n=$((n + 1))
	base=${sym%%.*}
	printf '%s\n' "$base" | grep -qE "$allow" && continue
	echo "not ok mutable symbol $sym - in $where"
	rc=1
done <<<"$got"
[ $rc = 0 ] && echo "ok globals ($n allowed)"
exit $rc
