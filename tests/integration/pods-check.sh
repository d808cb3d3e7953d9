#!/bin/sh
# SPDX-License-Identifier: MIT
# `pods check` with real SSH servers and a fake nvidia-smi.
# shellcheck source=tests/support/transport-lib.sh
. "${HGYM_SRC:-.}/tests/support/transport-lib.sh"

tui=${HGYM_TUI:-$build/hgym-tui}

# Start another server with the configuration lines of stdin and an alias for
# it.
server() {
	name=$1
	shift
	sh "$src/tests/support/sshd.sh" start "$work/$name" "$@" || return 1
	sed -e "s/^Host pod/Host $name/" \
		-e "s,^UserKnownHostsFile .*,UserKnownHostsFile $rig/known_hosts," \
		"$work/$name/ssh_config" >>"$rig/ssh_config"
	cat "$work/$name/known_hosts" >>"$rig/known_hosts"
}

# Start a server whose nvidia-smi is the script on stdin.
gpu_server() {
	name=$1
	mkdir -p "$work/$name-bin"
	{
		echo '#!/bin/sh'
		cat
	} >"$work/$name-bin/nvidia-smi"
	chmod 755 "$work/$name-bin/nvidia-smi"
	server "$name" "SetEnv PATH=$work/$name-bin:$PATH"
}

pod() {
	printf '{"name":"%s","ssh":"%s","logs":["/tmp/none.log"]%s}' \
		"$1" "$2" "${3:-}"
}

write_config() {
	{
		printf '{"schema":"hgym-tui.config/1","pods":['
		printf '%s,' "$@" | sed 's/,$//'
		printf ']}\n'
	} >"$work/config.json"
}

check_pods() {
	timeout 600 "$tui" --config "$work/config.json" pods check "$@" \
		>"$work/out" 2>"$work/err" </dev/null
}

# The value of a key in the row of a pod. "failure" leaves out processes of a
# bench: other tests may run some on this machine now.
value() {
	python3 - "$work/out" "$1" "$2" <<-'END'
	import json, sys
	for line in open(sys.argv[1]):
	    row = json.loads(line)
	    if row["pod"] != sys.argv[2]:
	        continue
	    if sys.argv[3] == "failure":
	        print(",".join(f["class"] for f in row["failures"]
	                       if "an hgym-tui bench" not in f["text"]) or None)
	    else:
	        print(row[sys.argv[3]])
	END
}

# shellcheck disable=SC2119
rig
gpu_server good <<'EOS'
case $* in
*compute-apps*) ;;
*) echo "0, NVIDIA H100 80GB HBM3, 81559, 4, 0, 570.124.06" ;;
esac
EOS
gpu_server busy <<'EOS'
case $* in
*compute-apps*) echo "4242, 20480, python3" ;;
*) echo "0, NVIDIA H100 80GB HBM3, 81559, 20484, 99, 570.124.06" ;;
esac
EOS
gpu_server hidden <<'EOS'
case $* in
*compute-apps*) ;;
*) echo "0, NVIDIA H100 80GB HBM3, 81559, 4, 0, 570.124.06"
   echo "1, NVIDIA H100 80GB HBM3, 81559, 70000, 0, 570.124.06" ;;
esac
EOS
gpu_server broken <<'EOS'
echo "NVIDIA-SMI has failed because it couldn't communicate with the driver"
exit 9
EOS
server limited "ForceCommand true"
server sick "ForceCommand echo Permission denied >&2; exit 7"
server hangs "ForceCommand sleep 300"
# shellcheck disable=SC2016 # for the server's shell
server loud 'ForceCommand yes noise | head -c 600000; eval "$SSH_ORIGINAL_COMMAND"'
server endless "ForceCommand yes noise"
server stranger
printf 'Host locked\nHostName 127.0.0.1\nPort %s\nUser %s\n' \
	"$port" "$user" >>"$rig/ssh_config"
printf 'UserKnownHostsFile %s\nIdentityFile %s\n' \
	"$rig/known_hosts" "$work/none" >>"$rig/ssh_config"
sed -i "/^\[127.0.0.1\]:$(cat "$work/stranger/port") /d" "$rig/known_hosts"

write_config "$(pod good good)" "$(pod busy busy)" "$(pod hidden hidden)" \
	"$(pod mine hidden ',"gpus":[0]')" "$(pod broken broken)" \
	"$(pod none pod)" "$(pod limited limited)" "$(pod sick sick)" \
	"$(pod stranger stranger)" "$(pod locked locked)" "$(pod dead 127.0.0.1:1)" \
	"$(pod loud loud)" "$(pod endless endless)" \
	'{"name":"here","transport":"local","logs":["/tmp/none.log"]}'

check_pods --json --min-free 0 --timeout 500
is "$?" 4 "some pods cannot be reached"
is "$(wc -l <"$work/out")" 14 "one row per pod"
sed 's/^/# /' "$work/out"
for want in good:None mine:None here:None busy:gpu hidden:gpu broken:gpu \
	none:gpu limited:environment sick:environment \
	stranger:hostkey locked:auth dead:ssh loud:gpu endless:environment; do
	is "$(value "${want%:*}" failure)" "${want#*:}" "$want"
