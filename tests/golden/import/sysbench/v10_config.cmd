sysbench --threads=2 --config-file=tests/golden/import/sysbench/example.cnf oltp_update_index --index-updates=3 --delete-inserts=2 run
