#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dedup: files, pipes, formats, windows, what is refused."""
import gzip
import os
import random
import re
import subprocess
import zlib

from cli_support import TOOL, call, check, expect, expect_usage, finish, write

BOM = b"\xef\xbb\xbf"


def said(result, label):
    m = re.search(rb"^%s +(\d+)" % label, result.err, re.M)
    return int(m.group(1)) if m else None


def check_files():
    write("a.csv", BOM + b"id,v\r\n1,a\r\n2,b\n\n1,c\n,x\n3,d")
    write("b.csv", BOM + b"id,v\n3,e\n,y\n\r\n4,f")
    write("c.csv", b"id,w\n5,g\n")
    write("empty.csv", b"")
    r = expect("two files", call("dedup", "-k", "id", "a.csv", "b.csv"), out=(
        BOM + b"id,v\r\n1,a\r\n2,b\n,x\n3,d\n,y\n4,f"))
    check((said(r, b"records"), said(r, b"dropped"),
           said(r, b"records without key")) == (8, 2, 2), "counts", r)
    expect("another header", call("dedup", "-k", "id", "a.csv", "c.csv"), 2,
           None, b"c.csv: the header is not that of a.csv")
    expect("no header", call("dedup", "-f", "csv", "--no-header", "-k", "1",
                             "c.csv"), out=b"id,w\n5,g\n")
    expect("quiet", call("dedup", "-q", "-k", "id", "c.csv"),
           out=b"id,w\n5,g\n")
    check(call("dedup", "-q", "-k", "id", "c.csv").err == b"", "quiet")
    r = call("dedup", "-k", "id", "empty.csv", "c.csv")
    check(r.out == b"id,w\n5,g\n" or r.rc == 2, "an empty file first", r)
    write("l.txt", b"a\n\nb\n\na\n")
    r = expect("blank lines of lines", call("dedup", "-f", "lines", "l.txt"),
               out=b"a\n\nb\n\n")
    write("m.txt", b"a\rb\ra")
    expect("CR", call("dedup", "-f", "lines", "--record-end", "cr", "m.txt",
                      "m.txt"), out=b"a\rb\r")
    write("x.bin", b"aaaabbbbaaaacccc")
    expect("fixed", call("dedup", "-f", "fixed", "--record-size", "4", "-k",
                         "bytes:1-2", "x.bin", "x.bin"), out=b"aaaabbbbcccc")
    write("r.fq", b"@a\nAC\n+\n!!\n@b x\nA\n+\n!\n@a z\nG\n+\n#\n")
    expect("fastq", call("dedup", "r.fq"),
           out=b"@a\nAC\n+\n!!\n@b x\nA\n+\n!\n")


def check_pipes():
    data = b"".join(b"%d,%d\n" % (i % 1000, i) for i in range(5000))
    want = b"".join(b"%d,%d\n" % (i, i) for i in range(1000))
    words = ["dedup", "-f", "csv", "--no-header", "-k", "1"]
    for name, content in (("plain", data), ("gzip", gzip.compress(data)),
                          ("two members", gzip.compress(data[:999]) +
                           gzip.compress(data[999:]))):
        expect(name, call(*words, stdin=content), out=want)
        expect(name + " by -", call(*words, "-", stdin=content), out=want)
        write("d.data", content)
        expect(name + " file", call(*words, "d.data"), out=want)
        fifo = "pipe"
        os.mkfifo(fifo)
        with subprocess.Popen(["cp", "d.data", fifo]):
            expect(name + " fifo", call(*words, fifo), out=want)
        os.remove(fifo)
    expect("damaged gzip", call(*words, stdin=gzip.compress(data)[:-9]), 2,
           None, b"standard input: ")
    expect("UTF-16", call(*words, stdin="a,b\n".encode("utf-16")), 2, b"",
           b"UTF-16")
    r = expect("bad JSON", call("dedup", "-f", "jsonl", "-k", "id", stdin=(
        b'{"id":1}\n{"id":1}\n{"id":\n{"id":2}\n')), 2, b'{"id":1}\n',
        b"line 3, byte 18")
    expect("bad JSON skipped", call(
        "dedup", "-f", "jsonl", "-k", "id", "--bad-records", "skip",
        stdin=b'{"id":1}\n{"id":\n{"id":2}\n'), 0, b'{"id":1}\n{"id":2}\n')
    expect("strict", call("dedup", "-f", "jsonl", "-k", "id", "--strict",
                          stdin=b'{"id":1}\n{"x":1}\n{"id":2}\n'), 2,
           b'{"id":1}\n', b"no key")
    del r


