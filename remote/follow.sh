# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2004,SC2015,SC2030,SC2031,SC2086,SC2088,SC2094,SC2154
# The follower where there is no python3: POSIX sh (dash, busybox) with stat,
# dd, od, tail and cat; remote/follow.h tells the protocol.  Logs are only
# read.  It writes a chunk and the commands it got to a directory of its own in
# /dev/shm, TMPDIR or /tmp, removed at the end.  Each log is held open by a
# small process that reads a pipe which ends with us, so that a renamed or
# deleted log can be read to its end through /proc and its inode cannot be
# given to another.  Indents are tabs; comment lines are left out of what is
# sent.
set -f
umask 077
nonce=$2 T='' quiet=0 step=0.2 chunk=4 ids='' held='' nl='
'
NG=0 NF=0 ng=0 nf=0 NR=0 last=0 going=0 pseq=0 cseq=0 scans=0 beat=0 heard=0
scan_at=0 text='' gone='' idle=0 nears='' rounds=0 live=0
for d in /dev/shm "${TMPDIR:-/tmp}" /tmp; do
	T=$d/hgf.$nonce.$$
	mkdir -m 700 "$T" 2>/dev/null && echo 0 0 . 2>/dev/null >"$T/s" && break
	T=''
done
printf '\nHGF1 %s OK sh %s\n' "$nonce" $$
[ -n "$T" ] || { printf 'E 0 28 0\n'; exit 1; }
exec 6<&0 </dev/null
mkfifo "$T/f" && exec 9<>"$T/f" 8>"$T/f" 7<"$T/f" 9<&- && rm "$T/f" || exit 1
sleep 0.01 2>/dev/null || step=1

# The client's lines, taken as they come: s holds the number of the last ping
# and of the last group of commands, cN that group.
{
	p=0 n=0 buf=''
	while read -r l; do
		case $l in
		P\ *) p=${l#P } ;;
		GO | Q\ *)
			n=$((n + 1))
			printf '%s%s\n' "$buf" "$l" >"$T/c$n"
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
# A signal in here would end us between the two, and nobody would be left to
# remove the directory.
finish() {
	trap '' HUP INT TERM PIPE
	kill $listener
	rm -rf "$T"
}
trap 'finish >/dev/null 2>&1' EXIT
trap 'exit 0' HUP INT TERM PIPE

