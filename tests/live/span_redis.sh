#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Spans of a function of Debian's redis-server, which is stripped and has no USDT probes, and of its system
# calls, compared with what redis counts itself.
. "$(dirname "$0")/../lib/live.sh"

command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null ||
	skip_all "not installed: apt-get install redis-server redis-tools"

cli() { redis-cli -s "$tmp/redis.sock" "$@" 2>&1; }

redis-server --port 0 --unixsocket "$tmp/redis.sock" --save '' --dir "$tmp" >redis.log 2>&1 & server=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	[ "$(cli ping)" = PONG ] && break
	sleep 0.5
done
[ "$(cli ping)" = PONG ] || { cat redis.log; skip_all "redis-server does not start"; }
cli config resetstat >/dev/null

# Each reply is one write to the socket, because no client sends a request before it has the reply.
must_record redis.er -q 0 --span-limit unlimited -T "$server" --span "call=$server:call" \
	--span 'reply=syscall:write(1:s32)' --span 'request=syscall:read(ret:s64) if ret > 0' -- \
	redis-benchmark -s "$tmp/redis.sock" -n 20000 -c 4 -t set -q
cli info commandstats | tr -d '\r' >stats
kill "$server"
wait "$server" 2>/dev/null

value() { query "$2 from span where name eq \"$1\"" redis.er; }
# Before and after the recording ran only these two commands.
done=$(sed -n '/resetstat\|_info/d; s/^cmdstat_.*:calls=\([0-9]*\),.*/\1/p' stats | awk '{ s += $1 } END { print s + 0 }')
set_us=$(sed -n 's/^cmdstat_set:.*usec=\([0-9]*\),.*/\1/p' stats)
check_that "redis has set as often as it was asked" "$done >= 20000" "$(cat stats)"
check_that "each command is a call" "$(value call count) == $done" "$(cat stats redis.er/spans.xml)"
check_that "and has a request" "$(value request count) >= $done" "$(cat redis.er/spans.xml)"
check_that "no call is lost" "$(query 'sum(lost+noroom+unended) from span where name eq "call"' redis.er) == 0" \
	"$(cat redis.er/spans.xml)"
# Redis reads its clock inside of the call, and counts whole microseconds.
check_that "the calls last longer than redis says, but for the fractions that it leaves out" \
	"$(value call duration) >= 1000 * ${set_us:-0}" "$(cat stats redis.er/spans.xml)"
"$er_print" -limit 1000 -filters "SPAN == 'call' && SPANPCT >= 99" -span_list redis.er >slow 2>&1
n=$(grep -c ' call ' slow)
check_that "the slowest percent is a filter" "$n >= 0.008 * $done && $n <= 0.012 * $done" "$n of $done $(head -n 5 slow)"
