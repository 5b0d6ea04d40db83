"""I/O beside fio, on files that hold data, side by side on one file system, or on a raw zram device each; and the engine that does nothing.

fio runs with --thread --norandommap --randrepeat=0, both sides with full latency histograms. Where fio can hand over in batches
(iodepth_batch 1 and 16), both are tried and the one that costs less CPU is the peer. The CPU and the I/Os of a run of 0.1 s are taken off, so
starting and laying out are not counted; io_uring's kernel workers are threads of the process and are. stb lays its file out in each run, so
fio does too: on some disks what was just written is read at another speed than what has lain there.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from side_by_side import FIO, Bar, sh, stb_run, timed

EMPTY_S = 0.1

# fio with iodepth_batch alone still takes and hands over one I/O at a time; with iodepth_batch_complete_min it waits for a batch, which stb's
# iodepth_batch does too: those two are compared with each other.
BATCHES = {
    "1": ["--iodepth_batch=1"],
    "16": ["--iodepth_batch=16"],
    "16, waiting for 16": ["--iodepth_batch=16", "--iodepth_batch_complete_min=16", "--iodepth_batch_complete_max=32"],
}


class Zram:
    """
    A zram device of our own, raw or with ext4 on it, taken away at the end. Its directory, the mount point where there is one, is named after
    this process and holds the device's number: of a run that was killed, the next one takes the device away.
    """

    PREFIX = "/dev/shm/stb-bench-zram-"

    def __init__(self, mib, raw):
        self.sweep()
        self.dir = f"{self.PREFIX}{os.getpid()}"
        try:
            os.mkdir(self.dir)
            with open("/sys/class/zram-control/hot_add") as f:
                number = f.read().strip()
            with open(f"{self.dir}/number", "w") as f:
                f.write(number)
            self.device = f"/dev/zram{number}"
            with open(f"/sys/block/zram{number}/disksize", "w") as f:
                f.write(f"{mib}M")
            if not raw:
                sh(["mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", self.device])
                sh(["mount", self.device, self.dir])
        except BaseException:
            self.remove(self.dir)
            raise

    @classmethod
    def remove(cls, path):
        for _ in range(50):
            if not os.path.ismount(path) or not subprocess.run(["umount", path], stderr=subprocess.DEVNULL).returncode:
                break
            time.sleep(0.1)
        try:
            with open(f"{path}/number") as f:
                number = f.read()
        except OSError:  # it came to no device
            shutil.rmtree(path, ignore_errors=True)
            return
        for _ in range(100):
            try:
                with open(f"/sys/block/zram{number}/reset", "w") as f:
                    f.write("1")
                with open("/sys/class/zram-control/hot_remove", "w") as f:
                    f.write(number)
                shutil.rmtree(path)
                return
            except OSError:
                time.sleep(0.1)
        print(f"cannot remove /dev/zram{number}", file=sys.stderr)

    @classmethod
    def sweep(cls):
        for path in glob.glob(cls.PREFIX + "*"):
            if not os.path.exists(f"/proc/{path[len(cls.PREFIX):]}"):
                cls.remove(path)

    def close(self):
        self.remove(self.dir)


class IoCase:
    peer = "fio"
    metric = "iops"
    note = None
    dir = "/var/tmp"

    def __init__(self, name, title, rate_bar, cpu_bar=None, tail_bar=None, where=None, engine="psync", depth=1, rw="randread", bs=4096, size=256,
                 jobs=1, direct=True, batches=("1",), zram_mib=0, raw=False, stb_batch=1):
        self.name, self.title, self.rate_bar, self.cpu_bar, self.tail_bar = name, title, rate_bar, cpu_bar, tail_bar
        self.where, self.engine, self.depth, self.rw, self.bs, self.size, self.jobs = where, engine, depth, rw, bs, size, jobs
        self.direct, self.batches, self.zram_mib = direct and engine != "null", batches, zram_mib
        self.raw, self.stb_batch = raw, stb_batch

    def __enter__(self):
        self.zram = self.dir = None
        self.empty = {}
        self.batch = self.batches[0]
        self.work = tempfile.mkdtemp(prefix="stb-bench-")
        try:
            self.prepare()
        except BaseException:
            self.__exit__()
            raise
        return self

    def prepare(self):
        where = self.where
        if self.zram_mib:
            self.zram = Zram(self.zram_mib, self.raw)
            where = None if self.raw else self.zram.dir
        self.dir = tempfile.mkdtemp(prefix="stb-bench-", dir=where)
        self.empty["stb"] = self.empty_run(self.stb)
        cost = {}
        for self.batch in self.batches:
            self.empty[self.batch] = self.empty_run(self.fio)
            if len(self.batches) > 1:
                _, ios, cpu, _ = self.run_peer(2)
                cost[self.batch] = cpu / ios * 1e9
        if cost:
            self.batch = min(cost, key=cost.get)
            self.note = ("fio's CPU by iodepth_batch, ns an operation: " + ", ".join(f"{b}: {c:.0f}" for b, c in cost.items()) +
                         f"; the peer is fio with {self.batch}.")
            print("  " + self.note, flush=True)

    def __exit__(self, *_):
        if self.dir:
            shutil.rmtree(self.dir, ignore_errors=True)
        shutil.rmtree(self.work, ignore_errors=True)
        if self.zram:
            self.zram.close()

    def before_pair(self):
        pass

    @staticmethod
    def empty_run(run):
        """The run of median CPU out of three."""
        return sorted((run(EMPTY_S) for _ in range(3)), key=lambda r: r[2])[1]

    def fio(self, seconds):
        data = self.zram.device if self.raw else os.path.join(self.dir, "fio.data")
        if not self.raw and os.path.exists(data):
            os.unlink(data)
        if self.raw or "write" in self.rw:  # fio fills with data a file that it will read; no device, and no file that is only written
            sh([FIO, "--name=layout", f"--filename={data}", f"--size={self.size}M", "--rw=write", "--bs=1M", "--end_fsync=1",
                "--refill_buffers"])
        out, cpu = timed([FIO, "--name=bench", f"--filename={data}", f"--size={self.size}M", f"--rw={self.rw}",
                          f"--bs={self.bs}", f"--direct={int(self.direct)}", f"--ioengine={self.engine}", f"--iodepth={self.depth}",
                          *BATCHES[self.batch], f"--numjobs={self.jobs}", "--group_reporting", "--thread", "--norandommap",
                          "--randrepeat=0", "--lat_percentiles=1", "--time_based", f"--runtime={int(seconds * 1000)}ms",
                          "--output-format=json"])
        job = json.loads(out[out.index("{"):])["jobs"][0]["read" if "read" in self.rw else "write"]
        return job["iops"], job["total_ios"], cpu, job["lat_ns"]["percentile"]["99.000000"]

    def spec(self, seconds):
        """Files lie in self.dir; a raw device is one of stb's own."""
        writes = "write" in self.rw
        jobs = f"  numjobs     = {self.jobs}\n  shared_file = true\n" if self.jobs > 1 else ""
        batch = f"  iodepth_batch = {self.stb_batch}\n" if self.stb_batch > 1 else ""
        drawn = "  norandommap = true\n  randrepeat  = false\n" if "rand" in self.rw else ""
        common = f"""  size        = {self.size}MiB
  bs          = {self.bs}B
  ioengine    = {self.engine}
  iodepth     = {self.depth}
  direct      = {str(self.direct).lower()}
  time_based  = true
{batch}{jobs}"""
        prepare = "  prepare     = [fill]\n" if self.raw else ""
        fill = f"workload io fill {{\n  volume = v\n  size = {self.size}MiB\n  bs = 1MiB\n  rw = write\n  direct = true\n}}\n" if self.raw else ""
        # what is only written would not be laid out with data, as fio's file is: a moment of reading has it filled first
        before = f"workload io before {{\n  volume = v\n{common}  rw = randread\n  runtime = 10ms\n}}\n" if writes else ""
        kind, lines = ("zram", f"  size       = {self.size}MiB\n  filesystem = none") if self.raw else ("directory", f'  path = "{self.dir}"')
        return f"""stb 1
storage {kind} target {{
{lines}
}}
volume v {{
  storage = target
}}
{fill}{before}workload io bench {{
  volume      = v
{common}{drawn}{prepare}  rw          = {self.rw}
  runtime     = {int(seconds * 1000)}ms
}}
matrix m {{
  workload = [{"before, " if writes else ""}bench]
}}
"""

    def stb(self, seconds):
        metrics, cpu = stb_run(self.work, self.spec(seconds))
        return metrics["iops"], metrics["io_bytes"] / self.bs, cpu, metrics.get("lat_p99", 0) * 1e6

    def less_empty(self, side, run):
        _, ios, cpu, _ = self.empty[side]
        return run[0], run[1] - ios, run[2] - cpu, run[3]

    def run_peer(self, seconds):
        return self.less_empty(self.batch, self.fio(seconds))

    def run_stb(self, seconds):
        return self.less_empty("stb", self.stb(seconds))


