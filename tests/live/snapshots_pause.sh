#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Exact states between two usage samples, with a pause of the recording between them: nothing of the pause is in them.
# Time limit: 120 s
. "$(dirname "$0")/../lib/live.sh"
. "$top/tests/lib/recorders.sh" || exit 1

# cpuwatch notes the load's CPU time by the kernel. The load runs until it is killed.
start p.er -q 0 -- \
	sh -c 'echo "pid	$$"; "$0/cpuwatch" $$/task/$$ >watched & exec "$0/spin" alpha:1000' "$syn"
load=
on_exit=stop_load
stop_load() { kill $load 2>/dev/null; }
until [ -s p.er.out ]; do sleep 0.1; done
load=$(pid_of p.er.out)
stolen=$(steal)
sleep 2.5
ctl pause --pid $pid
sleep 2.2
ctl resume --pid $pid
sleep 2.5
ctl stop --pid $pid
wait $pid
kill $load
stolen=$(stolen_since "$stolen")

perl "$top/tests/lib/snapshots.pl" p.er >sums 2>&1
check "the records of each thread add up to its total" grep -q '^wrong 0$' sums
run=$(event_time p.er run) paused=$(event_time p.er pause) resumed=$(event_time p.er resume)

# figures FROM TO: of the load, between the usage samples that were taken: from, to, total, CPU.
figures()
{
	"$er_print" -printmode , -pid "$load" -from "$1s" -to "$2s" -exact_states p.er >exact.out 2>&1
	awk -F'","' '/usage sample at/ { match($0, /sample at [0-9.]+/); from = substr($0, RSTART + 10, RLENGTH - 10)
			match($0, /that at [0-9.]+/); to = substr($0, RSTART + 8, RLENGTH - 8) }
		/TID/ { gsub(/"/, ""); split($0, f, ","); total += f[1]; cpu += f[2] }
		END { print from, to, total, cpu }' exact.out
}

# cpu_in FROM TO: the least and the greatest CPU time between two moments of the recording, by cpuwatch.
cpu_in() { ran_between watched "$(awk "BEGIN { printf \"%.6f\", $run + $1 }")" "$(awk "BEGIN { printf \"%.6f\", $run + $2 }")"; }

read -r from to total cpu <<END
$(figures "$(awk "BEGIN { print $paused - 1 }")" "$(awk "BEGIN { print $resumed + 1 }")")
END
recorded=$(awk "BEGIN { print $paused - $from + $to - $resumed }")
check_that "a range over the pause begins before it and ends after it" "$from < $paused && $to > $resumed" "$from $to, pause $paused to $resumed"
check_that "a thread's states add up to the time that was recorded" "$total - $recorded < 0.05 && $recorded - $total < 0.05" \
	"$total of $recorded: $(cat exact.out)"
read -r least most <<END
$(cpu_in "$from" "$paused")
END
read -r least2 most2 <<END
$(cpu_in "$resumed" "$to")
END
check_that "its CPU time is the kernel's, without that of the pause" \
	"$cpu > $least + $least2 - 0.05 - $stolen && $cpu < $most + $most2 + 0.05" "$cpu: $least $most $least2 $most2, stolen $stolen"
read -r from to total cpu <<END
$(figures "$(awk "BEGIN { print $paused + 0.2 }")" "$(awk "BEGIN { print $resumed - 0.2 }")")
END
check_that "nothing of the pause is in its range" "$total + 0 < 0.05" "$from $to $total $cpu"
