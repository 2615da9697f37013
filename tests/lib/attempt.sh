# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How make check runs one test, and reads its cases. check.sh sources this file. It sets $work, a
# directory, $deadline and $late, the seconds after which no test of this part of the check runs if one has
# failed and if none has, and $factor.
#
# A test's time limit is its line "# Time limit: N s", or $limit_default; it doubles when the test
# runs again, and is three times as long for tests that run beside others.

limit_default=300
# Damage that a test found is no disturbance. The last line names a leak's size, or the damage.
report='ERROR: AddressSanitizer: |SUMMARY: AddressSanitizer: [^0-9]|:[0-9]+: runtime error: |libFuzzer: deadly signal'
leak='ERROR: LeakSanitizer: |SUMMARY: AddressSanitizer: [0-9]'
log=$work/log.$BASHPID raw=$work/raw.$BASHPID results=$work/results

# Two parts of a check write at a time.
say() { flock "$work/lock" tee -a "$results"; }

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

# The second after which no test runs: one that has failed needs time to run again.
last_second() { if [ -s "$work/again" ]; then echo "$deadline"; else echo "$late"; fi; }

# Whether STATUS is that of a test that was stopped because the time for all was over.
was_late() { { [ "$1" = 124 ] || [ "$1" = 137 ]; } && [ $SECONDS -ge "$(last_second)" ]; }

# of_script NAME STATUS LIMIT: it printed its cases. Silence, a crash and a timeout are failures.
of_script()
{
	local name=$1 status=$2 why=
	grep -E '^(ok|not ok|skip) |^#' "$raw"
	if was_late "$status"; then
		return
	elif [ "$status" = 124 ] || [ "$status" = 137 ]; then
		why="killed at its time limit of $3 s"
	elif ! grep -qE '^(ok|not ok|skip) ' "$raw"; then
		why="no case reported, status $status"
	elif [ "$status" != 0 ] && ! grep -q '^not ok ' "$raw"; then
		why="status $status"
	fi
	[ -z "$why" ] || { echo "not ok $name: $why"; tail -n 20 "$raw" | sed 's/^/#   /'; }
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

# limit_of KIND PROGRAM: its time limit in seconds, at most the time left for all; 0: none is left.
limit_of()
{
	local limit= left=$(($(last_second) - SECONDS))
	case $1:$2 in
	fuzz:*) limit=1800 ;;
	*.sh) limit=$(sed -n '1,/^[^#]/ s/^# Time limit: \([0-9]*\) s$/\1/p' "$2") ;;
	esac
	limit=$((${limit:-$limit_default} * factor))
	[ "$limit" -le "$left" ] || limit=$((left > 0 ? left : 0))
	echo "$limit"
}

# attempt KIND PROGRAM ARGUMENTS…: run a test, and write its cases to $log. KIND is unit or san (a
# cmocka program of that build), fuzz, or script. Status 0: no case failed.
attempt()
{
	local kind=$1 of name status limit begin=$SECONDS
	limit=$(limit_of "$1" "$2")
	shift
	case $kind in unit | san) of=of_cmocka ;; fuzz) of=of_fuzzer ;; script) of=of_script ;; esac
	name=$(name_of "$kind" "$1")
	if [ "$limit" = 0 ]; then
		echo "skip $name: the $CHECK_MINUTES minutes of make check are over" >"$log"
		return
	fi
	timeout -k 20 "$limit" "$@" >"$raw" 2>&1 </dev/null
	status=$?
	$of "$name" $status "$limit" >"$log"
	if was_late $status; then
		sed -i '/^not ok .*: ended early, status\|^not ok .*: status/d' "$log"
		echo "skip $name: not done when the $CHECK_MINUTES minutes of make check were over" >>"$log"
	fi
	[ $((SECONDS - begin)) -lt 20 ] || echo "# $name took $((SECONDS - begin)) s" >>"$log"
	! grep -q '^not ok ' "$log"
}

# Whether a sanitizer reports damage in $raw. A case that fails leaks what it had: leaks count
# only beside cases that passed.
damaged()
{
	grep -qE "$report" "$raw" || { grep -qE "$leak" "$raw" && ! grep -q '^not ok ' "$raw"; }
}

# take STATUS KIND PROGRAM ARGUMENTS…: say the cases of a first attempt that ended with this status,
# or have the test run again: a line "FIRST KIND PROGRAM ARGUMENTS…" of $work/again, where FIRST has these cases.
take()
{
	local first
	if [ "$1" = 0 ] || damaged; then
		say <"$log"
	else
		first=$(mktemp "$work/first.XXXXXX")
		cp "$log" "$first"
		echo "$first ${*:2}" >>"$work/again"
		sed 's/^/again: /' "$log" | flock "$work/lock" cat
	fi
}

# run_one KIND PROGRAM ARGUMENTS…
run_one()
{
	attempt "$@"
	take $? "$@"
}

# run_apart N KIND PROGRAM ARGUMENTS…: run a test with files of its own, and write its status.
run_apart()
{
	local n=$1 raw=$raw.$1 log=$log.$1
	shift
	attempt "$@"
	echo $? >"$log.status"
}

# take_finished: take the tests that have finished, in the order of $tests; $taken counts them.
take_finished()
{
	local all_raw=$raw all_log=$log raw log
	while [ -s "$all_log.$taken.status" ]; do
		raw=$all_raw.$taken log=$all_log.$taken
		take "$(cat "$log.status")" ${tests[taken]}
		rm -f "$raw" "$log" "$log.status"
		taken=$((taken + 1))
	done
}

# run_all "KIND PROGRAM ARGUMENTS…"…: run tests, as many at once as there are CPUs.
run_all()
{
	local i taken=0 tests=("$@") pids=() running
	for i in "${!tests[@]}"; do
		while running=$(jobs -rp | grep -vx "${patient:-none}") && [ "$(wc -l <<<"$running")" -ge "$(nproc)" ]; do
			wait -n $running
		done
		run_apart "$i" ${tests[i]} &
		pids+=($!)
		take_finished
	done
	wait "${pids[@]}"
	take_finished
}
