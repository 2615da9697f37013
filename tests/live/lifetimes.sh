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
