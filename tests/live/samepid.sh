#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The kernel gives one PID to three processes, one after the other. Each has a row with its own
# time, also if they run the same program.
. "$(dirname "$0")/../lib/live.sh"

"$syn/samepid" true true >/dev/null 2>&1 ||
	skip_all "clone3 cannot set a PID here: needs root in the initial PID namespace"
cp "$syn/spin" other

must_record pid.er -p high -- "$syn/samepid" "'$syn/spin' alpha:0.5 >one" "./other beta:1 >two" \
	"'$syn/spin' gamma_:0.75 >three"
pid=$(pid_of one)
check "all processes of the load had one PID" test "$pid $pid" = "$(pid_of two) $(pid_of three)"

# row REPORT SERIAL: seconds and name of the row of the process with this serial.
row()
{
	"$er_print" -printmode , -indxobj_metrics e.user:name "-$1" pid.er 2>/dev/null | csv_rows |
		grep ", PID $pid, serial $2\(, TID $pid\)\?\$"
}

# is SERIAL PROGRAM FUNCTION FILE: compare a process with what it printed about itself.
is()
{
	local want report got
	want=$(truth "$4" "$3")
	for report in processes threads; do
		got=$(row $report "$1" | cut -f1)
		check_that "-$report: process $1 has its time" \
			"(${got:-0} - $want)^2 <= (0.02 * $want + 0.02)^2" "got ${got:-nothing}, truth $want"
		check "-$report: process $1 has its name" \
			sh -c "echo '$(row $report "$1" | cut -f2)' | grep -q '^$2, '"
	done
	got=$("$er_print" -printmode , -filters "PID==$pid && SERIAL==$1" -metrics e.user:name \
		-functions pid.er 2>/dev/null | csv_rows | awk -F'\t' -v f="$3" '$2 == f { print $1 }')
	check_that "a filter names process $1" \
		"(${got:-0} - $want)^2 <= (0.02 * $want + 0.02)^2" "got ${got:-nothing}, truth $want"
}

is 1 spin alpha one
is 2 other beta two
is 3 spin gamma_ three
check "three processes had the PID" test -z "$(row processes 4)"
check "-microstates tells processes of one PID apart" \
	sh -c "\"$er_print\" -microstates pid.er | grep -c ', PID $pid, serial [123], TID $pid\$' | grep -qx 3"
check "gprofng opens an experiment with a PID that came again" opens_in_gprofng pid.er
