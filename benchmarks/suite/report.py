# SPDX-License-Identifier: MIT
"""Tables of Markdown out of the results, and their place in README.md."""
import math
import re

from . import file_tables, organisation_tables, peers, reach
from .markdown import count, number, table

BEGIN, END = "<!-- results: begin (written by run.py) -->", "<!-- results: end -->"


class Report:
    def __init__(self, document):
        self.document = document
        self.results = document["results"]
        self.notes = document["notes"]

    def get(self, name, factor=1.0):
        return self.results[name]["value"] * factor if name in self.results else None

    def show(self, name, factor=1.0):
        return number(self.get(name, factor))

    def machine(self):
        m = self.document["machine"]
        lines = [f"{m['processor']}, {m['processors']} processors, {m['memory_gib']:.0f} GiB of memory, {m['system']}, "
                 f"{m['compiler']}, {m['filesystem']}. {self.document['records']:,} records unless a line says otherwise; "
                 f"medians of {self.document['runs']} runs.", "", self.parts()]
        loads = [p["load"] for p in self.document.get("parts", {}).values()] + [m.get("load_before", 0), m.get("load_after", 0)]
        if max(loads) > m["processors"] + 0.5:
            lines.append("\n**Other work ran on the machine meanwhile: times are too high, and ratios uncertain.**")
        return "\n".join(lines)

    def parts(self):
        """When each part was measured, and how busy the machine was: the load is that of the minute before its start or
        its end, whichever was more, with its own work in it."""
        m, parts = self.document["machine"], self.document.get("parts", {})
        rows = [(f"`{name}`" + ("" if p["whole"] else ", **ended too early**"), p["version"], p["date"], f"{p['load']:.1f}") for name, p in parts.items()]
        if not any(p["version"] == m["version"] for p in parts.values()):
            load = max(m.get("load_before", 0), m.get("load_after", 0))
            rows.insert(0, ("what is not named below" if parts else "all", m["version"], m["date"], f"{load:.1f}"))
        return table(("part", "version", "ended", "load"), rows)

    def reached(self):
        marks = {True: "yes", False: "**no**", None: ""}
        rows = [(r.what, r.limit, r.measured, marks[r.reached], f"`--only {r.repeat}`", r.note)
                for r in reach.rows(self.results)]
        return table(("figure", "to reach", "measured", "reached", "repeat", "why not"), rows)

    def floors(self):
        names = [("floor.memory.read", "reading memory, one thread"), ("floor.memory.copy", "copying memory, one thread"),
                 ("floor.memory.12_MiB.dependent", "memory of 12 MiB, each access after the one before"),
                 ("floor.memory.12_MiB.independent", "memory of 12 MiB, accesses side by side"),
                 ("floor.memory.12_MiB.groups_of_32", "memory of 12 MiB, 32 accesses asked for ahead"),
                 ("floor.memory.12_MiB.groups_of_32.large_pages", "the same in large pages"),
                 ("floor.mapped.groups_of_32", "192 B of the mapped csv file, 32 records asked for ahead"),
                 ("floor.page_fault", "a page of fresh memory"), ("floor.file.read", "reading a cached file"),
                 ("floor.pread.of_128_bytes", "pread of 128 B, cached, random"),
                 ("floor.pread.of_4096_bytes", "pread of 4 KiB, cached, random"),
                 ("floor.pread.cold", "pread of 4 KiB from the disk"), ("floor.wc.csv", "`wc -l` of the csv file"),
                 ("floor.wc.jsonl", "`wc -l` of the jsonl file"), ("floor.igzip", "`igzip -dc` of the csv.gz file"),
                 ("floor.true", "a process of `/bin/true`")]
        rows = [(text, f"{self.show(name)} {self.results[name]['unit']}" if name in self.results
                 else self.notes.get(name, "not measured")) for name, text in names]
        return table(("floor", "measured"), rows)

    def jobs(self):
        rows = []
        for name, text in (("build.csv.1_thread", "csv, 1 thread"), ("build.csv.2_threads", "csv, 2 threads"),
                           ("build.jsonl.1_thread", "jsonl, 1 thread"), ("build.jsonl.2_threads", "jsonl, 2 threads"),
                           ("gzip.build", "csv.gz, 2 threads (GB/s unpacked)"),
                           ("bgzf.build.1_thread", "BGZF, 1 thread"), ("bgzf.build.2_threads", "BGZF, 2 threads"),
                           ("memory.in_memory", f"{count(self.get('memory.records'))} short lines"),
                           ("memory.under_64M", "the same, `--memory 64M`")):
            rows.append((text, self.show(f"{name}.seconds"), self.show(f"{name}.cpu"), self.show(f"{name}.speed"),
                         self.show(f"{name}.a_record"), self.show(f"{name}.peak", 1 / reach.MIB)))
        return table(("build", "s", "CPU s", "GB/s", "ns a record", "peak MiB"), rows)

    def lookups(self):
        rows = []
        for which in ("present", "absent"):
            for how, text in (("safe", "safe"), ("mapped", "mapped"), ("trusting", "mapped, `trust_ns` a second")):
                rows.append((f"{which}, {text}", *(self.show(f"get.{which}.{size}.{how}")
                                                  for size in ("single", "of_64", "of_1024", "batch"))))
        return table(("get in process, warm, ns a key", "one by one", "64 at once", "1,024 at once", "all at once"), rows)

    def peers(self):
        rows = [("keysieve, 2 threads", self.show("build.csv.2_threads.seconds"),
                 self.show("build.csv.2_threads.peak", 1 / reach.MIB), self.show("build.csv.bytes_a_key"),
                 self.show("get.present.single.safe"), self.show("get.absent.single.safe"),
                 self.show("cold.get.single", 1e-3), "1 thread: " + self.show("build.csv.1_thread.seconds") + " s")]
        rows.append(("keysieve, mapped, `trust_ns`", "", "", "", self.show("get.present.single.trusting"),
                     self.show("get.absent.single.trusting"), "", ""))
        for way, text in (("safe", "keysieve, in batches"), ("mapped", "keysieve, in batches, mapped")):
            rows.append((text, "", "", "", self.show(f"get.present.batch.{way}"), self.show(f"get.absent.batch.{way}"),
                         self.show("cold.get.batch", 1e-3) if way == "safe" else "", ""))
        for name in peers.SYSTEMS:
            if name == "libbloom":
                continue
            p = f"peer.{name}"
            note = self.notes.get(p, "")
            if f"{p}.build.total" in self.results:
                note = f"sorting {self.show(p + '.build.sort')} s of it" if self.get(p + ".build.sort") > 0.001 else "no sorting"
            rows.append((name, self.show(f"{p}.build.total"), self.show(f"{p}.peak", 1 / reach.MIB),
                         self.show(f"{p}.bytes_a_key"), self.show(f"{p}.present.safe"), self.show(f"{p}.absent"),
                         self.show(f"{p}.cold.present", 1e-3), note))
        rg = self.get("peer.ripgrep.one_key", 1e6)
        rows.append(("ripgrep, no index", "0", "", "0", number(rg), number(rg), "", self.notes.get("peer.ripgrep", "")))
        return table(("system", "build s", "peak MiB", "bytes a key", "present ns", "absent ns", "cold µs", ""), rows)

    def others(self):
        rows = [(name, *(self.show(f"fasta.{key}.{fact}", factor) for fact, factor in
                         (("build", 1), ("peak", 1 / reach.MIB), ("bytes_a_key", 1), ("one_key", 1))))
                for name, key in (("keysieve", "keysieve"), ("samtools faidx", "samtools"))]
        parts = [table((f"FASTA, {count(self.get('fasta.records'))} names", "build s", "peak MiB", "bytes a key",
                        "one process a key, ms"), rows)]
        rows = [("keysieve, 0.5 %", self.show("rate.bits_a_key_for_0.005"), self.show("rate.measured_for_0.005", 100),
                 self.show("filter.add"), self.show("filter.absent.single"), self.show("filter.absent.batch"))]
        rows.append(("libbloom, 0.5 %", self.show("peer.libbloom.0.005.bits_a_key"), self.show("peer.libbloom.0.005.rate", 100),
                     self.show("peer.libbloom.0.005.add"), self.show("peer.libbloom.0.005.absent"), "–"))
        parts.append(table(("filter", "bits a key", "measured %", "add ns", "absent ns", "in batches ns"), rows))
        return "\n\n".join(parts)

    def keys(self):
        rows = []
        for kind, text in (("csv", "UUIDs, rows of 100 B"), ("numbers", "sequential numbers"), ("sha1", "SHA-1 in hex"),
                           ("urls", "URLs"), ("short", "records of 20 B"), ("long", "records of 2 KB, a tenth as many")):
            slower = reach.slower_build(self.get, kind)
            even = "–" if slower is None else "yes" if slower <= 1.2 else "**no**"
            rows.append((text, self.show(f"keys.{kind}.speed"), self.show(f"keys.{kind}.a_record"), even,
                         self.show(f"keys.{kind}.get.present.single.safe"),
                         self.show(f"keys.{kind}.get.present.batch.safe"), self.show(f"keys.{kind}.bytes_a_key")))
        return table(("keys", "build GB/s", "build ns a record", "as UUIDs within 20 %, in one of the two", "get ns",
                      "get in a batch ns", "bytes a key"), rows)

    def sizes(self):
        found = {int(m.group(1)) for m in (re.match(r"growth\.(\d+)\.", name) for name in self.results) if m}
        return sorted(found)

    def growth(self):
        facts = (("build.seconds", 1, "build s"), ("build.peak", 1 / reach.MIB, "build, peak MiB"),
                 ("bytes_a_key", 1, "bytes a key"), ("get.present.single.safe", 1, "get, present, ns"),
                 ("get.absent.single.safe", 1, "get, absent, ns"), ("get.present.batch.mapped", 1, "in a batch, mapped, ns"),
                 ("cold.read_calls_a_key", 1, "cold get, reads"), ("cold.get.single", 1e-3, "cold get, µs"),
                 ("process", 1, "one process, ms"), ("process_cold_disk", 1 / 1024, "one process, cold, KiB read"), ("process_peak", 1 / reach.MIB, "one process, peak MiB"))
        sizes = self.sizes()
        rows = []
        for fact, factor, text in facts:
            values = [self.get(f"growth.{n}.{fact}", factor) for n in sizes]
            rows.append((text, *(number(v) for v in values), number(slope(sizes, values), 2)))
        return table(("keys", *(f"{n:,}" for n in sizes), "exponent"), rows)

    def dedup(self):
        rows = []
        for where in ("dedup", "day.dedup"):
            for way in ("approximate", "exact"):
                name = f"{where}.{way}"
                if self.get(f"{name}.ids") is None:
                    continue
                rows.append((f"{way}, {count(self.get(f'{name}.ids'))} ids in 27 h", self.show(f"{name}.processor_time"),
                             self.show(f"{name}.time"), self.show(f"{name}.making_ids"), self.show(f"{name}.speed"),
                             self.show(f"{name}.peak_of_process", 1e-6), self.show(f"{name}.most_disk", 1e-9),
                             self.show(f"{name}.pages_read"), count(self.get(f"{name}.passed_twice")),
                             self.show(f"{name}.dropped_wrongly"), self.show(f"{name}.dropped_predicted")))
        parts = [table(("a window of 24 h, in process", "CPU ns an id", "ns an id", "(making it)", "million/s", "peak MB",
                        "disk GB", "pages read an id", "passed twice", "dropped wrongly %", "predicted %"), rows)]
        rows = []
        for name, text in (("keysieve_exact", "keysieve, exact"), ("keysieve_exact_64M", "keysieve, exact, `--memory 64M`"),
                           ("keysieve_exact_window", "keysieve, exact, `--memory 64M --window 24h`"),
                           ("keysieve_approximate", "keysieve, approximate"),
                           ("keysieve_approximate_window", "keysieve, approximate, `--window 24h`"),
                           ("libbloom", "libbloom, 0.1 %"), ("awk", "`awk '!seen[$0]++'`"), ("sort_u", "`sort -u`"),
                           ("sqlite_unique", "SQLite, unique key")):
            p = f"dedup.peer.{name}"
            rows.append((text, self.show(f"{p}.processor_time"), self.show(f"{p}.time"), self.show(f"{p}.peak", 1e-6)))
        parts.append(table((f"{count(self.get('dedup.peer.ids'))} ids as lines, one process", "CPU ns an id", "ns an id",
                            "peak MB"), rows))
        return "\n\n".join(parts)

    def text(self):
        parts = ["### Reached", self.reached(), "### Floors in the same run", self.floors(), "### Builds", self.jobs(),
                 "### Lookups", self.lookups(), "### Other systems", self.peers(), self.others(),
                 "### Other keys", self.keys(), "### Organisations", organisation_tables.whole(self), "### Many files",
                 file_tables.whole(self), "### Streams without duplicates", self.dedup(),
                 "### Growth", self.growth(), "### Ten thousand million keys, on paper",
                 extrapolation(self)]
        return "\n\n".join([self.machine(), *parts])

    def choice(self):
        return organisation_tables.choice(self)


