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
	is "$?" 37 "$transport: the exit status of the command"
	is "$(cat "$work/out")" out "$transport: stdout"
	# Output of the login shell's startup files comes first.
	is "$(tail -n 1 "$work/err" | sed "s,^pod-a[$] ,,")" err \
		"$transport: stderr is separate"
	feed "$work/blob" | t "$transport" 'cat'
	is "$?" 0 "$transport: cat"
	check "$transport: 3 MB of all bytes in both directions" \
		cmp -s "$work/blob" "$work/out"
	t -s 7777 "$transport" "cat '$work/blob'" </dev/null
	check "$transport: a slow reader gets every byte" \
		cmp -s "$work/blob" "$work/out"
	t -n 8 -q "$transport" "cat '$work/blob'" </dev/null
	is "$(cat "$work/out")" 24000000 "$transport: eight commands at the same time"
	t "$transport" 'kill -9 $$' </dev/null
	case $transport in
	openssh*) is "$?" 255 "$transport: a killed command: exit status like ssh" ;;
	command*) is "$?" 137 "$transport: a killed command: exit status like a shell" ;;
	*)
		is "$?" 99 "$transport: killed"
		is "$(tail -n 1 "$work/err")" "t-transport: signal KILL" \
			"$transport: a killed command: the signal"
		;;
	esac
	t -c 300 "$transport" 'sleep 60' </dev/null
	is "$?" "$CANCELLED" "$transport: cancelled"
	feed "$work/blob" | t "$transport" 'head -c 10'
	is "$?" 0 "$transport: a command that does not read all of its input"
}

# Commands that start a shell: plain ones, one with a banner and a prompt, one
# in its own namespaces, one whose bytes another program copies, as `docker
# exec -i` does, and which ends with its own exit status.
shells() {
	cat >"$work/banner" <<-'EOF'
		#!/bin/sh
		printf 'Welcome to pod-a.\nhgym0123'
		echo 'Last login: never' >&2
		PS1='pod-a$ ' exec sh -i
	EOF
	cat >"$work/pump" <<-'EOF'
		#!/bin/sh
		cat | sh | cat
		exit 7
	EOF
	chmod 755 "$work/banner" "$work/pump"
	same_for_all command:sh
	same_for_all command:bash
	same_for_all "command:$work/banner"
	same_for_all "command:$work/pump"
	if busybox ash -c true 2>/dev/null; then
		same_for_all "command:busybox ash"
	fi
	if unshare -Urpf --mount-proc true 2>/dev/null; then
		same_for_all "command:unshare -Urpf --mount-proc sh"
	fi
}

# Programs that start no shell, or one that ends soon.
liars() {
	t command:/nowhere/docker 'exit 0' </dev/null
	is "$?" "$CONFIG" "a program that does not exist"
	t command:false 'exit 0' </dev/null
	is "$?" "$NET" "a program that ends at once"
	says "a program that ends at once: reported" '"false" ended with exit status 1 before a shell'
	t 'command:echo hgym no shell here' 'exit 0' </dev/null
	is "$?" "$NET" "a program that only prints"
	says "a program that only prints: its output is shown" 'no shell here'
	t command:yes 'exit 0' </dev/null
	is "$?" "$NET" "a program that prints endlessly"
	says "a program that prints endlessly: reported" "endless output and no shell prompt"
	t -c 300 'command:sleep 100' 'exit 0' </dev/null
	is "$?" "$CANCELLED" "a program that hangs can be cancelled"
	# shellcheck disable=SC2016 # for the pod's shell
	t command:sh 'echo in; kill -9 $PPID' </dev/null
	is "$?" "$NET" "a program that is killed in the middle: the connection is lost"
	is "$(cat "$work/out")" in "a program that is killed in the middle: earlier output is kept"
	cat >"$work/loud" <<-'EOF'
		#!/bin/sh
		yes noise >&2 &
		sh
		kill $!
	EOF
	chmod 755 "$work/loud"
	feed "$work/blob" | "$probe" "command:$work/loud" 'cat; exit 3' \
		2>/dev/null >"$work/out"
	is "$?" 3 "much output on stderr: the exit status arrives"
	check "much output on stderr: every byte arrives" cmp -s "$work/blob" "$work/out"
	# Sends everything at once: both marks arrive together.
	cat >"$work/late" <<-'EOF'
		#!/bin/sh
		out=$(sh)
		printf %s "$out"
	EOF
	chmod 755 "$work/late"
	for shell in sh "$work/late"; do
		t "command:$shell" 'exit 4' </dev/null
		is "$?" 4 "${shell##*/}: the exit status of the command"
		# shellcheck disable=SC2016 # for the pod's shell
		t "command:$shell" 'm=$(tr "\0" "\n" <"/proc/$PPID/cmdline" |
			grep -A1 "^hgym$" | tail -n 1)
			printf "%s%s" hgym "${m}xyz"; echo more; exit 4' \
			</dev/null
		is "$?" "$NET" \
			"${shell##*/}: a command that prints the mark is not believed"
	done
	t command:sh 'printf "hgym%s" 0123; printf hgym' </dev/null
	is "$?" 0 "output that starts like a mark"
	is "$(cat "$work/out")" hgym0123hgym "output that starts like a mark is not delayed"
}

rig "LogLevel VERBOSE"
head -c 3000000 /dev/urandom >"$work/blob"
same_for_all local
same_for_all openssh:pod
same_for_all libssh2:pod
shells
liars

# Writes of a few bytes or none: there are always partly sent packets.
smooth=$probe
probe=$build/tests/integration/t-transport-rough
same_for_all libssh2:pod
feed "$work/blob" | t -q -n 6 libssh2:pod "cat '$work/blob'; wc -c; echo e >&2"
is "$?" 0 "partial writes: six channels, both directions"
is "$(cat "$work/out")" $((6 * 3000000 + 8 + 5 * 2)) "partial writes: every byte arrives"
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
check "a client is killed: its command reads the end of its input" \
	wait_for gone "$(cat "$work/pid.out")"
done_testing
