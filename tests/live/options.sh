#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_kernel's options. For each wrong input: one sentence, a status other than 0, and nothing left
# behind. Also names, groups, comments, times.
# Time limit: 600 s
. "$(dirname "$0")/../lib/live.sh"

# refused NAME ARGUMENTS…
refused()
{
	local name=$1 status left
	shift
	mkdir empty && cd empty || exit 1
	timeout 20 "$er_kernel" "$@" >../record.out 2>../record.err
	status=$?
	cd .. || exit 1
	left=$(ls -A empty)
	rm -rf empty
	[ $status != 0 ] && [ $status -lt 124 ] && [ "$(wc -l <record.err)" = 1 ] && [ -z "$left" ] &&
		ok "$name" || not_ok "$name" "status $status, left '$left', said: $(cat record.out record.err)"
}

# The command of --ctl is checked before a recorder is looked for.
for words in "" bogus sample "pause now" "sample $(printf '%0250d' 1)"; do
	# shellcheck disable=SC2086
	"$er_kernel" --ctl $words >out 2>err
	check_that "--ctl $(echo "$words" | cut -c 1-12): refused" "$? == 2 && $(wc -l <err) == 1 && $(grep -c 'write \|leave ' err) == 1" "$(cat err)"
done
refused "--dump-on: a word before the signal" --flight 10s --dump-on signal:USR1 -t 1
check "and what to write" grep -q -e '--dump-on USR1$' record.err
refused "-o without .er" -o a -t 1
refused "-o in a directory that is missing" -o none/a.er -t 1
refused "-d: a missing directory" -d none -t 1
refused "-d: a file" -d /etc/passwd -t 1
refused "-g without .erg" -g grp -t 1
refused "-p nonsense" -p often -t 1
refused "-p negative" -p -5 -t 1
refused "-p 0" -p 0 -t 1
refused "-p with rubbish behind it" -p 5x -t 1
refused "-t nonsense" -t soon
refused "-t backwards" -t 5-2
refused "-q nonsense" -q x -t 1
refused "-F nonsense" -F maybe -t 1
refused "-F =, a bad regular expression" -F '=(' -t 1
refused "-F = and nothing" -F = -t 1
refused "-s nonsense" -s often -t 1
refused "-s without states" -s on --states off -t 1
refused "--states nonsense" --states maybe -t 1
refused "--budget nonsense" --budget all -t 1
refused "--budget 0" --budget 0 -t 1
refused "--exact-user without a clock" --exact-user -p off -t 1
refused "--wait-stacks nonsense" --wait-stacks kprobe -t 1
refused "-P nonsense" -P me -t 1
refused "-P with a thread" -P 1/1 -t 1
refused "-P of no process" -P 2147483647 -t 1
refused "-O in a directory that is missing" -O none/log -t 1
refused "-O: a directory" -O / -t 1
refused "-l nonsense" -l SIGNONE -t 1
refused "-l of a signal that cannot be taken" -l KILL -t 1
refused "-l of a signal that ends a recording" -l INT -t 1
refused "-y with a wrong word behind it" -y USR1,x -t 1
refused "-l and -y with one signal" -l USR1 -y SIGUSR1 -t 1
refused "-A nonsense" -A maybe -t 1
refused "-L nonsense" -L x -t 1
refused "-S nonsense" -S x -t 1
refused "an option that is not there" --none -t 1
refused "an argument that is missing" -o
refused "-n with a load that is not there" -n no_such_command
refused "-n with a process that is not there" -n -T 99999999
refused "-n with --ctl" -n --ctl stop
refused "-n with a file for messages that cannot be there" -n -O no_such_directory/out
refused "-n with a directory for messages" -n -O /
refused "-n with a status file that cannot be there" -n --status no_such_directory/status
"$er_kernel" -n -O new_messages --status new_status >out 2>&1
check_that "-n makes neither of these files, and shows the status file" \
	"$? == 0 && $(ls new_messages new_status 2>/dev/null | wc -l) == 0 && $(grep -c '^status file: *new_status$' out) == 1" "$(cat out)"
mkfifo fifo && { cat fifo >/dev/null && : >fifo_ended; } &
sleep 0.5
"$er_kernel" -n -O fifo >out 2>&1
check_that "-n does not open the file for messages: a FIFO's reader goes on" \
	"$? == 0 && $(sleep 0.5; ls fifo_ended 2>/dev/null | wc -l) == 0" "$(cat out)"
