sysbench oltp_read_write --mysql-password="secret run
