#!/bin/sh
# SPDX-License-Identifier: MIT
# Leaked passwords: lines "SHA1:COUNT", as such lists are published. A filter
# answers without telling the password; an index gives the count too.
set -eu
keysieve=${KEYSIEVE:-keysieve}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

sha1() { printf %s "$1" | sha1sum | cut -c 1-40 | tr a-f A-F; }

# 31 leaked passwords among 50,000 lines that look alike.
{
    awk 'BEGIN { srand(3); for (i = 0; i < 50000; i++) {
        for (j = 0; j < 5; j++) printf "%08X", int(rand() * 4294967295)
        print ":" int(rand() * 100) + 1 } }'
    for i in $(seq 100 130); do echo "$(sha1 "password$i"):$i"; done
} | sort > leaked.txt

# Four bytes a password at one false alarm in a hundred thousand.
cut -c 1-40 leaked.txt | "$keysieve" filter create -q --fpr 0.00001 \
    -o leaked.ksf
[ "$(wc -c < leaked.ksf)" -lt $(($(wc -l < leaked.txt) * 4)) ]
sha1 password123 | "$keysieve" filter test -q leaked.ksf
if sha1 'correct horse battery staple' | "$keysieve" filter test -q leaked.ksf
then exit 1; fi

# How often, from the list itself.
"$keysieve" build -q -f lines -k bytes:1-40 leaked.txt
"$keysieve" get "$(sha1 password123)" | cut -d : -f 2 > count.txt
[ "$(cat count.txt)" = 123 ]
