#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The recorder's own cost; idle CPUs; usage samples.
. "$(dirname "$0")/../lib/live.sh"

# The sum of all numbers before the name, in lines of CSV.
csv_seconds() { awk -F'","' '{ for (i = 1; i < NF; i++) { gsub(/"/, "", $i); s += $i } } END { printf "%.3f", s }'; }

"$er_kernel" -o self.er -F on -p high -t 3 >out 2>err &
pid=$!
wait $pid
header=$("$er_print" -header full self.er)
printf '%s\n' "$header" >h
check "the header says what the BPF programs cost" grep -iqE 'bpf.*[0-9]' h
check "the header says what the recorder cost" grep -iqE '(er_kernel|recorder|collector).*[0-9.]+ *(s|sec|ms)' h
check_that "the recorder prints one line if standard error is not a terminal" "$(grep -c . out) + $(grep -c . err) <= 3" "$(cat out err)"

samples=$(query 'count() from event where kind eq "sample"' self.er)
span=$(event_time self.er exit)
check_that "one sample a second, one at the start and one at the end" \
	"$samples >= 4 && $samples <= int($span) + 3" "$samples in $span s"

# The recording's own cost is one row, also with -F on.
"$er_print" -printmode , -metrics e.user:e.kcpu:name -functions self.er >functions 2>/dev/null
"$er_print" -printmode , -metrics e.user:e.kcpu:name -comms self.er >comms 2>/dev/null
"$er_print" -printmode , -metrics e.totalcpu:name -processes self.er >processes 2>/dev/null
"$er_print" -printmode , -metrics e.totalcpu:name -threads self.er >threads 2>/dev/null
check_that "the recorder's own time is one function" "$(grep -c '"<Recording>"$' functions) == 1" \
	"$(grep -c . functions) functions"
check_that "the recorder's own time has one name in lists of names" \
	"$(grep '"<Recording>"$' functions | csv_seconds) > 0 &&
	 $(grep '"<Recording>"$' functions | csv_seconds) == $(grep '"<Recording>"$' comms | csv_seconds)" \
	"$(grep '<Recording>' functions comms)"
for list in processes threads; do
	check_that "the recorder's $list are marked, and add up to its time" \
		"$(grep -c "\"<Recording>, PID $pid[,\"]" $list) == 1 &&
		 ($(grep '"<Recording>, ' $list | csv_seconds) - $(grep '"<Recording>"$' comms | csv_seconds))^2 <= 0.004^2" \
		"$(grep -E "Recording|PID $pid" $list comms)"
done
check_that "the recorder has no sub-experiment" "$(ls -d self.er/_*_PID_$pid.* 2>/dev/null | wc -l) == 0"

idle=$("$er_print" -printmode , -functions self.er | grep -c '<IDLE>')
check_that "idle CPUs are not recorded" "$idle == 0"
# Hundredths of a second for which the CPUs were idle, by the kernel's count.
idle_ticks() { awk '$1 == "cpu" { print $5 }' /proc/stat; }
before=$(idle_ticks)
must_record idle.er -p high --idle -t 1
idled=$(($(idle_ticks) - before))
idle=$("$er_print" -printmode , -functions idle.er | grep -c '<IDLE>')
if [ $idled -ge 30 ] || [ "$idle" = 1 ]; then
	check_that "--idle records idle CPUs as <IDLE>" "$idle == 1" "idle for $idled hundredths"
else
	skip "--idle records idle CPUs as <IDLE>" "no CPU was idle for long: $idled hundredths of a second"
fi

# Three have a child at most: two that build unwind tables, whose children come with the first work, and one that opens
# files.
helpers() { pgrep -P "$1" && pgrep -P "$(pgrep -P "$1" -d ,)"; }
# children PID: the PIDs of its children, and the largest number that one of these has.
children() { pgrep -P "$1" -d ' '; pgrep -P "$1" | while read -r p; do pgrep -P "$p" | wc -l; done | sort -n | tail -n 1; }

"$er_kernel" -o noself.er -F on -p high --no-self -t 2 >out 2>err &
pid=$!
for i in $(seq 200); do [ "$(helpers $pid | wc -l)" -ge 4 ] && break; sleep 0.01; done
helpers=$(helpers $pid | tr '\n' ' ') all=$(children $pid)
wait $pid
# Then no row names er_kernel.
check_that "--no-self leaves no time of er_kernel" "$(query "count() from thread where tid == $pid" noself.er) == 0"
check_that "--no-self leaves no packet of er_kernel" "$(query "count() from packets where THRID == $pid" noself.er) == 0"
for helper in $helpers; do
	check_that "--no-self leaves no packet of er_kernel's helper" "$(query "count() from thread where tid == $helper" noself.er) == 0 &&
		$(query "count() from packets where THRID == $helper" noself.er) == 0"
done
check_that "er_kernel has three helpers, with one child each at most" \
	"$(echo "$all" | head -n 1 | wc -w) == 3 && $(echo "$all" | tail -n 1) == 1" "$all; $helpers"

# Values that are not counted are not shown as 0.
"$er_print" -statistics self.er >stat
check "without --exact-user the report says that calls were not counted" grep -q '^System calls: *not counted' stat
check_that "without --exact-user involuntary switches are counted" "$(awk '/^Involuntary/ { print $4 + 0 }' stat) + $(awk '/^Voluntary/ { print $4 + 0 }' stat) > 0" "$(cat stat)"
must_record calls.er --exact-user -t 1 -A off
"$er_print" -statistics calls.er >stat
check_that "--exact-user counts system calls" "$(awk '/^System calls/ { print $3 + 0 }' stat) > 0" "$(cat stat)"
must_record off.er --states off -t 1 -A off
"$er_print" -statistics off.er >stat
check_that "without states fewer usage figures are counted" "$(grep -c 'not counted' stat) >= 8" "$(cat stat)"
