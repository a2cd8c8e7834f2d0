#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Offsets and lengths past 2^32, in every format and through gzip, in bounded memory.

Only with KEYSIEVE_HUGE=1: some minutes, and a build without sanitizers is wanted.
The files are sparse, or zeros well compressed: little disk. With arguments only the
kinds named, such as "csv" or "jsonl.gz".
"""
import os
import random
import struct
import subprocess
import sys
import tempfile
import time
import zlib

from cli_support import TOOL, call, check, expect, finish
import gzip_data

GIB = 1 << 30
HUGE = 5 * GIB + 12345  # more than 2^32: a length field wraps
MEMORY_BYTES = 64 << 20
# Beside what --memory bounds: the program, its libraries and fixed buffers.
MOST_RESIDENT_BYTES = MEMORY_BYTES + (32 << 20)
ZEROS = bytes(1 << 20)
worst = {}


def layouts():
    """format -> (options, [(key or None, [bytes or a number of zeros], end)])"""
    zeros, half = HUGE, HUGE // 2
    yield "lines", ["-k", "field:2", "-d", ","], [
        (b"k1", [b"a,k1"], b"\n"), (b"big", [b"b,big,", zeros, b"end"], b"\r\n"),
        (b"k2", [b"c,k2"], b"\n"), (b"k3", [b"d,k3"], b"")]
    yield "csv", ["-k", "id"], [
        (None, [b"id,x"], b"\n"), (b"k1", [b"k1,a"], b"\n"),
        (b"big", [b'big,"\n', zeros, b'""\n"'], b"\n"),
        (b"k2", [b'"k2",b'], b"\n"), (b"k3", [b"k3,c"], b"\n")]
    yield "csv-late", ["-f", "csv", "-k", "id"], [
        (None, [b"x,id"], b"\n"), (b"k1", [b"a,k1"], b"\n"),
        (b"big", [b'"', zeros, b'",big'], b"\r\n"), (b"k2", [b"b,k2"], b"\n")]
    yield "tsv", ["-k", "1"], [
        (None, [b"id\tx"], b"\n"), (b"k1", [b"k1\ta"], b"\n"),
        (b"big", [b"big\t", zeros], b"\n"), (b"k2", [b"k2\tb"], b"\n")]
    yield "jsonl", ["-k", "user.id"], [
        (b"k1", [b'{"user":{"id":"k1"}}'], b"\n"),
        (b"big", [b'{"fill":"', zeros, b'","user":{"id":"big"}}'], b"\n"),
        (b"k2", [b'{"user":{"id":"k2"}}'], b"\n")]
    yield "fasta", [], [
        (b"k1", [b">k1 one\nACGT"], b"\n"), (b"big", [b">big\n", zeros], b"\n\n"),
        (b"k2", [b">k2\nAC\nGT"], b"\n")]
    yield "fastq", [], [
        (b"k1", [b"@k1\nACGT\n+\nIIII"], b"\n"),
        (b"big", [b"@big\n", half, b"\n+\n", half], b"\n"),
        (b"k2", [b"@k2\nAC\n+\nII"], b"\n")]
    yield "fixed", ["-k", f"bytes:{HUGE - 2}-{HUGE}", "--record-size",
                    str(HUGE)], [
        (b"k1", [HUGE - 3, b" k1"], b""), (b"big", [HUGE - 3, b"big"], b"")]


def places(records):
    """key -> (offset, length)"""
    at, found = 0, {}
    for key, pieces, end in records:
        length = sum(p if isinstance(p, int) else len(p) for p in pieces)
        if key:
            found[key] = (at, length, pieces)
        at += length + len(end)
    return found


def flat(records):
    for _, pieces, end in records:
        yield from pieces
        yield end


def write_sparse(path, records):
    with open(path, "wb") as file:
        for piece in flat(records):
            if isinstance(piece, int):
                file.seek(piece, os.SEEK_CUR)
            else:
                file.write(piece)
        file.truncate(file.tell())


def write_gzip(path, records):
    """One member; its length field has the rest modulo 2^32."""
    z, crc, size = zlib.compressobj(1, zlib.DEFLATED, -15), 0, 0
    with open(path, "wb") as file:
        file.write(bytes.fromhex("1f8b08000000000000ff"))
        for piece in flat(records):
            left = piece if isinstance(piece, int) else 0
            parts = [piece] if not left else [ZEROS] * (left // len(ZEROS)) + [
                ZEROS[:left % len(ZEROS)]]
            for part in parts:
                file.write(z.compress(part))
                crc = zlib.crc32(part, crc)
                size += len(part)
        file.write(z.flush() + struct.pack("<II", crc, size & 0xFFFFFFFF))


def write_bgzf(path, records):
    block = zlib.compress(bytes(65280), 9)[2:-4]
    block = (bytes.fromhex("1f8b08040000000000ff06004243") +
             struct.pack("<HH", 2, len(block) + 25) + block +
             gzip_data.trailer(bytes(65280)))
    maker = random.Random(1)
    with open(path, "wb") as file:
        for piece in flat(records):
            if isinstance(piece, int):
                for _ in range(piece // 65280):
                    file.write(block)
                piece = bytes(piece % 65280)
            file.write(gzip_data.bgzf_block(maker, piece))
        file.write(gzip_data.BGZF_END)


def measured(what, words, stdout=None):
    """Runs the tool; its output goes to stdout, or is taken from a file. Notes time
    and memory: (status, output)."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as out:
        process = subprocess.Popen([TOOL, *words], stdin=subprocess.DEVNULL,
                                   stdout=stdout or out, stderr=err)
        if stdout == subprocess.PIPE:
            output = process.stdout
            yield output
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - start
        resident = usage.ru_maxrss * 1024
        worst[what] = max(worst.get(what, 0), resident)
        print(f"  {what}: {seconds:.1f} s, {resident >> 20} MiB", flush=True)
        check(resident <= MOST_RESIDENT_BYTES,
              f"{' '.join(map(str, words))}: {resident >> 20} MiB of memory")
        err.seek(0)
        check(process.returncode == 0, f"{words}: {process.returncode}, "
              f"{err.read(500)}")


