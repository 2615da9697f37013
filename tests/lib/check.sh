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
# Other programs on the machine may disturb a test. One that fails is run again after all
# others: the second result counts, and the first output is shown after "again:". A report of
# a sanitizer counts at once. A test's time limit is its line "# Time limit: N s", or
# $limit_default; it doubles when the test runs again. No live test runs longer than
# $CHECK_MINUTES after the start, and none for the first time in the last $AGAIN_MINUTES of them.
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
end=$((SECONDS + ${CHECK_MINUTES:=54} * 60))
deadline=$((end - ${AGAIN_MINUTES:=6} * 60))
# Damage that a test found is no disturbance. The last line names a leak's size, or the damage.
report='ERROR: AddressSanitizer: |SUMMARY: AddressSanitizer: [^0-9]|:[0-9]+: runtime error: |libFuzzer: deadly signal'
leak='ERROR: LeakSanitizer: |SUMMARY: AddressSanitizer: [0-9]'
again=() # "KIND PROGRAM ARGUMENTS…" of each test that runs again
work=$(mktemp -d) || exit 2
log=$work/log raw=$work/raw results=$work/results
trap 'pkill -P "$(jobs -p | paste -sd,)" 2>/dev/null; rm -rf "$work"' EXIT
export CMOCKA_MESSAGE_OUTPUT=TAP ASAN_OPTIONS=detect_leaks=1 FUZZ_SEED=1 O

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

# The next functions print the cases of the test NAME, whose output is $raw.

# of_cmocka NAME STATUS: from TAP. A planned case without a result has failed.
of_cmocka()
{
	awk -v name="$1" -v status="$2" '
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
		}' "$raw"
}

# of_script NAME STATUS LIMIT SECONDS: it printed its cases. Silence, a crash and a timeout
# are failures.
of_script()
{
	local name=$1 status=$2 why=
	grep -E '^(ok|not ok|skip) |^#' "$raw"
	if { [ "$status" = 124 ] || [ "$status" = 137 ]; } && [ $SECONDS -ge $deadline ]; then
		echo "skip $name: not done when the $CHECK_MINUTES minutes of make check were over"
	elif [ "$status" = 124 ] || [ "$status" = 137 ]; then
		why="killed at its time limit of $3 s"
	elif ! grep -qE '^(ok|not ok|skip) ' "$raw"; then
		why="no case reported, status $status"
	elif [ "$status" != 0 ] && ! grep -q '^not ok ' "$raw"; then
		why="status $status"
	fi
	[ -z "$why" ] || { echo "not ok $name: $why"; tail -n 20 "$raw" | sed 's/^/#   /'; }
	[ "$4" -lt 20 ] || echo "# $name took $4 s"
}

# of_fuzzer NAME STATUS
of_fuzzer()
{
	[ "$2" != 0 ] || { echo "ok $1"; return; }
	echo "not ok $1: status $2"
	tail -n 30 "$raw" | sed 's/^/#   /'
}

# name_of KIND PROGRAM: how results name a test. A directory names its run.sh.
name_of()
{
	local name=${2%/run.sh}
	name=${name##*/}
	case $1 in script) echo "${name%.sh}" ;; *) echo "$1: $name" ;; esac
}

# attempt KIND LIMIT PROGRAM ARGUMENTS…: run a test, and write its cases to $log. KIND is unit
# or san (a cmocka program of that build), fuzz, or script. Status 0: no case failed.
attempt()
{
	local kind=$1 limit=$2 of name status begin=$SECONDS
	shift 2
	case $kind in unit | san) of=of_cmocka ;; fuzz) of=of_fuzzer ;; script) of=of_script ;; esac
	name=$(name_of "$kind" "$1")
	timeout -k 20 "$limit" "$@" >"$raw" 2>&1 </dev/null
	status=$?
	$of "$name" $status "$limit" $((SECONDS - begin)) >"$log"
	! grep -q '^not ok ' "$log"
}

# Whether a sanitizer reports damage in $raw. A case that fails leaks what it had: leaks count
# only beside cases that passed.
damaged()
{
	grep -qE "$report" "$raw" || { grep -qE "$leak" "$raw" && ! grep -q '^not ok ' "$raw"; }
}

# take STATUS KIND PROGRAM ARGUMENTS…: say the cases of a first attempt that ended with this status,
# or have the test run again.
take()
{
	if [ "$1" = 0 ] || damaged; then
		say <"$log"
	else
		sed 's/^/again: /' "$log"
		cp "$log" "$work/first.${#again[@]}"
		again+=("${*:2}")
	fi
}

