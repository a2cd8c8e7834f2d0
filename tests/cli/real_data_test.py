#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real data from Debian, plain and compressed: every key with its offset, length and
bytes as the parsers of this script find them.

    FASTA        genes of python-pyfaidx-examples (plain, and BGZF as shipped),
                 transcripts of kallisto-examples
    FASTQ        reads of kallisto-examples, gzip as shipped
    lines        unicode-data's UnicodeData.txt; apt's package lists, which apt
                 downloads and keeps as gzip
    jsonl        the lists of iso-codes, a line an entry
"""
import glob
import gzip
import json
import os
import random
import re
import shutil
import subprocess

from cli_support import call, check, finish, write
from index_truth import Truth

SANITIZED = bool(os.environ.get("KSV_SANITIZE"))


def find(package, path):
    """A file of a package; where documentation is not installed, from the package
    itself."""
    if os.path.exists(path):
        return path
    if not os.path.isdir(package):
        os.mkdir(package)
        subprocess.run(["apt-get", "download", "-qq", package], cwd=package,
                       check=True)
        subprocess.run(["dpkg-deb", "-x", *glob.glob(f"{package}/*.deb"),
                        package], check=True)
    return package + path


def unpack(path):
    """The content of a file, by Python's gzip."""
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def compare(what, parse, options, files):
    """Indexes the files, (name, path or bytes), and checks every key."""
    contents, names = [], []
    for name, source in files:
        if isinstance(source, bytes):
            write(name, source)
        else:
            shutil.copy(source, name)
        data = unpack(name)
        contents.append((name, data, list(parse(data))))
        names.append(name)
    index = f"{what} ix"
    r = call("build", "-i", index, *options, *names)
    truth = Truth(what, contents, index)
    if truth.need(r.rc == 0 and not r.out, "build", r):
        truth.check_all(random.Random(what))
        r = call("verify", "-i", index, "--data")
        truth.need(r.rc == 0, "verify", r)
    records = sum(len(c[2]) for c in contents)
    print(f"{what}: {records} records, {len(truth.places)} keys in "
          f"{', '.join(names)}")
    return truth


def fasta(data):
    """Cut before each line that begins with '>'."""
    starts = [m.start() for m in re.finditer(rb"^>", data, re.M)]
    for start, end in zip(starts, starts[1:] + [len(data)]):
        record = data[start:end].rstrip()
        yield record.split()[0][1:], start, len(record)


def fastq(data):
    """Four lines a record."""
    lines = data.split(b"\n")
    check(len(lines) % 4 == 1 and lines[-1] == b"", "reads: not four lines each")
    at = 0
    for i in range(0, len(lines) - 1, 4):
        head, letters, plus, quality = lines[i:i + 4]
        check(head[:1] == b"@" and plus[:1] == b"+" and
              len(letters) == len(quality), f"reads: line {i + 1} is odd")
        length = len(head) + len(letters) + len(plus) + len(quality) + 3
        yield head[1:].split()[0], at, length
        at += length + 1


def lines_of(key_of):
    def parse(data):
        at = 0
        for line in data.splitlines(keepends=True):
            text = line.rstrip(b"\n")
            yield key_of(text) or None, at, len(text)
            at += len(line)
    return parse


def check_sequences():
    examples = "/usr/share/doc/python-pyfaidx-examples/examples"
    genes = find("python-pyfaidx-examples", f"{examples}/genes.fasta")
    blocks = find("python-pyfaidx-examples", f"{examples}/genes.fasta.gz")
    tests = "/usr/share/doc/kallisto/test"
    transcripts = find("kallisto-examples", f"{tests}/transcripts.fasta.gz")
    truth = compare("FASTA", fasta, [], [
        ("genes.fasta", genes), ("genes.fasta.gz", blocks),
        ("transcripts.fa.gz", transcripts),
        ("transcripts.fa", unpack(transcripts))])
    check(len(truth.places) > 30, f"FASTA: only {len(truth.places)} keys")
    reads = [find("kallisto-examples", f"{tests}/{name}.fastq.gz")
             for name in ("reads_1", "sc_reads_1")]
    truth = compare("FASTQ", fastq, [], [
        ("reads_1.fastq.gz", reads[0]), ("sc_reads_1.fq.gz", reads[1]),
        ("reads_1.fastq", unpack(reads[0]))])
    check(len(truth.places) > 15000, f"FASTQ: only {len(truth.places)} keys")


