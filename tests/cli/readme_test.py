#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tour of the README, as it stands there: each command is run and what it prints
is compared, but for times and speeds."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOOL = os.environ["KEYSIEVE"]
ROOT = os.environ["KSV_SOURCE"]


def steps(text):
    """(command, expected output) of the blocks in which commands begin with "$ "."""
    for block in re.findall(r"^```\n(.*?)^```$", text, re.M | re.S):
        lines = block.split("\n")
        if not lines[0].startswith("$ "):
            continue
        command = None
        for line in lines[:-1]:
            if line.startswith("$ "):
                if command:
                    yield command, out
                command, out = line[2:], []
            else:
                out.append(line)
        yield command, out


def plain(lines):
    """Without what differs from run to run: times, speeds, the luck of a filter."""
    text = "\n".join(lines)
    text = re.sub(r"[0-9.]+ (ns|us|ms|s|MB/s|GB/s|kB/s)\b", r"N \1", text)
    text = re.sub(r"\(\d+ maybe, \d+ wrong\), \d+ table pages?", "(filters)", text)
    text = re.sub(r"\(\d+ kB\)", "(N kB)", text)
    # Of 46,521 keys two have the same truncated hash in one index of 60.
    text = re.sub(r"(distinct keys +)4652[01]$", r"\g<1>46521", text, flags=re.M)
    text = re.sub(r"\d+ bytes, \d+ files? opened", "reads", text)
    return sorted(text.split("\n"))


def main():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        tour = list(steps(f.read()))
    failures = [] if len(tour) >= 8 else [f"only {len(tour)} commands found in the README"]
    with tempfile.TemporaryDirectory() as base:
        os.makedirs(os.path.join(base, "bin"))
        shutil.copy(TOOL, os.path.join(base, "bin", "keysieve"))
        work = os.path.join(base, "tour")
        os.mkdir(work)
        env = dict(os.environ, PATH=os.path.join(base, "bin") + ":" + os.environ["PATH"])
        env.pop("KEYSIEVE_INDEX", None)
        status = 0
        for command, want in tour:
            command = command.replace("$?", str(status))
            r = subprocess.run(["bash", "-c", command + " 2>&1"] if "&&" not in command else ["bash", "-c", "{ " + command + "; } 2>&1"],
                               cwd=work, env=env, stdout=subprocess.PIPE)
            status = r.returncode
            got = r.stdout.decode("utf-8", "replace").split("\n")[:-1]
            if plain(got) != plain(want):
                failures.append(f"{command}\n  printed:  {got}\n  the README has: {want}")
    for f in failures:
        print("FAIL", f)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
