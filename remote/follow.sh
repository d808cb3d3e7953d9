# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2004,SC2015,SC2030,SC2031,SC2086,SC2088,SC2094,SC2154
# The follower for pods without python3: POSIX sh (dash, busybox) with the tools
# listed below; remote/frame.h and follow_priv.h describe its protocol. It only
# reads logs. Chunks and requests go to a temporary directory in /dev/shm,
# TMPDIR or /tmp, which is removed at the end. A small process per log keeps the
# log open until this script exits, so that a renamed or deleted log can be read
# to its end through /proc and its inode is not reused.
# Comment lines are not sent. Indent with tabs.
set -f
umask 077
nonce=$2 T='' quiet=0 step=0.2 ids='' held='' nl='
'
dead=60000 grace=60000 most=256 limit=4096 paths_most=8192
NG=0 NF=0 ng=0 nf=0 last=0 going=0 pseq=0 cseq=0 scans=0 beat=0 heard=0
scan_at=0 text='' gone='' idle=0 live=0 n_held=0 wanted='' long='' calming=0
stale=1 busy='' tries=0 short=0
lacks=''
for x in stat dd head tail cat sort cksum mkfifo mkdir rm sleep; do
	command -v $x >/dev/null 2>&1 || lacks="$lacks $x"
done
[ -r /proc/uptime ] || lacks="$lacks /proc"
[ -n "$lacks" ] || stat -Lc %Z / >/dev/null 2>&1 || lacks=' stat (with -c)'
[ -z "$lacks" ] || {
	printf "\nHGF2 %s LACKS%s\n" "$nonce" "$lacks"
	exit 1
}
for d in /dev/shm "${TMPDIR:-/tmp}" /tmp; do
	T=$d/hgf.$nonce.$$
	mkdir -m 700 "$T" 2>/dev/null && echo 0 0 . 2>/dev/null >"$T/s" && break
	T=''
done
printf "\nHGF2 %s OK sh %s\n" "$nonce" $$
[ -n "$T" ] || { printf "E 0 28 0\n"; exit 1; }
exec 6<&0 </dev/null
mkfifo "$T/f" && exec 9<>"$T/f" 8>"$T/f" 7<"$T/f" 9<&- && rm "$T/f" || exit 1
sleep 0.01 2>/dev/null || step=1

# Read the client's lines in the background. The file s contains the numbers of
# the last ping and of the last group of requests; file cN is the group N.
{
	p=0 n=0 buf=''
	while read -r l; do
		case $l in
		P\ *) p=${l#P } ;;
		GO | A | [QBC]\ *)
			n=$((n + 1))
			printf "%s%s\n" "$buf" "$l" >"$T/c$n"
			buf=''
			;;
		*) buf=$buf$l$nl ;;
		esac
		echo "$p $n ." >"$T/s"
	done
	[ ! -e /proc/$$/fd/8 ] || kill $$
	sleep 2
	[ ! -e /proc/$$/fd/8 ] || kill -9 $$
	rm -rf "$T"
} <&6 7<&- 8>&- >/dev/null 2>&1 &
listener=$!
exec 6<&-
# Ignore signals here: one between the two steps would end the script before the
# directory is removed.
finish() {
	trap "" HUP INT TERM PIPE
	kill $listener
	rm -rf "$T"
}
trap "finish >/dev/null 2>&1" EXIT
trap "exit 0" HUP INT TERM PIPE

