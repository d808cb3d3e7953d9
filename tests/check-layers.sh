#!/bin/sh
# SPDX-License-Identifier: MIT
# Check every #include line: which directory may include which other one, and
# which files may include each third-party header.  The linker checks the rest:
# a test links only the libraries of its module and those below.
set -u
src=${HGYM_SRC:-$(cd "$(dirname "$0")/.." && pwd)}

# A module, then the modules and single headers that it may include (itself
# always). Modules are listed from the bottom up: each may name only those
# above its line, so that no cycle is possible. A module is a directory, or a
# file: src/context is src/context.[ch], and modules that may include it name
# context.h.
rooms() {
    sed -e ':a' -e '$!N' -e 's/\n  */ /' -e 'ta' -e 'P' -e 'D' <<'TABLE'
src/base
parsers     base
parsers/harness base parsers
src/conf    base parsers
src/model   base parsers parsers/harness
src/loop    base
remote      base loop transport.h
src/store   base loop model parsers/run.h parsers/run_series.h parsers/metric.h
src/report  base parsers/json.h parsers/run.h parsers/harness
ui          base model command.h parsers/run.h parsers/run_series.h
            parsers/metric.h parsers/json.h report/facts.h report/fmt.h
            report/harness_words.h
src/context base parsers/format.h model/track.h store conf
src/pods    base parsers loop remote conf transport.h
src/ingest  base parsers model loop remote store conf pods transport.h
src/harness base parsers parsers/harness model loop remote report conf pods
            transport.h
src/bench   base parsers parsers/harness model loop remote store report conf
            pods transport.h context.h
src/board   base parsers parsers/harness model store report conf harness
            ingest context.h
src/app     base parsers model loop remote report ui conf pods harness bench
            ingest board command.h context.h
src/cmd     base parsers parsers/harness model remote store ui report conf pods
            harness bench ingest board app context.h
src         base conf app cmd context.h
TABLE
}

# A third-party header, then the files that may include it; a trailing slash
# names a whole directory. Other headers may be included everywhere.
homes() {
    cat <<'TABLE'
curses.h         ui/term_curses.c ui/term_fits.c src/cmd/version.c
ncurses.h        none
term.h           ui/term_fits.c
uv.h             src/loop/ src/cmd/version.c
sqlite3.h        src/store/ src/cmd/version.c tests/
libssh2.h        remote/ src/cmd/version.c tests/tools/bare-libssh2.c
libssh2_sftp.h   none
cjson/cJSON.h    parsers/ src/report/out.h src/cmd/version.c tests/
pcre2.h          parsers/ src/cmd/version.c
openssl/evp.h    src/base/
openssl/crypto.h src/cmd/version.c
zlib.h           ui/picture.c tests/unit/t-picture.c
sys/socket.h     remote/ src/loop/ tests/
netdb.h          remote/ tests/
netinet/in.h     remote/ tests/
arpa/inet.h      remote/ tests/
TABLE
}

