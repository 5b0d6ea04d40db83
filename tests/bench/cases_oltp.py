"""OLTP beside sysbench: its scripts over the socket of one server, 4 tables of 100,000 rows, uniform keys, commits written once a second.

The data set is made by sysbench once. A script that changes it starts each pair from a copy of the stopped server's directory, with purge
idle; one that only reads has nothing to restore.
"""
import os
import shutil
import signal
import subprocess
import tempfile
import time

from side_by_side import Bar, server, sh, stb_run, timed


class OltpCase:
    peer = "sysbench"
    metric = "tps"
    note = None
    sock = "/run/server.sock"

    def __init__(self, name, script, threads, rate_bar, cpu_bar, ps_mode="auto"):
        self.name, self.script, self.threads, self.ps_mode = name, script, threads, ps_mode
        self.rate_bar, self.cpu_bar = rate_bar, cpu_bar
        self.title = f"{script}, {threads} threads" + ("" if ps_mode == "auto" else ", text protocol")
        self.writes = script in ("read_write", "write_only")

    def start(self):
        me = subprocess.run(["id", "-un"], stdout=subprocess.PIPE, text=True).stdout.strip()
        self.process = subprocess.Popen(
            [server(), "--no-defaults", f"--datadir={self.db}/data", f"--socket={self.sock}", "--skip-networking", f"--user={me}",
             "--innodb-buffer-pool-size=512M", "--innodb-log-file-size=256M", "--innodb-flush-log-at-trx-commit=2",
             "--max-connections=600", "--max-prepared-stmt-count=100000", f"--log-error={self.db}/log"], stdin=subprocess.DEVNULL)
        for _ in range(600):
            if os.path.exists(self.sock):
                return
            time.sleep(0.1)
        raise RuntimeError(open(f"{self.db}/log").read()[-2000:])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(300)

    def sql(self, text):
        return sh(["mariadb", "--no-defaults", "-S", self.sock, "-u", "root", "-N", "-e", text])

    def __enter__(self):
        me = subprocess.run(["id", "-un"], stdout=subprocess.PIPE, text=True).stdout.strip()
        self.work = tempfile.mkdtemp(prefix="stb-bench-")
        self.db = tempfile.mkdtemp(prefix="stb-bench-db-", dir="/var/tmp")
        self.sock = os.path.join(self.db, "s.sock")
        sh(["mariadb-install-db", "--no-defaults", "--force", f"--datadir={self.db}/data", f"--user={me}", "--skip-test-db",
            "--auth-root-authentication-method=normal"])
        self.start()
        self.sql("create database sbtest")
        self.common = ["--db-driver=mysql", f"--mysql-socket={self.sock}", "--mysql-user=root", "--mysql-db=sbtest", "--tables=4",
                       "--table-size=100000", "--rand-type=uniform", f"--db-ps-mode={self.ps_mode}", f"--threads={self.threads}"]
        sh(["sysbench", "oltp_read_write", *self.common, "prepare"])
        if self.writes:
            self.stop()
            shutil.copytree(f"{self.db}/data", f"{self.db}/saved")
            self.start()
        self.empty_peer = timed(["sysbench", f"oltp_{self.script}", *self.common, "--time=0", "--events=1", "run"])[1]
        self.empty_stb = stb_run(self.work, self.spec("events = 1"))[1]
        self.run_peer(2)
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.db, ignore_errors=True)
        shutil.rmtree(self.work, ignore_errors=True)

    def before_pair(self):
        if not self.writes:
            return
        self.stop()
        shutil.rmtree(f"{self.db}/data")
        shutil.copytree(f"{self.db}/saved", f"{self.db}/data")
        self.start()
        self.run_peer(1)
        while int(self.sql("show global status like 'Innodb_history_list_length'").split()[1]) > 20:
            time.sleep(0.2)

    def run_peer(self, seconds):
        out, cpu = timed(["sysbench", f"oltp_{self.script}", *self.common, f"--time={seconds}", "run"])
        found = {}
        for line in out.splitlines():
            word = line.split()
            if word and word[0] in ("transactions:", "queries:"):
                found[word[0]] = (int(word[1]), float(word[2].lstrip("(")))
        return found["transactions:"][1], found["queries:"][0], cpu - self.empty_peer

    def spec(self, limit):
        """limit: a number of seconds, or another line that ends it."""
        limit = limit if isinstance(limit, str) else f"time = {limit}s"
        return f"""stb 1
database external db {{
  socket = "{self.sock}"
  user   = "root"
}}
workload oltp load {{
  database   = db
  script     = {self.script}
  tables     = 4
  table_size = 100000
  threads    = {self.threads}
  {limit}
  db_ps_mode = {self.ps_mode}
  rand_type  = uniform
  dataset    = use
}}
matrix m {{
  workload = load
}}
"""

    def run_stb(self, seconds):
        metrics, cpu = stb_run(self.work, self.spec(seconds))
        return metrics["tps"], metrics["qps"] * seconds, cpu - self.empty_stb


CASES = [
    OltpCase("point-select-16", "point_select", 16, Bar(least=1.0), None),
    OltpCase("read-write-16", "read_write", 16, Bar(), None),
    OltpCase("point-select-256", "point_select", 256, Bar(least=1.2), Bar(most=0.55)),
    OltpCase("point-select-256-text", "point_select", 256, Bar(least=1.2), Bar(most=0.55), "disable"),
    OltpCase("read-only-256", "read_only", 256, Bar(least=1.1), Bar(most=0.65)),
    OltpCase("read-write-256", "read_write", 256, Bar(least=1.05), Bar(most=0.65)),
    OltpCase("write-only-256", "write_only", 256, Bar(), Bar(most=0.65)),
    OltpCase("point-select-2", "point_select", 2, Bar(least=0.98), Bar(most=0.95)),
    OltpCase("read-write-2", "read_write", 2, Bar(least=0.98), Bar(most=0.95)),
]