def check_slow_pipe():
    """What has come is passed on before more comes."""
    with subprocess.Popen([TOOL, "dedup", "-q", "-f", "lines"],
                          stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as run:
        for word in (b"a\n", b"B\n", b"\xef\n", b"last\n"):
            run.stdin.write(word * 2)
            run.stdin.flush()
            check(run.stdout.readline() == word, f"{word} comes at once")
        run.stdin.close()
        check(run.wait() == 0, "end of a slow pipe")


def check_slow_gzip_pipe():
    """The same of what a writer compressed and flushed, or ended a member
    with."""
    with subprocess.Popen([TOOL, "dedup", "-q", "-f", "lines"],
                          stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as run:
        packer = zlib.compressobj(wbits=31)
        for word in (b"a\n", b"B\n", b"\xef\n", b"last\n"):
            run.stdin.write(packer.compress(word * 2) +
                            packer.flush(zlib.Z_SYNC_FLUSH))
            run.stdin.flush()
            check(run.stdout.readline() == word, f"{word} comes at once")
        run.stdin.write(packer.flush())
        for word in (b"second\n", b"third\n"):
            run.stdin.write(gzip.compress(word + b"a\n"))
            run.stdin.flush()
            check(run.stdout.readline() == word, f"{word} comes at once")
        run.stdin.close()
        check(run.stdout.read() == b"" and run.wait() == 0,
              "end of a slow gzip pipe")


def check_output():
    write("many.txt", b"".join(b"%d\n" % i for i in range(100000)))
    with open("/dev/full", "wb") as full:
        expect("a full disk", call("dedup", "-f", "lines", "many.txt",
                                   stdout=full), 2, None, b"No space left")
        expect("a full disk and a state", call(
            "dedup", "-f", "lines", "--state", "fs", "many.txt", stdout=full),
            2, None, b"No space left")
    r = call("dedup", "-q", "-f", "lines", "--state", "fs", "many.txt")
    with open("many.txt", "rb") as f:
        expect("nothing was acknowledged", r, out=f.read())
    done = subprocess.run(
        f"'{TOOL}' dedup -f lines many.txt | head -n 1", shell=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    check(done.stdout == b"0\n" and done.stderr == b"", "a closed pipe",
          done.stderr)


def check_memory():
    """Far more keys than fit; what was spilled is gone afterwards."""
    rnd = random.Random(5)
    ids = list(range(300000))
    rnd.shuffle(ids)
    lines = [b"key-%d-%s\n" % (i, b"x" * 40) for i in ids]
    feed = lines + rnd.sample(lines, 50000)
    os.makedirs("tmp", exist_ok=True)
    r = call("dedup", "-f", "lines", "--memory", "16M", "--temp-dir", "tmp",
             stdin=b"".join(feed))
    check(r.rc == 0 and r.out == b"".join(lines), "spilled keys", r.err)
    check(said(r, b"dropped") == 50000, "dropped of spilled", r.err)
    check(b" runs" in r.err, "something was spilled", r.err)
    check(os.listdir("tmp") == [], "nothing is left of what was spilled")
    r = call("dedup", "-f", "lines", "--memory", "16M", "--temp-dir",
             "nowhere", stdin=b"".join(feed))
    check(r.rc == 2 and b"directory" in r.err, "nowhere to spill", r.err)


def check_windows():
    words = ["dedup", "-q", "-f", "csv", "--no-header", "-k", "1", "--window",
             "10s", "--time-field", "2"]
    forms = [
        [b"2026-03-01T12:00:00Z", b"2026-03-01T13:00:09.999+01:00",
         b"2026-03-01 12:00:10Z"],
        [b"1772366400", b"1772366409.999", b"1772366410"],
        [b"1772366400000", b"1772366409999", b"1772366410000"],
        [b"1772366400000000", b"1772366409999999", b"1772366410000000"],
    ]
    for first, inside, after in forms:
        lines = [b"a,%s\n" % t for t in (first, inside, after, inside)]
        expect(f"{first}", call(*words, stdin=b"".join(lines)),
               out=lines[0] + lines[2])
    lines = [b"a,1772366400\n", b"b,1772366460\n", b"a,1772366400\n",
             b"a,\n", b"a,nonsense\n", b"b,1772366405\n"]
    r = call(*words[:1], *words[2:], stdin=b"".join(lines))
    expect("late ones count as of now", r, out=b"".join(lines[:3]))
    check(said(r, b"records without time") == 2, "without time", r)
    check(said(r, b"late records") == 2, "late ones", r)
    expect("one from the far future", call(*words, stdin=(
        b"a,1772366400\nb,99999999999\na,1772366401\n")),
        out=b"a,1772366400\nb,99999999999\n")
    expect("no time at the beginning", call(*words, stdin=(
        b"a,\na,nonsense\nb,1772366400\na,1772366409\na,1772366410\n")),
        out=b"a,\nb,1772366400\na,1772366410\n")
    expect("no time at all", call(*words, stdin=b"a,\nb,\na,\n"),
           out=b"a,\nb,\n")
    expect("by arrival", call("dedup", "-q", "-f", "lines", "--window", "1h",
                              stdin=b"a\nb\na\n"), out=b"a\nb\n")


def check_window_model():
    """Random times, in order but for some, against a table."""
    rnd = random.Random(11)
    for extra in ([], ["--approximate", "--expect", "4000", "--fpr", "1e-7"]):
        now, latest, passed, lines, want = 1_700_000_000_000, 0, {}, [], []
        for _ in range(20000):
            now += rnd.randrange(4)
            time = now - (rnd.randrange(3000) if rnd.random() < 0.1 else 0)
            latest = max(latest, time)
            key = rnd.randrange(3000)
            line = b"%d,%d\n" % (time, key)
            lines.append(line)
            if key not in passed or latest - passed[key] >= 5000:
                passed[key] = latest
                want.append(line)
        r = call("dedup", "-q", "-f", "csv", "--no-header", "-k", "2",
                 "--window", "5s", "--time-field", "1", *extra,
                 stdin=b"".join(lines))
        if not extra:
            check(r.out == b"".join(want), "a window of time", r.err)
            continue
        got, last, latest = r.out.splitlines(), {}, 0
        check(0 < len(got) <= len(want), "approximate passes fewer")
        position = {line: i for i, line in enumerate(lines)}
        tops, top = [], 0
        for line in lines:
            top = max(top, int(line.split(b",")[0]))
            tops.append(top)
        for line in got:
            key = line.split(b",")[1]
            latest = tops[position[line + b"\n"]]
            check(key not in last or latest - last[key] >= 5000,
                  "twice in a window")
            last[key] = latest


def check_approximate():
    lines = [b"%d\n" % i for i in range(20000)]
    words = ["dedup", "-f", "lines", "--approximate", "--expect"]
    r = call(*words, "20000", "--fpr", "0.001", stdin=b"".join(lines * 2))
    got = r.out.splitlines(True)
    check(r.rc == 0 and 19800 <= len(got) <= 20000 and
          len(set(got)) == len(got), "approximate", r.err)
    check(b"false positives" in r.err and b"warning" not in r.err,
          "it says its rate", r.err)
    r = call(*words, "2e4", stdin=b"".join(lines))
    check(r.rc == 0 and b" of 20000 " in r.err, "2e4 keys", r.err)
    for options in ([], ["--window", "1h"]):
        expect("more than the machine has", call(
            *words, "1e13", *options, stdin=b"a\n"), 2, b"",
            b"of memory; this machine has")
    r = call(*words, "1000", stdin=b"".join(lines * 2))
    got = r.out.splitlines(True)
    check(r.rc == 0 and len(set(got)) == len(got), "too many keys", r.err)
    check(b"warning: more keys came" in r.err, "a warning", r.err)


def check_usage():
    write("u.csv", b"id\n1\n")
    for words, err in (
            (["-f", "csv", "u.csv"], b"needs a key"),
            ([], b"standard input"),
            (["-k", "id", "--approximate", "u.csv"], b"--expect"),
            (["-k", "id", "--expect", "5", "u.csv"], b"--approximate"),
            (["-k", "id", "--window", "5", "u.csv"], b"--window"),
            (["-k", "id", "--window", "0h", "u.csv"], b"--window"),
            (["-k", "id", "--window", "h", "u.csv"], b"--window"),
            (["-k", "id", "--time-field", "t", "u.csv"], b"--window"),
            (["-k", "id", "--checkpoint", "5", "u.csv"], b"--state"),
            (["-k", "id", "--state", "s", "--checkpoint", "x", "u.csv"],
             b"--checkpoint"),
            (["-k", "id", "--state", "s", "--checkpoint", "5,", "u.csv"],
             b"--checkpoint"),
            (["-k", "id", "--state", "s", "--checkpoint", "5s,x", "u.csv"],
             b"--checkpoint"),
            (["-k", "id", "--memory", "x", "u.csv"], b"--memory")):
        expect_usage(" ".join(words), call("dedup", *words), err)
    expect("no such column", call("dedup", "-k", "no", "u.csv"), 2, b"",
           b"u.csv")
    expect("no such file", call("dedup", "-k", "id", "none.csv"), 2, b"",
           b"none.csv")
    expect("a directory", call("dedup", "-f", "lines", "."), 2, b"",
           b"directory")
    check(not os.path.exists("s"), "a bad command line makes no state")


check_files()
check_pipes()
check_slow_pipe()
check_slow_gzip_pipe()
check_output()
check_memory()
check_windows()
check_window_model()
check_approximate()
check_usage()
finish()
