#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Nothing is lost silently. Per CPU: produced = recorded + lost in recorder.xml,
# and the packets' own numbers (SEQ) bear it out: as many different ones as were
# recorded, as many missing as were lost.
# Time limit: 400 s
. "$(dirname "$0")/../lib/live.sh"

# rings EXPERIMENT [ring | waitring]: CPU, produced, recorded, lost
rings()
{
	sed -n 's/^<'"${2:-ring}"' cpu="\([0-9]*\)" produced="\([0-9]*\)" recorded="\([0-9]*\)" lost="\([0-9]*\)".*/\1 \2 \3 \4/p' \
		"$1/recorder.xml" | sort -n
}

# numbers EXPERIMENT: CPU, different numbers among the packets. A weight may be
# spread over several packets; they share a number.
numbers()
{
	clock_packets_all "$1" | awk '!seen[$1 " " $3]++ { n[$1]++ } END { for (c in n) print c, n[c] }' |
		sort -n
}

# Of waits: what is left of totals (32) stands for no record.
wait_numbers()
{
	packets_all "$1" | awk '$6 >= 3 && $6 <= 9 && int($9 / 32) % 2 == 0 && !seen[$2 " " $4]++ { n[$2]++ }
		END { for (c in n) print c, n[c] }' | sort -n
}

# balanced NAME EXPERIMENT
balanced()
{
	rings "$2" >rings
	numbers "$2" >numbers
	check_that "$1: every CPU has its account" "$(wc -l <rings) == $(wc -l <numbers) &&
		$(wc -l <rings) > 0" "$(cat "$2/recorder.xml")"
	check_that "$1: recorded + lost = produced" \
		"$(awk '$3 + $4 != $2' rings | wc -l) == 0" "$(cat rings)"
	check_that "$1: the packets are those recorded" \
		"$(awk '{ print $1, $3 }' rings | cmp -s - numbers && echo 1 || echo 0)" \
		"cpu produced recorded lost: $(cat rings)
cpu packets: $(cat numbers)"
	rings "$2" waitring | awk '$2' >rings
	wait_numbers "$2" >numbers
	check_that "$1: waits, too: recorded + lost = produced" \
		"$(awk '$3 + $4 != $2' rings | wc -l) == 0 && $(wc -l <rings) > 0" "$(cat rings)"
	check_that "$1: waits, too: the packets are those recorded" \
		"$(awk '$3 { print $1, $3 }' rings | cmp -s - numbers && echo 1 || echo 0)" \
		"cpu produced recorded lost: $(cat rings)
cpu packets: $(cat numbers)"
}

lost() { rings "$@" | awk '{ n += $4 } END { print n + 0 }'; }

must_record easy.er -F on -p high -q 0 -- "$syn/spin" -t 2 alpha:1 beta:1
balanced "an easy load" easy.er
check_that "an easy load: nothing is lost" "$(lost easy.er) + $(lost easy.er waitring) == 0" "$(cat rings)"
"$er_print" -header easy.er >header 2>&1
check "the header speaks of losses" grep -qiE 'lost' header

# A recorder that is stopped cannot drain: what the rings do not hold is lost.
"$er_kernel" -o stopped.er -F on -p 0.02 -t 8 >out 2>err &
pid=$!
until [ -s stopped.er/profile ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
"$syn/spin" -t 2 alpha:4 >/dev/null &
"$syn/kload" 4 >/dev/null 2>&1 &
kill -STOP $pid
sleep 4
# Programs that start on one CPU, more than the kernel's ring of such records has room for.
taskset -c 0 sh -c 'i=0; while [ $i -lt 1500 ]; do /bin/true; i=$((i + 1)); done'
kill -CONT $pid
wait $pid
check_that "a recorder that was stopped ends well" "$? == 0" "$(cat err)"
wait
balanced "a stopped recorder" stopped.er
n=$(lost stopped.er) waits=$(lost stopped.er waitring)
check_that "a stopped recorder: much is lost" "$n > 0" "$(cat rings)"
"$er_print" -header stopped.er >header 2>&1
for lost in $n $waits; do
	check "a stopped recorder: the header says how much" sh -c "tr -d , <header | grep -i lost | grep -qw $lost"
done
check "a stopped recorder: records of processes, too" \
	grep -qE 'what="records of processes and mappings" count="[1-9][0-9][0-9]' stopped.er/recorder.xml
check "a stopped recorder: and the terminal, of which samples and waits are how many" \
	grep -qE "lost: $n of .* samples?, $waits of .* waits?, " err
sed -n 's/.*<loss second="\([0-9]*\)".*/\1/p' stopped.er/recorder.xml | sort -n >seconds
check_that "a stopped recorder: and of which threads, in which of its seconds" "$(wc -l <seconds) > 0 &&
	$(tail -n 1 seconds) * 1e9 <= $(sed -n 's/.* ended_ns="\([0-9]*\)".*/\1/p' stopped.er/recorder.xml)" \
	"$(tail -n 1 seconds)"
