#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Spans of the interpreter's USDT probes in Debian's python3, compared with what the program counts itself.
. "$(dirname "$0")/../lib/live.sh"

python=$(readlink -f /usr/bin/python3)
[ -x "$python" ] || skip_all "not installed: apt-get install python3"
readelf -n "$python" 2>/dev/null | grep -q gc__start || skip_all "$python was built without probes"

cat >load.py <<'END'
import gc, os, xml.dom.minidom
for i in range(200):
    cycle = [[[] for j in range(1000)]]
    cycle.append(cycle)
for i in range(7):
    gc.collect()
gc.disable()
print("pid\t%d" % os.getpid())
print("young\t%d" % gc.get_stats()[0]["collections"])
print("full\t%d" % gc.get_stats()[2]["collections"])
END
u=usdt:$python:python
must_record py.er -q 0 --span-limit unlimited --span "young=$u:gc__start,gc__done(1:s32) if arg1 == 0" \
	--span "full=$u:gc__start,gc__done(1:s32) if arg1 == 2" \
	--span "gc=$u:gc__start" --span "import=$u:import__find__load__start,import__find__load__done(1:str)" -- \
	"$python" -I -S -c "$(cat load.py)"
# Other programs may run python, too. The interpreter collects a few times more at its end.
count() { query "count() from spans where RETURNED && SPAN == $1 && THRID == $(pid_of record.out)" py.er; }
check_that "nothing is lost" "$(query 'sum(lost+noroom) from span' py.er) == 0"
check_that "collections of the young generation are what the interpreter counted" \
	"$(count 1) == $(truth record.out young)" "$(cat record.out py.er/spans.xml)"
check_that "so are full ones, and there are some at the end" \
	"$(count 2) >= $(truth record.out full)" "$(cat record.out py.er/spans.xml)"
check_that "the probe that ends a collection is found by its name" "$(count 3) >= $(count 1) + $(count 2) &&
	$(query 'sum(unended) from span where name eq "gc"' py.er) == 0" "$(cat py.er/spans.xml)"
check_that "each has the generation as its argument" \
	"$(query 'count() from spans where SPAN == 2 && SPANA1 != 2' py.er) == 0"
zcat py.er/spanstrings.xml.gz >texts
check_that "imports are known by name" "$(grep -c 'value="xml.dom.minidom"' texts) >= 1" "$(cat texts)"
check_that "an import inside of another one has it as parent" \
	"$(query 'count() from spans where SPAN == 4 && SPANDEPTH > 0 && SPANPARENT' py.er) >= 1"
