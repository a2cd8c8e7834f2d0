# SPDX-License-Identifier: MIT
"""What the figures have to reach, and whether they do."""
import collections
import re

Row = collections.namedtuple("Row", "what limit measured reached repeat note")

MIB = 1 << 20

BY_BATCH_SAFE = "get, present, batches, safe"
BY_BATCH_MAPPED = "get, present, batches, mapped"
RATE_IDS = 1000
DAY = "dedup of 864,000,000 ids a day, window of 24 h"
NOT_TOLD_APART = ("one run beside other work, of a version whose runs on disk took twice the bytes; how much of it is that and how much "
                  "the size was not told apart")
OTHER_KEYS_BUILD = "build, slowest of other keys and lengths / UUIDs"
OTHER_KEYS_GET = "get, present, one by one, slowest of other keys and lengths / UUIDs"
ABSENT_PROCESS = "absent key, one process above `/bin/true`, many files / one file"
ABSENT_CALL = "absent keys, 2,000 in a call, many files / one file"
ABSENT_TRUSTING = "absent key, a call a key, `trust_ns` a second, many files / one file"
IN_ORDER = "sorted, data in the order of its keys: table"
UNEXPLAINED = "not explained yet"
RANDOM_GZIP = "random read in csv.gz"
UNDER_64M = "build `--memory 64M` / in memory"
ONE_PROCESS = "one `get KEY` process above `/bin/true`"
GROWN_PROCESS = "time of one `get KEY` process"
BLOCKS = "blocks read for a present key"
GROWN_CALLS = "cold get, read calls a key"
OTHER_KINDS = ("numbers", "sha1", "urls", "short", "long")
BY_STDIN = "`get -l -f -`, 1,000,000 keys, half absent"


# From a profile of this machine; instructions were counted by valgrind.
CSV_SHARES = ("In a profile 15 % of it copied the file as `wc -l` does, 6 to 17 % touched memory for entries for the first "
              "time, 17 % cut records (180 instructions each), 7 % hashed keys (80), 17 % added and sorted entries (100), "
              "14 % made pages and filter (130), 4 % hashed the content, 5 % wrote")


