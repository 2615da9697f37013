#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A machine with many CPUs. Each CPU is sampled, nothing is lost, and the buffers of all CPUs
# together stay within their limit.
. /bin/guest.sh

ncpus=$(ls -d /sys/devices/system/cpu/cpu[0-9]* | wc -l)
[ "$ncpus" -gt 4 ] || { echo "skip $ncpus CPUs are not many"; exit 0; }

cat >load <<'END'
cpu=0
while [ $cpu -lt $1 ]; do
	taskset -c $cpu spin alpha:0.5 >spin.$cpu &
	cpu=$((cpu + 1))
done
for map in /proc/$PPID/fdinfo/*; do
	awk '$1 == "map_type:" { type = $2 } $1 == "memlock:" { print type, $2 }' $map
done >maps 2>/dev/null
wait
grep VmHWM /proc/$PPID/status >memory
END

rm -rf m.er
er_kernel -o m.er -q 0 -- sh load "$ncpus" 2>err
says "records on $ncpus CPUs" "$? == 0 && $(wc -l <err) == 0" "$(cat err)"
wrong=$(wrong_threads m.er)
says "the states of all threads add up" "${#wrong} == 0" "$wrong"
er_print -header full m.er >header 2>&1
wrong=$(grep -E '\*\*\*|not sampled' header)
says "nothing is lost" "${#wrong} == 0" "$wrong"

# The first sample of a program also has the time of its start, which takes long on emulated
# CPUs, and its last time can be in a sample of its end. So there is only a lower bound.
er_print -printmode , -filters '(FNAME("^alpha$") SOME IN STACK)' -metrics e.totalcpu:name -cpus m.er >cpus 2>&1
cpu=0 wrong=
while [ $cpu -lt "$ncpus" ]; do
	want=$(truth alpha spin.$cpu)
	got=$(awk -F'"' -v n="CPU $cpu" '$4 == n { print $2 }' cpus)
	awk "BEGIN { exit !($want > 0.4 && ${got:-0} > 0.85 * $want) }" || wrong="$wrong CPU $cpu: $got of $want;"
	cpu=$((cpu + 1))
done
says "each CPU has its program's time" "${#wrong} == 0" "$wrong"

# BPF_MAP_TYPE_RINGBUF is 27.
rings=$(awk '$1 == 27 { n++ } END { print n + 0 }' maps)
bytes=$(awk '$1 == 27 { sum += $2 } END { print sum + 0 }' maps)
says "each CPU has a ring" "$rings >= $ncpus" "$rings rings"
says "all rings together keep within 64 MB and 20 KB each" \
	"$bytes > 0 && $bytes <= 64 * 1048576 + $rings * 20480" "$bytes bytes in $rings rings"
echo "# $(cat memory), $rings rings of $bytes bytes"
