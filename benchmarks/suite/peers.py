# SPDX-License-Identifier: MIT
"""Other systems that find a record by its key, on the same data and keys."""
import os
import shutil
import subprocess

from . import data, jobs
from .context import installed, median, size_of

# What is looked for, with Debian's package of it.
SYSTEMS = {"SQLite": "libsqlite3-dev", "LMDB": "liblmdb-dev", "RocksDB": "librocksdb-dev", "RocksDB-unsorted": "librocksdb-dev",
           "LevelDB": "libleveldb-dev",
           "mtbl": "libmtbl-dev", "tinycdb": "libcdb-dev", "libbloom": "libbloom-dev"}
SLOW = {"LevelDB", "RocksDB-unsorted"}
CDB_MOST_RECORDS = 50000000


def stored(c):
    """Those that store keys and places, through their C interface."""
    found = subprocess.run([c.program("peers"), "list"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    path = data.data_file(c, "csv", c.records)
    present = data.key_file(c, "csv", c.records, "present", jobs.key_count(c.records))
    absent = data.key_file(c, "csv", c.records, "absent", jobs.key_count(c.records))
    for name, package in SYSTEMS.items():
        if name not in found:
            c.note(f"peer.{name}", f"not installed ({package})")
        elif name in SLOW and c.records > 1000000 and not c.options.slow_peers:
            c.note(f"peer.{name}", "only with --slow-peers")
        elif name == "tinycdb" and c.records > CDB_MOST_RECORDS:
            c.note(f"peer.{name}", "holds 4 GiB at most")
        elif name == "libbloom":
            c.part("peer libbloom")
            c.bench("peers", "libbloom", min(c.records, 10000000), 3, prefix="peer.")
        else:
            c.part(f"peer {name}")
            measure(c, name, path, present, absent)


def measure(c, name, path, present, absent):
    peer, place = c.program("peers"), c.fresh("peer")
    output = c.path("peer.out")
    with open(output, "w", encoding="ascii"):
        pass
    command = [c.program("run_command"), "1", "-o", output, "--", peer, name, "build", path, place]
    row = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=c.work).stdout.split()
    with open(output, encoding="ascii") as f:
        text = f.read()
    if row[1] != "0":
        raise RuntimeError(f"{name}: {text}")
    c.lines(["cat", output], prefix=f"peer.{name}.build.")
    mapped = os.path.getsize(path)
    c.put(f"peer.{name}.peak", max(int(row[5]) * 1024 - mapped, 0), "B")
    c.put(f"peer.{name}.bytes_a_key", size_of(place) / c.records, "B")
    c.bench("peers", name, "get", path, place, present, absent, 3, prefix=f"peer.{name}.")
    c.bench("peers", name, "cold", path, place, present, jobs.cold_count(c.records, 1), prefix=f"peer.{name}.")
    shutil.rmtree(place)
    os.remove(output)


def searched(c):
    """Without an index: a scan for each key."""
    path = data.data_file(c, "csv", c.records)
    with open(data.key_file(c, "csv", c.records, "present", jobs.key_count(c.records)), encoding="ascii") as f:
        key = f.readline().strip()
    if not installed("rg"):
        c.note("peer.ripgrep", "not installed (ripgrep)")
        return
    c.part("peer ripgrep")
    runs, = c.run([["rg", "-F", "-N", key, path]], c.runs, warm_up=1)
    c.put("peer.ripgrep.one_key", median(runs) * 1e3, "ms")


def sequences(c):
    """FASTA: samtools faidx beside keysieve, at no more than a million names."""
    records = c.records if c.options.slow_peers else min(c.records, 1000000)
    path = data.data_file(c, "fasta", records)
    with open(data.key_file(c, "fasta", records, "present", 1000), encoding="ascii") as f:
        key = f.readline().strip()
    c.put("fasta.records", records, "records")
    c.part("FASTA, and peer samtools faidx")
    _, built = c.run(jobs.build_command(c, "fasta", path, "fasta"), c.runs, warm_up=1)
    one, = c.run([[c.tool, "get", "-i", c.path("fasta"), key]], 11, warm_up=1)
    c.put("fasta.keysieve.build", median(built), "s")
    c.put("fasta.keysieve.bytes_a_key", jobs.info(c, "fasta")["index_bytes"] / records, "B")
    c.put("fasta.keysieve.one_key", median(one) * 1e3, "ms")
    c.put("fasta.keysieve.peak", max(r.peak_bytes for r in built), "B")
    c.remove("fasta")
    if not installed("samtools"):
        c.note("peer.samtools", "not installed (samtools)")
        return
    _, built, one = c.run([["rm", "-f", path + ".fai"], ["samtools", "faidx", path], ["samtools", "faidx", path, key]], 1)
    c.put("fasta.samtools.build", median(built), "s")
    c.put("fasta.samtools.peak", max(r.peak_bytes for r in built), "B")
    c.put("fasta.samtools.one_key", median(one) * 1e3, "ms")
    c.put("fasta.samtools.bytes_a_key", os.path.getsize(path + ".fai") / records, "B")
    os.remove(path + ".fai")


def peers(c):
    stored(c)
    searched(c)
    sequences(c)
