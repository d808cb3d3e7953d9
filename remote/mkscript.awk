# SPDX-License-Identifier: MIT
# Convert a script to a C string without newlines, single quotes, single
# backslashes and "!". Any login shell accepts it in single quotes, and printf %b
# decodes it.
# usage: awk -v name=NAME [-v header=FILE] -f mkscript.awk SCRIPT
BEGIN {
	if (header == "")
		header = "remote/follow_priv.h"
	printf "/* Made from the script by mkscript.awk. */\n"
	printf "#include \"%s\"\n\n", header
	printf "const char %s[] =\n", name
}
/^[ \t]*(#|$)/ { next }
{
	# The length of a command line is limited, so leave out indents and the
	# quotes of an empty value; a quote would take five bytes.
	if (name ~ /_sh$/) {
		sub(/^\t+/, "")
		gsub(/=''/, "=")
	}
	text = ""
	for (i = 1; i <= length($0); i++) {
		c = substr($0, i, 1)
		if (c == "\\")
			text = text "\\\\0134"
		else if (c == "'")
			text = text "\\\\0047"
		else if (c == "!")
			text = text "\\\\0041"
		else if (c == "\"")
			text = text "\\\""
		else if (c == "\t")
			text = text "\\t"
		else
			text = text c
	}
	# Split trigraphs.
	gsub(/\?\?/, "?\"\"?", text)
	printf "\t\"%s\\\\n\"\n", text
}
END { printf "\t;\n" }
