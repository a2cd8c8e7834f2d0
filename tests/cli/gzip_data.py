# SPDX-License-Identifier: MIT
"""Gzip and BGZF files with everything that their formats allow."""
import struct
import zlib

STRATEGIES = [zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_HUFFMAN_ONLY,
              zlib.Z_RLE, zlib.Z_FIXED]
BGZF_END = bytes.fromhex("1f8b08040000000000ff0600424302001b00"
                         "03000000000000000000")


def header(rnd):
    """The header of a member, with random fields."""
    flags = rnd.choice([0, 0, rnd.randrange(32)])
    out = struct.pack("<2sBBIBB", b"\x1f\x8b", 8, flags,
                      rnd.choice([0, rnd.getrandbits(32)]),
                      rnd.choice([0, 2, 4]), rnd.choice([0, 3, 255]))
    if flags & 4:
        extra = b"XY" + struct.pack("<H", 6) + rnd.randbytes(6)
        out += struct.pack("<H", len(extra)) + extra
    if flags & 8:
        out += b"a name \xff\n" * rnd.randrange(3) + b"\0"
    if flags & 16:
        out += b"a comment" * rnd.randrange(200) + b"\0"
    if flags & 2:
        out += struct.pack("<H", zlib.crc32(out) & 0xFFFF)
    return out


def trailer(data):
    return struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def deflate(rnd, data):
    """A raw stream of any level, strategy, window and flushes."""
    z = zlib.compressobj(rnd.choice([-1, 0, 1, 2, 5, 6, 9]), zlib.DEFLATED,
                         -rnd.choice([9, 12, 15, 15]), rnd.randint(1, 9),
                         rnd.choice(STRATEGIES))
    if rnd.random() < 0.6:
        return z.compress(data) + z.flush()
    out, step = [], rnd.choice([100, 5000, 100000])
    for at in range(0, len(data), step):
        out.append(z.compress(data[at:at + step]))
        if rnd.random() < 0.5:
            out.append(z.flush(rnd.choice([zlib.Z_SYNC_FLUSH,
                                           zlib.Z_FULL_FLUSH,
                                           zlib.Z_PARTIAL_FLUSH])))
    return b"".join(out) + z.flush()


def cuts(rnd, size, pieces):
    """0, borders of pieces at any byte, size; a piece may be empty."""
    return [0] + sorted(rnd.randint(0, size) for _ in range(pieces - 1)) + [size]


def gzip_file(rnd, data):
    """Members cut at any byte, some empty, with zeros between and behind."""
    out = bytearray()
    borders = cuts(rnd, len(data), rnd.choice([1, 1, 2, 3, 10, 40]))
    for start, end in zip(borders, borders[1:]):
        piece = bytes(data[start:end])
        out += header(rnd) + deflate(rnd, piece) + trailer(piece)
        if rnd.random() < 0.1:
            out += header(rnd) + deflate(rnd, b"") + trailer(b"")
        if rnd.random() < 0.15:
            out += bytes(rnd.choice([1, 2, 7, 512, 70000]))
    return bytes(out)


def bgzf_block(rnd, piece):
    z = zlib.compressobj(rnd.choice([1, 6, 9]), zlib.DEFLATED, -15)
    body = z.compress(piece) + z.flush()
    if len(body) + 26 > 65536:
        z = zlib.compressobj(0, zlib.DEFLATED, -15)
        body = z.compress(piece) + z.flush()
    size = len(body) + 26
    return (bytes.fromhex("1f8b08040000000000ff06004243") +
            struct.pack("<HH", 2, size - 1) + body + trailer(piece))


def bgzf_file(rnd, data):
    """Blocks of any sizes up to the largest, empty ones too, with the end
    marker or without."""
    out, at = [], 0
    largest = rnd.choice([65280, 65280, 20000, 600])
    while at < len(data):
        size = rnd.choice([largest, rnd.randint(0, largest)])
        out.append(bgzf_block(rnd, bytes(data[at:at + size])))
        at += size
    if rnd.random() < 0.8 or not out:
        out.append(BGZF_END)
    return b"".join(out)


def mixed_file(rnd, data):
    """Blocks of BGZF and ordinary members in one file."""
    middle = rnd.randint(0, len(data))
    makers = [bgzf_file, gzip_file]
    rnd.shuffle(makers)
    return makers[0](rnd, data[:middle]) + makers[1](rnd, data[middle:])
