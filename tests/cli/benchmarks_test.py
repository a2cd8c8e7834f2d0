#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The benchmarks run from end to end on a few records, what they wrote is whole, and
the published tables are those of the published results. Times are not judged."""
import argparse
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
import run  # noqa: E402
from suite import file_tables, organisations, reach, report  # noqa: E402

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
    r = report.Report(document)
    check(r.text() in read(HERE, "README.md"), "benchmarks/README.md is not what run.py --report writes")
    check(r.choice() in read(ROOT, "docs", "organisations.md"), "docs/organisations.md is not what run.py --report writes")
    for row in reach.rows(document["results"]):
        check(row.reached is not False or row.note, f"no reason is given for what is not reached: {row.what}")


def check_paper():
    """Of a thousandth of the files, all of it by hand: 0x64 is 6 segments of sixteen files and 4 of one."""
    values = {"files.small.files": 10, "files.small.one.catalog_bytes": 1000, "files.small.many.catalog_bytes": 3000,
              "files.small.one.process.present": 1, "files.small.many.process.present": 1.5,
              "files.small.one.get.absent.single.safe": 1000, "files.small.many.get.absent.single.safe": 31000,
              "files.small.one.process.absent.peak": 1e6, "files.small.many.process.absent.peak": 1.005e6,
              "files.merged.one.build.a_record": 40, "files.merged.many.build.a_record": 90,
              "build.csv.2_threads.a_record": 50, "build.csv.filter_bits_a_key": 12, "build.csv.table_bytes": 6000,
              "build.csv.records": 1000}
    r = report.Report({"results": {name: {"value": v, "unit": ""} for name, v in values.items()}, "notes": {}})
    text = file_tables.on_paper(r, 100, 10)
    for fact in ("10 are left", "goes through 1 merges", "table 48 bits", "catalog 200 bytes a file", "3.0 µs each",
                 "50.0 µs a file", "500 bytes a file", "50 ns a record and 50 ns a merge"):
        check(fact in text, f"on paper, not \"{fact}\":\n{text}")
    del r.results["files.merged.one.build.a_record"]
    check("not enough" in file_tables.on_paper(r, 100, 10), "on paper out of too little")


def check_failing_part(work):
    """A part that fails, in whatever way, loses neither what others measured nor what is known already."""
    def bad(c):
        c.put("bad.early", 1, "s")
        raise KeyError("missing")

    options = argparse.Namespace(records=1000, runs=1, work=work, build=BUILD)
    known = {"records": 1000, "runs": 1, "machine": {"version": "old"}, "results": {"known": {"value": 3, "unit": "s"}}, "notes": {}}
    path = os.path.join(work, "results.json")
    parts, run.PARTS = run.PARTS, {"bad": (bad, 1), "good": (lambda c: c.put("good", 2, "s"), 1), "other": (bad, 1)}
    try:
        document, failed = run.measure(options, ["bad", "good"], known, path)
    finally:
        run.PARTS = parts
    check(failed == ["bad"], f"failed: {failed}")
    check(document == json.loads(read(path)), "what was saved is not what was measured")
    check(sorted(document["results"]) == ["bad.early", "good", "known"], f"results: {sorted(document['results'])}")
    check([p["whole"] for p in document["parts"].values()] == [False, True], f"parts: {document['parts']}")
    check(document["machine"]["version"] == "old", "the version of what was known before is lost")


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
    excused = [n for n in notes if n in ("floor.igzip", "bgzf") or n.startswith("organisations.")]
    check(len(missing) <= len(excused), f"not measured: {missing}")
    check(all(r["value"] >= 0 for r in results.values()), "a result below 0")
    check(results["cold.table_pages_a_key"]["value"] == 1, "a cold lookup did not read one page")
    check(results["cold.data_reads_a_key"]["value"] == 1, "a cold lookup did not do one read")
    check_organisations(results, notes)
    check_files(results)
    text = read(out, "README.md")
    for heading in ("Reached", "Floors", "Builds", "Lookups", "Other systems", "Other keys", "Organisations", "Many files", "Growth"):
        check(f"### {heading}" in text, f"the report has no {heading}")
    check("quicker than scans after" in read(out, "organisations.md"), "nothing is said of which organisation to choose")


def check_organisations(results, notes):
    def value(way, fact):
        return results[f"organisations.1000.{way}.{fact}"]["value"]

    check(results["organisations.1000.scan.present"]["value"] > 0, "no linear scan")
    for way in organisations.WAYS:
        if f"organisations.{way}" in notes:
            check("organisation" in notes[f"organisations.{way}"], f"{way} is left out: {notes[f'organisations.{way}']}")
            check(way not in ("hash", "sorted"), f"{way} is left out")
            continue
        check(value(way, "with.present.pages") == 1 or way == "sorted_in_order", f"{way}: a present key takes not one page")
        check(value(way, "with.absent.pages") < 0.1, f"{way}: absent keys read pages in spite of the filter")
        check(value(way, "without.absent.pages") > 0, f"{way}: absent keys read no pages without a filter")
        check(value(way, "bare.bytes_a_key") < value(way, "bytes_a_key"), f"{way}: a filter that takes nothing")


def check_files(results):
    def value(name):
        return results[f"files.{name}"]["value"]

    check(value("small.files") == 10 and value("large.files") == 4, "other numbers of files")
    for shape in ("small", "large"):
        for which in ("one", "many"):
            check(value(f"{shape}.{which}.present.of_one.table_pages_read") == 1, f"{shape}, {which}: not one page")
            check(value(f"{shape}.{which}.present.of_one.data_reads") == 1, f"{shape}, {which}: not one read")
            check(value(f"{shape}.{which}.absent.of_one.data_reads") == 0, f"{shape}, {which}: reads of an absent key")
        check(value(f"{shape}.many.catalog_bytes") > value(f"{shape}.one.catalog_bytes"), f"{shape}: no larger catalog")


def main():
    check_arithmetic()
    check_reach()
    check_paper()
    check_published()
    with tempfile.TemporaryDirectory() as work:
        check_failing_part(work)
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
