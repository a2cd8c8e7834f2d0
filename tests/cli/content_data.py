# SPDX-License-Identifier: MIT
"""What the generators of contents share."""

BOM = b"\xef\xbb\xbf"
WORDS = [b"a", b"b7", b"key", b"Key", b"42", b"042", b"x y", b" ", b"  z ",
         "ж".encode(), "日本".encode(), b"\xff\xfe", b"=", b"#", b"NULL",
         b"'", b'"', b'""', b",", b";", b"|", b"\t", b"\\", b"\n", b"\r",
         b"\r\n", b"\0", b"\x85", b"\x0b", BOM]


class Content:
    """Bytes, and the records that were put into them."""

    def __init__(self, data_format, options=()):
        self.format = data_format
        self.options = list(options)
        self.data = bytearray()
        self.records = []  # (key or None, offset, length)

    def add(self, record, end, key):
        """Appends a record and the bytes between it and the next."""
        self.records.append((key, len(self.data), len(record)))
        self.data += record + end

    def cut_last_end(self):
        _, offset, length = self.records[-1]
        del self.data[offset + length:]


def any_bytes(rnd, without=b"", longest=8):
    """Any bytes but some, of a small world, so that keys repeat."""
    parts = [rnd.choice(WORDS) for _ in range(rnd.choice(
        [0, 1, 1, 1, 2, 3, rnd.randrange(longest + 1)]))]
    if rnd.random() < 0.5:
        parts.append(b"%d" % rnd.randrange(500))
    return bytes(c for c in b"".join(parts) if c not in without)


def fill(rnd, big, without=b""):
    """Makes contents of several MiB now and then."""
    if not big or rnd.random() < 0.9:
        return b""
    letters = bytes(rnd.choices(b"ACGT acgt0123456789", k=1000))
    return bytes(c for c in letters if c not in without) * rnd.randrange(400)


def join(parts, separator):
    return None if any(not p for p in parts) else separator.join(parts)


def key_options(rnd, content, keys):
    """-k for each part; the separator between them."""
    for key in keys:
        content.options += ["-k", key]
    separator = rnd.choice(["\t", "|", "", "<->"]) if len(keys) > 1 else "\t"
    if separator != "\t" or rnd.random() < 0.2:
        content.options += ["--key-separator", separator]
    return separator.encode()


def line_end(rnd, content, cr_allowed=True):
    """A function that gives the end of a record."""
    kind = rnd.choice(["lf", "lf", "crlf", "mixed"] + ["cr"] * cr_allowed)
    if kind == "cr":
        content.options += ["--record-end", "cr"]
    return kind, lambda: {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}.get(
        kind) or rnd.choice([b"\n", b"\r\n"])
