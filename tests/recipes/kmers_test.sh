#!/bin/sh
# SPDX-License-Identifier: MIT
# DNA: which reads share k-mers (words of K bases) with a reference? The filter
# holds those of the reference on both strands.
set -eu
keysieve=${KEYSIEVE:-keysieve}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# A random reference of 20,000 bases in FASTA; two reads of it, one of them of
# the other strand, and one of elsewhere.
awk 'BEGIN { srand(7); print ">reference"
    for (i = 0; i < 20000; i++) {
        printf "%s", substr("ACGT", int(rand() * 4) + 1, 1)
        if (i % 60 == 59) print ""
    }
    print "" }' > reference.fa
base=$(grep -v '>' reference.fa | tr -d '\n')
{
    echo '>forward'; echo "$base" | cut -c 5001-5100
    echo '>reverse'; echo "$base" | cut -c 9001-9100 | rev | tr ACGT TGCA
    echo '>foreign'; echo "$base" | cut -c 1-100 | tr ACGT CATG
} > reads.fa

# The k-mers of a FASTA file: NAME, tab, k-mer.
kmers() {
    awk -v k=21 '
        function flush(i) {
            for (i = 1; i <= length(s) - k + 1; i++)
                print name "\t" substr(s, i, k)
            s = ""
        }
        /^>/ { flush(); name = substr($1, 2); next }
        { s = s toupper($0) }
        END { flush() }' "$1"
}

kmers reference.fa | cut -f 2 > forward.txt
rev forward.txt | tr ACGT TGCA | cat forward.txt - |
    "$keysieve" filter create -q --fpr 0.0001 -o reference.ksf

# How many k-mers of each read may be the reference's?
kmers reads.fa > reads.txt
cut -f 2 reads.txt | "$keysieve" filter test reference.ksf > shared.txt ||
    [ $? -eq 1 ]
awk -F '\t' 'NR == FNR { shared[$1]; next } $2 in shared { n[$1]++ }
    END { for (r in n) if (n[r] > 70) print r }' shared.txt reads.txt |
    sort > hits.txt
printf 'forward\nreverse\n' | cmp - hits.txt
