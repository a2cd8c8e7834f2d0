#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds keysieve, makes data, measures it and its peers, and writes results.json, the tables of README.md and
the pictures. Takes some twenty minutes and 15 GB in the scratch directory; progress goes to standard error."""
import argparse
import json
import os
import subprocess
import sys

from suite import dedup, files, jobs, machine, micro, organisations, peers, pictures, report
from suite.context import Context

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
PARTS = {"floors": (micro.floors, 1), "micro": (micro.micro, 1), "build": (jobs.build, 2), "memory": (jobs.memory, 1),
         "keys": (jobs.keys, 6), "get": (jobs.get, 1), "cold": (jobs.cold, 1), "process": (jobs.process, 1),
         "gzip": (jobs.gzip, 2), "peers": (peers.peers, 10), "growth": (jobs.growth, 4),
         "organisations": (organisations.organisations, 15), "files": (files.files, 3), "dedup": (dedup.dedup, 3),
         "day": (dedup.day, 2)}
USUAL = [p for p in PARTS if p != "day"]


def parse():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--quick", action="store_true", help="1,000,000 records instead of 10,000,000; changes no README")
    p.add_argument("--large", action="store_true", help="growth and organisations up to 100,000,000 keys: 20 GB more")
    p.add_argument("--day", action="store_true", help="also the part day: dedup of 864,000,000 ids a day, half an hour and 35 GB")
    p.add_argument("--records", type=int, metavar="N", help="so many records")
    p.add_argument("--runs", type=int, metavar="N", default=5, help="runs of each command; the median counts (5)")
    p.add_argument("--seed", type=int, default=1, help="of the data (1)")
    p.add_argument("--only", metavar="PART,...", help=f"only these parts of {', '.join(PARTS)}; the other results stay")
    p.add_argument("--slow-peers", action="store_true", help="peers that take minutes, too")
    p.add_argument("--work", metavar="DIR", default=os.path.join(os.environ.get("TMPDIR", "/tmp"), "keysieve-bench"),
                   help="scratch directory on the disk to measure; its data files are used again ($TMPDIR/keysieve-bench)")
    p.add_argument("--keep", action="store_true", help="keep also the largest data files")
    p.add_argument("--build", metavar="DIR", help="use this build as it is; else build/benchmarks is made")
    p.add_argument("--output", metavar="DIR", help="where results.json, README.md and pictures go: with --quick or --records "
                   "the scratch directory's folder out, else this folder")
    p.add_argument("--report", action="store_true", help="measure nothing, write tables and pictures anew")
    options = p.parse_args()
    own_size = options.records or options.quick
    options.records = options.records or (1000000 if options.quick else 10000000)
    options.output = os.path.abspath(options.output or (os.path.join(options.work, "out") if own_size else HERE))
    unknown = [x for x in (options.only or "").split(",") if x and x not in PARTS]
    if unknown or options.records < 1000 or not 0 < options.runs <= 15:
        p.error(f"no such part: {unknown[0]}" if unknown else "1000 records at least, 1 to 15 runs")
    return options


def build_release():
    build = os.path.join(ROOT, "build", "benchmarks")
    subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DKSV_BUILD_BENCHMARKS=ON", "-DKSV_BUILD_TESTS=OFF"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build], check=True, stdout=subprocess.DEVNULL)
    return build


def load(path):
    if not os.path.exists(path):
        return {"results": {}, "notes": {}}
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def save(document, path):
    """JSON with a line for each result."""
    whole = dict(document, results={})
    lines = [f" {json.dumps(name)}: {json.dumps(document['results'][name])}" for name in sorted(document["results"])]
    text = json.dumps(whole, indent=1, sort_keys=True).replace('"results": {}', '"results": {\n' + ",\n".join(lines) + "\n }")
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(text + "\n")
    os.rename(path + ".new", path)


def measure(options, parts, document, path):
    os.makedirs(options.work, exist_ok=True)
    build = os.path.abspath(options.build) if options.build else build_release()
    c = Context(options, build, os.path.abspath(options.work))
    adds = not set(USUAL) <= set(parts) and document.get("records") == options.records
    if adds:
        c.results, c.notes = document["results"], document["notes"]
    elif "day" not in parts:
        c.results = {name: r for name, r in document["results"].items() if name.startswith("day.")}
    c.total = sum(PARTS[p][1] for p in parts)
    c.done = 0
    about = machine.describe(c.work, build, ROOT)
    c.remove("main")
    measured = {"records": c.records, "runs": c.runs, "machine": document["machine"] if adds else about,
                "results": c.results, "notes": c.notes, "parts": document.get("parts", {}) if adds else {}}
    failed = []
    for part in parts:
        load_before = os.getloadavg()[0]
        try:
            PARTS[part][0](c)
        except Exception as e:  # pylint: disable=broad-except
            # Whatever it was, the other parts and what was measured are worth having.
            c.say(f"{part} FAILED: {e!r}")
            failed.append(part)
        load = max(load_before, os.getloadavg()[0])
        measured["parts"][part] = {"version": about["version"], "date": machine.now(), "load": load, "whole": part not in failed}
        save(measured, path)
    c.remove("main")
    c.say(f"done, but for {', '.join(failed)}" if failed else "done")
    return measured, failed


def publish(document, output):
    """The tables, in README.md and what else shows figures; elsewhere than here in new files."""
    r = report.Report(document)
    pages = {"README.md": r.text()}
    pages["organisations.md" if output != HERE else "../docs/organisations.md"] = r.choice()
    for name, text in pages.items():
        page = os.path.join(output, name)
        if not os.path.exists(page):
            with open(page, "w", encoding="utf-8") as f:
                f.write(f"{report.BEGIN}\n{report.END}\n")
        report.publish(text, page)
    pictures_made = pictures.draw_all(document, os.path.join(output, "pictures"), r.sizes(),
                                      report.organisation_tables.sizes(r))
    if not pictures_made:
        print("No pictures: gnuplot is not installed.", file=sys.stderr)
    return r


def main():
    options = parse()
    os.makedirs(options.output, exist_ok=True)
    path = os.path.join(options.output, "results.json")
    document, failed = load(path), []
    if not options.report:
        wanted = options.only.split(",") if options.only else USUAL
        parts = [p for p in PARTS if p in wanted or (p == "day" and options.day)]
        document, failed = measure(options, parts, document, path)
    print(publish(document, options.output).reached())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
