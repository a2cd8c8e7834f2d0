# SPDX-License-Identifier: MIT
"""Data files, made once and kept in the scratch directory for later runs."""
import os
import subprocess

ENDINGS = {"csv": ".csv", "jsonl": ".jsonl", "lines": ".txt", "ordered": ".csv", "numbers": ".csv", "sha1": ".csv", "urls": ".csv",
           "short": ".csv", "long": ".csv", "fasta": ".fa"}
KEY_OPTIONS = {"lines": [], "fasta": []}


def key_options(kind):
    return KEY_OPTIONS.get(kind, ["-k", "id"])


def write(c, name, command):
    """A file that a command writes, if it is not there yet; its path."""
    path = c.path(name)
    if not os.path.exists(path):
        c.say(f"  makes {name}")
        with open(path + ".new", "wb") as f:
            subprocess.run(command, stdout=f, check=True)
        os.rename(path + ".new", path)
    return path


def data_file(c, kind, records):
    return write(c, f"{kind}-{records}{ENDINGS[kind]}",
                 [c.program("generate"), kind, str(records), str(c.options.seed)])


def key_file(c, kind, records, which, count):
    return write(c, f"{kind}-{records}-{which}-{count}.keys",
                 [c.program("generate"), kind, str(records), str(c.options.seed), which, str(count)])


def compressed_file(c, kind, records, compressor, ending):
    plain = data_file(c, kind, records)
    return write(c, os.path.basename(plain) + ending, [*compressor, plain])


def index(c, kind, data, name, *options):
    """Builds an index without measuring; its path."""
    c.remove(name)
    subprocess.run([c.tool, "build", "-q", "-i", c.path(name), *key_options(kind), *options, data], check=True, cwd=c.work)
    return c.path(name)
