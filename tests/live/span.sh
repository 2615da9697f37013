#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Spans (--span): the times of each call by state, compared with what the program measured itself.
. "$(dirname "$0")/../lib/live.sh"

OFF=SPANTFAULT+SPANDFAULT+SPANKFAULT+SPANLOCK+SPANSLEEP+SPANWAITCPU+SPANSTOP

# value NAME ATTRIBUTE EXPERIMENT: an attribute of a name's row in spans.xml
value() { query "$2 from span where name eq \"$1\"" "$3"; }
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# sums_agree EXPERIMENT: each record's states are its duration, and the records are the exact sums.
sums_agree()
{
	check_that "$1: the states of each record are its duration" \
		"$(query "count() from spans where SPANDUR != SPANRUN + $OFF" "$1") == 0"
	query "SPAN count() sum(SPANDUR) sum(SPANRUN) sum($OFF) from spans where RETURNED" "$1" |
		sort -n >records
	query 'number count duration run tfault+dfault+kfault+lock+sleep+wait+stop from span where count > 0' \
		"$1" | sort -n >sums
	cmp -s records sums && ok "$1: the records add up to the sums" ||
		not_ok "$1: the records add up to the sums" "$(diff records sums)"
	check_that "$1: no record is missing" "$(query 'sum(produced-recorded) from spanring' "$1") == 0"
}

p=$syn/spans
set --
for f in compute sleeps locks empty recurse inner outer; do
	set -- "$@" --span "$f=$p:$f"
done
must_record all.er -q 0 --span-limit unlimited "$@" --span "pair=$p:first,second" -- "$p"
cp record.out out
sums_agree all.er

check_that "each call is counted" "$(value compute count all.er) == 40 && $(value sleeps count all.er) == 10 &&
	$(value locks count all.er) == 5 && $(value empty count all.er) == 2000 && $(value recurse count all.er) == 6"

"$er_print" -header full all.er >full 2>&1
runs=$(sed -n 's/^ *BPF program er_span: \([0-9]*\) runs.*/\1/p' full)
check_that "the recording's cost includes the spans" "${runs:-0} >= 2 * 2000" "$(cat full)"

# quantiles NAME NUMBER EXPERIMENT: p50, p90 and p99 from the records, and from the histogram of spans.xml.
quantiles()
{
	query "SPANDUR from spans where SPAN == $2 && RETURNED" "$3" | sort -n >durations
	perl - "$1" "$3/spans.xml" durations <<'EOF'
my ($name, $xml, $file) = @ARGV;
open my $d, '<', $file; chomp(my @exact = <$d>);
open my $x, '<', $xml; my ($hist) = join('', <$x>) =~ /name="\Q$name\E"[^>]*hist="([^"]*)"/;
my ($bucket, $n, @mid) = (0, 0);
for (split ' ', $hist) {
	my ($distance, $count) = split /:/; $bucket += $distance; $n += $count;
	my $octave = ($bucket >> 6) - 1;
	my ($low, $width) = $bucket < 64 ? ($bucket, 1) : ((64 + ($bucket & 63)) << $octave, 1 << $octave);
	push @mid, ($low + $width / 2) x $count;
}
for (0.5, 0.9, 0.99) {
	my $rank = int($_ * $n + 0.999999) - 1;
	print "$exact[$rank] $mid[$rank]\n";
}
print "0 1\n" if @exact != $n || $n < 1000;
EOF
}
quantiles empty 4 all.er >both
check_that "percentiles of the histogram are within 2 % of exact ones" \
	"$(awk '{ d = $1 - $2; if ((d < 0 ? -d : d) > 0.02 * $1) bad++ } END { print bad + 0 }' both) == 0 && $(wc -l <both) == 3" "$(cat both)"

# The clocks are read inside the call, so what a span adds is less than what a call with a span costs,
# except for caches that the others have emptied.
empty=$(awk '$1 == "empty" { print $2 }' out | median)
query 'TSTAMP SPANDUR SPANRUN from spans where SPAN == 1' all.er | sort -n | cut -f2,3 >computed
awk '$1 == "compute" { print $2 "\t" $3 }' out | paste computed - >both
check_that "no computing call is shorter than it says" "$(awk '$1 < $3' both | wc -l) == 0" "$(cat both)"
check_that "its duration is the clock's" "$(awk '{ print $1 - $3 }' both | median) <= 4 * $empty" "$(cat both)"
check_that "its CPU time is the thread's clock" \
	"$(awk '{ d = $2 - $4; print d < 0 ? -d : d }' both | median) <= 4 * $empty" "$(cat both)"

