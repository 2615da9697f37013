#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 20,000 processes in a fork storm, most of which have a PID that another one had before: memory
# stays bounded, what was dropped is counted, each process has its time, and the experiment opens.
# Time limit: 400 s
. "$(dirname "$0")/../lib/live.sh"

# Four rounds begin at the same PID.
cat >rounds <<'END'
for i in 1 2 3 4; do
	echo "$1" >/proc/sys/kernel/ns_last_pid
	"$syn/many" 5000 50 0.5
done 2>/dev/null
END
"$er_kernel" -o storm.er -p high -F on -q 0 --each-thread -- sh rounds "$(cat /proc/sys/kernel/ns_last_pid)" >out 2>err &
pid=$!
peak=0
while kill -0 $pid 2>/dev/null; do
	now=$(awk '/^VmHWM/ { print $2 }' /proc/$pid/status 2>/dev/null)
	[ "${now:-0}" -le $peak ] || peak=$now
	sleep 0.1
done
wait $pid
check_that "the recorder survives a storm of processes" "$? == 0 && $(truth out processes) == 20000" "$(cat err)"
check_that "a storm of processes: the recorder's memory stays within 256 MB" "$peak > 0 && $peak < 262144" "VmHWM $peak kB"
check "a storm of processes: the experiment opens" "$er_print" -header -functions storm.er
want=$(truth out children-cpu)
got=$("$er_print" -printmode , -metrics e.user:e.kcpu:name -functions storm.er 2>/dev/null | total_cpu)
check_that "a storm of processes: the experiment has their CPU time" "$got > 0.9 * $want" "got $got, getrusage $want"

want=$(awk "BEGIN { print $(truth out cpu) + $(truth out children-cpu) }")
query 'tid, run from thread where comm eq "many" && ended' storm.er >threads
got=$(awk '{ ns += $2 } END { printf "%.6f", ns / 1e9 }' threads)
unseen=$(query 'count from dropped where what =~ "^threads that ended"' storm.er)
check_that "a storm of processes: each of them has a line" \
	"$(wc -l <threads) + ${unseen:-0} >= 20004 && $(wc -l <threads) <= 20004" "$(wc -l <threads) lines, ${unseen:-0} unseen"
# getrusage lacks what a process uses after its parent was told of its end.
check_that "a storm of processes: their lines have the time that the kernel counted" \
	"${unseen:-0} > 0 || ($got > 0.99 * $want && $got < 1.03 * $want + 0.0001 * $(truth out processes))" \
	"got $got, getrusage $want"
if [ -w /proc/sys/kernel/ns_last_pid ]; then
	check_that "a storm of processes: PIDs come again" "$(cut -f1 threads | sort -u | wc -l) < 0.75 * $(wc -l <threads)" \
		"$(cut -f1 threads | sort -u | wc -l) PIDs"
else
	skip "a storm of processes: PIDs come again" "this kernel has no ns_last_pid"
fi

# Trace every wait of such a storm, which is more than can be written in time. The recording still
# ends on time, and each thread with a packet has its total.
"$syn/many" 1000000 8 0.2 >/dev/null 2>&1 &
pid=$!
record all.er -s all -t 2 -F on -A off --each-thread
kill $pid
wait $pid 2>/dev/null
span=$(query 'ended_ns-began_ns from capture' all.er)
check_that "-t 2: two seconds are recorded" "${span:-0} >= 2000000000 && ${span:-0} < 3000000000" "$span"
query 'THRID from packets' all.er | sort -u >with_packets
query 'tid from thread' all.er | sort -u >with_totals
missing=$(comm -23 with_packets with_totals | tr '\n' ' ')
unseen=$(query 'count from dropped where what =~ "^threads that ended"' all.er)
check_that "each thread with a packet has its totals" \
	"$(wc -l <with_packets) > 50 && $(echo "$missing" | wc -w) <= ${unseen:-0}" "without: $missing"
