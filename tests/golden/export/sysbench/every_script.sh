#!/bin/sh
# workload base on database server, for sysbench 1.0.20
set -eu
sysbench oltp_read_write --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=special --threads=4 prepare
sysbench oltp_read_write --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=special --time=60 --events=0 --report-interval=10 --rand-seed=7 --percentile=99 \
  --threads=8 run
sysbench oltp_read_write --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=special --threads=1 cleanup
=== and
#!/bin/sh
# workload point_select on database server, for sysbench 1.0.20
set -eu
sysbench oltp_point_select --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=special --threads=4 prepare
sysbench oltp_point_select --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=special --db-ps-mode=disable --time=60 --events=0 --report-interval=10 \
  --rand-seed=7 --percentile=99 --threads=8 run
sysbench oltp_point_select --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=special --threads=1 cleanup
=== and
#!/bin/sh
# workload read_only on database server, for sysbench 1.0.20
set -eu
sysbench oltp_read_only --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=special --threads=4 prepare
sysbench oltp_read_only --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=special --point_selects=5 --sum_ranges=0 --range_size=50 --skip_trx=on --time=60 \
  --events=0 --report-interval=10 --rand-seed=7 --percentile=99 --threads=8 run
sysbench oltp_read_only --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=special --threads=1 cleanup
=== and
#!/bin/sh
# workload write_only on database server, for sysbench 1.0.20
set -eu
sysbench oltp_write_only --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=gaussian --threads=4 prepare
sysbench oltp_write_only --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=gaussian --index_updates=3 --delete_inserts=0 --time=60 --events=0 \
  --report-interval=10 --rand-seed=7 --percentile=99 --threads=8 run
sysbench oltp_write_only --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=gaussian --threads=1 cleanup
=== and
#!/bin/sh
# workload insert on database server, for sysbench 1.0.20
set -eu
sysbench oltp_insert --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --auto-inc=off --rand-type=special --threads=4 prepare
sysbench oltp_insert --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --auto-inc=off --rand-type=special --mysql-ignore-errors=1062,1213 --time=60 --events=1000 \
  --report-interval=10 --rand-seed=7 --percentile=99 --threads=8 run
sysbench oltp_insert --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --auto-inc=off --rand-type=special --threads=1 cleanup
=== and
#!/bin/sh
# workload delete on database server, for sysbench 1.0.20
set -eu
sysbench oltp_delete --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=uniform --threads=4 prepare
sysbench oltp_delete --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=uniform --time=60 --events=0 --report-interval=10 --rand-seed=7 --percentile=99 \
  --threads=8 run
sysbench oltp_delete --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=uniform --threads=1 cleanup
=== and
#!/bin/sh
# workload update_index on database server, for sysbench 1.0.20
set -eu
sysbench oltp_update_index --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=special --time=60 --events=0 --report-interval=10 --rand-seed=7 --percentile=99 \
  --threads=8 run
=== and
#!/bin/sh
# workload update_non_index on database server, for sysbench 1.0.20
set -eu
sysbench oltp_update_non_index --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --create-secondary=off --rand-type=pareto --rand-pareto-h=0.3 --threads=4 prepare
sysbench oltp_update_non_index --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --create-secondary=off --rand-type=pareto --rand-pareto-h=0.3 --time=60 --events=0 \
  --report-interval=10 --rand-seed=7 --percentile=99 --threads=8 run
sysbench oltp_update_non_index --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --create-secondary=off --rand-type=pareto --rand-pareto-h=0.3 --threads=1 cleanup
=== and
#!/bin/sh
# workload special on database server, for sysbench 1.0.20
set -eu
sysbench oltp_read_write --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=special --rand-spec-iter=6 --rand-spec-pct=2 --rand-spec-res=50 --threads=4 prepare
sysbench oltp_read_write --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=special --rand-spec-iter=6 --rand-spec-pct=2 --rand-spec-res=50 --time=60 \
  --events=0 --report-interval=10 --rand-seed=7 --percentile=99 --threads=8 run
sysbench oltp_read_write --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=4 --table-size=5000 \
  --rand-type=special --rand-spec-iter=6 --rand-spec-pct=2 --rand-spec-res=50 --threads=1 cleanup
=== and
#!/bin/sh
# workload random_points on database server, for sysbench 1.0.20
set -eu
sysbench select_random_points --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=1 --table-size=20000 \
  --rand-type=special --threads=1 prepare
sysbench select_random_points --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=1 --table-size=20000 \
  --rand-type=special --random_points=20 --time=30 --events=0 --report-interval=10 --rand-seed=7 \
  --percentile=99 --threads=2 run
sysbench select_random_points --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=1 --table-size=20000 \
  --rand-type=special --threads=1 cleanup
=== and
#!/bin/sh
# workload random_ranges on database server, for sysbench 1.0.20
set -eu
sysbench select_random_ranges --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=1 --table-size=10000 \
  --rand-type=special --threads=1 prepare
sysbench select_random_ranges --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=1 --table-size=10000 \
  --rand-type=special --number_of_ranges=3 --delta=7 --time=30 --events=0 --report-interval=10 \
  --rand-seed=7 --percentile=99 --threads=2 run
sysbench select_random_ranges --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --tables=1 --table-size=10000 \
  --rand-type=special --threads=1 cleanup
=== and
#!/bin/sh
# workload bulk on database server, for sysbench 1.0.20
set -eu
sysbench bulk_insert --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --rand-type=special --threads=4 prepare
sysbench bulk_insert --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --rand-type=special --time=20 --events=0 \
  --report-interval=10 --rand-seed=7 --percentile=99 --threads=4 run
sysbench bulk_insert --mysql-host=db.example --mysql-port=3307 --mysql-user='bench user' \
  --mysql-password="$BENCH_PASSWORD" --mysql-db=bench-1 --rand-type=special --threads=4 cleanup
