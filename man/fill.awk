# SPDX-License-Identifier: MIT
# Fills a page: a line @form@ becomes what `hgym-tui --dump-reference form`
# prints, @VERSION@ in a line the version, @SHARE@ our folder of data.  Called
# by the build with program=PATH, version=N and share=FOLDER.
/^@[a-z-]+@$/ {
	form = substr($0, 2, length($0) - 2)
	command = program " --dump-reference " form
	n = 0
	while ((command | getline line) > 0) {
		print line
		n++
	}
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
