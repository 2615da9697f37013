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
# Other programs on the machine may disturb a live test. One that fails is run again after
# all others: the second result counts, and the first output is shown after "again:". A
# test's time limit is its line "# Time limit: N s", or $limit_default; it doubles when the
# test runs again. No live test runs longer than $CHECK_MINUTES after the start, and none for the
# first time in the last $AGAIN_MINUTES of them.
set -u

unset CDPATH # with CDPATH cd prints the directory
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 2
. tests/lib/env.sh
what=${1:-all}
O=.output/build
san=.output/san
limit_default=300
factor=1
end=$((SECONDS + ${CHECK_MINUTES:=50} * 60))
deadline=$((end - ${AGAIN_MINUTES:=6} * 60))
again=()
work=$(mktemp -d) || exit 2
log=$work/log raw=$work/raw results=$work/results
trap 'rm -rf "$work"' EXIT
export CMOCKA_MESSAGE_OUTPUT=TAP ASAN_OPTIONS=detect_leaks=1 O

say() { tee -a "$results"; }

# build NAME MAKE-ARGUMENTS…: one line, and make's output if it failed.
build()
{
	local name=$1 warnings
	shift
	if make --no-print-directory -j"$(nproc)" "$@" >"$log" 2>&1 </dev/null; then
		echo "ok build: $name" | say
		warnings=$(grep -c 'warning:' "$log")
		[ "$warnings" = 0 ] || { echo "not ok build: $name without warnings"
			grep 'warning:' "$log" | sed 's/^/#   /'; } | say
	else
		{ echo "not ok build: $name"; tail -n 40 "$log" | sed 's/^/#   /'; } | say
	fi
}

# A cmocka program prints TAP. A planned case without a result has failed.
run_unit()
{
	local t
	for t in "$1"/tests/unit/test_*; do
		[ -f "$t" ] && [ -x "$t" ] || continue
		timeout -k 10 300 "$t" >"$log" 2>&1 </dev/null
		awk -v name="$2: $(basename "$t")" -v status=$? '
			/^1\.\.[0-9]+/ { planned += substr($1, 4); next }
			/^not ok .*# SKIP/ { sub(/^not ok [0-9]+ *# SKIP */, "")
				print "skip " name ": " $0 ": said by the test"; n++; next }
			/^ok .*# SKIP/ { sub(/^ok [0-9]+ -? ?/, ""); sub(/ *# SKIP.*/, "")
				print "skip " name ": " $0 ": said by the test"; n++; next }
			/^ok [0-9]+/ { sub(/^ok [0-9]+ -? ?/, ""); print "ok " name ": " $0; n++; next }
			/^not ok [0-9]+/ { sub(/^not ok [0-9]+ -? ?/, "")
				print "not ok " name ": " $0; n++; bad++; next }
			{ rest = rest "#   " $0 "\n" }
			END {
				if (n < planned || n == 0 || status && !bad) {
					print "not ok " name ": ended early, status " status; bad++ }
				if (bad) printf "%s", rest
			}' "$log" | say
	done
}

# attempt LIMIT PROGRAM ARGUMENTS…: run a test that prints its cases, and write them to
# $log. Silence, a crash and a timeout are failures. Status 0: no case failed.
attempt()
{
	local limit=$1 name status begin=$SECONDS why=
	shift
	name=$(basename "$1" .sh)
	timeout -k 20 "$limit" "$@" >"$raw" 2>&1 </dev/null
	status=$?
	grep -E '^(ok|not ok|skip) |^#' "$raw" >"$log"
	if { [ $status = 124 ] || [ $status = 137 ]; } && [ $SECONDS -ge $deadline ]; then
		echo "skip $name: not done when the $CHECK_MINUTES minutes of make check were over" >>"$log"
	elif [ $status = 124 ] || [ $status = 137 ]; then
		why="killed at its time limit of $limit s"
	elif ! grep -qE '^(ok|not ok|skip) ' "$log"; then
		why="no case reported, status $status"
	elif [ $status != 0 ] && ! grep -q '^not ok ' "$log"; then
		why="status $status"
	fi
	[ -z "$why" ] || { echo "not ok $name: $why"; tail -n 20 "$raw" | sed 's/^/#   /'; } >>"$log"
	[ $((SECONDS - begin)) -lt 20 ] || echo "# $name took $((SECONDS - begin)) s" >>"$log"
	! grep -q '^not ok ' "$log"
}

