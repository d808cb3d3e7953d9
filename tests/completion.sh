#!/bin/sh
# SPDX-License-Identifier: MIT
# The words that each shell offers for a Tab.  The completions ask the program
# for them, which must be in PATH.
set -u
man=${HGYM_SRC:?}/man
PATH=${HGYM_BUILD:?}:$PATH
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=tests/support/tap.sh
. "${HGYM_SRC:-.}/tests/support/tap.sh"
mkdir "$tmp/here" "$tmp/fpath" && : >"$tmp/here/some.log"
cp "$man/_hgym-tui" "$tmp/fpath/"

# Print the words that bash offers for the last word.
cat >"$tmp/complete.bash" <<'BASH'
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
compopt() { :; }
_hgym_tui
((${#COMPREPLY[@]})) && printf '%s\n' "${COMPREPLY[@]}"
# -o default: file names, if no word is offered.
((${#COMPREPLY[@]})) || compgen -f -- "${COMP_WORDS[COMP_CWORD]}"
BASH

# A zsh in its own terminal: each match is written to a file.
cat >"$tmp/inner.zsh" <<'ZSH'
autoload -Uz compinit
compinit -u -D
compadd() {
  local -a hits
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
    builtin compadd "$@"
    return
  fi
  builtin compadd -A hits "$@"
  (($#hits)) && print -rl -- $hits >>$OUT
  builtin compadd "$@"
}
told() { print -r -- END >>$OUT }
complete-told() { zle complete-word; told }
zle -N complete-told
bindkey '^I' complete-told
zle-line-init() { : >$OUT.ready }
zle -N zle-line-init
ZSH
cat >"$tmp/complete.zsh" <<'ZSH'
zmodload zsh/zpty || exit 77
zpty inner "env TERM=vt100 zsh -f -i"
zpty -w inner "fpath=($FPATH_OURS \$fpath); source $INNER; cd $HERE"
for ((i = 0; i < 1200; i++)); do
  [[ -f $OUT.ready ]] && break
  zpty -r -t inner junk
  sleep 0.1
done >/dev/null
zpty -w -n inner "$1"$'\t'
for ((i = 0; i < 1200; i++)); do
  [[ -f $OUT ]] && grep -qx END $OUT && break
  zpty -r -t inner junk
  sleep 0.1
done >/dev/null
zpty -d inner
[[ -f $OUT ]] && grep -vx END $OUT | sed 's/ *$//' | sort -u
ZSH

offers() {
    case $1 in
    bash)
        # The words of the line, with an empty one after a trailing space.
        line=$2
        set --
        for word in $line; do set -- "$@" "$word"; done
        case $line in *' ') set -- "$@" "" ;; esac
        (cd "$tmp/here" &&
            bash "$tmp/complete.bash" "$man/hgym-tui.bash" "$@")
        ;;
    fish)
        (cd "$tmp/here" && HOME=$tmp fish --no-config -c \
            "source $man/hgym-tui.fish; complete -C '$2'" </dev/null) |
            cut -f 1
        ;;
    zsh)
        rm -f "$tmp/zsh.out" "$tmp/zsh.out.ready"
        HOME=$tmp OUT=$tmp/zsh.out FPATH_OURS=$tmp/fpath HERE=$tmp/here \
            INNER=$tmp/inner.zsh zsh -f "$tmp/complete.zsh" "$2" </dev/null
        ;;
    esac
}

# offered SHELL LINE WANTED UNWANTED: words that must be offered, and words
# that must not.
offered() {
    offers "$1" "$2" >"$tmp/out" 2>&1
    good=yes
    for word in $3; do
        grep -qxF -e "$word" "$tmp/out" || good="no $word"
    done
    for word in $4; do
        ! grep -qxF -e "$word" "$tmp/out" || good="$word"
    done
    echo "$good in:" | cat - "$tmp/out" >"$tmp/why"
    [ "$good" = yes ]
    check "$1: $2" $? "$tmp/why"
}

for shell in bash zsh fish; do
    if ! command -v "$shell" >/dev/null; then
        skip "$shell" "$shell is not installed"
        continue
    fi
    offered "$shell" "hgym-tui pa" parse "board --json"
    offered "$shell" "hgym-tui --config x pa" parse board
    offered "$shell" "hgym-tui --re" --read-only "--config parse"
    offered "$shell" "hgym-tui --color " "auto always never" "parse some.log"
    offered "$shell" "hgym-tui bench " "run list show judge" \
        "parse check some.log"
    offered "$shell" "hgym-tui pods " check "run"
    offered "$shell" "hgym-tui parse --js" --json "--csv parse"
    offered "$shell" "hgym-tui parse --json so" some.log "parse"
    offered "$shell" "hgym-tui bench run --de" --detach "--yes run"
    offered "$shell" "hgym-tui board --group-by " "dirname pod" "board some.log"
    offered "$shell" "hgym-tui board --fail-on " "invalid below" "board some.log"
    offered "$shell" "hgym-tui formats check --he" --help "show"
    offered "$shell" "hgym-tui demo --sc" --script "--snapshot"
    offered "$shell" "hgym-tui export --what " "board runs" "samples.csv"
    offered "$shell" "hgym-tui runs --pod x --status fi" finished "running"
    offered "$shell" "hgym-tui parse --color " "auto never" some.log
    offered "$shell" "hgym-tui bench judge --control so" some.log "--variant"
    offered "$shell" "hgym-tui pods check so" some.log "check"
done

finish
