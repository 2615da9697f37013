#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Two programs use the same path, one after the other, and neither exists at the end. Each function
# keeps its name.
. "$(dirname "$0")/../lib/live.sh"

command -v gcc >/dev/null || skip_all "gcc is not installed"
for f in first second; do
	echo "void $f(void) { for (volatile long i = 0; i < 600000000; i++) ; } int main(void) { $f(); }" |
		gcc -g -O0 -x c -o $f -
done
# The name is unique to this test, because another checkout may run its tests at the same time.
prog=prog$$
must_record r.er -p high -q 0 -- sh -c \
	'cp first $0; ./$0 & wait; rm $0; cp second $0; ./$0; rm $0' "$prog"
rm -f first second
for f in first second; do
	got=$(seconds_of $f i.totalcpu r.er)
	check_that "$f has its name" "$got > 0.1" "got $got: $("$er_print" -functions r.er | head -n 20)"
done
check_that "both programs of one name are archived" "$(find r.er/archives -name "${prog}_*" | wc -l) == 2" "$(ls r.er/archives)"
