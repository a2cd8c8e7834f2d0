#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every key of the four CSV files of Debian's ieee-data, against Python's csv.

The places of the records come from here alone: the files are cut into records by
counting quotes, and each record is then read by the csv module.
"""
import collections
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

TOOL = os.environ["KEYSIEVE"]
DATA = "/usr/share/ieee-data"
FILES = [f"{DATA}/{n}.csv" for n in ("oui", "mam", "oui36", "iab")]
COLUMN = b"Assignment"
failures = []


def check(ok, what):
    if not ok:
        failures.append(what)


def call(*args, stdin=b""):
    return subprocess.run([TOOL, *args], input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def records(content):
    """(offset, bytes without the terminator) of each record: a line feed ends one
    when the quotes before it are even in number."""
    start = end = quotes = 0
    for line in io.BytesIO(content):
        quotes += line.count(b'"')
        end += len(line)
        if quotes % 2 == 0:
            body = content[start:end]
            body = body[:-1] if body.endswith(b"\n") else body
            body = body[:-1] if body.endswith(b"\r") else body
            yield start, body
            start = end


def fields(body):
    text = body.decode("latin-1")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert len(rows) == 1, body
    return [f.encode("latin-1") for f in rows[0]]


def expected():
    """key -> [(file, offset, record)], in file order then offset order."""
    places = collections.defaultdict(list)
    keyed = 0
    for name in FILES:
        with open(name, "rb") as f:
            content = f.read()
        rows = records(content)
        column = fields(next(rows)[1]).index(COLUMN)
        for offset, body in rows:
            row = fields(body)
            if len(row) > column and row[column]:
                places[row[column]].append((name, offset, body))
                keyed += 1
    return places, keyed


def main():
    places, keyed = expected()
    check(len(places) > 40000, f"only {len(places)} keys read by csv")
    check(any(len(p) > 1 for p in places.values()), "no duplicate id in the data")
    check(any(b"\n" in r for p in places.values() for _, _, r in p), "no quoted line break in the data")
    with tempfile.TemporaryDirectory() as base:
        index = os.path.join(base, "ix")
        r = call("build", "-i", index, "-k", "Assignment", *FILES)
        check(r.returncode == 0 and not r.stdout, f"build: exit {r.returncode}: {r.stderr[-300:]}")
        info = json.loads(call("info", "-i", index, "--json").stdout)
        check(info["distinct_keys"] == len(places), f"info: distinct_keys {info['distinct_keys']}, csv says {len(places)}")
        check(info["records"] - info["records_without_key"] == keyed, f"info: {info['records']} records, csv says {keyed}")

        asked = list(places)
        for how in ([], ["--scan"]):
            r = call("get", "-i", index, "--json", *how, "-f", "-", stdin=b"".join(k + b"\n" for k in asked))
            check(r.returncode == 0, f"get {how}: exit {r.returncode}: {r.stderr[-300:]}")
            got = [json.loads(line) for line in r.stdout.splitlines()]
            want = [(k, *p) for k in asked for p in places[k]]
            check(len(got) == len(want), f"get {how}: {len(got)} records, csv says {len(want)}")
            for o, (key, name, offset, body) in zip(got, want):
                said = (o["key"].encode(), o["file"], o["offset"], o["length"], o["record"].encode())
                if said != (key, name, offset, len(body), body):
                    check(False, f"get {how}: {said}, csv says {(key, name, offset, len(body), body)}")
                    break

        absent = [b"%06X" % (i * 1597 % 0x1000000) + b"-absent" for i in range(10000)]
        r = call("has", "-i", index, "-f", "-", stdin=b"".join(k + b"\n" for k in absent))
        check(r.returncode == 1 and not r.stdout, f"has: absent keys found: {r.stdout[:200]}")
        r = call("get", "-i", index, "--stats", "--json", "-q", "-f", "-", stdin=b"".join(k + b"\n" for k in absent))
        check(r.returncode == 1 and not r.stdout, f"get: absent keys found: {r.stdout[:200]}")
    for f in failures[:20]:
        print("FAIL", f)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