done
is "$(value good gpu)" "NVIDIA H100 80GB HBM3" "the name of the GPU"
is "$(value good driver)" "570.124.06" "the driver of the GPU"
check "a process on the GPU is named" \
	grep -q 'python3 (pid 4242, 20480 MiB)' "$work/out"
check "a broken driver is a failure of class gpu" \
	grep -q 'nvidia-smi fails (exit status 9)' "$work/out"
check "the exit status is checked before the text" \
	grep -q 'status 7: Permission denied' "$work/out"
check "a login shell that prints endlessly is named" \
	grep -q 'printed more than 1048576 bytes before it answered' "$work/out"
check "a new host key is shown" grep -q 'not known: ssh-ed25519 SHA256:' \
	"$work/out"

write_config "$(pod good good)" "$(pod none pod)" "$(pod stranger stranger)" "$(pod hangs hangs)"
check_pods --json --timeout 2 hangs
is "$(value hangs failure)" timeout "a pod that does not answer"
HGYM_JOB='b7/3;' sleep 300 &
left=$!
wait_for grep -q HGYM_JOB "/proc/$left/environ"
check_pods --json --min-free 0 good
got=$?
is "$got" 3 "a pod that cannot be used"
check "processes of a bench are named" grep -q '"job":"b7/3;"' "$work/out"
kill "$left"
wait "$left" 2>/dev/null
check_pods --json --min-free 1e18 good
is "$(value good failure)" disk "too little space"
check_pods --json --min-free 0 --no-gpu none
is "$(value none failure)" None "no GPU is required"
check_pods --json --min-free 0 --accept-new --no-gpu stranger
is "$(value stranger failure)" None "a new host key is accepted on demand"

# Patterns of logs: one without files is a note with what the folder has.
mkdir -p "$work/logs/old" "$work/empty"
touch "$work/logs/a.log" "$work/logs/b c.log" "$work/logs/old/x.txt"
write_config "$(pod good good | sed "s,/tmp/none.log,$work/logs/*.txt,")" \
	"$(pod full good | sed "s,/tmp/none.log,$work/logs/b*.log,")" \
	"$(pod empty good | sed "s,/tmp/none.log,$work/empty/run-*.log,")"
check_pods --json --min-free 0
is "$(value good failure)" None "a pod without logs is fit for a run"
check "files that could be the logs are named" \
	grep -qF "no file matches $work/logs/*.txt (but 2 $work/logs/*.log, \
1 $work/logs/old/*.txt)" "$work/out"
check "an empty folder: no file is suggested" \
	grep -qF "no file matches $work/empty/run-*.log\"" "$work/out"
is "$(grep -c 'no file matches' "$work/out")" 2 \
	"a pattern with a file needs no note"

# init ANSWER...: run init with these answers, in its own home directory.
mkdir -p "$work/xdg"
made=$work/xdg/hgym-tui/config.json
init() {
	XDG_CONFIG_HOME=$work/xdg timeout 600 "$tui" init "$@" \
		>"$work/out" 2>"$work/err"
}
sed -i "/^\[127.0.0.1\]:$(cat "$work/stranger/port") /d" "$rig/known_hosts"
init locked "$work/logs/*.log" </dev/null
is "$?" 4 "init: a login that fails at the end of the input"
check "init prints the reason and the next step" \
	grep -q '^next: add the public key' "$work/out"
check "init writes nothing" test ! -e "$made"
printf '%s\n' locked "$work/logs/*.txt" bad/host stranger yes '' | init
is "$?" 0 "init goes on after a failed login, a wrong host and an unknown key"
check "init shows the fingerprint" grep -q 'SHA256:' "$work/out"
is "$(tr -d ' \n\t' <"$made")" '{"schema":"hgym-tui.config/1","pods":[{"name":'\
'"stranger","ssh":"stranger","logs":["'"$work"'/logs/*.log"]}]}' \
	"init offers a pattern that has files, and writes the pod"
printf '%s\n' "$work/empty/*.log" | init local "$work/empty/*.log"
is "$?" 0 "a pattern typed twice is kept, even without files"
XDG_CONFIG_HOME=$work/xdg "$tui" pods check --json --min-free 0 --no-gpu \
	local stranger >"$work/out" 2>"$work/err"
is "$(grep -c '"files":2' "$work/out")" 1 "init keeps the existing pods"

write_config "$(pod good good)"
check_pods good
check "users get a table" grep -q '^good .*570.124.06' "$work/out"
check_pods --min-free many good
is "$?" 2 "an invalid number: exit status 2"
check_pods nobody
is "$?" 2 "an unknown pod: exit status 2"
for name in good busy hidden broken limited sick hangs loud endless stranger; do
	sh "$src/tests/support/sshd.sh" stop "$work/$name"
done
done_testing
