# SPDX-License-Identifier: MIT
# Convert text files to a C array of struct embed_file (base/embed.h):
#	LC_ALL=C awk -f embed.awk array=NAME FILE... >NAME.c
BEGIN {
	print "/* Made by embed.awk; do not edit. */"
	print "#include <stddef.h>\n"
	print "#include \"base/embed.h\"\n"
}

FNR == 1 {
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

{
	gsub(/\\/, "&&")
	gsub(/"/, "\\\"")
	gsub(/\t/, "\\t")
	print "\t  \"" $0 "\\n\""
}

END {
	print "\t},\n\t{ NULL, NULL },\n};"
}
