#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random contents of every format with random options, plain, gzip and BGZF: every
key with its file, offset, length and bytes, the same through --scan, and no absent
key.

    formats_property_test.py [FORMAT:SEED...]    only these, and their files stay

What is right comes from the generators of format_data, which lay the records out;
nothing comes from the tool.
"""
import base64
import collections
import json
import os
import random
import subprocess
import sys

from cli_support import TOOL, call, check, finish, write
import content_data
import format_data
import gzip_data

SANITIZED = bool(os.environ.get("KSV_SANITIZE"))
TRIALS = 6 if SANITIZED else 22


def said(o, name):
    """A member of the tool's JSON, which is base64 where it is not UTF-8."""
    if name in o:
        return o[name].encode("utf-8")
    return base64.b64decode(o[name + "_base64"])


class Trial:
    """One content in several files of one index."""

    def __init__(self, data_format, seed):
        self.rnd = random.Random(f"{data_format} {seed}")
        self.what = f"{data_format}:{seed}"
        self.big = seed % 9 == 0
        self.content = format_data.make(self.rnd, data_format, self.big)
        self.files = self.write_files()
        self.places = collections.defaultdict(list)
        for name in self.files:
            for key, offset, length in self.content.records:
                if key is not None:
                    self.places[key].append((name, offset, length))

    def write_files(self):
        """Plain, and compressed in two of three ways."""
        data = bytes(self.content.data)
        write("plain", data)
        names = ["plain"]
        for name, make in self.rnd.sample([
                ("gzip.gz", gzip_data.gzip_file),
                ("blocks.bgz", gzip_data.bgzf_file),
                ("mixed.gz", gzip_data.mixed_file)], 2):
            write(name, make(self.rnd, data))
            names.append(name)
        self.rnd.shuffle(names)
        return names

    def need(self, good, what, result=""):
        check(good, f"{self.what}: {what}\n  options: {self.content.options}",
              result)
        return good

    def build(self):
        extra = self.rnd.choice([[], ["-j", "1"], ["--memory", "64M"],
                                 ["--hash", "siphash"]])
        r = call("build", "-i", "ix", "-f", self.content.format, *extra,
                 *self.content.options, *self.files)
        return self.need(r.rc == 0 and not r.out, "build", r)

    def check_info(self):
        r = call("info", "-i", "ix", "--json")
        info = json.loads(r.out)
        count = len(self.files)
        without = sum(k is None for k, _, _ in self.content.records)
        want = {"records": count * len(self.content.records),
                "records_without_key": count * without,
                "distinct_keys": len(self.places), "bad_records": 0}
        got = {name: info[name] for name in want}
        self.need(got == want, f"info: {got}, right is {want}")

    def check_keys(self):
        r = call("keys", "-i", "ix", "--json")
        got = [(said(o, "key"), o["file"], o["offset"], o["length"])
               for o in map(json.loads, r.out.splitlines())]
        want = [(key, name, offset, length) for name in self.files
                for key, offset, length in self.content.records
                if key is not None]
        self.compare("keys", got, want, r)

    def compare(self, what, got, want, r):
        for i, (g, w) in enumerate(zip(got, want)):
            if g != w:
                self.need(False, f"{what}: answer {i} is {g}, right is {w}"[
                    :2000], r)
                return
        self.need(len(got) == len(want),
                  f"{what}: {len(got)} answers, right are {len(want)}", r)

    def absent(self):
        """Keys that are near to those there, and others."""
        keys = {b"absent", b"\xff", b"0"}
        for key in self.rnd.sample(sorted(self.places),
                                   min(60, len(self.places))):
            keys |= {key + b" ", key[:-1], key[1:], key + key, key.swapcase(),
                     b" " + key, key + b"\xc3"}
        return sorted(k for k in keys if k and k not in self.places)

    def check_get(self):
        asked = sorted(self.places) + self.absent()
        self.rnd.shuffle(asked)
        asked += asked[:3]
        nul = [k for k in asked if b"\0" in k]
        # One a line: no line feed in it, and no carriage return at its end.
        nul = [k for k in nul if b"\n" not in k and not k.endswith(b"\r") and
               not k.startswith(content_data.BOM)]
        for keys, end, how in (
                ([k for k in asked if b"\0" not in k], b"\0", ["-0"]),
                (nul, b"\n", [])):
            words = ["-i", "ix", "--json", *how, "-f", "-"]
            stdin = b"".join(k + end for k in keys)
            r = call("get", *words, stdin=stdin)
            self.check_answers(keys, r)
            scan = call("get", "--scan", *words, stdin=stdin)
            self.need(scan.rc == r.rc and scan.out == r.out and
                      scan.err == r.err, "get --scan differs from get", scan)
            has = call("has", *words, stdin=stdin)
            got = [(said(o, "key"), o["found"])
                   for o in map(json.loads, has.out.splitlines())]
            self.compare("has", got, [(k, k in self.places) for k in keys],
                         has)

    def check_answers(self, keys, r):
        missing = [k for k in keys if k not in self.places]
        self.need(r.rc == (1 if missing else 0), "get: exit status", r)
        self.need(r.err.count(b"keysieve: not found: ") == len(missing),
                  f"get: {len(missing)} keys are missing", r)
        data = self.content.data
        got = [(said(o, "key"), o["file"], o["offset"], o["length"],
                said(o, "record")) for o in map(json.loads, r.out.splitlines())]
        want = [(key, name, offset, length, bytes(data[offset:offset + length]))
                for key in keys
                for name, offset, length in self.places.get(key, [])]
        self.compare("get", got, want, r)

    def check_plain_output(self):
        """Without --json: the bytes and a line feed."""
        keys = [k for k in self.places if b"\0" not in k]
        for key in self.rnd.sample(keys, min(2, len(keys))):
            r = call("get", "-i", "ix", "--", key)
            want = b"".join(bytes(self.content.data[o:o + n]) + b"\n"
                            for _, o, n in self.places[key])
            self.need(r.rc == 0 and r.out == want, f"get {key!r}", r)

    def run(self):
        if self.build():
            self.check_info()
            self.check_keys()
            self.check_get()
            self.check_plain_output()
            if self.rnd.random() < 0.3:
                r = call("verify", "-i", "ix", "--data")
                self.need(r.rc == 0, "verify", r)


def main():
    chosen = [tuple(a.split(":")) for a in sys.argv[1:]]
    trials = [(f, int(seed)) for f, seed in chosen] or [
        (f, seed) for f in format_data.FORMATS for seed in range(TRIALS)]
    sizes = collections.Counter()
    for data_format, seed in trials:
        directory = f"{data_format}-{seed}"
        os.mkdir(directory)
        os.chdir(directory)
        trial = Trial(data_format, seed)
        trial.run()
        sizes["records"] += len(trial.content.records)
        sizes["keys"] += len(trial.places)
        sizes["bytes"] += len(trial.content.data)
        if chosen:
            print(f"{os.getcwd()}: {TOOL} -f {data_format}",
                  trial.content.options, trial.files)
            subprocess.run(["cp", "-r", ".", f"/tmp/keysieve-{directory}"],
                           check=True)
        os.chdir("..")
    print(f"{len(trials)} contents:", dict(sizes))
    finish()


if __name__ == "__main__":
    main()
