#!/bin/sh
# SPDX-License-Identifier: MIT
# Click events: the first click of a visitor on an advertisement counts, those
# within the next hour do not. Time is that of the events.
set -eu
keysieve=${KEYSIEVE:-keysieve}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# A day of 40,000 clicks of 400 visitors on 20 advertisements.
awk 'BEGIN { srand(5); for (i = 0; i < 40000; i++) {
    printf "{\"ts\":%d,\"user\":{\"id\":%d},\"ad\":\"a%d\"}\n",
        1700000000 + int(i * 2.16), int(rand() * 400), int(rand() * 20) } }' \
    > clicks.jsonl

"$keysieve" dedup -q -f jsonl -k user.id -k ad --window 1h --time-field ts \
    clicks.jsonl > counted.jsonl

# The same in memory: an hour or more after a click that counted.
count='{ key = $6 " " $8
    if (!(key in last) || $3 - last[key] >= 3600) { last[key] = $3; print } }'
awk -F '[:,{}]+' "$count" clicks.jsonl | cmp - counted.jsonl
[ "$(wc -l < counted.jsonl)" -lt 39000 ]

# By filters alone, in less memory: none counts twice within the hour; what is
# lost came just after it, or by chance.
"$keysieve" dedup -q -f jsonl -k user.id -k ad --window 1h --time-field ts \
    --approximate --expect 40000 --fpr 0.001 clicks.jsonl > nearly.jsonl
awk -F '[:,{}]+' "$count" nearly.jsonl | cmp - nearly.jsonl
[ "$(wc -l < nearly.jsonl)" -gt $(($(wc -l < counted.jsonl) * 9 / 10)) ]
