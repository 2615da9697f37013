#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Nothing is lost silently: per CPU the numbers of the packets run from 0 to
# what the header says was produced, and the gaps are the losses that it says.
. "$(dirname "$0")/../lib/live.sh"

# gaps EXPERIMENT: packets and numbers missing between them, over all CPUs. A
# weight of several packets, or a sample of a dropped process, shares its number.
gaps()
{
	clock_packets_all "$1" | sort -k1,1n -k3,3n | awk '
		$1 != cpu { cpu = $1; last = -1 }
		$3 > last + 1 { missing += $3 - last - 1 }
		{ packets++; last = $3 }
		END { print packets + 0, missing + 0 }'
}

must_record quiet.er -F on -p high -q 0 -- "$syn/spin" -t 2 alpha:1 beta:1
set -- $(gaps quiet.er)
check_that "packets are there" "$1 > 1000" "$1"
check_that "an easy load loses nothing" "$2 == 0" "$2 of $1 missing"
header=$("$er_print" -header quiet.er)
printf '%s\n' "$header" | grep -iE 'lost|loss' >lost.lines
check_that "the header speaks of losses" "$(wc -l <lost.lines) >= 1" "$header"

# A reader that is stopped for a while cannot drain: what the rings cannot hold is lost.
"$er_kernel" -o stopped.er -F on -p 0.02 -t 6 >out 2>err &
pid=$!
until [ -s stopped.er/profile ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
"$syn/spin" -t 2 alpha:4 >/dev/null &
"$syn/kload" 4 >/dev/null 2>&1 &
kill -STOP $pid; sleep 4; kill -CONT $pid
wait $pid
check_that "a recorder that was stopped ends well" "$? == 0" "$(cat err)"
set -- $(gaps stopped.er)
header=$("$er_print" -header stopped.er)
printf '%s\n' "$header" >h
ours=$(awk '/[Ll]ost/ { for (i = 1; i <= NF; i++) { v = $i; gsub(/[,.:;]/, "", v)
	if (v ~ /^[0-9]+$/) { print v; exit } } }' h)
check_that "what is missing is what the header says is lost" "$2 > 0 && $2 == ${ours:-0}" \
	"$2 of $1 missing; header: $(grep -i -A12 lost h)"
wait
