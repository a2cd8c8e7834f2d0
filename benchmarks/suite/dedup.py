# SPDX-License-Identifier: MIT
"""Streams of ids without duplicates: in process, as lines through the tool, and what others take."""
DAY_IDS = 864000000
DAY_SECONDS = 7200


def dedup(c):
    ids = c.records * 2
    for way in ("approximate", "exact"):
        c.part(f"dedup in process: {ids} ids a day, {way}")
        c.bench("bench_dedup", way, ids, c.work)
    c.part(f"dedup of {ids} lines, and others")
    c.bench("bench_dedup", "peers", ids, c.work, c.tool)


def day(c):
    for way in ("approximate", "exact"):
        c.part(f"dedup in process: {DAY_IDS} ids a day, {way}")
        c.bench("bench_dedup", way, DAY_IDS, c.work, prefix="day.", seconds=DAY_SECONDS)
