# SPDX-License-Identifier: MIT
# bash completion for hgym-tui; `hgym-tui --complete` prints the candidates.
_hgym_tui()
{
	mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" --complete \
		"${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)
}
complete -o default -F _hgym_tui hgym-tui
