mysql -psecret -e "create database sbtest"; sleep 5
