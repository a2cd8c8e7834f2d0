# SPDX-License-Identifier: MIT
"""Floors of the machine and the pieces of keysieve alone."""
import glob
import os
import re
import subprocess

from . import data

# Run with arguments of their own, by other parts or by hand; all others are picked up here.
KNOWN = {"bench_floors", "bench_filter", "bench_table", "bench_get", "bench_cold", "bench_lookup", "bench_scan",
         "bench_dedup", "bench_organisation"}
# Arguments for few records and for many.
ARGUMENTS = {"bench_inflate": ((2, 1), (32, 3)), "bench_sort": ((20000, 1), ()), "bench_filter_keys": ((20000,), ()),
             "bench_sorted": ((20000,), ())}
SCAN_ROW = re.compile(r"^(.{25})\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+) \|\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+) \|")


def floors(c):
    c.part("floors of the machine")
    path = data.data_file(c, "csv", c.records)
    c.bench("bench_floors", path, c.runs, 256 if c.records >= 1000000 else 16)


def scan(c):
    megabytes = 64 if c.records >= 1000000 else 1
    out = subprocess.run([c.program("bench_scan"), str(megabytes), "3"], stdout=subprocess.PIPE, text=True, check=True,
                         cwd=c.work).stdout
    for row in out.splitlines():
        m = SCAN_ROW.match(row)
        if m:
            name = re.sub(r"[^a-z0-9]+", "_", m.group(1).strip().lower())
            c.put(f"scan.{name}", float(m.group(2)), "GB/s")


def micro(c):
    c.part("pieces: filter, table, hash, scan")
    small = c.records < 1000000
    c.bench("bench_filter", c.runs, 100000 if small else 8300000, 20000 if small else 1000000)
    c.bench("bench_table", c.runs, 100000 if small else 1000000)
    scan(c)
    for path in sorted(glob.glob(c.program("bench_*"))):
        name = os.path.basename(path)
        if name not in KNOWN and os.access(path, os.X_OK) and os.path.isfile(path):
            c.say(f"  {name}")
            try:
                c.bench(name, *ARGUMENTS.get(name, ((), ()))[0 if small else 1], prefix=f"{name[6:]}.")
            except (OSError, subprocess.SubprocessError) as e:
                c.say(f"  {e}")
