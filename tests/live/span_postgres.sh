#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Spans of PostgreSQL's statements by its USDT probes, compared with what pgbench ran and with what the
# server logged.
# Time limit: 120 s
. "$(dirname "$0")/../lib/live.sh"

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
[ -n "$bin" ] && [ -x "$bin/pgbench" ] || skip_all "not installed: apt-get install postgresql-15"
readelf -n "$bin/postgres" 2>/dev/null | grep -q query__start || skip_all "$bin/postgres was built without probes"

as_postgres() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
db=$tmp/db
chmod 755 "$tmp" && install -d -o postgres "$db" && cd "$db" || exit 2
as_postgres "$bin/initdb" -D "$db/data" >"$tmp/initdb" 2>&1 || skip_all "initdb: $(tail -n 1 "$tmp/initdb")"
as_postgres "$bin/pg_ctl" -D "$db/data" -w -l "$db/log" -o "-k $db -c listen_addresses= \
	-c log_min_duration_statement=0 -c log_line_prefix=%p:" start >"$tmp/start" 2>&1 || skip_all "$(tail -n 1 "$tmp/start")"
on_exit=stop_server
stop_server() { cd / && as_postgres "$bin/pg_ctl" -D "${db:?}/data" -m immediate stop >/dev/null; }
bench() { "$bin/pgbench" -h "$db" -U postgres "$@" postgres; }
bench -i -q >/dev/null 2>&1
cd "$tmp" || exit 2

# A statement ends for the probe after the server has written its line to the log; the time of writing
# is not in the line. So each transaction has a statement that takes much longer than that.
cat >"$tmp/load.sql" <<'EOF'
\set aid random(1, 100000)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = 1;
SELECT count(*) FROM pgbench_accounts WHERE abalance > :delta;
END;
EOF
statements=5 # of a transaction

# The server runs already; the load is the client. Only its statements come after the log is emptied.
: >"$db/log"
must_record pg.er --span-limit unlimited --span "q=usdt:$bin/postgres:postgresql:query__start,query__done(1:str)" -- \
	"$bin/pgbench" -h "$db" -U postgres -n -c 4 -t 150 -f "$tmp/load.sql" postgres
done=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' record.out)
logged=$(sed -n 's/.*duration: \([0-9.]*\) ms .*/\1/p' "$db/log" | awk '{ n++; s += $1 } END { print n + 0, s + 0 }')
recorded=$(query 'count duration/1e6 from span where name eq "q"' pg.er)

check_that "as many statements as pgbench ran, and a few at its start" \
	"$statements * $done <= ${recorded%%	*} && ${recorded%%	*} <= $statements * $done + 3" "$done transactions; $recorded"
check_that "as many statements as the server logged" "${recorded%%	*} == ${logged% *}" "$logged; $recorded"
check_that "their time is what the server logged, within 2 %" \
	"(${recorded##*	} - ${logged#* })^2 < (0.02 * ${logged#* })^2" "$logged; $recorded"
check_that "each has a record" "$(query 'count() from spans' pg.er) == ${recorded%%	*}" "$recorded"
check_that "with the statement's text" \
	"$("$er_print" -limit 2000 -span_list pg.er | grep -c "text 'UPDATE pgbench_branches") > 100"
"$er_print" -spans pg.er >spans 2>&1
check "the report says what slow ones wait for" grep -q 'q: slow by' spans
