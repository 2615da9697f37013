# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a recorder takes of a machine that has nothing else to do, for each second. Part rest. Sourced by run.sh.
#
# shellcheck shell=bash

# at_rest NAME RECORDER…: run the recorder, whose last argument is its length, for a second and for longer. Append the
# difference of its CPU time to NAME_ms, in milliseconds a second; and its CPU time of one second, with begin and end, to NAME_begin.
at_rest()
{
	local name=$1
	shift
	rm -rf rest.er
	"$measure" rest_short "$@" 1 >/dev/null 2>&1
	rm -rf rest.er
	"$measure" rest_long "$@" $((seconds + 1)) >/dev/null 2>&1
	calc "($(column 2 rest_long) - $(column 2 rest_short)) * 1000 / $seconds" %.3f >>"${name}_ms"
	column 2 rest_short >>"${name}_begin"
}

bench_rest()
{
	local i form="%.1f" ours off perfs
	step "recorders on a machine at rest"
	for i in $(seq "$rounds"); do
		at_rest rest_ours "$er_kernel" -A off -o rest.er -p on -t
		at_rest rest_off "$er_kernel" -A off -o rest.er -p on --states off -t
		at_rest rest_perf perf record -q -a -g -F 99 -o rest.data -- sleep
	done
	ours=$(calc "$(median <rest_ours_ms)" $form) off=$(calc "$(median <rest_off_ms)" $form) perfs=$(calc "$(median <rest_perf_ms)" $form)
	row "CPU time of the recorder for each second at 100 Hz, nothing else runs" "" \
		"$ours ms; --states off $off ms; perf $perfs ms" 1
	row "… for a recording of one second" "" \
		"$(median <rest_ours_begin) s; --states off $(median <rest_off_begin) s; perf $(median <rest_perf_begin) s" 1
	rm -rf rest.er rest.data
}
section "At rest" rest
quick+=(rest)
