#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the jsonl reader with Python's json module on random documents,
whole and damaged."""
import json
import os
import random
import re
import subprocess
import sys

DUMP = os.path.join(os.environ["KSV_BUILD"], "tests", "scan_dump")
SPACE = b" \t\r\n"
NAMES = ["id", "a", "b", "user", "0", "1", "i", "idx", "a.b", "", "\u00e9",
         "\U0001f600", "id\n", "ID"]
PATHS = [(["id"], "id"), (["a", "b"], "a.b"), (["a.b"], "a\\.b"),
         (["user", "a", "id"], "user.a.id"), (["a", "1"], "a.1"),
         (["a", "0", "id"], "/a/0/id"), ([""], "/"), (["\u00e9"], "\u00e9"),
         (["0"], "0"), (["id", "id"], "id.id"), (["id\n"], "id\n")]


def spell_string(rng, text):
    """A spelling of a string: escapes wherever they are allowed."""
    out = ['"']
    for c in text:
        way = rng.random()
        if c in '"\\':
            out.append("\\" + c)
        elif c == "/" and way < 0.3:
            out.append("\\/")
        elif c in "\b\f\n\r\t" and (c == "\n" or way < 0.7):
            out.append("\\" + "bfnrt"["\b\f\n\r\t".index(c)])
        elif way < 0.15 or "\ud800" <= c <= "\udfff":
            units = c.encode("utf-16-be", "surrogatepass").hex()
            for i in range(0, len(units), 4):
                u = units[i:i + 4]
                out.append("\\u" + (u.upper() if rng.random() < 0.5 else u))
        else:
            out.append(c)
    return "".join(out) + '"'


def random_text(rng):
    alphabet = rng.choice(["abc", 'ab"\\/\b\f\n\r\t', "\u00e9\u20ac\U0001f600x",
                           "\x00\x01\x1f\x7f ", "\ud800\udc00\udbffz", "{}[]:,"])
    return "".join(rng.choice(alphabet) for _ in range(rng.choice(
        [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 40])))


def random_number(rng):
    return rng.choice(["0", "-0", "1", "-1", "10", "12345678901234567890123",
                       "1.0", "1.50", "-0.25", "1e5", "1E+5", "1.5e-7", "0e0",
                       "0.0", "99999999", "1234567", "-12345678.5"])


def spell(rng, value_depth):
    """A random document as text."""
    def gap():
        return rng.choice(["", "", "", "", " ", "\t", "  ", " \r"])
    kind = rng.random()
    if value_depth > 0 and kind < 0.45:
        members = []
        for _ in range(rng.randrange(5)):
            members.append(gap() + spell_string(rng, rng.choice(NAMES)) + gap()
                           + ":" + gap() + spell(rng, value_depth - 1) + gap())
        return "{" + (",".join(members) or gap()) + "}"
    if value_depth > 0 and kind < 0.6:
        items = [gap() + spell(rng, value_depth - 1) + gap()
                 for _ in range(rng.randrange(4))]
        return "[" + (",".join(items) or gap()) + "]"
    if kind < 0.8:
        return spell_string(rng, random_text(rng))
    if kind < 0.93:
        return random_number(rng)
    return rng.choice(["true", "false", "null", "NaN", "Infinity", "-Infinity"])


def spell_with_path(rng, path):
    """A random document that mostly has something at the path."""
    if not path:
        return spell(rng, rng.choice([0, 0, 0, 1]))
    before = [spell_string(rng, rng.choice(NAMES)) + ": " + spell(rng, 2)
              for _ in range(rng.randrange(3))]
    after = [spell_string(rng, rng.choice(NAMES + path)) + ":" + spell(rng, 1)
             for _ in range(rng.choice([0, 0, 1, 2]))]
    inner = spell_with_path(rng, path[1:])
    if path[0].isdigit() and rng.random() < 0.7:
        items = [spell(rng, 1) for _ in range(int(path[0]))] + [inner]
        return "[" + ",".join(items) + rng.choice(["", ",1"]) + "]"
    member = spell_string(rng, path[0]) + ":" + inner
    return "{" + ", ".join(before + [member] + after) + "}"


def document(rng, path):
    text = spell_with_path(rng, path) if rng.random() < 0.7 else \
        spell(rng, rng.choice([1, 2, 3, 4, 5]))
    return text.encode("utf-8", "surrogatepass").replace(b"\n", b" ")


def damage(rng, line):
    b = bytearray(line)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at = rng.randrange(len(b) + 1)
        way = rng.randrange(6)
        if way == 0:
            del b[at:]
        elif way == 1:
            del b[at:at + rng.choice([1, 1, 2, 5])]
        elif way == 2:
            b[at:at] = rng.choice([b'"', b"\\", b"{", b"}", b"[", b"]", b",",
                                   b":", b"0", b"-", b".", b"e", b"u", b" ",
                                   b"\x80", b"+", b"'", b"\xef\xbb\xbf"])
        elif way == 3 and at < len(b):
            b[at] = rng.randrange(256)
        elif way == 4 and at < len(b):
            b[at] ^= 1 << rng.randrange(8)
        else:
            other = rng.randrange(len(b) + 1)
            b[at:at] = b[min(at, other):max(at, other)]
    return bytes(b).replace(b"\n", b" ")


class Raw(str):
    """A number as it is spelled."""


NO_KEY = object()
DECODER = json.JSONDecoder(object_pairs_hook=dict, parse_float=Raw,
                           parse_int=Raw, parse_constant=lambda _: NO_KEY,
                           strict=False)


def python_parse(line):
    """The value, or None when it is malformed: (value,)."""
    # Bytes that are not UTF-8 become lone surrogates, one a byte, and so go
    # through unchanged; those that escapes make are marked first.
    text = line.decode("utf-8", "surrogateescape")
    start = re.match(r"[ \t\r\n]*", text).end()
    try:
        # The decoder takes no other white space than JSON's.
        value, end = DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return (value,) if not text[end:].strip(" \t\r\n") else None


def python_accepts_more(line):
    """Where Python is laxer than JSON: digits of other scripts in numbers and
    escapes (what its regular expressions and int() take)."""
    return re.search(r"[^\x00-\x7f]", re.sub(
        r'"(?:[^"\\]|\\.)*"', "", line.decode("utf-8", "replace"))) or \
        re.search(rb"\\u[^0-9a-fA-F]|\\u.[^0-9a-fA-F]|\\u..[^0-9a-fA-F]|"
                  rb"\\u...[^0-9a-fA-F]", line)


def key_of(value, path):
    for step in path:
        if isinstance(value, dict):
            if step not in value:
                return None
            value = value[step]
        elif isinstance(value, list):
            if not re.fullmatch("0|[1-9][0-9]*", step) or \
                    int(step) >= len(value):
                return None
            value = value[int(step)]
        else:
            return None
    if value is NO_KEY or value is None or isinstance(value, (dict, list)):
        return None
    if isinstance(value, bool):
        return b"true" if value else b"false"
    return value


def encode_key(key, line):
    """The key's bytes, None without a key, ... where Python cannot say."""
    if key is None or isinstance(key, bytes):
        return key
    try:
        return key.encode("utf-8") or None
    except UnicodeEncodeError:
        pass
    # Surrogates come from bytes that are not UTF-8, or from escapes.
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        if re.search(rb"\\u[dD][89a-fA-F]", line):
            return ...
        return key.encode("utf-8", "surrogateescape")
    return None


