#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Counters on this kernel: a function's faults and switches compared with getrusage, with
# and without a clock; and counters of a CPU that goes offline and comes back.
. /bin/guest.sh

# events FUNCTION METRIC EXPERIMENT: a metric's events in a function.
events()
{
	er_print -printmode , -metrics "$2:name" -functions "$3" 2>/dev/null |
		awk -F'","' -v n="$1\"" '{ sub(/^"/, "") } $2 == n { s += $1 } END { print s + 0 }'
}

# Runs once before, so that the unwind tables are there when it counts. One page counts twice.
echo 'faults 1 0 >first; sleep 1; exec faults 500 50' >twice
for clock in on off; do
	rm -rf c.er
	er_kernel -o c.er -p $clock -F on -q 0 -h minor-faults,1,context-switches,1 -- sh twice >out 2>err
	says "-p $clock: records" "$? == 0 && $(wc -l <err) == 0" "$(cat err)"
	want=$(truth touch_pages out) got=$(events touch_pages i.minor-faults c.er)
	says "-p $clock: faults" "$got >= 0.99 * $want - 2 && $got <= 1.01 * $want + 2" "$got of $want"
	want=$(truth kernel_touches out) got=$(events kernel_touches i.K_minor-faults c.er)
	says "-p $clock: faults in a system call" "$got >= 0.99 * $want - 2 && $got <= 1.01 * $want + 2" "$got of $want"
	want=$(truth leave_often out) got=$(events leave_often i.context-switches c.er)
	says "-p $clock: switches" "$got >= 0.99 * $want - 2 && $got <= 1.01 * $want + 2" "$got of $want"
	er_print -header full c.er >header 2>&1
	says "-p $clock: nothing is lost" "$(grep -c '^Nothing was lost' header) == 1" "$(cat header)"
done

last=$(ls -d /sys/devices/system/cpu/cpu[0-9]* | sed 's/.*cpu//' | sort -n | tail -n 1)
switch=/sys/devices/system/cpu/cpu$last/online
[ -w "$switch" ] || { echo "skip CPU $last cannot be taken offline"; exit 0; }
cat >load <<END
echo 0 >$switch || exit 1
sleep 0.3
echo 1 >$switch || exit 1
sleep 0.5
taskset -c $last faults 500 0 >out
END
for clock in on off; do
	rm -rf c.er
	taskset -c 0 er_kernel -o c.er -p $clock -F on -q 0 -h minor-faults,1 -- sh load 2>err
	says "a CPU that came back, -p $clock: records" "$? == 0 && $(wc -l <err) == 0" "$(cat err)"
	want=$(truth touch_pages out) got=$(events touch_pages i.minor-faults c.er)
	says "a CPU that came back, -p $clock: is counted again" \
		"$got >= 0.99 * $want - 2 && $got <= 1.01 * $want + 2" "$got of $want; $(er_print -header full c.er)"
done
