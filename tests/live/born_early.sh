#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Threads that are born while the recorder begins, and threads that lose a CPU to a wakeup: their
# samples have no more CPU time than the kernel counted, so the states add up to the time lived.
. "$(dirname "$0")/../lib/live.sh"

"$syn/many" 1000000 8 3 >/dev/null 2>&1 &
load=$!
on_exit="kill $load"
rounds=5 born=0
: >wrong
for i in $(seq $rounds); do
	must_record "b$i.er" -q 0 -t 0.5 --each-thread
	# A line for each thread that was born: what the kernel counted. Then what samples say.
	threads_of "b$i.er" | perl -ne 'my %t = /(\w+)="([^"]*)"/g;
		print "$t{tid} run ", ($t{run} // 0) / 1000, "\n" if $t{tid} && $t{born}' >have
	query 'THRID "ticks" sum(NTICK) count() from packets where ON_CPU' "b$i.er" >>have
	perl -ane '$v{$F[0]}{$F[1]} += $F[2]; $n{$F[0]}{$F[1]}++; $packets{$F[0]} = $F[3] // 0;
		END { for (sort keys %v) { my $t = $v{$_}; next unless $n{$_}{run} && $t->{ticks};
			$born++; my $more = $t->{ticks} - $t->{run};
			print "thread $_: samples $t->{ticks} us, kernel $t->{run} us\n" if $more > 500 + $packets{$_} }
			print STDERR $born // 0 }' have >>wrong 2>n
	born=$((born + $(cat n)))
done
check_that "threads were born, and some had samples" "$born > 20 * $rounds" "$born"
check_that "no thread has more time in samples than the kernel counted" "$(wc -l <wrong) == 0" "$(cat wrong)"
