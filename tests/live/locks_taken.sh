#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# -s all counts every lock that a program takes, with or without a wait. The workload counts its own by
# function; the recording has the same numbers, whether the program forks, executes another or is killed.
. "$(dirname "$0")/../lib/live.sh"
collect=$O/bin/collect

functions="alone reads writes spins counts_down tries waits together joins at_each"

# counted NAME ARGUMENT…: record locktaken in NAME.er, and compare the counts of its functions.
counted()
{
	local name=$1 f want
	shift
	{ timeout 300 "$collect" -s all -o "$name.er" "$syn/locktaken" "$@" >"$name.out" 2>"$name.err"; } 2>/dev/null
	"$er_print" -metrics e.lockcnt:name -functions "$name.er" 2>/dev/null >"$name.rows"
	cut -f1 "$name.out" | sort -u >names
	[ -s names ] || not_ok "$name: it ran" "$(cat "$name.err")"
	while read -r f; do
		want=$(awk -F'\t' -v n="$f" '$1 == n { s += $2 } END { printf "%d", s }' "$name.out")
		check "$name: $f took $want locks" grep -qx " *$want *$f" "$name.rows"
	done <names
	check_that "$name: no count was lost" "$(grep -c 'lock' "$name.err") == 0" "$(cat "$name.err")"
}

counted plain
for f in $functions; do
	check "plain: the program has $f" grep -q "^$f	" plain.out
done
counted fork fork
counted exec exec
counted kill kill
counted many many 200000

# The report on locks: each kind of lock by its name, and how often it was taken.
"$er_print" -limit 0 -locks address plain.er >report 2>&1
while read -r kind lock times; do
	check "locks: $lock, $times" grep -q "$kind $lock, .* $times times" report
done <<END_LOCKS
mutex locktaken\`a_mutex 1000601
mutex locktaken\`shared 200000
rwlock locktaken\`a_rwlock 50000
semaphore locktaken\`a_semaphore 7000
END_LOCKS
check "locks: a spin lock" grep -q 'spin lock locktaken`a_spinlock, taken in spins, 5000 times' report
check "locks: a wait is the caller's" grep -q 'barrier locktaken`a_barrier.*, taken in together, 4 times' report
check "locks: a condition" grep -q 'condition variable locktaken`a_condition, waited for in waits, 3 times' report
"$er_print" -locks plain.er >report 2>&1
check "locks: those that one function takes are one row" grep -q '1000 locks, taken in at_each, 2000 times' report

# Nothing is counted in a pause.
cat >pause.sh <<END
"$syn/locktaken" many 1000
kill -USR1 \$PPID; sleep 0.5
"$syn/locktaken" many 500
kill -USR1 \$PPID; sleep 0.5
"$syn/locktaken" many 200
END
timeout 300 "$collect" -s all -y USR1,r -o pause.er sh pause.sh >pause.out 2>pause.err
"$er_print" -metrics e.lockcnt:name -functions pause.er 2>/dev/null >rows
check "a pause is left out" grep -qx ' *2400 *at_each' rows

# gprofng reads the rest.
if command -v gprofng >/dev/null; then
	gprofng_text -functions plain.er >theirs 2>&1
	check "gprofng opens the experiment" grep -q '<Total>' theirs
else
	skip "gprofng opens the experiment" "it is not installed"
fi

# Without -s all nothing is loaded into the program.
timeout 300 "$collect" -s on -o on.er sh -c 'echo "$LD_PRELOAD"' >on.out 2>&1
check_that "-s on: nothing is loaded into the program" "$(grep -c er_locks on.out) == 0" "$(cat on.out)"

# A program that does not load the library is not passed over in silence.
printf '#include <pthread.h>\nint main(void) { return 0; }\n' >fixed.c
if gcc -static fixed.c -o fixed 2>/dev/null; then
	timeout 300 "$collect" -s all -o fixed.er ./fixed >fixed.out 2>&1
	check_that "a static program: that its locks were not counted is said" \
		"$(grep -c -- '-s all: locks that no thread had to wait for were not counted' fixed.out) == 1" "$(cat fixed.out)"
else
	skip "a static program" "it cannot be built here"
fi
timeout 300 "$collect" -s all -o true.er /bin/true >true.out 2>&1
check_that "a program without locks is no reason for a warning" "$(grep -c 'not counted' true.out) == 0" "$(cat true.out)"

# A process that runs already has not loaded the library.
sleep 60 & pid=$!
"$O/bin/collect" -s all -t 1 -o locks.er -P $pid >out 2>record.err
check_that "-s all: that only waits are recorded is said" "$(grep -c -- '-s all: only waits' record.err) == 1" "$(cat record.err)"
"$er_print" -header locks.er >header 2>&1
check "and in the experiment" grep -q -- '-s all: only waits' header
"$O/bin/collect" -s on -t 1 -o on.er -P $pid >out 2>record.err
check_that "-s on: it is not" "$(grep -c -- '-s all' record.err) == 0" "$(cat record.err)"
kill $pid

# A process that runs already counts if the user has preloaded the library: for each recorder that attaches, and not
# for nobody. Its children do, too.
mkfifo to from
exec 3<>to 4<>from # the program may end before its last byte is read
a_turn() { printf x >&3; timeout 60 head -c 1 <&4 >/dev/null; }
# attached NAME ARGUMENT…: record the process for one turn
attached()
{
	local name=$1 recorder
	shift
	timeout 300 "$collect" -s all "$@" -o "$name.er" -P $pid >"$name.out" 2>"$name.err" & recorder=$!
	until [ -s "$name.er/recorder.xml" ] || ! kill -0 $recorder 2>/dev/null; do sleep 0.05; done
	a_turn
	kill -INT $recorder
	wait $recorder
	"$er_print" -metrics e.lockcnt:name -functions "$name.er" 2>/dev/null >"$name.rows"
	check "$name: a turn took 1000 locks" grep -qx ' *1000 *turn' "$name.rows"
	check_that "$name: nothing is said to be missing" "$(grep -c -- '-s all' "$name.err") == 0" "$(cat "$name.err" "$name.rows")"
}
LD_PRELOAD="$(realpath "$O")/bin/er_locks.so" "$syn/locktaken" turns 1000 4 to from >turns.out & pid=$!
a_turn
attached first
attached second -i on
check_that "second: the library's calls are no I/O of the program" \
	"$("$er_print" -metrics i.ioreadcnt:i.iowritecnt:i.ioothercnt:name -functions second.er |
	awk '/ask_|own_call|receive_ring|begin_thread/ { n += $1 + $2 + $3 } END { print n + 0 }') == 0"
a_turn
wait $pid
LD_PRELOAD="$(realpath "$O")/bin/er_locks.so" "$syn/locktaken" turns 1000 3 to from fork >turns.out & pid=$!
attached child
a_turn
attached another
wait $pid
