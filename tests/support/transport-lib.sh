#!/bin/sh
# SPDX-License-Identifier: MIT
# For tests of the transports, which source this: a server, t-transport, TAP.
# $work is a new directory that is deleted at the end; sshd.sh explains $rig.
# shellcheck disable=SC2034 # used by those who source it
set -u
src=${HGYM_SRC:-.}
build=${HGYM_BUILD:-build}
probe=$build/tests/integration/t-transport
work=$(mktemp -d)
rig=$work/rig
count=0
failed=0
unset SSH_AUTH_SOCK
# libssh2 1.10 leaks some bytes of ECDSA keys and of encrypted keys.
printf 'leak:libssh2.so\nleak:libcrypto.so\n' >"$work/lsan"
LSAN_OPTIONS=suppressions=$work/lsan:print_suppressions=0
export LSAN_OPTIONS
# Fail fast for unknown host names, whatever the network.
LOCALDOMAIN='' RES_OPTIONS='timeout:1 attempts:1'
export LOCALDOMAIN RES_OPTIONS
# Codes of err.h as t-transport reports them: 100 + the position in the list.
CONFIG=105 NET=107 AUTH=108 HOSTKEY=109 TIMEOUT=110 CANCELLED=114 LIMIT=103

clean_up() {
	sh "$src/tests/support/sshd.sh" stop "$rig" 2>/dev/null
	for file in "$work"/*.pid "$work"/*/sshd.pid; do
		test ! -s "$file" || kill -KILL "$(cat "$file")" 2>/dev/null
	done
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Start the server; skip the test if that is impossible.
rig() {
	if ! sh "$src/tests/support/sshd.sh" start "$rig" "$@" \
		2>"$work/rig.err"; then
		sed 's/^/# /' "$work/rig.err"
		echo "1..0 # SKIP needs sshd (Debian package openssh-server)"
		exit 0
	fi
	port=$(cat "$rig/port")
	user=$(cat "$rig/user")
	PATH=$rig/bin:$PATH
	export PATH
}

# Run t-transport, for at most 600 s; its output is in $work/out and $work/err.
t() {
	timeout -k 5 "${limit:-600}" "$probe" "$@" >"$work/out" 2>"$work/err"
}

pass() {
	count=$((count + 1))
	echo "ok $count - $1"
}

fail() {
	count=$((count + 1))
	failed=$((failed + 1))
	echo "not ok $count - $1"
	test ! -s "$work/err" || head -c 2000 "$work/err" | sed 's/^/# /'
	test ! -s "$rig/log" || tail -n 20 "$rig/log" | sed 's/^/# sshd: /'
}

is() {
	if test "$1" = "$2"; then
		pass "$3"
	else
		fail "$3"
		printf '#  got: %s\n# want: %s\n' "$1" "$2" | head -c 1000
	fi
}

# check NAME COMMAND...: passes if the command succeeds.
check() {
	name=$1
	shift
	if "$@"; then
		pass "$name"
	else
		fail "$name"
	fi
}

# says NAME TEXT: the probe's stderr contains the text.
says() {
	check "$1" grep -qF -- "$2" "$work/err"
}

# Wait until the command succeeds, at least ten minutes; after one that did not,
# the script has failed already, and does not wait as long again.
patience=12000
wait_for() {
	n=0
	while ! "$@"; do
		n=$((n + 1))
		if test $n -ge $patience; then
			echo "# never came: $*"
			patience=400
			return 1
		fi
		sleep 0.05
	done
}

done_testing() {
	echo "1..$count"
	test "$failed" = 0
}
