#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Probes: their hits compared with the program's own counts, their callers and arguments, and what is
# said of wrong ones.
. "$(dirname "$0")/../lib/live.sh"

p=$syn/probed

# count_of NAME METRIC EXPERIMENT [FILTER]: the metric of a function
count_of()
{
	"$er_print" -printmode , ${4:+-filters "$4"} -metrics "$2:name" -functions "$3" 2>/dev/null |
		csv_rows | awk -F'\t' -v n="$1" '$2 == n { s += $1 } END { print s + 0 }'
}
# hits PROBE EXPERIMENT: its hits as BPF counted them
hits() { query "sum(hits) from probe where name eq '$1'" "$2"; }
of() { awk -v n="$1" '$1 == n { print $2 }' out; }
same() { check_that "$1 ($3)" "$2 == $3" "$2, not $3"; }
# below NAME FUNCTION METRIC EXPERIMENT N: the function made N of the calls. On a busy machine the unwind
# tables come later; stacks from before do not reach it.
below()
{
	local got cut=0 f
	got=$(count_of "$2" "$3" "$4")
	for f in '<Stack-unwind-failed>' '<Truncated-stack>' '<Stack-lost>'; do
		cut=$((cut + $(count_of "$f" "$3" "$4")))
	done
	check_that "$1 ($5)" "$got <= $5 && $got + $cut >= $5" "$got, not $5; $cut stacks are cut"
}

# record_whole EXPERIMENT ARGUMENTS…: must_record, until nothing is lost. On a busy machine the rings may
# fill up; what is lost then is tested below.
record_whole()
{
	for try in 1 2 3 4 5; do
		rm -rf "${tmp:?}/$1"
		must_record "$@"
		cp record.out out
		grep -q ' lost: ' record.err || return 0
	done
	skip_all "the machine is too busy: $(cat record.err)"
}

record_whole a.er -q 0 --probe "$p:target(1:int,2:s32)" --probe "usdt:$p:probed:passed" \
	--probe "above=usdt:$p:probed:passed if arg2 > 100" --probe-counts "$p:allocate" \
	--probe-counts "ended=$p:target%return" --probe "$p:caller_*" -- "$p" 2000 3 4
same "each call of a function is a hit" "$(hits target a.er)" "$(of target)"
same "and has a packet" "$(count_of target e.target a.er)" "$(of target)"
same "each pass of a USDT probe is a hit" "$(count_of target e.passed a.er)" "$(of target)"
same "the program saw the probe's semaphore each time" "$(of watched)" "$(of target)"
same "a filter on an argument counts what passes it" "$(hits above a.er)" "$(of above)"
same "and sends no other packets" "$(count_of target e.above a.er)" "$(of above)"
same "hits are counted without packets" "$(hits allocate a.er)" "$(of allocations)"
same "each return is a hit" "$(hits ended a.er)" "$(of target)"
same "wildcards take all functions" "$(hits caller__ a.er)" $(($(of caller_a) + $(of caller_b)))
check_that "what was taken is listed" "$(grep -c '2 places: caller_a, caller_b' record.err) == 1" "$(cat record.err)"
below "stacks lead to one caller" caller_a i.target a.er "$(of caller_a)"
below "and to the other" caller_b i.target a.er "$(of caller_b)"
same "stacks of children lead to main" "$(count_of main i.target a.er)" $((4 * 2000))
same "stacks of threads lead to their function" "$(count_of run i.target a.er)" $((3 * 2000))
same "the first argument is recorded" "$(count_of target e.target a.er 'PROBE==0 && PROBEA1>=1999')" 7
same "the second one, too" "$(count_of target e.target a.er 'PROBE==0 && PROBEA2==3')" 2000
same "recorded and lost are what was produced" "$(query 'sum(recorded+lost) from probering' a.er)" \
	"$(query 'sum(produced) from probering' a.er)"
same "nothing was lost" "$(query 'sum(lost) from probering' a.er)" 0
"$er_print" -header a.er >header 2>&1
check_that "the header has the counts" "$(grep -c "^Probe allocate: $(of allocations) hits, only counted" header) == 1" "$(cat header)"
"$er_print" -header full a.er >full 2>&1
check_that "the recording's cost includes the probes" \
	"$(sed -n 's/^ *BPF program er_probe: \([0-9]*\) runs.*/\1/p' full) >= $(($(of target) + $(of allocations)))" \
	"$(cat full)"
"$er_print" -overview a.er >overview 2>&1
check_that "the overview has the metrics" "$(grep -c 'target Hits' overview) == 1" "$(cat overview)"
"$er_print" -metrics i.target:name -callers-callees a.er >callers 2>&1
check_that "callers and callees have them" \
	"$(grep -cE " ($(of caller_b) +caller_b|$(of caller_a) +caller_a)\$" callers) >= 2" "$(grep caller_ callers)"

if command -v gprofng >/dev/null; then
	check "gprofng opens the experiment" opens_in_gprofng a.er
else
	skip "gprofng" "gprofng is not installed"
fi

# An argument that is not in memory is counted, and neither guessed nor compared.
record_whole u.er -q 0 -p off --probe "usdt:$p:probed:absent(1:int)" --probe "none=usdt:$p:probed:absent if arg1 == 0" \
	-- "$p" 1 1 0
same "a hit whose argument is not in memory" "$(hits absent u.er)" 1
same "the argument counts as unread" "$(query "sum(unread) from probe where name eq 'absent'" u.er)" 1
same "a comparison with it fails" "$(hits none u.er)" 0

# More hits than the rings hold, perhaps: none is forgotten.
must_record l.er -q 0 -p off --probe "$p:target" -- "$p" 200000 2 0
cp record.out out
same "many hits are counted" "$(hits target l.er)" "$(of target)"
same "and recorded, or counted as lost" "$(query 'sum(recorded+lost) from probering' l.er)" "$(of target)"

