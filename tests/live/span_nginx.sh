#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Spans of a function of Debian's nginx, which is stripped and exports its functions for modules, and of its
# system calls, compared with what a client counts.
. "$(dirname "$0")/../lib/live.sh"

PATH=$PATH:/usr/sbin
command -v nginx >/dev/null && command -v curl >/dev/null ||
	skip_all "not installed: apt-get install nginx-light curl"

mkdir www
chmod 755 . www
head -c 5000 /dev/zero | tr '\0' x >www/page.html
port=$((20000 + $$ % 20000))
cat >nginx.conf <<END
daemon off;
master_process off;
pid $tmp/nginx.pid;
error_log $tmp/error.log;
events { }
http {
	access_log $tmp/access.log;
	client_body_temp_path $tmp/body;
	proxy_temp_path $tmp/proxy;
	fastcgi_temp_path $tmp/fastcgi;
	uwsgi_temp_path $tmp/uwsgi;
	scgi_temp_path $tmp/scgi;
	server { listen 127.0.0.1:$port; root $tmp/www; }
}
END
nginx -p "$tmp" -c "$tmp/nginx.conf" 2>nginx.err & server=$!
stop_server() { kill $server 2>/dev/null; }
on_exit=stop_server
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	[ -s nginx.pid ] && break
	sleep 0.5
done
[ -s nginx.pid ] || skip_all "nginx does not start: $(head -n 1 nginx.err)"

n=3000
must_record nginx.er -q 0 --span-limit unlimited -T $server --span "request=$server:ngx_http_process_request" \
	--span 'reply=syscall:writev(1:s32,ret:s64) if ret > 0' -- \
	curl -s -o /dev/null -w '%{http_code} %{time_total}\n' "http://127.0.0.1:$port/page.html?[1-$n]"
kill $server
wait $server 2>/dev/null

value() { query "$2 from span where name eq \"$1\"" nginx.er; }
replies=$(grep -c '^200 ' record.out)
seconds=$(awk '{ s += $2 } END { print s + 0 }' record.out)
check_that "the client has all replies" "$replies == $n" "$(head -n 3 record.out error.log)"
check_that "each request is a call" "$(value request count) == $n" "$(cat nginx.er/spans.xml)"
check_that "and has a reply" "$(value reply count) >= $n" "$(cat nginx.er/spans.xml)"
check_that "no call is lost" "$(query 'sum(lost+noroom+unended) from span where name eq "request"' nginx.er) == 0" \
	"$(cat nginx.er/spans.xml)"
check_that "the calls last, and no longer than the client waited" \
	"$(value request duration) > 0 && $(value request duration) <= 1e9 * $seconds" "$seconds $(cat nginx.er/spans.xml)"
