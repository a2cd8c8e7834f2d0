#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dedup --state: runs that go on, kills at any moment, damage, locks."""
import os
import random
import resource
import shutil
import signal
import subprocess
import time

from cli_support import TOOL, call, check, expect, finish, write

# ThreadSanitizer makes a file of its own when it starts.
LEAST_ROOM = 1 if "thread" in os.environ.get("KSV_SANITIZE", "") else 0

SEED = int(os.environ.get("KSV_TEST_SEED", "1"))


def dedup(lines, *options, state="state"):
    return call("dedup", "-f", "lines", "--state", state, *options,
                stdin=b"".join(b"%s\n" % line for line in lines))


def fresh_state():
    shutil.rmtree("state", ignore_errors=True)


def check_runs_go_on(*options):
    fresh_state()
    expect("a first run", dedup([b"a", b"b", b"a"], *options), out=b"a\nb\n")
    expect("a second run", dedup([b"b", b"c"], *options), out=b"c\n")
    for i in range(12):
        word = b"w%d" % i
        expect("one of many runs", dedup([b"a", word, b"c"], *options),
               out=word + b"\n")
    expect("the last run", dedup([b"a", b"c", b"w0", b"w11"], *options),
           out=b"")


def check_mismatch():
    fresh_state()
    expect("made", dedup([b"a"], "--window", "1h"), out=b"a\n")
    before = snapshot("state")
    for options in ([], ["--window", "2h"], ["--window", "1h", "-k", "field:1",
                                             "-d", ","],
                    ["--window", "1h", "--hash", "siphash"],
                    ["--window", "1h", "--generations", "3"],
                    ["--window", "1h", "--approximate", "--expect", "9"]):
        r = expect("another state", dedup([b"b"], *options), 2, b"",
                   b"state was made with")
        check(snapshot("state") == before, "a refused state is as it was", r)
    os.makedirs("other", exist_ok=True)
    write("other/precious", b"x")
    expect("somebody else's directory", dedup([b"b"], state="other"), 2, b"",
           b"precious")
    check(os.listdir("other") == ["precious"], "a stranger's files stay")


def snapshot(directory):
    result = {}
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), "rb") as f:
            result[name] = f.read()
    return result


def restore(files):
    fresh_state()
    os.makedirs("state")
    for name, content in files.items():
        write(os.path.join("state", name), content)


def check_damage(rnd, *options):
    fresh_state()
    first = [b"k%d" % i for i in range(300)]
    expect("made", dedup(first, *options), out=b"".join(b"%s\n" % x
                                                        for x in first))
    files = snapshot("state")
    for name, content in files.items():
        if not content:
            continue
        for _ in range(12):
            at = rnd.randrange(len(content))
            bad = bytearray(content)
            bad[at] ^= 1 << rnd.randrange(8)
            restore({**files, name: bytes(bad)})
            r = dedup([b"k7", b"new"], *options)
            check(r.rc == 2 and r.out == b"" and b"keysieve: " in r.err,
                  f"{name} damaged at byte {at}", r)
            kept = snapshot("state")
            check(kept == {**files, name: bytes(bad)},
                  f"{name} damaged: nothing is changed", r)
        restore({**files, name: content[:rnd.randrange(len(content))]})
        r = dedup([b"k7", b"new"], *options)
        check(r.rc == 2 and r.out == b"", f"{name} cut short", r)
        missing = dict(files)
        del missing[name]
        restore(missing)
        if name != "state":
            r = dedup([b"k7", b"new"], *options)
            check(r.rc == 2 and r.out == b"", f"{name} missing", r)
    restore(files)
    expect("not damaged", dedup([b"k7", b"new"], *options), out=b"new\n")


