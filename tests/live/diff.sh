#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# diff: two recordings of a load of which one function got slower by a known amount; two of equal
# loads; and two builds of a program, at one path and in two directories.
. "$(dirname "$0")/../lib/live.sh"

# The loads use exact amounts of CPU time, by the kernel's clock, however busy or fast the machine is.
# Their names are this test's alone: other programs named spin may run at the same time.
spin=spin$$ prog=prog$$
cp "$syn/spin" "$spin"
load() { must_record "$1.er" -p high -q 0 -- "./$spin" alpha:1 "beta:$2"; cp record.out "$1.truth"; }

load before 0.6
load equal 0.6
load after 1.2

# compare STATUS NAME ARGUMENTS…: run diff into got; its exit status must be this one
compare()
{
	local want=$1 name=$2 status

	shift 2
	"$er_print" -comm "$spin" -limit 50 -printmode '|' -diff time "$@" >got 2>err
	status=$?
	if [ $status = "$want" ]; then ok "$name"; else not_ok "$name" "status $status: $(cat got err)"; fi
}

# field N FUNCTION: of its row of exclusive CPU time, without quotes
field() { awk -F'"[|]"' -v n="$1" -v f="$2 [" '$7 == "CPU time" && index($8, f) == 1 { sub(/^"/, "", $n); print $n; exit }' got; }

compare 3 "slower: status 3" -threshold 20% before.er after.er
check_that "slower: the function and its verdict" "\"$(field 6 beta)\" == \"slower\"" "$(cat got)"
check_that "slower: by what the load says, within four errors" \
	"($(field 3 beta) - ($(truth after.truth beta) - $(truth before.truth beta)))^2 < (4 * $(field 4 beta))^2" "$(cat got *.truth)"
check_that "slower: the other function is not listed" "\"$(field 6 alpha)\" == \"\"" "$(cat got)"
compare 0 "faster: status 0" -threshold 20% after.er before.er
check_that "faster: the function and its verdict" "\"$(field 6 beta)\" == \"faster\"" "$(cat got)"
compare 0 "equal loads: status 0" -threshold 10% before.er equal.er
check_that "equal loads: neither function is listed" "\"$(field 6 alpha)$(field 6 beta)\" == \"\"" "$(cat got)"
compare 1 "an experiment that is missing: status 1" none.er before.er

# A new build at the same path, with functions at other addresses.
cat >prog.c <<'END'
#include <time.h>
volatile unsigned long sink;
static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}
#define WORK(name) \
	__attribute__((noinline)) void name(double seconds) \
	{ \
		for (double end = now() + seconds; now() < end;) \
			for (int i = 0; i < 100000; i++) \
				sink = sink * 31 + 7; \
	}
#ifdef SECOND
WORK(filler)
WORK(two)
WORK(one)
#else
WORK(one)
WORK(two)
#endif
int main(void)
{
	one(0.3);
	two(0.3);
#ifdef SECOND
	two(0.6);
#endif
	return 0;
}
END
gcc -O1 -o $prog prog.c && must_record first.er -p high -q 0 -- ./$prog
rm $prog && gcc -O1 -DSECOND -o $prog prog.c && must_record second.er -p high -q 0 -- ./$prog
"$er_print" -comm $prog -printmode '|' -diff time -threshold 60% first.er second.er >got 2>err
check_that "two builds: functions have their own names" \
	"\"$(field 6 two)\" == \"slower\" && \"$(field 6 one)$(field 6 filler)\" == \"\"" "$(cat got err)"
check "two builds: it is said" grep -q "Different builds of .*/$prog: functions are compared by name" err

# The same in another directory.
mkdir other && mv $prog other && must_record third.er -p high -q 0 -- other/$prog
"$er_print" -comm $prog -printmode '|' -diff time -threshold 60% first.er third.er >got 2>err
check_that "a build in another directory: functions have their own names" \
	"\"$(field 6 two)\" == \"slower\" && \"$(field 6 one)$(field 6 filler)\" == \"\"" "$(cat got err)"
check "a build in another directory: it is said" grep -q \
	"Different builds of .*/$prog and .*/other/$prog: functions are compared by name" err
check "a build in another directory: -compare says it" sh -c '"$1" -comm "$2" -compare on -functions first.er third.er |
	grep -q "Different builds of .*/$2 and .*/other/$2: each has rows of its own"' sh "$er_print" $prog
