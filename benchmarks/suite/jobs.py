# SPDX-License-Identifier: MIT
"""Whole jobs of the tool, each beside its floor in the same run."""
import json
import os
import subprocess

from . import data
from .context import evict, installed, median, size_of

MOST_KEYS = 100000
STDIN_KEYS = 1000000


def key_count(records):
    """Keys that are asked for; some twice when there are fewer records."""
    return min(MOST_KEYS, max(records, 1000))


def cold_count(records, rounds):
    """Keys a round of cold lookups, so that all rounds have others."""
    return min(1000, (key_count(records) - 128) // rounds)


def build_command(c, kind, path, name, *options):
    """Two commands: away with the index, then build it."""
    return [["rm", "-rf", c.path(name)],
            [c.tool, "build", "-q", "-i", c.path(name), *data.key_options(kind), *options, path]]


def build_afresh(c, count, *builds):
    """Runs builds, (name of the index, arguments), in turn and `count` times, each into a new directory: one that was
    deleted right before slows a build. A list of Run for each; the last index of each stays under its name."""
    answers = [[] for _ in builds]
    for number in range(count):
        last = number == count - 1
        places = [name if last else f"{name}-{number}" for name, _ in builds]
        c.remove(*places)
        commands = [[c.tool, "build", "-q", "-i", c.path(place), *arguments] for place, (_, arguments) in zip(places, builds)]
        for answer, runs in zip(answers, c.run(commands, 1)):
            answer += runs
    c.remove(*(f"{name}-{number}" for name, _ in builds for number in range(count - 1)))
    return answers


def info(c, name):
    out = subprocess.run([c.tool, "info", "--json", "-i", c.path(name)], stdout=subprocess.PIPE, check=True, cwd=c.work)
    return json.loads(out.stdout)


def put_build(c, name, runs, size, records):
    seconds = median(runs)
    c.put(f"{name}.seconds", seconds, "s")
    c.put(f"{name}.cpu", median(runs, "user_s") + median(runs, "system_s"), "s")
    c.put(f"{name}.peak", max(r.peak_bytes for r in runs), "B")
    c.put(f"{name}.speed", size / seconds / 1e9, "GB/s")
    c.put(f"{name}.a_record", seconds / records * 1e9, "ns")


def put_index(c, name, index_name, keys):
    facts = info(c, index_name)
    c.put(f"{name}.bytes_a_key", facts["index_bytes"] / keys, "B")
    c.put(f"{name}.filter_bytes", facts["filter_bytes"], "B")
    c.put(f"{name}.table_bytes", facts["table_bytes"], "B")
    c.put(f"{name}.filter_bits_a_key", facts["filter_bytes"] * 8 / keys, "bits")


def build(c):
    """csv and JSON lines, one thread and two, beside counting line ends."""
    for kind in ("csv", "jsonl"):
        c.part(f"build {kind}")
        path = data.data_file(c, kind, c.records)
        size = os.path.getsize(path)
        floor, _, two, _, one = c.run(
            [["wc", "-l", path], *build_command(c, kind, path, "build", "-j", "2"),
             *build_command(c, kind, path, "build", "-j", "1")], c.runs, warm_up=1)
        c.put(f"floor.wc.{kind}", median(floor), "s")
        put_build(c, f"build.{kind}.2_threads", two, size, c.records)
        put_build(c, f"build.{kind}.1_thread", one, size, c.records)
        put_index(c, f"build.{kind}", "build", c.records)
        c.put(f"build.{kind}.data_bytes", size, "B")
        c.put(f"build.{kind}.records", c.records, "records")
        c.remove("build")


def memory(c):
    """Ten times as many short lines, in memory and under 64 MiB."""
    records = c.records * 10
    c.part(f"build of {records} short lines, in memory and under 64 MiB")
    path = data.data_file(c, "lines", records)
    size = os.path.getsize(path)
    runs = 1 if c.records >= 10000000 else c.runs
    floor, _, free, _, bound = c.run(
        [["wc", "-l", path], *build_command(c, "lines", path, "memory", "--memory", "8G"),
         *build_command(c, "lines", path, "memory", "--memory", "64M")], runs, poll=True, warm_up=0)
    c.put("floor.wc.lines", median(floor), "s")
    put_build(c, "memory.in_memory", free, size, records)
    put_build(c, "memory.under_64M", bound, size, records)
    c.put("memory.under_64M.anonymous", max(r.anonymous_bytes for r in bound), "B")
    put_index(c, "memory", "memory", records)
    c.put("memory.records", records, "records")
    c.remove("memory")


def keys(c):
    """The same table with other keys and other lengths of records."""
    for kind in ("csv", "numbers", "sha1", "urls", "short", "long"):
        records = max(c.records // 10, 1) if kind == "long" else c.records
        c.part(f"keys: {records} records of kind {kind}")
        path = data.data_file(c, kind, records)
        size = os.path.getsize(path)
        floor, _, two = c.run([["wc", "-l", path], *build_command(c, kind, path, "keys", "-j", "2")], c.runs, warm_up=1)
        c.put(f"keys.{kind}.wc", median(floor), "s")
        put_build(c, f"keys.{kind}", two, size, records)
        put_index(c, f"keys.{kind}", "keys", records)
        present = data.key_file(c, kind, records, "present", key_count(records))
        absent = data.key_file(c, kind, records, "absent", key_count(records))
        c.bench("bench_get", c.path("keys"), present, absent, 3, prefix=f"keys.{kind}.")
        c.remove("keys")
        if kind == "long" and not c.options.keep:
            os.remove(path)


def main_index(c):
    path = data.data_file(c, "csv", c.records)
    if not os.path.exists(c.path("main")):
        data.index(c, "csv", path, "main")
    return path


def get(c):
    """Lookups in process, warm."""
    c.part("get, warm, in process")
    main_index(c)
    c.bench("bench_get", c.path("main"), data.key_file(c, "csv", c.records, "present", key_count(c.records)),
            data.key_file(c, "csv", c.records, "absent", key_count(c.records)), c.runs)


def cold(c):
    """Lookups whose table page and data are on disk alone."""
    c.part("get, cold, in process")
    path = main_index(c)
    count = cold_count(c.records, c.runs)
    c.bench("bench_cold", c.path("main"), path, data.key_file(c, "csv", c.records, "present", key_count(c.records)), c.runs, count)


def cold_processes(c, index_name, path, keys_asked):
    """Seconds of a process for one key, and what it read from the disk, with nothing in the page cache."""
    runs = []
    for key in keys_asked:
        evict(c.path(index_name), path)
        runs += c.run([[c.tool, "get", "-i", c.path(index_name), key]], 1)[0]
    return median(runs), median(runs, "disk_bytes")


def process(c):
    """Processes of the tool: a key each, and a million keys from standard input."""
    c.part("get, one process a key, and keys from standard input")
    path = main_index(c)
    with open(data.key_file(c, "csv", c.records, "present", key_count(c.records)), encoding="ascii") as f:
        present = [f.readline().strip() for _ in range(8)]
    with open(data.key_file(c, "csv", c.records, "absent", key_count(c.records)), encoding="ascii") as f:
        absent = f.readline().strip()
    get_command = [c.tool, "get", "-i", c.path("main")]
    floor, hit, miss = c.run([["/bin/true"], [*get_command, present[0]], [*get_command, absent]], 20 * c.runs, warm_up=3,
                             fine=(0, 1))
    c.put("floor.true", median(floor) * 1e3, "ms")
    c.put("process.present", median(hit) * 1e3, "ms")
    c.put("process.absent", median(miss) * 1e3, "ms")
    c.put("process.peak", max(r.peak_bytes for r in hit), "B")
    seconds, read = cold_processes(c, "main", path, present)
    c.put("process.cold", seconds * 1e3, "ms")
    c.put("process.cold.disk_bytes", read, "B")
    count = STDIN_KEYS if c.records >= 1000000 else c.records
    mixed = data.key_file(c, "csv", c.records, "mixed", count)
    many, = c.run([[*get_command, "-l", "-f", "-"]], c.runs, stdin=mixed, warm_up=1, fine=(1,))
    c.put("stdin.keys", count, "keys")
    c.put("stdin.seconds", median(many), "s")
    c.put("stdin.peak", max(r.peak_bytes for r in many), "B")
    put_index(c, "main", "main", c.records)


def gzip(c):
    """gzip and BGZF: building beside inflating, and reading a record."""
    c.part("gzip: build and random reads")
    path = data.compressed_file(c, "csv", c.records, ["gzip", "-6", "-c"], ".gz")
    size = size_of(data.data_file(c, "csv", c.records))
    runs = min(c.runs, 3)
    commands = build_command(c, "csv", path, "gzip", "-j", "2")
    if installed("igzip"):
        floor, _, two = c.run([["igzip", "-dc", path], *commands], runs, warm_up=1)
        c.put("floor.igzip", median(floor), "s")
    else:
        c.note("floor.igzip", "igzip is not installed")
        _, two = c.run(commands, runs, warm_up=1)
    put_build(c, "gzip.build", two, size, c.records)
    c.put("gzip.bytes", os.path.getsize(path), "B")
    points = sum(os.path.getsize(os.path.join(c.path("gzip"), n)) for n in os.listdir(c.path("gzip"))
                 if not n.endswith((".kst", ".ksf", ".mdb")))
    c.put("gzip.points_part", points / os.path.getsize(path), "part")
    c.bench("bench_get", c.path("gzip"), data.key_file(c, "csv", c.records, "present", 500 if c.records >= 100000 else 50),
            data.key_file(c, "csv", c.records, "absent", 500 if c.records >= 100000 else 50), 3, "single.safe",
            prefix="gzip.")
    c.remove("gzip")
    if not installed("bgzip"):
        c.note("bgzf", "bgzip is not installed")
        return
    c.part("BGZF: build and random reads")
    path = data.compressed_file(c, "csv", c.records, ["bgzip", "-@2", "-c"], ".bgz")
    _, two, _, one = c.run([*build_command(c, "csv", path, "bgzf", "-j", "2"),
                            *build_command(c, "csv", path, "bgzf", "-j", "1")], runs, warm_up=1)
    put_build(c, "bgzf.build.2_threads", two, size, c.records)
    put_build(c, "bgzf.build.1_thread", one, size, c.records)
    c.bench("bench_get", c.path("bgzf"), data.key_file(c, "csv", c.records, "present", 500 if c.records >= 100000 else 50),
            data.key_file(c, "csv", c.records, "absent", 500 if c.records >= 100000 else 50), 3, "single.safe",
            prefix="bgzf.")
    c.remove("bgzf")


def growth_sizes(c):
    sizes = [n for n in (100000, 1000000, 10000000) if n <= c.records]
    if c.options.large:
        sizes.append(100000000)
    return sizes if len(sizes) > 1 else [max(c.records // 10, 100), c.records]


def growth(c):
    """The same costs at several numbers of keys."""
    for records in growth_sizes(c):
        c.part(f"growth: {records} keys")
        path = data.data_file(c, "csv", records)
        runs = 1 if records > 10000000 else min(c.runs, 3)
        _, built = c.run(build_command(c, "csv", path, "growth"), runs, warm_up=1 if records <= 10000000 else 0)
        name = f"growth.{records}"
        put_build(c, f"{name}.build", built, os.path.getsize(path), records)
        put_index(c, name, "growth", records)
        present = data.key_file(c, "csv", records, "present", key_count(records))
        c.bench("bench_get", c.path("growth"), present, data.key_file(c, "csv", records, "absent", key_count(records)), 3,
                prefix=f"{name}.")
        c.bench("bench_cold", c.path("growth"), path, present, 3, cold_count(records, 3), prefix=f"{name}.")
        with open(present, encoding="ascii") as f:
            keys_asked = [f.readline().strip() for _ in range(4)]
        one, = c.run([[c.tool, "get", "-i", c.path("growth"), keys_asked[0]]], 21, warm_up=2)
        c.put(f"{name}.process", median(one) * 1e3, "ms")
        c.put(f"{name}.process_peak", max(r.peak_bytes for r in one), "B")
        _, read = cold_processes(c, "growth", path, keys_asked)
        c.put(f"{name}.process_cold_disk", read, "B")
        c.remove("growth")
        if records != c.records and not c.options.keep:
            os.remove(path)
