#!/bin/bash
# No mutable state at file scope but the signal flag, the log level and the allocation counter: a look at the symbols of what was built.
# Constant tables of pointers lie in .data.rel.ro and are not meant, so sections count, not nm's letters.
set -u
cd "$(dirname "$0")/../.."
lib=build/release/libstb.a
[ -f $lib ] || { echo "not ok globals - $lib is not built"; exit 1; }
allow='^(stb_signal_flag|stb_log_level|stb_alloc_calls|stb_alloc_counter|alloc_calls|alloc_counter)$'
# objdump -t: address, flags, section, size, name; objects (flag O) in .data, .bss and their subsections, and common symbols
got=$(objdump -t $lib build/release/obj/compiler/driver/*.o 2>/dev/null |
	awk '/file format/ { f = $1 } $NF !~ /^\./ && /( O )/ && /[ \t](\.data|\.bss|\.tdata|\.tbss|\*COM\*)(\.[A-Za-z_0-9.]*)?[ \t]/ && !/\.data\.rel\.ro/ { print $NF, f }' | sort -u)
rc=0
n=0
while read -r sym where; do
	[ -n "$sym" ] || continue
	base=${sym%%.*}
	n=$((n + 1))
	printf '%s\n' "$base" | grep -qE "$allow" && continue
	echo "not ok mutable symbol $sym - in $where"
	rc=1
done <<<"$got"
# the search itself: the one counter that is there must be seen
[ "$n" -gt 0 ] || { echo "not ok globals - not even the allocation counter was found: the search is broken"; exit 1; }
[ $rc = 0 ] && echo "ok globals ($n allowed)"
exit $rc
