# SPDX-License-Identifier: MIT
"""Many data files beside one of the same records: builds, opening, lookups and what they ask and read."""
import itertools
import json
import os
import subprocess

from . import data, jobs
from .context import median

AT_ONCE = 2000
# Looks at every data file each time: so few keys that it ends.
ALONE = 50
# Files of so many records have a segment each, and sixteen of those are merged to one.
MERGED_FILES, MERGED_RECORDS = 32, 300000
CATALOG_ENDINGS = (".ksc", ".mdb")
RECEIPT = (("filter_probes", "filters"), ("table_pages_read", "pages"), ("data_reads", "reads"), ("bytes_read", "B"),
           ("files_opened", "files"))


def shapes(c):
    """Name, kind of data, number of files, records in each."""
    small, large = max(c.records // 1000, 10), max(c.records // 10000, 4)
    return (("small", "csv", small, c.records // small), ("large", "lines", large, c.records * 10 // large))


def split(c, name, path, files, records, has_header):
    """The file's records in many files; the path of a list of their names."""
    directory, ending = c.fresh(name), os.path.splitext(path)[1]
    c.say(f"  makes {files} files of {records} records")
    names = [os.path.join(directory, f"{i:06}{ending}") for i in range(files)]
    with open(path, "rb") as whole:
        header = whole.readline() if has_header else b""
        for file_name in names:
            with open(file_name, "wb") as part:
                part.write(header)
                part.writelines(itertools.islice(whole, records))
        if whole.readline():
            raise RuntimeError(f"{path} has more records than {files} files of {records}")
    listed = c.path(f"{name}.names")
    with open(listed, "w", encoding="ascii") as f:
        f.writelines(f"{file_name}\n" for file_name in names)
    return listed


def build_both(c, name, kind, path, listed, runs):
    """Indexes over the one file and over the many."""
    records = c.get(f"{name}.files") * c.get(f"{name}.records_a_file")
    key = data.key_options(kind)
    one, many = jobs.build_afresh(c, runs, ("files-one", [*key, path]),
                                  ("files-many", [*key, "--files-from", listed]))
    for which, built in (("one", one), ("many", many)):
        index = f"files-{which}"
        jobs.put_build(c, f"{name}.{which}.build", built, os.path.getsize(path), records)
        jobs.put_index(c, f"{name}.{which}", index, records)
        facts = jobs.info(c, index)
        catalog = sum(os.path.getsize(os.path.join(c.path(index), n)) for n in os.listdir(c.path(index))
                      if n.endswith(CATALOG_ENDINGS))
        c.put(f"{name}.{which}.catalog_bytes", catalog, "B")
        c.put(f"{name}.{which}.file_filter_bytes", facts["file_filter_bytes"], "B")
        c.put(f"{name}.{which}.segments", facts["segments"], "segments")


def first_key(path):
    with open(path, encoding="ascii") as f:
        return f.readline().strip()


def processes(c, name, present, absent):
    """A process for one key; what it takes more than one that does nothing."""
    commands = [["/bin/true"]]
    for which in ("one", "many"):
        commands += [[c.tool, "get", "-q", "-i", c.path(f"files-{which}"), first_key(keys)] for keys in (present, absent)]
    floor, *rest = c.run(commands, 4 * c.runs, warm_up=2, fine=(0, 1))
    for (which, answer), runs in zip(itertools.product(("one", "many"), ("present", "absent")), rest):
        c.put(f"{name}.{which}.process.{answer}", max(median(runs) - median(floor), 0) * 1e3, "ms")
        c.put(f"{name}.{which}.process.{answer}.peak", max(r.peak_bytes for r in runs), "B")


def receipts(c, name, keys_of):
    """What one key asks, reads and opens, and many in one call."""
    for which, (answer, keys) in itertools.product(("one", "many"), keys_of.items()):
        for how, arguments in (("of_one", [first_key(keys)]), ("of_all", ["-f", keys])):
            done = subprocess.run([c.tool, "get", "-q", "--stats", "--json", "-i", c.path(f"files-{which}"), *arguments],
                                  stderr=subprocess.PIPE, text=True, check=False, cwd=c.work)
            lines = [line for line in done.stderr.splitlines() if line.startswith("{")]
            if done.returncode != (0 if answer == "present" else 1) or len(lines) != 1:
                raise RuntimeError(f"{name}, {which}, {answer}: exit status {done.returncode}: {done.stderr[-500:]}")
            receipt = json.loads(lines[0])
            for member, unit in RECEIPT:
                c.put(f"{name}.{which}.{answer}.{how}.{member}", receipt[member], unit)


def lookups(c, name, many_keys, few_keys):
    """In a warm process: in one call, and a call a key."""
    for which in ("one", "many"):
        index, prefix = c.path(f"files-{which}"), f"{name}.{which}."
        rounds = min(c.runs, 3)
        c.bench("bench_get", index, *many_keys.values(), rounds, "batch", prefix=prefix)
        c.bench("bench_get", index, *many_keys.values(), rounds, "single.trusting", prefix=prefix)
        c.bench("bench_get", index, *few_keys.values(), rounds, "single.safe", prefix=prefix)


def compare(c, shape, kind, files, records):
    name = f"files.{shape}"
    total = files * records
    path = data.data_file(c, kind, total)
    c.put(f"{name}.files", files, "files")
    c.put(f"{name}.records_a_file", records, "records")
    try:
        listed = split(c, "files-data", path, files, records, kind != "lines")
        build_both(c, name, kind, path, listed, min(c.runs, 3) if total <= 10000000 else min(c.runs, 2))
        many, few = ({which: data.key_file(c, kind, total, which, count) for which in ("present", "absent")}
                     for count in (AT_ONCE, ALONE))
        processes(c, name, **many)
        receipts(c, name, many)
        lookups(c, name, many, few)
    finally:
        c.remove("files-data", "files-data.names", "files-one", "files-many")


def merged(c):
    """What merging adds to a build: every record goes through one merge of sixteen segments."""
    c.put("files.merged.files", MERGED_FILES, "files")
    c.put("files.merged.records_a_file", MERGED_RECORDS, "records")
    path = data.data_file(c, "lines", MERGED_FILES * MERGED_RECORDS)
    try:
        listed = split(c, "files-data", path, MERGED_FILES, MERGED_RECORDS, False)
        build_both(c, "files.merged", "lines", path, listed, min(c.runs, 3))
    finally:
        c.remove("files-data", "files-data.names", "files-one", "files-many")
    if not c.options.keep:
        os.remove(path)


def files(c):
    for shape in shapes(c):
        c.part(f"files: {shape[2]} of {shape[3]} records, beside one")
        compare(c, *shape)
    if c.records >= 1000000:
        c.part("files: what merges of segments take")
        merged(c)