[ -e fifo_ended ] || : >fifo # its reader ends
refused "11 comments" -C 1 -C 2 -C 3 -C 4 -C 5 -C 6 -C 7 -C 8 -C 9 -C 10 -C 11 -t 1
refused "a load that is not there" ./none

# duration EXPERIMENT: from start to the exit event
duration() { event_time "$1" exit; }

# The times, in seconds from the start, of the first packet on a CPU, of the last packet, and of the
# first packet of $pids.
packet_times()
{
	local start=$(event_time "$1" run)

	query "min(TSTAMP/1e9-$start) from packets where ON_CPU" "$1" | tr '\n' '\t'
	query "max(TSTAMP/1e9-$start) from packets" "$1" | tr '\n' '\t'
	query "min(TSTAMP/1e9-$start) from packets where ON_CPU && THRID == $pids" "$1"
}

for i in 1 2 3; do "$er_kernel" -t 0.3 >/dev/null 2>err; done
check_that "ktest.1.er, .2, .3" "$(ls -d ktest.[123].er | wc -l) == 3" "$(ls; cat err)"

mkdir a.er
record a.er -t 1
check_that "-o with a name that is taken is refused" "$? != 0 && $(ls a.er | wc -l) == 0" "$(cat record.err)"
mkdir a.3.er a.7.er
record a.3.er -t 0.3
check_that "a number that is taken: the next" "$? == 0 && $(ls -d a.8.er | wc -l) == 1 &&
	$(wc -l <record.err) >= 1" "$(cat record.err)"

for i in 1 2; do "$er_kernel" -g grp.erg -t 0.3 >/dev/null 2>err; done
want='#analyzer experiment group
grp.1.er
grp.2.er'
[ "$(cat grp.erg)" = "$want" ] && ok "-g adds the experiment to the group" || not_ok "-g adds the experiment to the group" "$(cat grp.erg err)"

for i in 1 2; do "$er_kernel" -g on -t 0.3 >/dev/null 2>err; done
"$O/bin/collect" -g on true >/dev/null 2>>err
[ "$(grep -cx 'ktest\.[0-9]*\.er' ktest.erg) $(sed -n 2p test.erg)" = "2 test.1.er" ] && ok "-g on: groups with the usual names" ||
	not_ok "-g on: groups with the usual names" "$(cat ktest.erg test.erg err)"

# Lower bounds are exact; upper bounds allow a busy machine some seconds. The load's CPU
# time in the recording depends on other programs, but is never more than its duration.
must_record t2.er -t 2
check_that "-t 2" "$(duration t2.er) >= 1.99 && $(duration t2.er) < 10" "$(duration t2.er)"
# The walk over the threads at the end takes milliseconds, and dates their last packets.
read -r first last own <<END
$(pids=0; packet_times t2.er)
END
check_that "no packet is dated after the end" "$last <= $(duration t2.er) + 0.0001" \
	"the last after $last s, the end after $(duration t2.er) s"
must_record t1-2.er -p high -F =spin -q 0 -t 1-2 -- "$syn/spin" alpha:3
pids=$(pid_of record.out)
got=$(seconds_of alpha i.totalcpu t1-2.er)
begin=$(event_time t1-2.er resume) end=$(duration t1-2.er)
read -r first last own <<END
$(packet_times t1-2.er)
END
check_that "-t 1-2 begins at one second and ends at two" \
	"$begin >= 1 && $begin < 6 && $end >= 1.99 && $end < 10" "from $begin to $end"
check_that "-t 1-2 has packets between the two times only" \
	"$own >= 1 && $last <= $end + 0.0001 && $got > 0 && $got <= $end - $begin + 0.01" \
	"got $got from $own to $last"
check_that "-t 1-2: the load runs to its end" "$(truth record.out alpha) >= 3"
stolen=$(steal)
must_record t1-0.er -p high -F =spin -q 0 -t 1-0 -- \
	sh -c '"$0/cpuwatch" $$/task/$$ >watched & exec "$0/spin" alpha:2.5' "$syn"