# Print "file:line: includes X: reason" for each violation below directory $1;
# the first line is "checked N FILES M".
violations() {
    (
        cd "$1" || exit 1
        ROOMS=$(rooms)
        HOMES=$(homes)
        export ROOMS HOMES
        # shellcheck disable=SC2016
        find src ui parsers remote tests -name '*.[ch]' 2>/dev/null | sort |
            xargs awk '
        BEGIN {
            n = split(ENVIRON["ROOMS"], row, "\n")
            for (i = 1; i <= n; i++) {
                m = split(row[i], w, /[ \t]+/)
                known[w[1]] = 1
                for (j = 2; j <= m; j++)
                    may[w[1], w[j]] = 1
            }
            n = split(ENVIRON["HOMES"], row, "\n")
            for (i = 1; i <= n; i++) {
                name = row[i]
                sub(/[ \t].*/, "", name)
                home[name] = row[i]
                sub(/^[^ \t]+[ \t]+/, "", home[name])
            }
        }
        function layer(path) {
            sub(/[.][ch]$/, "", path)
            if (path in known)
                return path
            while (sub(/\/[^\/]*$/, "", path))
                if (path in known)
                    return path
            return ""
        }
        # Print the directory of a header as written: base/x.h is src/base/x.h.
        function of_header(h) {
            if (h !~ /\//)
                return substr(h, 1, length(h) - 2)
            sub(/\/[^\/]*$/, "", h)
            return h
        }
        function at_home(list, file,    w, n, i) {
            n = split(list, w, /[ \t]+/)
            for (i = 1; i <= n; i++)
                if (w[i] == file || (w[i] ~ /\/$/ && index(file, w[i]) == 1))
                    return 1
            return 0
        }
        FNR == 1 { files++ }
        /^[ \t]*#[ \t]*include[ \t]*[<"]/ {
            includes++
            header = $0
            sub(/^[^<"]*[<"]/, "", header)
            sub(/[>"].*/, "", header)
            own = layer(FILENAME)
            short = own
            sub(/^src\//, "", short)
            if (header in home && !at_home(home[header], FILENAME))
                print FILENAME ":" FNR ": includes " header \
                    ": may only be included by " home[header]
            if ($0 !~ /"/ || own == "")
                next
            to = of_header(header)
            sub(/^src\//, "", to)
            if (to == short || (own, to) in may || (own, header) in may)
                next
            print FILENAME ":" FNR ": includes " header ": " own \
                " may not include it"
        }
        END { print "checked " files + 0 " files " includes + 0 }'
    )
}

# shellcheck source=tests/support/tap.sh
. "$src/tests/support/tap.sh"

# ok NAME FILE: the test passes if FILE is empty; otherwise its lines are
# shown.
ok() {
    [ ! -s "$2" ]
    check "$1" $? "$2"
}

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
violations "$src" >"$tmp/all"

rooms | while read -r room _; do echo "$room"; done >"$tmp/rooms"
while read -r room; do
    grep -E "^$room(/[^/:]*|[.][ch]):" "$tmp/all" >"$tmp/one"
    ok "layers: $room" "$tmp/one"
done <"$tmp/rooms"
rooms | awk '{
    for (i = 2; i <= NF; i++) {
        room = $i
        sub(/\/.*|[.]h$/, "", room)
        if ($i !~ /^(transport|command)[.]h$/ && !(room in known))
            print $1 ": " $i " is not a module below it"
    }
    sub("^src/", "", $1)
    known[$1] = 1
}' >"$tmp/one"
ok "layers: every module includes only modules below it" "$tmp/one"
awk '/^checked/ && ($2 < 20 || $4 < 50) { print "too few files: " $0 }' \
    "$tmp/all" >"$tmp/one"
ok "layers: the tree was read" "$tmp/one"

# Show that the check can fail: plant one violation of each kind.
plant() {
    mkdir -p "$tmp/tree/${1%/*}"
    printf '/* x */\n#include %s\n' "$2" >"$tmp/tree/$1"
    violations "$tmp/tree" | grep "^$1:2: " >"$tmp/found"
    rm -rf "$tmp/tree"
    : >"$tmp/one"
    if [ -s "$tmp/found" ] && [ "$3" = good ]; then
        cat "$tmp/found" >"$tmp/one"
    elif [ ! -s "$tmp/found" ] && [ "$3" = bad ]; then
        echo "not detected: $1 includes $2" >"$tmp/one"
    fi
    ok "layers: $2 planted in $1 is $3" "$tmp/one"
}
plant parsers/x.c '"remote/fleet.h"' bad
plant parsers/x.c '"src/loop/loop.h"' bad
plant src/base/x.c '"parsers/run.h"' bad
plant parsers/x.c '"parsers/harness/run.h"' bad
plant parsers/harness/x.c '"parsers/json.h"' good
plant ui/x.c '<curses.h>' bad
plant ui/x.c '"parsers/run_reader.h"' bad
plant src/cmd/x.c '<sqlite3.h>' bad
plant remote/x.c '"model/model.h"' bad
plant remote/x.c '"transport.h"' good
plant remote/x.c '"base/err.h"' good
plant src/cmd/x.c '"store/store.h"' good
plant src/app/x.c '"cmd/cmd.h"' bad
plant src/bench/x.c '"ui/ui.h"' bad
plant src/main.c '"store/store.h"' bad
plant src/context.c '"bench/drive.h"' bad
plant src/conf/x.c '"context.h"' bad
plant src/ingest/x.c '"context.h"' bad
plant src/ingest/x.c '"bench/record.h"' bad
plant src/ingest/x.c '"pods/timed.h"' good
plant src/bench/x.c '"context.h"' good
plant ui/term_curses.c '<curses.h>' good

finish
