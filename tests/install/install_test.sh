#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs into a fresh directory and builds programs against what is there: by
# pkg-config (shared and static), by find_package in C and C++, the example of
# the README, and a part of another CMake project.
set -eu

if [ -n "${KSV_SANITIZE:-}" ]; then
    echo "left to builds without sanitizers"
    exit 0
fi
base=$(mktemp -d)
trap 'rm -rf "$base"' EXIT
here=$KSV_SOURCE/tests/install/consumer
cc=${CC:-cc}

cmake --install "$KSV_BUILD" --prefix "$base/prefix" >/dev/null
lib=$(dirname "$(find "$base/prefix" -name libkeysieve.so)")
export LD_LIBRARY_PATH="$lib" PKG_CONFIG_PATH="$lib/pkgconfig"
# The prefix of the installed file is that of the build's configuration.
sed -i "s|^prefix=.*|prefix=$base/prefix|" "$lib/pkgconfig/keysieve.pc"

# shellcheck disable=SC2046
"$cc" -std=c11 -Wall -Werror "$here/consumer.c" -o "$base/shared" \
    $(pkg-config --cflags --libs keysieve)
"$base/shared"
# shellcheck disable=SC2046
"$cc" -std=c11 "$here/consumer.c" -o "$base/static" \
    $(pkg-config --cflags keysieve) "$lib/libkeysieve.a" \
    $(pkg-config --static --libs-only-l keysieve | sed 's/-lkeysieve//')
env -u LD_LIBRARY_PATH "$base/static"
readelf -d "$lib/libkeysieve.so" | grep -q 'SONAME.*libkeysieve\.so\.0'

cmake -S "$here" -B "$base/consumer" -G Ninja \
    -DCMAKE_PREFIX_PATH="$base/prefix" -DCMAKE_C_COMPILER="$cc" >/dev/null
cmake --build "$base/consumer" >/dev/null
for program in consumer_c consumer_static consumer_cxx embed; do
    "$base/consumer/$program"
done

# The example of the README, as it stands there.
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' \
    "$KSV_SOURCE/README.md" >"$base/example.c"
# shellcheck disable=SC2046
"$cc" -std=c11 -Wall -Wextra -Werror "$base/example.c" -o "$base/example" \
    $(pkg-config --cflags --libs keysieve)
cd "$base"
printf 'id,name\n7,seven\n8,eight\n7,sieben\n' >people.csv
./example people.csv id 7 9 >example.out
printf '7,seven\n7,sieben\n' >example.want
diff example.want example.out

[ -x "$base/prefix/bin/keysieve" ]
"$base/prefix/bin/keysieve" --version
