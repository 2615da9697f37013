#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A calls B, B calls C and C calls D. The compiler turned the last calls of B and C into jumps,
# so A is the caller of each.
. "$(dirname "$0")/../lib/live.sh"

command -v gcc >/dev/null || skip_all "gcc is not installed"
cat >tail.c <<'END'
#include <time.h>

/* 0.3 s of this thread's own CPU time. */
__attribute__((noinline)) static void burn(void)
{
	struct timespec from, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - from.tv_sec) * 1000000000L + now.tv_nsec - from.tv_nsec < 300000000L);
}

__attribute__((noinline)) int D(int x) { burn(); return x; }
__attribute__((noinline)) int C(int x) { burn(); return D(x + 1); }
__attribute__((noinline)) int B(int x) { burn(); return C(x + 1); }
__attribute__((noinline)) int A(int x) { return B(x) * 3; }

int main(int argc, char **argv) { return A(argc) < 0; }
END
gcc -O2 -fno-inline -fno-ipa-icf -fno-omit-frame-pointer -foptimize-sibling-calls -o tail tail.c 2>gcc.err ||
	skip_all "gcc: $(head -n 1 gcc.err)"
must_record tail.er -F '=^tail$' -p high -q 0 -- ./tail

# neighbours FUNCTION: the neighbours in the function's panel that have at least half of a burn's
# time
neighbours()
{
	"$er_print" -printmode csv -cmetrics a.user:name -csingle "$1" tail.er 2>/dev/null |
		awk -F, '$1 + 0 >= 0.15 && $2 !~ /^\*/ { print $2 }' | sort | tr '\n' ' '
}

check_that "tail calls: A is the caller of B, C and D" "\"$(neighbours A)\" == \"B C D main \"" "$(neighbours A)"
for f in B C D; do
	check_that "$f was called by A" "\"$(neighbours $f)\" == \"A burn \"" "$(neighbours $f)"
done
