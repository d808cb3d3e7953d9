# SPDX-License-Identifier: MIT
# The GLOSSARY of the manual as lines "view, tab, words, tab, meaning" for the
# help of the dashboard, which shows the first paragraph of each meaning.
function utf8(hex,  n, i)
{
	n = 0
	for (i = 1; i <= length(hex); i++)
		n = n * 16 + index("0123456789ABCDEF", substr(hex, i, 1)) - 1
	if (n < 2048)
		return sprintf("%c%c", 192 + int(n / 64), 128 + n % 64)
	return sprintf("%c%c%c", 224 + int(n / 4096), 128 + int(n / 64) % 64, 128 + n % 64)
}
function plain(text)
{
	while (match(text, /\\\[u[0-9A-F]+\]/))
		text = substr(text, 1, RSTART - 1) \
		    utf8(substr(text, RSTART + 3, RLENGTH - 4)) \
		    substr(text, RSTART + RLENGTH)
	gsub(/\\\(->/, utf8("2192"), text)
	gsub(/"/, "", text)
	gsub(/\\\(dq/, "\"", text)
	gsub(/\\-/, "-", text)
	gsub(/\\&/, "", text)
	return text
}
function flush()
{
	if (words != "")
		print view "\t" words "\t" meaning
	words = meaning = ""
}
/^\.SH/ {
	if (inside)
		flush()
	inside = $2 == "GLOSSARY"
	next
}
!inside { next }
/^\.SS/ {
	flush()
	view = plain(substr($0, 5))
	if (view == "List of runs")
		view = "Fleet"
	next
}
/^\.TP/ {
	flush()
	is_term = 1
	is_over = 0
	next
}
is_term {
	sub(/^\.[A-Z]+ /, "")
	words = plain($0)
	is_term = 0
	next
}
/^\.(RS|PP)/ { is_over = 1 }
is_over || /^\.(RS|RE|PP)/ { next }
words != "" {
	sub(/^\.[A-Z]+ /, "")
	meaning = meaning (meaning == "" ? "" : " ") plain($0)
	gsub(/\( /, "(", meaning)
}
