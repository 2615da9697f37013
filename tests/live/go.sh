#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A stripped Go program: names, lines, inlined calls and complete stacks by Go's own table. The
# program go_stacks.go knows its own calls, and the CPU time of each.
# Time limit: 400 s
. "$(dirname "$0")/../lib/live.sh"

command -v go >/dev/null || skip_all "go is not installed: apt-get install golang-go"
HOME=$tmp GO111MODULE=off go build -ldflags='-s -w' -o go_stacks "$top/tests/live/go_stacks.go" \
	"$top/tests/live/go_clock.go" 2>go.err ||
	skip_all "go build: $(head -n 1 go.err)"
seconds=0.3

# The first process makes the unwind table.
stolen=$(steal)
must_record go.er -p high -q 0 -F =go_stacks -- sh -c \
	"./go_stacks 0.02 >first; ./go_stacks $seconds & echo \$! >own; wait \$!"
stolen=$(stolen_since "$stolen") # the samples of this time came later, perhaps in the next task
for inlines in off on; do
	check "exports with inlines $inlines" "$O/bin/er_export" --to folded --metric totalcpu \
		-filters "PID==$(cat own)" -inlines $inlines -o $inlines.folded go.er
done

# seconds_in REGEXP [FILE]: CPU seconds of the stacks that match.
seconds_in()
{
	r=$1 perl -ne 'my ($stack, $us) = /^(.*) (\d+)$/; $sum += $us if $stack =~ /$ENV{r}/;
		END { printf "%.6f\n", $sum / 1e6 }' "${2:-off.folded}"
}

# task NAME LEAF CHAIN [SHARE]: the function LEAF has the CPU time that its task NAME counted, and the stacks of
# that time have the callers CHAIN (a regular expression) and are complete. The CPU time may differ by
# SHARE of it, 0.05 if not given: the samples of a thread that runs nothing else add up to its time.
task()
{
	local own got off whole
	own=$(truth record.out "$1")
	got=$(seconds_in ";$2(;| |\$)")
	whole=$(seconds_in "^runtime\\.goexit;$3$2(;|\$)")
	check_that "$1: its stacks are complete" "$got > 0 && $whole >= 0.995 * $got" \
		"$whole of $got seconds: $(grep -v "^runtime\.goexit;$3$2" off.folded | grep "$2" | head -n 3)"
	if awk "BEGIN { exit !($stolen < 0.3) }"; then
		off=$(awk "BEGIN { d = $got - $own; print d < 0 ? -d : d }")
		check_that "$1: has its CPU time" "$off < ${4:-0.05} * $own + 0.01 + $stolen" \
			"$got of $own seconds, stolen $stolen"
	else
		skip "$1: has its CPU time" "the hypervisor took the CPUs for $stolen s"
	fi
}

main='runtime\.main;main\.main;main\.timed;'
task plain main.leafPlain "$main"
task recurse main.main.func1 "$main"
task inlined main.leafInlined "$main"
task method main.leafMethod "${main}main\.main\.func2;"
task closure main.leafClosure "$main"
task defer main.leafDefer "$main"
task syscall main.leafSyscall "$main"
task goroutine main.inGoroutine 'main\.leafGoroutine\.func1;'
task clock main.leafClock "$main"
task system main.leafSystem "$main"
task grow main.deepen 'main\.leafGrow\.func1;' 0.4 # its threads run the scheduler, too

# What the runtime runs on the thread's own stack has the goroutine's functions as callers.
for part in 'leafClock;time\.Now;time\.now;[^;]*clock_gettime' \
	'leafSystem;runtime\.Stack;runtime\.systemstack;runtime\.Stack\.func1' \
	'leafGrow\.func1;(main\.deepen;)+runtime\.morestack;runtime\.newstack;runtime\.copystack'; do
	got=$(seconds_in ";main\.$part")
	check_that "the thread's own stack: $part" "$got > 0.02 * $seconds" "$got seconds: $(grep "main\.$part" off.folded | head -n 3)"
done

# The program's own functions, as runtime.Stack has them.
check_that "the program says its stacks" "$(grep -c '^stack' record.out) >= 6" "$(cat record.out)"
sed -n 's/^stack\t//p' record.out >stacks
while read -r chain; do
	got=$(want=$chain perl -ne 'my ($stack, $us) = /^(.*) (\d+)$/ or next;
		$stack = join ";", map { s/ \(inlined\)$//r } grep { /^main\./ } split /;/, $stack;
		$sum += $us if $stack eq $ENV{want};
		END { printf "%.6f\n", $sum / 1e6 }' on.folded)
	check_that "runtime.Stack: $(echo "$chain" | cut -c1-60)" "$got > 0.8 * $seconds - $stolen" "$got of $seconds seconds"
done <stacks

all=$(seconds_in ';main\.recurse;')
got=$(seconds_in ';main\.main\.func1;(main\.recurse;){50}main\.spin(;|$)')
check_that "recursion has its depth" "$got > 0 && $got >= 0.99 * $all" "$got of $all seconds"

# Most of leafInlined's instructions are those of the calls that were inlined.
all=$(seconds_in ';main\.leafInlined(;|$)' on.folded)
got=$(seconds_in ';main\.leafInlined;main\.stir \(inlined\)' on.folded)
check_that "inlined calls are in the stacks" "$all > 0 && $got > 0.2 * $all" "$got of $all seconds"
line=$(grep -n 'sink += stir(sink)' "$top/tests/live/go_stacks.go" | cut -d: -f1)
"$er_print" -metrics i.totalcpu:name -lines go.er >lines.out 2>&1
check_that "lines are known" \
	"$(grep -c "main.leafInlined, line $line in \"go_stacks.go\"" lines.out) > 0" "$(grep go_stacks.go lines.out | head -n 3)"

# A thread without a goroutine to run is idle. It does not wait for a lock.
"$er_print" -filters "PID==$(cat own)" -waits go.er >waits.out 2>&1
idle=$(awk '/no work, in a language runtime/ { print $1; exit }' waits.out)
lock=$(awk '/^ *[0-9.]+ .* user lock$/ { print $1; exit }' waits.out)
check_that "threads without a goroutine are idle" "${idle:-0} > 9 * ${lock:-0}" \
	"idle ${idle:-0}, locks ${lock:-0}: $(head -n 20 waits.out)"

# In a position-independent program the runtime's code finds the goroutine in another way. To build one, Go
# compiles its library again.
if HOME=$tmp GO111MODULE=off timeout 100 go build -buildmode=pie -ldflags='-s -w' -o go_stacks_pie \
	"$top/tests/live/go_stacks.go" "$top/tests/live/go_clock.go" 2>go.err; then
	must_record pie.er -p high -q 0 -F =go_stacks_pie -- sh -c \
		"./go_stacks_pie 0.02; ./go_stacks_pie 0.1 & echo \$! >own; wait \$!"
	"$O/bin/er_export" --to folded --metric totalcpu -filters "PID==$(cat own)" -inlines off -o pie.folded pie.er
	part='(time\.now|runtime\.systemstack|runtime\.copystack)(;|$)'
	all=$(seconds_in ";$part" pie.folded)
	got=$(seconds_in "^runtime\.(goexit|mstart|rt0_go)(;|\\.).*$part" pie.folded)
	check_that "a position-independent program's stacks are complete, too" "$all > 0.1 && $got >= 0.98 * $all" \
		"$got of $all seconds: $(grep -E "$part" pie.folded | grep -v '^runtime\.goexit' | head -n 3)"
else
	skip "a position-independent program" "go build: $(head -n 1 go.err)"
fi
