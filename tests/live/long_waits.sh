#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A recording of more than half a minute has fewer recorded waits (user/record/pace.h). What is
# estimated from them must still be right. Programs alternate between a poll and a read of a pipe. A
# second recorder traces every wait of theirs meanwhile, so it has the exact times.
. "$(dirname "$0")/../lib/live.sh"

command -v perl >/dev/null || skip_all "perl is not installed"

cat >alternate.pl <<'END'
pipe(my $answer, my $say); pipe(my $hear, my $ask);
my $x;
if (!fork()) {
	close $ask;
	while (sysread($hear, $x, 1)) { select(undef, undef, undef, 0.003); syswrite($say, "x", 1) }
	exit;
}
while (1) { select(undef, undef, undef, 0.001); syswrite($ask, "x", 1); sysread($answer, $x, 1) }
END
targets=
for i in 1 2 3 4 5 6 7 8 9 10; do
	perl alternate.pl &
	pids="$pids $!"
	targets="$targets -T $!"
done
on_exit=stop_load
stop_load() { kill $pids 2>/dev/null; }

"$er_kernel" -A off -o exact.er -s all -t 42 $targets >exact.out 2>&1 &
exact=$!
must_record long.er -A off -t 42
wait $exact || { not_ok "a second recorder traces every wait" "$(cat exact.out)"; exit 1; }
stop_load

# reason NAME EXPERIMENT: seconds and their standard error
reason()
{
	"$er_print" -errors on -printmode , -filters "$(pid_filter)" -waits "$2" 2>/dev/null |
		awk -F'","' -v n="$1\"" '$NF == n { sub(/^"/, "", $1); print $1 + 0, $3 + 0; exit }'
}

# The recorders begin and end at different moments, so shares are compared.
for name in poll pipe; do
	set -- $(reason $name long.er) $(reason '<Total>' long.er) $(reason $name exact.er) \
		$(reason '<Total>' exact.er)
	check_that "the estimated share of $name is right within 5 standard errors" \
		"$1 > 1 && $2 > 0 && $1 / $3 - $5 / $7 < 5 * $2 / $3 && $5 / $7 - $1 / $3 < 5 * $2 / $3" "$*"
	check_that "every wait in $name that is traced is exact" "$6 == 0" "$*"
done
for pid in $pids; do
	sum=$(query "sum(NTICK*1000) from packets where MSTATE eq SLEEP && THRID == $pid" long.er)
	total=$(query "sum(sleep) from thread where tid == $pid" long.er)
	# Packets have whole microseconds, and threads share the carries (drain.c).
	check_that "packets of a thread add up to its sleep" \
		"($total - $sum)^2 <= 100000^2" "$total, $sum"
done

# Once the distance has grown, at most 100 waits a second and CPU are chosen. A wait may have two
# packets.
start=$(event_time long.er run)
late=$(query "count() from packets where !ON_CPU && !REST && TSTAMP / 1e9 > $start + 34 && TSTAMP / 1e9 < $start + 41" long.er)
check_that "later on few waits are recorded" "$late / 7 <= 200 * $(nproc)" "$late in 7 seconds"
check_that "… as the distance of sample points has grown" \
	"$(query 'sum(widest_ns) from capture' long.er) > 10007000"
