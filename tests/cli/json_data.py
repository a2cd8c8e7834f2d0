# SPDX-License-Identifier: MIT
"""Random lines of JSON in all spellings, with the keys that Python's json finds."""
import json

from content_data import BOM, Content, fill, join, key_options, line_end


class Number(str):
    """A number as it was written."""


class NoKey(str):
    """NaN and the infinities."""


NAMES = ["id", "user", "Id", "a.b", "x/y", "t~n", "", "0", "1", "naïve", "\\"]


def json_text(rnd, value):
    """Any of the ways to write a string."""
    out = []
    for c in value:
        code = ord(c)
        if c in '"\\' or (code < 32 and rnd.random() < 0.5):
            short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t",
                     "\r": "\\r", "\b": "\\b", "\f": "\\f"}.get(c)
            out.append(short or "\\u%04x" % code)
        elif c in "\n\r" or 0xD800 <= code < 0xE000 or rnd.random() < 0.15:
            units = c.encode("utf-16-be", "surrogatepass")
            out += ["\\u%02X%02x" % (units[i], units[i + 1])
                    for i in range(0, len(units), 2)]
        elif c == "/" and rnd.random() < 0.5:
            out.append("\\/")
        else:
            out.append(c)
    return '"' + "".join(out) + '"'


def json_scalar(rnd):
    kind = rnd.randrange(10)
    if kind < 5:
        word = "".join(rnd.choice(["a", "b", "Z", "7", "é", "日", "🐘", "/",
                                   " ", '"', "\\", "\n", "\x01", "\x7f",
                                   "\0"]) for _ in range(rnd.randrange(6)))
        if rnd.random() < 0.04:
            word += "\ud800"
        return json_text(rnd, word + rnd.choice(["", str(rnd.randrange(99))]))
    if kind < 8:
        return rnd.choice(["0", "-0", "1", "1.0", "1e5", "1E+05", "-7.25e-3",
                           "9007199254740993", "18446744073709551617",
                           str(rnd.randrange(300)), "NaN", "-Infinity"])
    return rnd.choice(["true", "false", "null"])


def json_value(rnd, depth):
    if depth == 0 or rnd.random() < 0.55:
        return json_scalar(rnd)
    gap = rnd.choice(["", "", " ", "\t "])
    if rnd.random() < 0.4:
        items = [json_value(rnd, depth - 1) for _ in range(rnd.randrange(4))]
        return "[" + gap + ("," + gap).join(items) + gap + "]"
    members = [json_text(rnd, rnd.choice(NAMES)) + gap + ":" +
               json_value(rnd, depth - 1) for _ in range(rnd.randrange(5))]
    return "{" + gap + ("," + gap).join(members) + gap + "}"


def json_path(rnd):
    """A specification, and its steps."""
    steps = [rnd.choice(NAMES) if rnd.random() < 0.4 else
             rnd.choice(["id", "user"]) for _ in
             range(rnd.choice([1, 1, 2, 3]))]
    pointer = "".join("/" + s.replace("~", "~0").replace("/", "~1")
                      for s in steps)
    dotted = ".".join(s.replace("\\", "\\\\").replace(".", "\\.")
                      for s in steps)
    if not all(steps) or dotted.startswith("/") or "\\" in dotted.replace(
            "\\.", "") or rnd.random() < 0.4:
        return pointer, steps
    return dotted, steps


def json_planted(rnd, steps):
    """A member that has a scalar at the end of the steps, mostly."""
    value = json_scalar(rnd)
    for step in reversed(steps[1:]):
        if step.isdigit() and rnd.random() < 0.7:
            items = [json_value(rnd, 1) for _ in range(rnd.randrange(3))]
            items.insert(int(step), value)
            value = "[" + ",".join(items) + "]"
        else:
            other = json_text(rnd, rnd.choice(NAMES)) + ":" + json_value(rnd, 1)
            members = [other, json_text(rnd, step) + ":" + value]
            rnd.shuffle(members)
            value = "{" + ",".join(members) + "}"
    return json_text(rnd, steps[0]) + ":" + value


def json_key(value, steps):
    """What Python's json found there, as a key."""
    for step in steps:
        if isinstance(value, dict):
            if step not in value:
                return b""
            value = value[step]
        elif isinstance(value, list) and step.isdigit() and \
                int(step) < len(value):
            value = value[int(step)]
        else:
            return b""
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if not isinstance(value, str) or isinstance(value, NoKey):
        return b""
    try:
        return value.encode()
    except UnicodeEncodeError:
        return b""


def json_lines(rnd, big):
    content = Content("jsonl")
    end_kind, end = line_end(rnd, content)
    paths = [json_path(rnd) for _ in range(rnd.choice([1, 1, 1, 2]))]
    separator = key_options(rnd, content, [spec for spec, _ in paths])
    if rnd.random() < 0.2:
        content.data += BOM
    for _ in range(rnd.choice([1, 3, 40, 200])):
        members = [json_text(rnd, rnd.choice(NAMES)) + ":" +
                   json_value(rnd, 3) for _ in range(rnd.randrange(6))]
        members += [json_planted(rnd, steps) for _, steps in paths
                    if rnd.random() < 0.9]
        if big:
            members.append('"fill":"' + fill(rnd, big).decode() + '"')
        rnd.shuffle(members)
        text = "{" + ", ".join(members) + "}"
        if rnd.random() < 0.05:
            text = json_value(rnd, 2)
        text = rnd.choice(["", "", " "]) + text + rnd.choice(["", "", "\t"])
        parsed = json.loads(text, strict=False, parse_int=Number,
                            parse_float=Number, parse_constant=NoKey)
        content.add(text.encode(), end() + rnd.choice(
            [b"", b"", b"", end(), b" \t" + end()]), join(
            [json_key(parsed, steps) for _, steps in paths], separator))
    if rnd.random() < 0.3:
        content.cut_last_end()
    return content
