#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Debian's unmodified gprofng and our er_print read what collect recorded, and print the same rows:
# of the whole experiment and of the founder alone.
. "$(dirname "$0")/../lib/live.sh"
. "$top/tests/lib/oracle.sh"

command -v gprofng >/dev/null || skip_all "gprofng is not installed"
# Our own programs, with symbols: er_print and gprofng name code without symbols differently.
timeout 300 "$O/bin/collect" -p high -o tree.er "$syn/forktree" 2 2 0.3 >tree.out 2>tree.err
check_that "collect records" "$? == 0" "$(cat tree.err)"
compare "descendants" tree.er user system
for name in parent_work child_work exec_work; do
	got=$(theirs -printmode , -metrics i.user:name -functions tree.er | csv_rows |
		awk -F'\t' -v n=$name '$2 == n { print $1 }')
	check_that "gprofng shows $name" "${got:-0} > 0.2" "$got"
done

timeout 300 "$O/bin/collect" -p high -o one.er "$syn/contend" 1 >one.out 2>one.err
states=user:e.system:e.trap:e.textpfault:e.datapfault:e.kernelpfault:e.lock:e.sleep:e.wait:e.stop
find_all_renames one.er user sleep >/dev/null
same_list "microstates" csv_numbers one.er "-metrics e.$states:i.sleep:i.user:name -functions" \
	"-metrics e.$states:i.sleep:i.user:name -functions"
for type in CPUs Seconds; do
	same_list "microstates, $type" csv_numbers one.er "-metrics e.$states:name -indxobj $type" \
		"-metrics e.$states:name -indxobj $type"
done
