# SPDX-License-Identifier: MIT
"""The organisations of an index beside each other and beside a linear scan, each with and without its filter."""
import glob
import os
import subprocess

from . import data, jobs
from .context import evict, median

# Kind of data and organisation. Data in the order of its keys gives `sorted` less to keep.
WAYS = {"hash": ("csv", "hash"), "sorted": ("csv", "sorted"), "sorted_in_order": ("ordered", "sorted"),
        "btree": ("csv", "btree")}
# A filter of next to no bits: what is left of a build is all but the filter's pages.
NO_FILTER = ("--fpr", "0.99")
QUICK_BUILD_SECONDS = 4
MOST_WITHOUT_FILTER = 10000000
SCAN_KEYS = 1000


def refusal(c, organisation):
    """What the tool says when it does not build such an index, else None."""
    c.remove("organisation")
    path = data.data_file(c, "lines", 1000)
    done = subprocess.run([c.tool, "build", "-q", "-i", c.path("organisation"), "--organisation", organisation, path],
                          stderr=subprocess.PIPE, text=True, check=False, cwd=c.work)
    c.remove("organisation")
    return (done.stderr.strip() or f"exit status {done.returncode}") if done.returncode != 0 else None


def asked(c, kind, records):
    return [data.key_file(c, kind, records, which, jobs.key_count(records)) for which in ("present", "absent")]


def build(c, name, records, size, arguments):
    """Those that are quick several times, the first of them unmeasured."""
    builds = [("organisation", arguments)]
    if records <= MOST_WITHOUT_FILTER:
        builds.append(("bare", [*NO_FILTER, *arguments]))
    built, *bare = jobs.build_afresh(c, 1, *builds)
    if built[0].elapsed_s < QUICK_BUILD_SECONDS:
        built, *bare = jobs.build_afresh(c, min(c.runs, 3), *builds)
    jobs.put_build(c, f"{name}.build", built, size, records)
    jobs.put_index(c, name, "organisation", records)
    for runs in bare:
        c.put(f"{name}.bare.seconds", median(runs), "s")
        c.put(f"{name}.bare.bytes_a_key", jobs.info(c, "bare")["index_bytes"] / records, "B")
    c.remove("bare")


def measure(c, way, records):
    kind, organisation = WAYS[way]
    path = data.data_file(c, kind, records)
    name = f"organisations.{records}.{way}"
    build(c, name, records, os.path.getsize(path), ["--organisation", organisation, *data.key_options(kind), path])
    command = ["bench_organisation", c.path("organisation"), path, *asked(c, kind, records),
               min(c.runs, 3), min(300, jobs.cold_count(records, 1))]
    c.bench(*command, prefix=f"{name}.with.")
    for sidecar in glob.glob(os.path.join(c.path("organisation"), "*.ksf")):
        os.remove(sidecar)
    c.bench(*command, prefix=f"{name}.without.")
    c.remove("organisation")


def scan(c, records):
    """One key, and many in one scan, by reading all data."""
    path = data.data_file(c, "csv", records)
    data.index(c, "csv", path, "organisation")
    command = [c.tool, "get", "-q", "--scan", "-i", c.path("organisation")]
    present, _ = asked(c, "csv", records)
    with open(present, encoding="ascii") as f:
        keys = [f.readline() for _ in range(SCAN_KEYS)]
    few = c.path("scan.keys")
    with open(few, "w", encoding="ascii") as f:
        f.writelines(keys)
    one, many = c.run([[*command, keys[0].strip()], [*command, "-f", few]], min(c.runs, 3), warm_up=1)
    cold = []
    for _ in range(min(c.runs, 3)):
        evict(path)
        cold += c.run([[*command, keys[0].strip()]], 1)[0]
    name = f"organisations.{records}.scan"
    c.put(f"{name}.present", median(one) * 1e9, "ns")
    c.put(f"{name}.cold", median(cold) * 1e9, "ns")
    c.put(f"{name}.of_1000", median(many) * 1e9 / SCAN_KEYS, "ns")
    c.remove("organisation", "scan.keys")


def forget(c, records):
    """Data files that no other part uses at this size."""
    if c.options.keep:
        return
    for kind in ("ordered",) if records == c.records else ("ordered", "csv"):
        c.remove(os.path.basename(data.data_file(c, kind, records)))


def organisations(c):
    failed, refused = [], {}
    for organisation in {organisation: 0 for _, organisation in WAYS.values()}:
        refused[organisation] = refusal(c, organisation)
    for way, (_, organisation) in WAYS.items():
        c.notes.pop(f"organisations.{way}", None)
        if refused[organisation]:
            c.note(f"organisations.{way}", refused[organisation])
            c.say(f"  without {way}: {refused[organisation]}")
    for records in jobs.growth_sizes(c):
        for way, (_, organisation) in WAYS.items():
            c.part(f"organisations: {way}, {records} keys")
            try:
                if not refused[organisation]:
                    measure(c, way, records)
            except (KeyError, OSError, RuntimeError, subprocess.SubprocessError) as e:
                c.say(f"  FAILED: {e!r}")
                failed.append(f"{way} with {records} keys")
        c.part(f"organisations: linear scan, {records} keys")
        scan(c, records)
        forget(c, records)
    if failed:
        raise RuntimeError(", ".join(failed))
