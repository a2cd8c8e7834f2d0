#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random contents of every format with random options, plain, gzip and BGZF: every
key with its file, offset, length and bytes, the same through --scan, and no absent
key.

    formats_property_test.py [FORMAT:SEED...]    only these; their files stay

What is right comes from the generators of format_data, which lay the records out;
nothing comes from the tool.
"""
import collections
import os
import random
import shutil
import sys

from cli_support import call, finish, write
import format_data
import gzip_data
from index_truth import Truth

SANITIZED = os.environ.get("KSV_SANITIZE", "")
TRIALS = 2 if "thread" in SANITIZED else 6 if SANITIZED else 22


def write_files(rnd, data):
    """Plain, and compressed in two of three ways."""
    write("plain", data)
    names = ["plain"]
    for name, make in rnd.sample([("gzip.gz", gzip_data.gzip_file),
                                  ("blocks.bgz", gzip_data.bgzf_file),
                                  ("mixed.gz", gzip_data.mixed_file)], 2):
        write(name, make(rnd, data))
        names.append(name)
    rnd.shuffle(names)
    return names


def run(data_format, seed):
    """One content in several files of one index."""
    rnd = random.Random(f"{data_format} {seed}")
    content = format_data.make(rnd, data_format, seed % 9 == 0)
    data = bytes(content.data)
    names = write_files(rnd, data)
    truth = Truth(f"{data_format}:{seed} {content.options}",
                  [(name, data, content.records) for name in names])
    extra = rnd.choice([[], ["-j", "1"], ["--memory", "64M"],
                        ["--hash", "siphash"]])
    r = call("build", "-i", "ix", "-f", data_format, *extra, *content.options,
             *names)
    if truth.need(r.rc == 0 and not r.out, "build", r):
        truth.check_all(rnd)
        if rnd.random() < 0.3:
            r = call("verify", "-i", "ix", "--data")
            truth.need(r.rc == 0, "verify", r)
    return content


def main():
    chosen = [tuple(a.split(":")) for a in sys.argv[1:]]
    trials = [(f, int(seed)) for f, seed in chosen] or [
        (f, seed) for f in format_data.FORMATS for seed in range(TRIALS)]
    sizes = collections.Counter()
    for data_format, seed in trials:
        directory = f"{data_format}-{seed}"
        os.mkdir(directory)
        os.chdir(directory)
        content = run(data_format, seed)
        sizes["records"] += len(content.records)
        sizes["keys"] += sum(k is not None for k, _, _ in content.records)
        sizes["bytes"] += len(content.data)
        os.chdir("..")
        if chosen:
            shutil.copytree(directory, f"/tmp/keysieve-{directory}",
                            dirs_exist_ok=True)
            print(f"/tmp/keysieve-{directory}", content.options)
        shutil.rmtree(directory)
    print(f"{len(trials)} contents, each in 3 files: {dict(sizes)}")
    finish()


if __name__ == "__main__":
    main()
