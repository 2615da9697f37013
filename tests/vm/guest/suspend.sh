#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The machine is suspended during a recording: to memory, which takes all CPUs but the first
# offline, and to idle. run.sh wakes it.
. /bin/guest.sh

cat >load <<'END'
spin alpha:0.5 >before
slept >slept
for try in 1 2 3 4 5; do # refused if a key is pressed at that moment
	echo $1 >/sys/power/state 2>/dev/null && break
done
slept >>slept
spin alpha:0.5 >after
END

# The seconds that the machine was suspended since boot.
cat >/bin/slept <<'END'
#!/bin/sh
now=$(sed -n 's/^now at \([0-9]*\) nsecs/\1/p' /proc/timer_list)
awk -v now="$now" '{ printf "slept %.2f\n", $1 - now / 1e9 }' /proc/uptime
END
chmod +x /bin/slept

try()
{
	grep -qw "$1" /sys/power/state || { echo "skip $1: this kernel cannot"; return; }
	rm -rf s.er
	er_kernel -o s.er -F on -q 0 -- sh load "$1" 2>err
	says "$1: records" "$? == 0 && $(wc -l <err) == 0" "$(cat err)"
	wrong=$(wrong_threads s.er)
	says "$1: the states of all threads add up, and to no more than the recording" \
		"${#wrong} == 0" "$wrong"
	want=$(awk '{ s = $2 - s } END { print s }' slept)
	er_print -header full s.er >header 2>&1
	got=$(sed -n 's/.*was suspended for \([0-9.]*\) sec.*/\1/p' header)
	says "$1: the header says how long it was suspended" \
		"$want < 0.5 || ${got:-0} > $want - 0.5 && ${got:-0} < $want + 0.5" "got $got of $want; $(cat header)"
	wrong=$(grep -E '\*\*\*|not sampled|could not' header)
	says "$1: nothing is wrong or lost" "${#wrong} == 0" "$wrong"
	cat before after >alpha
	want=$(truth alpha alpha) got=$(seconds alpha s.er)
	says "$1: what ran before and after has its time" "$got > 0.95 * $want && $got < 1.05 * $want" \
		"$got of $want; $(er_print -metrics i.totalcpu:name -limit 12 -functions s.er 2>&1)"
	echo "# $1: $(cat slept | tr '\n' ' ')"; grep susp header
}

if echo enabled >/sys/devices/platform/i8042/serio0/power/wakeup; then try freeze; else
	echo "skip freeze: this machine has no keyboard to be woken by"
fi 2>/dev/null
try mem
