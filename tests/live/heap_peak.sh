#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# heappeak: the stacks that hold the memory at the peak, of a program that knows them.
. "$(dirname "$0")/../lib/live.sh"
collect=$O/bin/collect

cat >peak.c <<'end'
#include <stdlib.h>

static void *volatile at[2000];
static int n;

#define ALLOCATOR __attribute__((noinline, noclone)) void
ALLOCATOR first(int count) { for (int i = 0; i < count; i++) at[n++] = malloc(1000); }
ALLOCATOR second(int count) { for (int i = 0; i < count; i++) at[n++] = malloc(7000); }
ALLOCATOR passing(void) { at[n++] = malloc(20000); free(at[--n]); }
ALLOCATOR late(void) { at[n++] = malloc(3000); }

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;

	first(10 * times);
	passing();
	second(5 * times);
	while (n > 2)
		free(at[--n]);
	late();
	return 0;
}
end
gcc -g -O1 peak.c -o peak || { not_ok "the program is built"; exit; }

# row STACK'S-LEAF: the numbers of the stack that this function allocated with.
row() { awk -v f="$1" '/Stack #/ { head = $0; next } $1 == f { print head; exit }' peak.text | tr -d '~'; }

"$collect" -p off -H on -o exact.er ./peak >out 2>record.err || not_ok "the program is recorded" "$(cat record.err)"
"$er_print" -heappeak exact.er >peak.text 2>&1
check_that "first holds 10 blocks" "$(row first | grep -cE '^ *10 +10000 ') == 1" "$(cat peak.text)"
check_that "second holds 5 blocks" "$(row second | grep -cE '^ *5 +35000 ') == 1" "$(cat peak.text)"
check_that "what was freed before, or allocated later, is not there" "$(grep -cE ' (passing|late) ' peak.text) == 0" \
	"$(cat peak.text)"
peak=$("$er_print" -heapstat exact.er 2>/dev/null | awk '/Heap size bytes/ { print $4 }')
total=$(awk '$3 == "<Total>" { print $2 }' peak.text)
sum=$(awk '/Stack #/ { s += $2 } END { print s + 0 }' peak.text)
check_that "the peak is known, and heapstat's" "$peak == 45000 && $total == $peak && $sum == $peak" \
	"heapstat $peak, total $total, sum $sum"

# The same under a filter: the peak of the calls that pass.
"$er_print" -filters 'HSIZE > 5000 && HSIZE < 10000 || HTYPE == 1' -heappeak exact.er >filtered 2>&1
check_that "with a filter only the calls that pass it count" "$(awk '$3 == "<Total>" { print $2 }' filtered) == 35000" \
	"$(cat filtered)"

"$collect" -p off -H sampled -o sampled.er ./peak 100 >out 2>record.err
"$er_print" -heappeak sampled.er >peak.text 2>&1
check_that "a sampled heap: estimates are marked" "$(grep -cE '^ *[0-9]+ +~[0-9]+ +<Total>' peak.text) == 1 && \
	$(grep -c '^~ marks an estimate' peak.text) == 1" "$(cat peak.text)"
"$er_print" -errors on -heappeak sampled.er >errors 2>&1
check_that "and have a standard error" "$(grep -c 'Std. Error\|Standard' errors) >= 1" "$(cat errors)"
