#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The reports on waits, for a recording of threads that contend for a mutex, pass bytes through
# pipes and write to the disk. Every wait is traced. The expected rows must be there. Each thread's
# states must add up to its time in the recording, which the recorder counts independently of
# packets.
. "$(dirname "$0")/../lib/live.sh"

check "a load that waits is recorded" "$er_kernel" -q 0 -s all -o w.er "$syn/contend"
[ -f w.er/threads.xml.gz ] || { not_ok "a recording with waits has threads.xml.gz"; exit 1; }

# Select by process: COMM would leave out what its first thread did before it started the program.
pid=$(query 'pid from thread where comm eq "contend"' w.er | head -n 1)
"$er_print" -printmode , -filters "PID == $pid" -microstates w.er 2>/dev/null >states
query 'tid (end-begin)/1e9 from thread' w.er >walls
awk -F'","' '
	FILENAME == "walls" { split($0, of, "\t"); wall[of[1]] = of[2]; next }
	match($0, /TID [0-9]+/) {
		tid = substr($0, RSTART + 4, RLENGTH - 4); sum = substr($1, 2); n++
		off = sum > wall[tid] ? sum - wall[tid] : wall[tid] - sum
		# The tolerance is 0.1 %, plus rounding to milliseconds and a last microsecond.
		if (off > wall[tid] / 1000 + 0.001) { print tid ": " sum " of " wall[tid]; bad++ } }
	END { print n " threads"; exit bad > 0 || n < 6 }' walls states >sums
status=$?
# If a sample found no room in its ring, its CPU time is in no packet.
if [ $status != 0 ] && "$er_print" -header full w.er | grep -q '^\*\*\* Lost: [1-9][0-9]* of [0-9]* sample'; then
	skip "the states of each of its threads add up to its time" \
		"$("$er_print" -header full w.er | grep -m1 '^\*\*\* Lost')"
else
	check "the states of each of the load's threads add up to its time" [ $status = 0 ]
fi
[ "$failures" = 0 ] || sed 's/^/#   /' sums

# report NAME PATTERN COMMAND…: the report must have a line that matches
report()
{
	local name=$1 pattern=$2

	shift 2
	"$er_print" -filters 'COMM == "contend"' "$@" w.er >report 2>&1
	if grep -qE -- "$pattern" report; then ok "$name"; else not_ok "$name" "$(cat report)"; fi
}

report "waits: for pipes, with the stack" '^ *[0-9.]+ +[0-9.]+ +[0-9]+ .*pipe_read' -waits
report "waits: numbers are exact where all are traced" '^Lengths by decade' -waits
if [ "$(query 'sum(lost) from waitring' w.er)" = 0 ]; then
	check "waits: no number is marked as an estimate" sh -c '! grep -q "^~" report'
else
	skip "waits: no number is marked as an estimate" "waits were lost: this CPU makes more than fit"
fi
report "locks: main waits for its threads to end" '(join|lock) at 0x|locks taken' -locks
# The process by its name. If its path has blanks, its threads by their names in parentheses.
report "wakers: its threads wake each other" '[ (]contend\)? -> .*contend\)?$' -wakers
report "runqueue: a histogram" 'us \|#' -runqueue
main=$("$er_print" -printmode , -filters 'COMM == "contend" && PID == TID' -microstates w.er 2>/dev/null |
	sed -n 's/.*TID \([0-9]*\).*/\1/p' | head -n 1)
report "wakechain: main waited for a thread that ended the wait" 'ended by .*contend' -wakechain "$main"

# A wait goes on for some microseconds after the wakeup, until the thread is queued. A wait that is
# sampled for this part only has the stack of its waker, too. A busy host may delay the queuing of a
# thread for longer: the mean of three recordings counts.
for i in 1 2 3; do
	rm -rf k.er
	"$er_kernel" -o k.er -q 0 "$syn/contend" 2 >out 2>&1
	"$er_print" -limit 0 -filters 'COMM == "contend"' -wakers k.er 2>/dev/null | awk '
		/, by / { sub("~", "", $3); all += $3; if (/, by <Unknown>/) n += $3 }
		END { print all ? n / all : 1 }'
done >unknown
check_that "wakers of short waits have stacks" \
	"$(awk '{ n += $1 } END { print n / NR }' unknown) < 0.2" "shares without: $(cat unknown)"

# lockkinds.c: each kind of lock is told from the others.
must_record kinds.er -s all -q 0 "$syn/lockkinds"
"$er_print" -limit 0 -filters 'COMM == "lockkinds"' -locks address kinds.er >report 2>&1
for lock in 'mutex lockkinds`a_mutex,' 'rwlock lockkinds`a_rwlock+' 'semaphore lockkinds`a_semaphore,' \
	'condition variable lockkinds`a_condition' 'barrier lockkinds`a_barrier' 'join at 0x'; do
	if grep -qF ": $lock" report; then ok "locks: $lock"; else not_ok "locks: $lock" "$(cat report)"; fi
done