stolen=$(stolen_since "$stolen")
pids=$(pid_of record.out)
got=$(seconds_of alpha i.totalcpu t1-0.er)
read -r first last own <<END
$(packet_times t1-0.er)
END
# The load's CPU time from its first packet on, by the kernel's figures, which are read every 10 ms.
read -r least most <<END
$(ran_between watched $(recorded_from_to t1-0.er "$pids"))
END
check_that "-t 1-0 records to the end" \
	"$got >= 0.99 * $least - 0.02 && $got <= $most + 0.02 + $stolen && $got > 0" \
	"got $got, ran $least to $most, stolen $stolen"
check_that "-t 1-0 has no packets of the first second" "$own >= 1" "first packet at $own"

must_record notes.er -t 0.3 -C one -C two -C 3 -C 4 -C 5 -C 6 -C 7 -C 8 -C 9 -C 'ten & more'
check "-C can be given ten times" grep -q 'ten & more' notes.er/notes
check_that "the header begins with the comments" \
	"$("$er_print" -header full notes.er | head -n 8 | grep -c -E 'one|two') >= 2"

mkdir quiet && cd quiet || exit 1
"$er_kernel" -p on -q 1 -- sleep 2 >/dev/null 2>err &
pid=$!
until [ -s ktest.1.er/profile ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
check_that "-q: the recording goes on" "$(kill -0 $pid; echo $?) == 0"
check "an experiment can be read while it is written" "$er_print" -functions ktest.1.er
wait $pid
check_that "-q records before and after the load" "$(duration ktest.1.er) >= 3.9 &&
	$(duration ktest.1.er) < 20" "$(duration ktest.1.er); $(cat err)"
cd .. || exit 1

"$er_kernel" -n -o dry.er -- sleep 5 >out 2>&1
check_that "-n records nothing" "$? == 0 && $(ls -d dry.er 2>/dev/null | wc -l) == 0 && $(wc -l <out) > 0"
"$er_kernel" -n --roll 1s --roll 2s --roll 100M --keep 1G >out 2>&1
check_that "-n: --roll and --keep are in the plan; of two times the last counts" \
	"$(grep -cx -e 'segments: *the next one after 2 s, or at 100 MB' -e 'kept: *1 GB of segments; the oldest go' out) == 2" "$(cat out)"
"$er_kernel" -n --flight 60s,500M --dump-on SIGUSR1 --dump-on cpu:40% --dump-on end --keep 20M >out 2>&1
check_that "-n: when to dump, and how much is kept, is in the plan" \
	"$(grep -c -e '^in memory: .* 60 s, at most 500 MB$' -e '^dump signal: .*' -e '^dump pressure: *cpu above 40 %' -e '^dump at end: *yes' -e '^kept: *20 MB of dumps; the oldest go' out) == 5" "$(cat out)"
"$O/bin/collect" -n -H on -i on -s all --span 'x=libc:malloc' -F off true >out 2>&1
check_that "collect -n: each kind of data is named" "$(grep -cE '^(heap: |I/O: |traced waits: |span: .*x=libc:malloc|followed: .*only the program itself)' out) == 5" "$(cat out)"
check "-V" "$er_kernel" -V
check "--check" "$er_kernel" --check
record p.er -p 5m -t 0.3
check "-p 5m" grep -q 'ptimer="' p.er/log.xml
record big.er -p 2000 -t 0.3
check_that "-p above a second: refused or capped" "$? != 0 || $(wc -l <record.err) >= 1"
record limit.er -L 1 -p high -t 2
check "-L 1 opens" "$er_print" -header full limit.er
check "-L 1: samples go on when the limit is reached" grep -q 'label="end"' limit.er/log.xml

# -S: usage samples. -L: after the limit no more profile data is recorded.
sample_count() { query 'count() from event where kind eq "sample"' "$1"; }
must_record s1.er -S 1 -t 2.5 -p off
# unit:schedule tests this exactly; here one may be missing if the recorder gets no CPU at the end.
check_that "-S 1: one sample a second, and one at the start and the end" \
	"$(sample_count s1.er) >= 3 && $(sample_count s1.er) <= int($(duration s1.er)) + 2" "$(sample_count s1.er) in $(duration s1.er) s"
# Draining the records that the kernel still has may then take any time.
must_record s2.er -q 0 "$syn/forktree" 30 0 0.01
for e in s1 s2; do
	check_that "-S: the last sample covers the recorded time only ($e)" \
		"$(query 'tstamp from event where kind eq "sample" && label eq "end"' $e.er) <= $(duration $e.er)"
done
check_that "threads that end on another CPU than the one where they began to exit are not missed" \
	"$(query 'sum(count) from dropped where what =~ "ended at the stop"' s2.er) < 1000000"
must_record s0.er -S off -t 1.5
check_that "-S off: samples at the start and the end only" "$(sample_count s0.er) == 2" "$(sample_count s0.er)"

"$syn/spin" alpha:30 >/dev/null &
busy=$!
on_exit='kill '$busy
# -p 0.1 on one busy CPU writes 10,000 packets a second of 96 bytes each, that is 1 MB in 1 s, plus
# the kernel's frames. The header must say what was left out.
must_record full.er -L 1 -p 0.1 -t 7
left=$(query 'sum(count) from dropped where what =~ "samples beyond the size limit"' full.er)
# Only profile data: each followed process has some kilobytes of other files, too.
size=$(find full.er \( -name profile -o -name data.frameinfo \) -printf '%s\n' |
	awk '{ s += $1 } END { print s + 0 }')
check_that "-L 1: stops at about a megabyte" "$size > 300000 && $size < 1200000" "$size bytes"
"$er_print" -header full.er >header 2>&1
check_that "-L 1: the header says what is missing, and why" \
	"$(grep -c '^Nothing was lost' header) == 0 && $(grep -c 'size limit was reached in second' header) == 1" \
	"$(cat header)"
check_that "-L 1: packets that were left out are counted" "${left:-0} > 0" "left out '$left', $size bytes"
check "-L 1: samples go on after the limit" grep -q 'label="end"' full.er/log.xml

# -A off leaves no binaries; -A copy archives whole ones, of the original length
must_record none.er -A off -F on -t 0.5
check_that "-A off: no binaries" "$(find none.er/archives -type f 2>/dev/null | wc -l) == 0"
must_record copy.er -A copy -F on -p high -t 0.5 -T $busy
check_that "-A copy: the whole file" \
	"$(find copy.er/archives -type f -name 'spin*' -size "$(stat -c %s "$syn/spin")"c | wc -l) == 1" \
	"$(find copy.er/archives -type f -ls)"

# -O: own messages go to the file, behind what it has; the load's output does not.
echo "was there" >own
sh -c 'echo to stdout; echo to stderr >&2' >expected.out 2>expected.err
"$er_kernel" -O own -o own.er -q 0 -v -- sh -c 'echo to stdout; echo to stderr >&2' >out 2>err
check_that "-O: the load keeps its output, and nothing else is there" \
	"$? == 0 && $(cmp out expected.out; echo $?) == 0 && $(cmp err expected.err; echo $?) == 0" "$(cat out err)"
check_that "-O: own messages are appended" \
	"$(head -n 1 own | grep -cx 'was there') == 1 && $(grep -c 'Creating experiment own.er' own) == 1" "$(cat own)"
"$er_kernel" -O own -o bad.er -q 0 -d none -t 1 >out 2>err
check_that "-O: errors are in the file, too" \
	"$? == 1 && $(cat out err | wc -l) == 0 && $(grep -c 'none' own) == 1" "$(cat out err own)"
"$er_kernel" -O /dev/null -o bad.er -d none -t 1 >out 2>err
check_that "-O /dev/null: nothing is printed" "$? == 1 && $(cat out err | wc -l) == 0" "$(cat out err)"
printf '#!/nonexistent/interpreter\n' >broken && chmod 755 broken
"$er_kernel" -O own -o broken.er -q 0 ./broken >out 2>err
check_that "-O: a load that cannot be run is a message of er_kernel's" \
	"$? == 127 && $(cat out err | wc -l) == 0 && $(grep -c "load './broken': cannot be run" own) == 1" "$(cat out err own)"

# -P records a process that runs already, like -T.
"$syn/spin" gamma_:1000 >spin.out &
pid=$!
"$er_kernel" -P $pid -o attached.er -p high -t 1 >out 2>err
check_that "-P records" "$? == 0" "$(cat out err)"
kill $pid
check_that "-P: only this process has packets" \
	"$(query "count() from packets where LWPID == $pid || THRID == $pid" attached.er) > 0 &&
	 $(query "count() from packets where THRID != $pid" attached.er) == 0" "$(query 'THRID from packets' attached.er | sort | uniq -c)"
check_that "-P: with its functions" "$(pids=; seconds_of gamma_ i.totalcpu attached.er) > 0" "$(pids=; function_seconds i.totalcpu attached.er | head)"

# The recording ends with the processes, and not before the last one. A thread's ends with the thread.
ends_with() # NAME SENTENCE ARGUMENT…: runs er_kernel, which must end with status 0 and the sentence alone
{
	name=$1 sentence=$2
	shift 2
	timeout 60 "$er_kernel" -o "$name.er" "$@" >out 2>err
	check_that "$name: the recording ends by itself" "$? == 0 && $(wc -l <err) == 1" "$(cat out err)"
	check "$name: it says why" grep -qx "er_kernel: $sentence" err
	"$er_print" -header "$name.er" >header 2>&1
	check_that "$name: the experiment is closed" \
		"$(grep -c '^Recorded' header) == 1 && $(grep -c 'ot closed' header) == 0" "$(cat header)"
}
sleep 3 & one=$!
ends_with of_one "process $one has ended" -P $one
sleep 2 & one=$!
sleep 5 & two=$!
ends_with of_two "all 2 targets have ended" -P $one -T $two -t 50
check_that "-P: it ends with the last target" "$(kill -0 $two 2>/dev/null; echo $?) != 0"
sleep 1 & one=$!
ends_with paused "process $one has ended" -t 50-0 -P $one
sleep 3 & one=$!
timeout 60 "$er_kernel" -o dumped.1.er --flight 20s --dump-on end -P $one >out 2>err
check_that "a flight recorder with --dump-on end ends with its target" \
	"$? == 0 && $(grep -cx "er_kernel: process $one has ended" err) == 1 && $(grep -c 'dumped at' err) == 1" "$(cat err)"
# A flight recorder without that would lose what it has.
sleep 2 & one=$!
timeout 60 "$er_kernel" -o flown.1.er --flight 20s -P $one >out 2>flown &
recorder=$!
until [ -s flown ] || ! kill -0 $recorder 2>/dev/null; do sleep 0.1; done
sleep 1
check_that "a flight recorder goes on without its target" \
	"$(kill -0 $recorder; echo $?) == 0 && $(grep -c "process $one has ended: the recording goes on" flown) == 1" "$(cat flown)"
kill -INT $recorder
wait $recorder

# -x: the load stays stopped until it is continued
"$er_kernel" -o x.er -x -q 0 -- "$syn/spin" beta:0.1 >x.out 2>x.err &
pid=$!
load=
until [ -n "$load" ] || ! kill -0 $pid 2>/dev/null; do
	load=$(sed -n 's/.*the load is process \([0-9]*\), stopped.*/\1/p' x.err)
	sleep 0.05
done
check_that "-x: the load is left stopped" \
	"$(awk '$1 == "State:" { print ($2 ~ /[tT]/) }' "/proc/$load/status") == 1" "$(cat x.err)"
kill -CONT "$load"
wait $pid
check_that "-x: the load runs when it is continued" "$? == 0 && $(grep -c '^pid' x.out) == 1" "$(cat x.out x.err)"

# Several recorders that begin at once choose the same name, and only one can make it.
for i in 1 2 3; do
	(
		"$er_kernel" -o once.1.er -t 0.5 >"once.$i.out" 2>"once.$i.err" || echo "status $?" >>"once.$i.err"
		"$er_kernel" -o rolled.1.er --roll 1s -t 2.5 >"rolled.$i.out" 2>"rolled.$i.err" || echo "status $?" >>"rolled.$i.err"
	) &
done
wait
check "recorders that begin at once take the next number" ls -d once.1.er once.2.er once.3.er
check_that "and say so" "$(cat once.?.err | grep -c "warning: experiment 'once.[12].er': exists already: recording as 'once.[23].er'") >= 2" "$(cat once.?.err)"
check_that "none fails" "$(cat once.?.err rolled.?.err | grep -c "^status") == 0" "$(cat once.?.err rolled.?.err)"
check_that "segments of all take numbers in turn" "$(ls -d rolled.*.er | wc -l) >= 9" "$(ls -d rolled.*.er)"
