#!/usr/bin/env bash
# db.sh - the tests of the database room against real private servers: one binary, each test in a process of its own.
. "$(dirname "$0")/../support/integration.bash"
bin=$(dirname "$STB")/itest_db
make -s --no-print-directory -C "$repo" PROFILE="$(basename "$(dirname "$STB")")" itest_db >"$work/build" 2>&1 || {
	bad build "itest_db does not build"
	tail -n 40 "$work/build" | sed 's/^/    /'
	exit 1
}
chmod 711 "$work" # the servers run as another user
STB_ITEST_DIR=$work "$bin" --tap="$work/tap" >"$work/raw" 2>&1 || failed=1
[ $failed = 0 ] || sed 's/^/    /' "$work/raw"
sed -n -e 's/^ok - \(\S*\).*# SKIP *\(.*\)$/skip \1 # \2/p;t' -e 's/^ok - \(\S*\).*$/ok \1/p;t' -e 's/^not ok - \(.*\)$/not ok \1/p' "$work/tap"
exit $failed
