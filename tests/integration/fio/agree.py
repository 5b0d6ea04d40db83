"""agree.py - does one fio report agree with one stb run, workload by workload? Prints a line for each that does not; exit 1 then.

   agree.py FIO.json RUN-DIR
   agree.py FIO.json FIO.json

What fio did is added up over the clones of a job. Bytes and I/Os are equal, in each direction; in a mix, where each side draws its own
directions, the total is equal and the share of reads within six points. fio counts what it reads to verify, stb does not.
"""
import csv
import json
import os
import re
import sys


def of_fio(path):
    with open(path) as f:
        text = f.read()
    jobs = {}
    for job in json.loads(text[text.index("{"):])["jobs"]:
        options = job.get("job options", {})
        entry = jobs.setdefault(job["jobname"], {d: [0, 0] for d in ("read", "write")})
        for direction in entry:
            if direction == "read" and "verify" in options:
                continue
            entry[direction][0] += job[direction]["total_ios"]
            entry[direction][1] += job[direction]["io_bytes"]
    return {name: job for name, job in jobs.items() if any(n for n, _ in job.values())}


def of_stb(directory):
    jobs, rows = {}, {}
    with open(os.path.join(directory, "results.csv")) as f:
        for row in csv.DictReader(f):
            part = row["metric"].split(".")[0]  # of a mix: NAME.metric
            mixed = "." in row["metric"] and part not in ("read", "write", "trim", "sync")
            name, metric = (part, row["metric"][len(part) + 1:]) if mixed else (row["workload"], row["metric"])
            rows.setdefault(name, {})[metric] = float(row["value"])
    for name, metrics in rows.items():
        if "runtime_ms" not in metrics:  # what counts for a mix as a whole
            continue
        seconds = metrics["runtime_ms"] / 1000
        jobs[name] = {d: [round(metrics.get(d + ".iops", 0) * seconds), round(metrics.get(d + ".io_bytes", 0))] for d in ("read", "write")}
        if not any(n for n, _ in jobs[name].values()):  # one direction only: no prefix
            jobs[name]["all"] = [round(metrics["iops"] * seconds), round(metrics["io_bytes"])]
    return jobs


def total(job, i):
    return sum(numbers[i] for numbers in job.values())


def same(a, b, several_sizes):
    if a["read"][0] and a["write"][0]:
        share = [job["read"][1] / total(job, 1) for job in (a, b)]
        return total(a, 0) == total(b, 0) and total(a, 1) == total(b, 1) and abs(share[0] - share[1]) <= 0.06
    if several_sizes:
        return total(a, 1) == total(b, 1)
    if "all" in b:
        return [total(a, 0), total(a, 1)] == b["all"]
    return all(a[d] == b[d] for d in ("read", "write"))


def main():
    theirs, other = of_fio(sys.argv[1]), sys.argv[2]
    ours = of_stb(other) if os.path.isdir(other) else of_fio(other)
    bad = 0
    for name in theirs.keys() | ours.keys():
        a, b = theirs.get(name), ours.get(name)
        if not a or not b or not same(a, b, re.search("sizes", name)):
            print(f"{name}: fio {a}, the other {b}")
            bad = 1
    sys.exit(bad)


main()