def expected(line, path):
    """(kind, key), None for a blank line, ... where Python cannot say."""
    if not line.strip(SPACE):
        return None
    parsed = python_parse(line)
    if parsed is None:
        return ("bad", None)
    if python_accepts_more(line):
        return ...
    key = encode_key(key_of(parsed[0], path), line)
    if key is ...:
        return ...
    return ("none", None) if key is None else ("keyed", key)


def reader_says(lines, path_text, piece):
    content = b"\n".join(lines) + b"\n"
    run = subprocess.run([DUMP, "jsonl", "--skip", "--piece", str(piece),
                          path_text], input=content, stdout=subprocess.PIPE,
                         check=True)
    records = {}
    for row in run.stdout.decode().splitlines():
        kind, offset, length, key = row.split(" ", 3)
        if kind == "error":
            sys.exit(f"reader stopped: {row}")
        records[int(offset)] = (kind, int(length),
                                bytes.fromhex(key) if kind == "keyed" else None)
    return records


def compare(lines, path, path_text, piece):
    records = reader_says(lines, path_text, piece)
    offset = 0
    compared = bad = keyed = 0
    for line in lines:
        length = len(line) - line.endswith(b"\r")
        want = expected(line, path)
        got = records.pop(offset, None)
        offset += len(line) + 1
        if want is ...:
            continue
        compared += 1
        if want is not None:
            want = (want[0], length, want[1])
            bad += want[0] == "bad"
            keyed += want[0] == "keyed"
        if got != want:
            sys.exit(f"path {path}, piece {piece}: {line!r}\n"
                     f"  Python: {want}\n  reader: {got}")
    if records:
        sys.exit(f"records where there are none: {sorted(records)[:5]}")
    return compared, bad, keyed


def main():
    seed = 20240607
    rng = random.Random(seed)
    totals = [0, 0, 0]
    for path, path_text in PATHS:
        lines = []
        for _ in range(700):
            line = document(rng, path)
            lines.append(line)
            lines.append(damage(rng, line))
        for piece in (1 << 30, rng.choice([1, 2, 3, 5, 11])):
            counts = compare(lines, path, path_text, piece)
            totals = [a + b for a, b in zip(totals, counts)]
    print(f"seed {seed}: {totals[0]} lines compared, {totals[1]} malformed, "
          f"{totals[2]} with a key")
    if totals[1] < 1000 or totals[2] < 5000:
        sys.exit("the documents are too much alike to show anything")


main()
