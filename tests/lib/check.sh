#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make check: build everything, run every test, count.
#	check.sh [unit|live]
# Each case is one line (tap.sh says which); the last line is the count, and the
# status is not 0 when a case failed. With "unit", what needs no kernel of ours;
# with "live", the recordings only.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 2
what=${1:-all}
O=.output/build
san=.output/san
log=$(mktemp) && results=$(mktemp) || exit 2
trap 'rm -f "$log" "$results"' EXIT
export CMOCKA_MESSAGE_OUTPUT=TAP ASAN_OPTIONS=detect_leaks=1 O

say() { tee -a "$results"; }

# build NAME MAKE-ARGUMENTS…: one line; all that make said when it failed.
build()
{
	name=$1
	shift
	if make --no-print-directory -j2 "$@" >"$log" 2>&1 </dev/null; then
		echo "ok build: $name" | say
		warnings=$(grep -c 'warning:' "$log")
		[ "$warnings" = 0 ] || { echo "not ok build: $name without warnings"
			grep 'warning:' "$log" | sed 's/^/#   /'; } | say
	else
		{ echo "not ok build: $name"; tail -n 40 "$log" | sed 's/^/#   /'; } | say
	fi
}

# A cmocka program speaks TAP; what it planned and did not report has failed.
run_unit()
{
	for t in "$1"/tests/unit/test_*; do
		[ -f "$t" ] && [ -x "$t" ] || continue
		timeout 300 "$t" >"$log" 2>&1 </dev/null
		awk -v name="$2: $(basename "$t")" -v status=$? '
			/^1\.\.[0-9]+/ { planned += substr($1, 4); next }
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

# run PROGRAM ARGUMENTS…: it prints cases itself; silence or a crash is a failure.
run()
{
	timeout "${limit:-300}" "$@" >"$log" 2>&1 </dev/null
	status=$?
	grep -E '^(ok|not ok|skip) ' "$log" >/dev/null || status="$status, no case reported"
	bad=$(grep -c '^not ok ' "$log")
	{
		grep -E '^(ok|not ok|skip) |^#' "$log"
		if [ "$status" != 0 ] && [ "$bad" = 0 ]; then
			echo "not ok $(basename "$1" .sh): status $status"
			tail -n 20 "$log" | sed 's/^/#   /'
		fi
	} | say
}

unit()
{
	build "programs and tests" all tests O=$O
	build "with sanitizers" tests SAN=1 O=$san
	run_unit $O unit
	run_unit $san san
	for t in tests/lib/*_test.sh tests/tools/*.sh; do run "$t"; done
	[ ! -x tests/golden/run.sh ] || run tests/golden/run.sh $O
	for t in $san/tests/fuzz/fuzz_*; do
		[ ! -x "$t" ] || [ -d "$t" ] || case $t in *.*) ;; *) limit=900 run_fuzz "$t" ;; esac
	done
}

run_fuzz()
{
	name=$(basename "$1")
	if timeout "$limit" "$1" -n 10000 >"$log" 2>&1 </dev/null; then
		echo "ok fuzz: $name: 10000 mutations"
	else
		echo "not ok fuzz: $name: status $?"
		tail -n 30 "$log" | sed 's/^/#   /'
	fi | say
}

live()
{
	[ "$what" = all ] || build "programs and tests" all tests O=$O
	for t in $O/tests/live/*; do
		[ ! -f "$t" ] || [ ! -x "$t" ] || case $t in *.*) ;; *) run "$t" ;; esac
	done
	for t in tests/live/*.sh; do
		[ ! -f "$t" ] || run "$t"
	done
}

case $what in
all) unit; live ;;
unit) unit ;;
live) live ;;
*) echo "usage: check.sh [unit|live]" >&2; exit 2 ;;
esac

awk '/^ok / { p++ } /^not ok / { f++; failed = failed "\n  " $0 } /^skip / { s++ }
	END {
		if (f) print "Failed:" failed
		printf "%d passed, %d failed, %d skipped\n", p, f, s
		exit f > 0 || p == 0
	}' "$results"
