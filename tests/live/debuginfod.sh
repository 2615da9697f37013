#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Names, lines and code of a stripped program from a debuginfod server. A reader asks it if
# DEBUGINFOD_URLS is set. The recorder never does. The server is one of our own, on 127.0.0.1.
. "$(dirname "$0")/../lib/live.sh"

for tool in gcc objcopy strip readelf python3; do
	command -v $tool >/dev/null || skip_all "$tool is not installed"
done
ldconfig -p | grep -q 'libdebuginfod\.so\.1 ' || skip_all "there is no libdebuginfod.so.1"

prog=prog$$ # others may record programs at the same time
gcc -g -O1 -w -D_GNU_SOURCE -I"$top" -pthread -Wl,--build-id "$top/tests/synprog/spin.c" -o full 2>err &&
	objcopy --only-keep-debug full debug && strip -s full -o "$prog" ||
	skip_all "cannot build the program: $(head -n 1 err)"
id=$(readelf -n full | sed -n 's/.*Build ID: //p')
mkdir -p "server/buildid/$id" && mv debug "server/buildid/$id/debuginfo" &&
	cp "$prog" "server/buildid/$id/executable" && rm full

cat >server.py <<'END'
import functools, http.server
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="server")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_address[1], flush=True)
server.serve_forever()
END
python3 server.py >port 2>requests &
server=$!
stop_server() { [ -z "$server" ] || { kill $server; wait $server; server=; } 2>/dev/null; }
on_exit=stop_server
for _ in $(seq 100); do [ -s port ] || sleep 0.1; done
[ -s port ] || skip_all "no server can be started: $(tail -n 1 requests)"

export DEBUGINFOD_URLS="http://127.0.0.1:$(cat port)" DEBUGINFOD_CACHE_PATH="$tmp/cache"
export no_proxy=127.0.0.1
must_record served.er -F "=^$prog\$" -q 0 -- "./$prog" alpha:0.5
cp record.out out
check_that "the recorder asks no server" "$(wc -l <requests) == 0" "$(cat requests)"

got=$(DEBUGINFOD_URLS= seconds_of alpha i.user served.er)
check_that "without a server the program's functions have no names" "$got == 0" "$got"
check_that "and none was asked" "$(wc -l <requests) == 0" "$(cat requests)"

want=$(truth out alpha)
got=$(seconds_of alpha i.totalcpu served.er)
check_that "a function has its name and its time" "($got - $want)^2 <= (0.02 * $want + 0.003)^2" \
	"got $got, truth $want; $(cat requests)"
line=$(grep -n '^TRUTH_BURNER(alpha)' "$top/tests/synprog/spin.c" | cut -d: -f1)
"$er_print" -lines served.er >lines.out 2>lines.err
check_that "a line has its number and file" \
	"$(grep -c "alpha, line $line in \"spin.c\"" lines.out) == 1" "$(head -n 20 lines.out lines.err)"
rm "$prog"
"$er_print" -disasm alpha served.er >disasm.out 2>disasm.err
check_that "code of a program that is gone" "$(grep -c ' ret' disasm.out) >= 1" \
	"$(head -n 20 disasm.out disasm.err)"
asked=$(wc -l <requests)
stop_server

got=$(seconds_of alpha i.totalcpu served.er)
check_that "files are kept for the next reader" "$got > 0.9 * $want" "$got; $(cat requests)"
rm -rf cache
timeout 60 "$er_print" -functions -objects served.er >gone.out 2>gone.err
check_that "a server that is gone is reported with the object, and the rest is shown" \
	"$? == 0 && $(grep -c "debuginfod: build id $id" gone.out) >= 1 && $(grep -c '<Total>' gone.out) == 1" \
	"$(grep -i debuginfod gone.out; head -n 5 gone.err)"
