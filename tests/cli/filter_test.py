#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Filters on their own: create, add, test, info, merge, size."""
import json
import os
import re
import shutil
import subprocess
import sys
import threading

from cli_support import (FILTER_VERBS, TOOL, call, check, expect,
                         expect_usage, finish, write)


def keys(*numbers):
    return b"".join(b"key-%d\n" % i for i in numbers)


def create(name, *words, stdin=b"", err=None):
    return expect(f"create {name}", call("filter", "create", "-o", name,
                                         *words, stdin=stdin), 0, b"", err)


def info(name):
    result = expect("info", call("filter", "info", "--json", name))
    try:
        return json.loads(result.out)
    except ValueError:
        check(False, "info --json is no JSON", result)
        sys.exit(1)


def test_keys_of_files():
    """A byte order mark, CR LF, blank lines, no last LF; NUL ends with -0."""
    write("odd", b"\xef\xbb\xbfone\r\ntwo\n\n\r\nthr\0ee\n four \nlast")
    create("odd.ksf", "odd")
    check(info("odd.ksf")["keys"] == 5, "keys of an odd file")
    plain = b"one\ntwo\nthr\0ee\n four \nlast\n"
    expect("the same keys, plain", call("filter", "test", "odd.ksf",
                                        stdin=plain), 0, plain)
    expect("the file itself", call("filter", "test", "odd.ksf", "odd"), 0,
           plain)
    write("nul", b"a\nb\0c\r\0\xef\xbb\xbf")
    create("nul.ksf", "-0", "nul")
    check(info("nul.ksf")["keys"] == 3, "keys that end with NUL")
    expect("they are printed with NUL", call("filter", "test", "-0", "nul.ksf",
                                             "nul"),
           0, b"a\nb\0c\r\0\xef\xbb\xbf\0")
    expect("a key that begins as an option", create(
        "dash.ksf", stdin=b"-v\n--\n"))
    expect("found", call("filter", "test", "dash.ksf", "-", stdin=b"--\n-v\n"),
           0, b"--\n-v\n")


def test_answers():
    create("t.ksf", "--fpr", "1e-9", stdin=keys(1, 2, 3))
    both = keys(3, 9, 1)
    expect("some absent", call("filter", "test", "t.ksf", stdin=both), 1,
           keys(3, 1), b"")
    expect("inverted", call("filter", "test", "-v", "t.ksf", stdin=both), 1,
           keys(9), b"")
    expect("inverted, all there", call("filter", "test", "-v", "t.ksf",
                                       stdin=keys(1)), 0, b"")
    expect("quiet", call("filter", "test", "-q", "t.ksf", stdin=both), 1, b"",
           b"")
    expect("no keys", call("filter", "test", "t.ksf"), 0, b"")
    expect("options after arguments", call("filter", "test", "t.ksf", "-v",
                                           stdin=both), 1, keys(9))
    expect("no such filter", call("filter", "test", "none.ksf"), 2, b"",
           b"none.ksf")
    expect("no such keys", call("filter", "test", "t.ksf", "none"), 2, b"",
           b"none")
    expect("an empty filter", create("empty.ksf"))
    expect("says no", call("filter", "test", "empty.ksf", stdin=keys(1)), 1,
           b"")


