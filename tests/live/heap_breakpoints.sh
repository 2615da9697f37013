#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Heap tracing (-H) of programs that do not load the library: linked statically, set-user-id, or running
# already. The workload counts its own allocations, bytes and leaks by function; the recording has the same.
. "$(dirname "$0")/../lib/tracefs.sh"
. "$(dirname "$0")/../lib/live.sh"
[ -x "$O/bin/collect" ] || skip_all "collect was not built"

collect=$O/bin/collect
metrics=e.heapalloccnt:e.heapallocbytes:e.heapleakcnt:e.heapleakbytes
functions="leak churn grow zeroed aligned map"

# check_no_definition NAME: no recorder's definition is in tracefs.
check_no_definition()
{
	[ -e $tracing/uprobe_events ] || { skip "$1" "no tracefs here"; return; }
	check "$1" test -z "$(grep er_family_ $tracing/uprobe_events)"
}

# compare NAME EXPERIMENT TRUTH TIMES FUNCTION…: the recording has what the workload did so many times.
compare()
{
	local name=$1 exp=$2 truth=$3 times=$4 f want got
	shift 4
	"$er_print" -metrics $metrics:name -functions "$exp" >rows 2>&1
	for f; do
		want=$(for what in allocs bytes leaks leaked; do
			awk -F'\t' -v n="$f.$what" -v t="$times" '$1 == n { printf "%d ", $2 * t }' "$truth"
		done)
		got=$(awk -v f="$f" '$5 == f { print $1, $2, $3, $4, "" }' rows)
		[ -n "$want" ] && [ "$got" = "$want" ] && ok "$name: $f" ||
			not_ok "$name: $f" "$got, not $want: $(cat rows record.err)"
	done
	"$er_print" -header "$exp" >header 2>&1
	check_that "$name: nothing was lost" "$(grep -ci 'heap event' header) == 0" "$(cat header)"
}

# run NAME COMMAND…: record a program that collect starts.
run()
{
	local exp=$1.er
	shift
	"$collect" -p off -H on -o "$exp" "$@" >out 2>record.err || not_ok "$exp is recorded" "$(cat record.err)"
}

# sampled NAME COMMAND…: bytes are estimated within five standard errors, and what leaks is what was allocated.
sampled()
{
	local exp=$1.er f bytes found left
	shift
	"$collect" -p off -H sampled -o "$exp" "$@" sampled >out 2>record.err || not_ok "$exp is recorded" "$(cat record.err)"
	"$er_print" -metrics $metrics:name -functions "$exp" >rows 2>&1
	for f in small_blocks large_blocks; do
		bytes=$(truth out $f.bytes)
		found=$(awk -v f=$f '$5 == f { print $2 }' rows)
		left=$(awk -v f=$f '$5 == f { print $4 }' rows)
		check_that "$exp: bytes of $f" "(${found:-0} - $bytes) ^ 2 < 25 * 524288 * $bytes && $bytes > 0" "$found of $bytes"
		check_that "$exp: leaked bytes of $f" "${left:-0} == ${found:-1}" "$left of $found"
	done
	check_that "$exp: few events were recorded" "$(awk '$5 == "<Total>" { print $1 }' rows) < 3000" "$(cat rows)"
	check_that "$exp: nothing is said" "$(wc -c <record.err) == 0" "$(cat record.err)"
}

# --- linked statically ---

static=$tmp/heap_static
if gcc -O1 -g -static "$top/tests/synprog/heap.c" -o "$static" -pthread 2>gcc.err; then
	run static "$static"
	compare "static" static.er out 1 before_main $functions
	check_that "static: nothing is said" "$(wc -c <record.err) == 0" "$(cat record.err)"
	"$er_print" -leaks static.er >leaks 2>&1
	check_that "static: stacks begin with the caller and are complete" "$(awk 'BEGIN { RS = "" }
		/ leak \+/ && / all \+/ && / main \+/ && / _start \+/ && !/ malloc \+/ && / 523500 / { n++ } END { print n + 0 }' leaks) == 1" \
		"$(cat leaks)"
	run threads "$static" threads
	compare "static, threads" threads.er out 1 before_main $functions hand_over
	run fork "$static" fork
	compare "static, fork" fork.er out 2 $functions
	cp "$static" stripped && strip stripped
	run stripped ./stripped
	check_that "stripped: that it is not traced is said, with the remedy" \
		"$(grep -c -- '-H:.*do not strip it' record.err) == 1" "$(cat record.err)"
	sampled static_sampled "$static"
