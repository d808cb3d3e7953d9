#!/bin/sh
# SPDX-License-Identifier: MIT
# `make bench`: every bench-*.sh and bench-*.py beside this file, in turn.
# Measures and prints; judges nothing, and is no part of make check.
set -u
status=0
for bench in "${HGYM_SRC:?}"/tests/bench/bench-*; do
    echo "== ${bench##*/}"
    case $bench in
    *.py) nice python3 "$bench" || status=1 ;;
    *.sh) nice sh "$bench" || status=1 ;;
    esac
done
exit $status
