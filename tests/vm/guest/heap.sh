#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs in the virtual machine of run.sh: heap tracing of a process that runs already counts what the
# process counts itself.
. /bin/guest.sh

mkfifo words
heap attached <words >out &
pid=$!
exec 9>words
# await FILE PATTERN N: wait until so many lines match.
await() { until [ "$(grep -c "$2" "$1" 2>/dev/null)" -ge "$3" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.2; done; }
await out ready 1
collect -o h.er -p off -H on -P $pid >rec 2>err &
rec=$!
until [ -s h.er/recorder.xml ] || ! kill -0 $rec 2>/dev/null; do sleep 0.2; done
echo all >&9
await out done 1
echo odd >&9
await out done 2
kill -INT $rec
wait $rec
says "records a process that runs" "$? == 0" "$(cat err)"
exec 9>&-
wait $pid
says "the process ends as by itself" "$? == 0" "$(cat out)"
er_print -metrics e.heapalloccnt:e.heapallocbytes:e.heapleakcnt:e.heapleakbytes:name -functions h.er >rows 2>&1
for f in leak churn grow zeroed aligned map refused leave after_leaving; do
	want=$(for what in allocs bytes leaks leaked; do awk -v n="$f.$what" '$1 == n { printf "%d ", $2 }' out; done)
	got=$(awk -v f=$f '$5 == f { print $1, $2, $3, $4, "" }' rows)
	says "$f: allocations and leaks" "$([ "$got" = "$want" ] && echo 1 || echo 0) == 1" "$got, not $want"
done
er_print -header h.er >header 2>&1
says "nothing is lost" "$(grep -c 'heap event' header err | awk -F: '{ n += $2 } END { print n }') == 0" "$(cat header err)"
case $(uname -r) in
6.[0-9].* | 6.1[01].*) want=1 ;;
*) want=0 ;;
esac
says "descendants that may lose their breakpoints are announced" "$(grep -c 'before Linux 6.12' err) == $want" "$(cat err)"
