#!/bin/sh
# SPDX-License-Identifier: MIT
# From a fresh Debian to records found by key: installs what is needed, builds,
# indexes the four registries of MAC address blocks that Debian's package
# ieee-data brings, and looks a few records up.
set -eu
cd "$(dirname "$0")/.."

tools/install-packages.sh build try
cmake -S . -B build/quickstart -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DKSV_BUILD_TESTS=OFF >build-quickstart.log 2>&1 &&
    cmake --build build/quickstart >>build-quickstart.log 2>&1 || {
    cat build-quickstart.log >&2
    exit 1
}
rm -f build-quickstart.log

keysieve=build/quickstart/keysieve
data=/usr/share/ieee-data
index=build/quickstart/ieee.keysieve

# Shows a command as one would type it, then runs it. Not finding a key is an
# answer, not a failure of this script.
show() {
    printf '\n$ keysieve'
    printf ' %s' "$@"
    printf '\n'
    "$keysieve" "$@" || [ $? -eq 1 ]
}

echo
echo "keysieve is built: $keysieve"
show build -i "$index" -k Assignment "$data"/oui.csv "$data"/mam.csv \
    "$data"/oui36.csv "$data"/iab.csv
show get -i "$index" 00D0EF
show get -i "$index" -l 0050C2
show get -i "$index" --explain 70B3D5 ABCDEF
show has -i "$index" 002272 00D0EF FFFFFF
show info -i "$index"
