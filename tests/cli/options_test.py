#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options of every verb: where they may stand, what they take, what not."""
import shutil

from cli_support import VERBS, call, check, expect, expect_usage, finish, write

DATA = b"id,v\na,1\nb,22\n-x,3\n--help,4\n-,5\n-i,6\n"
write("data.csv", DATA)
expect("build", call("build", "-k", "id", "data.csv"), out=b"")


def test_places():
    for words in (["get", "-i", ".keysieve", "b"], ["get", "-i.keysieve", "b"],
                  ["get", "--index", ".keysieve", "b"],
                  ["get", "--index=.keysieve", "b"],
                  ["get", "b", "-i", ".keysieve"],
                  ["get", "b", "--index=.keysieve"],
                  ["get", "-i", ".keysieve", "--", "b"]):
        expect("index option", call(*words), out=b"b,22\n")
    expect("letters in one word", call("get", "-l0", "b"),
           out=b"b\tdata.csv\t9\t4\n")
    expect("letters with an argument", call("get", "-li.keysieve", "b"),
           out=b"b\tdata.csv\t9\t4\n")
    expect("options after keys", call("get", "a", "-c", "b"),
           out=b"a\t1\nb\t1\n")
    expect("POSIXLY_CORRECT changes nothing",
           call("get", "a", "-c", env={"POSIXLY_CORRECT": "1"}), out=b"a\t1\n")


def test_index_directory():
    shutil.copytree(".keysieve", "other")
    expect("from the environment",
           call("get", "b", env={"KEYSIEVE_INDEX": "other"}), out=b"b,22\n")
    expect("from the environment, missing",
           call("get", "b", env={"KEYSIEVE_INDEX": "none"}), 2, b"", b"none")
    expect("-i goes first",
           call("get", "-i", "other", "b", env={"KEYSIEVE_INDEX": "none"}),
           out=b"b,22\n")
    expect("empty in the environment",
           call("get", "b", env={"KEYSIEVE_INDEX": ""}), out=b"b,22\n")
    expect_usage("empty -i", call("get", "-i", "", "b"))


def test_dashes():
    expect("keys like options", call("get", "--", "-x", "--help", "-", "-i"),
           out=b"-x,3\n--help,4\n-,5\n-i,6\n")
    expect("one dash is a key", call("get", "-"), out=b"-,5\n")
    expect("-- as a key", call("get", "--", "--"), 1, b"",
           b"not found: --\n")
    expect_usage("-x alone", call("get", "-x"), b"unknown option -x")
    write("-odd.csv", b"id\nodd\n")
    expect("file like an option",
           call("build", "-i", "odd", "-k", "id", "--", "-odd.csv"))
    expect("its key", call("get", "-i", "odd", "odd"), out=b"odd\n")
    expect("update of it", call("update", "-i", "odd", "-q", "--", "-odd.csv"),
           out=b"")
    for verb in ("info", "verify", "keys"):
        expect(f"{verb} --", call(verb, "--"))
        expect_usage(f"{verb} -- x", call(verb, "--", "x"), b"'x'")


def test_unknown():
    for verb in VERBS:
        expect_usage(verb, call(verb, "--no-such-option"),
                     b"unknown option --no-such-option")
        expect_usage(verb, call(verb, "-Z"), b"unknown option -Z")
        expect_usage(verb, call(verb, "-i"), b"needs an argument")
        expect_usage(verb, call(verb, "--index"), b"needs an argument")
    expect_usage("get --json=1", call("get", "--json=1", "a"), b"no argument")
    expect_usage("no verb like it", call("nosuch"), b"'nosuch'")
    expect_usage("an option for a verb", call("-i", "x", "get", "a"), b"-i")
    for verb in ("filter", "dedup"):
        result = call(verb, "x")
        check(result.rc != 2 or verb.encode() in result.err,
              f"{verb} names itself", result)


