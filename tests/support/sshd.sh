#!/bin/sh
# SPDX-License-Identifier: MIT
# A real sshd on loopback for tests, as root or as an ordinary user.
#
#   sshd.sh start DIR [CONFIG-LINE...]   make keys (once) and start; 77: cannot
#   sshd.sh stop DIR                     stop it and all its connections
#   sshd.sh restart DIR                  stop, start again on the same port
#   sshd.sh conns DIR                    pids of its connections, one per line
#
# After start DIR contains: port, user, id_ed25519 (a key that may log in),
# known_hosts (the server's host keys), log, sshd.pid, ssh_config (Host pod),
# bin/ssh, which reads that configuration, and home, the home directory of
# logins.  A CONFIG-LINE has precedence over the script's own lines.
set -eu
umask 077

sshd=/usr/sbin/sshd
mode=${1:?start, stop, restart or conns}
mkdir -p "${2:?a directory}"
dir=$(cd "$2" && pwd)
shift 2

keep_key() {
	test -f "$1" || ssh-keygen -q -t "$2" -N '' -C test -f "$1"
}

# Below the range of ephemeral ports: a connection could otherwise take the
# port just when the server is restarted.
random_port() {
	low=$(cut -f1 /proc/sys/net/ipv4/ip_local_port_range || echo 32768)
	test "$low" -gt 12000 || low=60000
	od -An -N2 -tu2 /dev/urandom |
		awk -v low="$low" '{ print 10000 + $1 % (low - 10000) }'
}

make_files() {
	keep_key "$dir/hk_ed25519" ed25519
	keep_key "$dir/id_ed25519" ed25519
	test -f "$dir/authorized_keys" ||
		cp "$dir/id_ed25519.pub" "$dir/authorized_keys"
	id -un >"$dir/user"
	mkdir -p "$dir/home"
	for line in "$@"; do
		printf '%s\n' "$line"
	done >"$dir/extra"
}

write_config() {
	{
		cat "$dir/extra"
		echo "Port $1"
		echo "ListenAddress 127.0.0.1"
		grep -qi '^HostKey ' "$dir/extra" ||
			echo "HostKey $dir/hk_ed25519"
		cat <<-END
		PidFile $dir/sshd.pid
		AuthorizedKeysFile $dir/authorized_keys
		StrictModes no
		UsePAM no
		PasswordAuthentication no
		KbdInteractiveAuthentication no
		PrintMotd no
		Subsystem sftp internal-sftp
		MaxStartups 200:30:400
		LogLevel VERBOSE
		# Do not run the startup files of the user's shell.
		SetEnv HOME=$dir/home
		END
		# OpenSSH 9.8 and later blocks clients after failed logins.
		if "$sshd" -t -f /dev/null -h "$dir/hk_ed25519" \
			-o PerSourcePenalties=no 2>/dev/null; then
			echo "PerSourcePenalties no"
		fi
	} >"$dir/sshd_config"
}

write_client_files() {
	{
		echo "Host pod"
		echo "HostName 127.0.0.1"
		echo "Port $1"
		echo "User $(cat "$dir/user")"
		echo "IdentityFile $dir/id_ed25519"
		echo "IdentitiesOnly yes"
		echo "IdentityAgent none"
		echo "UserKnownHostsFile $dir/known_hosts"
		echo "GlobalKnownHostsFile /dev/null"
	} >"$dir/ssh_config"
	mkdir -p "$dir/bin"
	printf '#!/bin/sh\nexec %s -F %s "$@"\n' \
		"$(PATH=/usr/bin:/bin:/usr/local/bin command -v ssh)" \
		"$dir/ssh_config" >"$dir/bin/ssh"
	chmod 700 "$dir/bin/ssh"
	sed -n 's/^HostKey \(.*\)/\1.pub/p' "$dir/sshd_config" |
		while read -r key; do
			echo "[127.0.0.1]:$1 $(cut -d' ' -f1,2 "$key")"
		done >"$dir/known_hosts"
}

# Start on that port; fails if it is in use.
try_port() {
	write_config "$1"
	rm -f "$dir/sshd.pid"
	: >"$dir/log"
	"$sshd" -f "$dir/sshd_config" -E "$dir/log" || return 1
	n=0
	while test $n -lt 1200; do
		grep -q "Server listening on" "$dir/log" &&
			test -s "$dir/sshd.pid" && return 0
		grep -q "Cannot bind" "$dir/log" && return 1
		n=$((n + 1))
		sleep 0.05
	done
	return 1
}

start() {
	test -x "$sshd" || { echo "$sshd is not installed" >&2; exit 77; }
	test "$(id -u)" != 0 || (umask 022 && mkdir -p /run/sshd)
	tries=0
	while test $tries -lt 40; do
		tries=$((tries + 1))
		port=${1:-$(random_port)}
		if try_port "$port"; then
			echo "$port" >"$dir/port"
			test -n "${1:-}" || write_client_files "$port"
			return
		fi
		test -z "${1:-}" || sleep 0.2
	done
	cat "$dir/log" >&2
	exit 77
}

# The process that talks to the client: from OpenSSH 9.8 on a child of the
# monitor.
conns() {
	test -s "$dir/sshd.pid" || return 0
	for monitor in $(pgrep -P "$(cat "$dir/sshd.pid")"); do
		pgrep -P "$monitor" -x sshd-session || echo "$monitor"
	done
}

# The processes below $1, children first.
below() {
	for child in $(pgrep -P "$1"); do
		echo "$child"
		below "$child"
	done
}

# await PID STATE...: wait until it is in one of these states of proc(5); a
# process that is gone counts as Z.
await() {
	pid=$1
	shift
	n=0
	while test $n -lt 1200; do
		state=$(sed 's/.*) //; s/ .*//' "/proc/$pid/stat" \
			2>/dev/null || :)
		state=${state:-Z}
		case " $* " in *" $state "*) return ;; esac
		n=$((n + 1))
		sleep 0.05
	done
}

# After SIGSTOP it accepts no further connections, so none is missed; when this
# returns, its port is free.
stop() {
	test -s "$dir/sshd.pid" || return 0
	server=$(cat "$dir/sshd.pid")
	kill -STOP "$server" 2>/dev/null || :
	await "$server" T Z
	all=$(below "$server")
	kill -KILL "$server" 2>/dev/null || :
	for pid in $all; do
		kill -CONT "$pid" 2>/dev/null || :
		kill -KILL "$pid" 2>/dev/null || :
	done
	await "$server" Z
	rm -f "$dir/sshd.pid"
}

case $mode in
start)
	make_files "$@"
	start
	;;
stop) stop ;;
restart)
	stop
	start "$(cat "$dir/port")"
	;;
conns) conns ;;
*)
	echo "sshd.sh: $mode: start, stop, restart or conns" >&2
	exit 2
	;;
esac