def asynchronous(engine, bars, best):
    """depth 32 on zram and on the disk; bars: rate, CPU and tail of each."""
    suffix, fio = ("-best", "fio's best batch") if best else ("", "fio at iodepth_batch 1")
    batches = ("1", "16") if best else ("1",)
    what = f"{engine} 4KiB random read, depth 32, direct, ext4 on"
    return [
        IoCase(f"{engine}-zram{suffix}", f"{what} zram, {fio}", *bars[0], engine=engine, depth=32, batches=batches, zram_mib=1000),
        IoCase(f"{engine}-disk{suffix}", f"{what} disk, {fio}", *bars[1], where="/var/tmp", engine=engine, depth=32, batches=batches),
    ]


CASES = [
    IoCase("null", "null engine, one job, depth 1", Bar(least=5, aim=10), engine="null"),
    IoCase("null-32", "null engine, one job, depth 32, fio's best batch", Bar(least=5, aim=10), engine="null", depth=32, batches=("1", "16")),
    IoCase("psync-tmpfs", "psync 4KiB random read, direct, file on tmpfs, one job", Bar(least=1.2, aim=1.35), where="/dev/shm"),
    IoCase("psync-disk", "psync 4KiB random read, direct, file on disk, one job", Bar(), where="/var/tmp"),
    *asynchronous("io_uring", [(Bar(), Bar(most=0.7, aim=0.55)), (Bar(), Bar(most=0.75, aim=0.6), Bar(lower=True))], True),
    *asynchronous("libaio", [(Bar(), Bar(most=0.75, aim=0.65))] * 2, False),
    *asynchronous("libaio", [(Bar(), Bar(most=1.0, aim=0.9))] * 2, True),
    *[IoCase(f"{e}-raw-zram-best", f"{e} 4KiB random read, depth 32, direct, raw zram, fio's best batch", Bar(), cpu_bar, engine=e, depth=32,
             batches=("1", "16"), zram_mib=256, raw=True)
      for e, cpu_bar in (("io_uring", Bar(most=0.7, aim=0.55)), ("libaio", Bar(most=1.0, aim=0.9)))],
    *[IoCase(f"{e}-{n}-16", f"{e} 4KiB random read, depth 32, direct, ext4 on {n}, both waiting for 16 completions", None, engine=e, depth=32,
             batches=("16, waiting for 16",), stb_batch=16, **where)
      for e in ("io_uring", "libaio") for n, where in (("zram", {"zram_mib": 1000}), ("disk", {"where": "/var/tmp"}))],
    IoCase("seq-read", "io_uring 1MiB sequential read, depth 8, direct, ext4 on disk", Bar(), where="/var/tmp", engine="io_uring", depth=8,
           rw="read", bs=1 << 20, size=1024),
    IoCase("seq-write", "io_uring 1MiB sequential write, depth 8, direct, written ext4 file on disk", Bar(), where="/var/tmp", engine="io_uring",
           depth=8, rw="write", bs=1 << 20, size=1024),
    IoCase("fifty-jobs", "psync 4KiB random write, 50 jobs, one shared 1 GiB file on tmpfs", Bar(aim=1.1), where="/dev/shm", rw="randwrite",
           size=1024, jobs=50, direct=False),
]
