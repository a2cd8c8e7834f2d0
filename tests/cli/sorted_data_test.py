#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data that is in the order of its keys, in every format: the table of a sorted index is next to nothing, and its answers
are those of an index by hashes and of a scan."""
import json
import os
import random
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_support import call, check, expect, finish, write

ROUND = random.Random(7)


def numbers(count):
    """Ascending, some of them many times."""
    at, out = 0, []
    while len(out) < count:
        out += [at] * ROUND.choice((1, 1, 1, 1, 2, 3))
        if len(out) % 5000 < 3:
            out += [at] * 3000
        at += ROUND.choice((1, 1, 2, 50))
    return out


def key(n):
    return b"key-%08d" % n


def filler():
    size = 70000 if ROUND.random() < 0.0005 else ROUND.randrange(60)
    return b"x" * size


def csv(count, end):
    return b"id,v" + end + b"".join(b'%s,"a""\n%s"%s' % (key(n), filler(), end) for n in numbers(count))


def quoted(count):
    return b"v,id\n" + b"".join(b'%s,"%s,\n"\n' % (filler(), key(n)) for n in numbers(count))


def tsv(count):
    return b"id\tv\n" + b"".join(b"%s\t%s\n" % (key(n), filler()) for n in numbers(count)) + b"\tno key\n\tnor this"


def lines(count):
    return b"".join(key(n) + b" is the key of this line" + filler() + b"\n\n" for n in numbers(count))[:-2]


def jsonl(count):
    return b"".join(b'{"v": "%s", "id": "%s"}\n' % (filler(), key(n)) for n in numbers(count))


def fasta(count):
    return b"".join(b">%s some text\nACGT\n%s\n\n" % (key(n), b"ACGT" * ROUND.randrange(30)) for n in numbers(count))


def fastq(count):
    return b"".join(b"@%s text\nACGTACGT\n+\n@!!>@!!>\n" % key(n) for n in numbers(count))


def fixed(count):
    return b"".join(b"%s and forty more bytes of each record....." % key(n) for n in numbers(count))


CASES = [
    ("csv", csv(30000, b"\n"), ["-k", "id"]), ("crlf.csv", csv(30000, b"\r\n")[:-2], ["-k", "id"]),
    ("quoted.csv", quoted(30000), ["-k", "id"]), ("tsv", tsv(30000), ["-k", "id"]),
    ("txt", lines(25000), ["-k", "field:1", "-d", " "]), ("jsonl", jsonl(25000), ["-k", "id"]),
    ("fasta", fasta(20000), []), ("fastq", fastq(25000), []),
    ("fixed", fixed(30000), ["-f", "fixed", "--record-size", "%d" % len(fixed(1)[:53]), "-k", "bytes:1-12"]),
]


def compare(what, words, keys, data):
    """The same by hashes, by keys and by a scan."""
    write("keys", b"".join(k + b"\0" for k in keys))
    by_hash = call("get", "-i", data + ".hash", "-0", "-f", "keys", *words)
    by_key = call("get", "-i", data + ".sorted", "-0", "-f", "keys", *words)
    check(by_hash.rc == by_key.rc and by_hash.out == by_key.out and by_hash.err == by_key.err, f"{what}: keys", by_key)


def compare_ranges(what, data, present):
    """Ranges and prefixes against a scan."""
    low, high = sorted(ROUND.sample(present, 2))
    for words in (["--prefix", present[0][:8]], ["--range", low + b".." + high, "--limit", "3000"],
                  ["--reverse", "--limit", "700", "--range", low + b"0.."], ["--range", b".." + low[:-1], "--limit", "50"],
                  ["--reverse", "--prefix", high[:9]]):
        r = call("get", "-l", "-i", data + ".sorted", *words)
        scan = call("get", "-l", "--scan", "-i", data + ".sorted", *words)
        check(r.rc == scan.rc and r.out == scan.out, f"{what}: {words}", r)


def table_bytes(data):
    r = expect("info", call("info", "-i", data + ".sorted", "--json"))
    facts = json.loads(r.out)
    return facts["table_bytes"], facts


def try_case(name, content, words):
    data = "data." + name
    what = "format " + name
    write(data, content)
    for kind in ("hash", "sorted"):
        expect(what, call("build", "-q", "-i", f"{data}.{kind}", "--organisation", kind, *words, data))
    size, facts = table_bytes(data)
    check(size < facts["records"] / 5, f"{what}: a table of {size} bytes for {facts['records']} records")
    every = call("keys", "-0", "-i", data + ".sorted", "--range", "..").out.split(b"\0")[:-1]
    listed = call("keys", "-0", "-i", data + ".hash").out.split(b"\0")[:-1]
    check(every == listed and every == sorted(every), f"{what}: all keys, in order")
    back = call("keys", "-0", "-i", data + ".sorted", "--reverse", "--range", "..").out.split(b"\0")[:-1]
    check(back == every[::-1], f"{what}: all keys, back")
    present = sorted(set(every))
    check(facts["distinct_keys"] == len(present), f"{what}: {facts['distinct_keys']} distinct keys")
    asked = ROUND.sample(present, 300) + present[:2] + present[-2:] + [k + b"0" for k in ROUND.sample(present, 50)]
    compare(what, [], asked + [b"a", b"zzz"], data)
    compare(what, ["-l"], asked, data)
    compare(what, ["--first", "--json"], asked, data)
    compare_ranges(what, data, present)
    expect(what, call("verify", "-i", data + ".sorted", "--data"))
    expect(what, call("verify", "-i", data + ".sorted"))


def try_a_million(cut):
    """Growth in order stays small; growth out of order has entries of its own."""
    shutil.rmtree("m.csv.sorted", True)
    shutil.rmtree("unique", True)
    rows = [b"%09d,%d\n" % (3 * n, n) for n in range(1200000)]
    # The last record is not complete.
    whole = b"id,v\n" + b"".join(rows[:1000000])
    rest = whole[-cut:]
    write("m.csv", whole[:-cut])
    expect("a million", call("build", "-q", "-i", "m.csv.sorted", "--organisation", "sorted", "-k", "id", "m.csv"))
    size, facts = table_bytes("m.csv")
    check(facts["records"] == 1000000 and size < 100000 and size > 100, f"a million: {size} bytes of tables")
    r = expect("one", call("get", "-i", "m.csv.sorted", "--stats", "--json", "000000300"), 0)
    cost = json.loads(r.err)
    check(cost["table_pages_read"] == 1 and cost["data_reads"] == 2 and cost["bytes_read"] < 80000, "cost", r)
    r = expect("none", call("get", "-i", "m.csv.sorted", "--stats", "--json", "000000301"), 1, b"")
    with open("m.csv", "ab") as file:
        file.write(rest + b"".join(rows[1000000:]))
    expect("grown", call("update", "-q", "-i", "m.csv.sorted"))
    size, facts = table_bytes("m.csv")
    expect("verify", call("verify", "-i", "m.csv.sorted", "--data"))
    check(facts["records"] == facts["distinct_keys"] == 1200000 and size < 120000, f"grown: {size} bytes of tables")
    expect("in the new", call("get", "-i", "m.csv.sorted", "003300000"), 0, b"003300000,1100000\n")
    expect("over both", call("keys", "-i", "m.csv.sorted", "--range", "002999997..003000000"), 0, b"002999997\n003000000\n")
    with open("m.csv", "ab") as file:
        file.write(b"000000300,again\n")
    expect("out of order", call("update", "-q", "-i", "m.csv.sorted"))
    expect("twice", call("get", "-i", "m.csv.sorted", "000000300"), 0, b"000000300,100\n000000300,again\n")
    check(table_bytes("m.csv")[1]["distinct_keys"] == 1200000, "distinct keys")
    expect("verify", call("verify", "-i", "m.csv.sorted", "--data"))
    unique = ["build", "-q", "--unique", "-i", "unique", "--organisation", "sorted", "-k", "id"]
    write("u.csv", b"id,v\n" + b"".join(rows[:100000]))
    write("w.csv", b"id,v\n" + b"".join(rows[99999:200000]))
    expect("not unique", call(*unique, "u.csv", "w.csv"), 2, b"", b"w.csv")
    write("w.csv", b"id,v\n" + b"".join(rows[100000:200000]))
    expect("unique", call(*unique, "u.csv", "w.csv"))


def try_damage():
    """Data that has changed is told, whatever it was; a damaged table, too."""
    with open("data.csv", "r+b") as file:
        file.seek(40000)
        file.write(b"\n")
    for words in (["get", "key-00000000"], ["get", "--prefix", "key"], ["keys", "--range", ".."], ["verify"], ["verify", "--data"]):
        r = call(words[0], "-i", "data.csv.sorted", *words[1:])
        check(r.rc == 2 and b"data.csv" in r.err and b"keysieve update" in r.err, f"changed: {words}", r)
    check(json.loads(call("info", "-i", "data.csv.sorted", "--json").out)["files"][0]["state"] == "stale", "stale")
    expect("update", call("update", "-q", "-i", "data.csv.sorted"))
    table = [n for n in sorted(os.listdir("data.tsv.sorted")) if n.endswith(".kss")][0]
    with open(os.path.join("data.tsv.sorted", table), "r+b") as file:
        file.seek(150)
        byte = file.read(1)
        file.seek(150)
        file.write(bytes([byte[0] ^ 1]))
    for words in (["get", "key-00000000"], ["keys", "--range", ".."], ["verify"]):
        r = call(words[0], "-i", "data.tsv.sorted", *words[1:])
        check(r.rc == 2 and table.encode() in r.err, f"damaged: {words}", r)
    expect("repair", call("build", "-q", "-i", "data.tsv.sorted", "data.tsv"))
    expect("verify", call("verify", "-i", "data.tsv.sorted", "--data"))


for case in CASES:
    try_case(*case)
# Slow where threads are watched.
for cut in (4,) if "thread" in os.environ.get("KSV_SANITIZE", "") else (4, 8):
    try_a_million(cut)
try_damage()
finish()
