# SPDX-License-Identifier: MIT
"""Random contents of every format, with the places of their records and keys as
the generator laid them out (those of JSON as Python's json reads them)."""
import re

from content_data import (BOM, Content, any_bytes, fill, join, key_options,
                          line_end)
from json_data import json_lines

# csv and tsv


class Fields:
    """How the fields of a file are written."""

    def __init__(self, rnd, content):
        self.rnd = rnd
        csv = content.format == "csv"
        self.delimiter = b"," if csv else b"\t"
        self.quote = b'"' if csv else b""
        self.backslash = False
        if rnd.random() < 0.5:
            self.delimiter = rnd.choice([b";", b"|", b":", b"\t", b" ", b"\x01"])
            content.options += ["-d", "\\t" if self.delimiter == b"\t"
                                else self.delimiter.decode()]
        if rnd.random() < 0.4:
            self.quote = rnd.choice([b"'", b"%", b""] if csv else [b'"', b"'"])
            content.options += ["--quote", self.quote.decode() or "none"]
        if self.quote and rnd.random() < 0.4:
            self.backslash = True
            content.options += ["--escape", "backslash"]
        self.end_kind, self.end = line_end(rnd, content)

    def value(self, lone_cr):
        """Bytes that a field of this file can have."""
        without = b"" if self.quote else self.delimiter + b"\r\n"
        if not lone_cr:
            without += b"\r"
        if not self.quote and self.end_kind == "cr":
            without = without.replace(b"\n", b"")
        return any_bytes(self.rnd, without)

    def bare(self, value, starts_field):
        """Unquoted, or None: not possible."""
        line_end_bytes = b"\r" if self.end_kind == "cr" else b"\n"
        if any(c in value for c in line_end_bytes) or value.endswith(b"\r"):
            return None
        if self.backslash:
            if b"\r\\" in value or b"\r" in value or b"\n" in value:
                return None
            return re.sub(b"([\\\\%s%s])" % (re.escape(self.delimiter),
                                             re.escape(self.quote)),
                          rb"\\\1", value)
        if self.delimiter in value:
            return None
        if starts_field and self.quote and value.startswith(self.quote):
            return None
        return value

    def quoted(self, value):
        if self.backslash:
            inner = value.replace(b"\\", b"\\\\").replace(
                self.quote, b"\\" + self.quote)
        else:
            inner = value.replace(self.quote, self.quote * 2)
        return self.quote + inner + self.quote

    def write(self, value):
        """A field: bare, quoted, or with bytes behind the closing quote."""
        bare = self.bare(value, True)
        if not self.quote or (bare is not None and self.rnd.random() < 0.6):
            return bare
        if value and self.rnd.random() < 0.15:
            cut = self.rnd.randrange(len(value))
            rest = self.bare(value[cut:], False)
            if rest is not None and not rest.startswith(self.quote):
                return self.quoted(value[:cut]) + rest
        return self.quoted(value)

    def row(self, values):
        return self.delimiter.join(self.write(v) for v in values)


COLUMNS = ["id", "user id", "Id", "7", "42", "naïve", "a.b", "x=y", "name",
           "ID", " pad ", "quo\"te", "com,ma", "se;mi", "ti'ck"]


def column_keys(rnd, names, fields, has_header):
    """Some columns, each by number or by name: (specifications, places)."""
    places = [rnd.randrange(fields) for _ in range(rnd.choice([1, 1, 1, 2, 3]))]
    keys = []
    for place in places:
        name = names[place]
        if not has_header or rnd.random() < 0.3:
            keys.append(str(place + 1))
        elif name.isdigit() or rnd.random() < 0.2:
            keys.append("name:" + name)
        else:
            keys.append(name)
    return keys, places