# limit_of KIND PROGRAM: its time limit in seconds.
limit_of()
{
	local limit=
	case $1:$2 in
	fuzz:*) limit=1800 ;;
	*.sh) limit=$(sed -n '1,/^[^#]/ s/^# Time limit: \([0-9]*\) s$/\1/p' "$2") ;;
	esac
	echo $((${limit:-$limit_default} * factor))
}

# run_apart N KIND PROGRAM ARGUMENTS…: run a test with the files raw.N and log.N, and write its status.
run_apart()
{
	local n=$1 raw=$work/raw.$1 log=$work/log.$1
	shift
	attempt "$1" "$(limit_of "$1" "$2")" "${@:2}"
	echo $? >"$work/status.$n"
}

# take_finished: take the tests that have finished, in the order of $tests; $taken counts them.
take_finished()
{
	local raw log
	while [ -s "$work/status.$taken" ]; do
		raw=$work/raw.$taken log=$work/log.$taken
		take "$(cat "$work/status.$taken")" ${tests[taken]}
		rm "$work/status.$taken" "$raw" "$log"
		taken=$((taken + 1))
	done
}

# run_all "KIND PROGRAM ARGUMENTS…"…: run tests that are not live, as many at once as there are CPUs.
run_all()
{
	local i taken=0 tests=("$@")
	for i in "${!tests[@]}"; do
		while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
		run_apart "$i" ${tests[i]} &
		take_finished
	done
	wait
	take_finished
}

# The programs among these files; those with a dot in their names are something else.
programs()
{
	local t
	for t; do
		case ${t##*/} in *.*) continue ;; esac
		[ ! -f "$t" ] || [ ! -x "$t" ] || echo "$t"
	done
}

# The tests that are not live, a line each. Those that take longest come first.
not_live()
{
	local t
	[ ! -x tests/golden/run.sh ] || echo "script tests/golden/run.sh $O"
	for t in tests/tools/*.sh tests/lib/*_test.sh; do [ ! -f "$t" ] || echo "script $t"; done
	for t in $(programs $O/tests/unit/test_*); do echo "unit $t"; done
	for t in $(programs $san/tests/unit/test_*); do echo "san $t"; done
	for t in $(programs $san/tests/fuzz/fuzz_*); do echo "fuzz $t -n 1000"; done
}

unit()
{
	local list
	build "programs and tests" all tests O=$O
	build "with sanitizers" tests SAN=1 O=$san
	build "targets for libFuzzer" FUZZ=1 fuzz-programs
	mapfile -t list < <(not_live)
	run_all "${list[@]}"
	run_all "script tests/fuzz/run.sh .output/fuzz"
}

# time_for KIND PROGRAM: its time limit, at most the time left for all; 0: none is left.
time_for()
{
	local limit left=$((deadline - SECONDS))
	limit=$(limit_of "$@")
	[ "$limit" -le "$left" ] || limit=$((left > 0 ? left : 0))
	echo "$limit"
}

run_live()
{
	local limit
	limit=$(time_for script "$1")
	if [ "$limit" = 0 ]; then
		echo "skip $(name_of script "$1"): the $CHECK_MINUTES minutes of make check are over" | say
	else
		attempt script "$limit" "$1"
		take $? script "$1"
	fi
}

# Run failed tests again: another program may have loaded the machine.
run_again()
{
	local i test limit factor=2 deadline=$end
	for i in "${!again[@]}"; do
		read -ra test <<<"${again[i]}"
		limit=$(time_for "${test[@]:0:2}")
		if [ "$limit" = 0 ]; then
			say <"$work/first.$i"
		else
			echo "# again: $(name_of "${test[@]:0:2}")"
			attempt "${test[0]}" "$limit" "${test[@]:1}"
			say <"$log"
		fi
	done
}

live()
{
	local t
	[ "$what" = all ] || build "programs and tests" all tests O=$O
	for t in $(programs $O/tests/live/*); do run_live "$t"; done
	# Emulated machines come last: they are slow, so they are left out first if time runs out.
	for t in tests/live/*.sh; do case $t in */vm_*) ;; *) run_live "$t" ;; esac; done
	for t in tests/live/vm_*.sh; do [ ! -f "$t" ] || run_live "$t"; done
}

# Repeat failures and their output at the end, so that the end of a log suffices.
summary()
{
	local test names=()
	for test in "${again[@]}"; do names+=("$(name_of $test)"); done
	[ ${#again[@]} = 0 ] || (IFS=,; echo "Run again: ${names[*]}") | sed 's/,/, /g'
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
run_again
summary