query 'TSTAMP SPANDUR SPANSLEEP+SPANWAITCPU SPANSLEEP from spans where SPAN == 2' all.er | sort -n | cut -f2- >slept
awk '$1 == "sleeps" { print $2 }' out | paste slept - >both
check_that "no sleeping call is shorter than it says" "$(awk '$1 < $4' both | wc -l) == 0" "$(cat both)"
check_that "its duration is the clock's" "$(awk '{ print $1 - $4 }' both | median) <= 4 * $empty" "$(cat both)"
check_that "it slept" "$(awk '$3 < 4900000' both | wc -l) == 0" "$(cat both)"
check_that "who waits for a lock is in that state" \
	"$(query 'count() from spans where SPAN == 3 && SPANLOCK > 1000000' all.er) >= 4 &&
	$(query 'sum(SPANSLEEP) from spans where SPAN == 3' all.er) == 0"

# Recursion: each call is inside the one before.
query 'SPANDEPTH SPANID SPANPARENT from spans where SPAN == 5' all.er | sort -n >calls
awk '$1 != NR - 1 || $3 != last { bad = 1 } { last = $2 } END { exit bad || NR != 6 }' calls &&
	ok "each recursive call has its caller as parent" ||
	not_ok "each recursive call has its caller as parent" "$(cat calls)"

# longjmp: the function that was left never returned; the one that it jumped to did.
check_that "a longjmp leaves the inner call" "$(value inner count all.er) == 0 && $(value inner unended all.er) == 4 &&
	$(query 'count() from spans where SPAN == 6 && LEFT' all.er) == 4 && $(value outer count all.er) == 4"
check_that "a pair: two whole calls, one begun again, one end too many" \
	"$(value pair count all.er) == 2 && $(value pair unended all.er) == 1 && $(value pair nobegin all.er) == 1"

must_record left.er -q 0 --span "a=$p:inner" --span "b=$p:inner" --span "outer=$p:outer" -- "$p"
check_that "each of two names of a call that was left is counted" "$(value a unended left.er) == 4 &&
	$(value b unended left.er) == 4 && $(value outer count left.er) == 4"

# Arguments, only if they are asked for.
must_record arguments.er -q 0 --span "asked=$p:asked(1:s32,2:str,3:int,ret:s64)" --span "outer=$p:outer" \
	--span "deep=$p:recurse(1:s32)" -- "$p"
query 'SPANA1 SPANA3 SPANA4 SPANTEXT from spans where SPAN == 1' arguments.er | sort -n >arguments
printf '1\t-7\t-7\t1\n2\t-8\t-16\t2\n' | cmp -s - arguments && ok "arguments are kept" ||
	not_ok "arguments are kept" "$(cat arguments)"
check_that "texts are kept" "$(zcat arguments.er/spanstrings.xml.gz | grep -c 'value="select \(1\|&lt;2&gt;\)"') == 2"
"$er_print" -limit 100 -span_list arguments.er >list 2>&1
check_that "they are listed in their places, also if they are 0" \
	"$(grep -c "arguments 1, (text), -7, -7; text 'select 1'" list) == 1 && $(grep -c 'arguments 0$' list) == 1" "$(cat list)"
check_that "a span without arguments keeps none" \
	"$(query 'count() from spans where SPAN == 2 && (SPANA1 || SPANTEXT)' arguments.er) == 0"

# Tests: calls that do not pass are not counted at all, and their ends end no other call.
must_record tested.er -q 0 --span "begin=$p:tested(1:s32) if arg1 > 6 && arg1 != 8" \
	--span "end=$p:tested if ret & 0x80000000" --span "both=$p:tested(ret:s32) if arg1 >= 2 && ret < 100" \
	--span "pair=$p:opens,closes if arg1 == 2" --span "none=$p:tested if arg1 < 0" -- "$p" tested
check_that "a filter chooses calls by an argument" "$(value begin count tested.er) == 2"
query 'SPANA1 from spans where SPAN == 1' tested.er | sort -n | tr '\n' ' ' >got
printf '7 9 ' | cmp -s - got && ok "these are the right ones" || not_ok "these are the right ones" "$(cat got)"
check_that "or by what is returned" "$(value end count tested.er) == 5"
query 'SPANA1 from spans where SPAN == 3' tested.er | sort -n | tr '\n' ' ' >got
printf '%s ' -3 -2 -1 0 1 2 3 4 | cmp -s - got && ok "or by both; a value that is only tested is not kept" ||
	not_ok "or by both; a value that is only tested is not kept" "$(cat got)"