def delimited(rnd, data_format, big):
    content = Content(data_format)
    f = Fields(rnd, content)
    columns, rows = rnd.randint(1, 8), rnd.choice([1, 3, 40, 200])
    possible = [c for c in COLUMNS if f.quote or f.delimiter.decode() not in c]
    names = rnd.sample(possible, columns)
    has_header = rnd.random() < 0.7
    if rnd.random() < 0.2:
        content.data += BOM
    if has_header:
        content.data += f.row([n.encode() for n in names]) + f.end()
    else:
        content.options.append("--no-header")
    keys, places = column_keys(rnd, names, columns, has_header)
    separator = key_options(rnd, content, keys)
    for i in range(rows):
        values = [f.value(bool(content.records)) for _ in range(columns)]
        values[rnd.randrange(columns)] += fill(rnd, big, f.delimiter)
        if i and rnd.random() < 0.1:  # a ragged row
            values = values[:rnd.randint(1, columns)] + [b"more"] * \
                rnd.randrange(2)
        row = f.row(values)
        if not row:
            continue  # a blank line
        content.add(row, f.end() * rnd.choice([1, 1, 1, 1, 1, 2]), join(
            [values[p] if p < len(values) else b"" for p in places],
            separator))
    if content.records and rnd.random() < 0.3:
        content.cut_last_end()
    return content


# lines and fixed

EXPRESSIONS = ["id=([0-9]+)", "^([a-z]+) ", "<([^>]*)>", "([0-9]+)$",
               "key:? ?(a|b7|42)*;", "[0-9]{3,}", "(x)(y)?"]


def line_part(rnd, delimiter):
    """A specification, and what gives the key of a line."""
    kind = rnd.choice(["line", "field", "bytes", "regex"])
    if kind == "field":
        n = rnd.randint(1, 5)

        def field(line):
            fields = line.split(delimiter)
            return fields[n - 1] if len(fields) >= n else b""
        return f"field:{n}", field
    if kind == "bytes":
        first = rnd.randint(1, 12)
        last = first + rnd.choice([0, 1, 5, 1000])
        return f"bytes:{first}-{last}", lambda line: line[first - 1:last]
    if kind == "regex":
        expression = rnd.choice(EXPRESSIONS)
        compiled = re.compile(expression.replace("$", "\\Z").encode())

        def match(line):
            found = compiled.search(line)
            return (found.group(min(1, compiled.groups)) or b"") \
                if found else b""
        return "regex:" + expression, match
    return "line", lambda line: line


def text_line(rnd, end_kind, delimiter, lone_cr, big):
    without = b"\r" if end_kind == "cr" else b"\n"
    if not lone_cr:
        without += b"\r"
    line = delimiter.join(any_bytes(rnd, without) for _ in
                          range(rnd.choice([0, 1, 3, 6])))
    if rnd.random() < 0.6:
        line += rnd.choice([b"id=%d", b"<%d>", b"key:a;%d", b"abc %d",
                            b"xy%d"]) % rnd.randrange(3000)
    line += fill(rnd, big)
    return line.rstrip(b"\r")


def lines(rnd, big):
    content = Content("lines")
    end_kind, end = line_end(rnd, content)
    delimiter = rnd.choice([b"\t", b";", b" ", b"|"])
    parts = [line_part(rnd, delimiter) for _ in range(rnd.choice([1, 1, 1, 3]))]
    if any(spec.startswith("field:") for spec, _ in parts) and \
            (delimiter != b"\t" or rnd.random() < 0.5):
        content.options += ["-d", delimiter.decode()]
    separator = b"\t"
    if [spec for spec, _ in parts] != ["line"] or rnd.random() < 0.5:
        separator = key_options(rnd, content, [spec for spec, _ in parts])
    if rnd.random() < 0.2:
        content.data += BOM
    count = rnd.choice([1, 3, 50, 400])
    for i in range(count):
        line = text_line(rnd, end_kind, delimiter, i > 1 and count > 3, big)
        content.add(line, end(), join([take(line) for _, take in parts],
                                      separator))
    if content.records[-1][2] and rnd.random() < 0.3:
        content.cut_last_end()
    return content


def fixed(rnd, big):
    content = Content("fixed")
    keep = rnd.random() < 0.3
    if keep:
        content.options.append("--keep-padding")
    size = rnd.choice([0, 1, 7, 80, 300]) if not big else rnd.choice(
        [0, 100000])
    width = size or 40
    ranges = []
    for _ in range(rnd.choice([1, 1, 2])):
        first = rnd.randint(1, min(width, 30))
        ranges.append((first, min(width, first + rnd.choice([0, 3, 9]))))
    if size:
        content.options += ["--record-size", str(size)]
        end_kind, end = "none", lambda: b""
    else:
        end_kind, end = line_end(rnd, content)
    separator = key_options(rnd, content,
                            [f"bytes:{a}-{z}" for a, z in ranges])
    for i in range(rnd.choice([1, 4, 60, 300])):
        without = {"none": b"", "cr": b"\r"}.get(end_kind, b"\r\n")
        record = any_bytes(rnd, without, 30) + fill(rnd, big)
        if size:
            record = rnd.choice([record.ljust(size), record.rjust(size)])[:size]
        elif not record:
            continue
        keys = [record[a - 1:z] for a, z in ranges]
        content.add(record, end(), join(
            keys if keep else [k.strip(b" ") for k in keys], separator))
    return content


