#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which changes of a data file are an alarm, and which lookups they stop."""
import gzip
import io
import json
import os
import shutil

from cli_support import call, check, expect, finish, write

ROWS = 20000
BLOCK = 4096
SAMPLES = 16
STALE = b"keysieve update"


def rows():
    return b"id,v\n" + b"".join(b"k%06d,%05d\n" % (i, i * 7919 % 99991)
                                for i in range(ROWS))


def packed(data, level):
    """A gzip file that depends on the data alone."""
    out = io.BytesIO()
    with gzip.GzipFile("", "wb", level, out, 0) as file:
        file.write(data)
    return out.getvalue()


# Both larger than what a fingerprint takes whole. Stored in gzip, a change of
# the data changes no size.
CONTENTS = {"data.csv": rows(), "data.csv.gz": packed(rows(), 0),
            "small.csv": b"id,v\nk000007,1\n",
            "deflated.csv.gz": packed(rows(), 6)}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def rewrite(path, data):
    """In place, without emptying the file first."""
    with open(path, "r+b") as file:
        file.write(data)
        file.truncate()


def patch(path, offset, data):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def keep_mtime(path, before):
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def states(*words):
    result = expect("info", call("info", "--json", *words))
    return [f["state"] for f in json.loads(result.out)["files"]]


def quiet(what, *words):
    """No alarm: what is there is found, what is not is not."""
    result = expect(f"{what}: there", call("get", *words, "k000007"))
    check(result.out.startswith(b"k000007,") and not result.err,
          f"{what}: without a word", result)
    expect(f"{what}: not there", call("has", *words, "none"), 1, b"")
    check(states(*words) == ["ok"], f"{what}: state")


def alarm(what, *words):
    expect(f"{what}: there", call("get", *words, "k000007"), 2, b"", STALE)
    expect(f"{what}: not there", call("has", *words, "none"), 2, b"", STALE)
    check(states(*words) == ["stale"], f"{what}: state")


def fresh(name):
    """A directory with one data file and an index."""
    directory = "dir-" + name
    shutil.rmtree(directory, ignore_errors=True)
    os.mkdir(directory)
    os.chdir(directory)
    write(name, CONTENTS[name])
    expect("build", call("build", "-q", "-k", "id", name))


def test_no_alarm(name):
    fresh(name)
    quiet(f"{name}: built")
    os.utime(name)
    quiet(f"{name}: touched")
    os.utime(name, (981158400, 981158400))
    quiet(f"{name}: touched, long ago")
    shutil.copy2(name, "copy")
    os.replace("copy", name)
    quiet(f"{name}: cp -p")
    shutil.copyfile(name, "copy")
    os.replace("copy", name)
    quiet(f"{name}: cp")
    rewrite(name, CONTENTS[name])
    quiet(f"{name}: written again")
    rewrite(name, b"id,v\nother,1\n")
    alarm(f"{name}: other content")
    rewrite(name, CONTENTS[name])
    quiet(f"{name}: restored")
    os.rename(name, "elsewhere")
    expect(f"{name}: away", call("get", "k000007"), 2, b"", name.encode())
    os.rename("elsewhere", name)
    quiet(f"{name}: back again")
    expect("update", call("update"), err=b"0 indexed, 1 unchanged")
    quiet(f"{name}: updated")
    os.chdir("..")
    os.rename("dir-" + name, "moved-" + name)
    index = os.path.join("moved-" + name, ".keysieve")
    quiet(f"{name}: directory renamed", "-i", index)
    expect("update there", call("update", "-i", index),
           err=b"0 indexed, 1 unchanged")


