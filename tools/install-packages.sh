#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Debian packages that keysieve needs, those that are missing:
#   tools/install-packages.sh build         to build the library and the tool
#   tools/install-packages.sh build try     ... and real data to try it on
#   tools/install-packages.sh build test    ... and what the tests need
#   tools/install-packages.sh build bench   ... and what keysieve is measured
#                                           against
set -eu

packages=
for purpose in "$@"; do
    case $purpose in
    build) packages="$packages gcc libc6-dev cmake ninja-build pkg-config
                     zlib1g-dev liblmdb-dev libxxhash-dev" ;;
    try) packages="$packages ieee-data" ;;
    test) packages="$packages ieee-data unicode-data iso-codes kallisto-examples
                    wamerican-huge python-pyfaidx-examples g++ clang clang-format
                    libclang-rt-14-dev libcmocka-dev python3 strace git
                    universal-ctags" ;;
    bench) packages="$packages python3 gnuplot-nox gzip tabix isal libisal-dev
                     libdeflate-dev ripgrep samtools libsqlite3-dev liblmdb-dev
                     librocksdb-dev libleveldb-dev libmtbl-dev libcdb-dev
                     libbloom-dev" ;;
    *) echo "install-packages.sh: unknown purpose: $purpose" >&2; exit 2 ;;
    esac
done

missing=
for package in $packages; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "install-packages.sh: please install as root:$missing" >&2
        exit 1
    }
    as_root=sudo
fi
echo "Installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
