#!/bin/sh
# SPDX-License-Identifier: MIT
# One file without shared libraries, to be copied to a login node:
#   sh packaging/static.sh [CJSON.C]      in an empty folder; makes ./hgym-tui
# CJSON.C is the source of cJSON where it is not installed as libcjson.a.
set -eu
src=$(cd "$(dirname "$0")/.." && pwd)
cjson=$(pkg-config --static --libs libcjson)
if [ $# -gt 0 ]; then
    cc -O2 -fPIE -c "$1" -o cJSON.o
    cjson="$PWD/cJSON.o -lm"
fi
uv=$(pkg-config --static --libs libuv)
# On Debian, the static libuv has a different name from the shared one.
if [ -e "$(pkg-config --variable=libdir libuv)/libuv_a.a" ]; then
    uv=$(echo "$uv" | sed 's/-luv\>/-luv_a/')
fi
[ -x "$src/configure" ] || autoreconf -fi "$src"
"$src/configure" -q LDFLAGS=-static-pie PKG_CONFIG="pkg-config --static" \
    CJSON_LIBS="$cjson" LIBUV_LIBS="$uv"
make -s hgym-tui
strip hgym-tui
./hgym-tui --version
