"""Two programs side by side: pairs, ratios, the peer's own spread, CPU time, and the pages that say it.

A case has name, title, peer, bars (below), and two methods that do the same work for a number of seconds and return (rate, operations,
CPU seconds less those of an empty run), and, with a tail_bar, a latency in ns after them. It is a context manager that sets up and takes down; `before_pair` readies what a pair starts from.
"""
import csv
import os
import platform
import resource
import shutil
import statistics
import subprocess
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STB = os.path.join(TOP, "build/release/stb")
FIO = os.environ.get("STB_BENCH_FIO", "fio")  # another fio than the one in PATH


def sh(argv, **kw):
    """Runs argv, returns its standard output; the end of what it said goes into the error otherwise."""
    p = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, **kw)
    if p.returncode != 0:
        raise RuntimeError(f"{' '.join(argv)}: exit {p.returncode}\n{p.stdout[-2000:]}\n{p.stderr[-2000:]}")
    return p.stdout


def timed(argv):
    """The standard output of argv and the CPU seconds of its process and of all that it waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = sh(argv)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def stb_run(work, spec):
    """One `stb run` of a spec, one repetition a cell: the valid metrics of the last cell, and the CPU seconds of the whole run."""
    n = len(os.listdir(work))
    path = os.path.join(work, f"bench-{n}.stb")
    out = os.path.join(work, f"run-{n}")
    with open(path, "w") as f:
        f.write(spec)
    _, cpu = timed([STB, "run", path, "-o", out])
    with open(os.path.join(out, "results.csv")) as f:
        rows = list(csv.DictReader(f))
    if not rows or any(not r["status"] in ("ok", "ended_by_size") for r in rows):
        raise RuntimeError(f"{out}: no valid result: {rows}")
    shutil.rmtree(out)
    return {r["metric"]: float(r["value"]) for r in rows if r["cell"] == rows[-1]["cell"]}, cpu


class Bar:
    """What a ratio (stb over peer) must be: at least or at most a number, or inside the peer's spread against itself and at 0.95 or better.

    aim: what is hoped for beyond the bar. lower: less is better (for the spread).
    """

    def __init__(self, least=None, most=None, aim=None, lower=False):
        self.least, self.most, self.aim, self.lower = least, most, aim, lower

    def __str__(self):
        text = f"at least {self.least}" if self.least is not None else f"at most {self.most}" if self.most is not None else "in the spread"
        return text + (f" (aim {self.aim})" if self.aim is not None else "")

    def met(self, median, spread):
        if self.least is not None:
            return median >= self.least
        if self.most is not None:
            return median <= self.most
        if self.lower:
            return median <= 1.05 and median <= max(spread)
        return median >= 0.95 and median >= min(spread)


def pairs(case, first, second, n, seconds):
    """n pairs, the order inside a pair alternating."""
    out = []
    for i in range(n):
        case.before_pair()
        if i % 2 == 0:
            a = first(seconds)
            b = second(seconds)
        else:
            b = second(seconds)
            a = first(seconds)
        out.append((a, b))
        print(f"    pair {i + 1}: {a[0]:.0f} {b[0]:.0f} ratio {b[0] / a[0]:.3f}, CPU {cpu_ns(a):.0f} {cpu_ns(b):.0f} ns an operation",
              flush=True)
    return out


def cpu_ns(r):
    return r[2] / r[1] * 1e9


def version(argv):
    try:
        return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return "absent"


def environment():
    model = ""
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return [
        ("date", time.strftime("%Y-%m-%d", time.gmtime())),
        ("kernel", platform.release().split("-")[0]),
        ("CPU", f"{os.cpu_count()} x {model}"),
        ("stb", version([STB, "version"])),
        ("fio", version([FIO, "--version"])),
        ("sysbench", version(["sysbench", "--version"])),
        ("server", version([server(), "--no-defaults", "--version"]).split("mariadbd")[-1].strip()),
    ]


def server():
    return shutil.which("mariadbd") or "/usr/sbin/mariadbd"


def measure(case, n_peer, n, seconds):
    """Runs a case: (rows of the CSV file, rows of the table)."""
    print(case.title, flush=True)
    with case:
        print(f"  {case.peer} against {case.peer}", flush=True)
        aa = pairs(case, case.run_peer, case.run_peer, n_peer, seconds)
        print(f"  {case.peer} against stb", flush=True)
        ab = pairs(case, case.run_peer, case.run_stb, n, seconds)
    figures = [[case.name, case.metric, kind, i + 1, f"{a[0]:.1f}", f"{b[0]:.1f}", f"{b[0] / a[0]:.4f}", f"{cpu_ns(a):.1f}", f"{cpu_ns(b):.1f}"]
               for kind, rows in (("peer-peer", aa), ("peer-stb", ab)) for i, (a, b) in enumerate(rows)]
    table = []
    views = [(case.metric, lambda r: r[0], case.rate_bar), ("CPU, ns an operation", cpu_ns, case.cpu_bar)]
    if getattr(case, "tail_bar", None):
        views.append(("p99 latency, ns", lambda r: r[3], case.tail_bar))
    for what, value, bar in views:
        spread = [value(b) / value(a) for a, b in aa]
        ratios = [value(b) / value(a) for a, b in ab]
        median = statistics.median(ratios)
        table.append([case.title, what, f"{statistics.median(value(a) for a, _ in ab):,.0f}", f"{statistics.median(value(b) for _, b in ab):,.0f}",
                      f"{median:.3f}", f"{min(ratios):.3f}-{max(ratios):.3f}", f"{min(spread):.3f}-{max(spread):.3f}",
                      str(bar) if bar else "", ("yes" if bar.met(median, spread) else "no") if bar else ""])
        print(f"  {what}: median ratio {median:.3f}; {case.peer} against itself {min(spread):.3f}..{max(spread):.3f}", flush=True)
    return figures, table


def write(out, title, command, n_peer, n, seconds, figures, table, notes):
    """OUT.csv with every pair and OUT.md with the table, the notes and the environment."""
    os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
    with open(out + ".csv", "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(["case", "metric", "pairing", "pair", "first", "second", "ratio", "first_cpu_ns", "second_cpu_ns"])
        w.writerows(figures)
    head = ["case", "metric", "peer", "stb", "ratio", "range of ratios", "peer against itself", "bar", "met"]
    width = [max(len(str(r[i])) for r in [head, *table]) for i in range(len(head))]
    with open(out + ".md", "w") as f:
        f.write(f"# {title}\n\nMedians of {n} pairs of {seconds} s ({n_peer} of the peer against itself), alternating, in one run; the ratio is stb's figure over the peer's, pair by pair. "
                "CPU time is that of the whole process (wait4) less that of an empty run.\n"
                "\"In the spread\": the median ratio is not below the peer's range against itself, and at 0.95 or more.\n\n")
        for r in [head, ["-" * w for w in width], *table]:
            f.write("| " + " | ".join(str(c).ljust(w) for c, w in zip(r, width)) + " |\n")
        for note in notes:
            f.write(f"\n{note}\n")
        f.write("\n| environment | |\n| --- | --- |\n")
        for k, v in environment():
            f.write(f"| {k} | {v} |\n")
        f.write(f"\nRemade by `{command}`; every pair is in the CSV file beside this one.\n")
    print(open(out + ".md").read())
    index(os.path.dirname(os.path.abspath(out)))


def index(folder):
    """FOLDER/README.md: the rows of all pages there, by name."""
    head, rows = None, []
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".md") or name == "README.md" or not os.path.exists(os.path.join(folder, name[:-3] + ".csv")):
            continue
        with open(os.path.join(folder, name)) as f:
            table = [[c.strip() for c in line.strip().strip("|").split("|")] for line in f if line.startswith("|")]
        head = ["page", *table[0]]
        for r in table[2:]:
            if len(r) == len(table[0]):
                rows.append([f"[{name[:-3]}]({name})", *r])
    if not rows:
        return
    width = [max(len(r[i]) for r in [head, *rows]) for i in range(len(head))]
    with open(os.path.join(folder, "README.md"), "w") as f:
        f.write("# stb beside fio and sysbench\n\nWhat each page of this folder says, with its environment; every pair is in the CSV file beside it.\n\n")
        for r in [head, ["-" * w for w in width], *rows]:
            f.write("| " + " | ".join(c.ljust(w) for c, w in zip(r, width)) + " |\n")
