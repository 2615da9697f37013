#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How long processes lived and how they ended: at least as long as they saw themselves, at most as
# long as the shell waited for them.
. "$(dirname "$0")/../lib/live.sh"

cat >life.pl <<'END'
use Time::HiRes 'time';
my ($how, $begin, $cpu) = (shift, time, scalar times);
1 while times - $cpu < 0.3;
open my $f, '>', "inner.$how";
printf $f "%.6f\n", time - $begin;
close $f;
exit 7 if $how =~ /^exits/;
exec 'true' if $how eq 'executes';
kill 'TERM', $$;
sleep 9;
END
cat >run.sh <<'END'
for how in exits executes terminates; do
	before=$(date +%s.%N)
	perl life.pl $how
	echo "$(date +%s.%N) - $before" >outer.$how
done
"$syn/threadexec" 0.3 perl life.pl exits_again
true
END
must_record life.er -p high -- sh run.sh

# is HOW END: compare the process that ended so.
is()
{
	"$er_print" -printmode json -lifetimes life.er 2>/dev/null | grep -F "\"perl life.pl $1\"" >row
	check "$1: $2" grep -q ",\"$2\"," row
	lived=$(cut -d, -f4 <row)
	check_that "$1: lifetimes lists the process" \
		"${lived:-0} >= $(cat inner.$1) && ${lived:-0} <= $(cat outer.$1)" \
		"listed ${lived:-nothing}, measured $(cat inner.$1) inside, $(cat outer.$1) outside"
}

# is_listed COMMAND END: the only row with this command ends so.
is_listed()
{
	"$er_print" -printmode json -lifetimes life.er 2>/dev/null | grep -F "$1\"" >row
	check "'$1': $2" sh -c "[ \$(wc -l <row) = 1 ] && grep -q ',\"$2\",' row || { cat row; false; }"
}

is exits "exit 7"
is executes exec
is terminates SIGTERM
is_listed '"perl life.pl exits_again' "exit 7"
is_listed 'threadexec 0.3 perl life.pl exits_again' exec
check "the recorder's load exited with 0" \
	sh -c "\"$er_print\" -lifetimes life.er | grep 'sh run.sh' | grep -q ' exit 0 '"

# Each of these lives for a millisecond or two, so most have no sample.
cat >many.sh <<'END'
for i in $(seq 60); do sh -c "exit $((i % 6))"; done
sh -c 'kill -9 $$'
exec 2>/dev/null
END
# ends FILE: the ends of these processes, each with its number
ends() { sed -n 's/.* \(exit [0-9]*\|SIG[A-Z]*\)  .*sh -c \(exit\|kill\) .*/\1/p' "$1" | sort | uniq -c | awk '{ print $1, $2, $3 }' >ends; }
for option in "" --each-thread; do
	rm -rf many.er
	# shellcheck disable=SC2086
	must_record many.er $option -p high -- sh many.sh
	"$er_print" -lifetimes many.er >list 2>err
	ends list
	for n in 1 2 3 4 5; do
		check "${option:-by default} each process with status $n is listed" grep -qx "10 exit $n" ends
	done
	check "${option:-by default} and one that was killed" grep -qx "1 SIGKILL " ends
	check "${option:-by default} no process is listed twice" sh -c '! grep -o "^ *[0-9]* .*exit [0-9]*" list | sort | uniq -d | grep .'
done
check "with --each-thread also those with status 0" grep -qx "10 exit 0" ends
check "and nothing is said of others" sh -c '! grep "more short process" list'

# In segments a process is listed where it ended.
rm -rf many.er
"$er_kernel" -o roll.1.er --roll 1s -g roll.erg -p high -- sh -c 'sh -c "sleep 1.5; exit 3"; exit 0' >record.out 2>record.err
"$er_print" -lifetimes roll.erg >list 2>err
check_that "a process that a later segment has no sample of has its end" "$(grep -c 'exit 3 .* sh -c sleep 1.5' list) == 1" "$(cat list)"
