#!/bin/sh
# SPDX-License-Identifier: MIT
# Host keys, user keys and routes: which are accepted, which are refused, why.
# shellcheck source=tests/support/transport-lib.sh
. "${HGYM_SRC:-.}/tests/support/transport-lib.sh"

key=$work/key
try() {
	t -i "$rig/id_ed25519" -k "$work/known" "$@" \
		"libssh2:$user@127.0.0.1:$port" 'echo in' </dev/null
}

test_host_keys() {
	: >"$work/known"
	try
	is "$?" "$HOSTKEY" "an unknown host key is refused without a prompt"
	says "an unknown host key: the message has its fingerprint" \
		"$(ssh-keygen -lf "$rig/hk_ed25519.pub" | cut -d' ' -f2)"
	is "$(cat "$work/known")" "" "an unknown host key: it is not stored"
	try -Y
	is "$?" "$HOSTKEY" "the user answers no"
	is "$(cat "$work/known")" "" "the user answers no: the key is not stored"
	try -y
	is "$?" 0 "the user answers yes"
	is "$(cat "$work/known")" "$(cat "$rig/known_hosts")" \
		"the user answers yes: one line is stored"
	printf '# no newline here' >"$work/known"
	try -a
	is "$?" 0 "--accept-new accepts the key"
	is "$(sed -n 2p "$work/known")" "$(cat "$rig/known_hosts")" \
		"--accept-new: the key has its own line"
	is "$(wc -l <"$work/known")" 2 "--accept-new: one line is stored"
	try
	is "$?" 0 "--accept-new: then the key is known"
}

test_known_forms() {
	host="[127.0.0.1]:$port"
	good=$(cut -d' ' -f2,3 "$rig/hk_ed25519.pub" | cut -d' ' -f1)
	good="ssh-ed25519 $good"
	keep_other
	bad="ssh-ed25519 $(cut -d' ' -f2 "$work/other.pub")"

	cp "$rig/known_hosts" "$work/known"
	ssh-keygen -q -H -f "$work/known" >/dev/null 2>&1
	try
	is "$?" 0 "known_hosts: a hashed name matches"
	printf '%s\n' "[127.0.0.*]:$port $good" >"$work/known"
	try
	is "$?" 0 "known_hosts: a pattern matches"
	printf 'rubbish\n%s ssh-ed25519 !!!\n\0\001\n%s\n' "$host" \
		"foo,$host,bar $good" >"$work/known"
	try
	is "$?" 0 "known_hosts: malformed lines are skipped, lists are read"
	printf '%s\n' "!$host,* $good" >"$work/known"
	try
	is "$?" "$HOSTKEY" "known_hosts: a negated name does not match"
	printf '%s\n' "$host $bad" >"$work/known"
	try -a
	is "$?" "$HOSTKEY" "a changed key is refused, even if new keys are accepted"
	says "a changed key: the message says so" "HAS CHANGED"
	says "a changed key: the message says how to remove the old one" "ssh-keygen -R '[127.0.0.1]:$port'"
	try -y
	is "$?" "$HOSTKEY" "a changed host key: the user is not asked"
	is "$(wc -l <"$work/known")" 1 "a changed host key: nothing is stored"
	printf '%s\n' "$host $good" "@revoked * $good" >"$work/known"
	try -a
	is "$?" "$HOSTKEY" "a revoked host key is refused"
	says "a revoked host key: the message says so" "revoked"
	printf '%s\n' "@cert-authority $host $good" >"$work/known"
	try
	is "$?" "$HOSTKEY" "the key of a certificate authority is not a host key"
	printf '127.0.0.1 %s\n' "$good" >"$work/known"
	try
	is "$?" "$HOSTKEY" "a name without the port is another host"
	cp "$rig/known_hosts" "$work/known"
}

keep_other() {
	test -f "$work/other" ||
		ssh-keygen -q -t ed25519 -N '' -f "$work/other"
}

# allow KEY: only that key may log in.
allow() {
	cp "$1.pub" "$rig/authorized_keys"
}

login() {
	t -i "$key" -k "$work/known" "$@" \
		"libssh2:$user@127.0.0.1:$port" 'echo in' </dev/null
}

make_key() {
	rm -f "$key" "$key.pub"
	ssh-keygen -q -f "$key" "$@"
	allow "$key"
}