# fasta and fastq


def sequence_header(rnd, mark):
    """(line, name, header)"""
    name = bytes(c for c in any_bytes(rnd, b"\r\n\0")
                 if c not in b" \t\v\f") if rnd.random() < 0.95 else b""
    if rnd.random() < 0.5:
        name += b"%d" % rnd.randrange(1000)
    text = rnd.choice([b"", b"", b"", b" "]) + name
    if rnd.random() < 0.5:
        text += rnd.choice([b" ", b"\t", b"  "]) + any_bytes(rnd, b"\r\n")
    words = re.split(rb"[ \t\n\v\f\r]+", text.lstrip(b" \t\n\v\f\r"))
    return mark + text, words[0], text


def wrapped(rnd, letters, width):
    return [letters[i:i + width] for i in range(0, len(letters), width)] or [b""]


def sequence_content(rnd, data_format):
    """A content, the end of its lines, and what makes a key."""
    content = Content(data_format)
    kind, end = line_end(rnd, content, cr_allowed=False)
    how = rnd.choice([[], ["name"], ["header"], ["name", "header"]])
    separator = key_options(rnd, content, how) if how else b"\t"

    def key(name, header):
        return join([header if part == "header" else name
                     for part in how or ["name"]], separator)
    if rnd.random() < 0.2:
        content.data += BOM
    return content, end, key


def fasta(rnd, big):
    content, end, key = sequence_content(rnd, "fasta")
    content.data += b"".join(end() for _ in range(rnd.choice([0, 0, 2])))
    width = rnd.choice([1, 10, 60, 70, 100000])
    for _ in range(rnd.choice([1, 3, 40, 200])):
        line, name, header = sequence_header(rnd, b">")
        letters = bytes(rnd.choices(b"ACGTN-*acgt", k=rnd.choice(
            [0, 1, 59, 60, 61, 200]))) + fill(rnd, big)
        record = line
        if letters:
            for piece in wrapped(rnd, letters, width if len(letters) < 1000
                                 else 100000):
                record += end() * rnd.choice([1] * 20 + [2]) + piece.rstrip()
            record = record.rstrip(b"\r\n")
        content.add(record, end() * rnd.choice([1, 1, 1, 2, 3]) + rnd.choice(
            [b"", b"", b"", b" \t" + end()]), key(name, header))
    if rnd.random() < 0.3:
        content.cut_last_end()
    return content


def fastq(rnd, big):
    content, end, key = sequence_content(rnd, "fastq")
    width = rnd.choice([100000, 100000, 7, 60])
    for _ in range(rnd.choice([1, 3, 40, 200])):
        line, name, header = sequence_header(rnd, b"@")
        size = rnd.choice([0, 1, 20, 60, 61, 150])
        if big and rnd.random() < 0.1:
            size = rnd.randrange(400000)
        letters = bytes(rnd.choices(b"ACGTN", k=size))
        quality = bytes(rnd.choices(b"@+!I#>~", k=size))
        pieces = [line, *wrapped(rnd, letters, width),
                  b"+" + rnd.choice([b"", line[1:]]),
                  *wrapped(rnd, quality, width if rnd.random() < 0.7
                           else 100000)]
        record = b"".join(p + end() for p in pieces[:-1]) + pieces[-1]
        content.add(record, end() * rnd.choice([1, 1, 1, 2]),
                    key(name, header))
    if size and rnd.random() < 0.3:
        content.cut_last_end()
    return content


FORMATS = {"csv": lambda r, b: delimited(r, "csv", b),
           "tsv": lambda r, b: delimited(r, "tsv", b), "lines": lines,
           "jsonl": json_lines, "fasta": fasta, "fastq": fastq, "fixed": fixed}


def make(rnd, data_format, big):
    """A content that does not begin like another kind of file."""
    while True:
        content = FORMATS[data_format](rnd, big)
        if content.records and content.data[:2] not in (
                b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b") and (
                content.records[0][1] or content.data[:3] != BOM):
            return content