check_that "the end of a call that was left out ends no other" "$(value pair count tested.er) == 1 &&
	$(query 'sum(SPANSLEEP+SPANWAITCPU) from spans where SPAN == 4' tested.er) >= 2000000"
check_that "calls that were left out are in no count" "$(value none count tested.er) == 0 &&
	$(query 'sum(unended+nobegin+noroom+lost) from span' tested.er) == 0 &&
	$(query 'max(SPANDEPTH) from spans' tested.er) <= 2" "$(cat tested.er/spans.xml)"

# Arguments of system calls. A path that is not in memory is read when the kernel has read it.
must_record calls.er -q 0 --span "open=syscall:openat(2:str,3:s32,ret:s64) if ret == -20 && arg3 & 0x40000" -- "$p" calls
zcat calls.er/spanstrings.xml.gz >texts 2>&1
query 'SPANA2 SPANA3 from spans where RETURNED' calls.er | sort -n >got
printf '262144\t-20\n262145\t-20\n' | cmp -s - got && ok "arguments of system calls are kept" ||
	not_ok "arguments of system calls are kept" "$(cat got)"
check_that "paths, too" "$(grep -c '/dev/null/early\|/dev/zero/late' texts) == 2" "$(cat texts)"
"$er_print" -filters 'SPANTEXT == "/dev/zero/late"' -span_list calls.er >list 2>&1
check_that "a filter chooses calls by the path" "$(grep -c "text '" list) == 1 && $(grep -c zero/late list) == 1" "$(cat list)"

must_record exit.er -q 0 --span "leave=$p:leave" -- "$p" exit
check_that "a call may end its thread" "$(value leave unended exit.er) == 3 &&
	$(query 'count() from spans where THREAD_END' exit.er) == 3"
must_record exec.er -q 0 --span "become=$p:become" --span exec=syscall:execve -- "$p" exec
check_that "a call may execute another program" "$(value become unended exec.er) == 1 &&
	$(query 'count() from spans where SPAN == 1 && EXEC' exec.er) == 1"
check_that "the system call that did it returns" "$(value exec count exec.er) >= 1 &&
	$(query 'count() from spans where SPAN == 2 && EXEC' exec.er) == 0"

# Fifty spans at once, nested deeper than there is room for.
set --
for i in 0 1 2 3 4; do
	for j in 0 1 2 3 4 5 6 7 8 9; do set -- "$@" --span "f$i$j=$p:f$i$j"; done
done
began=$(date +%s)
must_record chain.er -q 0 --span-limit unlimited "$@" -- "$p" chain
wall=$(($(date +%s) - began))
sums_agree chain.er
check_that "fifty spans at once are counted" "$(query 'sum(count) from span' chain.er) == 50 + 32"
check_that "calls without room are counted" "$(query 'sum(noroom) from span' chain.er) == 18"
recorded=$("$er_print" -header chain.er | sed -n 's/^Recorded:.* for \([0-9.]*\) sec.*/\1/p')
check_that "the time that breakpoints take is not recorded" \
	"${recorded:-99} <= 5 || ${recorded:-99} <= 0.5 * $wall" "$recorded of $wall s"
check_that "the depth is counted" "$(query 'max(SPANDEPTH) from spans' chain.er) == 31"

# Open at the begin and at the end of the recording.
sleep 2 & sleeper=$!
"$p" stay & stayer=$!
must_record open.er -t 3 -T "$sleeper" -T "$stayer" --span sleep=syscall:clock_nanosleep
kill "$stayer"; wait "$stayer" 2>/dev/null
check_that "a call that had begun before the recording is counted" \
	"$(query 'sum(nobegin) from span' open.er) >= 1"
check_that "a call that is open at the end has a record" \
	"$(query 'count() from spans where OPEN_END && SPANSLEEP > 0' open.er) == 1"

# A budget: exact sums, fewer records; those above a threshold come first.
must_record few.er -q 0 --span-limit 100 --span-over 3ms --span "empty=$p:empty" --span "sleeps=$p:sleeps" -- "$p"
check_that "sums are exact with few records" "$(value empty count few.er) == 2000 &&
	$(query 'count() from spans' few.er) < 1500"
