sysbench fileio --file-total-size=1G run
