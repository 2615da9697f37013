#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Nothing is lost silently. For each CPU recorder.xml says produced = recorded + lost. The packets'
# own numbers (SEQ) must agree: as many distinct numbers as recorded records, and as many missing
# numbers as lost ones.
# Time limit: 400 s
. "$(dirname "$0")/../lib/live.sh"

# rings EXPERIMENT ELEMENT: each CPU that has records, and their number.
# Records of short-lived threads may share a packet, which has the number of one of them: `folded` counts
# the others.
rings() { query "cpu recorded-folded from $2 where recorded > 0" "$1" | sort -n; }

# numbers EXPERIMENT CONDITION: each CPU, and its distinct numbers among the packets. Packets that
# share a weight share its number. Remainders of totals have no record. A packet of another CPU than its record's has
# no number, and the recorder counts the record as folded.
numbers() { query "CPUID distinct(SEQ) from packets where SEQ != 4294967295 && $2" "$1" | sort -n; }

# accounts EXPERIMENT ELEMENT CONDITION: the recorder's count of records, and that of the packets.
accounts()
{
	rings "$1" "$2" >rings
	numbers "$1" "$3" >numbers
	accounts=$(query "cpu produced recorded lost from $2" "$1")
}

# numbered NAME: the result of the last `accounts`
numbered()
{
	cmp -s rings numbers && ok "$1" || not_ok "$1" "cpu produced recorded lost: $accounts
cpu packets: $(cat numbers)"
}

# balanced NAME EXPERIMENT
balanced()
{
	accounts "$2" ring ON_CPU
	# A CPU may have been idle all the time.
	check_that "$1: every CPU has its counts" \
		"$(query 'count() from ring' "$2") >= $(nproc) && $(wc -l <rings) > 0" "$accounts"
	check_that "$1: recorded + lost = produced" \
		"$(query 'count() from ring where recorded + lost != produced' "$2") == 0" "$accounts"
	numbered "$1: the packets are those recorded"
	accounts "$2" waitring "!ON_CPU && !REST"
	check_that "$1: waits, too: recorded + lost = produced" \
		"$(query 'count() from waitring where recorded + lost != produced' "$2") == 0 &&
			$(wc -l <rings) > 0" "$accounts"
	numbered "$1: waits, too: the packets are those recorded"
}

lost() { query "sum(lost) from ${2:-ring}" "$1"; }

must_record easy.er -F on -p high -q 0 -- "$syn/spin" -t 2 alpha:1 beta:1
balanced "an easy load" easy.er
check_that "an easy load: nothing is lost" "$(lost easy.er) + $(lost easy.er waitring) == 0" "$accounts"
"$er_print" -header full easy.er >header 2>&1
check "the header reports losses" grep -qiE 'lost' header

# A stopped recorder cannot drain the rings, so records that do not fit are lost.
# It has no -t: on a slow machine the recording would be over before the recorder is stopped.
"$er_kernel" -o stopped.er -F on -p 0.02 >out 2>err &
pid=$!
until [ -s stopped.er/profile ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
"$syn/spin" -t 2 alpha:4 >/dev/null &
"$syn/kload" 4 >/dev/null 2>&1 &
kill -STOP $pid
sleep 4
# More program starts on one CPU than the kernel's ring of side-band records can hold.
cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
taskset -c "$cpu" sh -c 'i=0; while [ $i -lt 1500 ]; do /bin/true; i=$((i + 1)); done'
kill -CONT $pid
sleep 1
kill -INT $pid
wait $pid
check_that "a stopped recorder ends with status 0 when continued" "$? == 0" "$(cat err)"
wait
balanced "a stopped recorder" stopped.er
n=$(lost stopped.er) waits=$(lost stopped.er waitring)
check_that "a stopped recorder: much is lost" "$n > 0" "$accounts"
"$er_print" -header full stopped.er >header 2>&1
for lost in $n $waits; do
	check "a stopped recorder: the header says how much" sh -c "tr -d , <header | grep -i lost | grep -qw $lost"
done
check "a stopped recorder: records of processes are lost, too" \
	[ "$(query 'sum(count) from dropped where what eq "records of processes and mappings"' stopped.er)" -ge 100 ]
check "a stopped recorder: the terminal says how many samples and waits were lost" \
	grep -qE "lost: $n of .* samples?, $waits of .* waits?, " err
check_that "a stopped recorder: the header names threads and seconds of losses" \
	"$(query 'count() from loss where tid' stopped.er) > 0 &&
	$(query 'max(second*1e9) from loss' stopped.er) <= $(query 'ended_ns from capture' stopped.er)"
