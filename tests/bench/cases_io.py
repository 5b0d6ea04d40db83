"""I/O beside fio: 4KiB random read through psync with direct I/O on one file that holds data, one job."""
import json
import os
import shutil
import tempfile

from side_by_side import Bar, sh, stb_run, timed


class IoCase:
    peer = "fio"
    metric = "iops"

    def __init__(self, name, where, size, title, rate_bar, cpu_bar=None):
        self.name, self.where, self.size, self.title, self.rate_bar, self.cpu_bar = name, where, size, title, rate_bar, cpu_bar

    def __enter__(self):
        self.work = tempfile.mkdtemp(prefix="stb-bench-")
        self.dir = tempfile.mkdtemp(prefix="stb-bench-", dir=self.where)
        sh(["fio", "--name=layout", f"--directory={self.dir}", "--filename=fio.data", f"--size={self.size}M", "--rw=write", "--bs=1M",
            "--end_fsync=1"])
        self.empty_peer = timed([*self.peer_argv(), "--number_ios=1"])[1]
        self.empty_stb = stb_run(self.work, self.spec("size = 4KiB"))[1]
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.dir, ignore_errors=True)
        shutil.rmtree(self.work, ignore_errors=True)

    def before_pair(self):
        pass

    def peer_argv(self):
        return ["fio", "--name=bench", f"--directory={self.dir}", "--filename=fio.data", f"--size={self.size}M", "--rw=randread",
                "--bs=4k", "--direct=1", "--ioengine=psync", "--thread", "--norandommap", "--randrepeat=0", "--output-format=json"]

    def run_peer(self, seconds):
        out, cpu = timed([*self.peer_argv(), "--time_based", f"--runtime={seconds}"])
        read = json.loads(out)["jobs"][0]["read"]
        return read["iops"], read["total_ios"], cpu - self.empty_peer

    def spec(self, limit):
        return f"""stb 1
storage directory target {{
  path = "{self.dir}"
}}
volume v {{
  storage = target
}}
workload io read4k {{
  volume      = v
  {limit}
  rw          = randread
  bs          = 4KiB
  ioengine    = psync
  direct      = true
  norandommap = true
  randrepeat  = false
}}
matrix m {{
  workload = read4k
}}
"""

    def run_stb(self, seconds):
        metrics, cpu = stb_run(self.work, self.spec(f"size = {self.size}MiB runtime = {seconds}s time_based = true"))
        return metrics["iops"], metrics["iops"] * seconds, cpu - self.empty_stb


CASES = [
    IoCase("psync-tmpfs", "/dev/shm", 256, "psync 4KiB random read, direct, file on tmpfs, one job", Bar(least=1.0)),
    IoCase("psync-disk", "/var/tmp", 1024, "psync 4KiB random read, direct, file on disk, one job", Bar()),
]
