#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What get, has, keys and info print, in every form."""
import base64
import itertools
import json

from cli_support import call, check, expect, finish, write

A = (b"id,name\r\nb,\xc3\xa4\r\na,1\r\n\"q\"\"\\\",\x01\ta\x7f\r\n"
     b"a,\xff\xfe\r\nbad\xff,x\r\n,none\r\na,3")
B = b"id,name\na,\xf0\x9f\x98\x80\n\"two\nlines\",z\n"
write("a.csv", A)
write("b.csv", B)
expect("build", call("build", "-q", "-k", "id", "a.csv", "b.csv"), out=b"",
       err=b"")


def objects(result):
    return [json.loads(line) for line in result.out.decode().splitlines()]


def member(record, name):
    if name in record:
        check(name + "_base64" not in record, f"{name} twice")
        return record[name].encode()
    return base64.b64decode(record[name + "_base64"], validate=True)


def test_records():
    expect("order and repeats", call("get", "b", "a", "b"),
           out=b"b,\xc3\xa4\na,1\na,\xff\xfe\na,3\na,\xf0\x9f\x98\x80\n"
               b"b,\xc3\xa4\n")
    expect("--first", call("get", "--first", "a", "b"),
           out=b"a,1\nb,\xc3\xa4\n")
    expect("--header", call("get", "--header", "b"),
           out=b"id,name\nb,\xc3\xa4\n")
    expect("--header of nothing", call("get", "--header", "-f", "/dev/null"),
           out=b"")
    expect("--header without records", call("get", "--header", "zz"), 1,
           b"id,name\n")
    expect("-q", call("get", "-q", "a", "zz"), 1, b"")
    check(call("get", "-q", "zz").err == b"", "-q prints nothing on stderr")


def test_locations():
    expect("-l", call("get", "-l", "a"),
           out=b"a\ta.csv\t%d\t3\na\ta.csv\t%d\t4\na\ta.csv\t%d\t3\n"
               b"a\tb.csv\t8\t6\n" % (A.index(b"a,1"), A.index(b"a,\xff"),
                                      A.index(b"a,3")))
    expect("-c", call("get", "-c", "b", "zz", "a", "b"), 1,
           b"b\t1\nzz\t0\na\t4\nb\t1\n", b"not found: zz\n")
    expect("-c --first", call("get", "-c", "--first", "a"), out=b"a\t1\n")
    got = objects(call("get", "-c", "--json", "a", "zz"))
    check(got == [{"key": "a", "count": 4}, {"key": "zz", "count": 0}],
          f"-c --json: {got}")


def check_json(result, with_record):
    whole = {"a.csv": A, "b.csv": B}
    for record in objects(result):
        names = [n.replace("_base64", "") for n in record]
        want = ["key", "file", "offset", "length"]
        check(names == want + ["record"] * with_record, f"members {names}")
        part = whole[record["file"]][record["offset"]:][:record["length"]]
        if with_record:
            check(member(record, "record") == part, f"record of {record}")
        for name in [n for n in record if n.endswith("_base64")]:
            try:
                base64.b64decode(record[name]).decode()
                check(False, f"{name} although it is UTF-8")
            except UnicodeDecodeError:
                pass


def test_json():
    keys = [b"a", b"b", b"q\"\\", b"bad\xff", b"two\nlines"]
    result = expect("--json", call("get", "--json", *keys))
    check_json(result, True)
    got = [member(r, "key") for r in objects(result)]
    check(got == [b"a"] * 4 + keys[1:], f"keys of --json: {got}")
    result = expect("-l --json", call("get", "-l", "--json", *keys))
    check_json(result, False)
    result = expect("keys --json", call("keys", "--json"))
    check_json(result, False)
    check(len(objects(result)) == 8, "keys --json: a line a record", result)


def test_has():
    expect("has", call("has", "b", "zz", "a", "b"), 1, b"b\na\nb\n",
           b"keysieve: not found: zz\n")
    result = expect("has -v", call("has", "-v", "b", "zz", "yy"), 1,
                    b"zz\nyy\n")
    check(result.err == b"", "has -v names the missing once", result)
    expect("has -0", call("has", "-0", "b", "a"), out=b"b\0a\0")
    expect("has -v -0", call("has", "-v0", "-f", "-", stdin=b"b\0z\n\0"), 1,
           b"z\n\0")
    expect("has -c", call("has", "-c", "a"), out=b"a\t4\n")
    got = objects(call("has", "--json", b"bad\xff", "zz", "b"))
    want = [{"key_base64": base64.b64encode(b"bad\xff").decode(),
             "found": True}, {"key": "zz", "found": False},
            {"key": "b", "found": True}]
    check(got == want, f"has --json: {got}")
    expect("has -q", call("has", "-q", "a", "zz"), 1, b"")


