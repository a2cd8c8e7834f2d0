#!/bin/sh
# SPDX-License-Identifier: MIT
# Blocked addresses: a filter says at once that most visitors are not blocked,
# and an index confirms the few that may be.
set -eu
keysieve=${KEYSIEVE:-keysieve}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# 50,000 blocked addresses of 10.*, and a log of visitors of which 100 are.
awk 'BEGIN { for (i = 0; i < 50000; i++)
    printf "10.%d.%d.%d\n", i % 200, int(i / 200) % 250, i % 251 }' |
    sort -u > blocked.txt
awk 'BEGIN { for (i = 0; i < 20000; i++)
    printf "192.0.%d.%d - - \"GET / HTTP/1.1\" 200\n", i % 250, i % 256 }' \
    > access.log
awk 'NR % 500 == 0 { print $1 " - - \"GET / HTTP/1.1\" 200" }' blocked.txt \
    >> access.log

"$keysieve" filter create -q -o blocked.ksf blocked.txt
"$keysieve" build -q -f lines blocked.txt

cut -d ' ' -f 1 access.log | sort -u > visitors.txt
"$keysieve" filter test blocked.ksf visitors.txt > maybe.txt || [ $? -eq 1 ]
"$keysieve" has -f maybe.txt > sure.txt 2>/dev/null || [ $? -eq 1 ]

comm -12 blocked.txt visitors.txt | cmp - sure.txt
[ "$(wc -l < maybe.txt)" -ge "$(wc -l < sure.txt)" ]

# Tomorrow's list comes on top; no need to begin again.
echo 203.0.113.7 | "$keysieve" filter add -q blocked.ksf
echo 203.0.113.7 | "$keysieve" filter test -q blocked.ksf
