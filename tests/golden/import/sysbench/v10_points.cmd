sysbench select_random_points --tables=1 --random-points=20 --delta=3 --time=30 --rate=500 --warmup-time=5 --reconnect=10 run