now_ms() {
	read -r now x </proc/uptime
	now=${now%.*}${now#*.}0
}

unescape() {
	v=$(printf '%b.' "$1")
	v=${v%.}
	case $v in '~/'*) v=$HOME/${v#'~/'} ;; esac
}

# POSIX cksum of bytes given as words of hex, by halves of a byte.
i=0
while [ $i -lt 16 ]; do
	c=$((i << 28)) k=0
	while [ $k -lt 4 ]; do
		c=$((((c << 1) & 0xffffffff) ^ (c >> 31) * 0x04c11db7))
		k=$((k + 1))
	done
	eval t$i=$c
	i=$((i + 1))
done
crc_byte() {
	ti=t$(((c >> 28) ^ ($1 >> 4)))
	c=$((((c << 4) & 0xffffffff) ^ $ti))
	ti=t$(((c >> 28) ^ ($1 & 15)))
	c=$((((c << 4) & 0xffffffff) ^ $ti))
}
cksum_words() {
	c=0 n=$#
	for b; do crc_byte 0x$b; done
	while [ $n -gt 0 ]; do
		crc_byte $((n & 255))
		n=$((n >> 8))
	done
	c=$((c ^ 0xffffffff))
}

# bytes FILE OFFSET LENGTH: as words of hex, in $w.
bytes() {
	w=''
	[ $3 -eq 0 ] || w=$(od -An -v -tx1 -j$2 -N$3 "$1" 2>/dev/null)
	set -- $w
	w=$*
}

# guard FILE OFFSET: its two guards, the first 256 and the last 64 bytes.
guard() {
	hn=$(($2 < 256 ? $2 : 256)) tn=$(($2 < 64 ? $2 : 64))
	bytes "$1" 0 $hn
	a=$w
	bytes "$1" $(($2 - tn)) $tn
	z=$w
}

active() {
	held=''
	on=''
	for id in $ids; do
		eval "h=\$H_$id f=\${F_$id:-0}"
		[ $quiet = 1 ] && [ $f = 0 ] && continue
		held="$held /proc/$h/fd/3"
		on="$on $id"
	done
	sizes=''
}

trouble() {
	eval "x=\${e_$3:-}"
	[ -n "$x" ] || printf 'E %s %s %s\n%s' $1 $2 ${#4} "$4"
	eval "e_$3=1"
}

# Where a file goes on: in $o and $key.  The path counts only where the inode
# is nowhere near: logs begin alike, and the one of the path may be the next.
resume() {
	j=0 o=0 key=0 a='' z=''
	while [ $j -lt $NR ]; do
		j=$((j + 1))
		eval "r=\$R_$j rp=\$RP_$j rk=\$RK_$j"
		[ -n "$r" ] || continue
		if [ "$rk" != "$2" ]; then
			eval "x=\${n_$rk:-}"
			[ $going = 1 ] && [ "$rp" = "$1" ] || continue
			[ $blind = 0 ] && [ -z "$x" ] || continue
		fi
		set -- "$1" "$2" "$3" "$4" $r
		[ $6 -le $4 ] || continue
		guard "$3" $6
		cksum_words $a
		[ $hn = $7 ] && [ $c = $8 ] || continue
		cksum_words $z
		[ $tn = $9 ] && [ $c = ${10} ] || continue
		o=$6 key=$5
		eval "R_$j=''"
		return
	done
	a='' z=''
}

# start PATH KEY [known]: hold the file and announce it.
start() {
	[ $last -lt 65536 ] || return
	[ $live -lt 512 ] || {
		trouble 0 24 $2 "$1"
		return
	}
	{
		{ read -r x <&7; } 8>&- >/dev/null 2>&1 &
		h=$!
	} 3<"$1" 2>/dev/null || {
		[ ! -e "$1" ] || trouble 0 13 $2 "$1"
		return
	}
	s=$(stat -Lc '%d_%i %s' /proc/$h/fd/3 2>/dev/null)
	k=${s% *} s=${s#* }
	eval "x=\${m_$k:-}"
	if [ "$k" != "$2" ] || [ -n "$x" ]; then
		kill $h
		return
	fi
	resume "$1" $k /proc/$h/fd/3 $s
	if [ "${3:-}" = known ] && [ $key = 0 ]; then
		kill $h
		return
	fi
	last=$((last + 1)) live=$((live + 1))
	ids="$ids $last"
	eval "m_$k=$last K_$last=$k H_$last=$h O_$last=$o S_$last=$s V_$last=0"
	eval "A_$last=\$a Z_$last=\$z P_$last=\$1 W_$last=$now e_$k=''"
	eval "q_$last=$scans"
	named "$1" && eval "F_$last=1"
	printf 'N %s %s:%s %s %s %s %s\n%s' $last ${k%_*} ${k#*_} $o $s ${#1} \
		$key "$1"
	preview $last
	active
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

# The end of a file whose bytes in order are far behind, for the eye.
preview() {
	eval "s=\$S_$1 o=\$O_$1 v=\$V_$1 h=\$H_$1"
	[ $((s - o)) -gt 1048576 ] && [ $s -gt $v ] || return
	at=$((s / 32768 - 1))
	dd if=/proc/$h/fd/3 bs=32768 skip=$at count=2 2>/dev/null >"$T/c"
	n=$(stat -c %s "$T/c")
	[ $n -eq 0 ] || printf 'V %s %s %s\n' $1 $((at * 32768)) $n
	cat "$T/c"
	eval "V_$1=$s"
}

drop() {
	eval "o=\$O_$1 k=\$K_$1 h=\$H_$1 a=\$A_$1 z=\$Z_$1 x=\$P_$1"
	printf 'X %s %s\n' $1 $o
	kill $h
	live=$((live - 1))
	NR=$((NR + 1))
	eval "RK_$NR=$k RP_$NR=\$x m_$k=''" text=''
	cksum_words $a
	hn=$((o < 256 ? o : 256)) hc=$c
	cksum_words $z
	eval "RS_$NR=K R_$NR='-$1 $o $hn $hc $((o < 64 ? o : 64)) $c'"
	new='' id=$1
	for x in $ids; do [ $x = $id ] || new="$new $x"; done
	ids=$new
	active
}

restart() {
	printf 'T %s %s\n' $1 $2
	eval "O_$1=0 A_$1='' Z_$1='' V_$1=0"
	o=0 a='' z=''
}

# Take a chunk into $T/c from offset $o of file $1: 2 MiB of a backlog.
take() {
	if [ $((s - o)) -le 65536 ] && [ $o -lt 2000000000 ]; then
		tail -c +$((o + 1)) "$1" 2>/dev/null >"$T/c"
		n=$(stat -c %s "$T/c")
		[ $n -gt 262144 ] || return
	fi
	x=$chunk
	[ $((s - o)) -lt 2097152 ] || x=32
	dd if="$1" bs=65536 skip=$((o / 65536)) count=$x 2>/dev/null |
		tail -c +$((o % 65536 + 1)) 2>/dev/null >"$T/c"
	n=$(stat -c %s "$T/c")
}

# give ID: send $T/c, in frames of at most 256 KiB.
give() {
	if [ $n -le 262144 ]; then
		printf 'D %s %s %s\n' $1 $o $n
		cat "$T/c" || exit 0
		return
	fi
	i=0
	while [ $((i * 262144)) -lt $n ]; do
		x=$((n - i * 262144))
		[ $x -le 262144 ] || x=262144
		printf 'D %s %s %s\n' $1 $((o + i * 262144)) $x
		dd if="$T/c" bs=262144 skip=$i count=1 2>/dev/null || exit 0
		i=$((i + 1))
	done
}

# drain ID SIZE: send a chunk; `more` when there is more.
drain() {
	eval "o=\$O_$1 h=/proc/\$H_$1/fd/3 S_$1=$2 W_$1=$now"
	s=$2
	[ $s -ge $o ] || restart $1 $s
	[ $s -gt $o ] || return
	take $h
	eval "oa=\$A_$1 oz=\$Z_$1"
	guard $h $o
	if [ "$a $z" != "$oa $oz" ]; then
		s=$(stat -Lc %s $h)
		restart $1 ${s:-0}
		more=1
		return
	fi
	if [ $n -eq 0 ]; then
		trouble $1 28 full_$1 ''
		sizes=''
		return
	fi
	give $1
	[ $hn -eq 256 ] || {
		bytes "$T/c" 0 $((n < 256 - hn ? n : 256 - hn))
		a="$a $w"
		a=${a# }
	}
	tn=$((n < 64 ? n : 64))
	bytes "$T/c" $((n - tn)) $tn
	id=$1 o=$((o + n))
	set -- $oz $w
	[ $# -le 64 ] || shift $(($# - 64))
	z=$*
	eval "O_$id=$o A_$id=\$a Z_$id=\$z"
	[ $o -ge $s ] || more=1
}

# One stat for all held files; nothing more while they stay as they are.
poll() {
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

# A held file that cannot be read any more (a stale handle) is let go.
broken() {
	for y in $on; do
		eval "h=\$H_$y x=\$P_$y"
		stat -Lc %s /proc/$h/fd/3 >/dev/null 2>&1 && continue
		printf 'E %s 116 %s\n%s' $y ${#x} "$x"
		drop $y
	done
}

# Look at all files that the globs and names match.
scan() {
	scans=$((scans + 1)) scan_at=$((now + 1000))
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
			[ ! -f "$p" ] || [ $# -ge 4096 ] || set -- "$@" "$p"
		done
		set -f
		IFS=" $nl"
	done
	keys=''
	[ $# -eq 0 ] || keys=$(stat -Lc %d_%i -- "$@" 2>/dev/null)
	paths=$#
	if [ "$keys/$*" != "$text" ] || [ $going = 1 ]; then
		w=0
		for k in $keys; do w=$((w + 1)); done
		# One went away in between: look again at once.
		[ $w -eq $paths ] || { scan_at=$((now + 50)); return; }
		[ $going = 0 ] || look_near
		text=$keys/$*
		match "$@"
	fi
	age
	[ $going = 1 ] || return
	if [ $quiet = 0 ]; then
		lost
		settled || {
			scan_at=$((now + 100))
			return
		}
	fi
	set -- $ids
	printf 'S %s\n' $#
	going=0
}

# Is what is known either open or nowhere near, seen twice?  A log may be
# rotated while we look.
settled() {
	look_near
	rounds=$((rounds + 1)) jj=0 left=0 here=0
	while [ $jj -lt $NR ]; do
		jj=$((jj + 1))
		eval "x=\$R_$jj k=\$RK_$jj y=\$RS_$jj"
		[ -n "$x" ] && [ $y = R ] || continue
		left=1
		eval "p=\${n_$k:-}"
		[ -z "$p" ] || here=1
	done
	[ $left = 0 ] || [ $rounds -ge 5 ] || {
		[ $rounds -ge 2 ] && [ $here = 0 ]
	}
}

match() {
	for k in $keys; do eval "p_$k=$scans"; done
	for key_ in $keys; do
		eval "id=\${m_$key_:-}"
		if [ -z "$id" ]; then
			start "$1" $key_
		else
			eval "x=\$P_$id g_$id=''"
			if [ "$x" = "$1" ]; then
				eval "q_$id=$scans"
			else
				eval "b_$id=\$1"
			fi
		fi
		shift
	done
	gone=''
	for id in $ids; do
		eval "k=\$K_$id x=\$q_$id b=\${b_$id:-} f=\${F_$id:-0}"
		eval "b_$id='' x2=\${p_$k:-} y=\${g_$id:-}"
		[ $quiet = 1 ] && [ $f = 0 ] && continue
		if [ "$x2" != $scans ]; then
			gone="$gone $id"
			[ -n "$y" ] || eval "g_$id=$now"
		elif [ "$x" != $scans ] && [ -n "$b" ]; then
			eval "P_$id=\$b"
			printf 'M %s %s\n%s' $id ${#b} "$b"
		fi
	done
}

# Let go what is out of the globs and did not grow for five seconds.
age() {
	for y in $ids; do preview $y; done
	for y in $gone; do
		eval "x=\${g_$y:-} w=\$W_$y o=\$O_$y h=\$H_$y"
		[ -n "$x" ] && [ $((now - x)) -gt 5000 ] &&
			[ $((now - w)) -gt 5000 ] || continue
		s=$(stat -Lc %s /proc/$h/fd/3)
		[ "$s" = $o ] || continue
		drop $y
		new=''
		for x in $gone; do [ $x = $y ] || new="$new $x"; done
		gone=$new
	done
}

# The files that lie where the known ones lay, in n_<key>; blind: not all.
look_near() {
	for k in $nears; do eval "n_$k=''"; done
	jj=0 listed='' tries=0 blind=0 nears=''
	while [ $jj -lt $NR ]; do
		jj=$((jj + 1))
		eval "p=\$RP_$jj"
		d=${p%/*}
		[ "$d" != "$p" ] || d=.
		[ "$d" != "$listed" ] || continue
		listed=$d
		set --
		IFS=''
		set +f
		for p in "$d"/*; do
			[ ! -f "$p" ] || [ $# -ge 8192 ] || set -- "$@" "$p"
		done
		set -f
		IFS=" $nl"
		[ $# -lt 8192 ] || blind=1
		[ $# -gt 0 ] || continue
		near=$(stat -Lc %d_%i -- "$@" 2>/dev/null)
		w=0
		for k in $near; do w=$((w + 1)); done
		# One went away in between: once more.
		[ $w -eq $# ] || {
			tries=$((tries + 1))
			[ $tries -gt 5 ] && blind=1 && continue
			jj=$((jj - 1)) listed=''
			continue
		}
		nears="$nears $near"
		for k in $near; do
			eval "n_$k=\$1"
			shift
		done
	done
}

# Files that were rotated out of the globs while no one looked.
lost() {
	jj=0
	while [ $jj -lt $NR ]; do
		jj=$((jj + 1))
		eval "x=\$R_$jj want=\$RK_$jj y=\$RS_$jj"
		[ -n "$x" ] && [ $y = R ] || continue
		eval "p=\${n_$want:-}"
		[ -n "$p" ] || continue
		was=$last
		start "$p" $want known
		[ $last = $was ] || gone="$gone $last"
		eval "g_$last=$now"
	done
}

# A group of commands, up to a GO or a Q.
obey() {
	while read -r w key where off hn hc tn tc path; do
		case $w in
		I)
			x=$(printf %03d $((key % 1000)))
			[ $step = 1 ] || step=$((key / 1000)).$x
			;;
		C)
			chunk=$((key / 65536))
			[ $chunk -gt 0 ] || chunk=1
			[ $chunk -lt 4 ] || chunk=4
			;;
		G) unescape "$key" && ng=$((ng + 1)) && eval "G_$ng=\$v" ;;
		F) unescape "$key" && nf=$((nf + 1)) && eval "F_n$nf=\$v" ;;
		R | K)
			unescape "$path"
			NR=$((NR + 1))
			eval "RP_$NR=\$v RK_$NR=${where%:*}_${where#*:}"
			eval "RS_$NR=$w R_$NR='$key $off $hn $hc $tn $tc'"
			;;
		Q)
			quiet=$key
			;;
		GO)
			NG=$ng NF=$nf ng=0 nf=0 going=1 rounds=0
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
			;;
		esac
	done <"$T/c$1"
	rm -f "$T/c$1"
	for y in $ids; do
		eval "x=\$P_$y F_$y=0"
		named "$x" && eval "F_$y=1"
	done
	text='' scan_at=0
	active
}

listen() {
	read -r p n x <"$T/s" || return
	[ "$x" = . ] || return
	if [ $p != $pseq ]; then
		pseq=$p heard=$now beat=0
	fi
	while [ $cseq -lt $n ]; do
		cseq=$((cseq + 1)) heard=$now
		obey $cseq
	done
}

now_ms
heard=$now idle=$now more=0 on=''
while listen; [ $((now - heard)) -lt 60000 ]; do
	if [ $now -ge $beat ]; then
		printf 'H %s %s\n' $pseq $now || exit 0
		beat=$((now + 2000))
		[ $quiet = 0 ] || beat=$((now + 3600000))
	fi
	[ $now -lt $scan_at ] || [ $cseq = 0 ] || scan
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
