#!/bin/sh
# SPDX-License-Identifier: MIT
# Commands over each transport against a real sshd on loopback.
# shellcheck source=tests/support/transport-lib.sh
. "${HGYM_SRC:-.}/tests/support/transport-lib.sh"

# The probe watches its stdin: a pipe, not a file.
feed() {
	cat "$1" 2>/dev/null
}

same_for_all() {
	transport=$1
	t "$transport" 'exit 0' </dev/null
	is "$?" 0 "$transport: exit 0"
	t "$transport" 'echo out; echo err >&2; exit 37' </dev/null
	is "$?" 37 "$transport: the exit status comes back"
	is "$(cat "$work/out")" out "$transport: stdout"
	# What a login's own files say comes before.
	is "$(tail -n 1 "$work/err")" err "$transport: stderr apart from it"
	feed "$work/blob" | t "$transport" 'cat'
	is "$?" 0 "$transport: cat"
	check "$transport: 3 MB of all bytes there and back" \
		cmp -s "$work/blob" "$work/out"
	t -s 7777 "$transport" "cat '$work/blob'" </dev/null
	check "$transport: a reader that takes it in bits loses nothing" \
		cmp -s "$work/blob" "$work/out"
	t -n 8 -q "$transport" "cat '$work/blob'" </dev/null
	is "$(cat "$work/out")" 24000000 "$transport: eight at once"
	t "$transport" 'kill -9 $$' </dev/null
	case $transport in
	openssh*) is "$?" 255 "$transport: killed: what ssh makes of it" ;;
	*)
		is "$?" 99 "$transport: killed"
		is "$(tail -n 1 "$work/err")" "t-transport: signal KILL" \
			"$transport: by which signal"
		;;
	esac
	t -c 300 "$transport" 'sleep 60' </dev/null
	is "$?" "$CANCELLED" "$transport: cancelled"
	feed "$work/blob" | t "$transport" 'head -c 10'
	is "$?" 0 "$transport: a command that reads not all of its input"
}

rig "LogLevel VERBOSE"
head -c 3000000 /dev/urandom >"$work/blob"
same_for_all local
same_for_all openssh:pod
same_for_all libssh2:pod

# Sends that take a few bytes or none: half-sent packets all the time.
smooth=$probe
probe=$build/tests/integration/t-transport-rough
same_for_all libssh2:pod
feed "$work/blob" | t -q -n 6 libssh2:pod "cat '$work/blob'; wc -c; echo e >&2"
is "$?" 0 "rough sends: six channels, both ways"
is "$(cat "$work/out")" $((6 * 3000000 + 8 + 5 * 2)) "every byte came"
probe=$smooth

gone() {
	state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null)
	test "${state:-Z}" = Z
}

mkfifo "$work/silent"
exec 9<>"$work/silent"
"$probe" local 'echo $$; exec cat' <"$work/silent" >"$work/pid.out" &
pid=$!
wait_for grep -q . "$work/pid.out"
kill -KILL "$pid"
wait "$pid" 2>/dev/null
check "a killed client leaves: its command reads the end of its input" \
	wait_for gone "$(cat "$work/pid.out")"
done_testing