else
	skip "static programs" "they cannot be built here"
fi

# --- set-user-id ---

cp "$syn/heap" suid && chown nobody suid && chmod 4755 suid && chmod 755 "$tmp"
run suid ./suid
compare "set-user-id" suid.er out 1 before_main $functions
run suidfork ./suid fork
compare "set-user-id, fork" suidfork.er out 2 $functions
check_that "set-user-id: nothing is said" "$(wc -c <record.err) == 0" "$(cat record.err)"
sampled suid_sampled ./suid
run suidthreads ./suid threads
compare "set-user-id, threads" suidthreads.er out 1 before_main $functions hand_over
# It lives for longer than the recorder keeps a process that has ended.
check_that "set-user-id: it is one process" "$(zcat suid.er/processes.xml.gz | grep -c '<process') == 1" \
	"$(zcat suid.er/processes.xml.gz)"

# --- running ---

# code_of PID: a checksum of the code of libc that the process has in its memory.
code_of()
{
	perl -e 'my ($pid) = @ARGV; open my $maps, "<", "/proc/$pid/maps" or die; open my $mem, "<", "/proc/$pid/mem" or die;
		my $all = 0;
		while (<$maps>) {
			next unless /^([0-9a-f]+)-([0-9a-f]+) r-xp .*libc\.so/;
			sysseek($mem, hex $1, 0); sysread($mem, my $code, hex($2) - hex($1)) or die;
			$all = ($all * 31 + unpack("%64C*", $code) + 7 * unpack("%64V*", $code)) % 1000000007;
		}
		print "$all\n"' "$1"
}

