sysbench oltp_read_write run fast --mysql-password=secret; MYSQL_PWD=secret2 mysql -psecret3
