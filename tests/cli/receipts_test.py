#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What lookups read, by their own receipts and by the kernel's count of calls.

strace tells every read of every file by name, so the claim "an absent key reads no
page of a table and no data, a present one a page and one piece of data" is checked
against the kernel.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

TOOL = os.environ["KEYSIEVE"]
SANITIZED = bool(os.environ.get("KSV_SANITIZE"))
RECORDS = 60000
failures = []


def check(ok, what):
    if not ok:
        failures.append(what)


def receipts(index, keys, *how):
    r = subprocess.run([TOOL, "get", "-i", index, "--json", "--explain", "-q", *how, "-f", "-"],
                       input=b"".join(k + b"\n" for k in keys), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines = [json.loads(x) for x in r.stderr.splitlines() if x.startswith(b"{")]
    return r.returncode, lines


def kernel_reads(index, keys):
    """How often the kernel was asked to read table, filter and data files."""
    with tempfile.NamedTemporaryFile() as log:
        subprocess.run(["strace", "-f", "-y", "-e", "trace=read,pread64,readv,preadv,preadv2,mmap,io_uring_enter",
                        "-o", log.name, TOOL, "get", "-i", index, "-q", "--", *keys],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        text = open(log.name, "rb").read().decode("latin-1")
    calls = re.findall(r"^\d+ +(\w+)\(.*?<([^>]*)>(.*)$", text, re.M)
    count = {"table": 0, "filter": 0, "data": 0}
    for name, path, rest in calls:
        kind = {".kst": "table", ".ksf": "filter", ".csv": "data"}.get(os.path.splitext(path)[1])
        if kind:
            check(name != "mmap", f"{path} is mapped: reads of it cannot be counted")
            count[kind] += not rest.endswith("= 0")
    return count


def main():
    rnd = random.Random(5)
    with tempfile.TemporaryDirectory() as base:
        index, data = os.path.join(base, "ix"), os.path.join(base, "data.csv")
        with open(data, "w") as f:
            f.write("id,name,value\n")
            for i in range(RECORDS):
                f.write(f"k{i:07d},name {i},{'v' * (i % 90)}\n")
        subprocess.run([TOOL, "build", "-q", "-i", index, "-k", "id", data], check=True)

        absent = [b"absent%d" % i for i in range(5000)]
        rc, got = receipts(index, absent)
        check(rc == 1 and len(got) == len(absent), f"absent: exit {rc}, {len(got)} receipts")
        false = sum(r["false_positives"] for r in got)
        check(false < 5000 * 0.005 * 2, f"{false} false positives among 5,000 at a rate of 0.5 %")
        for r in got:
            check(r["filter_probes"] == 1, f"absent: {r}")
            check(r["table_pages_read"] == r["false_positives"] == r["filter_positives"], f"absent: {r}")
            check(r["data_reads"] == 0 or r["false_positives"], f"absent: {r}")

        present = [b"k%07d" % rnd.randrange(RECORDS) for _ in range(5000)]
        rc, got = receipts(index, present)
        check(rc == 0 and len(got) == len(present), f"present: exit {rc}, {len(got)} receipts")
        twice = sum(r["data_reads"] > 1 for r in got)
        check(twice < 5, f"{twice} of 5,000 lookups met a collision of hashes")
        for r in got:
            check(r["found"] == 1 and r["table_pages_read"] == 1, f"present: {r}")
            check(r["data_reads"] == 1 or twice, f"present: {r}")

        if SANITIZED:
            print("kernel counts are left to builds without sanitizers")
        else:
            quiet = next(k for k, r in zip(absent, receipts(index, absent)[1]) if not r["false_positives"])
            one = kernel_reads(index, [quiet])
            check(one["table"] == 0 and one["data"] == 0 and one["filter"] > 0, f"absent key, kernel's count: {one}")
            for key in present[:3]:
                seen = kernel_reads(index, [key])
                check(seen["data"] == 1, f"present key, kernel's count: {seen}")
                both = kernel_reads(index, [key, key])
                check(both["data"] == 2 and both["table"] == seen["table"] + 1,
                      f"the same key twice, kernel's count: {both}, once: {seen}")
                # Beside the page: header, footer and one page of fences of the table.
                check(seen["table"] <= 4, f"present key, kernel's count: {seen}")
    for f in failures[:20]:
        print("FAIL", f)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
