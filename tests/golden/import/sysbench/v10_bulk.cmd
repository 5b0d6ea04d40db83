sysbench bulk_insert --threads=4 --time=20 prepare && sysbench bulk_insert --threads=4 --time=20 --table-size=7 run
