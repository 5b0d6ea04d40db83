#!/bin/bash
# The layers: which room may include which. An arrow that is not in this list is a mistake in the design or in the code.
# Also: a vendor header is included by exactly one module, and the top level holds what it may hold.
set -u
cd "$(dirname "$0")/../.."
rc=0
bad() { echo "not ok $1 - $2"; rc=1; }

allowed() { # FROM-ROOM INCLUDED-PATH
	case "$1:$2" in
	runtime/base:runtime/base/*) ;;
	runtime/plan:runtime/base/* | runtime/plan:runtime/plan/*) ;;
	runtime/host:runtime/base/* | runtime/host:runtime/plan/* | runtime/host:runtime/host/*) ;;
	runtime/storage:runtime/base/* | runtime/storage:runtime/plan/* | runtime/storage:runtime/storage/*) ;;
	# measure.h is the workers' half of the result contract, plain counters in shared memory; meet.h is how those of a mix wait there for each other
	runtime/io:runtime/base/* | runtime/io:runtime/plan/* | runtime/io:runtime/io/* | runtime/io:runtime/result/measure.h | runtime/io:runtime/result/meet.h) ;;
	runtime/db:runtime/base/* | runtime/db:runtime/plan/* | runtime/db:runtime/db/* | runtime/db:runtime/result/measure.h | runtime/db:runtime/result/meet.h) ;;
	runtime/result:runtime/base/* | runtime/result:runtime/plan/* | runtime/result:runtime/result/*) ;;
	runtime/report:runtime/base/* | runtime/report:runtime/plan/* | runtime/report:runtime/result/* | runtime/report:runtime/report/*) ;;
	runtime/exec:runtime/*) ;;
	compiler/driver:*) ;;
	compiler:compiler/driver/*) return 1 ;;
	compiler:compiler/* | compiler:runtime/base/* | compiler:runtime/plan/*) ;;
	compiler:runtime/io/caps.def | compiler:runtime/io/skew.h | compiler:runtime/storage/fsopts.*) ;; # data and pure look-ups in it
	compiler:runtime/result/status.h) ;; # data only
	compiler:stb.tab.h | compiler:stb.lex.h | compiler:examples.inc) ;;
	grammar:compiler/ast*.h | grammar:compiler/scan.h | grammar:compiler/source.h | grammar:compiler/diag.h | grammar:compiler/parse*.h) ;;
	grammar:runtime/base/* | grammar:stb.tab.h | grammar:stb.lex.h) ;;
	*) return 1 ;;
	esac
	return 0
}

n=0
while IFS=: read -r file _ line; do
	inc=$(printf '%s\n' "$line" | sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p')
	[ -n "$inc" ] || continue
	room=$(dirname "$file")
	n=$((n + 1))
	allowed "$room" "$inc" || bad "$file" "may not include $inc"
done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' compiler grammar runtime --include='*.[chyl]' --include='*.def')
[ "$n" -gt 50 ] || bad includes "only $n includes seen: the search is broken"
[ $rc = 0 ] && echo "ok layers ($n includes)"

vendor() { # HEADER-REGEX THE-ONE-FILE
	local got
	got=$(grep -rlE "^[[:space:]]*#[[:space:]]*include[[:space:]]*<$1>" compiler grammar runtime | sort | tr '\n' ' ')
	case "$got" in
	"" | "$2 ") echo "ok vendor $1" ;;
	*) bad "vendor $1" "belongs to $2 alone, seen in: $got" ;;
	esac
}
vendor 'liburing\.h' runtime/io/uring.c
vendor 'libaio\.h' runtime/io/libaio.c
vendor '(mysql/|mariadb/)?mysql\.h' runtime/db/mysql.c
vendor 'numa\.h' runtime/host/numa.c
vendor 'csv\.h' runtime/result/csv.c
vendor 'openssl/.*' runtime/base/hash.c
vendor 'utf8proc\.h' runtime/base/buf.c

got=$(grep -rlw cpu_set_t compiler grammar runtime | grep -v '^runtime/base/affinity\.')
[ -z "$got" ] && echo "ok CPU sets" || bad "CPU sets" "a cpu_set_t ends at 1024 CPUs: use runtime/base/affinity.h in $got"

extra=$(git ls-files 2>/dev/null | cut -d/ -f1 | sort -u |
	grep -vxE 'Makefile|grammar|compiler|runtime|specs|reports|tests|README\.md|LICENSE|CHANGELOG\.md|\..*' | tr '\n' ' ')
[ -z "$extra" ] && echo "ok top level" || bad "top level" "not on the list: $extra"
exit $rc
