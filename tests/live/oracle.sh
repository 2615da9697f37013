#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Debian's unmodified gprofng and our er_print open the same recordings of
# er_kernel and must print the same rows. oracle_gprofng.sh does it with those of
# gprofng's own recorder.
. "$(dirname "$0")/../lib/live.sh"
. "$top/tests/lib/oracle.sh"

command -v gprofng >/dev/null || skip_all "gprofng is not installed"
load="$syn/spin outer\\>alpha:0.4 beta:0.2 >/dev/null; $syn/sysload zero:0.3 ppid:0.3 >/dev/null"

must_record off.er -F off -p high -q 0 -- sh -c "$load"
compare "-F off" off.er kcpu

# Programs of ours: for stripped ones each program names code without symbols its own way.
must_record on.er -F '=^(spin|sysload)$' -p high -q 0 -- sh -c "$load"
compare "followed" on.er user system

# KCPU as a person means it: ours is gprofng's kernel CPU and its system CPU.
total() { "$@" 2>/dev/null | csv_rows | awk -F'\t' '$2 == "<Total>" { print $1; exit }'; }
kcpu=$(total theirs -printmode , -metrics e.kcpu:name -functions on.er)
system=$(total theirs -printmode , -metrics e.system:name -functions on.er)
got=$(total ours -printmode , -metrics e.kcpu:name -functions on.er)
check_that "our kcpu is gprofng's kcpu + system" "($got - ${kcpu:-0} - ${system:-0})^2 < 0.0021^2" \
	"$got, $kcpu + $system"

mkdir fixtures
if "$O/tests/golden/make_fixtures" fixtures; then
	compare "tree" fixtures/tree.1.er user total
	compare "system" fixtures/sys.1.er user system
	compare "recursion" fixtures/rec.1.er user
	compare "not closed" fixtures/cut.1.er user
else
	not_ok "make_fixtures"
fi

if gprofng collect app -p hi -o app.er "$syn/spin" 'outer>alpha:0.5' beta:0.2 >/dev/null 2>&1; then
	compare "collect app" app.er totalcpu
else
	skip "collect app" "gprofng collect app does not work here"
fi