def test_it_answers_before_it_asks():
    """What can be answered goes out before more keys are waited for."""
    process = subprocess.Popen([TOOL, "filter", "test", "t.ksf"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    timer = threading.Timer(60, process.kill)
    timer.start()
    process.stdin.write(b"key-1\n")
    process.stdin.flush()
    check(process.stdout.readline() == b"key-1\n", "an answer at once")
    process.stdin.close()
    check(process.wait() == 0, "status after the end")
    process.stdout.close()
    timer.cancel()


def test_counts():
    """Repeated keys count once; the same keys give the same file."""
    create("once.ksf", stdin=keys(*range(3000)))
    create("often.ksf", stdin=keys(*range(3000)) + keys(*range(2999, -1, -1)))
    with open("once.ksf", "rb") as a, open("often.ksf", "rb") as b:
        check(a.read() == b.read(), "order and repetition leave no trace")
    facts = info("once.ksf")
    check(facts["keys"] == 3000 and facts["kind"] == "blocked", "facts", facts)
    check(0.002 < facts["measured_fpr"] < 0.008, "measured rate", facts)
    check(facts["fpr"] <= facts["planned_fpr"] == 0.005, "rates", facts)
    check(facts["bytes"] == os.path.getsize("once.ksf"), "bytes", facts)
    text = expect("info", call("filter", "info", "once.ksf")).out.decode()
    check(re.search(r"^fill +\[#+\.+\] \d+\.\d %$", text, re.M), "bar", text)
    check(re.search(r"^rate measured +0\.\d+ % \(", text, re.M), "rate", text)
    expect("quiet info", call("filter", "info", "-q", "once.ksf"), 0, b"")


def test_many_keys():
    """More than --memory holds as hashes: a file is counted, a pipe folded."""
    count = 120000
    text = b"".join(b"%d\n" % i for i in range(count))
    write("many", text)
    absent = b"".join(b"%d\n" % i for i in range(count, 3 * count))
    for name, words, stdin, most in (
            ("counted", ["many"], b"", 1.05), ("folded", [], text, 1.5),
            ("twice", [], text + text, 1.5)):
        create(name, "--memory", "2M", "--fpr", "0.01", *words, stdin=stdin)
        facts = info(name)
        check(abs(facts["keys"] - count) < count * 0.01, "their number", facts)
        check(facts["bits"] < count * 9.92 * most, f"size of {name}", facts)
        result = expect("all there", call("filter", "test", "-q", name,
                                          stdin=text))
        result = call("filter", "test", name, stdin=absent)
        wrong = result.out.count(b"\n") / (2 * count)
        check(wrong < 0.012, f"rate of {name}: {wrong}")
    for words, stdin in ((["few"], b""), ([], keys(*range(1000)))):
        write("few", keys(*range(1000)))
        create("few.ksf", "--memory", "1K", "--fpr", "0.01", *words,
               stdin=stdin)
        facts = info("few.ksf")
        check(facts["bits"] < 12000 and facts["measured_fpr"] < 0.012,
              "little memory, but all keys at once", facts)
    result = create("full", "--memory", "64K", stdin=text,
                    err=b"warning: full holds about 1")
    expect("all there", call("filter", "test", "-q", "full", stdin=text))
    expect("classic", call("filter", "create", "--classic", "-o", "c", "--memory",
                           "64K", stdin=text), 2, b"", b"--expect")
    check(not os.path.exists("c"), "nothing is left")


def test_too_many_keys():
    result = create("small.ksf", "--expect", "100", "--fpr", "0.01",
                    stdin=keys(*range(5000)),
                    err=b"expect a false-positive rate of")
    check(b"instead of 1 %" in result.err and b"--expect" in result.err,
          "the warning", result)
    expect("no key is lost", call("filter", "test", "-q", "small.ksf",
                                  stdin=keys(*range(5000))))
    create("grow.ksf", "--expect", "100", "--fpr", "0.01",
           stdin=keys(*range(100)), err=b"grow.ksf: 100 keys")
    result = expect("add within", call("filter", "add", "grow.ksf",
                                       stdin=keys(*range(100))), 0, b"")
    check(b"warning" not in result.err, "no warning", result)
    result = expect("add beyond", call("filter", "add", "-q", "grow.ksf",
                                       stdin=keys(*range(100, 1000))), 0, b"",
                    b"warning: grow.ksf holds about ")
    expect("no key is lost", call("filter", "test", "-q", "grow.ksf",
                                  stdin=keys(*range(1000))))


def test_add():
    create("a.ksf", "--expect", "1000", stdin=keys(1))
    mode = os.stat("a.ksf").st_ino
    expect("add", call("filter", "add", "a.ksf", stdin=keys(2, 3)), 0, b"",
           b"a.ksf: 3 keys")
    check(os.stat("a.ksf").st_ino != mode, "replaced as a whole")
    expect("add to none", call("filter", "add", "none.ksf", stdin=keys(1)), 2,
           b"", b"none.ksf")
    os.symlink("a.ksf", "link.ksf")
    expect("add by a link", call("filter", "add", "-q", "link.ksf",
                                 stdin=keys(4)), 0, b"", b"")
    check(os.path.islink("link.ksf"), "the link stays")
    expect("all", call("filter", "test", "-q", "a.ksf", stdin=keys(1, 2, 3, 4)))
    left = [n for n in os.listdir(".") if n.endswith((".tmp", ".lock"))]
    check(not left, f"left behind: {left}")


def test_many_processes_add():
    create("shared.ksf", "--expect", "1000")
    jobs = [subprocess.Popen([TOOL, "filter", "add", "-q", "shared.ksf"],
                             stdin=subprocess.PIPE) for _ in range(8)]
    for i, job in enumerate(jobs):
        job.stdin.write(keys(*range(100 * i, 100 * i + 100)))
    for job in jobs:
        job.stdin.close()
    for job in jobs:
        check(job.wait() == 0, "status of an adding process")
    expect("no key is lost", call("filter", "test", "-q", "shared.ksf",
                                  stdin=keys(*range(800))))


def test_filter_of_an_index():
    write("d.csv", b"id\n1\n2\n")
    expect("build", call("build", "-q", "-i", "ix", "-k", "id", "d.csv"))
    name = next(os.path.join("ix", n) for n in os.listdir("ix")
                if n.endswith(".ksf"))
    for words in (["add", name], ["create", "-o", name],
                  ["merge", "-o", name, "a.ksf", "a.ksf"]):
        expect(words[0], call("filter", *words, stdin=keys(1)), 2, b"",
               b"belongs to an index")
    expect("test", call("filter", "test", name, stdin=b"1\n2\n"), 0,
           b"1\n2\n")
    check(info(name)["standalone"] is False, "info tells")
    expect("the index is whole", call("verify", "-i", "ix"))


def test_merge():
    for name, first in (("m1", 0), ("m2", 500)):
        create(name, "--expect", "2000", stdin=keys(*range(first, first + 1000)))
    create("m3", "--like", "m1", stdin=keys(5000))
    expect("merge", call("filter", "merge", "-q", "-o", "m", "m1", "m2", "m3"),
           0, b"", b"")
    expect("all", call("filter", "test", "-q", "m",
                       stdin=keys(*range(1500), 5000)))
    check(abs(info("m")["keys"] - 1501) < 60, "their number", info("m"))
    expect("into one of them", call("filter", "merge", "-q", "-o", "m1", "m1",
                                    "m2"))
    create("m4", "--expect", "90000")
    result = expect("others", call("filter", "merge", "-o", "mm", "m2", "m4"),
                    2, b"", b"m4: cannot be merged")
    bits = [str(info(n)["bits"]).encode() for n in ("m2", "m4")]
    check(all(b in result.err for b in bits), "both geometries", result)
    check(not os.path.exists("mm"), "nothing is left")
    create("s1", "--hash", "siphash", "--expect", "2000")
    create("s2", "--hash", "siphash", "--expect", "2000")
    expect("other secrets", call("filter", "merge", "-o", "mm", "s1", "s2"), 2,
           b"", b"SipHash")
    create("s3", "--like", "s1", stdin=keys(1))
    expect("one secret", call("filter", "merge", "-q", "-o", "mm", "s1", "s3"))
    expect("its key", call("filter", "test", "-q", "mm", stdin=keys(1)))


def test_classic():
    create("c1", "--classic", "--bits", "10007", "--hashes", "5",
           stdin=keys(*range(1000)))
    facts = info("c1")
    check(facts["kind"] == "classic" and facts["bits"] == 10007 and
          facts["hash_functions"] == 5 and "planned_fpr" not in facts,
          "facts", facts)
    check(abs(facts["measured_fpr"] / facts["fpr"] - 1) < 0.25, "rate", facts)
    expect("all", call("filter", "test", "-q", "c1",
                       stdin=keys(*range(1000))))
    expect("add", call("filter", "add", "-q", "c1", stdin=keys(1000)), 0, b"",
           b"")
    create("c2", "--classic", "--fpr", "0.01", stdin=keys(*range(2000)))
    facts = info("c2")
    check(19000 < facts["bits"] < 19400 and facts["hash_functions"] == 7,
          "the textbook's size", facts)
    result = create("c3", "--classic", "--bits", "64", "--hashes", "3",
                    stdin=keys(*range(500)), err=b"warning")


def test_size():
    def size(*words):
        return json.loads(expect("size", call("filter", "size", "--json",
                                              *words)).out)
    one = size("--expect", "1000000", "--fpr", "0.01")
    check(list(one) == ["bits", "bytes", "hash_functions", "fpr"], "members",
          one)
    check(9585059 <= one["bits"] < 10100000 and one["fpr"] <= 0.01, "1e6", one)
    check(one["bytes"] >= one["bits"] / 8, "bytes", one)
    large = size("--expect", "1e12", "--fpr", "0.001")
    check(large == size("--expect", "1000000000000", "--fpr=0.001"), "1e12")
    check(large["bits"] > 14e12 and large["fpr"] <= 0.00100001, "1e12", large)
    check(size("--expect", "0")["fpr"] == 0, "no keys")
    check(size("--expect", "3", "--fpr", "0.99")["hash_functions"] == 1, "3")
    check(size("--classic", "--expect", "1000000", "--fpr", "0.01")["bits"] <
          9600000, "classic")
    for fpr, least, most in (("0.01", 1.03, 1.04), ("0.000001", 1.3, 1.4)):
        words = ["--expect", "1e9", "--fpr", fpr]
        more = size(*words)["bits"] / size("--classic", *words)["bits"]
        check(least < more < most, f"blocks at {fpr} take {more} of classic")
    check(size("--classic", "--bits", "100", "--hashes", "2", "--expect", "10")
          ["bits"] == 100, "by bits")
    expect("in words", call("filter", "size", "--expect", "1e9"), 0, None, b"")
    expect("too many", call("filter", "size", "--expect", "1e18"), 2, b"",
           b"2^57")


def test_usage():
    expect_usage("no verb", call("filter"), b"create, add")
    expect_usage("unknown verb", call("filter", "nosuch"), b"'nosuch'")
    expect_usage("option first", call("filter", "-x"), b"unknown option -x")
    for verb in FILTER_VERBS:
        expect_usage(verb, call("filter", verb, "--nosuch"),
                     b"unknown option --nosuch")
        expect_usage(verb, call("filter", verb, "-Z"), b"unknown option -Z")
        if verb != "size":
            expect_usage(verb, call("filter", verb), b"")
    for words in (["create", "-o", ""], ["create", "-o", "x", "a", "b"],
                  ["test", "t.ksf", "a", "b"], ["info", "a", "b"],
                  ["merge", "-o", "x"], ["size", "x", "--expect", "1"],
                  ["size"], ["create", "-o", "x", "--bits", "10"],
                  ["create", "-o", "x", "--classic", "--bits", "10"],
                  ["create", "-o", "x", "--classic", "--bits", "10",
                   "--hashes", "2", "--fpr", "0.1"],
                  ["create", "-o", "x", "--like", "t.ksf", "--expect", "1"],
                  ["create", "-o", "x", "--hash", "md5"],
                  ["create", "-o", "x", "--memory", "0"]):
        expect_usage(" ".join(words), call("filter", *words), b"")
    for rate in ("0", "1", "1.5", "-1", "nan", "inf", "1e-400", "x", ""):
        result = call("filter", "size", "--expect", "1", "--fpr", rate)
        expect_usage(f"--fpr {rate}", result, b"--fpr")
    for count in ("-1", "1.5", "1e3x", "e3", "1e", "1e99", "0x1", "", "1e19"):
        result = call("filter", "size", "--expect", count)
        expect_usage(f"--expect {count}", result, b"--expect")
    check(not os.path.exists("x"), "nothing is left")


def test_trouble():
    """What cannot be read or written: status 2, and what was there stays."""
    with open("t.ksf", "rb") as file:
        whole = file.read()
    for what, data in (("cut", whole[:-1]), ("flipped", whole[:150] + bytes(
            [whole[150] ^ 1]) + whole[151:]), ("text", b"hello\n"),
            ("nothing", b"")):
        write("bad.ksf", data)
        for words in (["test", "bad.ksf"], ["add", "bad.ksf"],
                      ["info", "bad.ksf"], ["merge", "-o", "x", "bad.ksf"]):
            expect(f"{words[0]}, {what}", call("filter", *words,
                                               stdin=keys(1)), 2, b"",
                   b"bad.ksf: ")
        with open("bad.ksf", "rb") as file:
            check(file.read() == data, f"add changed what was {what}")
    later = bytearray(whole)
    later[8] = 9
    write("later.ksf", bytes(later))
    expect("a later version", call("filter", "info", "later.ksf"), 2, b"",
           b"version 9")
    os.mkdir("dir")
    for target in ("dir", "/dev/null", "none/x.ksf"):
        expect(f"-o {target}", call("filter", "create", "-o", target,
                                    stdin=keys(1)), 2, b"", target.encode())
    expect("keys of a directory", call("filter", "create", "-o", "x", "dir"), 2,
           b"", b"dir")
    check(not os.path.exists("x"), "nothing is left")
    with open("/dev/full", "wb") as full:
        expect("full disk", call("filter", "test", "t.ksf", stdin=keys(1),
                                 stdout=full), 2, None, b"standard output")
    expect("too large", call("filter", "create", "-o", "x", "--expect", "1e15"),
           2, b"", b" bytes (")


def test_elsewhere():
    """The file alone says all: another directory, another process."""
    os.mkdir("place")
    shutil.copy("once.ksf", os.path.join("place", "renamed"))
    expect("elsewhere", call("filter", "test", "-q", "renamed", cwd="place",
                             stdin=keys(*range(3000))))


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
finish()
