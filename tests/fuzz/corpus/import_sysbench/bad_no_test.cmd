sysbench --threads=4 run
