#!/bin/sh
# workload w on database server, for sysbench 1.0.20
# left out: database server: stb starts this server by itself; start one with a database sbtest, and put its socket into the environment as MYSQL_SOCKET
# left out: database server: options.innodb_flush_log_at_trx_commit = "2": a matter of the server, at which sysbench does not look
# left out: workload w: retry = rollback: sysbench tries a failed transaction again without ROLLBACK; `retry = sysbench` does so too
set -eu
sysbench oltp_point_select --mysql-socket="$MYSQL_SOCKET" --mysql-user=root --tables=2 \
  --table-size=1000 --rand-type=special --threads=2 prepare
sysbench oltp_point_select --mysql-socket="$MYSQL_SOCKET" --mysql-user=root --tables=2 \
  --table-size=1000 --rand-type=special --time=0 --events=500 --report-interval=1 --percentile=95 \
  --threads=2 run
sysbench oltp_point_select --mysql-socket="$MYSQL_SOCKET" --mysql-user=root --tables=2 \
  --table-size=1000 --rand-type=special --threads=1 cleanup
=== account
stb: warning: database mysql `server`: stb starts this server by itself; start one with a database sbtest, and put its socket into the environment as MYSQL_SOCKET
  --> tests/golden/export/sysbench/private.stb:11:1
stb: warning: database mysql `server`: `options.innodb_flush_log_at_trx_commit = "2"`: a matter of the server, at which sysbench does not look
  --> tests/golden/export/sysbench/private.stb:14:5
stb: warning: workload oltp `w`: `retry = rollback`: sysbench tries a failed transaction again without ROLLBACK; `retry = sysbench` does so too
  --> tests/golden/export/sysbench/private.stb:18:1
