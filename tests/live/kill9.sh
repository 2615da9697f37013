#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kill -9 at 20 random moments: the experiment opens, says that it was not closed, and lacks at most
# the last 200 ms. If the recorder waited for a CPU or the disk before it was killed, or the
# hypervisor took the CPUs away, it may lack that time as well. In half of the runs it must lack at
# most 200 ms.
# Time limit: 400 s
. "$(dirname "$0")/../lib/live.sh"

"$syn/spin" alpha:120 >/dev/null &
spin=$!
on_exit=stop_load
pid= keeper=
stop_load() { kill $spin $pid $keeper 2>/dev/null; }

# The seconds in which the recorder could not write: it had no CPU, waited for the disk, or the hypervisor had the
# CPUs. A wait for a CPU counts when it is over: for one at the kill, call this when the recorder is dead.
held_up()
{
	awk -v stolen="$(awk '$1 == "cpu" { print $9 }' /proc/stat)" \
		-v waited="$(awk '{ print $2 / 1e9 }' "/proc/$1/schedstat")" \
		'{ sub(/.*\) /, ""); printf "%.3f\n", waited + ($40 + stolen) / 100 }' "/proc/$1/stat"
}

is_dead() { ! grep -q '^State:.[^ZX]' "/proc/$1/status" 2>/dev/null; }

: >lags
seed=$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')
for i in $(seq 20); do
	wait=$(awk -v seed="$((seed + i))" 'BEGIN { srand(seed); printf "%.3f", 0.3 + rand() * 1.2 }')
	# `sleep` becomes its parent, which does not ask how it ended: so it can be looked at when it is dead
	rm -f pid
	sh -c '"$@" >/dev/null 2>err & echo $! >new && mv new pid; exec sleep 100' sh \
		"$er_kernel" -o "k$i.er" -p high -F on 2>/dev/null &
	keeper=$!
	until [ -s pid ]; do sleep 0.01; done
	pid=$(cat pid)
	before=$(held_up $pid) # from its start: a wait at the kill may have begun earlier
	until [ -s "k$i.er/profile" ] || is_dead $pid; do sleep 0.05; done
	sleep "$wait"
	read -r now rest </proc/uptime
	kill -9 $pid
	until is_dead $pid; do :; done
	held=$(awk "BEGIN { print $(held_up $pid) - $before }")
	kill $keeper
	wait $keeper 2>/dev/null
	name="killed after $wait s"
	if ! out=$("$er_print" -header -functions "k$i.er" 2>&1); then
		not_ok "$name: opens" "$out"
	elif ! printf '%s' "$out" | grep -qi 'not closed'; then
		not_ok "$name: says that it was not closed" "$out"
	elif ! opens_in_gprofng "k$i.er"; then
		not_ok "$name: opens in gprofng" "$(gprofng_text -functions "k$i.er" 2>&1)"
	else
		last=$(query 'max(TSTAMP/1e9) from packets where ON_CPU' "k$i.er")
		echo "$now $last" | awk '{ print $1 - $2 }' >>lags
		# /proc/uptime has hundredths of a second; a busy CPU ticks every millisecond
		check_that "$name: lacks at most 200 ms" "$now - $last <= 0.22 + $held" \
			"ends at $last, killed at $now, was held up for $held s"
	fi
	rm -rf "k$i.er"
done
check_that "in half of the runs at most 200 ms are missing" \
	"$(sort -g lags | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }') <= 0.22" \
	"$(sort -g lags | tr '\n' ' ')"