test_user_keys() {
	keep_other
	allow "$work/other"
	make_key -t ecdsa -N ''
	login
	is "$?" 0 "an ECDSA key"
	allow "$work/other"
	login
	is "$?" "$AUTH" "a key that the server does not accept"
	says "a key that the server does not accept: the message names its file" "$key"
	rm -f "$key" "$key.pub"
	login
	is "$?" "$AUTH" "a key file that does not exist"
	says "a key file that does not exist: the message says so" "no key file found"
	make_key -t ed25519 -N ''
	for mode in 644 640 601 666; do
		chmod $mode "$key"
		login
		is "$?" "$AUTH" "a key of mode $mode"
		says "a key of mode $mode: the message has the permissions" "permissions 0$mode are too open"
	done
	chmod 400 "$key"
	login
	is "$?" 0 "a key file with mode 400"
	chmod 600 "$key"
	echo nonsense >"$key"
	login
	is "$?" "$AUTH" "a key file without a key"
	says "a key file without a key: the message says so" "$key (not a private key)"
	make_key -t rsa -b 2048 -N ''
	login
	if test "$?" = 0; then
		pass "an RSA key: this libssh2 supports it"
		pass "an RSA key: no message"
	else
		says "an RSA key is refused" "ed25519 key, or"
		says "an RSA key: the message has the next step" '"transport": "openssh"'
	fi
	t -i "$key" -k "$work/known" "openssh:$user@127.0.0.1:$port" \
		'echo in' </dev/null
	is "$?" 0 "an RSA key: ssh accepts it"
}

test_encrypted() {
	make_key -t ed25519 -N 'right one'
	login
	is "$?" "$AUTH" "an encrypted key without a terminal"
	says "an encrypted key without a terminal: the message has the next step" "ssh-agent"
	login -p 'right one'
	is "$?" 0 "an encrypted key: the passphrase is requested"
	rm "$key.pub"
	login -p 'right one'
	is "$?" 0 "an encrypted key without .pub: the public key is read from the file"
	login -p wrong
	is "$?" "$AUTH" "a wrong passphrase, then none"
	says "a wrong passphrase: it is requested again" "again"
	keep_other
	allow "$work/other"
	login -p 'right one'
	is "$?" "$AUTH" "an encrypted key that the server does not accept"
	check "an encrypted key that the server does not accept: no passphrase is requested" \
		sh -c "! grep -q 'passphrase of' '$work/err'"
	make_key -t ed25519 -N 'right one' -Z chacha20-poly1305@openssh.com
	login -p 'right one'
	is "$?" "$AUTH" "a key with a cipher that libssh2 lacks"
	says "a key with a cipher that libssh2 lacks: the message has the next step" "cipher"
}

test_agent() {
	cat >"$work/agent.sh" <<-'END'
	ssh-add -q "$1" && shift && exec "$@"
	END
	make_key -t ed25519 -N ''
	agent_key=$key
	key=$work/none
	timeout 600 ssh-agent sh "$work/agent.sh" "$agent_key" \
		"$probe" -k "$work/known" \
		"libssh2:$user@127.0.0.1:$port" 'echo in' \
		>"$work/out" 2>"$work/err" </dev/null
	got=$?
	# The test's ssh_config has only an alias; the agent is ssh's default.
	is "$got" 0 "a key from the agent"
	eval "$(ssh-agent -s)" >/dev/null
	ssh-add -q "$agent_key" 2>/dev/null
	kill -STOP "$SSH_AGENT_PID"
	allow "$work/other"
	t -k "$work/known" "libssh2:$user@127.0.0.1:$port" 'echo in' </dev/null
	got=$?
	says "an agent that does not answer is named" "the agent, which does not answer"
	cat >>"$rig/ssh_config" <<-END
	Host behind
	HostName 127.0.0.1
	Port $port
	User $user
	UserKnownHostsFile $work/known
	ProxyCommand ssh -oIdentityAgent=none -W %h:%p pod
	END
	allow "$rig/id_ed25519"
	t -c 2000 libssh2:behind 'echo in' </dev/null
	quit=$?
	kill -CONT "$SSH_AGENT_PID"
	kill "$SSH_AGENT_PID"
	unset SSH_AUTH_SOCK SSH_AGENT_PID
	is "$got" "$AUTH" "an agent that does not answer: login without it"
	is "$quit" "$CANCELLED" "an agent that does not answer does not delay the end"
	key=$work/key
}