# attach NAME RECORDER…: start the workload, record it while it does all, threads and odd.
attach()
{
	local name=$1 recorder n=0 word
	shift
	rm -f words && mkfifo words
	env ${preload:+LD_PRELOAD=$preload} "$syn/heap" attached <words >out & pid=$!
	exec 9>words
	until grep -q ready out; do sleep 0.05; done
	[ -n "$preload" ] || code_before=$(code_of $pid)
	"$@" $pid -o "$name.er" >record.out 2>record.err & recorder=$!
	until [ -s "$name.er/recorder.xml" ] || ! kill -0 $recorder 2>/dev/null; do sleep 0.05; done
	[ -n "$preload" ] || code_during=$(code_of $pid)
	for word in ${words:-all threads odd}; do
		echo $word >&9
		n=$((n + 1))
		until [ "$(grep -c done out)" -ge $n ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	done
	kill -INT $recorder
	wait $recorder || not_ok "$name: is recorded" "$(cat record.err)"
	[ -n "$preload" ] || code_after=$(code_of $pid)
	exec 9>&-
	wait $pid
	check_that "$name: the process ends as by itself" "$? == 0"
}

preload=
attach running "$collect" -p off -H on -P
compare "running" running.er out 1 $functions hand_over refused leave after_leaving
check_that "running: breakpoints were in its libc" "$code_before != $code_during" "$code_before $code_during"
check_that "running: its libc is as before" "$code_before == $code_after" "$code_before $code_after"
"$er_print" -filters 'HTYPE == MMAP' -metrics e.heapalloccnt:name -functions running.er >mapped 2>&1
check_that "running: mappings of libc itself are not recorded" \
	"$(awk '$2 == "<Total>" { print $1 }' mapped) == $(truth out map.allocs) + $(truth out leave.allocs)" "$(cat mapped)"
"$er_print" -heapstat running.er >stat 2>&1
# 100 that the workload counts, and what dprintf and threads had.
check_that "running: frees of earlier blocks are counted" \
	"$(awk '/Total frees/ { print $3 }' stat | grep . || echo 0) >= 100" "$(cat stat)"
check_that "running: nothing is said" "$(wc -c <record.err) == 0" "$(cat record.err)"
check "no program is left" test -z "$(bpftool prog show 2>/dev/null | grep -w 'er_heap_enter')"
check_no_definition "no definition is left"

# Descendants of a running process, from their first instruction on, also if they run another program.
words="all family"
attach family "$collect" -p off -H on -P
compare "family" family.er out 4 $functions
check_that "family: processes have experiments of their own" "$(ls -d family.er/_* | wc -l) == 3" "$(ls family.er)"
# A process keeps its breakpoints when one ends with which the kernel has exchanged its events.
words="all relatives"
attach relatives "$collect" -p off -H on -P
if grep -q 'before Linux 6.12' record.err; then
	check_that "relatives: that they may lose breakpoints is said once" "$(wc -l <record.err) == 1" "$(cat record.err)"
else
	compare "relatives" relatives.er out 2 $functions
fi
words="family"
attach founder "$collect" -F off -p off -H on -P
check_that "-F off: children are not recorded" "$(ls -d founder.er/_* 2>/dev/null | wc -l) == 0" "$(ls founder.er)"
words=
# What a recorder has defined that was killed is removed by the next one.
sleep 0 & gone=$!
wait $gone
if [ -e $tracing/uprobe_events ]; then
	echo "p:er_family_$gone/p0 $syn/heap:0x$(nm "$syn/heap" | awk '$3 == "main" { print $1 }')" >>$tracing/uprobe_events
	check "a killed recorder's definition is there" grep -q "er_family_$gone/p0" $tracing/uprobe_events
fi

attach clocked "$collect" -H on -P
compare "with a clock" clocked.er out 1 $functions hand_over
check_no_definition "what a killed recorder has defined is removed"
attach whole "$er_kernel" -q 0 -p off -H on -T
compare "er_kernel" whole.er out 1 $functions hand_over
check_that "er_kernel: that children are not traced is said" "$(grep -c -- '^er_kernel: warning: -H: ' record.err) == 1" \
	"$(cat record.err)"
"$er_print" -header whole.er >header 2>&1
check "and in the experiment" grep -q -- 'Warning: -H: the heap of this process' header
lib=$(ldconfig -p | awk '/libjemalloc\.so\.2 / { print $NF; exit }')
if [ -n "$lib" ]; then
	preload=$lib
	attach jemalloc "$collect" -p off -H on -P
	compare "jemalloc" jemalloc.er out 1 $functions hand_over refused
	preload=
else
	skip "jemalloc" "not installed"
fi

# --- refused, or said ---

# What descendants have that the breakpoints do not reach: a set-user-id program, an allocator of their own.
lib=${lib:-$syn/heap}
mkfifo go
cat >shell.sh <<END
while read -r word; do LD_PRELOAD=$lib ls / >/dev/null; ./suid >/dev/null; ls / >/dev/null; echo done; done <go
END
sh shell.sh >out & pid=$!
exec 9>go
"$collect" -p off -H on -o unseen.er -P $pid >record.out 2>record.err & recorder=$!
until [ -s unseen.er/recorder.xml ] || ! kill -0 $recorder 2>/dev/null; do sleep 0.05; done
echo go >&9
until grep -q done out; do sleep 0.05; done
sleep 0.5
kill -INT $recorder
wait $recorder
exec 9>&-
wait $pid
check_that "what is not reached is said once" "$(grep -c 'not traced: .*suid (set-user-id)' record.err) == 1 && $(wc -l <record.err) == 1" \
	"$(cat record.err)"
case $lib in
*jemalloc*) check "and which allocator" grep -q "ls (by functions of .*${lib##*/})" record.err ;;
esac
"$er_print" -header unseen.er >header 2>&1
check "and in the experiment" grep -q 'not traced: .*suid (set-user-id)' header
check_that "ls itself is traced" "$("$er_print" -metrics e.heapalloccnt:name -functions unseen.er 2>&1 |
	awk '$2 == "<Total>" { print $1 }') > 10"


refused()
{
	local word=$1
	shift
	"$@" >out 2>record.err
	check_that "refused: $word" "$? != 0 && $(grep -c . record.err) == 1 && $(grep -cF -- "$word" record.err) == 1" \
		"$(cat record.err)"
}
sleep 60 & pid=$!
refused "not of the whole system" "$er_kernel" -H on -o no.er -t 1
refused "the threads of a process have one heap" "$er_kernel" -H on -o no.er -t 1 -T $pid/$pid
kill $pid
