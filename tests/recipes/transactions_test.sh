#!/bin/sh
# SPDX-License-Identifier: MIT
# Transaction ids: files that come day by day, some records twice. Each is
# passed on once, whatever day it comes again; awk with all ids in memory is the
# truth.
set -eu
keysieve=${KEYSIEVE:-keysieve}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# Three days of 20,000 transactions, a tenth of which have come before.
for day in 1 2 3; do
    awk -v day="$day" 'BEGIN { srand(day); print "id,amount"
        for (i = 0; i < 20000; i++) {
            n = day * 20000 + i
            if (rand() < 0.1) n = 20000 + int(rand() * (n - 20000))
            printf "T%012.0f,%d.%02d\n", n * 7919, i % 900, i % 100 } }' \
        > "day$day.csv"
done

for day in 1 2 3; do
    "$keysieve" dedup -q -f csv -k id --state seen "day$day.csv" \
        > "fresh$day.csv"
done

{ cat fresh1.csv; tail -q -n +2 fresh2.csv fresh3.csv; } > fresh.csv
awk -F , 'FNR > 1 && !seen[$1]++' day1.csv day2.csv day3.csv > expected.csv
tail -n +2 fresh.csv | cmp - expected.csv
[ "$(wc -l < expected.csv)" -lt 59000 ]

# A day that is sent again as a whole: nothing is new.
"$keysieve" dedup -q -f csv -k id --state seen day2.csv > again.csv
[ "$(tail -n +2 again.csv | wc -l)" -eq 0 ]