def sample_offsets(size):
    """Where docs/format.md puts the samples of a fingerprint."""
    span = size - 3 * BLOCK
    inner = [span * (2 * i + 1) // (2 * SAMPLES) for i in range(SAMPLES)]
    return ([0] + [BLOCK + at - at % BLOCK for at in inner] + [size - BLOCK])


def digit_at(data, offset):
    """A digit at or behind a place: of a key or value, not of a line's end."""
    while not data[offset:offset + 1].isdigit():
        offset += 1
    return offset


def changed(data, offset):
    return b"%d" % ((int(data[offset:offset + 1]) + 1) % 10)


def test_samples(name):
    """Content that changes in a sampled block, its time set back."""
    fresh(name)
    data = CONTENTS[name]
    before = os.stat(name)
    for start in sample_offsets(len(data)):
        offset = digit_at(data, start + 30)
        patch(name, offset, changed(data, offset))
        keep_mtime(name, before)
        expect(f"{name}: byte {offset}", call("get", "k000007"), 2, b"", STALE)
        patch(name, offset, data[offset:offset + 1])
        keep_mtime(name, before)
    quiet(f"{name}: all samples put back")
    os.chdir("..")


def test_sizes(name):
    fresh(name)
    data = CONTENTS[name]
    before = os.stat(name)
    for what, other in (("longer", data + b"x"), ("shorter", data[:-1]),
                        ("twice", data + data), ("empty", b"")):
        rewrite(name, other)
        keep_mtime(name, before)
        alarm(f"{name}: {what}")
    rewrite(name, data)
    quiet(f"{name}: as long as before")
    os.chdir("..")


def between_samples(size):
    """A place in the middle of each gap between two samples."""
    starts = sample_offsets(size)
    gaps = [(a + BLOCK + b) // 2 for a, b in zip(starts, starts[1:])
            if b - a > BLOCK + 100]
    return gaps


def test_between_samples(name):
    """What no sample shows, the time set back: a lookup sees that the file was
    written to and reads it; verify --data reads it whatever it sees."""
    fresh(name)
    data = CONTENTS[name]
    before = os.stat(name)
    expect(f"{name}: as built", call("verify", "-q", "--data"))
    places = between_samples(len(data))
    check(len(places) >= 8, f"{name}: gaps between samples")
    for place in places:
        offset = digit_at(data, place)
        patch(name, offset, changed(data, offset))
        keep_mtime(name, before)
        check(os.stat(name).st_mtime_ns == before.st_mtime_ns, "time set back")
        result = call("verify", "-q", "--data")
        check(result.rc == 2 and name.encode() in result.err,
              f"{name}: verify, byte {offset}", result)
        patch(name, offset, data[offset:offset + 1])
    expect(f"{name}: put back", call("verify", "-q", "--data"))
    offset = digit_at(data, places[3])
    shutil.copyfile(name, "copy")
    patch("copy", offset, changed(data, offset))
    keep_mtime("copy", before)
    os.replace("copy", name)
    alarm(f"{name}: another file of the same size and time")
    keep_mtime(name, before)
    os.utime(name)
    alarm(f"{name}: and of another time")
    os.chdir("..")


FRESH = [b"f%03d" % i for i in range(150)]
BOTH = [b"b%03d" % i for i in range(20)]


def table(keys, value):
    return b"id,v\n" + b"".join(b"%s,%s\n" % (key, value) for key in keys)


def maybe(directory, keys):
    """The keys that the filters of an index do not rule out."""
    result = call("has", "--maybe", "-i", directory + "/.keysieve",
                  *[k.decode() for k in keys])
    check(result.rc in (0, 1), "filters are asked", result)
    return set(result.out.split())


def get(*keys, first=False):
    words = [k.decode() for k in keys]
    return call("get", "-i", "one/.keysieve", *(["--first"] if first else []),
                *words)


def test_keys_of_fresh_files(name):
    """A file that has changed stops the lookups that it is needed for, and no
    others. Which keys its filter rules out tells a second index, which is a
    copy of the first one without the other file."""
    for directory in ("one", "two"):
        shutil.rmtree(directory, ignore_errors=True)
    os.mkdir("one")
    stale = "one/" + name
    content = table([b"s%03d" % i for i in range(150)] + BOTH, b"old")
    write(stale, packed(content, 6) if name.endswith(".gz") else content)
    write("one/fresh.csv", table(FRESH + BOTH, b"new"))
    expect("build", call("build", "-q", "-i", "one/.keysieve", "-k", "id",
                         "--fpr", "0.3", stale, "one/fresh.csv"))
    shutil.copytree("one", "two")
    os.remove("two/fresh.csv")
    expect("drop", call("update", "-i", "two/.keysieve", "--no-merge"),
           err=b"1 dropped")
    possible = maybe("two", FRESH + BOTH)
    check(set(BOTH) <= possible, f"{name}: no key is ruled out wrongly")
    ruled_out = [k for k in FRESH if k not in possible]
    doubted = [k for k in FRESH if k in possible]
    check(ruled_out and doubted, f"{name}: a filter of 30 %")
    more = table([b"s999"], b"x")[5:]
    with open(stale, "ab") as file:
        file.write(packed(more, 6) if name.endswith(".gz") else more)
    check(states("-i", "one/.keysieve") == ["stale", "ok"], "one is stale")
    for key in ruled_out:
        # Found, with a word about the file that may have more of it.
        expect(f"{name}: {key} is ruled out", get(key), 0, key + b",new\n",
               name.encode())
    for key in doubted:
        # The filter does not rule it out, but the table does.
        expect(f"{name}: {key} is not", get(key), 0, key + b",new\n")
    for key in BOTH:
        expect(f"{name}: {key} is in it", get(key), 2, b"", STALE)
    expect(f"{name}: has", call("has", "-i", "one/.keysieve",
                                ruled_out[0].decode()), 0,
           ruled_out[0] + b"\n")
    expect(f"{name}: one of several",
           get(ruled_out[0], BOTH[0]), 2, None, STALE)
    expect(f"{name}: in no file", get(b"none"), 2, b"", STALE)
    expect("update", call("update", "-i", "one/.keysieve"), err=b"1 indexed")
    expect(f"{name}: in both now", get(BOTH[0]), 0,
           BOTH[0] + b",old\n" + BOTH[0] + b",new\n")
    expect(f"{name}: in no file now", get(b"none"), 1, b"")


def test_many_files_in_a_segment():
    """Files that share a table: one that has changed stops its own keys."""
    os.mkdir("many")
    names = ["many/%d.csv" % i for i in range(20)]
    for i, name in enumerate(names):
        write(name, table([b"m%d-%d" % (i, j) for j in range(50)], b"x"))
    index = ("-i", "many/.keysieve")
    expect("build", call("build", "-q", *index, "-k", "id", *names))
    info = json.loads(call("info", "--json", *index).out)
    check(info["segments"] == 1, "one segment")
    write(names[7], table([b"m7-1", b"n"], b"y"))
    for i in range(20):
        key = "m%d-1" % i
        if i == 7:
            expect("of the stale one", call("get", *index, key), 2, b"", STALE)
        else:
            expect(f"{key} of a fresh one", call("get", *index, key), 0,
                   key.encode() + b",x\n")
    expect("in none", call("get", *index, "n"), 2, b"", STALE)


for data_file in CONTENTS:
    test_no_alarm(data_file)
    test_sizes(data_file)
for data_file in ("data.csv", "data.csv.gz"):
    test_samples(data_file)
    test_between_samples(data_file)
for data_file in ("stale.csv", "stale.csv.gz"):
    test_keys_of_fresh_files(data_file)
test_many_files_in_a_segment()
finish()
