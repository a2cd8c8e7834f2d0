#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many data files against one of the same bytes: build, open, lookups.

Usage: bench_files.py KEYSIEVE SCRATCH [RECORDS_A_FILE FILES]...

Prints lines "name value unit". Without sizes: 1000 records in 10000 files and
100000 in 1000. The last lines of each size are ratios to the single file."""

import os
import random
import shutil
import subprocess
import sys
import time

KEYS = 2000


def write_data(directory, records, files):
    """The same records in many files and in one."""
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(os.path.join(directory, "many"))
    rng = random.Random(7)
    filler = "x" * 40
    names = []
    with open(os.path.join(directory, "one.csv"), "w") as one:
        one.write("id,name,amount\n")
        for i in range(files):
            names.append(os.path.join(directory, "many", "%06d.csv" % i))
            rows = "".join("%032x,%s,%d\n" % (rng.getrandbits(128), filler, j)
                           for j in range(records))
            one.write(rows)
            with open(names[-1], "w") as part:
                part.write("id,name,amount\n" + rows)
    return names


def sample_keys(directory, count):
    rng = random.Random(8)
    size = os.path.getsize(os.path.join(directory, "one.csv"))
    keys = []
    with open(os.path.join(directory, "one.csv"), "rb") as one:
        while len(keys) < count:
            one.seek(rng.randrange(size))
            one.readline()
            row = one.readline()
            if row:
                keys.append(row.split(b",")[0])
    return keys


def timed(command, data=None):
    start = time.monotonic()
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    elapsed = time.monotonic() - start
    if done.returncode == 2:
        sys.exit(done.stderr.decode(errors="replace"))
    return elapsed, done


def median(values):
    return sorted(values)[len(values) // 2]


def measure(keysieve, directory, index, build):
    """Seconds, by what was done."""
    found = {}

    def run(arguments, data=None, times=5):
        return median([timed([keysieve] + arguments, data)[0]
                       for _ in range(times)])

    def build_once():
        shutil.rmtree(index, ignore_errors=True)
        return timed([keysieve, "build", "-q", "-i", index, "-k", "id"] +
                     build)[0]

    found["build"] = median([build_once() for _ in range(3)])
    present = sample_keys(directory, KEYS)
    absent = [b"absent%d" % i for i in range(KEYS)]
    one = present[0].decode()
    found["process_present"] = run(["get", "-i", index, one])
    found["process_absent"] = run(["get", "-i", index, "absent"])
    found["batch_present"] = run(["get", "-l", "-i", index, "--keys-from", "-"],
                                 b"\n".join(present) + b"\n")
    found["batch_absent"] = run(["has", "-i", index, "--keys-from", "-"],
                                b"\n".join(absent) + b"\n")
    return found


def count_costs(keysieve, index, key):
    """What --stats counts, by its names."""
    done = timed([keysieve, "get", "--stats", "-i", index, key])[1]
    counts = {}
    for line in done.stderr.decode(errors="replace").splitlines():
        name, _, value = line.rpartition("  ")
        if value.strip().isdigit():
            counts[name.strip().replace(" ", "_")] = int(value)
    return counts


def print_costs(keysieve, prefix, index, key):
    counts = count_costs(keysieve, index, key)
    for name in ("filters_asked", "table_pages_read", "data_reads",
                 "bytes_read", "files_opened"):
        print("%s_%s %d count" % (prefix, name, counts.get(name, 0)))


def compare(keysieve, scratch, records, files):
    directory = os.path.join(scratch, "files-%d-%d" % (records, files))
    names = write_data(directory, records, files)
    listed = os.path.join(directory, "names")
    with open(listed, "w") as out:
        out.write("\n".join(names) + "\n")
    one = measure(keysieve, directory, os.path.join(directory, "ix-one"),
                  [os.path.join(directory, "one.csv")])
    many = measure(keysieve, directory, os.path.join(directory, "ix-many"),
                   ["--files-from", listed])
    prefix = "files_%dx%d" % (files, records)
    for what in one:
        print("%s_%s_one %.4f s" % (prefix, what, one[what]))
        print("%s_%s_many %.4f s" % (prefix, what, many[what]))
        print("%s_%s_ratio %.2f x" % (prefix, what, many[what] / one[what]))
    key = sample_keys(directory, 1)[0].decode()
    for index in ("one", "many"):
        path = os.path.join(directory, "ix-" + index)
        print_costs(keysieve, "%s_present_%s" % (prefix, index), path, key)
        print_costs(keysieve, "%s_absent_%s" % (prefix, index), path, "absent")
    shutil.rmtree(directory)


def main():
    if len(sys.argv) < 3 or len(sys.argv) % 2 == 0:
        sys.exit(__doc__)
    sizes = [int(n) for n in sys.argv[3:]] or [1000, 10000, 100000, 1000]
    for i in range(0, len(sizes), 2):
        compare(sys.argv[1], sys.argv[2], sizes[i], sizes[i + 1])


main()