test_ways() {
	allow "$rig/id_ed25519"
	t libssh2:pod 'echo in' </dev/null
	is "$?" 0 "an alias in ssh_config"
	t -J pod -i "$rig/id_ed25519" -k "$work/known" \
		"libssh2:$user@127.0.0.1:$port" 'echo in' </dev/null
	is "$?" 0 "through a jump host"
	t -J nobody-there.invalid -i "$rig/id_ed25519" -k "$work/known" \
		"libssh2:$user@127.0.0.1:$port" 'echo in' </dev/null
	is "$?" "$NET" "through a jump host that does not exist"
	says "through a jump host: the message of its ssh is shown" "nobody-there.invalid"
	cat >>"$rig/ssh_config" <<-END
	Host viacommand
	HostName 127.0.0.1
	Port $port
	User $user
	IdentityFile $rig/id_%u_none
	IdentityFile $rig/id_ed25519
	UserKnownHostsFile $rig/known_hosts
	ProxyCommand ssh -W %h:%p pod
	Host aliased
	HostName 127.0.0.1
	HostKeyAlias the-pod
	Port $port
	User $user
	IdentityFile $rig/id_ed25519
	UserKnownHostsFile $work/alias_known
	Host deadcommand
	HostName 127.0.0.1
	UserKnownHostsFile $rig/known_hosts
	ProxyCommand echo it is down >&2; exit 3
	END
	t libssh2:viacommand 'echo in' </dev/null
	is "$?" 0 "through a ProxyCommand"
	echo "the-pod $(cut -d' ' -f1,2 "$rig/hk_ed25519.pub")" \
		>"$work/alias_known"
	t libssh2:aliased 'echo in' </dev/null
	is "$?" 0 "a HostKeyAlias is looked up without a port"
	t libssh2:deadcommand 'echo in' </dev/null
	is "$?" "$NET" "a ProxyCommand that fails"
	says "a ProxyCommand that fails: its message is shown" "it is down"
	t libssh2:nobody-there.invalid 'echo in' </dev/null
	is "$?" "$NET" "an unknown host name"
	t 'libssh2:-oProxyCommand=touch evil' 'echo in' </dev/null
	is "$?" 105 "a host name that looks like an option"
	t "libssh2:127.0.0.1:1" 'echo in' </dev/null
	is "$?" "$NET" "a port without a server"
	says "a port without a server: the message says so" "refused"
}

# A name with two addresses, the first of which does not answer: in a mount
# namespace with its own /etc/hosts.
test_addresses() {
	name="a name whose first address"
	printf '::1 two\n127.0.0.1 two\n' >"$work/hosts"
	echo "[two]:$port $(cut -d' ' -f1,2 "$rig/hk_ed25519.pub")" \
		>"$work/two_known"
	cat >"$work/two.sh" <<-'END'
	mount --bind "$1" /etc/hosts && shift || exit 77
	exec "$@"
	END
	if ! unshare -rm sh "$work/two.sh" "$work/hosts" true 2>/dev/null ||
		! python3 - 2>/dev/null <<-'END'
		import socket
		socket.socket(socket.AF_INET6).bind(("::1", 0))
		END
	then
		needs="# SKIP needs IPv6 and network namespaces (unshare)"
		pass "$name refuses $needs"
		pass "$name is silent $needs"
		pass "the first address is not waited for $needs"
		return
	fi
	before=$(date +%s)
	two
	is "$?" 0 "$name refuses"
	usual=$(($(date +%s) - before))
	cat >"$work/silent.py" <<-'END'
	import signal, socket, sys
	s = socket.socket(socket.AF_INET6)
	s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
	s.bind(("::1", int(sys.argv[1])))
	s.listen(0)
	full = [socket.socket(socket.AF_INET6) for i in range(8)]
	[f.setblocking(False) for f in full]
	[f.connect_ex(s.getsockname()) for f in full]
	open(sys.argv[2], "w").write("full")
	signal.pause()
	END
	python3 "$work/silent.py" "$port" "$work/full" &
	echo $! >"$work/silent.pid"
	wait_for test -s "$work/full"
	before=$(date +%s)
	two
	is "$?" 0 "$name is silent"
	took=$(($(date +%s) - before))
	check "the second address is tried early: $took s instead of $usual s" \
		test "$took" -lt $((15 + usual))
	kill "$(cat "$work/silent.pid")"
}

