# SPDX-License-Identifier: MIT
"""Pictures of the results, drawn by gnuplot as SVG."""
import os
import re
import shutil
import subprocess

from . import organisation_tables, peers

HEAD = """set terminal svg size 720,{height} font 'sans-serif,13' background rgb 'white'
set output '{path}'
set title '{title}'
set border 3 lc rgb '#888888'
set tics nomirror
set grid lc rgb '#dddddd'
"""
OURS, THEIRS, FLOOR = "0x1b6ca8", "0xb0b0b0", "0xe0a030"


def draw(path, title, script, height=360):
    text = HEAD.format(path=path, title=title, height=height) + script
    subprocess.run(["gnuplot"], input=text, text=True, check=True)


def bars(path, title, unit, rows, log=False):
    """Lying bars with their values, (name, value, colour), the first on top."""
    rows = [(n, v, c) for n, v, c in rows if v is not None]
    if not rows:
        return
    most = max(v for _, v, _ in rows)
    least = min(v for _, v, _ in rows)
    left = 10 ** (len(str(int(least))) - 2) if log else 0
    lines = ["$data << EOD"]
    for i, (name, value, colour) in enumerate(rows):
        lines.append(f'"{name}" {len(rows) - i} {value} {colour} "{value:,.3g}"' if value < 1000 else
                     f'"{name}" {len(rows) - i} {value} {colour} "{value:,.0f}"')
    tics = "set format x '10^{%L}'" if log and most > 1e6 * left else ""
    lines += ["EOD", "set logscale x" if log else "", tics, f"set xrange [{left}:{most * (6 if log else 1.15)}]",
              f"set yrange [0.4:{len(rows) + 0.6}]", f"set xlabel '{unit}'", "unset key", "set style fill solid",
              f"plot $data using ({left}):2:({left}):3:($2-0.35):($2+0.35):4:ytic(1) with boxxyerror lc rgb variable, "
              "$data using 3:2:5 with labels left offset 0.5,0 notitle"]
    draw(path, title, "\n".join(lines) + "\n", 110 + 24 * len(rows))


def by_system(get, ours, theirs):
    rows = [(name, get(key), OURS) for name, key in ours]
    return rows + [(name, get(f"peer.{name}.{theirs}"), THEIRS) for name in peers.SYSTEMS
                   if name not in ("libbloom", "RocksDB-unsorted")]


def lines_by_keys(path, title, sizes, lines, unit=None, least=1):
    """Lines, (name, values by size), over the numbers of keys, both by powers of ten."""
    data, plots = [], []
    for i, (name, values) in enumerate(lines):
        if not sizes or any(v is None for v in values):
            continue
        data += [f"$d{i} << EOD", *(f"{n} {v}" for n, v in zip(sizes, values)), "EOD"]
        plots.append(f"$d{i} using 1:2 with linespoints lw 2 pt 7 title '{name}'")
    if not plots:
        return
    data += ["set logscale xy", "set format xy '10^{%L}'", "set xlabel 'keys'", f"set ylabel '{unit}'" if unit else "",
             "set key below maxrows 2", f"set xrange [{sizes[0] * 0.7}:{sizes[-1] * 1.4}]", f"set yrange [{least}:*]",
             "plot " + ", ".join(plots)]
    draw(path, title, "\n".join(data) + "\n", 420)


def growth(path, get, sizes):
    facts = (("build.a_record", "build, ns a record"), ("get.present.single.safe", "get, ns"),
             ("get.present.batch.mapped", "get in a batch, mapped, ns"), ("cold.get.single", "cold get, ns"),
             ("bytes_a_key", "index, bytes a key"))
    lines_by_keys(path, "What a key costs as the index grows", sizes,
                  [(name, [get(f"growth.{n}.{fact}") for n in sizes]) for fact, name in facts])


def organisations(directory, get, sizes):
    lines = [("linear scan", [get(f"organisations.{n}.scan.present") for n in sizes])]
    for cost, name in (("single", "warm"), ("cold", "cold")):
        lines += [(f"{text}, {name}", [get(f"organisations.{n}.{way}.with.present.{cost}") for n in sizes])
                  for way, text in organisation_tables.TEXT.items() if way != "sorted_in_order"]
    lines_by_keys(os.path.join(directory, "organisations.svg"), "A present key, by the organisation of the index", sizes, lines, "ns",
                  1000)
    if not sizes:
        return

    def microseconds(name):
        value = get(f"organisations.{sizes[-1]}.{name}")
        return None if value is None else value / 1e3

    rows = [("linear scan", microseconds("scan.present"), FLOOR)]
    for way in organisation_tables.TEXT:
        rows += [(f"{way.replace('_', ' ')}{name}", microseconds(f"{way}.{with_filter}.absent.single"), colour)
                 for with_filter, name, colour in (("with", "", OURS), ("without", ", no filter", THEIRS))]
    bars(os.path.join(directory, "organisations_absent.svg"), f"An absent key, not among {sizes[-1]:,} (warm)", "µs", rows,
         log=True)


def rates(path, results):
    points = [(float(m.group(1)), r["value"]) for m, r in
              ((re.match(r"rate\.measured_for_(.*)", n), r) for n, r in results.items()) if m]
    if not points:
        return
    lines = ["$d << EOD", *(f"{a} {b}" for a, b in sorted(points)), "EOD", "set logscale xy", "set key bottom right",
             "set xlabel 'rate asked for'", "set ylabel 'rate measured'", "set xrange [5e-5:0.2]", "set yrange [5e-5:0.2]",
             "plot x with lines lc rgb '#bbbbbb' title 'as asked', "
             "$d with points pt 7 ps 0.9 lc rgb '#1b6ca8' title 'absent keys that the filter lets through'"]
    draw(path, "False positives of filters", "\n".join(lines) + "\n")


def draw_all(document, directory, sizes, organisation_sizes):
    """False when there is no gnuplot."""
    if shutil.which("gnuplot") is None:
        return False
    os.makedirs(directory, exist_ok=True)
    results = document["results"]

    def get(name):
        return results[name]["value"] if name in results else None

    def at(name):
        return os.path.join(directory, name)

    count = f"{document['records']:,}"
    bars(at("build.svg"), f"Building an index over {count} rows of csv", "seconds",
         [("wc -l", get("floor.wc.csv"), FLOOR)] +
         by_system(get, [("keysieve, 2 threads", "build.csv.2_threads.seconds"),
                         ("keysieve, 1 thread", "build.csv.1_thread.seconds")], "build.total"))
    bars(at("bytes.svg"), "Size of the index", "bytes a key",
         by_system(get, [("keysieve", "build.csv.bytes_a_key")], "bytes_a_key"))
    bars(at("present.svg"), f"A present key out of {count}: found, its record read and compared (warm)", "ns",
         by_system(get, [("keysieve", "get.present.single.safe"),
                         ("keysieve, mapped, trust_ns", "get.present.single.trusting"), ("keysieve, in batches", "get.present.batch.safe"),
                         ("keysieve, in batches, mapped", "get.present.batch.mapped")], "present.safe"), log=True)
    bars(at("absent.svg"), f"An absent key, not among {count} (warm)", "ns",
         by_system(get, [("keysieve", "get.absent.single.safe"),
                         ("keysieve, mapped, trust_ns", "get.absent.single.trusting"), ("keysieve, in batches", "get.absent.batch.safe"),
                         ("keysieve, in batches, mapped", "get.absent.batch.mapped")], "absent"), log=True)
    growth(at("growth.svg"), get, sizes)
    organisations(directory, get, organisation_sizes)
    rates(at("rates.svg"), results)
    return True