def reasons_of(results):
    """Shown with a figure that is not reached: what of it the machine takes by itself, in the same run."""
    def at(name, factor=1.0):
        return f"{results[name]['value'] * factor:,.2f}" if name in results else "?"

    def asked_ahead(name, what):
        if name in results:
            return f"{what} {at(name)} ns when 32 are asked for ahead"
        return f"accesses side by side take {at('floor.memory.12_MiB.independent')} ns in 12 MiB"

    looks = (f"\"not found\" is told only after a look at each of {at('files.small.files').split('.')[0]} data files: "
             f"{at('files.small.many.get.absent.single.safe', 1e-6)} ms for a call; reading the catalog of so many takes the rest")
    return {
        ABSENT_PROCESS: looks, ABSENT_CALL: looks,
        ABSENT_TRUSTING: f"{at('files.small.many.get.absent.single.trusting')} ns with the looks of every second in it, each "
                         f"{at('files.small.many.get.absent.single.safe', 1e-6)} ms",
        RANDOM_GZIP: f"up to 1.25 MiB are inflated, half a MiB on average; `igzip -dc` takes {at('floor.igzip')} s for "
                     f"{at('build.csv.data_bytes', 1 / MIB)} MiB",
        UNDER_64M: f"entries go to the disk and come back; processor time {at('memory.under_64M.cpu')} s, in memory "
                   f"{at('memory.in_memory.cpu')} s",
        ONE_PROCESS: f"the loader, the catalog and three files to open; a call in a process that has done so takes "
                     f"{at('get.present.single.safe', 1e-3)} µs",
        GROWN_PROCESS: "medians of 21 processes of about a millisecond each, not run in turn: they differ by as much between "
                       "two runs at one size",
        BLOCKS: "a key whose entries begin in one block and go on in the next takes both",
        GROWN_CALLS: "calls beyond the two read pages of the filter that no key had asked for before",
        IN_ORDER: "an entry a record was written, as if the data were in no order",
        OTHER_KEYS_BUILD: f"records of 2 KB: {at('keys.long.a_record')} ns a record and {at('keys.long.speed')} GB/s, UUIDs in "
                          f"rows of 100 B: {at('keys.csv.a_record')} and {at('keys.csv.speed')}",
        OTHER_KEYS_GET: "records of 2 KB have 33 cache lines that are looked through to where the record ends; `pread` of 4 KiB "
                        f"takes {at('floor.pread.of_4096_bytes')} ns, of 128 B {at('floor.pread.of_128_bytes')} ns",
        f"{DAY}, exact: processor time an id": NOT_TOLD_APART,
        f"{DAY}, exact: time an id": NOT_TOLD_APART,
        f"{DAY}, approximate: time an id": NOT_TOLD_APART,
        BY_BATCH_SAFE: f"records lie too far apart to be read together, each takes a call of its own; `pread` of 128 B: "
                       f"{at('floor.pread.of_128_bytes')} ns",
        BY_BATCH_MAPPED: f"filter, table and data, {at('build.csv.data_bytes', 1e-9)} GB, are not in the processor's cache; "
                         + asked_ahead("floor.mapped.groups_of_32", "to look at records in mapped data alone takes"),
        "filter of 12 MB, absent key, alone": f"one access of memory that nothing hides, "
                                              f"{at('floor.memory.12_MiB.dependent')} ns",
        "filter of 12 MB, absent key, batches": asked_ahead("floor.memory.12_MiB.groups_of_32.large_pages",
                                                            "accesses in large pages take"),
        "cold get, 1,000 keys / two raw preads each": f"of {at('cold.get.single', 1e-3)} µs a key the two reads take "
                                                      f"{at('cold.raw.two_preads', 1e-3)} µs; the rest is one look at the data file and "
                                                      f"what the reads left of the processor's cache: a lookup of a key that "
                                                      f"is warm takes {at('get.present.single.safe', 1e-3)} µs",
        BY_STDIN: f"half a million records take a call each, `pread` of 128 B: {at('floor.pread.of_128_bytes')} ns; copying "
                  f"memory, which reading table pages is: {at('floor.memory.copy')} GB/s",
        "lookup process: peak less filter and fences": f"a process that looks one key up takes "
                                                       f"{at('process.peak', 1e-6)} MB, a batch of 24,576 keys the rest",
        "build csv, 2 threads / `wc -l`": f"processor time {at('build.csv.2_threads.cpu')} s over both threads, and the syncs "
                                          f"of the sidecars' last megabytes and of the commit. {CSV_SHARES}",
        "build csv, 1 thread / `wc -l`": f"processor time {at('build.csv.1_thread.cpu')} s. {CSV_SHARES}",
        "build jsonl, 2 threads / `wc -l`": f"processor time {at('build.jsonl.2_threads.cpu')} s over both threads. In a "
                                            "profile 42 % of it checked the JSON, 600 instructions a line of 138 B; the "
                                            "rest is that of csv",
        "build csv.gz / `igzip -dc`": f"processor time {at('gzip.build.cpu')} s over both threads",
        "build BGZF, 2 threads / 1 thread": f"processor time {at('bgzf.build.2_threads.cpu')} s over both threads",
    }


class Reach:
    def __init__(self, results, reasons=None):
        self.results = results
        self.reasons = reasons_of(results) if reasons is None else reasons
        self.rows = []

    def get(self, name):
        return self.results[name]["value"] if name in self.results else None

    def reason(self, what):
        """That of the figure, or of the figure at any size ("SIZE: figure")."""
        return self.reasons.get(what) or self.reasons.get(what.split(": ", 1)[-1]) or UNEXPLAINED

    def add(self, what, limit, unit, value, part, format_value="{:.2f}"):
        """A figure that has to stay at or below its limit."""
        if value is None:
            self.rows.append(Row(what, f"≤ {limit} {unit}", "not measured", None, part, ""))
            return
        reached = value <= limit
        self.rows.append(Row(what, f"≤ {limit} {unit}", f"{format_value.format(value)} {unit}", reached, part,
                             "" if reached else self.reason(what)))

    def ratio(self, what, limit, above, below, part):
        a, b = self.get(above), self.get(below)
        self.add(what, limit, "x", a / b if a is not None and b else None, part)

    def scaled(self, what, limit, unit, name, factor, part, format_value="{:.2f}"):
        value = self.get(name)
        self.add(what, limit, unit, None if value is None else round(value * factor, 3), part, format_value)


def rows(results, reasons=None):
    r = Reach(results, reasons)
    for kind, threads, limit in (("csv", "2 threads", 1.4), ("csv", "1 thread", 2.2), ("jsonl", "2 threads", 1.5)):
        r.ratio(f"build {kind}, {threads} / `wc -l`", limit, f"build.{kind}.{threads.replace(' ', '_')}.seconds",
                f"floor.wc.{kind}", "build")
    build_memory(r)
    lookups(r)
    cold(r)
    processes(r)
    compressed(r)
    other_keys(r)
    growth(r)
    many_files(r)
    organisations(r)
    streams(r)
    return r.rows


