#!/bin/sh
# SPDX-License-Identifier: MIT
# The dependency rule, held against every #include line: which folder may know
# which other, and the one home of each third-party header.  The second half
# of the rule is the linker's: a test links only the archives of its layer.
set -u
src=${HGYM_SRC:-$(cd "$(dirname "$0")/.." && pwd)}

# A folder, then the folders and single headers of ours that it may include
# (itself always).  "*" is everything.  The longest folder that fits decides.
folders() {
    cat <<'TABLE'
src/base
parsers     base
src/model   base parsers
src/loop    base
src/gen     base
src/harness base parsers
remote      base loop transport.h
src/store   base loop model parsers/run.h parsers/metric.h
src/bench   base loop model parsers transport.h
ui          base model command.h parsers/run.h parsers/metric.h
src         *
tests       *
TABLE
}

# A header from elsewhere, then the files that are its home; a trailing slash
# names a whole folder.  A header that is not listed is free to all.
homes() {
    cat <<'TABLE'
curses.h         ui/term_curses.c src/version.c
ncurses.h        none
term.h           ui/term_curses.c
uv.h             src/loop/ src/version.c
sqlite3.h        src/store/ src/version.c tests/
libssh2.h        remote/ src/version.c tests/tools/bare-libssh2.c
libssh2_sftp.h   none
cjson/cJSON.h    parsers/json.h parsers/run.h src/out.h src/version.c tests/
pcre2.h          parsers/ src/version.c
sys/socket.h     remote/ src/loop/ tests/
netdb.h          remote/ tests/
netinet/in.h     remote/ tests/
arpa/inet.h      remote/ tests/
TABLE
}

# "file:line: includes X: reason" for each violation under directory $1; the
# first line is "checked N FILES M".
violations() {
    (
        cd "$1" || exit 1
        FOLDERS=$(folders)
        HOMES=$(homes)
        export FOLDERS HOMES
        # shellcheck disable=SC2016
        find src ui parsers remote tests -name '*.[ch]' 2>/dev/null | sort |
            xargs awk '
        BEGIN {
            n = split(ENVIRON["FOLDERS"], row, "\n")
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
            while (sub(/\/[^\/]*$/, "", path))
                if (path in known)
                    return path
            return ""
        }
        # The folder of a header as it is written: base/x.h is src/base/x.h.
        function of_header(h) {
            if (h !~ /\//)
                return h
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
                    ": its home is " home[header]
            if ($0 !~ /"/ || header == "config.h" || (own, "*") in may)
                next
            to = of_header(header)
            sub(/^src\//, "", to)
            if (to == short || (own, to) in may || (own, header) in may)
                next
            print FILENAME ":" FNR ": includes " header ": " own \
                " may not know it"
        }
        END { print "checked " files + 0 " files " includes + 0 }'
    )
}

# shellcheck source=tests/support/tap.sh
. "$src/tests/support/tap.sh"

# ok NAME FILE: the test passes when FILE is empty; else its lines are shown.
ok() {
    [ ! -s "$2" ]
    check "$1" $? "$2"
}

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
violations "$src" >"$tmp/all"

folders | while read -r folder _; do echo "$folder"; done >"$tmp/folders"
while read -r folder; do
    grep "^$folder/" "$tmp/all" >"$tmp/one"
    # src holds the others: only its own files count there.
    [ "$folder" != src ] || {
        grep '^src/[^/]*$' "$tmp/one" >"$tmp/two"
        mv "$tmp/two" "$tmp/one"
    }
    ok "layers: $folder" "$tmp/one"
done <"$tmp/folders"
awk '/^checked/ && ($2 < 20 || $4 < 50) { print "too few files: " $0 }' \
    "$tmp/all" >"$tmp/one"
ok "layers: the tree was read" "$tmp/one"

# The check itself can fail: plant one violation of each sort.
plant() {
    mkdir -p "$tmp/tree/${1%/*}"
    printf '/* x */\n#include %s\n' "$2" >"$tmp/tree/$1"
    violations "$tmp/tree" | grep "^$1:2: " >"$tmp/found"
    rm -rf "$tmp/tree"
    : >"$tmp/one"
    if [ -s "$tmp/found" ] && [ "$3" = good ]; then
        cat "$tmp/found" >"$tmp/one"
    elif [ ! -s "$tmp/found" ] && [ "$3" = bad ]; then
        echo "not noticed: $1 includes $2" >"$tmp/one"
    fi
    ok "layers: planted $2 in $1 is $3" "$tmp/one"
}
plant parsers/x.c '"remote/fleet.h"' bad
plant parsers/x.c '"src/loop/loop.h"' bad
plant src/base/x.c '"parsers/run.h"' bad
plant ui/x.c '<curses.h>' bad
plant ui/x.c '"parsers/run_reader.h"' bad
plant src/cmd_x.c '<sqlite3.h>' bad
plant remote/x.c '"model/model.h"' bad
plant remote/x.c '"transport.h"' good
plant remote/x.c '"base/err.h"' good
plant src/cmd_x.c '"store/store.h"' good
plant ui/term_curses.c '<curses.h>' good

finish
