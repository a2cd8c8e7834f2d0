#!/bin/sh
# SPDX-License-Identifier: MIT
# Spelling: the words of a text that are in no dictionary. Needs Debian's
# wamerican-huge.
set -eu
keysieve=${KEYSIEVE:-keysieve}
dictionary=${DICTIONARY:-/usr/share/dict/american-english-huge}
[ -r "$dictionary" ] || exit 77
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

"$keysieve" filter create -q --fpr 0.0001 -o words.ksf "$dictionary"

cat > text.txt <<'END'
A Bloom filter never forgets a wurd that it was told, and seldom claims to
know one that it was not: misspeled words fall through.
END
tr -cs "A-Za-z'" '\n' < text.txt | tr '[:upper:]' '[:lower:]' | sort -u |
    "$keysieve" filter test -v words.ksf > unknown.txt || [ $? -eq 1 ]
printf 'misspeled\nwurd\n' | cmp - unknown.txt
