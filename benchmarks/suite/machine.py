# SPDX-License-Identifier: MIT
"""What the figures were measured on."""
import os
import platform
import re
import subprocess
import time


def output(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def field(path, name):
    try:
        with open(path, encoding="utf-8") as f:
            m = re.search(rf"^{name}\s*:\s*(.*)$", f.read(), re.M)
            return m.group(1) if m else ""
    except OSError:
        return ""


def now():
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())


def describe(work, build, root):
    flags = field("/proc/cpuinfo", "flags").split()
    simd = next((name for flag, name in (("avx512bw", "AVX-512"), ("avx2", "AVX2")) if flag in flags), "no AVX2")
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as f:
        compiler = re.search(r"^CMAKE_C_COMPILER:\w+=(.*)$", f.read(), re.M).group(1)
    return {
        "processor": f"{field('/proc/cpuinfo', 'model name') or platform.machine()} ({simd})",
        "processors": os.cpu_count(),
        "memory_gib": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2 ** 30,
        "system": f"{platform.system()} {platform.release()}",
        "compiler": output(compiler, "--version").split("\n")[0],
        "filesystem": output("df", "--output=fstype", work).split("\n")[-1],
        "version": output("git", "-C", root, "describe", "--always", "--dirty") or "unknown",
        "date": now(),
    }
