#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# CPUs go offline and come back during a recording: first the last CPU, while the recorder
# runs on another, then the recorder's own.
. /bin/guest.sh

last=$(ls -d /sys/devices/system/cpu/cpu[0-9]* | sed 's/.*cpu//' | sort -n | tail -n 1)
switch=/sys/devices/system/cpu/cpu$last/online
[ -w "$switch" ] || { echo "skip CPU $last cannot be taken offline"; exit 0; }

# The load: alpha runs before and during the change, on any CPU. Then beta runs on the CPU that was
# offline.
cat >load <<END
spin alpha:1 >alpha &
sleep 0.3
echo 0 >$switch || exit 1
sleep 0.3
echo 1 >$switch || exit 1
taskset -c $last spin beta:1 >beta
wait
END

# try NAME CPU-OF-THE-RECORDER
try()
{
	rm -rf h.er
	taskset -c "$2" er_kernel -o h.er -F on -q 0 -- sh load 2>err
	says "$1: records" "$? == 0 && $(wc -l <err) == 0" "$(cat err)"
	wrong=$(wrong_threads h.er)
	says "$1: the states of all threads add up" "${#wrong} == 0" "$wrong"
	er_print -header full h.er >header 2>&1
	says "$1: the header says that the CPU went offline and came back" \
		"$(grep -c "CPU $last went offline or came online: 2 times" header) == 1" "$(cat header)"
	# Ignore the lines about walks of user stacks ("n % and n %: why").
	wrong=$(grep -E '\*\*\*|not sampled|could not' header | grep -v ' % and ')
	says "$1: nothing is wrong or lost" "${#wrong} == 0" "$wrong"
	for f in alpha beta; do
		want=$(truth $f $f) got=$(seconds $f h.er)
		says "$1: $f has its time" "$got > 0.95 * $want && $got < 1.05 * $want" "$got of $want; $(er_print -metrics i.totalcpu:name -limit 12 -functions h.er 2>&1)"
	done
	# Until the recorder notices that the CPU is back, its threads have times but no samples.
	got=$(seconds beta h.er "CPUID==$last")
	says "$1: samples come from the CPU that is back" "$got > 0.5 * $want" \
		"$got of $want; $(er_print -cpus h.er 2>&1)"
}

try "another CPU" 0
try "the recorder's CPU" "$last"