def build_memory(r):
    records = r.get("build.csv.records") or 0
    r.scaled("build csv, peak memory (20 B a key + 64 MB)", round(records * 20 / 1e6 + 64), "MB", "build.csv.2_threads.peak",
             1e-6, "build", format_value="{:.0f}")
    r.scaled("build `--memory 64M` of short lines, peak", 80, "MiB", "memory.under_64M.peak", 1 / MIB, "memory",
             format_value="{:.0f}")
    r.scaled("the same, memory that is no file's", 64, "MiB", "memory.under_64M.anonymous", 1 / MIB, "memory",
             format_value="{:.0f}")
    r.ratio(UNDER_64M, 3, "memory.under_64M.seconds", "memory.in_memory.seconds", "memory")


def lookups(r):
    r.scaled("filter of 12 MB, absent key, batches", 8, "ns", "filter.absent.batch", 1, "micro", format_value="{:.1f}")
    r.scaled("filter of 12 MB, absent key, alone", 40, "ns", "filter.absent.single", 1, "micro", format_value="{:.1f}")
    r.scaled(BY_BATCH_MAPPED, 120, "ns", "get.present.batch.mapped", 1, "get", format_value="{:.0f}")
    r.scaled(BY_BATCH_SAFE, 600, "ns", "get.present.batch.safe", 1, "get", format_value="{:.0f}")


def cold(r):
    r.scaled("cold get: table pages a key", 1, "reads", "cold.table_pages_a_key", 1, "cold", format_value="{:.3f}")
    r.scaled("cold get: data reads a key", 1, "reads", "cold.data_reads_a_key", 1, "cold", format_value="{:.3f}")
    r.scaled("cold get: read calls a key, by the kernel", 2, "calls", "cold.read_calls_a_key", 1, "cold", format_value="{:.3f}")
    r.scaled("cold get, 1,000 keys / two raw preads each", 1.15, "x", "cold.get.single.against_raw", 1, "cold")
    what, depth = "cold get in a batch: most requests in flight", r.get("cold.get.batch.in_flight_at_most")
    if depth is None:
        r.rows.append(Row(what, "≥ 32", "not measured", None, "cold", ""))
    else:
        r.rows.append(Row(what, "≥ 32", f"{depth:.0f}", depth >= 32, "cold", "" if depth >= 32 else r.reason(what)))


def processes(r):
    keys = r.get("stdin.keys") or 0
    r.scaled(f"`get -l -f -`, {keys:,.0f} keys, half absent", 1.5, "s", "stdin.seconds", 1, "process")
    one, floor = r.get("process.present"), r.get("floor.true")
    r.add(ONE_PROCESS, 1.5, "ms", one - floor if one is not None else None, "process")
    r.scaled("one `get KEY` process, read from a cold disk", 128, "KiB", "process.cold.disk_bytes", 1 / 1024, "process",
             format_value="{:.0f}")
    peak, filters, tables = r.get("stdin.peak"), r.get("main.filter_bytes"), r.get("main.table_bytes")
    room = None
    if None not in (peak, filters, tables):
        room = (peak - filters - tables / 1024) / 1e6
    r.add("lookup process: peak less filter and fences", 8, "MB", room, "process", "{:.1f}")


def streams(r):
    """A day of 864,000,000 ids, or as many as were measured: the memory an id is the same."""
    where = "day.dedup" if r.get("day.dedup.exact.time") is not None else "dedup"
    repeat = "day" if where == "day.dedup" else "dedup"
    ids = r.get(f"{where}.exact.ids") or 0
    size = f"dedup of {ids / 1.125:,.0f} ids a day, window of 24 h"
    per_day = 864e6 / (ids / 1.125) if ids else 1
    for way, speed_ns, memory in (("approximate", 333, 2700), ("exact", 1000, 2000)):
        name = f"{where}.{way}"
        r.scaled(f"{size}, {way}: processor time an id", speed_ns, "ns", f"{name}.processor_time", 1, repeat,
                 format_value="{:.0f}")
        r.scaled(f"{size}, {way}: time an id", speed_ns, "ns", f"{name}.time", 1, repeat, format_value="{:.0f}")
        r.scaled(f"{size}, {way}: peak memory for 864 million", memory, "MB", f"{name}.peak_of_process", per_day / 1e6, repeat,
                 format_value="{:,.0f}")
        r.scaled(f"{size}, {way}: ids passed twice", 0, "ids", f"{name}.passed_twice", 1, repeat, format_value="{:.0f}")
    r.scaled(f"{size}, exact: ids dropped wrongly", 0, "ids", f"{where}.exact.dropped_ids", 1, repeat, format_value="{:.0f}")
    measured, predicted, given = (r.get(f"{where}.approximate.{x}") for x in ("dropped_wrongly", "dropped_predicted", "ids"))
    # Of fewer the luck of the draw says more than the filter.
    if given is None or given * predicted / 100 >= RATE_IDS:
        off = abs(measured / predicted - 1) * 100 if predicted else None
        r.add(f"{size}, approximate: rate against prediction", 10, "% off", off, repeat, "{:.1f}")


