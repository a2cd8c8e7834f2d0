#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dedup of random records of each format, plain and gzip, from files, pipes and
standard input, against a set of keys; memory that does not grow with them."""
import gzip
import json
import os
import random
import re
import subprocess
import sys

from cli_support import TOOL, call, check, expect, finish, write

SEED = int(os.environ.get("KSV_TEST_SEED", "7"))
IS_SLOW = bool(os.environ.get("KSV_SANITIZE"))
RANDOM = random.Random(SEED)


def words(most):
    return b" ".join(RANDOM.choice([b"ab", b"x", "ü".encode(), b"1", b"\0"])
                     for _ in range(RANDOM.randrange(1, most)))


def csv_record(key):
    """Quoted or not, over several lines or not: one key."""
    quoted = b'"' + key.replace(b'"', b'""') + b'"'
    plain = key if not re.search(rb'[",\r\n]', key) else quoted
    rest = RANDOM.choice([b"", b",", b',"a\nb""c"', b",tail"])
    return RANDOM.choice([quoted, plain]) + b"," + words(4) + rest


def jsonl_record(key):
    value = RANDOM.choice([json.dumps(key.decode()),
                           json.dumps(key.decode(), ensure_ascii=False)])
    return ('{"n":%d, "user": {"id" :%s}}' % (
        RANDOM.randrange(9), value)).encode()


def fasta_record(key):
    lines = [b"ACGT" * RANDOM.randrange(1, 9)
             for _ in range(RANDOM.randrange(1, 4))]
    return b">" + key + RANDOM.choice([b"", b" about"]) + b"\n" + b"\n".join(
        lines)


def fastq_record(key):
    bases = b"ACGT" * RANDOM.randrange(1, 9)
    return b"@%s x\n%s\n+\n%s" % (key, bases, b"@" * len(bases))


def line_record(key):
    return key


def tsv_record(key):
    return words(3).replace(b"\t", b"") + b"\t" + key + b'\t"'


def fixed_record(key):
    return b"%-12s%04d" % (key, RANDOM.randrange(10000))


def plain_key(number):
    return b"k%d" % number


def odd_key(number):
    """Keys that begin alike, with all that csv has to quote."""
    return b'common, "beginning"\nof all%d' % number


def text_key(number):
    return "kä\"\\ %d".encode() % number


FORMATS = [
    # name, options, header, record, key
    ("csv", ["-k", "id"], b"id,a,b\n", csv_record, odd_key),
    ("csv", ["-k", "1", "--no-header"], b"", csv_record, plain_key),
    ("tsv", ["-k", "two"], b"one\ttwo\tthree\n", tsv_record, plain_key),
    ("jsonl", ["-k", "user.id"], b"", jsonl_record, text_key),
    ("lines", [], b"", line_record, plain_key),
    ("fasta", [], b"", fasta_record, plain_key),
    ("fastq", [], b"", fastq_record, plain_key),
    ("fixed", ["-k", "bytes:1-12"], b"", fixed_record, plain_key),
]


def make_records(record, key, count):
    """All records, and the first of each key."""
    numbers = [RANDOM.randrange(count // 2) for _ in range(count)]
    records = [record(key(n)) for n in numbers]
    seen, first = set(), []
    for number, text in zip(numbers, records):
        if number not in seen:
            seen.add(number)
            first.append(text)
    return records, first


def members(data):
    """gzip of several members, as they are put together by cat."""
    cut = RANDOM.randrange(len(data))
    return gzip.compress(data[:cut]) + gzip.compress(data[cut:])


def feed_fifo(words_, content, want, what):
    os.mkfifo("fifo")
    write("content", content)
    with subprocess.Popen(["cp", "content", "fifo"]):
        expect(what + ", a named pipe", call(*words_, "fifo"), out=want)
    os.remove("fifo")


def check_format(name, options, header, record, key):
    end = RANDOM.choice([b"\n", b"\r\n"])
    if name == "csv" and key is odd_key:
        end = b"\n"
    records, first = make_records(record, key, 3000)
    data = header + b"".join(r + end for r in records)
    want = header + b"".join(r + end for r in first)
    line = ["dedup", "-q", "-f", name, *options]
    for kind, content in (("plain", data), ("gzip", gzip.compress(data)),
                          ("members", members(data))):
        what = f"seed {SEED}, {name} {options}, {kind}"
        write("data", content)
        expect(what + ", a file", call(*line, "data"), out=want)
        expect(what + ", twice", call(*line, "data", "data"), out=want)
        expect(what + ", stdin", call(*line, stdin=content), out=want)
        feed_fifo(line, content, want, what)
        expect(what + ", approximate", call(
            *line, "--approximate", "--expect", "5000", "--fpr", "1e-9",
            "data"), out=want)
        expect(what + ", a window", call(
            *line, "--window", "1d", "data"), out=want)


def check_formats():
    for one in FORMATS:
        check_format(*one)


def check_no_last_line_end():
    """What lacks its end gets one where something follows."""
    write("n1", b"a\nb\nc")
    write("n2", b"c\nd")
    line = ["dedup", "-q", "-f", "lines"]
    expect("the last one stays as it is", call(*line, "n1"), out=b"a\nb\nc")
    expect("one in between", call(*line, "n1", "n2"), out=b"a\nb\nc\nd")
    expect("the last record is dropped", call(*line, "n1", "n1"),
           out=b"a\nb\nc\n")


# A small process that starts another: what it says is not that of this one.
MEASURE = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(status, usage.ru_maxrss * 1024, file=sys.stderr)
"""


def peak_of(*options, source):
    """The most memory that a run had, in bytes, and what it wrote."""
    done = subprocess.run([sys.executable, "-c", MEASURE, TOOL, "dedup", "-q",
                           "-f", "lines", *options, source], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    status, peak = done.stderr.split()
    check(status == b"0", f"{options}", done.stderr)
    return int(peak), done.stdout


def check_memory():
    """Ten times as many keys take no more memory than was allowed."""
    if IS_SLOW:
        return
    lines = [b"%032x\n" % RANDOM.getrandbits(128) for _ in range(600000)]
    write("few", b"".join(lines[:60000]))
    write("many", b"".join(lines + lines[::7]))
    base, _ = peak_of("--memory", "16M", source="few")
    peak, out = peak_of("--memory", "16M", source="many")
    check(out == b"".join(lines), "many keys in little memory")
    check(peak <= base + (16 << 20), f"{peak} bytes for many, {base} for few")
    check(peak <= 32 << 20, f"{peak} bytes of memory, where 16M were allowed")
    peak, out = peak_of("--memory", "16M", "--state", "memory", source="many")
    check(out == b"".join(lines), "many keys in a state")
    check(peak <= 32 << 20, f"{peak} bytes of memory with a state")
    peak, out = peak_of("--memory", "16M", "--state", "memory", source="many")
    check(out == b"" and peak <= 32 << 20, f"{peak} bytes to go on")


check_formats()
check_no_last_line_end()
check_memory()
finish()
