#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Each recipe of er_print(1) prints a report when it is run exactly as printed.
. "$(dirname "$0")/../lib/tools.sh"
fresh
put spans.1.er slow.er
put waits.1.er before.er after.er ktest.1.er
rm -f .er.rc

sed -n '/^\.Sh RECIPES/,/^\.Sh SEE/s/^\.Li "\(.*\)"$/\1/p' "$top/docs/man/er_print.1" >recipes
check_that "er_print(1) has at least 20 recipes" "$(wc -l <recipes) >= 20" "$(wc -l <recipes)"
while read -r recipe; do
	rm -f functions.csv
	sh -c "$recipe" >out 2>err </dev/null
	status=$?
	[ ! -e functions.csv ] || cat functions.csv >>out
	[ $status = 0 ] && ! grep -qv 'the newest experiment here' err && [ "$(wc -l <out)" -gt 3 ] && ok "$recipe" ||
		not_ok "$recipe" "status $status: $(cat out err)"
done <recipes