def slower_build(get, kind):
    """By bytes or by records, whichever is more alike."""
    speed, record, base_speed, base_record = (get(f"keys.{k}.{x}") for k in (kind, "csv") for x in ("speed", "a_record"))
    return None if None in (speed, record, base_speed, base_record) else min(base_speed / speed, record / base_record)


def other_keys(r):
    builds = [slower_build(r.get, kind) for kind in OTHER_KINDS]
    r.add(OTHER_KEYS_BUILD, 1.2, "x", None if None in builds else max(builds), "keys")
    one, *others = (r.get(f"keys.{kind}.get.present.single.safe") for kind in ("csv", *OTHER_KINDS))
    r.add(OTHER_KEYS_GET, 1.2, "x", None if None in (one, *others) else max(others) / one, "keys")


def growth(r):
    """What must not depend on the size of the index, and what must grow with it only."""
    sizes = sorted({int(m.group(1)) for m in (re.match(r"growth\.(\d+)\.", name) for name in r.results) if m})
    repeat = "growth --large" if sizes and sizes[-1] > 10000000 else "growth"
    least, most = (sizes[0], sizes[-1]) if sizes else (0, 0)
    of = f"{most:,} keys" if sizes else "growth"
    r.scaled(f"{of}: build, peak memory (20 B a key + 64 MB)", round(most * 20 / 1e6 + 64), "MB", f"growth.{most}.build.peak",
             1e-6, repeat, format_value="{:,.0f}")
    r.scaled(f"{of}: {GROWN_CALLS}", 2, "calls", f"growth.{most}.cold.read_calls_a_key", 1, repeat,
             format_value="{:.3f}")
    r.scaled(f"{of}: one `get KEY` process, read from a cold disk", 128, "KiB", f"growth.{most}.process_cold_disk", 1 / 1024,
             repeat, format_value="{:.0f}")
    r.ratio(f"{of} / {least:,}: {GROWN_PROCESS}", 1.2, f"growth.{most}.process", f"growth.{least}.process", repeat)
    r.ratio(f"{of} / {least:,}: peak memory of one `get KEY` process", 1.2, f"growth.{most}.process_peak",
            f"growth.{least}.process_peak", repeat)


def many_files(r):
    for what, fact in ((ABSENT_PROCESS, "process.absent"), (ABSENT_CALL, "get.absent.batch.safe"),
                       (ABSENT_TRUSTING, "get.absent.single.trusting")):
        r.ratio(what, 2, f"files.small.many.{fact}", f"files.small.one.{fact}", "files")


def organisations(r):
    sizes = sorted({int(m.group(1)) for m in (re.match(r"organisations\.(\d+)\.", name) for name in r.results) if m})
    name = f"organisations.{sizes[-1]}" if sizes else "organisations"
    for way in ("sorted", "btree"):
        r.scaled(f"{way}: {BLOCKS}", 1, "reads", f"{name}.{way}.with.present.pages", 1, "organisations",
                 format_value="{:.3f}")
    table = r.get(f"{name}.sorted_in_order.table_bytes")
    r.add(IN_ORDER, 0.1, "B a key", None if table is None else table / sizes[-1], "organisations", "{:.3f}")


def compressed(r):
    r.ratio("build csv.gz / `igzip -dc`", 1.35, "gzip.build.seconds", "floor.igzip", "gzip")
    r.ratio("build BGZF, 2 threads / 1 thread", 0.7, "bgzf.build.2_threads.seconds", "bgzf.build.1_thread.seconds", "gzip")
    r.scaled(RANDOM_GZIP, 1.5, "ms", "gzip.get.present.single.safe", 1e-6, "gzip")
