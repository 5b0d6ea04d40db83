# server.bash - the database server that is here, MariaDB or MySQL, and one of the test's own: sourced after integration.bash.
mysqld=$(export PATH=$PATH:/usr/sbin:/usr/local/sbin:/usr/libexec; command -v mariadbd || command -v mysqld)
sql_client=$(command -v mariadb || command -v mysql)

# What the two families call differently.
if "${mysqld:-false}" --no-defaults --version 2>/dev/null | grep -q MariaDB; then
	family=MariaDB
	redo_option=innodb_log_file_size small_redo='innodb_log_file_size = 8MiB'
	semi_sync_timeout=rpl_semi_sync_master_timeout
	no_tls=--skip-ssl
	clamped_commit=3 # what innodb_flush_log_at_trx_commit = 9 becomes
else
	family=MySQL
	redo_option=innodb_redo_log_capacity small_redo='innodb_redo_log_capacity = 16MiB'
	semi_sync_timeout=rpl_semi_sync_source_timeout
	no_tls=--tls-version=
	clamped_commit=2
fi

# lacks_server: the tool that is missing for a server of one's own; nothing where all is here
lacks_server() {
	[ -n "$mysqld" ] || { echo "mariadbd or mysqld"; return; }
	[ -n "$sql_client" ] || { echo "mariadb or mysql"; return; }
	[ $family = MySQL ] || command -v mariadb-install-db >/dev/null || echo mariadb-install-db
}

# make_server DIR: a data directory whose root has no password
make_server() {
	if [ $family = MariaDB ]; then
		mariadb-install-db --no-defaults --force --user="$(id -un)" --datadir="$1" --auth-root-authentication-method=normal
	else
		"$mysqld" --no-defaults --user="$(id -un)" --datadir="$1" --initialize-insecure
	fi >install.log 2>&1
}

# run_server DIR SOCKET OPTIONS...: to be put into the background; replaces the shell that it runs in
run_server() {
	local dir=$1 socket=$2
	shift 2
	exec "$mysqld" --no-defaults --user="$(id -un)" --datadir="$dir" --socket="$socket" --pid-file="$socket.pid" --loose-mysqlx=OFF \
		--secure-file-priv="$dir" --innodb-buffer-pool-size=16M "$@"
}

# sql_through SOCKET PASSWORD STATEMENTS
sql_through() { MYSQL_PWD=$2 "$sql_client" --no-defaults -S "$1" -u root -Nse "$3"; }

# servers_of RUN-DIR: pids of the servers with the run's mark in their command lines; quick, since a run may end meanwhile
servers_of() {
	local mark f
	mark=$(sed -n 's/.*"mark":"\([0-9a-f]*\)".*/\1/p' "$1/journal.jsonl" | head -n 1)
	[ -n "$mark" ] || return
	for f in $(grep -lF -- "$mark" /proc/[0-9]*/cmdline 2>/dev/null); do
		tr '\0' ' ' 2>/dev/null <"$f" | grep -qE '^[^ ]*(mysqld|mariadbd) ' && basename "$(dirname "$f")"
	done
}
server_of() { servers_of "$1" | head -n 1; }
