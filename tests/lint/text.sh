#!/bin/bash
# Habits that a reader relies on: every C file opens with why it exists, no file is too long to read in one sitting, shell scripts parse.
set -u
cd "$(dirname "$0")/../.."
rc=0
bad() { echo "not ok $1 - $2"; rc=1; }
n=0
for f in $(find compiler runtime grammar tests -name '*.[chyl]' | sort); do
	n=$((n + 1))
	case $f in
	*.y | *.l) head -n 5 "$f" | grep -q '/\*' || bad "$f" "does not open with a comment that says why it exists" ;;
	*) head -n 1 "$f" | grep -q '^/\*' || bad "$f" "does not open with a comment that says why it exists" ;;
	esac
	len=$(wc -l <"$f")
	[ "$len" -le 1000 ] || bad "$f" "$len lines: is this one room, or two?"
	grep -nE '[[:space:]]+$' "$f" | head -n 1 | grep -q . && bad "$f" "trailing white space on line $(grep -nE '[[:space:]]+$' "$f" | head -n 1 | cut -d: -f1)"
done
[ $n -gt 40 ] || bad files "only $n files seen"
for f in .ci/run .ci/deps tests/run $(find tests -name '*.sh'); do
	bash -n "$f" || bad "$f" "does not parse"
done
# main.c is the map: every room's files are named there
for f in compiler/*.c compiler/driver/*.c; do
	grep -qF "$(basename "$f")" compiler/driver/main.c || bad "$f" "is missing from the map in compiler/driver/main.c"
done
for d in runtime/*/; do
	grep -qF "${d%/}" compiler/driver/main.c || bad "$d" "is missing from the map in compiler/driver/main.c"
done
[ $rc = 0 ] && echo "ok text ($n files)"
exit $rc
