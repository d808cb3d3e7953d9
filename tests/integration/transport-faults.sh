#!/bin/sh
# SPDX-License-Identifier: MIT
# Servers and networks that fail: no hang, no crash, and an error with the
# reason.
# shellcheck source=tests/support/transport-lib.sh
. "${HGYM_SRC:-.}/tests/support/transport-lib.sh"

relay=$build/tests/support/relay
# A command that runs until the test has ended.
wait_for_end="while test -d '$work'; do sleep 1; done"

# Start a relay named $1 with these arguments; sets $relay_port.
start_relay() {
	name=$1
	shift
	"$relay" "$work/$name.port" "$@" &
	echo $! >"$work/$name.pid"
	wait_for test -s "$work/$name.port"
	relay_port=$(cat "$work/$name.port")
	echo "[127.0.0.1]:$relay_port $(cut -d' ' -f1,2 "$rig/hk_ed25519.pub")" \
		>>"$rig/known_hosts"
}

# Start `t` in the background on that port; its result is in $work/$1.rc.
begin() {
	id=$1
	shift
	(
		timeout -k 5 600 "$probe" -v "$@" \
			>"$work/$id.out" 2>"$work/$id.err" </dev/null
		echo $? >"$work/$id.rc.new"
		mv "$work/$id.rc.new" "$work/$id.rc"
	) &
}

# Wait for a background command: sets $got to its exit status, and its messages
# for `says`.
finish() {
	wait_for test -f "$work/$1.rc"
	got=$(cat "$work/$1.rc" 2>/dev/null)
	cp "$work/$1.err" "$work/err"
	cp "$work/$1.out" "$work/out"
}

# through ID COMMAND [OPTION...]: the same through the relay started last.
through() {
	id=$1
	shift
	command=$1
	shift
	begin "$id" -i "$rig/id_ed25519" -k "$rig/known_hosts" "$@" \
		"libssh2:$user@127.0.0.1:$relay_port" "$command"
}

# Kill the sshd of every connection before the processes below it.
kill_conns() {
	for pid in $(sh "$src/tests/support/sshd.sh" conns "$rig"); do
		grand=$(pgrep -P "$pid")
		kill -KILL "$pid" 2>/dev/null
		test -z "$grand" || kill -KILL "$grand" 2>/dev/null
	done
}

test_rubbish() {
	kinds="silence http lines long nul lie garbage old penalty escape"
	for kind in $kinds; do
		start_relay "r$kind" rubbish "$kind"
		through "r$kind" 'echo in'
	done
	for kind in $kinds; do
		finish "r$kind"
		case $got in
		"$NET" | "$TIMEOUT") pass "a server that speaks $kind: $got" ;;
		*) fail "a server that speaks $kind: $got" ;;
		esac
		kill "$(cat "$work/r$kind.pid")"
		check "$kind: the message has no control characters" \
			sh -c "! LC_ALL=C grep -q '[[:cntrl:]]' '$work/err'"
		case $kind in
		http) says "$kind: what it said" 'it sent "HTTP/1.0 400 Bad' ;;
		penalty) says "$kind: the server's reason" \
			"refuses connections from this address for a while" ;;
		esac
	done
}

test_reset() {
	start_relay reset "$port"
	through reset "echo started; $wait_for_end" -I
	wait_for grep -q started "$work/reset.out"
	kill -HUP "$(cat "$work/reset.pid")"
	finish reset
	is "$got" "$NET" "a connection reset is noticed"
	says "a connection reset: the reason is shown" "link waiting: pod: "
}

test_killed_server() {
	begin killed -I libssh2:pod "echo started; $wait_for_end"
	wait_for grep -q started "$work/killed.out"
	kill_conns
	finish killed
	is "$got" "$NET" "a killed sshd is noticed"
}

test_restart() {
	begin restart -I -r 20 libssh2:pod \
		"test -e $work/flag && echo back || { echo go; $wait_for_end; }"
	wait_for grep -q go "$work/restart.out"
	touch "$work/flag"
	sh "$src/tests/support/sshd.sh" stop "$rig"
	sleep 1
	sh "$src/tests/support/sshd.sh" restart "$rig"
	finish restart
	is "$got" 0 "a server that comes back is connected again"
	is "$(tail -n 1 "$work/out")" back "a server that comes back runs the command"
}

test_black_holes() {
	start_relay hole "$port"
	kill -USR1 "$(cat "$work/hole.pid")"
	through stop 'echo in' -I -c 2000
	finish stop
	is "$got" "$CANCELLED" "a command is cancelled during the connection"
	start_relay thaw "$port"
	through thaw 'echo in; sleep 2; echo out' -n 2
	wait_for grep -q in "$work/thaw.out"
	kill -USR1 "$(cat "$work/thaw.pid")"
	sleep 3
	kill -USR2 "$(cat "$work/thaw.pid")"
	finish thaw
	is "$got" 0 "an interruption of three seconds loses no byte"
	is "$(grep -c out "$work/out")" 2 "an interruption of three seconds: both lines arrive"
}

