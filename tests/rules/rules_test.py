#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rules of the house that a machine can check."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.environ.get("KSV_SOURCE") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("KSV_BUILD", os.path.join(ROOT, "build", "dev"))
os.chdir(ROOT)

# A folder may include itself and those in the rows above its own.
LAYERS = [["base"], ["io"], ["hash"], ["compress", "mdb"], ["filter", "table", "sorted", "btree", "catalog", "datafile"],
          ["scan", "sort", "window"],
          ["segment"], ["build", "lookup", "verify", "dedup"]]
LEVEL = {folder: i for i, row in enumerate(LAYERS) for folder in row}
# Within a row two folders never meet, except that sort and scan may be used by the row above.
OWNERS = {"xxhash.h": 1, "lmdb.h": 1, "zlib.h": 1, "regex.h": 1, "liburing.h": 1}
OS_HEADERS = {"fcntl.h", "unistd.h", "dirent.h", "time.h", "sys/stat.h", "sys/types.h", "sys/file.h", "sys/mman.h",
              "sys/random.h", "sys/uio.h", "sys/time.h"}
STANDARD = {"stddef.h", "stdint.h", "stdbool.h"}
BANNED = r"\b(malloc|calloc|realloc|free|strdup|strndup|printf|fprintf|puts|putchar|abort|exit|_exit|assert|getenv|system|setlocale)\s*\("
FILE_LINES, FUNCTION_LINES, COLUMNS = 500, 80, 80

failures = []


