# the shell's variables are nobody's here
/root/workspace/sysbench-1.0.20/src/sysbench /root/workspace/sysbench-1.0.20/src/lua/oltp_read_write.lua \
  --mysql-host=${host} --mysql-port=${port} --mysql-user=test --mysql-password=Qwert-12345 --mysql-db=ptest \
  --tables=200 --table_size=100000 --report-interval=30 --threads=300 --time=600 run | tee "${result_dir}/x.log"
