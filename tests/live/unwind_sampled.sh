#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs of the distribution, stopped at random instants. The stack walked by the unwind tables
# must equal libdw's, which eu-stack prints. SAMPLES=1000 takes more samples of each program than
# the 40 of make check.
. "$(dirname "$0")/../lib/tap.sh"

sampled=$O/tests/unwind/sampled
samples=${SAMPLES:-40}
jobs=()
on_exit=stop_jobs
start() { setsid "$@" >"$tmp/job.out" 2>&1 </dev/null & jobs+=($!); }
stop_jobs()
{
	local j
	for j in "${jobs[@]}"; do kill -- "-$j" 2>/dev/null; done
	[ ${#jobs[@]} = 0 ] || wait "${jobs[@]}" 2>/dev/null
	jobs=()
}
has() { command -v "$1" >/dev/null || { skip "$1" "not installed"; false; }; }
field() { echo "$1" | sed -n "s/.*$2 \([0-9]*\).*/\1/p"; }

# equal NAME ARGUMENTS…: no stack is wrong, and at most one in a hundred is cut. Of n stacks 0.01 n
# may be, and four standard errors more: 3 of 40, 22 of 1000.
equal()
{
	local name=$1 last n same wrong
	shift
	"$sampled" "$samples" "$@" >out 2>&1 </dev/null
	last=$(grep ': samples ' out | tail -n 1)
	n=$(field "$last" samples) same=$(field "$last" equal) wrong=$(field "$last" wrong)
	check_that "$name: ${n:-0} stacks, ${same:-0} equal, ${wrong:-?} wrong" \
		"${n:-0} >= $samples && ${wrong:-1} == 0 &&
		${n:-0} - ${same:-0} <= int(0.01 * ${n:-0} + 4 * sqrt(0.01 * 0.99 * ${n:-0}) + 0.5)" "$(cat out)"
}

# wait_for COMMAND…: at most 10 s.
wait_for() { for _ in $(seq 100); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; false; }

recursion='sub f { my $n = shift; $n < 2 ? $n : f($n - 1) + f($n - 2) } f(18);
	my @a = sort { $a <=> $b } map { rand } 1 .. 3000; $_ = "b" x 3000; s/b+?c// for 1 .. 2'
loops='import re, json
for i in range(20): re.sub("a+b", "b", "banana" * 90); sorted(range(3000), key=lambda x: -x); json.dumps([{}] * 99)'
pipes='f() { local i; for i in {1..200}; do :; done; echo "$1" | { read -r x; }; }; for i in {1..20}; do f $i; done'

has perl && equal perl perl -e "$recursion"
has python3 && equal python3 python3 -c "$loops"
has bash && equal bash bash -c "$pipes"
has openssl && equal openssl openssl speed -seconds 1 rsa2048
if has git; then
	git init -q repo && (cd repo && for i in 1 2 3 4 5 6 7 8; do seq $((i * 500)) >f && git add f &&
		git -c user.name=a -c user.email=a@b commit -q -m $i; done)
	equal git git -C repo log --stat -p -M -C --find-copies-harder
fi
if has gcc; then
	gcc -E -w -D_GNU_SOURCE -I"$top" "$top/analysis/base/map.c" -o map.i
	equal cc1 "$(gcc -print-prog-name=cc1)" -quiet -O2 map.i -o map.s
fi
if has redis-server && has redis-benchmark; then
	start redis-server --port 0 --unixsocket "$tmp/socket" --save ''
	redis=$!
	if wait_for redis-cli -s "$tmp/socket" ping; then
		start redis-benchmark -s "$tmp/socket" -l -q -t get,set,lrange
		equal redis -p $redis
	else
		skip redis "does not start: $(tail -n 1 job.out)"
	fi
	stop_jobs
fi
if has nginx && has perl; then
	mkdir www && echo hello >www/index.html
	cat >nginx.conf <<-END
		daemon off; pid $tmp/pid; error_log $tmp/log; worker_processes 1; user root;
		events {} http { access_log off; keepalive_requests 1000000000;
		server { listen unix:$tmp/nginx; root $tmp/www; } }
	END
	start nginx -c "$tmp/nginx.conf"
	nginx=$!
	if wait_for test -S nginx && wait_for pgrep -P $nginx; then
		start perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Peer => "nginx") or die;
			while (1) { print $s "GET / HTTP/1.1\r\nHost: x\r\n\r\n"; sysread $s, $x, 65536 }'
		equal nginx -p "$(pgrep -P $nginx | head -n 1)"
	else
		skip nginx "does not start: $(tail -n 1 job.out)"
	fi
	stop_jobs
fi
