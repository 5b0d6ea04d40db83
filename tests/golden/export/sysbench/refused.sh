#!/bin/sh
# workload w on database server, for sysbench 1.0.20
# left out: database server: options.sync_binlog = "1": a matter of the server, at which sysbench does not look
# left out: database server: version = "10.11": a matter of the server, at which sysbench does not look
# NOT TRANSLATED, changes what is measured: database server: tls = verify_identity: sysbench verifies nothing
# NOT TRANSLATED, changes what is measured: database server: tls_ca = "/etc/ca.pem": sysbench takes no names of such files
# NOT TRANSLATED, changes what is measured: workload w: rand_type = zipfian: sysbench has uniform, gaussian, special and pareto
# left out: workload w: retry = rollback: sysbench tries a failed transaction again without ROLLBACK; `retry = sysbench` does so too
# NOT TRANSLATED, changes what is measured: workload w: reconnect = 10: sysbench keeps its connections
# NOT TRANSLATED, changes what is measured: workload w: time = 1500ms: sysbench takes whole seconds; the next is written
# NOT TRANSLATED, changes what is measured: workload w: warmup_time = 10s: sysbench has no warm-up that is left out of the result
# left out: workload w: error_limit = 5: sysbench judges nothing; look at the figure
# The matrix measures every cell 3 times.
set -eu
sysbench oltp_read_only --mysql-host=db.example --mysql-port=3306 --mysql-user='it'\''s' \
  --mysql-password="$(cat '/etc/bench password')" --mysql-db=sbtest --mysql-ssl=on --tables=1 \
  --table-size=5000 --threads=1 prepare
sysbench oltp_read_only --mysql-host=db.example --mysql-port=3306 --mysql-user='it'\''s' \
  --mysql-password="$(cat '/etc/bench password')" --mysql-db=sbtest --mysql-ssl=on --tables=1 \
  --table-size=5000 --time=2 --events=0 --report-interval=1 --percentile=95 --threads=8 run
sysbench oltp_read_only --mysql-host=db.example --mysql-port=3306 --mysql-user='it'\''s' \
  --mysql-password="$(cat '/etc/bench password')" --mysql-db=sbtest --mysql-ssl=on --tables=1 \
  --table-size=5000 --threads=1 cleanup
=== and
#!/bin/sh
# workload open_loop on database server, for sysbench 1.0.20
# left out: database server: options.sync_binlog = "1": a matter of the server, at which sysbench does not look
# left out: database server: version = "10.11": a matter of the server, at which sysbench does not look
# NOT TRANSLATED, changes what is measured: database server: tls = verify_identity: sysbench verifies nothing
# NOT TRANSLATED, changes what is measured: database server: tls_ca = "/etc/ca.pem": sysbench takes no names of such files
# NOT TRANSLATED, changes what is measured: workload open_loop: rand_spec_pct = 1.5%: sysbench takes whole percentages
# left out: workload open_loop: retry = rollback: sysbench tries a failed transaction again without ROLLBACK; `retry = sysbench` does so too
# left out: workload open_loop: rate = 100/s: sysbench counts latency from when an event was put into its queue, not from when it was due
# left out: workload open_loop: rate_tolerance = 10%: sysbench judges nothing; look at the figure
# The matrix measures every cell 3 times.
set -eu
sysbench oltp_read_only --mysql-host=db.example --mysql-port=3306 --mysql-user='it'\''s' \
  --mysql-password="$(cat '/etc/bench password')" --mysql-db=sbtest --mysql-ssl=on --tables=1 \
  --table-size=10000 --rand-type=special --threads=1 prepare
sysbench oltp_read_only --mysql-host=db.example --mysql-port=3306 --mysql-user='it'\''s' \
  --mysql-password="$(cat '/etc/bench password')" --mysql-db=sbtest --mysql-ssl=on --tables=1 \
  --table-size=10000 --rand-type=special --time=10 --events=0 --rate=100 --report-interval=1 \
  --percentile=95 --threads=1 run
sysbench oltp_read_only --mysql-host=db.example --mysql-port=3306 --mysql-user='it'\''s' \
  --mysql-password="$(cat '/etc/bench password')" --mysql-db=sbtest --mysql-ssl=on --tables=1 \
  --table-size=10000 --rand-type=special --threads=1 cleanup
=== account
stb: warning: database external `server`: `options.sync_binlog = "1"`: a matter of the server, at which sysbench does not look
  --> tests/golden/export/sysbench/refused.stb:12:5
stb: warning: database external `server`: `version = "10.11"`: a matter of the server, at which sysbench does not look
  --> tests/golden/export/sysbench/refused.stb:10:3
stb: error: database external `server`: `tls = verify_identity`: sysbench verifies nothing
  --> tests/golden/export/sysbench/refused.stb:8:3
stb: error: database external `server`: `tls_ca = "/etc/ca.pem"`: sysbench takes no names of such files
  --> tests/golden/export/sysbench/refused.stb:9:3
stb: error: workload oltp `w`: `rand_type = zipfian`: sysbench has uniform, gaussian, special and pareto
  --> tests/golden/export/sysbench/refused.stb:23:3
stb: warning: workload oltp `w`: `retry = rollback`: sysbench tries a failed transaction again without ROLLBACK; `retry = sysbench` does so too
  --> tests/golden/export/sysbench/refused.stb:16:1
stb: error: workload oltp `w`: `reconnect = 10`: sysbench keeps its connections
  --> tests/golden/export/sysbench/refused.stb:24:3
stb: error: workload oltp `w`: `time = 1500ms`: sysbench takes whole seconds; the next is written
  --> tests/golden/export/sysbench/refused.stb:21:3
stb: error: workload oltp `w`: `warmup_time = 10s`: sysbench has no warm-up that is left out of the result
  --> tests/golden/export/sysbench/refused.stb:22:3
stb: warning: workload oltp `w`: `error_limit = 5`: sysbench judges nothing; look at the figure
  --> tests/golden/export/sysbench/refused.stb:25:3
=== account
stb: error: workload oltp `open_loop`: `rand_spec_pct = 1.5%`: sysbench takes whole percentages
  --> tests/golden/export/sysbench/refused.stb:34:3
stb: warning: workload oltp `open_loop`: `retry = rollback`: sysbench tries a failed transaction again without ROLLBACK; `retry = sysbench` does so too
  --> tests/golden/export/sysbench/refused.stb:28:1
stb: warning: workload oltp `open_loop`: `rate = 100/s`: sysbench counts latency from when an event was put into its queue, not from when it was due
  --> tests/golden/export/sysbench/refused.stb:32:3
stb: warning: workload oltp `open_loop`: `rate_tolerance = 10%`: sysbench judges nothing; look at the figure
  --> tests/golden/export/sysbench/refused.stb:33:3
