#!/bin/sh
# SPDX-License-Identifier: MIT
# Millions of names of cities: which of my names are surely wrong?
# 2.7 million, as a large gazetteer has; CITIES makes it others.
set -eu
keysieve=${KEYSIEVE:-keysieve}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

cities=${CITIES:-2700000}
[ -z "${KSV_SANITIZE:-}" ] || cities=100000

# A name of syllables for each number, all different.
awk -v n="$cities" 'BEGIN {
    split("ka lo mi nu re sa ti vo xe ya", s, " ")
    for (i = 0; i < n; i++) {
        name = ""
        for (j = i; j > 0; j = int(j / 10)) name = s[j % 10 + 1] name
        print "San " name
    }
}' > cities.txt

"$keysieve" filter create -q --fpr 0.001 -o cities.ksf cities.txt

printf 'San lomi\nSan Francisquito\nSan tivoxe\n' > mine.txt
"$keysieve" filter test -v cities.ksf mine.txt > wrong.txt || [ $? -eq 1 ]
[ "$(cat wrong.txt)" = 'San Francisquito' ]

# All that it was made of may be there, and it is small.
"$keysieve" filter test -q cities.ksf cities.txt
[ "$(wc -c < cities.ksf)" -lt $(($(wc -l < cities.txt) * 2 + 1000)) ]
