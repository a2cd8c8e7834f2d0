#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The benchmarks run from end to end on a few records, what they wrote is whole, and
the published tables are those of the published results. Times are not judged."""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.environ["KSV_SOURCE"]
BUILD = os.environ["KSV_BUILD"]
HERE = os.path.join(ROOT, "benchmarks")
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from suite import reach, report  # noqa: E402

failures = []


def check(ok, what):
    if not ok:
        failures.append(what)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def check_arithmetic():
    check(abs(report.slope([10, 100, 1000], [3, 30, 300]) - 1) < 1e-9, "the slope of a proportional cost is not 1")
    check(abs(report.slope([10, 100, 1000], [5, 5, 5])) < 1e-9, "the slope of a constant cost is not 0")
    check(report.slope([10, 100], [None, 5]) is None, "a slope through one point")
    shown = [report.number(x) for x in (None, 0, 1234.5, 12.345, 0.01234)]
    check(shown == ["–", "0", "1,234", "12.3", "0.0123"], f"numbers are shown as {shown}")


def reach_of(results, what):
    values = {name: {"value": value, "unit": "s"} for name, value in results.items()}
    rows = [r for r in reach.rows(values, {what: "a reason"}) if r.what == what]
    check(len(rows) == 1, f"{what}: {len(rows)} rows")
    return rows[0]


def check_reach():
    what = "build csv, 2 threads / `wc -l`"
    row = reach_of({"build.csv.2_threads.seconds": 2.8, "floor.wc.csv": 2.0}, what)
    check((row.measured, row.reached, row.note) == ("1.40 x", True, ""), f"a figure at its limit: {row}")
    row = reach_of({"build.csv.2_threads.seconds": 3.0, "floor.wc.csv": 2.0}, what)
    check((row.measured, row.reached, row.note) == ("1.50 x", False, "a reason"), f"a figure above its limit: {row}")
    row = reach_of({"floor.wc.csv": 2.0}, what)
    check(row.reached is None, f"a figure that was not measured: {row}")


def check_published():
    document = json.loads(read(HERE, "results.json"))
    text = report.Report(document).text()
    check(text in read(HERE, "README.md"), "benchmarks/README.md is not what run.py --report writes")


def run_all(work):
    command = [os.path.join(HERE, "run.py"), "--records", "1000", "--runs", "1", "--build", BUILD, "--work", work]
    r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
    check(r.returncode == 0, f"run.py ended with {r.returncode}:\n{r.stdout[-3000:]}")
    return r.returncode == 0


def check_results(out):
    document = json.loads(read(out, "results.json"))
    results, notes = document["results"], document["notes"]
    missing = [r.what for r in reach.rows(results) if r.measured == "not measured"]
    excused = [n for n in notes if n in ("floor.igzip", "bgzf")]
    check(len(missing) <= len(excused), f"not measured: {missing}")
    check(all(r["value"] >= 0 for r in results.values()), "a result below 0")
    check(results["cold.table_pages_a_key"]["value"] == 1, "a cold lookup did not read one page")
    check(results["cold.data_reads_a_key"]["value"] == 1, "a cold lookup did not do one read")
    text = read(out, "README.md")
    for heading in ("Reached", "Floors", "Builds", "Lookups", "Other systems", "Other keys", "Growth"):
        check(f"### {heading}" in text, f"the report has no {heading}")


def main():
    check_arithmetic()
    check_reach()
    check_published()
    if os.path.exists(os.path.join(BUILD, "benchmarks", "run_command")):
        with tempfile.TemporaryDirectory() as work:
            if run_all(work):
                check_results(os.path.join(work, "out"))
    else:
        print("This build has no benchmarks (KSV_BUILD_BENCHMARKS).")
    for f in failures:
        print("FAIL", f)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
