# SPDX-License-Identifier: MIT
"""Compares all that an index answers with what is known of its data files."""
import base64
import collections
import json

from cli_support import call, check

BOM = b"\xef\xbb\xbf"


def said(o, name):
    """A member of the tool's JSON, which is base64 where it is not UTF-8."""
    if name in o:
        return o[name].encode("utf-8")
    return base64.b64decode(o[name + "_base64"])


class Truth:
    """What an index has to know. `contents` has, in the order of the files,
    (name, uncompressed bytes, [(key or None, offset, length)])."""

    def __init__(self, what, contents, index="ix"):
        self.what = what
        self.contents = contents
        self.index = index
        self.data = {name: data for name, data, _ in contents}
        self.places = collections.defaultdict(list)
        for name, _, records in contents:
            for key, offset, length in records:
                if key is not None:
                    self.places[key].append((name, offset, length))

    def need(self, good, what, result=""):
        check(good, f"{self.what}: {what}", result)
        return good

    def compare(self, what, got, want, r):
        for i, (g, w) in enumerate(zip(got, want)):
            if g != w:
                text = f"{what}: answer {i} is {g}, right is {w}"
                self.need(False, text[:2000], r)
                return
        self.need(len(got) == len(want),
                  f"{what}: {len(got)} answers, right are {len(want)}", r)

    def check_info(self):
        r = call("info", "-i", self.index, "--json")
        info = json.loads(r.out)
        keys = [k for _, _, records in self.contents for k, _, _ in records]
        want = {"records": len(keys), "bad_records": 0,
                "records_without_key": sum(k is None for k in keys),
                "distinct_keys": len(self.places)}
        got = {name: info[name] for name in want}
        self.need(got == want, f"info: {got}, right is {want}")

    def check_keys(self):
        r = call("keys", "-i", self.index, "--json")
        got = [(said(o, "key"), o["file"], o["offset"], o["length"])
               for o in map(json.loads, r.out.splitlines())]
        want = [(key, name, offset, length)
                for name, _, records in self.contents
                for key, offset, length in records if key is not None]
        self.compare("keys", got, want, r)

    def absent(self, rnd, near_to=60):
        """Keys that are near to those there, and others."""
        keys = {b"absent", b"\xff", b"0"}
        for key in rnd.sample(sorted(self.places),
                              min(near_to, len(self.places))):
            keys |= {key + b" ", key[:-1], key[1:], key + key, key.swapcase(),
                     b" " + key, key + b"\xc3"}
        return sorted(k for k in keys if k and k not in self.places)

    def check_get(self, asked):
        """get, get --scan and has for these keys."""
        nul = [k for k in asked if b"\0" in k]
        # One a line: no line feed in it, and no carriage return at its end.
        nul = [k for k in nul if b"\n" not in k and not k.endswith(b"\r") and
               not k.startswith(BOM)]
        for keys, end, how in (
                ([k for k in asked if b"\0" not in k], b"\0", ["-0"]),
                (nul, b"\n", [])):
            words = ["-i", self.index, "--json", *how, "-f", "-"]
            stdin = b"".join(k + end for k in keys)
            r = call("get", *words, stdin=stdin)
            self.check_answers(keys, r)
            scan = call("get", "--scan", *words, stdin=stdin)
            self.need(scan.rc == r.rc and scan.out == r.out and
                      scan.err == r.err, "get --scan differs from get", scan)
            has = call("has", *words, stdin=stdin)
            got = [(said(o, "key"), o["found"])
                   for o in map(json.loads, has.out.splitlines())]
            self.compare("has", got, [(k, k in self.places) for k in keys],
                         has)

    def check_answers(self, keys, r):
        missing = [k for k in keys if k not in self.places]
        self.need(r.rc == (1 if missing else 0), "get: exit status", r)
        self.need(r.err.count(b"keysieve: not found: ") == len(missing),
                  f"get: {len(missing)} keys are missing", r)
        got = [(said(o, "key"), o["file"], o["offset"], o["length"],
                said(o, "record")) for o in map(json.loads, r.out.splitlines())]
        want = [(key, name, offset, length,
                 bytes(self.data[name][offset:offset + length]))
                for key in keys
                for name, offset, length in self.places.get(key, [])]
        self.compare("get", got, want, r)

    def check_plain_output(self, keys):
        """Without --json: the bytes and a line feed."""
        for key in keys:
            r = call("get", "-i", self.index, "--", key)
            want = b"".join(bytes(self.data[name][o:o + n]) + b"\n"
                            for name, o, n in self.places[key])
            self.need(r.rc == 0 and r.out == want, f"get {key!r}", r)

    def check_all(self, rnd):
        """Every key in the order of the data, then some in a random order, twice
        too, and absent ones."""
        self.check_info()
        self.check_keys()
        keys = list(self.places)
        self.check_get(keys)
        some = rnd.sample(keys, min(100, len(keys))) + self.absent(rnd)
        rnd.shuffle(some)
        self.check_get(some + some[:3])
        short = [k for k in keys if b"\0" not in k and len(k) < 10000]
        self.check_plain_output(rnd.sample(short, min(2, len(short))))