two() {
	timeout -k 5 600 unshare -rm sh "$work/two.sh" "$work/hosts" "$probe" \
		-i "$rig/id_ed25519" -k "$work/two_known" \
		"libssh2:$user@two:$port" 'echo in' \
		>"$work/out" 2>"$work/err" </dev/null
}

# A server that rejects a client for a minute after a failed login.
test_penalty() {
	name="a penalty after a failed login is named"
	if ! sh "$src/tests/support/sshd.sh" start "$work/strict" \
		"PerSourcePenalties authfail:60s min:1s" 2>/dev/null; then
		pass "$name # SKIP needs OpenSSH 9.8 or later"
		return
	fi
	for key in "$work/other" "$work/strict/id_ed25519"; do
		t -i "$key" -k "$work/strict/known_hosts" \
			"libssh2:$user@127.0.0.1:$(cat "$work/strict/port")" \
			'echo in' </dev/null
	done
	says "$name" "refuses connections from this address for a while"
}

# A server that disconnects after the first unknown key: that is its answer,
# not a broken connection.
test_one_try() {
	sh "$src/tests/support/sshd.sh" start "$work/once" "MaxAuthTries 1" ||
		return
	t -v -i "$work/other" -k "$work/once/known_hosts" \
		"libssh2:$user@127.0.0.1:$(cat "$work/once/port")" \
		'echo in' </dev/null
	is "$?" "$AUTH" "MaxAuthTries 1: a wrong key is refused"
	says "the error names the file" "accepted none of the keys: $work/other"
}

# Number of connections that the server has accepted.
count_logins() {
	grep -c "^Connection from" "$rig/log"
}

# Run a command in the background; one that fails is started again.
retry() {
	id=$1
	shift
	: >"$work/$id.err"
	timeout -k 5 600 "$probe" -v -I -R 500 -r 1000 -k "$work/known" "$@" \
		'echo in' >"$work/$id.out" 2>"$work/$id.err" </dev/null &
	pid=$!
}

has_refused() {
	test "$(grep -c "link refused" "$work/$1.err")" -ge "$2"
}

# The server accepts no key at first; then one is added on the pod.
test_late_key() {
	for transport in libssh2 openssh; do
		allow "$work/other"
		retry late -i "$rig/id_ed25519" "$transport:$user@127.0.0.1:$port"
		check "$transport: a refused key is tried again" \
			wait_for has_refused late 3
		allow "$rig/id_ed25519"
		wait "$pid"
		is "$?" 0 "$transport: it works once the pod has the key"
		is "$(cat "$work/late.out")" in "$transport: the command runs"
	done
}

# With the real interval, commands that keep failing make no more logins.
test_no_tight_loop() {
	allow "$work/other"
	before=$(count_logins)
	t -r 4 -i "$rig/id_ed25519" -k "$work/known" \
		"libssh2:$user@127.0.0.1:$port" 'echo in' </dev/null
	is "$?" "$AUTH" "a refused key fails five commands"
	is "$(($(count_logins) - before))" 1 "the server sees one login"
	allow "$rig/id_ed25519"
}

# Whatever retries a refused key must not retry a host key.
test_host_key_is_final() {
	bad="ssh-ed25519 $(cut -d' ' -f2 "$work/other.pub")"
	for line in "" "[127.0.0.1]:$port $bad"; do
		kind=${line:+changed}
		echo "$line" >"$work/known"
		before=$(count_logins)
		t -R 100 -r 6 -i "$rig/id_ed25519" -k "$work/known" \
			"libssh2:$user@127.0.0.1:$port" 'echo in' </dev/null
		is "$?" "$HOSTKEY" "${kind:-unknown} host key: refused"
		is "$(($(count_logins) - before))" 1 \
			"${kind:-unknown} host key: not tried again"
	done
	cp "$rig/known_hosts" "$work/known"
}

# shellcheck disable=SC2119
rig
test_host_keys
test_known_forms
test_user_keys
test_encrypted
test_agent
test_ways
test_addresses
test_penalty
test_one_try
test_late_key
test_no_tight_loop
test_host_key_is_final
done_testing
