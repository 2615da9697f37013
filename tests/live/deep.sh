#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks deeper than the recorder's limit: truncated at the root, shown and
# counted; frames near the leaf are complete.
. "$(dirname "$0")/../lib/live.sh"

for kind in distinct same; do
	must_record $kind.er -F on -p high -q 0 -- "$syn/deep" $kind 700 1
	cp record.out out
	pids=$(pid_of out)
	want=$(truth out bottom)
	got=$(seconds_of bottom i.totalcpu $kind.er)
	check_that "$kind: the leaf has its time" "($got - $want)^2 <= (0.02 * $want)^2" "got $got of $want"
	cut=$(seconds_of '<Truncated-stack>' i.totalcpu $kind.er)
	check_that "$kind: <Truncated-stack> is shown" "$cut > 0.9 * $want" "got $cut of $want"
	"$er_print" -header full $kind.er | grep -iE "trunc|deeper" | grep -q '[1-9]' &&
		ok "$kind: counted in the header" ||
		not_ok "$kind: counted in the header" "$("$er_print" -header full $kind.er)"
done

# A higher limit, and values that are none.
export SP_COLLECTOR_STACKBUFSZ=1536
must_record raised.er -F on -p high -q 0 -- "$syn/deep" distinct 599 1
cp record.out out
pids=$(pid_of out)
want=$(truth out bottom)
got=$(seconds_of d000 i.totalcpu raised.er)
late=$(late_of raised.er deep)
check_that "raised: the function nearest to the root has its time" "$got + $late >= 0.98 * $want" "$got of $want, late $late"
check_that "raised: nothing is truncated" "$(seconds_of '<Truncated-stack>' i.totalcpu raised.er) == 0"
for bad in x 100 1537 ""; do
	SP_COLLECTOR_STACKBUFSZ=$bad record no.er -t 1
	check_that "SP_COLLECTOR_STACKBUFSZ='$bad' is refused" "$? != 0 && $(grep -c STACKBUFSZ record.err) == 1" "$(cat record.err)"
done
