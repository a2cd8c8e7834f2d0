# SPDX-License-Identifier: MIT
"""What is shown of many data files, and what very many would cost, on paper."""
import math

from .markdown import count, number, table

MIB = 1 << 20
SHAPES = ("small", "large")
FACTS = (("build.seconds", 1, "build, s"), ("build.peak", 1 / MIB, "build, peak MiB"), ("bytes_a_key", 1, "index, bytes a key"),
         ("catalog_bytes", 1e-6, "of it the catalog, MB"),
         ("process.absent", 1, "one process, absent key, ms above `/bin/true`"),
         ("process.present", 1, "one process, present key, ms above `/bin/true`"),
         ("process.absent.peak", 1 / MIB, "one process, absent key, peak MiB"),
         ("get.absent.single.safe", 1e-3, "warm, absent, a call a key, µs"),
         ("get.absent.single.trusting", 1e-3, "the same, mapped, `trust_ns` a second, µs"),
         ("get.absent.batch.safe", 1e-3, "warm, absent, 2,000 keys in a call, µs a key"),
         ("get.absent.batch.trusting", 1e-3, "the same, mapped, `trust_ns` a second, µs a key"),
         ("get.present.single.safe", 1e-3, "warm, present, a call a key, µs"),
         ("get.present.batch.safe", 1e-3, "warm, present, 2,000 keys in a call, µs a key"))
COUNTS = (("segments", "segments"), ("absent.of_one.filter_probes", "absent key: filters asked"),
          ("absent.of_one.files_opened", "absent key: files opened"),
          ("present.of_one.table_pages_read", "present key: table pages"),
          ("present.of_one.data_reads", "present key: data reads"),
          ("present.of_one.files_opened", "present key: files opened"),
          ("absent.of_all.table_pages_read", "2,000 absent keys: table pages"),
          ("present.of_all.data_reads", "2,000 present keys: data reads"),
          ("present.of_all.files_opened", "2,000 present keys: files opened"))


def of_shape(report, shape):
    name = f"files.{shape}"
    rows = []
    for fact, factor, text in (*FACTS, *((fact, 1, text) for fact, text in COUNTS)):
        one, many = (report.get(f"{name}.{which}.{fact}", factor) for which in ("one", "many"))
        shown = count if (fact, text) in COUNTS else number
        rows.append((text, shown(one), shown(many), number(many / one) if one and many is not None else "–"))
    files, records = (count(report.get(f"{name}.{what}")) for what in ("files", "records_a_file"))
    return table((f"{files} files of {records} records", "in one file", "in many", "ratio"), rows)


def whole(report):
    if not measured(report):
        return "Not measured."
    return "\n\n".join([*(of_shape(report, shape) for shape in SHAPES if report.get(f"files.{shape}.files")), on_paper(report)])


def measured(report):
    return any(report.get(f"files.{shape}.files") for shape in SHAPES)


def a_file(report, fact, factor=1.0):
    """What each of very many files adds."""
    one, many = (report.get(f"files.small.{which}.{fact}", factor) for which in ("one", "many"))
    files = report.get("files.small.files")
    return None if None in (one, many) or not files else max(many - one, 0) / files


def merge_ns(report):
    """A record that goes through one merge."""
    one, many = (report.get(f"files.merged.{which}.build.a_record") for which in ("one", "many"))
    return None if None in (one, many) else max(many - one, 0)


def on_paper(report, files=100000, keys_a_file=1000000):
    """From what was measured to so many files that each have a segment of their own."""
    table_bits = report.get("build.csv.table_bytes", 8 / (report.get("build.csv.records") or 1))
    known = {"catalog": a_file(report, "catalog_bytes"), "open": a_file(report, "process.present", 1e6),
             "look": a_file(report, "get.absent.single.safe"), "memory": a_file(report, "process.absent.peak"),
             "merge": merge_ns(report), "table": table_bits, "record": report.get("build.csv.2_threads.a_record"),
             "filter": report.get("build.csv.filter_bits_a_key")}
    if None in known.values():
        return "On paper: not enough was measured."
    keys = files * keys_a_file
    # Sixteen of a tier become one of the next: the digits of the number of files to the base of sixteen.
    segments = sum(int(digit, 16) for digit in f"{files:x}")
    merges = math.floor(math.log(files, 16))
    table_bits = known["table"] + math.log2(keys / report.get("build.csv.records"))
    filter_bytes, table_bytes = keys * known["filter"] / 8, keys * table_bits / 8
    build_s = keys * (known["record"] + merges * known["merge"]) / 1e9
    lines = [f"On paper, {files:,} files of {keys_a_file:,} rows of csv, {keys:,} keys, from the figures above and of the builds:",
             f"- segments: each file has one, sixteen of a tier become one of the next: {segments} are left, and each record "
             f"goes through {merges} merges.",
             f"- disk: table {table_bits:.0f} bits a key, {table_bytes / 1e9:,.0f} GB; filters of the segments "
             f"{filter_bytes / 1e9:,.0f} GB, and those of the files, which say what a changed file might hold, as much again; "
             f"catalog {known['catalog']:,.0f} bytes a file, {known['catalog'] * files / 1e6:,.0f} MB.",
             f"- absent key, one process: {segments} filters asked, one page each, {segments} files opened and the catalog; "
             f"{files:,} looks at data files, {known['look'] / 1e3:.1f} µs each; reading the catalog, "
             f"{known['open'] / 1e3:.1f} µs a file: {files * (known['look'] + known['open']) / 1e6:,.0f} ms. In a process that "
             f"stays and trusts them for a second, only the filters.",
             f"- present key: {segments} filters, 1 table page, 1 data read, "
             f"{(segments - 1) * 0.005:.2f} pages more by filters that are wrong (at 0.5 %).",
             f"- memory of a lookup: {known['memory']:,.0f} bytes a file, {known['memory'] * files / 1e6:,.0f} MB, "
             f"{segments} pages of filters for a key, and fences of the tables that are asked, 4 bytes for a page of 4 KiB; "
             f"who asks long enough has all filters in memory, {filter_bytes / 1e9:,.0f} GB.",
             f"- collisions: hashes have 48 bits at most, so that one key in {2 ** 48 / keys:,.0f} reads another's record, too.",
             f"- build: {known['record']:.0f} ns a record and {known['merge']:.0f} ns a merge: {build_s / 3600:,.1f} hours."]
    return "\n".join(lines)
