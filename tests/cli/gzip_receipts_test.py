#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What access into gzip costs, and that it is checked: bytes inflated by a lookup,
the size of the access points, and damage in the middle of a file."""
import glob
import json
import os
import random
import zlib

from cli_support import call, check, finish, write
import gzip_data

SANITIZED = bool(os.environ.get("KSV_SANITIZE"))
CONTENT_BYTES = (3 if SANITIZED else 20) << 20
MIB = 1 << 20
# A span is at most a quarter longer than the distance asked for, and is inflated
# in chunks of 128 KiB to the end of the one that ends the record.
SPAN_BYTES = MIB * 5 // 4 + (128 << 10)
WORDS = """time year people way day man thing woman life child world school state
family student group country problem hand part place case week company system
program question work government number night point home water room mother area
money story fact month lot right study book eye job word business issue side kind
head house service friend father power hour game line end member law car city
community name president team minute idea kid body information back parent face
others level office door health person art war history party result change morning
reason research girl guy moment air teacher force education""".split()


def people(rnd, size):
    """CSV text as databases export it: (bytes, {key: (offset, record)})."""
    first = [w.capitalize() for w in rnd.sample(WORDS, 80)]
    out, at, places, number = [], 0, {}, 100000
    head = b"id,account,created,name,mail,city,amount,note\n"
    out.append(head)
    at += len(head)
    while at < size:
        number += rnd.randrange(1, 40)
        name = f"{rnd.choice(first)} {rnd.choice(first)}son"
        note = " ".join(rnd.choices(WORDS, k=rnd.randrange(2, 16)))
        if rnd.random() < 0.2:
            note = f'"{note}, ""{rnd.choice(WORDS)}"""'
        account = rnd.randbytes(16).hex()
        record = (f"{number},{account[:8]}-{account[8:12]}-{account[12:16]}-"
                  f"{account[16:20]}-{account[20:]},2023-{rnd.randint(1, 12):02}-"
                  f"{rnd.randint(1, 28):02}T{rnd.randrange(24):02}:"
                  f"{rnd.randrange(60):02}:{rnd.randrange(60):02}Z,{name},"
                  f"{name.lower().replace(' ', '.')}@example.org,"
                  f"{rnd.choice(WORDS).capitalize()}ville,"
                  f"{rnd.randrange(10 ** 6) / 100:.2f},{note}").encode()
        places[b"%d" % number] = (at, record)
        out.append(record + b"\n")
        at += len(record) + 1
    return b"".join(out), places


def receipts(index, keys, *how):
    r = call("get", "-i", index, "--json", "--explain", "-q", *how, "-f", "-",
             stdin=b"".join(k + b"\n" for k in keys))
    check(r.rc == 0, f"{index}: get", r)
    return [json.loads(x) for x in r.err.splitlines() if x.startswith(b"{")]


def compressed(data, level):
    z = zlib.compressobj(level, zlib.DEFLATED, 31)
    return z.compress(data) + z.flush()


def build(name, data):
    """Indexes one file; gives the size of its access points."""
    write(name, data)
    r = call("build", "-i", name + ".ix", "-k", "id", name)
    check(r.rc == 0, f"{name}: build", r)
    return sum(map(os.path.getsize, glob.glob(name + ".ix/**/*.ksz",
                                              recursive=True)))


def check_cost(data, places, rnd):
    """At every level: what a lookup inflates, what the points take."""
    keys = rnd.sample(sorted(places), 40 if SANITIZED else 200)
    keys += [min(places, key=places.get), max(places, key=places.get)]
    for level in (1, 6, 9):
        name = f"people{level}.csv.gz"
        packed = compressed(data, level)
        points = build(name, packed)
        share = 100 * points / len(packed)
        got = receipts(name + ".ix", keys)
        check(len(got) == len(keys), f"{name}: {len(got)} receipts")
        inflated = [g["bytes_inflated"] for g in got]
        print(f"{name}: {len(data)} bytes, gzip {len(packed)}, access points "
              f"{points}, {share:.2f} %; inflated at most {max(inflated)}, on "
              f"average {sum(inflated) // len(inflated)}")
        check(max(inflated) <= SPAN_BYTES + 300, f"{name}: {max(inflated)} "
              f"bytes inflated for one record, a span has {SPAN_BYTES}")
        check(max(inflated) > 0, f"{name}: nothing inflated")
        check(share <= 1.4 or len(data) < 10 * MIB,
              f"{name}: access points take {share:.2f} % of the file")
    name = "people.csv.bgz"
    points = build(name, gzip_data.bgzf_file(random.Random(1), data))
    got = receipts(name + ".ix", keys)
    worst = max(g["bytes_inflated"] for g in got)
    print(f"{name}: access points {points}; inflated at most {worst}")
    check(worst <= SPAN_BYTES + 300, f"{name}: {worst} bytes inflated")


