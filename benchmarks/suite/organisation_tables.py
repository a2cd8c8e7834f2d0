# SPDX-License-Identifier: MIT
"""What is shown of the organisations: all that was measured, and which one to choose."""
import re

from .markdown import table

TEXT = {"hash": "hash", "sorted": "sorted", "sorted_in_order": "sorted, data in the order of its keys", "btree": "btree"}
CHOOSE = {
    "scan": "a few keys are looked for once",
    "hash": "single keys are asked for; the index should be small and quick to build",
    "sorted": "keys are also asked for by prefix or range, or listed in order",
    "sorted_in_order": "as above, and the file is in the order of its keys already (`sorted` sees that by itself)",
    "btree": "as `sorted`, without deflated blocks: a larger index, less work for a lookup",
}
MICRO = 1e-3
COSTS = ("single", "batch", "cold")


def sizes(report):
    found = {int(m.group(1)) for m in (re.match(r"organisations\.(\d+)\.", name) for name in report.results) if m}
    return sorted(found)


def costs(report, prefix):
    return [report.show(f"{prefix}.{answer}.{cost}", MICRO) for answer in ("present", "absent") for cost in COSTS]


def reads(report, prefix):
    return [f"{report.show(f'{prefix}.{answer}.pages')} + {report.show(f'{prefix}.{answer}.data_reads')}"
            for answer in ("present", "absent")]


def of_size(report, records):
    name = f"organisations.{records}"
    scan = [report.show(f"{name}.scan.{cost}", MICRO) for cost in ("present", "of_1000", "cold")]
    rows = [("linear scan, `get --scan`", "0", "0", *scan, *scan, "all data", "all data")]
    for way, text in TEXT.items():
        p = f"{name}.{way}"
        if f"organisations.{way}" in report.notes:
            rows.append((text, f"left out: {report.notes[f'organisations.{way}']}", *[""] * 9))
            continue
        rows.append((text, report.show(f"{p}.build.seconds"), report.show(f"{p}.bytes_a_key"), *costs(report, f"{p}.with"),
                     *reads(report, f"{p}.with")))
        rows.append((f"{text}, no filter", report.show(f"{p}.bare.seconds"), report.show(f"{p}.bare.bytes_a_key"),
                     *costs(report, f"{p}.without"), *reads(report, f"{p}.without")))
    return table((f"{records:,} keys", "build s", "bytes a key", "present µs", "many at once µs", "cold µs", "absent µs",
                  "many at once µs", "cold µs", "pages + data reads, present", "absent"), rows)


def growth(report):
    facts = (("build.a_record", 1, "build, ns a record"), ("bytes_a_key", 1, "bytes a key"),
             ("with.present.single", MICRO, "present, µs"), ("with.absent.single", MICRO, "absent, µs"),
             ("without.absent.single", MICRO, "absent, no filter, µs"), ("with.present.cold", MICRO, "present, cold, µs"),
             ("without.absent.cold", MICRO, "absent, cold, no filter, µs"))
    rows = [("linear scan", "present, µs", *(report.show(f"organisations.{n}.scan.present", MICRO) for n in sizes(report)))]
    for way, text in TEXT.items():
        if f"organisations.{way}" not in report.notes:
            rows += [(text, what, *(report.show(f"organisations.{n}.{way}.{fact}", factor) for n in sizes(report)))
                     for fact, factor, what in facts]
    return table(("organisation", "keys", *(f"{n:,}" for n in sizes(report))), rows)


def whole(report):
    if not sizes(report):
        return "Not measured."
    return "\n\n".join([
        "Rows of csv with UUIDs as keys; one key a call, or many in one call (of the scan 1,000, else 20,000); cold with nothing "
        "but the filter in memory. Without a filter: its sidecar was taken away; the build is that of a filter of next to no "
        "bits (`--fpr 0.99`).",
        *(of_size(report, n) for n in sizes(report)[-1:]), growth(report),
        "![A present key](pictures/organisations.svg)", "![An absent key](pictures/organisations_absent.svg)"])


def pays_after(report, name, way):
    """Lookups of single keys after which building was quicker than scanning."""
    build, one = report.get(f"{name}.{way}.build.seconds", 1e9), report.get(f"{name}.{way}.with.present.single")
    scan = report.get(f"{name}.scan.present")
    return None if None in (build, one, scan) or scan <= one else build / (scan - one)


def choice(report):
    """For docs/organisations.md."""
    if not sizes(report):
        return "Not measured yet."
    n = sizes(report)[-1]
    name = f"organisations.{n}"
    rows = [("none: `get --scan`", CHOOSE["scan"], "0", "0", report.show(f"{name}.scan.present", MICRO),
             report.show(f"{name}.scan.present", MICRO), report.show(f"{name}.scan.cold", MICRO), "")]
    for way, text in TEXT.items():
        if f"organisations.{way}" in report.notes:
            continue
        p, after = f"{name}.{way}", pays_after(report, name, way)
        rows.append((text, CHOOSE[way], report.show(f"{p}.build.seconds"), report.show(f"{p}.bytes_a_key"),
                     report.show(f"{p}.with.present.single", MICRO), report.show(f"{p}.with.absent.single", MICRO),
                     report.show(f"{p}.with.present.cold", MICRO), "–" if after is None else f"{int(after) + 1} lookups"))
    head = ("organisation", "choose it when", "build s", "bytes a key", "present µs", "absent µs", "present, cold µs",
            "quicker than scans after")
    return "\n\n".join([
        f"Measured over {n:,} rows of csv, by `benchmarks/run.py --only organisations`; with their filter. All of it, and on "
        "what machine: [benchmarks](../benchmarks/README.md#organisations).",
        table(head, rows), "![A present key, by the number of keys](../benchmarks/pictures/organisations.svg)"])