def check_lock():
    fresh_state()
    with subprocess.Popen([TOOL, "dedup", "-f", "lines", "--state", "state"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as other:
        other.stdin.write(b"a\n")
        other.stdin.flush()
        check(other.stdout.readline() == b"a\n", "a line comes at once")
        expect("two at once", dedup([b"b"]), 2, b"", b"another process")
        other.stdin.close()
        check(other.wait() == 0, "the other one ends well")
    expect("after it", dedup([b"a", b"b"]), out=b"b\n")


def kill_once(rnd, feed, delay, options):
    """Returns the lines that came out before the kill."""
    with subprocess.Popen([TOOL, "dedup", "-q", "-f", "lines", "--state",
                           "state", *options], stdin=subprocess.PIPE,
                          stdout=open("out", "wb"),
                          stderr=subprocess.DEVNULL) as run:
        end = time.monotonic() + delay
        at = 0
        try:
            while time.monotonic() < end and at < len(feed):
                n = rnd.randrange(1, 2000)
                run.stdin.write(b"".join(feed[at:at + n]))
                run.stdin.flush()
                at += n
        except BrokenPipeError:
            pass
        run.send_signal(signal.SIGKILL)
        try:
            run.stdin.close()
        except BrokenPipeError:
            pass
        run.wait()
    with open("out", "rb") as f:
        return f.read()


def check_kills(rnd, rounds, *options):
    """At least once: what is fed again after a kill comes out now or came out
    before. What a run that ended well has seen never comes again."""
    fresh_state()
    keys = [b"%x\n" % rnd.randrange(1 << 40) for _ in range(40000)]
    seen = set()
    for _ in range(rounds):
        start = rnd.randrange(len(keys))
        out = kill_once(rnd, keys[start:] + keys[:start],
                        rnd.uniform(0.02, 0.25), options)
        whole = out[:out.rfind(b"\n") + 1].splitlines(True)
        check(len(set(whole)) == len(whole), "twice in one run")
        seen.update(whole)
    r = call("dedup", "-q", "-f", "lines", "--state", "state", *options,
             stdin=b"".join(keys))
    check(r.rc == 0, "the state is good after kills", r)
    seen.update(r.out.splitlines(True))
    lost = set(keys) - seen
    most = 40 if "--approximate" in options else 0
    check(len(lost) <= most, f"{len(lost)} keys were lost")
    r = call("dedup", "-q", "-f", "lines", "--state", "state", *options,
             stdin=b"".join(keys))
    check(r.rc == 0 and r.out == b"", "nothing acknowledged comes again", r)


def check_full_disk(*options):
    """What was passed before the disk was full is acknowledged or passed
    again; nothing is lost, and nothing has to be repaired."""
    lines = [b"%d" % i for i in range(20000)]
    for most in (LEAST_ROOM, 100, 5000, 100000):
        def limit(most=most):
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        fresh_state()
        done = subprocess.run(
            [TOOL, "dedup", "-q", "-f", "lines", "--state", "state",
             "--checkpoint", "500", *options],
            input=b"\n".join(lines), stdout=subprocess.PIPE, check=False,
            stderr=subprocess.PIPE, preexec_fn=limit)
        check(done.returncode == 2 and b"File too large" in done.stderr,
              f"no file above {most} bytes", done.stderr)
        first = done.stdout.split()
        check(first == lines[:len(first)], "the first ones, in order")
        r = dedup(lines, *options)
        again = r.out.split()
        check(r.rc == 0 and again == lines[len(lines) - len(again):] and
              len(first) + len(again) >= len(lines), "the others", r)
        expect("all of them", dedup(lines, *options), out=b"")


def check_interrupt():
    fresh_state()
    with subprocess.Popen([TOOL, "dedup", "-f", "lines", "--state", "state",
                           "--checkpoint", "1000000"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as run:
        run.stdin.write(b"a\nb\n")
        run.stdin.flush()
        check(run.stdout.readline() == b"a\n", "a line before the signal")
        run.send_signal(signal.SIGTERM)
        check(run.wait() == 128 + signal.SIGTERM, "status after SIGTERM")
    expect("a checkpoint before the end", dedup([b"b", b"a"]), out=b"")


RANDOM = random.Random(SEED)
APPROXIMATE = ["--approximate", "--expect", "50000", "--fpr", "1e-6"]
check_runs_go_on()
check_runs_go_on(*APPROXIMATE)
check_runs_go_on("--window", "10h")
check_mismatch()
check_damage(RANDOM)
check_damage(RANDOM, *APPROXIMATE, "--window", "1h")
check_lock()
check_interrupt()
check_full_disk()
check_full_disk("--window", "20h")
check_kills(RANDOM, 8, "--checkpoint", "500")
check_kills(RANDOM, 6, "--checkpoint", "3000,50ms", "--window", "20h")
check_kills(RANDOM, 6, "--checkpoint", "700", *APPROXIMATE)
finish()
