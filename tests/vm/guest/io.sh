#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs in the virtual machine of run.sh: I/O tracing counts what the program says it did.
. /bin/guest.sh

echo "thirty bytes of a given file.." >given.data
collect -p off -i on -o io.er "$(command -v fileio)" threads 9<given.data >out 2>err
says "traces I/O" "$? == 0" "$(cat err)"
# A slow machine has no unwind tables for the first calls: so those of later functions are compared.
er_print -metrics i.ioreadcnt:i.ioreadbytes:i.iowritecnt:i.iowritebytes:i.ioothercnt:i.ioerrorcnt:name \
	-functions io.er 2>err >functions
for f in copies interrupted restarted waiting given; do
	expected=$(awk -v f="$f." 'index($1, f) == 1 { printf "%d ", $2 }' out)
	got=$(awk -v f="$f" '$7 == f { printf "%d %d %d %d %d %d ", $1, $2, $3, $4, $5, $6 }' functions)
	[ -n "$expected" ] && [ "$expected" = "$got" ]
	says "calls, bytes and errors of $f" "$? == 0" "$got, expected $expected"
done
er_print -metrics e.ioreadcnt:e.ioreadbytes:e.iowritecnt:e.iowritebytes:name -ioactivity io.er >files 2>err
expected=$(awk '$1 == "file" { print $3, $4, $5, $6, $2 }' out)
got=$(awk '$5 ~ /plain.data$/ { print $1, $2, $3, $4, $5 }' files)
[ -n "$expected" ] && [ "$expected" = "$got" ]
says "calls and bytes of a file" "$? == 0" "$got, expected $expected"
says "a file that was open before has its name" "$(grep -c '3 *30 .*/given.data$' files) == 1" "$(cat files)"
says "nothing was lost" "$(grep -c '<ioring .* lost="0"' io.er/recorder.xml) == $(grep -c '<ioring ' io.er/recorder.xml) &&
	$(grep -c '<ioring ' io.er/recorder.xml) > 0"