GOOD = [
    ["--fpr", "0.01"], ["--fpr", "1e-3"], ["--fpr=.5"], ["--memory", "64M"],
    ["--memory", "1G"], ["--memory", "70000000"], ["--memory", "65536k"],
    ["-j", "1"], ["-j2"], ["--threads", "3"], ["--hash", "xxh3"],
    ["--hash", "siphash"], ["--organisation", "hash"], ["--strict"],
    ["--unique"], ["--bad-records", "skip"], ["--bad-records", "fail"],
    ["--trailing-garbage", "ignore"], ["--trailing-garbage", "fail"],
    ["--progress", "never"], ["--progress", "auto"], ["-q"], ["--quiet"],
    ["-d", ","], ["--delimiter", ","], ["--quote", "'"], ["--quote", "none"],
    ["--escape", "backslash"], ["--escape", "double"],
    ["--record-end", "lf"], ["-f", "csv"], ["--format=csv"],
    ["--key-separator", "|"],
]
BAD = [
    ["--fpr", "0"], ["--fpr", "1"], ["--fpr", "-0.1"], ["--fpr", "1.5"],
    ["--fpr", "nan"], ["--fpr", "0,01"], ["--fpr", "0.01x"], ["--fpr", ""],
    ["--fpr", "0x1p-4"], ["--memory", "0"], ["--memory", "-1"],
    ["--memory", "64Q"], ["--memory", "M"], ["--memory", "64MM"],
    ["--memory", "99999999999999999999"], ["--memory", "99999999999T"],
    ["--memory", ""], ["-j", "0"], ["-j", "-1"], ["-j", "two"], ["-j", "1.5"],
    ["-j", "+1"], ["-j", " 1"], ["-j", ""], ["--hash", "md5"],
    ["--organisation", "heap"], ["--organisation", ""],
    ["--bad-records", "ignore"], ["--trailing-garbage", "skip"],
    ["--progress", "sometimes"], ["-d", ""], ["-d", "ab"], ["-d", "\n"],
    ["--quote", ""], ["--quote", "ab"], ["--escape", "slash"],
    ["--record-end", "crlf"], ["--record-size", "0"],
    ["--record-size", "x"], ["-f", "xml"], ["-k", ""], ["--strict=yes"],
]


def test_build_values():
    for words in GOOD:
        result = call("build", "-i", "good", "-k", "id", *words, "data.csv")
        expect(f"build {words}", result, out=b"")
        check(call("get", "-i", "good", "b").out == b"b,22\n",
              f"get after build {words}")
        shutil.rmtree("good", True)
    for words in BAD:
        expect_usage(f"build {words}", call("build", "-i", "bad", "-k", "id",
                                            *words, "data.csv"))
    check(not shutil.os.path.exists("bad"), "a bad command line left an index")


def test_build_files():
    expect_usage("build without files", call("build", "-k", "id"), b"file")
    expect_usage("build without key", call("build", "-i", "n", "data.csv"),
                 b"-k")
    write("data", DATA)
    expect_usage("no format", call("build", "-i", "n", "-k", "id", "data"),
                 b"-f")
    write("x.tsv", b"id\tv\nt\t1\n")
    expect_usage("two formats by name",
                 call("build", "-i", "n", "-k", "id", "data.csv", "x.tsv"),
                 b"x.tsv")
    expect_usage("empty list", call("build", "-i", "n", "-k", "id",
                                    "--files-from", "-"), b"no data file")
    expect("list without file", call("build", "-i", "n", "-k", "id",
                                     "--files-from", "nosuch"), 2, b"",
           b"nosuch")
    expect_usage("-0 alone", call("build", "-i", "n", "-k", "id", "-0",
                                  "data.csv"))
    check(not shutil.os.path.exists("n"), "a bad command line left an index")
    expect("list of names", call("build", "-i", "n", "-k", "id",
                                 "--files-from", "-", stdin=b"data.csv\r\n\n"))
    expect("list with NUL", call("build", "-i", "n0", "-k", "id", "-0",
                                 "--files-from", "-", stdin=b"data.csv\0"))
    for index in ("n", "n0"):
        expect("its key", call("get", "-i", index, "b"), out=b"b,22\n")


def test_build_again():
    expect("neither -f nor -k", call("build", "data.csv"))
    expect("-f alone", call("build", "-f", "csv", "data.csv"))
    expect("the same", call("build", "-k", "id", "data.csv"))
    expect("another key", call("build", "-k", "v", "data.csv"), 2)
    expect("another format", call("build", "-f", "tsv", "-k", "id",
                                  "data.csv"), 2)
    expect("still there", call("get", "b"), out=b"b,22\n")
    expect("tab as two characters",
           call("build", "-i", "tab", "-f", "csv", "-d", r"\t", "-k", "id",
                "x.tsv"))
    expect("its key", call("get", "-i", "tab", "t"), out=b"t\t1\n")


def test_lookup_options():
    expect_usage("no key", call("get"), b"no key")
    expect_usage("no key", call("has", "-q"), b"no key")
    for words in (["-l", "-c"], ["--header", "--json"], ["--header", "-l"],
                  ["--range", "a"], ["-f", "-", "-f", "-"]):
        expect_usage(f"get {words}", call("get", *words, "a"))
    for words in (["--maybe", "--scan"], ["--maybe", "-c"], ["-v", "-l"]):
        expect_usage(f"has {words}", call("has", *words, "a"))
    expect_usage("keys -0 -l", call("keys", "-0", "-l"))
    expect("--prefix", call("get", "--prefix", "a"), 2, b"", b"sorted")
    expect("--range", call("get", "--range", "a..b"), 2, b"", b"sorted")
    expect("--scan", call("get", "--scan", "b"), out=b"b,22\n")
    expect("has --scan", call("has", "--scan", "b"), out=b"b\n")
    expect("has --maybe", call("has", "--maybe", "b"), out=b"b\n")


for test in (test_places, test_index_directory, test_dashes, test_unknown,
             test_build_values, test_build_files, test_build_again,
             test_lookup_options):
    test()
finish()
