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
