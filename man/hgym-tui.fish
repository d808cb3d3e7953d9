# SPDX-License-Identifier: MIT
# fish completion for hgym-tui; `hgym-tui --complete` prints the candidates.
function __hgym_tui
	set -l words (commandline -opc)
	set -l found ($words[1] --complete $words[2..-1] (commandline -ct) \
		2>/dev/null)
	if set -q found[1]
		printf '%s\n' $found
	else
		__fish_complete_path (commandline -ct)
	end
end
complete -c hgym-tui -f -a '(__hgym_tui)'
