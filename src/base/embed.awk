# SPDX-License-Identifier: MIT
# Convert text files to a C array of struct embed_file (base/embed.h):
#	LC_ALL=C awk -f embed.awk array=NAME [drop=KEYS] FILE... >NAME.c
# Lines that start with one of the JSON keys KEYS ("samples|others") are dropped, up to the end of
# their list.
BEGIN {
	print "/* Made by embed.awk; do not edit. */"
	print "#include <stddef.h>\n"
	print "#include \"base/embed.h\"\n"
}

FNR == 1 {
	flush_line()
	if (files++ == 0) {
		print "extern const struct embed_file " array "[];"
		print "const struct embed_file " array "[] = {"
	} else {
		print "\t},"
	}
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.[^.]*$/, "", name)
	print "\t{ \"" name "\","
}

drop != "" && $0 ~ "^ *\"(" drop ")\": \\[" {
	inside = 1
}

inside {
	if ($0 !~ /"\]}?,?$/)
		next
	inside = 0
	if ($0 !~ /\]},?$/)
		next
	sub(/,$/, "", held)
	$0 = $0 ~ /,$/ ? "}," : "}"
}

{
	flush_line()
	held = $0
	has_line = 1
}

function flush_line() {
	if (!has_line)
		return
	gsub(/\\/, "&&", held)
	gsub(/"/, "\\\"", held)
	gsub(/\t/, "\\t", held)
	print "\t  \"" held "\\n\""
	has_line = 0
}

END {
	flush_line()
	print "\t},\n\t{ NULL, NULL },\n};"
}
