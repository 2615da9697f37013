#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Times off a CPU, from the command line to the packets: sampled and traced
# waits, <SLEEPING> and <STALLED>, and the same sums in gprofng.
. "$(dirname "$0")/../lib/live.sh"

sh -c 'while :; do sleep 0.02; sleep 0.003; done' &
loop=$!
"$syn/spin" alpha:60 >/dev/null &
spin=$!
on_exit=stop_load
stop_load() { kill $loop $spin 2>/dev/null; }

must_record target.er -t 3 -T $loop -T $spin
for tid in $loop $spin; do
	for state in "SLEEP sleep" "WAIT_CPU wait" "USER_LOCK lock"; do
		total=$(query "sum(${state#* }) from thread where tid == $tid" target.er)
		got=$(query "sum(NTICK*1000) from packets where MSTATE eq ${state% *} && THRID == $tid" target.er)
		# The recorder may keep back a microsecond for each state of a thread. It may also
		# add one of another thread that uses the same slot (drain.c, NCARRY).
		check_that "packets of thread $tid add up to its ${state#* }" \
			"$total - $got > -1000 && $total - $got <= 100000" "$total, $got"
	done
done
"$er_print" -printmode , -metrics e.total:name -functions target.er 2>/dev/null >functions
check "-T: a suspended thread is <SLEEPING>" grep -q '<SLEEPING>' functions
"$er_print" -csingle '<SLEEPING>' target.er 2>/dev/null | sed '/\*<SLEEPING>/q' >callers
check_that "-T: its callers are the stack of the wait" "$(grep -c 'vmlinux`' callers) >= 1" "$(cat callers)"
check "-T: the stack is that of a wait for a child" \
	sh -c "'$er_print' -printmode , -waits target.er 2>/dev/null | grep -q child"

if command -v gprofng >/dev/null; then
	for m in user system trap textpfault datapfault kernelpfault lock sleep wait stop; do
		theirs=$(gprofng_text -printmode , -metrics "e.$m:name" -functions target.er \
			2>/dev/null | awk -F'"' '$4 == "<Total>" { print $2; exit }')
		ours=$("$er_print" -printmode , -metrics "e.$m:name" -functions target.er 2>/dev/null |
			awk -F'"' '$4 == "<Total>" { print $2; exit }')
		[ -n "$theirs" ] && [ "$theirs" = "$ours" ] && ok "gprofng has the same $m" ||
			not_ok "gprofng has the same $m" "gprofng '$theirs', er_print '$ours'"
	done
else
	skip "gprofng has the same sums" "gprofng is not installed"
fi

# Traced: all waits that are long enough, and none that is shorter.
must_record traced.er -s 10000 -t 3 -T $loop
check_that "-s 10000: some waits are traced" \
	"$(query 'count() from packets where TRACED' traced.er) >= 3"
check_that "-s 10000: no traced wait is shorter" \
	"$(query 'sum(WLEN) from packets where TRACED by CPUID SEQ' traced.er | sort -n | head -n 1) >= 10000000"
check_that "-s 10000: each traced wait has its own length as weight" \
	"$(query 'count() from packets where TRACED && abs(WLEN / 1000 - NTICK) > 2' traced.er) == 0"
check "-s on: the header has the threshold" sh -c "
	'$er_kernel' -s on -t 0.3 -o on.er && grep -q 'trace_ns=\"[0-9][0-9][0-9]' on.er/recorder.xml"

must_record off.er --states off -t 0.5
check_that "--states off: no times off a CPU" \
	"$(query 'count() from packets where !ON_CPU' off.er) == 0"
check_that "--states off: no threads.xml" "$(ls off.er | grep -c threads.xml) == 0"

must_record exact.er --exact-user -t 1 -T $spin
check_that "--exact-user: the thread's user time is exact" \
	"$(threads_of exact.er | grep -c 'split="1"') == 1" "$(threads_of exact.er)"

# A budget that cannot be met: everything that can be shed is shed, and that is recorded.
must_record budget.er --budget 0.001 -p high -t 8
check_that "--budget: what was shed is written down" \
	"$(grep -c '<shed .*stacks of short waits' budget.er/recorder.xml) >= 1" \
	"$(grep -E '<shed|<budget' budget.er/recorder.xml)"

for way in sched_exit_tp finish_task_switch switch-out none; do
	if record way.er --wait-stacks $way -t 0.3; then
		check "--wait-stacks $way: the header names it" grep -q "way=\"$way\"" way.er/recorder.xml
	else
		check_that "--wait-stacks $way: refused in one sentence" \
			"$(wc -l <record.err) == 1 && $(ls -d way.er 2>/dev/null | wc -l) == 0" "$(cat record.err)"
	fi
	rm -rf way.er
done
