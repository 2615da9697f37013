#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_kernel collect PROGRAM: both experiments opened together have one clock, and with TWICE==0 no
# tick counts twice.
. "$(dirname "$0")/../lib/live.sh"

timeout 300 "$er_kernel" -p high -q 0 -o k.er "$O/bin/collect" -p high -o t.er \
	"$syn/forktree" 2 1 0.3 >tree.out 2>err
check_that "both record" "$? == 0 && $(ls -d k.er t.er 2>/dev/null | wc -l) == 2" "$(cat err)"

# cpu OPTIONS… : all CPU time
cpu()
{
	"$er_print" -printmode , -metrics e.totalcpu:name "$@" 2>cpu.err | csv_rows |
		awk -F'\t' '$2 == "<Total>" { print $1; exit }'
}
program=$(cpu -functions t.er)
kernel=$(cpu -functions k.er)
both=$(cpu -functions k.er t.er)
check_that "er_print says what is in both" "$(grep -c 'TWICE==0' cpu.err) == 1" "$(cat cpu.err)"
once=$(cpu -filters 'TWICE==0' -functions k.er t.er)
alone=$(cpu -filters 'TWICE==0' -functions k.er)
check_that "a recording alone has nothing twice" "$alone == $kernel" "$alone, $kernel"
check_that "together they count the program twice" "$program > 1 && ($both - $kernel - $program)^2 < 0.003^2" \
	"$both = $kernel + $program"
# er_kernel also has the program's start, before collect began.
check_that "with TWICE==0 they count it once" "($once - $kernel)^2 < (0.01 * $program + 0.02)^2" \
	"$once, the whole system $kernel, the program $program"

# Two clocks sample the same function, so they agree except for a few ticks.
in_kernel=$(seconds_of parent_work i.user k.er)
in_program=$(seconds_of parent_work i.user t.er)
check_that "the function has its time in both" \
	"$in_kernel > 0.25 && ($in_kernel - $in_program)^2 < 0.05^2" "$in_kernel, $in_program"
