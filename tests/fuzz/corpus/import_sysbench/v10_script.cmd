#!/bin/sh
set -eu
sysbench oltp_read_only --mysql-host=db.example --mysql-port=3307 --mysql-user=bench --mysql-password="$BENCH_PASSWORD" --tables=4 --table-size=5000 --threads=4 prepare
sysbench oltp_read_only --mysql-host=db.example --mysql-port=3307 --mysql-user=bench --mysql-password="$BENCH_PASSWORD" --tables=4 --table-size=6000 --threads=64 \
  --time=120 --events=0 --range_selects=off --sum-ranges=3 --skip_trx=on --histogram --verbosity=5 run >result.txt 2>&1
sysbench oltp_read_only --mysql-host=db.example --mysql-port=3307 --mysql-user=bench --mysql-password="$BENCH_PASSWORD" --tables=4 cleanup