def check_unicode():
    path = find("unicode-data", "/usr/share/unicode/UnicodeData.txt")
    truth = compare("Unicode", lines_of(lambda line: line.split(b";")[0]),
                    ["-k", "field:1", "-d", ";"],
                    [("UnicodeData.txt", path),
                     ("UnicodeData.txt.gz", gzip.compress(unpack(path)))])
    check(len(truth.places) > 30000, f"Unicode: only {len(truth.places)} keys")


def check_iso_codes():
    """Every list of iso-codes, an entry a line, as Python's json writes it."""
    out = []
    for path in sorted(glob.glob("/usr/share/iso-codes/json/iso_*.json")):
        with open(path, encoding="utf-8") as file:
            (entries,) = json.load(file).values()
        for i, entry in enumerate(entries):
            out.append(json.dumps({"from": os.path.basename(path), **entry},
                                  ensure_ascii=i % 2 == 0))
    data = "".join(line + "\n" for line in out).encode("utf-8")
    for member in ("name", "alpha_3"):
        def key(line):
            entry = json.loads(line)
            return member in entry and "\t".join(
                (entry["from"], entry[member])).encode("utf-8")
        truth = compare(f"ISO codes by {member}", lines_of(key),
                        ["-k", "from", "-k", "/" + member],
                        [(f"{member}.jsonl", data), (
                            f"{member}.jsonl.gz", gzip.compress(data, 9))])
        check(len(truth.places) > (1000 if SANITIZED else 5000),
              f"ISO codes: only {len(truth.places)} keys")


def apt_lists():
    """Package lists as apt downloads and keeps them when told to keep gzip, else
    those it has, compressed by Python."""
    os.makedirs("lists/partial")
    options = ["Dir::State::lists=" + os.path.abspath("lists"),
               "Acquire::GzipIndexes=true", "Acquire::Languages=none",
               "Acquire::CompressionTypes::Order::=gz",
               "Acquire::IndexTargets::deb::Packages::KeepCompressedAs=gz",
               "APT::Sandbox::User=root"]
    done = subprocess.run(["apt-get", "update", "-qq", *(
        word for option in options for word in ("-o", option))],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300,
        check=False)
    found = sorted(glob.glob("lists/*Packages.gz"), key=os.path.getsize)
    if done.returncode == 0 and found:
        return found
    print("apt cannot download: the lists it has, compressed by Python")
    for path in glob.glob("/var/lib/apt/lists/*Packages*"):
        data = subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", path],
                              stdout=subprocess.PIPE, check=True).stdout
        write(f"lists/{os.path.basename(path)}.gz", gzip.compress(data))
    return sorted(glob.glob("lists/*.gz"), key=os.path.getsize)


def check_apt():
    """The lines that begin a package, by its name."""
    found = apt_lists()
    check(found, "apt has no package lists")
    small = [p for p in found if os.path.getsize(p) < 2000000]
    files = [(f"list{i}.gz", path) for i, path in enumerate(small)]
    files += [("list.plain", unpack(path)) for path in small[-1:]]

    def name(line):
        return line[9:] if line.startswith(b"Package: ") else b""
    truth = compare("apt", lines_of(name), [
        "-f", "lines", "-k", "regex:^Package: (.+)$"], files)
    check(truth.places, "apt: no package found")
    if not SANITIZED and len(found) > len(small):
        check_large_list(found[-1], name)


def check_large_list(path, name):
    """A list of some 50 MB: many spans."""
    data = unpack(path)
    records = [r for r in lines_of(name)(data) if r[0]]
    shutil.copy(path, "large.gz")
    r = call("build", "-i", "large ix", "-f", "lines", "-k",
             "regex:^Package: (.+)$", "large.gz")
    truth = Truth("apt, large", [("large.gz", data, records)], "large ix")
    if truth.need(r.rc == 0, "build", r):
        truth.check_keys()
        keys = list(truth.places)
        for asked in keys, random.Random(3).sample(keys, 200):
            r = call("get", "-i", "large ix", "--json", "-0", "-f", "-",
                     stdin=b"".join(k + b"\0" for k in asked))
            truth.check_answers(asked, r)
    print(f"apt, large: {len(data)} bytes, {len(records)} keys")


if __name__ == "__main__":
    check_sequences()
    check_unicode()
    check_iso_codes()
    check_apt()
    finish()