check_that "calls above the threshold have records" \
	"$(query 'count() from spans where SPAN == 2 && OVER' few.er) + $(query 'sum(lost) from spanring' few.er) >= 10"
awk -F'hist="' '/name="empty"/ { n = split($2, part, " "); for (i = 1; i < n; i++) { split(part[i], c, ":"); s += c[2] } print s }' \
	few.er/spans.xml >hist
check_that "the histogram has all calls" "$(cat hist) == 2000"

# What a user can type wrongly.
refused()
{
	local want=$1
	shift
	"$er_kernel" -o wrong.er "$@" true >out 2>err && not_ok "refused: $*" || {
		[ "$(wc -l <err)" = 1 ] && grep -q -- "$want" err && [ ! -e wrong.er ] &&
			ok "refused: $*" || not_ok "refused: $*" "$(cat err)"
	}
}
refused 'nothing_here' --span "a=$p:nothing_here"
refused 'another span has this name' --span "a=$p:outer" --span "a=$p:inner"
refused 'one text' --span "a=$p:asked(1:str,2:str)"
refused 'leave ret out' --span "a=$p:first,second if ret == 5"
refused 'at most 6 arguments' --span "a=syscall:read(7:int)"
refused 'no binary: .* or mark' --span a=vfs_read
refused 'no name of letters' --span 'a b=syscall:read'
refused 'has the name' --span a=syscall:read --span b=syscall:read
refused 'states off' --span a=syscall:read --states off
refused 'not a duration' --span a=syscall:read --span-over 5
refused 'not a rate' --span a=syscall:read --span-limit 0
refused 'without --span' --span-over 5ms
refused 'leave one of the two out' --span a=syscall:read --span-over 5ms --span-limit unlimited
refused 'longer than 100 characters' --span "$(printf '%0101d' 0)=syscall:read"
refused 'does not return' --span a=syscall:exit_group
refused 'write one that it has' --span "a=usdt:$O/lib/libcollectorAPI.so:qqqqqqqqqqqq:zzzzzzzzzzzz,zzz"
refused 'leave it out' --span "a=usdt:$O/lib/libcollectorAPI.so:er:span_begin,span_end(9:int)"

# C++: exceptions pass through spanned functions. Their ends are breakpoints, not return probes.
command -v g++ >/dev/null || { skip "C++" "not installed: apt-get install g++"; exit; }
cp "$top/tests/live/throws.cc" .
for how in -O0 -O2 '-O2 -fcf-protection'; do
	g++ $how -o throws throws.cc || { not_ok "C++ is compiled"; break; }
	set --
	for f in thrower middle catcher tail choose; do set -- "$@" --span "$f=$PWD/throws:$f"; done
	rm -rf throws.er
	must_record throws.er -q 0 --span-limit unlimited --span "returned=$PWD/throws:thrower(1:s32,ret:s32) if ret > 0" \
		--span "jumped=$PWD/throws:tail(ret:s32) if ret == -77" "$@" -- ./throws
	check_that "C++ $how: the program is right" "$(truth record.out caught) == 100 && $(truth record.out passed) == 200" \
		"$(cat record.out record.err)"
	check_that "C++ $how: calls that return and calls that are left are counted" \
		"$(value thrower count throws.er) == 200 && $(value thrower unended throws.er) == 100 &&
		$(value middle count throws.er) == 200 && $(value middle unended throws.er) == 100 &&
		$(value catcher count throws.er) == 300" "$(cat throws.er/spans.xml)"
	check_that "C++ $how: so are those that end by a jump, or have one in them" \
		"$(value tail count throws.er) == 300 && $(value choose count throws.er) == 300 &&
		$(query 'sum(nobegin) from span' throws.er) == 0" "$(cat throws.er/spans.xml)"
	jumps=$([ "$how" = -O0 ] || echo 300)
	check_that "C++ $how: where a jump ends a call, nothing is returned that could be tested or kept" \
		"$(value jumped count throws.er) == ${jumps:-0} &&
		$(query 'count() from spans where SPAN == 2 && SPANA1' throws.er) == 0" "$(cat throws.er/spans.xml)"
	check_that "C++ $how: what is returned is known" "$(value returned count throws.er) == 200 &&
		$(query 'count() from spans where SPAN == 1 && RETURNED && SPANA2 > SPANA1' throws.er) == 200"
done
gcc -o odd "$top/tests/fixtures/source/odd.s" 2>/dev/null && refused 'exception' --span "f=$PWD/odd:odd"