now_ms() {
	read -r now x </proc/uptime
	now=${now%.*}${now#*.}0
}

# Send a heartbeat if it is due: after a long silence the client would end this
# follower.
pulse() {
	now_ms
	[ $now -ge $beat ] || return
	printf "H %s %s\n" $pseq $now || exit 0
	beat=$((now + 2000))
	[ $quiet = 0 ] || beat=$((now + 3600000))
}

unescape() {
	v=$(printf '%b.' "$1")
	v=${v%.}
	case $v in "~/"*) v=$HOME/${v#"~/"} ;; esac
}

# Set $sum to the checksum of the output of "$@". If that is not $bytes bytes,
# something on the pod killed a process of the pipeline: try again. Exit after
# five attempts; the client then starts another follower.
sum_by() {
	for x in 1 2 3 4 5; do
		sum=$("$@" 2>/dev/null | cksum)
		[ "${sum##* }" != $bytes ] || break
	done
	[ "${sum##* }" = $bytes ] || exit 0
	sum=${sum%% *}
}
# Set $sum to the checksum of the first (or the last) $2 bytes of file $1.
head_sum() {
	bytes=$2
	sum_by head -c $2 "$1"
}
tail_sum() {
	bytes=$2
	sum_by tail -c $2 "$1"
}

active() {
	held='' on='' sizes='' stale=0
	for id in $ids; do
		eval "h=\$H_$id f=\${F_$id:-0} b=\$B_$id"
		[ -n "$h" ] && [ $b = 1 ] || continue
		[ $quiet = 1 ] && [ $f = 0 ] && continue
		held="$held /proc/$h/fd/3"
		on="$on $id"
	done
}

trouble() {
	eval "x=\${e_$3:-}"
	[ -n "$x" ] || printf "E %s %s %s\n%s" $1 $2 ${#4} "$4"
	eval "e_$3=1"
}

# Keep the file at path $1 open with a process; $h is its pid, or '' on failure.
# If too many are open, close the file that has not grown longest.
hold() {
	pulse
	if [ $n_held -ge $most ]; then
		x=$((now + 1)) y=''
		for id in $ids; do
			eval "h=\$H_$id w=\$W_$id g=\$J_$id"
			[ -n "$h" ] && [ -z "$g" ] && [ $w -lt $x ] || continue
			x=$w y=$id
		done
		[ -n "$y" ] || { h=''; return 1; }
		eval "let_go \$H_$y; H_$y=''"
		stale=1
	fi
	{
		{ read -r x <&7; } 8>&- >/dev/null 2>&1 &
		h=$!
	} 3<"$1" 2>/dev/null || { h=''; return 1; }
	n_held=$((n_held + 1))
}
let_go() {
	kill $1
	n_held=$((n_held - 1))
}

# Open file $1 (its id), which was closed, again; fail if its path now names
# another file.
hold_again() {
	eval "x=\$P_$1 k=\$K_$1"
	hold "$x" || return 1
	s=$(stat -Lc %d_%i /proc/$h/fd/3 2>/dev/null)
	[ "$s" = $k ] || { let_go $h; return 1; }
	eval "H_$1=$h"
	stale=1
}

# Set $real to the target of path $1 if it is a symlink, otherwise to ''.
where() {
	real=$(readlink -f "$1" 2>/dev/null && echo .)
	real=${real%"$nl".}
	case $1 in /*) full=$1 ;; *) full=$PWD/$1 ;; esac
	[ "$real" != "$full" ] && [ ${#real} -le 1000 ] || real=''
}

# start PATH KEY MTIME N|O: open the file and report it with a new id.
start() {
	[ $last -lt 65536 ] || return
	[ $live -lt $limit ] || make_room $3 || return
	eval "u_$2=$scans"
	[ ${#1} -le 1000 ] || { trouble 0 36 $2 ""; return; }
	hold "$1" || {
		[ ! -e "$1" ] || [ -r "$1" ] || trouble 0 13 $2 "$1"
		return
	}
	s=$(stat -Lc "%d_%i %s %Z" /proc/$h/fd/3 2>/dev/null)
	k=${s%% *} s=${s#* }
	eval "x=\${m_$k:-}"
	if [ "$k" != "$2" ] || [ -n "$x" ]; then
		let_go $h
		text=''
		return
	fi
	last=$((last + 1)) live=$((live + 1))
	ids="$ids $last"
	eval "m_$k=$last K_$last=$k H_$last=$h O_$last=0 V_$last=0"
	eval "S_$last=${s% *} Y_$last=$3"
	eval "P_$last=\$1 W_$last=$now e_$k='' Z_$last=\$s B_$last=0 J_$last=''"
	eval "q_$last=$scans L_$last=0 A_$last='' E_$last='' c_$last=''"
	named "$1" && eval "F_$last=1"
	where "$1"
	printf "%s %s %s:%s %s %s %s\n%s%s" $4 $last ${k%_*} ${k#*_} "$s" \
		${#1} ${#real} "$1" "$real"
}

# Make room for a file that was modified at time $1: of the files that have not
# grown for a minute, drop the one modified first, if that was before $1.
make_room() {
	x=$1 y=''
	for id in $ids; do
		eval "w=\$W_$id m=\$Y_$id"
		[ $w -ge $((now - 60000)) ] || [ $m -ge $x ] || x=$m y=$id
	done
	[ -n "$y" ] && drop $y
}

named() {
	i=0
	while [ $i -lt $NF ]; do
		i=$((i + 1))
		eval "x=\$F$i"
		[ "$x" = "$1" ] && return 0
	done
	return 1
}

# Send a preview of the end of file $1 if it has a large backlog.
preview() {
	eval "s=\$S_$1 o=\$O_$1 v=\$V_$1 h=\$H_$1 b=\$B_$1"
	[ $b = 1 ] && [ -n "$h" ] && [ $((s - o)) -gt 1048576 ] &&
		[ $s -gt $v ] || return
	at=$((s / 32768 - 1))
	dd if=/proc/$h/fd/3 bs=32768 skip=$at count=2 2>/dev/null >"$T/c"
	n=$(stat -c %s "$T/c")
	[ ${n:-0} -gt 0 ] || return
	printf "V %s %s %s\n" $1 $((at * 32768)) $n
	cat "$T/c" || exit 0
	eval "V_$1=$s"
}

drop() {
	eval "o=\$O_$1 k=\$K_$1 h=\$H_$1 b=\$B_$1" text=''
	eval "m_$k='' K_$1=''"
	[ $b = 1 ] || o=0
	printf "X %s %s\n" $1 $o
	[ -z "$h" ] || let_go $h
	live=$((live - 1))
	new='' id=$1
	for x in $ids; do [ $x = $id ] || new="$new $x"; done
	ids=$new
	new=''
	for x in $gone; do [ $x = $id ] || new="$new $x"; done
	gone=$new stale=1
}

restart() {
	printf "T %s %s\n" $1 $2
	eval "O_$1=0 L_$1=0 A_$1='' E_$1='' V_$1=0"
	o=0
}

# Copy a chunk of file $1 to $T/c, at most about 2 MiB. $n is its size. Its first
# $t bytes precede offset $o and were sent already; drain compares them.
take() {
	t=$((o < 4096 ? o : 4096))
	if [ $((s - o)) -le 65536 ] && [ $o -lt 2000000000 ]; then
		tail -c +$((o - t + 1)) "$1" 2>/dev/null >"$T/c"
		n=$(stat -c %s "$T/c")
		[ ${n:-0} -gt 262144 ] || return
	fi
	x=5
	[ $((s - o)) -lt 2097152 ] || x=33
	dd if="$1" bs=65536 skip=$(((o - t) / 65536)) count=$x 2>/dev/null |
		tail -c +$(((o - t) % 65536 + 1)) 2>/dev/null >"$T/c"
	n=$(stat -c %s "$T/c")
}

# Send $T/c without its first $t bytes as data of id $1, in frames of at most
# 256 KiB.
give() {
	if [ $((n - t)) -le 262144 ]; then
		printf "D %s %s %s\n" $1 $o $((n - t))
		tail -c +$((t + 1)) "$T/c" || exit 0
		return
	fi
	tail -c +$((t + 1)) "$T/c" >"$T/d" || exit 0
	i=0
	while [ $((i * 262144)) -lt $((n - t)) ]; do
		x=$((n - t - i * 262144))
		[ $x -le 262144 ] || x=262144
		printf "D %s %s %s\n" $1 $((o + i * 262144)) $x
		dd if="$T/d" bs=262144 skip=$i count=1 2>/dev/null || exit 0
		i=$((i + 1))
	done
}

# Are the first bytes of file $2 with id $1 unchanged? The first L bytes must
# have the checksum A. This is checked only if the file is short, or has not
# grown for a second, or D is 1.
same_head() {
	eval "l=\$L_$1 a=\$A_$1 w=\$W_$1 d=\${D_$1:-0}"
	[ $l -gt 0 ] || return 0
	[ $o -le 262144 ] || [ $d = 1 ] || [ $((now - w)) -gt 1000 ] || return 0
	eval "D_$1=0"
	head_sum $2 $l
	[ "$sum" = "$a" ]
}

# Store the checksum of the first bytes of file $2 with id $1, of which $3 bytes
# were sent. Use the copy of the first chunk for that: the file itself may have
# been rewritten since.
learn_head() {
	eval "l=\$L_$1"
	[ $l -lt 262144 ] || return
	l=$(($3 < 262144 ? $3 : 262144)) x=$2
	[ $o -gt 0 ] || x=$T/c
	head_sum "$x" $l
	eval "L_$1=$l A_$1=$sum"
}

# drain ID SIZE: send a chunk of the file; set more=1 if there is more.
drain() {
	eval "o=\$O_$1 h=/proc/\$H_$1/fd/3 z=\$E_$1 S_$1=$2"
	s=$2
	[ -n "$s" ] || return
	[ $s -ge $o ] || restart $1 $s
	[ $s -gt $o ] || return
	take $h
	# The log was truncated, a process was killed, or $T is full: try again.
	if [ ${n:-0} -le $t ]; then
		short=$((short + 1)) sizes=''
		[ $short -lt 9 ] || trouble $1 28 full_$1 ""
		return
	fi
	short=0 good=1
	if [ $t -gt 0 ] && [ -n "$z" ]; then
		head_sum "$T/c" $t
		[ "$sum" = "$z" ] || good=0
	fi
	[ $good = 1 ] && same_head $1 $h || good=0
	eval "W_$1=$now"
	if [ $good = 0 ]; then
		s=$(stat -Lc %s $h)
		restart $1 ${s:-0}
		more=1
		return
	fi
	give $1
	learn_head $1 $h $((o + n - t))
	tail_sum "$T/c" $((n < 4096 ? n : 4096))
	o=$((o + n - t))
	eval "O_$1=$o E_$1=$sum"
	[ $o -ge $s ] || more=1
}

# Send new bytes of the open files. One stat for all files shows whether
# any size changed.
poll() {
	[ $stale = 0 ] || active
	[ -n "$held" ] || return
	x=$(stat -Lc %s $held 2>/dev/null)
	[ "$x" = "$sizes" ] && [ $more = 0 ] && return
	more=0 idle=$now
	sizes=$x
	poll_ids=$on
	set -- $x
	w=0
	for id in $poll_ids; do w=$((w + 1)); done
	if [ $# -ne $w ]; then
		broken
		return
	fi
	for pid_ in $poll_ids; do
		eval "x=\$O_$pid_"
		[ $1 = $x ] || drain $pid_ $1
		shift
	done
}

# Drop open files that can no longer be read (stale handles).
broken() {
	for y in $on; do
		eval "h=\$H_$y x=\$P_$y"
		stat -Lc %s /proc/$h/fd/3 >/dev/null 2>&1 && continue
		printf "E %s 116 %s\n%s" $y ${#x} "$x"
		drop $y
	done
}

# Find the files that match the patterns and names, and report what changed.
scan() {
	scans=$((scans + 1)) scan_at=$((now + 1000)) left=0
	set --
	i=0
	while [ $i -lt $NF ]; do
		i=$((i + 1))
		eval "p=\$F$i"
		[ ! -f "$p" ] || set -- "$@" "$p"
	done
	i=0
	while [ $i -lt $NG ] && [ $quiet = 0 ]; do
		i=$((i + 1))
		eval "g=\$G$i"
		IFS=''
		set +f
		for p in $g; do
			[ -f "$p" ] || continue
			if [ $# -lt $paths_most ]; then
				set -- "$@" "$p"
			else
				left=$((left + 1))
			fi
		done
		set -f
		IFS=" $nl"
	done
	keys=''
	[ $# -eq 0 ] || keys=$(stat -Lc "%d_%i %s %Z %Y" -- "$@" 2>/dev/null)
	paths=$#
	if [ "$keys/$*" != "$text" ] || [ $going = 1 ] || [ $calming = 1 ]; then
		w=0
		for k in $keys; do w=$((w + 1)); done
		# A file disappeared during the scan: scan again at once.
		[ $w -eq $((4 * paths)) ] || { scan_at=$((now + 50)); return; }
		text=$keys/$* calming=0
		match "$@"
	fi
	for y in $ids; do preview $y; done
	age
	look_for
	[ $going = 1 ] || return
	going=0
	count_left "$@"
	printf "S %s %s\n" $live $((live + left))
}

# Add to $left the readable files for which no room was left; $@ are the paths
# of $keys. Files that could not be opened in this scan and
# second names of a file do not count.
count_left() {
	while read -r key_ x; do
		[ -n "$key_" ] || continue
		eval "x=\${m_$key_:-} y=\${u_$key_:-}"
		[ -n "$x" ] || [ "$y" = $scans ] || [ ! -r "$1" ] ||
			left=$((left + 1))
		eval "u_$key_=$scans"
		shift
	done <<END
$keys
END
}

# Compare the files found, paths $@ with a line of $keys each, with the files of the
# last scan: report changes of known files, then start new ones, newest first.
match() {
	order='' n_new=0 wake=''
	while read -r key_ size_ ctime_ mtime_; do
		[ -n "$key_" ] || continue
		eval "p_$key_=$scans id=\${m_$key_:-}"
		if [ -z "$id" ]; then
			n_new=$((n_new + 1))
			eval "NP_$n_new=\$1 NK_$n_new=$key_"
			order="$order$mtime_ $n_new$nl"
		else
			known "$1"
		fi
		shift
	done <<END
$keys
END
	for id in $ids; do
		eval "k=\$K_$id x=\${b_$id:-} f=\${F_$id:-0} g=\$J_$id"
		eval "b_$id='' x2=\${p_$k:-} q=\$q_$id"
		[ $quiet = 1 ] && [ $f = 0 ] && continue
		if [ "$x2" != $scans ]; then
			[ -z "$g" ] || continue
			gone="$gone $id"
			eval "J_$id=$now"
			printf "M %s 0 0\n" $id
		elif [ "$q" != $scans ] && [ -n "$x" ] || [ -n "$g" ]; then
			eval "P_$id=\$x J_$id=''"
			where "$x"
			printf "M %s %s %s\n%s%s" $id ${#x} ${#real} \
				"$x" "$real"
			new=''
			for y in $gone; do [ $y = $id ] || new="$new $y"; done
			gone=$new
		fi
	done
	[ $n_new -eq 0 ] || printf "%s" "$order" | sort -rn >"$T/o" || text=''
	[ $n_new -eq 0 ] || while read -r y n_; do
		eval "start \"\$NP_$n_\" \$NK_$n_ $y N; NP_$n_=''"
	done <"$T/o"
	# Do this now: other files may take their room before the next poll.
	for id_ in $wake; do wake_up $id_; done
	[ -z "$wake" ] || text=''
}

# The known file $id is at path $1: report a change, or that it stopped growing.
known() {
	eval "x=\$P_$id b=\$B_$id o=\$O_$id z=\$Z_$id c=\$c_$id h=\$H_$id"
	[ "$x" = "$1" ] && eval "q_$id=$scans"
	eval "b_$id=\$1 Y_$id=$mtime_"
	if [ $b = 1 ] && [ $size_ != $o ]; then
		# Scan again once poll has read its bytes.
		calming=1
		[ -n "$h" ] || { wake="$wake $id"; eval "R_$id=''"; }
	elif [ "$size_ $ctime_" != "$z" ] && [ $quiet = 0 ]; then
		if [ $b = 1 ] && [ "$size_ $ctime_" != "$c" ]; then
			eval "c_$id=\"$size_ $ctime_\" y_$id=$now"
			calming=1
			return
		fi
		eval "x=\${y_$id:-0}"
		if [ $b = 1 ]; then
			[ $((now - x)) -ge 2000 ] || { calming=1; return; }
			wake="$wake $id"
			eval "R_$id=\"$size_ $ctime_\""
			return
		fi
		eval "Z_$id=\"$size_ $ctime_\""
		printf "U %s %s %s\n" $id $size_ $ctime_
	fi
}

# Open file $1 (its id). If R is '', the file grew while it was closed: send a
# chunk. Otherwise R is the report that it stopped growing: send that, unless
# the file was rewritten with the same length.
wake_up() {
	eval "h=\$H_$1"
	[ -n "$h" ] || hold_again $1 || return
	eval "o=\$O_$1 r=\$R_$1"
	if [ -z "$r" ]; then
		drain $1 "$(stat -Lc %s /proc/$h/fd/3)"
	elif eval "D_$1=1"; same_head $1 /proc/$h/fd/3; then
		eval "Z_$1=\$r"
		printf "U %s %s\n" $1 "$r"
	else
		restart $1 ${r%% *}
		sizes=''
	fi
}

# Drop files without a name that have not grown for a minute.
age() {
	for y in $gone; do
		eval "x=\$J_$y w=\$W_$y o=\$O_$y h=\$H_$y b=\$B_$y"
		[ -n "$h" ] || { drop $y; continue; }
		[ $((now - x)) -gt $grace ] && [ $((now - w)) -gt $grace ] ||
			continue
		s=$(stat -Lc %s /proc/$h/fd/3)
		[ $b = 0 ] || [ "$s" = $o ] || continue
		drop $y
	done
}

# Look for the files that the client requested by inode; each line of $wanted is
# the file's key and a path in its directory.
look_for() {
	[ -n "$wanted" ] || return
	while read -r key_ p; do
		[ -n "$key_" ] || continue
		pulse
		unescape "$p"
		eval "x=\${m_$key_:-}"
		[ -z "$x" ] || continue
		d=${v%/*}
		[ "$d" != "$v" ] || d=.
		set --
		IFS=''
		set +f
		for p in "$d"/*; do
			[ ! -f "$p" ] || [ $# -ge $paths_most ] ||
				set -- "$@" "$p"
		done
		set -f
		IFS=" $nl"
		[ $# -gt 0 ] || continue
		for k in $(stat -Lc %d_%i -- "$@" 2>/dev/null); do
			[ $k != $key_ ] || break
			shift
		done
		[ $# -gt 0 ] || continue
		was=$last
		start "$1" $key_ $((now / 1000)) O
		[ $last = $was ] || { gone="$gone $last"; eval "J_$last=$now"; }
	done <<END
$wanted
END
	wanted=''
}

# Report directories that cannot be listed: logs in them are not found.
unlistable() {
	i=0
	while [ $i -lt $NG ]; do
		i=$((i + 1))
		eval "g=\$G$i"
		case $g in */*) g=${g%/*} ;; *) continue ;; esac
		IFS=''
		set +f
		for p in $g; do
			x=$p
			while [ -n "$p" ] && [ ! -d "$p" ]; do
				case $p in */*) p=${p%/*} ;; *) p='' ;; esac
			done
			[ -n "$p" ] || continue
			[ -x "$p" ] && { [ "$p" != "$x" ] || [ -r "$p" ]; } ||
				printf "E 0 13 %s\n%s" ${#p} "$p"
		done
		set -f
		IFS=" $nl"
	done
}

# Report the checksum of the first $2 bytes of id $1; for long files it is
# computed in the background. If $3 is given, it is the checksum of the sent
# bytes; otherwise remember the first and last of these bytes before computing
# the checksum, so that no later change is missed.
sum_of() {
	eval "h=\${H_$1:-} x=\${K_$1:-}"
	[ -n "$x" ] || return
	[ -n "$h" ] || hold_again $1 || hold_again $1 || return
	n=$(stat -Lc %s /proc/$h/fd/3)
	[ ${n:-$2} -lt $2 ] || n=$2
	eval "X_$1=${3:+$2_$3}"
	[ -n "${3:-}" ] || guards $1 $n /proc/$h/fd/3
	if [ $n -gt 67108864 ]; then
		long="$long $1:$n"
		return
	fi
	bytes=$n
	sum_by first_bytes /proc/$h/fd/3 $n
	tell_sum $1 $n $sum
}

# The first $2 bytes of id $1 have the checksum $3: report it, or send the file
# again if it differs from the checksum of the sent bytes (X).
tell_sum() {
	n=$2 c=$3
	eval "x=\$K_$1 w=\$X_$1 o=\$O_$1 h=\$H_$1"
	[ -n "$x" ] || return
	if [ -z "$w" ] || [ ${w#*_} = $c ]; then
		printf "C %s %s %s\n" $1 $n $c
	elif [ $o -ge ${w%_*} ]; then
		restart $1 "$(stat -Lc %s /proc/$h/fd/3 || echo 0)"
		sizes=''
	fi
}

# Print the first $2 bytes of file $1; head could read them one by one.
first_bytes() {
	x=$(($2 / 65536))
	[ $x = 0 ] || dd if=$1 bs=65536 count=$x
	dd if=$1 bs=65536 skip=$x count=1 | head -c $(($2 % 65536))
}
# Print the last $3 of the first $2 bytes of file $1.
last_bytes() {
	dd if=$1 bs=4096 skip=$((($2 - $3) / 4096)) count=2 |
		tail -c +$((($2 - $3) % 4096 + 1)) | head -c $3
}

# Store the checksums of the first and last bytes before offset $2 of file $3
# with id $1.
guards() {
	l=$(($2 < 262144 ? $2 : 262144)) t=$(($2 < 4096 ? $2 : 4096))
	head_sum $3 $l
	eval "O_$1=$2 L_$1=$l A_$1=$sum D_$1=1"
	bytes=$t
	sum_by last_bytes $3 $2 $t
	eval "E_$1=$sum"
}

sum_long() {
	[ -n "$long" ] || return
	set -- $long
	y=${1%:*} n=${1#*:}
	if [ -z "$busy" ]; then
		eval "h=\${H_$y:-}"
		first_bytes /proc/$h/fd/3 $n 7<&- 8>&- 2>/dev/null </dev/null |
			cksum >"$T/l" 7<&- 8>&- 2>/dev/null &
		busy=$!
	elif ! kill -0 $busy 2>/dev/null; then
		busy='' c='' tries=$((tries + 1))
		read -r c x <"$T/l"
		[ $tries -lt 5 ] || exit 0
		[ "$x" = $n ] || return
		shift
		long=$* tries=0
		tell_sum $y $n $c
	fi
}

# From now on, send the bytes of id $1 from offset $2 on.
begin() {
	eval "o=\${O_$1:-} h=\${H_$1:-} x=\${K_$1:-}"
	[ -n "$x" ] || return
	[ -n "$h" ] || hold_again $1 || h=''
	if [ $o != $2 ]; then
		eval "O_$1=$2 L_$1=0 A_$1='' E_$1=''"
		[ $2 = 0 ] || [ -z "$h" ] || guards $1 $2 /proc/$h/fd/3
	fi
	eval "B_$1=1 Z_$1='' c_$1=''"
	stale=1 text=''
	preview $1
}

# Handle the requests of group $1.
obey() {
	while read -r w key off; do
		case $w in
		I)
			x=$(printf %03d $((key % 1000)))
			[ $step = 1 ] || step=$((key / 1000)).$x
			;;
		G) unescape "$key" && ng=$((ng + 1)) && eval "G_$ng=\$v" ;;
		F) unescape "$key" && nf=$((nf + 1)) && eval "F_n$nf=\$v" ;;
		L) wanted="$wanted${key%:*}_${key#*:} $off$nl" ;;
		B) begin $key $off ;;
		C) sum_of $key $off ;;
		A) going=1 text='' scan_at=0 ;;
		Q | GO) obey_list $w $key ;;
		esac
	done <"$T/c$1"
	rm -f "$T/c$1"
}

obey_list() {
	if [ $1 = Q ]; then
		quiet=$2
	else
		NG=$ng NF=$nf ng=0 nf=0 going=1
		i=0
		while [ $i -lt $NG ]; do
			i=$((i + 1))
			eval "G$i=\$G_$i"
		done
		i=0
		while [ $i -lt $NF ]; do
			i=$((i + 1))
			eval "F$i=\$F_n$i"
		done
		unlistable
	fi
	for y in $ids; do
		eval "x=\$P_$y F_$y=0"
		named "$x" && eval "F_$y=1"
	done
	text='' scan_at=0 stale=1
}

listen() {
	read -r p told x <"$T/s" || return
	[ "$x" = . ] || return
	if [ $p != $pseq ]; then
		pseq=$p heard=$now beat=0
	fi
	while [ $cseq -lt $told ]; do
		cseq=$((cseq + 1)) heard=$now
		obey $cseq
	done
}

now_ms
heard=$now idle=$now more=0 on=''
while listen; [ $((now - heard)) -lt $dead ]; do
	pulse
	[ $now -lt $scan_at ] || [ $cseq = 0 ] || scan
	sum_long
	poll
	if [ $more = 0 ]; then
		x=$step
		[ $((now - idle)) -lt 10000 ] || x=0.5
		[ -n "$held" ] || x=$quiet.2
		[ $step != 1 ] || x=1
		sleep $x || sleep 1
	fi
	now_ms
done