def run(what, words):
    for _ in measured(what, words):
        pass


def check_big_bytes(index, pieces, *how):
    """The record that has more bytes than memory, as it comes."""
    for output in measured(" ".join(["get", *how]),
                           ["get", "-i", index, *how, "--", "big"],
                           subprocess.PIPE):
        for piece in pieces + [b"\n"]:
            left = piece if isinstance(piece, int) else len(piece)
            good = True
            while left:
                part = output.read(min(left, len(ZEROS)))
                if not part:
                    break
                good = good and (part == piece if isinstance(piece, bytes)
                                 else part == ZEROS[:len(part)])
                left -= len(part)
            check(good and not left, f"{index}: bytes of the big record")
        check(output.read() == b"", f"{index}: more bytes than the record has")


def check_index(name, options, records):
    print(name, flush=True)
    index = name + ".ix"
    found = places(records)
    run("build", ["build", "-q", "-i", index, "--memory", str(MEMORY_BYTES),
                  *options, name])
    for how in [[], ["--scan"]]:
        want = b"".join(b"%s\t%s\t%d\t%d\n" % (
            key, os.fsencode(name), place[0], place[1])
            for key, place in found.items())
        expect(f"{name}: places {how}", call(
            "get", "-i", index, "-l", *how, *found, timeout=1200), 0, want)
        if how and not name.endswith("lines"):
            continue  # one linear read of it is enough
        check_big_bytes(index, found[b"big"][2], *how)
    expect(f"{name}: absent", call("has", "-i", index, "bi", "big ", "k4"), 1,
           b"")
    for key, (_, length, pieces) in found.items():
        if length < 1000:
            expect(f"{name}: {key}", call("get", "-i", index, key), 0,
                   b"".join(pieces) + b"\n")


def main():
    if os.environ.get("KEYSIEVE_HUGE") != "1":
        print("skipped: KEYSIEVE_HUGE=1 runs it")
        return
    for data_format, options, records in layouts():
        if options[:1] != ["-f"]:
            options = ["-f", data_format, *options]
        for end, writer in ("", write_sparse), (".gz", write_gzip), (
                ".bgz", write_bgzf):
            name = data_format + end
            if (sys.argv[1:] and name not in sys.argv[1:]) or (
                    end == ".bgz" and data_format not in ("lines", "csv")):
                continue
            writer(name, records)
            check_index(name, options, records)
            os.remove(name)
    print({what: f"{size >> 20} MiB" for what, size in worst.items()})


if __name__ == "__main__":
    main()
    finish()