def check(ok, what):
    if not ok:
        failures.append(what)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def includes(text):
    return re.findall(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', text, re.M)


def code_of(text):
    """Without comments and strings."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", " ", text)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def sources():
    return sorted(glob.glob("src/*/*.[ch]"))


def benchmarks(ending):
    return sorted(glob.glob(f"benchmarks/**/*.{ending}", recursive=True))


def check_layers():
    for path in sources():
        folder = path.split("/")[1]
        check(folder in LEVEL, f"{path}: folder {folder} is in no layer")
        for kind, name in includes(read(path)):
            if kind == "<":
                continue
            target = name.split("/")[0]
            check(target in LEVEL, f'{path}: includes "{name}", which is in no layer')
            fine = target == folder or LEVEL.get(target, 99) < LEVEL.get(folder, -1)
            check(fine, f'{path}: may not include "{name}"')


def check_owners():
    seen = {}
    for path in sources():
        for kind, name in includes(read(path)):
            if kind != "<":
                continue
            if name in OWNERS:
                seen.setdefault(name, set()).add(path)
            check(name not in OS_HEADERS or path.startswith("src/io/"), f"{path}: <{name}> belongs to src/io")
            pthread_fine = path.startswith("src/base/") or path.startswith("src/io/")
            check(name != "pthread.h" or pthread_fine, f"{path}: <pthread.h> belongs to src/base")
    for name, most in OWNERS.items():
        check(len(seen.get(name, ())) <= most, f"<{name}> is included by {sorted(seen[name]) if name in seen else ''}")


def check_public_headers():
    for path in sorted(glob.glob("include/keysieve/*.h")):
        for _, name in includes(read(path)):
            check(name.startswith("keysieve/") or name in STANDARD, f"{path}: may not include {name}")
    for path in sorted(glob.glob("tools/*.[ch]")):
        for kind, name in includes(read(path)):
            inside = "/" in name and not name.startswith(("keysieve/", "sys/"))
            check(not inside, f"{path}: may not include {name}")


def check_banned():
    for path in sources():
        for m in re.finditer(BANNED, code_of(read(path))):
            where = path in ("src/base/memory.c",) and m.group(1) in ("malloc", "realloc", "free")
            check(where, f"{path}: uses {m.group(1)}()")


def check_shape():
    paths = sources() + glob.glob("include/keysieve/*.h") + glob.glob("tools/*.[ch]") + benchmarks("[ch]")
    for path in paths + glob.glob("tests/**/*.[ch]", recursive=True):
        text = read(path)
        check(text.startswith("/* SPDX-License-Identifier: MIT */\n/*"), f"{path}: no SPDX line and purpose on top")
        for i, line in enumerate(text.split("\n"), 1):
            check(len(line) <= COLUMNS or "/golden" in path or "http" in line, f"{path}:{i}: {len(line)} columns")
    for path in paths + benchmarks("py"):
        lines = read(path).count("\n")
        check(lines <= FILE_LINES, f"{path}: {lines} lines")


def check_functions():
    if not shutil.which("ctags"):
        return
    paths = [p for p in sources() + glob.glob("tools/*.c") + benchmarks("c") if p.endswith(".c")]
    out = subprocess.run(["ctags", "-f", "-", "--fields=+ne", "--c-kinds=f", *paths], stdout=subprocess.PIPE, text=True).stdout
    count = 0
    for line in out.split("\n"):
        m = re.search(r"^(\S+)\t(\S+)\t.*\tline:(\d+).*\tend:(\d+)", line)
        if m:
            count += 1
            length = int(m.group(4)) - int(m.group(3)) + 1
            check(length <= FUNCTION_LINES, f"{m.group(2)}: {m.group(1)} has {length} lines")
    check(count > 50, f"ctags found only {count} functions")


def check_format():
    if not shutil.which("clang-format"):
        return
    paths = sources() + glob.glob("include/keysieve/*.h") + glob.glob("tools/*.[ch]")
    paths += glob.glob("tests/**/*.[ch]", recursive=True) + benchmarks("[ch]")
    r = subprocess.run(["clang-format", "--dry-run", "--Werror", *paths], stderr=subprocess.PIPE, text=True)
    bad = sorted(set(re.findall(r"^(?:\S*?)([a-z]+/\S+?):\d+", r.stderr, re.M)))
    check(r.returncode == 0, f"clang-format would change: {' '.join(bad)[:400]}")


def check_headers_alone():
    with tempfile.TemporaryDirectory() as d:
        for path in sorted(glob.glob("include/keysieve/*.h") + glob.glob("src/*/*.h")):
            ways = [["gcc", "-std=c11"]]
            if path.startswith("include") and shutil.which("g++"):
                ways.append(["g++", "-std=c++11"])
            for way in ways:
                name = os.path.join(d, "alone.c" if way[0] == "gcc" else "alone.cc")
                with open(name, "w") as f:
                    f.write(f'#include "{os.path.join(ROOT, path)}"\nint alone;\n')
                defines = ["-D_GNU_SOURCE"] if path.startswith("src") else []
                r = subprocess.run([*way, "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", *defines, "-Iinclude", "-Isrc",
                                    "-fsyntax-only", name], stderr=subprocess.PIPE, text=True)
                check(r.returncode == 0, f"{path} does not compile alone with {way[0]}: {r.stderr[:300]}")


def check_symbols():
    library = os.path.join(BUILD, "src", "libkeysieve.so")
    if os.environ.get("KSV_SANITIZE") or not os.path.exists(library):
        return
    out = subprocess.run(["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE, text=True).stdout
    exported = {line.split()[-1] for line in out.splitlines()}
    for name in sorted(exported):
        check(name.startswith("ksv_"), f"the shared library exports {name}")
    archive = os.path.join(BUILD, "src", "libkeysieve.a")
    out = subprocess.run(["nm", "-g", "--defined-only", archive], stdout=subprocess.PIPE, text=True).stdout
    visible = {line.split()[-1] for line in out.splitlines() if len(line.split()) == 3}
    check(visible == exported, f"static and shared library differ: {sorted(visible ^ exported)[:10]}")
    declared = set()
    for path in glob.glob("include/keysieve/*.h"):
        declared |= set(re.findall(r"\b(ksv_\w+)\s*\(", " ".join(re.findall(r"KSV_API\b[^;{]*", code_of(read(path))))))
    check(declared and declared <= exported, f"declared but not exported: {sorted(declared - exported)}")
    check(exported <= declared, f"exported but not declared: {sorted(exported - declared)}")


def check_words():
    """The project speaks of keysieve alone."""
    out = subprocess.run(["git", "ls-files"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    for path in out.split("\n"):
        if not path.endswith((".c", ".h", ".md", ".sh", ".py", ".txt", ".json", ".1")) or "/cases/" in path:
            continue
        text = read(path) if os.path.exists(path) else ""
        for m in re.finditer(r"(?<![\w.])/(?:work|farm)/|\bTODO\b|\bFIXME\b|\bXXX\b", text):
            check(path == "tests/rules/rules_test.py", f"{path}: contains {m.group(0)!r}")


def main():
    for rule in (check_layers, check_owners, check_public_headers, check_banned, check_shape, check_functions,
                 check_format, check_headers_alone, check_symbols, check_words):
        rule()
    for f in failures[:60]:
        print("FAIL", f)
    print(f"{len(failures)} breaches of the rules")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