def slope(sizes, values):
    """The exponent of a power law through the points, by least squares."""
    points = [(math.log(n), math.log(v)) for n, v in zip(sizes, values) if v]
    if len(points) < 2:
        return None
    mx, my = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    return sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points)


def extrapolation(report, keys=10 ** 10):
    """From the largest size that was measured to so many keys."""
    sizes = [n for n in report.sizes() if None not in (report.get(f"growth.{n}.{fact}") for fact in
                                                       ("table_bytes", "filter_bits_a_key", "build.seconds"))]
    if not sizes:
        return "Not measured."
    n = sizes[-1]
    data_bytes = report.get("build.csv.data_bytes") or 100 * n
    table_bits = report.get(f"growth.{n}.table_bytes") * 8 / n
    filter_bits = report.get(f"growth.{n}.filter_bits_a_key")
    more_offset = math.log2(keys / n)
    table_bytes = (table_bits + more_offset) / 8 * keys
    filter_bytes = filter_bits / 8 * keys
    seconds = report.get(f"growth.{n}.build.seconds") / n * keys
    spill = (report.get("memory.under_64M.seconds") or 0) / (report.get("memory.in_memory.seconds") or 1)
    lines = [f"From {n:,} keys to {keys:,} (data of {data_bytes / (report.get('build.csv.records') or n) * keys / 1e12:.1f} TB):",
             f"- disk: the table's entries of {table_bits:.1f} bits gain the {more_offset:.1f} bits that offsets grow by "
             f"(hashes are stored as differences, whose size does not depend on the number of keys), the filter keeps "
             f"{filter_bits:.1f} bits: {table_bytes / 1e9:.0f} GB + {filter_bytes / 1e9:.0f} GB, "
             f"{(table_bytes + filter_bytes) / keys:.1f} bytes a key.",
             f"- reads: 1 table page and 1 data read for a present key, as at every size measured.",
             f"- memory of a lookup: fences, 4 bytes for a page of 4 KiB, {table_bytes / 1024 / 1e6:.0f} MB, and the pages of "
             f"the filter that are touched, in the end {filter_bytes / 1e9:.0f} GB; one key touches one page of it.",
             f"- time of a build: {seconds / 60:.0f} min with the time a record of {n:,} keys, were there memory for all "
             f"entries (16 bytes each); with `--memory` times {max(spill, 1):.1f}, the factor measured above."]
    return "\n".join(lines)


def publish(text, path):
    """Puts the text between its marks in a file that has them."""
    with open(path, encoding="utf-8") as f:
        old = f.read()
    if BEGIN not in old or END not in old:
        raise RuntimeError(f"{path} has no place for results")
    head, rest = old.split(BEGIN, 1)
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"{head}{BEGIN}\n\n{text}\n\n{END}{rest.split(END, 1)[1]}")
