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
	is "$(tail -n 1 "$work/err" | sed "s,^pod-a[$] ,,")" err \
		"$transport: stderr apart from it"
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
	command*) is "$?" 137 "$transport: killed: what a shell makes of it" ;;
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

# What brings a shell: plain ones, one with a banner and a prompt, one in
# namespaces of its own, one that another program pumps to and fro as `docker
# exec -i` does, and which ends with a status of its own.
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

# Programs that bring no shell, or not for long.
liars() {
	t command:/nowhere/docker 'exit 0' </dev/null
	is "$?" "$CONFIG" "a program that is not there"
	t command:false 'exit 0' </dev/null
	is "$?" "$NET" "one that ends at once"
	says "it is told" '"false" ended with exit status 1 before a shell'
	t 'command:echo hgym no shell here' 'exit 0' </dev/null
	is "$?" "$NET" "one that only talks"
	says "what it said" 'no shell here'
	t command:yes 'exit 0' </dev/null
	is "$?" "$NET" "one that prints and prints"
	says "that is told" "endless output and no shell prompt"
	t -c 300 'command:sleep 100' 'exit 0' </dev/null
	is "$?" "$CANCELLED" "one that hangs can be cancelled"
	# shellcheck disable=SC2016 # for the pod's shell
	t command:sh 'echo in; kill -9 $PPID' </dev/null
	is "$?" "$NET" "one that dies in the middle: the link is lost"
	is "$(cat "$work/out")" in "what came before it is kept"
	cat >"$work/loud" <<-'EOF'
		#!/bin/sh
		yes noise >&2 &
		sh
		kill $!
	EOF
	chmod 755 "$work/loud"
	feed "$work/blob" | "$probe" "command:$work/loud" 'cat; exit 3' \
		2>/dev/null >"$work/out"
	is "$?" 3 "one that floods stderr: the status comes back"
	check "and all bytes" cmp -s "$work/blob" "$work/out"
	# Gives all at once: both marks come in one piece.
	cat >"$work/late" <<-'EOF'
		#!/bin/sh
		out=$(sh)
		printf %s "$out"
	EOF
	chmod 755 "$work/late"
	for shell in sh "$work/late"; do
		t "command:$shell" 'exit 4' </dev/null
		is "$?" 4 "${shell##*/}: the status is that of the command"
		# shellcheck disable=SC2016 # for the pod's shell
		t "command:$shell" 'm=$(tr "\0" "\n" <"/proc/$PPID/cmdline" |
			grep -A1 "^hgym$" | tail -n 1)
			printf "%s%s" hgym "${m}xyz"; echo more; exit 4' \
			</dev/null
		is "$?" "$NET" \
			"${shell##*/}: a command that prints the mark gains nothing"
	done
	t command:sh 'printf "hgym%s" 0123; printf hgym' </dev/null
	is "$?" 0 "what begins like a mark"
	is "$(cat "$work/out")" hgym0123hgym "is not held back"
}

rig "LogLevel VERBOSE"
head -c 3000000 /dev/urandom >"$work/blob"
same_for_all local
same_for_all openssh:pod
same_for_all libssh2:pod
shells
liars

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