def check_scan(data, places):
    """--scan fetches neighbours without inflating a span anew for each."""
    keys = sorted(places, key=places.get)[:3000]
    r = call("get", "-i", "people6.csv.gz.ix", "--scan", "--stats", "--json",
             "-f", "-", stdin=b"".join(k + b"\n" for k in keys))
    lines = r.out.splitlines()
    check(r.rc == 0 and len(lines) == len(keys), "--scan of all keys", r)
    inflated = json.loads(r.err.splitlines()[-1])["bytes_inflated"]
    check(inflated <= 2 * len(data) + SPAN_BYTES,
          f"--scan inflated {inflated} bytes of {len(data)}")


def differing(data, packed):
    """Offsets at which this damaged file has other content than `data`, until
    inflating fails: (first, all that come out)."""
    z, out = zlib.decompressobj(31), b""
    try:
        out = z.decompress(packed)
    except zlib.error:
        z, out = zlib.decompressobj(31), bytearray()
        try:
            for i in range(0, len(packed), 64):
                out += z.decompress(packed[i:i + 64])
        except zlib.error:
            pass
    common = min(len(out), len(data))
    if out[:common] == data[:common]:
        return common
    low, high = 0, common  # the first difference lies in [low, high)
    while high - low > 1:
        middle = (low + high) // 2
        if out[low:middle] == data[low:middle]:
            low = middle
        else:
            high = middle
    return low


def check_damage(data, places, rnd):
    """One byte of the file changes, its size and time of change stay: the records
    in which this shows are refused, and no lookup gives other bytes than before."""
    name = "people6.csv.gz"
    with open(name, "rb") as file:
        packed = file.read()
    keys = sorted(places, key=places.get)
    refused = 0
    for _ in range(4 if SANITIZED else 12):
        at = rnd.randrange(len(packed) // 20, len(packed) * 19 // 20)
        broken = bytearray(packed)
        broken[at] ^= 1 << rnd.randrange(8)
        first = differing(data, bytes(broken))
        before = os.stat(name)
        write(name, broken)
        os.utime(name, ns=(before.st_atime_ns, before.st_mtime_ns))
        hit = [k for k in keys if places[k][0] <= first <
               places[k][0] + len(places[k][1])] or [
                   k for k in keys if places[k][0] > first][:1]
        for key in hit + rnd.sample(keys, 10):
            r = call("get", "-i", name + ".ix", "--", key)
            right = r.rc == 0 and r.out == places[key][1] + b"\n"
            check(r.rc == 2 and r.out == b"" or right and key not in hit,
                  f"byte {at} changed, content differs from {first}: key "
                  f"{key} at {places[key][0]}", r)
            check(r.rc != 2 or name.encode() in r.err,
                  f"byte {at} changed: no file named", r)
            refused += r.rc == 2
        write(name, packed)
        os.utime(name, ns=(before.st_atime_ns, before.st_mtime_ns))
        r = call("get", "-i", name + ".ix", "--", keys[-1])
        check(r.rc == 0, "after the repair", r)
    check(refused, "no damage was noticed")
    print(f"{refused} lookups in damaged files refused")


def main():
    rnd = random.Random(8)
    data, places = people(rnd, CONTENT_BYTES)
    check_cost(data, places, rnd)
    check_scan(data, places)
    check_damage(data, places, rnd)
    finish()


if __name__ == "__main__":
    main()
