sysbench oltp_write_only --tables=2 --events=1000 --rand-type=pareto --rand-pareto-h=0.3 --rand-spec-pct=2 --rand-seed=7 --mysql-ignore-errors=1213,1205 --percentile=0 run
