#!/usr/bin/env bash
# db.sh - the tests of the database room against real private servers: one binary, each test in a process of its own.
. "$(dirname "$0")/../support/integration.bash"
bin=$(dirname "$STB")/itest_db
make -s --no-print-directory -C "$repo" PROFILE="$(basename "$(dirname "$STB")")" itest_db >"$work/build" 2>&1 || {
	bad build "itest_db does not build"
	tail -n 40 "$work/build" | sed 's/^/    /'
	exit 1
}

# tests NAME-PREFIX COMMAND...: runs the binary; its TAP in our protocol
tests() {
	local prefix=$1 rc=0
	shift
	"$@" --tap >"$work/tap" 2>"$work/raw" || rc=1
	[ $rc = 0 ] || grep -hv -e '^ok ' -e '^#' -e '^TAP' "$work/raw" "$work/tap" | sed 's/^/    # /'
	# what the filter leaves out is no skip
	sed -n -e '/test was skipped/d' -e "s/^ok - \(\S*\).*# SKIP *\(.*\)\$/skip $prefix\1 # \2/p;t" -e "s/^ok - \(\S*\).*\$/ok $prefix\1/p;t" \
		-e "s/^not ok - \(.*\)\$/not ok $prefix\1/p" "$work/tap"
	[ $rc = 0 ] || failed=1
}

chmod 711 "$work" # the servers run as another user
STB_ITEST_DIR=$work tests "" "$bin"
if [ "$(id -u)" = 0 ]; then # the servers' life once more, as an ordinary user
	install -d -o nobody -m 700 "$work/user"
	install -m 755 "$bin" "$work/itest_db" # the repository may lie where that user cannot go
	STB_ITEST_DIR=$work/user tests "as-user-" setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$work/itest_db" --filter 'db_server/*'
fi
exit $failed
