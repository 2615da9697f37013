#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Memory and descriptors of a recorder do not grow with the number of processes and of programs that
# it has seen. Compared are the figures after some processes and after three times as many.
# Time limit: 400 s
. "$(dirname "$0")/../lib/live.sh"

# The least of ten seconds: files stay open until their tables are built.
fds()
{
	for second in 1 2 3 4 5 6 7 8 9 10; do
		ls "/proc/$pid/fd" | wc -l
		sleep 1
	done | sort -n | head -n 1
}
rss() { awk '$1 == "VmRSS:" { print $2 }' "/proc/$1/status"; }
settled() { sleep 3; } # images of processes are kept for 1.5 s

# programs N: N new executables, each of which runs once and is then removed. A build makes such.
made=0
programs()
{
	local last=$((made + $1))
	while [ $made -lt $last ]; do
		made=$((made + 1))
		cp "$syn/spin" "new$made" && "./new$made" alpha:0.001 >/dev/null && rm "new$made"
	done
}

"$er_kernel" -o b.1.er -q 0 -p high --roll 1s --keep 40M >out 2>err &
pid=$! plain=
on_exit=stop
stop() { kill $pid $plain 2>/dev/null; }
until [ -d b.2.er ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done

# More than are kept: FILES_UNMAPPED and FILES_MORE.
programs 300
settled
fds=$(fds)
programs 600
settled
now=$(fds)
# Each of the 600 programs would leave one or two. Others on this machine begin programs, too.
check_that "descriptors do not grow with the number of programs" "$fds > 0 && $now - $fds < 300" \
	"$fds after 300 programs, $now after 900"

# Stacks are kept up to a limit, which a busy machine reaches at any time: two generations of 8 MB and
# their indexes (user/record/stacks.c). A recorder without stacks shows what processes take.
kept=20000
"$er_kernel" -o plain.1.er -q 0 -p off --states off --roll 1s --keep 40M >plain.out 2>plain.err &
plain=$!
until [ -d plain.2.er ] || ! kill -0 $plain 2>/dev/null; do sleep 0.1; done
"$syn/many" 3000 20 0 >/dev/null
settled
rss=$(rss $pid) plain_rss=$(rss $plain)
"$syn/many" 6000 20 0 >/dev/null
settled
now=$(rss $pid) plain_now=$(rss $plain)
check_that "memory does not grow with the number of processes" \
	"$plain_rss > 0 && $plain_now - $plain_rss < 4000" "$plain_rss kB after 3000 processes, $plain_now after 9000"
check_that "memory grows by kept stacks at most" "$rss > 0 && $now - $rss < 4000 + $kept" \
	"$rss kB after 3000 processes, $now after 9000"
kill -INT $plain
wait $plain
check_that "the recorder without stacks ends well" "$? == 0" "$(cat plain.err)"
kill -INT $pid
wait $pid
check_that "the recorder ends well" "$? == 0" "$(cat err)"
last=$(ls -d b.*.er | sort -t. -k2n | tail -n 1)
check "the last segment opens" "$er_print" -header -functions "$last"