run()
{
	attempt "${limit:-$limit_default}" "$@"
	say <"$log"
}

unit()
{
	local t
	build "programs and tests" all tests O=$O
	build "with sanitizers" tests SAN=1 O=$san
	run_unit $O unit
	run_unit $san san
	for t in tests/lib/*_test.sh tests/tools/*.sh; do [ ! -f "$t" ] || run "$t"; done
	[ ! -x tests/golden/run.sh ] || limit=600 run tests/golden/run.sh $O
	for t in $san/tests/fuzz/fuzz_*; do
		[ ! -x "$t" ] || [ -d "$t" ] || case $t in *.*) ;; *) run_fuzz "$t" ;; esac
	done
	build "targets for libFuzzer" FUZZ=1 fuzz-programs
	FUZZ_SEED=1 limit=1800 run tests/fuzz/run.sh .output/fuzz
}

run_fuzz()
{
	local name
	name=$(basename "$1")
	if timeout -k 10 1800 "$1" -n 10000 >"$log" 2>&1 </dev/null; then
		echo "ok fuzz: $name: 10000 mutations"
	else
		echo "not ok fuzz: $name: status $?"
		tail -n 30 "$log" | sed 's/^/#   /'
	fi | say
}

# A live test's time limit in seconds, at most the time left for all; 0: none is left.
time_for()
{
	local limit= left=$((deadline - SECONDS))
	case $1 in *.sh) limit=$(sed -n 's/^# Time limit: \([0-9]*\) s$/\1/p' "$1") ;; esac
	limit=$((${limit:-$limit_default} * factor))
	[ "$limit" -le "$left" ] || limit=$((left > 0 ? left : 0))
	echo "$limit"
}

run_live()
{
	local limit
	limit=$(time_for "$1")
	if [ "$limit" = 0 ]; then
		echo "skip $(basename "$1" .sh): the $CHECK_MINUTES minutes of make check are over" | say
	elif attempt "$limit" "$1"; then
		say <"$log"
	else
		sed 's/^/again: /' "$log"
		cp "$log" "$work/first.$(basename "$1")"
		again+=("$1")
	fi
}

# Run failed live tests again: another program may have loaded the machine.
run_again()
{
	local t limit factor=2 deadline=$end
	for t in "${again[@]}"; do
		limit=$(time_for "$t")
		if [ "$limit" = 0 ]; then
			say <"$work/first.$(basename "$t")"
		else
			echo "# again: $t"
			attempt "$limit" "$t"
			say <"$log"
		fi
	done
}

live()
{
	local t
	[ "$what" = all ] || build "programs and tests" all tests O=$O
	for t in $O/tests/live/*; do
		[ ! -f "$t" ] || [ ! -x "$t" ] || case $t in *.*) ;; *) run_live "$t" ;; esac
	done
	# Emulated machines come last: they are slow, so they are left out first if time runs out.
	for t in tests/live/*.sh; do case $t in */vm_*) ;; *) run_live "$t" ;; esac; done
	for t in tests/live/vm_*.sh; do [ ! -f "$t" ] || run_live "$t"; done
	run_again
}

# Repeat failures and their output at the end, so that the end of a log suffices.
summary()
{
	[ ${#again[@]} = 0 ] || echo "Run again: ${again[*]##*/}"
	awk '/^ok / { p++; detail = 0 } /^skip / { s++; detail = 0 }
		/^skip .* minutes of make check (are|were) over$/ { late = late " " substr($2, 1, length($2) - 1) }
		/^not ok / { f++; failed = failed "\n  " $0; detail = 12; next }
		detail > 0 && /^#/ { failed = failed "\n    " substr($0, 1, 300); detail-- }
		END {
			if (late) print "Not done because time ran out (CHECK_MINUTES):" late
			if (f) print "Failed:" failed
			printf "%d passed, %d failed, %d skipped\n", p, f, s
			exit f > 0 || p == 0
		}' "$results"
}

case $what in all | unit | live) ;; *) echo "usage: check.sh [unit|live]" >&2; exit 2 ;; esac
if ! tools/install-deps.sh >"$log" 2>&1; then
	{ echo "skip packages: needed packages are missing: tests that need them fail"
		sed 's/^/#   /' "$log"; } | say
fi
[ "$what" = live ] || unit
[ "$what" = unit ] || live
summary
