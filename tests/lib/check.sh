#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make check: build everything, run every test, count.
#	check.sh [unit|live]
# "unit" runs the tests that load nothing into the kernel, "live" only the recordings. Each
# case is one line (see tap.sh). The last line is the count, and the status is not 0 if a
# case failed. An ordinary user can run it, too: tests that need root are skipped with that
# reason.
#
# Recordings run one after another and sleep much. What only computes runs beside them, when no
# other program wants the CPU: builds with sanitizers and their tests, fuzzers, emulated machines.
#
# Other programs on the machine may disturb a test. One that fails is run again after all
# others: the second result counts, and the first output is shown after "again:". A report of
# a sanitizer counts at once. No test runs longer than $CHECK_MINUTES after the start, and none for
# the first time in the last $AGAIN_MINUTES of them, or in a third of these if none has failed.
set -u

unset CDPATH # with CDPATH cd prints the directory
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 2
. tests/lib/env.sh
what=${1:-all}
case $what in all | unit | live) ;; *) echo "usage: check.sh [unit|live]" >&2; exit 2 ;; esac
O=.output/build
san=.output/san
factor=1
# Of the part that runs beside recordings: the seconds that had passed, the files of both parts.
SECONDS=${CHECK_SECONDS:-0}
work=${CHECK_WORK:-$(mktemp -d)} || exit 2
end=$((${CHECK_MINUTES:=54} * 60))
deadline=$((end - ${AGAIN_MINUTES:=6} * 60)) late=$((end - AGAIN_MINUTES * 20))
. tests/lib/attempt.sh
export CMOCKA_MESSAGE_OUTPUT=TAP ASAN_OPTIONS=detect_leaks=1 FUZZ_SEED=1 O CHECK_MINUTES AGAIN_MINUTES

# The programs among these files; those with a dot in their names are something else.
programs()
{
	local t
	for t; do
		case ${t##*/} in *.*) continue ;; esac
		[ ! -f "$t" ] || [ ! -x "$t" ] || echo "$t"
	done
}

# The tests that run at any time, a line each. Those that take longest come first.
quick()
{
	local t
	[ ! -x tests/golden/run.sh ] || echo "script tests/golden/run.sh $O"
	for t in tests/tools/*.sh tests/lib/*_test.sh; do [ ! -f "$t" ] || echo "script $t"; done
	for t in $(programs $O/tests/unit/test_*); do echo "unit $t"; done
}

# Whether a live test only computes on this machine: it single-steps programs, or records on an emulated machine.
computes() { case $1 in */unwind_step.sh | */vm_*) return 0 ;; *) return 1 ;; esac; }

# The tests that run beside recordings. Emulated machines are left out first if time runs out.
patient()
{
	local t
	if [ "$what" != live ]; then
		for t in $(programs $san/tests/unit/test_*); do echo "san $t"; done
		for t in $(programs $san/tests/fuzz/fuzz_*); do echo "fuzz $t -n 200"; done
		echo "script tests/fuzz/run.sh $san"
	fi
	if [ "$what" != unit ]; then
		for t in tests/live/*.sh; do ! computes "$t" || echo "script $t"; done
	fi
}

# The part of a check that runs beside the other. It is a process of its own, whose session has the least share
# of the CPUs, since the kernel may divide them by session.
run_patient()
{
	local list
	{ chrt --idle --pid 0 $$ || renice -n 19 $$; echo 19 >/proc/self/autogroup; } >/dev/null 2>&1
	factor=3
	if [ "$what" != live ]; then
		build "with sanitizers" tests SAN=1 O=$san
	fi
	mapfile -t list < <(patient)
	run_all "${list[@]}"
}

begin_patient()
{
	CHECK_PATIENT=1 CHECK_SECONDS=$SECONDS CHECK_WORK=$work setsid tests/lib/check.sh "$what" &
	patient=$!
	trap 'pkill -s "$patient"; rm -rf "$work"' EXIT
	trap 'exit 1' INT TERM HUP
}

run_live()
{
	local t
	for t in $(programs $O/tests/live/*); do run_one script "$t"; done
	for t in tests/live/*.sh; do computes "$t" || [ ! -f "$t" ] || run_one script "$t"; done
}

# Run failed tests again: another program may have loaded the machine.
run_again()
{
	local line first test factor=2 deadline=$end
	for line in "${again[@]}"; do
		first=${line%% *}
		read -ra test <<<"${line#* }"
		if [ "$(limit_of "${test[@]:0:2}")" = 0 ]; then
			say <"$first"
		else
			echo "# again: $(name_of "${test[@]:0:2}")"
			attempt "${test[@]}"
			say <"$log"
		fi
	done
}

# Repeat failures and their output at the end, so that the end of a log suffices.
summary()
{
	local line names=()
	for line in "${again[@]}"; do names+=("$(name_of ${line#* })"); done
	[ ${#again[@]} = 0 ] || (IFS=,; echo "Run again: ${names[*]}") | sed 's/,/, /g'
	awk '/^ok / { p++; detail = 0 } /^skip / { s++; detail = 0 }
		/^skip .* minutes of make check (are|were) over$/ {
			name = substr($0, 6); sub(/: (the|not done when the) [0-9]* minutes .*/, "", name); late = late " " name }
		/^not ok / { f++; failed = failed "\n  " $0; detail = 12; next }
		detail > 0 && /^#/ { failed = failed "\n    " substr($0, 1, 300); detail-- }
		END {
			if (late) print "Not done because time ran out (CHECK_MINUTES):" late
			if (f) print "Failed:" failed
			printf "%d passed, %d failed, %d skipped\n", p, f, s
			exit f > 0 || p == 0
		}' "$results"
}

# passed WHAT: how long the check has taken so far, to see where the time goes.
passed() { echo "# after $((SECONDS / 60)) min $((SECONDS % 60)) s: $1"; }

[ -z "${CHECK_PATIENT:-}" ] || { run_patient; exit; }
trap 'rm -rf "$work"' EXIT
if ! tools/install-deps.sh >"$log" 2>&1; then
	{ echo "skip packages: needed packages are missing: tests that need them fail"
		sed 's/^/#   /' "$log"; } | say
fi
build "programs and tests" all tests O=$O
passed "programs and tests are built"
begin_patient
if [ "$what" != live ]; then
	mapfile -t list < <(quick)
	run_all "${list[@]}"
	passed "the tests that record nothing are done"
fi
if [ "$what" != unit ]; then
	run_live
	passed "the recordings are done"
fi
wait "$patient"
passed "all tests are done once"
mapfile -t again < <(cat "$work/again" 2>/dev/null)
run_again
summary
