# SPDX-License-Identifier: MIT
# Complete a manual page: replace each line @form@ by roff made from the records
# that `hgym-tui --dump-reference form` prints, @VERSION@ by the version, and
# @SHARE@ by the data directory.  The build passes program=PATH, version=N and
# share=FOLDER.

# Escape everything in a text that roff would interpret.
function plain(text)
{
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	gsub(/"/, "\\(dq", text)
	sub(/^[.\047]/, "\\\\\\&&", text)
	return text
}

# Print text in lines that stay short in the page; roff fills the paragraph
# anyway.
function wrap(text,  words, n, i, line)
{
	n = split(text, words, " ")
	line = words[1]
	for (i = 2; i <= n; i++) {
		if (length(line) + 1 + length(words[i]) > 68) {
			print plain(line)
			line = words[i]
		} else {
			line = line " " words[i]
		}
	}
	print plain(line)
}

function roff(record,  f, n)
{
	n = split(record, f, "\t")
	if (names != "" && f[1] != "word")
		flush_names()
	if (in_code && f[1] != "code") {
		print ".fi"
		in_code = 0
	}
	if (indent && (f[1] == "group" || f[1] == "option")) {
		print ".RS"
		indent = 0
		is_open = 1
	}
	if (f[1] == "section")
		print ".SS " plain(f[2])
	else if (f[1] == "command" || f[1] == "form")
		print (f[1] == "form" ? ".TQ" : ".TP") "\n.B " plain(f[2]) \
		    " \\fR" plain(f[3]) "\\fP"
	else if (f[1] == "text")
		print plain(f[2])
	else if (f[1] == "paragraph") {
		print ".IP"
		wrap(f[2])
	} else if (f[1] == "example" || f[1] == "code") {
		print (in_code ? "" : ".IP\nExample:\n.IP\n.nf\n") plain(f[2])
		in_code = 1
	} else if (f[1] == "group")
		print ".PP\n" plain(f[2]) ":"
	else if (f[1] == "option") {
		print ".TP\n.B " (f[2] != "" ? "\\-" f[2] ", " : "") "\\-\\-" \
		    plain(f[3]) (f[4] != "" ? " \\fI" plain(f[4]) "\\fP" : "")
		wrap(f[5])
	} else if (f[1] == "indent")
		indent = 1
	else if (f[1] == "end") {
		if (is_open)
			print ".RE"
		indent = is_open = 0
	} else if (f[1] == "name")
		print ".TP\n.B " plain(f[2]) "\n" plain(f[3])
	else if (f[1] == "key")
		print ".TP\n.B " plain(f[2]) " \\fR(" plain(f[3]) ")\\fP\n" plain(f[4])
	else if (f[1] == "word")
		names = names (names != "" ? " ,\n" : "") ".BR " plain(f[2])
}

function flush_names()
{
	if (names != "")
		print names " ."
	names = ""
}

/^@[a-z-]+@$/ {
	form = substr($0, 2, length($0) - 2)
	command = program " --dump-reference " form
	n = 0
	while ((command | getline line) > 0) {
		roff(line)
		n++
	}
	flush_names()
	if (close(command) != 0 || n == 0) {
		print "fill.awk: no " form > "/dev/stderr"
		exit 1
	}
	next
}
{
	gsub(/@VERSION@/, version)
	gsub(/@SHARE@/, share)
	print
}