# A library function, by the library's name, only in the program's processes.
libc=$(ldd "$p" | awk '/libc\.so/ { print $3 }')
record_whole m.er -q 0 -p off --probe "libc:malloc(1:u64) if arg1 == 40" -- "$p" 3000 2 1
below "calls of libc's malloc by the program" allocate i.malloc m.er "$(of allocations)"

# A running process: the breakpoints are only there.
mkfifo gate
sh -c 'read -r go <gate; exec "$0" 4000 1 0' "$p" >t.out &
pid=$!
"$er_kernel" -o t.er -p off -T $pid --probe "$p:target" -t 60 >record.out 2>record.err &
recorder=$!
while kill -0 $recorder 2>/dev/null && [ ! -e t.er/recorder.xml ]; do sleep 0.1; done
"$p" 100 1 1 >other.out # another process of the program
echo >gate
wait $pid
wait $recorder
same "only the chosen process is recorded" "$(hits target t.er)" "$(awk '$1 == "target" { print $2 }' t.out)"

# collect records its program and the descendants, and no other process of the program.
if [ -x "$O/bin/collect" ]; then
	"$p" 300000 1 0 >other.out &
	other=$!
	"$O/bin/collect" -o c.er --probe "$p:target" "$p" 500 2 3 >out 2>record.err ||
		not_ok "collect records" "$(cat record.err)"
	kill $other 2>/dev/null
	wait $other
	same "collect counts its program's calls" "$(hits target c.er)" "$(of target)"
	"$O/bin/collect" -o off.er -p off --probe "$p:target" "$p" 500 2 3 >out 2>record.err
	same "and without a clock" "$(hits target off.er)" "$(of target)"
	check_that "nothing is said of that" "$(wc -c <record.err) == 0" "$(cat record.err)"
fi

# A tracepoint of the kernel. Other processes fork, too: only the program's are compared.
record_whole f.er -q 0 -p off -F =probed --probe tp:sched:sched_process_fork -- "$p" 10 2 25
got=$(count_of main i.sched_process_fork f.er)
same "the tracepoint counts the program's forks and threads" "$got" 27
must_record s.er -q 0 -p off --probe "syscall:exit_group(1:int)" -- "$p" 1 1 5
check_that "a system call's entries are counted" "$(hits exit_group s.er) >= 6"

# Pauses: what runs then does not count.
must_record r.er -q 0 --roll 1s --probe "$p:target" -- sh -c '"$0" 1000 1 1 >&2; sleep 1.5; "$0" 500 1 0 >&2' "$p" ||
	true
sum=0
for e in r*.er; do sum=$((sum + $(hits target "$e"))); done
# Hits that the kernel left out: its program was interrupted by another thread, on the same CPU, that had one, too.
missed=$(sed -n 's/.*<probe .* missed="\([0-9]*\)".*/\1/p' r*.er/recorder.xml | awk '{ n += $1 } END { print n + 0 }')
check_that "the segments of a recording add up" "$sum + $missed == 2500 && $missed < 250" \
	"$sum and $missed missed, not 2500; $(grep -H '<probe' r*.er/recorder.xml)"

# refused WORDS SPEC: a sentence with these words, and no recording
refused()
{
	"$er_kernel" -o w.er -q 0 --probe "$2" true >refused.out 2>refused.err
	status=$?
	check_that "refused: $2" "$status != 0 && $(grep -c . refused.err) == 1 &&
		$(grep -cF -- "$1" refused.err) == 1 && $(ls -d w.er 2>/dev/null | wc -l) == 0" \
		"status $status: $(cat refused.err)"
	rm -rf "$tmp/w.er"
}
refused "cannot open the binary" "/no/such/file:f"
refused "write its path" "no_such_program_$$:f"
refused "not a regular file" "/dev/zero:f"
refused "is not a program" "/etc/passwd:f"
refused "did you mean target" "$p:targte"
refused "inlined 'inlined' everywhere (2 copies)" "$p:inlined"
refused "only calls 'malloc'" "$p:malloc"
refused "is a variable" "$p:total"
refused "IFUNC" "libc:strlen"
refused "matches more than 1000" "libc:*"
refused "has no code" "$p:probed.c:1"
refused "was built from no file" "$p:other.c:1"
refused "has no USDT probe" "usdt:$p:probed:psased"
refused "has no argument 9" "usdt:$p:probed:passed(9:int)"
refused "no tracepoint" "tp:sched:no_such_thing"
refused "no system call" "syscall:no_such_call"
refused "no binary" "malloc"
refused "not a filter" "$p:target if x > 1"
refused "integers only" "$p:target(1:str)"
refused "%return" "$p:target(ret:int)"
check_that "a line of an inlined function has a place a copy" \
	"$("$er_kernel" -n --probe "$p:probed.c:$(grep -n 'total += n' "$top/tests/synprog/probed.c" | cut -d: -f1)" true 2>&1 | grep -c '2 places') == 1"
if command -v go >/dev/null; then
	printf 'package main\n\nfunc main() { println("x") }\n' >x.go
	if HOME=$tmp GOCACHE=$tmp/cache GO111MODULE=off go build -o gox x.go 2>go.err; then
		refused "is a Go program" "$tmp/gox:main.main%return"
		must_record g.er -q 0 -p off --probe "$tmp/gox:main.main" -- "$tmp/gox"
		same "a Go function's beginning is a hit" "$(hits main_main g.er)" 1
	else
		skip "Go" "go does not build: $(head -n 1 go.err)"
	fi
fi
check "no probe is left" test -z "$(bpftool link show 2>/dev/null | grep -i er_probe)"