# Run one of the functions above: its program takes the time from a clock.
with_clock() {
	forward 0
	export HGYM_TUI_TEST_CLOCK="$work/clock"
	"$@"
	unset HGYM_TUI_TEST_CLOCK
}

forward() { python3 "$src/tests/support/clock.py" "$work/clock" "$1"; }

# Advance the clock until the command of that name ends. Sets $silent to the seconds
# from its last output (mtime of $1.out) to its report (mtime of $1.err).
forward_until_end() {
	silent=0
	until test -f "$work/$1.rc" || test "$silent" -ge 300; do
		forward 1
		silent=$((silent + 1))
	done
	finish "$1"
	silent=$((silent + $(stat -c %Y "$work/$1.err") - $(stat -c %Y "$work/$1.out")))
}

# The clock shows that the machine was suspended, and the connection is silent:
# awake of begin_waits is such a connection that still works.
test_sleep() {
	start_relay asleep "$port"
	with_clock through asleep "echo started; $wait_for_end" -I -Z 6000
	wait_for grep -q started "$work/asleep.out"
	kill -USR1 "$(cat "$work/asleep.pid")"
	forward_until_end asleep
	is "$got" "$TIMEOUT" "after a suspend a broken connection is noticed"
}

# Both directions are full on four channels while the relay stops and
# continues: partly sent packets must be sent again, and no byte may be lost.
test_stop_and_go() {
	start_relay go "$port"
	head -c 20000000 /dev/urandom >"$work/blob"
	(
		cat "$work/blob" | timeout -k 5 600 "$probe" -q -n 4 \
			-i "$rig/id_ed25519" -k "$rig/known_hosts" \
			"libssh2:$user@127.0.0.1:$relay_port" \
			"cat '$work/blob' - | cksum; cat '$work/blob'" \
			>"$work/go.out" 2>"$work/go.err"
		echo $? >"$work/go.rc.new"
		mv "$work/go.rc.new" "$work/go.rc"
	) &
	for _ in 1 2 3 4 5 6; do
		sleep 0.2
		kill -USR1 "$(cat "$work/go.pid")"
		sleep 0.4
		kill -USR2 "$(cat "$work/go.pid")"
	done
	finish go
	is "$got" 0 "a relay that stops and continues: four channels, both directions"
	sums=$(cat "$work/blob" "$work/blob" | cksum)
	sum=$(cksum <"$work/blob" | tr '\t' ' ')
	is "$(cat "$work/out")" \
		$((4 * 20000000 + ${#sums} + 1 + 3 * (${#sum} + 1))) \
		"a relay that stops and continues: every byte arrives"
}

signal_conns() {
	for pid in $2; do
		kill "-$1" "$pid" 2>/dev/null
		pkill "-$1" -P "$pid"
	done
}

# A silent command on a connection without other users: the connection sends a
# probe by itself.
test_frozen_connection() {
	with_clock begin frozen libssh2:pod "echo in; $wait_for_end"
	wait_for grep -q in "$work/frozen.out"
	pids=$(sh "$src/tests/support/sshd.sh" conns "$rig")
	signal_conns STOP "$pids"
	forward_until_end frozen
	signal_conns CONT "$pids"
	is "$got" "$TIMEOUT" "a frozen connection is noticed without other commands"
	check "a frozen connection: not before 15 s of silence, $silent s" test "$silent" -ge 14
}

# Start another server with the configuration lines in $work/$1 and an alias
# $1.
second() {
	name=$1
	shift
	sh "$src/tests/support/sshd.sh" start "$work/$name" "$@" || return 1
	sed "s/^Host pod/Host $name/" "$work/$name/ssh_config" \
		>>"$rig/ssh_config"
}

# Does this number of lines of the file contain the text?
lines_with() {
	test "$(grep -c -- "$1" "$2")" = "$3"
}

# The commands run until everything has been checked.
test_max_sessions() {
	stay="echo in; while test -e '$work/stay'; do sleep 0.1; done"
	second sessions "MaxSessions 1"
	touch "$work/stay"
	begin one -n 3 libssh2:sessions "$stay"
	check "MaxSessions 1: three commands run at the same time" \
		wait_for lines_with in "$work/one.out" 3
	rm "$work/stay"
	finish one
	is "$got" 0 "MaxSessions 1: each has its own connection"
	touch "$work/stay"
	begin many -n 9 libssh2:sessions "$stay"
	check "MaxSessions 1: at most four connections, five of nine commands fail" \
		wait_for lines_with MaxSessions "$work/many.err" 5
	rm "$work/stay"
	finish many
	is "$(grep -c in "$work/out")" 4 "MaxSessions 1: the other commands finish"
	begin again -I libssh2:sessions 'echo in'
	finish again
	is "$got" 0 "MaxSessions 1: commands one after the other work"
}

test_max_startups() {
	second startups "MaxStartups 1:100:1" "LoginGraceTime 10"
	for i in 1 2 3 4 5 6; do
		begin "up$i" -I -r 30 libssh2:startups 'echo in'
	done
	for i in 1 2 3 4 5 6; do
		finish "up$i"
		is "$got" 0 "MaxStartups 1: login $i succeeds"
	done
}

# The server changes keys every few megabytes while both directions are busy.
test_rekey() {
	test -f "$work/blob" || head -c 20000000 /dev/urandom >"$work/blob"
	cat "$work/blob" | timeout -k 5 600 "$probe" -q -n 3 libssh2:rekey \
		"cat '$work/blob'; wc -c" >"$work/out" 2>"$work/err"
	is "$?" 0 "a server that changes keys all the time"
	is "$(cat "$work/out")" $((3 * 20000000 + 9 + 2 * 2)) "a server that changes keys all the time: every byte arrives"
}

# Commands that only wait, next to the other tests, each with its own server.
# One server probes the client and closes the connection after ten seconds
# without an answer.
begin_waits() {
	second rekey "RekeyLimit 2M 2s"
	begin silence -I libssh2:rekey 'sleep 7; echo in'
	second alive "ClientAliveInterval 1" "ClientAliveCountMax 9"
	begin alive -I libssh2:alive 'sleep 14; echo in'
	second calm
	begin calm -I libssh2:calm 'sleep 14; echo in'
	begin awake -I -Z 6000 libssh2:calm 'sleep 24; echo in'
	start_relay black "$port"
	kill -USR1 "$(cat "$work/black.pid")"
	through black 'echo in'
	second stopped
	kill -STOP "$(cat "$work/stopped/sshd.pid")"
	begin halted libssh2:stopped 'echo in'
}

# waited ID NAME: a command of begin_waits ran without an interruption.
waited() {
	finish "$1"
	is "$got" 0 "$2"
	is "$(tail -n 1 "$work/out")" in "a command that waits reaches its end"
}

end_waits() {
	waited silence "keys change while nothing is sent: the connection stays"
	waited alive "the server's probes are answered"
	waited calm "a waiting connection is not closed"
	waited awake "after a suspend a working connection continues"
	finish black
	is "$got" "$TIMEOUT" "a server that never answers is noticed"
	says "a server that never answers: the failed step is named" "the SSH handshake took longer"
	finish halted
	is "$got" "$TIMEOUT" "a stopped server is noticed"
}

test_garbage_shell() {
	# shellcheck disable=SC2016
	second shell 'ForceCommand head -c 100000 /dev/urandom; echo; eval "$SSH_ORIGINAL_COMMAND"'
	t libssh2:shell 'echo in' </dev/null
	is "$?" 0 "a login shell that prints garbage first"
	is "$(tail -n 1 "$work/out")" in "a login shell that prints garbage first: the command's output follows"
}

test_rsa_server() {
	test -f "$work/hk_rsa" ||
		ssh-keygen -q -t rsa -b 2048 -N '' -f "$work/hk_rsa"
	second rsa "HostKey $work/hk_rsa"
	t libssh2:rsa 'echo in' </dev/null
	got=$?
	if test "$got" = 0; then
		pass "a server with only an RSA host key: this libssh2 supports it"
	else
		says "a server with only an RSA host key: the message has the next step" \
			'"transport": "openssh"'
	fi
	t openssh:rsa 'echo in' </dev/null
	is "$?" 0 "a server with only an RSA host key: ssh connects"
	second chacha "Ciphers chacha20-poly1305@openssh.com"
	t libssh2:chacha 'echo in' </dev/null
	check "a server with ciphers that libssh2 lacks: an error, no hang" \
		test "$?" -ne 124
}

test_openssh_faults() {
	t openssh:nobody-there.invalid 'echo in' </dev/null
	is "$?" "$NET" "openssh: unknown host name"
	: >"$work/empty"
	t -k "$work/empty" openssh:pod 'echo in' </dev/null
	is "$?" "$HOSTKEY" "openssh: unknown host key"
	ssh-keygen -q -t ed25519 -N '' -f "$work/stranger"
	t -i "$work/stranger" -k "$rig/known_hosts" \
		"openssh:$user@127.0.0.1:$port" 'echo in' </dev/null
	is "$?" "$AUTH" "openssh: a key that the server does not accept"
	begin okill -I openssh:pod "echo started; $wait_for_end"
	wait_for grep -q started "$work/okill.out"
	kill_conns
	finish okill
	is "$got" "$NET" "openssh: a killed sshd is noticed"
	t openssh:pod 'exit 255' </dev/null
	is "$?" 255 "openssh: exit status 255 of a command is not a lost connection"
}

stop_seconds() {
	for name in sessions startups rekey alive calm stopped shell rsa \
		chacha; do
		sh "$src/tests/support/sshd.sh" stop "$work/$name" 2>/dev/null
	done
}

# shellcheck disable=SC2119
rig
begin_waits
test_rubbish
test_reset
test_killed_server
test_restart
test_black_holes
test_sleep
test_stop_and_go
test_frozen_connection
test_max_sessions
test_max_startups
test_rekey
end_waits
test_garbage_shell
test_rsa_server
test_openssh_faults
stop_seconds
done_testing
