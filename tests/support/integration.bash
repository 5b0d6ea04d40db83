# integration.bash - what the integration tests share: sourced, never run.
#
# Each test works in $work (below /var/tmp, removed at the end). Helpers print the protocol of tests/run and count failures.
set -u
export LC_ALL=C.UTF-8
STB=${STB:-$PWD/build/release/stb}
STB=$(readlink -f "$STB")
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d /var/tmp/stb-test.XXXXXX)
chmod 711 "$work" # the database server's user must pass through
failed=0
cleanups=()
at_end() { cleanups+=("$1"); }
finish_up() {
	local c
	for c in "${cleanups[@]:-}"; do [ -n "$c" ] && eval "$c"; done
	rm -rf "$work"
}
trap finish_up EXIT
trap 'exit 143' INT TERM

ok() { echo "ok $1"; }
bad() { echo "not ok $1 - $2"; failed=1; }
skip() { echo "skip $1 # $2"; }

# as_nobody COMMAND...: as an ordinary user, with a copy of stb in its place, since the repository may lie where that user cannot go
as_nobody() {
	[ -e "$work/stb-for-nobody" ] || install -m 755 "$STB" "$work/stb-for-nobody"
	local words=() w
	for w in "$@"; do [ "$w" = "$STB" ] && w=$work/stb-for-nobody; words+=("$w"); done
	setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "${words[@]}"
}

# expect NAME CODE COMMAND...: the exit code; output in $work/out and $work/err
expect() {
	local name=$1 want=$2 got
	shift 2
	"$@" >"$work/out" 2>"$work/err" </dev/null
	got=$?
	if [ "$got" = "$want" ]; then ok "$name"; else
		bad "$name" "exit $got instead of $want"
		sed 's/^/    /' "$work/err" | head -n 20
	fi
}

# says NAME PATTERN [FILE]: the last expect's standard error (or FILE) holds an extended regular expression
says() {
	if grep -qE -- "$2" "${3:-$work/err}"; then ok "$1"; else
		bad "$1" "no match for: $2"
		sed 's/^/    /' "${3:-$work/err}" | head -n 20
	fi
}

# lacks NAME PATTERN [FILE]
lacks() {
	if grep -qE -- "$2" "${3:-$work/err}"; then
		bad "$1" "must not match: $2"
		grep -nE -- "$2" "${3:-$work/err}" | sed 's/^/    /' | head -n 5
	else ok "$1"; fi
}

# holds NAME CONDITION...: a test command that must succeed
holds() {
	local name=$1
	shift
	if "$@" >/dev/null; then ok "$name"; else bad "$name" "does not hold: $*"; fi
}

# wait_for SECONDS COMMAND...: polls until it succeeds
wait_for() {
	local n=$(($1 * 10))
	shift
	while ! "$@" >/dev/null 2>&1; do
		n=$((n - 1))
		[ $n -gt 0 ] || return 1
		sleep 0.1
	done
}

# begun RUN [N]: so many measurements (1) of a run have begun
begun() {
	local n
	n=$(grep -c '"ev":"begin","op":"measure"' "$1/journal.jsonl" 2>/dev/null)
	[ "${n:-0}" -ge "${2:-1}" ]
}

# still_until_result PID RUN: a process that the run needs stands still until the run has a result
still_until_result() {
	kill -STOP "$1"
	at_end "kill -CONT $1 2>/dev/null"
	wait_for 60 grep -q '"ev":"result"' "$2/journal.jsonl"
	kill -CONT "$1"
}

# what runs of a given mark left: directories, mounts, processes, loop devices
leftovers() { # RUN-DIR
	local mark
	mark=$(sed -n 's/.*"mark":"\([0-9a-f]*\)".*/\1/p' "$1/journal.jsonl" | head -n 1)
	[ -n "$mark" ] || { echo "no mark in $1"; return; }
	find /var/tmp /dev/shm "$work" -maxdepth 2 -name "*$mark*" 2>/dev/null
	grep -F "$mark" /proc/self/mountinfo
	grep -lF "$mark" /proc/[0-9]*/cmdline 2>/dev/null
	losetup -a 2>/dev/null | grep -F "$mark"
}