def test_utf8():
    """Sequences at the edges of what is well-formed, judged by Python."""
    edges = [0x01, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1,
             0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3,
             0xf4, 0xf5, 0xff]
    tails = [bytes(t) for n in range(4)
             for t in itertools.product([0x41, 0x80, 0x8f, 0x90, 0x9f, 0xa0,
                                         0xbf], repeat=n)]
    keys = [bytes([e]) + t for e in edges for t in tails]
    result = call("has", "-q", "--json", "-0", "-f", "-",
                  stdin=b"\0".join(keys))
    check(result.out == b"", "-q", result)
    result = call("has", "--json", "-0", "-f", "-", stdin=b"\0".join(keys))
    got = objects(result)
    check(len(got) == len(keys), f"{len(got)} of {len(keys)} keys answered")
    for key, answer in zip(keys, got):
        try:
            want = {"key": key.decode(), "found": key in (b"a", b"b")}
        except UnicodeDecodeError:
            want = {"key_base64": base64.b64encode(key).decode(),
                    "found": False}
        if answer != want:
            check(False, f"key {key}: {answer}")
            break


def test_keys():
    keys = [b"b", b"a", b"q\"\\", b"a", b"bad\xff", b"a", b"a", b"two\nlines"]
    expect("keys", call("keys"), out=b"".join(k + b"\n" for k in keys))
    expect("keys -0", call("keys", "-0"),
           out=b"".join(k + b"\0" for k in keys))
    lines = call("keys", "-l").out.split(b"\n")
    check(lines[0] == b"b\ta.csv\t9\t4", f"keys -l: {lines[0]}")


def test_info():
    info = json.loads(expect("info", call("info", "--json")).out)
    want = {"records": 9, "records_without_key": 1, "distinct_keys": 5,
            "format": "csv", "organisation": "hash", "fpr": 0.005}
    for name, value in want.items():
        check(info.get(name) == value, f"info: {name} is {info.get(name)}")
    for name in ("key", "index_bytes", "filter_bytes", "segments"):
        check(name in info, f"info lacks {name}")
    files = [{"file": f["file"], "bytes": f["bytes"], "state": f["state"],
              "records": f["records"], "none": f["records_without_key"]}
             for f in info["files"]]
    check(files == [
        {"file": "a.csv", "bytes": len(A), "state": "ok", "records": 7,
         "none": 1},
        {"file": "b.csv", "bytes": len(B), "state": "ok", "records": 2,
         "none": 0}], f"info: files {files}")
    text = expect("info", call("info")).out
    check(b"a.csv" in text and b"id" in text, f"info: {text}")
    for rate in ("0.01", "0.3", "1e-06", "0.0123456789"):
        call("build", "-q", "-i", "rate" + rate, "--fpr", rate, "-k", "id",
             "b.csv")
        out = call("info", "-i", "rate" + rate, "--json").out
        check(b'"fpr":' + rate.encode() + b"," in out, f"fpr {rate}: {out}")


MEMBERS = ["keys", "found", "blank_lines", "filter_probes", "filter_positives",
           "false_positives", "table_pages_read", "data_reads", "bytes_read",
           "bytes_inflated", "files_opened", "ns"]


def test_receipts():
    stdin = b"a\n\n\r\nzz\nb\n"
    result = call("get", "--json", "--stats", "-f", "-", stdin=stdin)
    lines = [x for x in result.err.split(b"\n") if x.startswith(b"{")]
    stats = json.loads(lines[0])
    check(list(stats) == MEMBERS, f"stats: {list(stats)}", result)
    check(all(type(v) is int for v in stats.values()), f"stats: {stats}")
    check((stats["keys"], stats["found"], stats["blank_lines"]) == (3, 2, 2),
          f"stats: {stats}")
    result = call("get", "--json", "--explain", "a", "zz")
    lines = [x for x in result.err.split(b"\n") if x.startswith(b"{")]
    each = [json.loads(x) for x in lines]
    check([e["key"] for e in each] == ["a", "zz"], "explain: keys", result)
    check([e["found"] for e in each] == [1, 0], "explain: found", result)
    check(all(list(e) == ["key"] + MEMBERS for e in each), "explain: members",
          result)
    result = call("has", "--stats", "-f", "-", stdin=stdin)
    check(b"blank lines skipped   2\n" in result.err, "stats as text", result)
    result = call("get", "--explain", "a", "zz")
    check(b"\na: found, " in b"\n" + result.err and
          b"\nzz: not found, " in result.err, "explain as text", result)


def test_big_record():
    """Over 20 MB, so that it comes in pieces; bytes that cross their ends."""
    good = b"big,\"" + "\u00e4\u20ac\U0001f600\"\"\\\n".encode() * 2000000 + b"\""
    bad = b"bin," + b"\xe2\x82" * 8 + b"x" * 21000000
    write("big.csv", b"id,v\n" + good + b"\n" + bad + b"\n")
    expect("build", call("build", "-q", "-i", "big", "-k", "id", "big.csv"))
    expect("big record", call("get", "-i", "big", "big"), out=good + b"\n")
    for key, want, name in (("big", good, "record"),
                            ("bin", bad, "record_base64")):
        result = expect("as JSON", call("get", "-i", "big", "--json", key))
        record = objects(result)[0]
        check(name in record and member(record, "record") == want,
              f"big record {key} as JSON")


for test in (test_records, test_locations, test_json, test_has, test_utf8, test_keys,
             test_info, test_receipts, test_big_record):
    test()
finish()
