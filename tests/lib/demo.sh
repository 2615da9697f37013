#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make demo: demo.sh OUTPUT
#
# Records the whole system for about ten seconds, under a load that computes, makes system
# calls, and waits for locks and the disk. Then er_print reports on it.
set -u

O=$(cd "$1" && pwd) || exit 1
er_kernel=$O/bin/er_kernel
er_print=$O/bin/er_print
syn=$O/tests/synprog
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# The load works in its own directory, which is removed at the end.
cat >"$work/load" <<END
#!/bin/sh
cd "$work"
"$syn/contend" 8 >/dev/null &
"$syn/kload" 8 >/dev/null &
"$syn/spin" -t 2 'outer>alpha:1.5' beta:0.7 >/dev/null &
"$syn/sysload" zero:0.7 ppid:0.7 >/dev/null &
for i in 1 2 3; do
	printf '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { return puts("demo"); }\n' >c\$i.c
	gcc -O2 -o c\$i c\$i.c
	sleep 1
done
wait
END
chmod +x "$work/load"

say() { printf "\n--- %s\n" "$*"; }
# Quote arguments for a shell.
quoted() { for a; do case $a in *[!A-Za-z0-9_./,:%=+-]*) printf " '%s'" "$a" ;; *) printf ' %s' "$a" ;; esac; done; }
# Reports are 100 columns wide, as terminals have 80 to 100.
report() { say "er_print$(quoted "$@")"; COLUMNS=100 "$er_print" "$@"; }

last=$(ls -d ktest.*.er 2>/dev/null | sed -n 's/^ktest\.\([0-9]*\)\.er$/\1/p' | sort -n | tail -n1)
exp=ktest.$((${last:-0} + 1)).er

say "er_kernel LOAD        (about ten seconds: one quiet, eight under load, one quiet)"
"$er_kernel" "$work/load" || exit 1
[ -d "$exp" ] || { echo "demo: '$exp': er_kernel made no such experiment" >&2; exit 1; }

report -header "$exp"

report -limit 15 -functions "$exp"

report -metrics e.%kcpu:i.%kcpu -sort e.kcpu -limit 15 -functions "$exp"

hottest=$("$er_print" -printmode , -metrics e.kcpu:name -sort e.kcpu -functions "$exp" 2>/dev/null |
	awk -F'","' '/^"[0-9]/ { sub(/"$/, "", $2)
		if ($2 !~ /^</) { print $2; exit } }')
report -cmetrics a.kcpu:e.kcpu:i.kcpu -csingle "$hottest" 1 "$exp"

report -limit 12 -microstates processes "$exp"

report -limit 8 -filters 'COMM=="contend"' -microstates threads "$exp"

report -limit 8 -filters 'COMM=="contend"' -waits "$exp"

report -limit 8 -filters 'COMM=="contend"' -locks "$exp"

next() { printf '  %-48s  %s\n' "$1" "$2"; }

printf '\nThe experiment is ./%s. What to type next:\n' "$exp"
next "$1/bin/er_print $exp" "and then functions, calltree, help, quit"
next "$1/bin/er_print -calltree $exp" "where the time went, from the root"
next "$1/bin/er_print -waits $exp" "where it went when nobody computed"
next "gprofng display text -functions $exp" "the same numbers by gprofng"
