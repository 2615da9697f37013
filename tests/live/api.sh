#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The collector API. A program pauses, resumes, labels and ends its own recording, by collect and by
# er_kernel. What it does in a pause is not recorded; CPU time and numbers of samples are its own. It may
# call wrongly, and others may not call at all.
# Time limit: 600 s
. "$(dirname "$0")/../lib/live.sh"
collect=$O/bin/collect
api=$syn/api

events() { query "count() from event where kind eq '$2'" "$1"; }
samples() { query "count() from event where kind eq 'sample' && label eq '$2'" "$1"; }

# true_cpu NAME EXPERIMENT FILE: all CPU time of the program's thread is at least that of `shown`, and at
# most what the thread has used outside pauses. It does not see its own exec and exit, which take some
# milliseconds on a busy machine.
true_cpu()
{
	local got want most
	want=$(truth "$3" shown)
	most=$(truth "$3" visible)
	pids=$(truth "$3" pid | cut -d. -f1)
	got=$(seconds_of '<Total>' i.totalcpu "$2")
	check_that "$1: the CPU time is that outside pauses" "$got >= 0.995 * $want - 0.002 && $got <= 1.005 * $most + 0.015" \
		"$got; in shown $want, all $most"
	function_seconds i.totalcpu "$2" >functions
	check_that "$1: nothing of the rest is recorded" "$(grep -cE '	(hidden|after)$' functions) == 0 &&
		$(grep -c '	shown$' functions) == 1" "$(cat functions)"
	pids=
}

# phases NAME COMMAND…: run the recorder, whose experiment is NAME.er.
phases()
{
	local name=$1
	shift
	timeout 300 "$@" "$api" 0.4 >"$name.out" 2>"$name.err"
	status=$?
	check_that "$name: the status is the program's" "$status == 7" "$status; $(cat "$name.err")"
	true_cpu "$name" "$name.er" "$name.out"
	check_that "$name: one pause, one resume" "$(events "$name.er" pause) == 1 && $(events "$name.er" resume) == 1"
	check_that "$name: samples have their labels, in the pause, too" \
		"$(grep -c 'label="first &amp; &lt;last&gt;"/>' "$name.er/log.xml") == 1 && $(samples "$name.er" paused) == 1 &&
		 $(samples "$name.er" 'too late') == 0" "$(grep label "$name.er/log.xml")"
	"$er_print" -sample_list "$name.er" >list 2>&1
	check_that "$name: er_print lists the samples" "$(awk '$1 == 1 { print $3 }' list) >= 6" "$(cat list)"
	"$er_print" -samples "$name.er" >list 2>&1
	check_that "$name: they have their times and labels" \
		"$(grep -cE 'Sample [0-9]+, [0-9.]+ to [0-9.]+ sec\., .*first & <last>' list) >= 1" "$(cat list)"
}
phases collect "$collect" -p high -o collect.er
phases kernel "$er_kernel" -p high -o kernel.er -q 0

# Pauses by the dozen: nothing is counted twice or lost.
timeout 300 "$collect" -p high -o pauses.er "$api" pauses 60 >pauses.out 2>pauses.err
true_cpu pauses pauses.er pauses.out
check_that "pauses: each is there" "$(events pauses.er pause) == 60 && $(events pauses.er resume) == 60"

timeout 300 "$collect" -o samples.er "$api" samples 100 >samples.out 2>samples.err
check_that "samples: each call of each thread is there" \
	"$(samples samples.er four) == $(truth samples.out samples)"
timeout 300 "$collect" -o exec.er "$api" exec >exec.out 2>&1
check_that "an executed program calls, too" "$(samples exec.er four) == 4"
timeout 300 "$collect" -o fork.er sh -c "'$api' fork; '$api' samples 1" >fork.out 2>&1
check_that "descendants call, too" "$(samples fork.er child) == 1 && $(samples fork.er parent) == 1 &&
	$(samples fork.er four) == 4"

# A recording that begins paused begins when the program says so.
timeout 300 "$collect" -y USR1 -p high -o late.er "$api" pauses 1 >late.out 2>late.err
true_cpu late late.er late.out

timeout 300 "$collect" -o wrong.er "$api" wrong >wrong.out 2>wrong.err
check_that "wrong: errno stays" "$(truth wrong.out errno) == 12345"
check_that "wrong: a long label is cut" "$(samples wrong.er "$(printf '%0255d' 0 | tr 0 x)") == 1"
check_that "wrong: no label" "$(samples wrong.er collector_sample) == 2"
check_that "wrong: control characters are no part of a label" \
	"$(grep -c "label=\"?\[31m??*.*&lt;/event&gt;\"/>" wrong.er/log.xml) == 1" "$(grep 31m wrong.er/log.xml)"
check_that "wrong: a program that closes all descriptors calls" "$(samples wrong.er closed) == 1"
check_that "wrong: nothing is paused" "$(events wrong.er resume) == 0"
"$er_print" -header wrong.er >list 2>&1
check_that "wrong: the experiment is sound" "$(grep -ciE 'damage|cannot be read' list) == 0" "$(cat list)"

# generated NAME SCRIPT: generated functions have their names, whatever the script leaves for this process.
generated()
{
	timeout 300 "$collect" -p high -o "$1.er" sh -c "$2; exec \"\$0\" jit" "$api" >"$1.out" 2>&1
	pid=$(truth "$1.out" pid | cut -d. -f1)
	for f in "generated one" generated_two '<Unknown>'; do
		t=$(seconds_of "$f" e.totalcpu "$1.er")
		check_that "$1: $f has its time, a third of that of the code" "$t >= 0.24 && $t <= 0.38" \
			"$("$er_print" -functions "$1.er")"
	done
}
generated dump 'echo "1000 7fffffffe000 stale" | tee /tmp/perf-$$.map >/tmp/jit-$$.dump'
printf 'one begins\none loops\ntwo begins\ntwo loops\n' >generated.src
for how in 'one,2' '_two,4'; do
	"$er_print" -metrics e.totalcpu -lines dump.er >list 2>&1
	line=${how#*,}
	t=$(awk -v line="line $line in" '/generated/ && index($0, line) { print $1 }' list)
	check_that "dump: line $line has the time of its loop" "${t:-0} >= 0.24 && ${t:-0} <= 0.38" "$(cat list)"
done
"$er_print" -metrics e.totalcpu -source 'generated one' dump.er >list 2>&1
check_that "dump: the source has it" "$(grep -cE ' 0\.[23][0-9]* .*2\. one loops' list) == 1" "$(cat list)"
"$er_print" -metrics e.totalcpu -disasm generated_two dump.er >list 2>&1
check_that "dump: the code has it, by lines" "$(grep -cE '\[ *4\] .*(dec|jne)' list) == 2 &&
	$(grep -cE '\[ *\?\] .*mov' list) == 1" "$(cat list)"
"$er_print" -fsummary dump.er >list 2>&1
check_that "dump: the summary has the alias" "$(grep -cE 'Aliases: +the first$' list) == 1" "$(cat list)"
if command -v gprofng >/dev/null; then
	gprofng_text -metrics e.totalcpu -lines dump.er >list 2>&1
	check_that "dump: gprofng has the lines" "$(grep -c 'generated.*line [24] in' list) == 2" "$(cat list)"
else
	skip "dump: gprofng has the lines" "gprofng is not installed"
fi
rm -f "/tmp/jit-$pid.dump" "/tmp/perf-$pid.map"

# A directory that is in the way stands for a /tmp that is mounted noexec.
generated jit 'echo "1000 7fffffffe000 stale" >/tmp/perf-$$.map; mkdir /tmp/jit-$$.dump'
check_that "jit: the map has two functions and their ends" "$(grep -c generated "/tmp/perf-$pid.map") == 2 &&
	$(tail -n 3 "/tmp/perf-$pid.map" | grep -cE '^[0-9a-f]+ [0-9a-f]+$') == 2" "$(cat "/tmp/perf-$pid.map")"
rm -rf "/tmp/perf-$pid.map" "/tmp/jit-$pid.dump"
echo precious >precious
timeout 300 "$collect" -o link.er sh -c 'ln -s "$1" /tmp/perf-$$.map; ln -s "$1" /tmp/jit-$$.dump; exec "$0" jit' \
	"$api" "$tmp/precious" >jit.out 2>&1
check_that "jit: a link is not followed" "$(grep -cx precious precious) == 1" "$(cat precious)"
pid=$(truth jit.out pid | cut -d. -f1)
rm -f "/tmp/perf-$pid.map" "/tmp/jit-$pid.dump"

# A process that was there before, by its program and by its library.

# wait_until CONDITION: for a minute at most.
wait_until()
{
	local i
	for i in $(seq 600); do
		eval "$1" 2>/dev/null && return
		sleep 0.1
	done
}

# waits NAME HOW…: start `api wait HOW…`, whose output is NAME.out; its input is 5 and its number is pid.
waits()
{
	local name=$1 program=${program:-$api}
	shift
	rm -f in
	mkfifo in
	timeout 300 "$program" wait "$@" <in >"$name.out" 2>&1 &
	job=$!
	exec 5>in
	wait_until "[ -s '$name.out' ]"
	pid=$(truth "$name.out" pid | cut -d. -f1)
}
go_on() { echo >&5; exec 5>&-; wait $job; }

# code_of PID: a checksum of the code that the process has from files.
code_of()
{
	perl -e '
		open(my $maps, "<", "/proc/$ARGV[0]/maps") or die; open(my $mem, "<:raw", "/proc/$ARGV[0]/mem") or die;
		while (<$maps>) {
			next unless m{^([0-9a-f]+)-([0-9a-f]+) r-xp .* /};
			sysseek($mem, hex $1, 0); sysread($mem, my $code, hex($2) - hex($1)); $sum += unpack("%64C*", $code);
		}
		print "$sum\n";' "$1"
}

# attached NAME RECORDER…: the recorder attaches to a process that pauses, labels and ends the recording.
attached()
{
	local name=$1 before
	shift
	waits "$name" 0.4
	before=$(code_of "$pid")
	timeout 300 "$@" "$pid" >"$name.rec" 2>&1 &
	recorder=$!
	wait_until "grep -q 'label=\"start\"' $name.er/log.xml && [ \$(code_of $pid) != $before ]"
	go_on
	wait $recorder
	check_that "$name: the recorder ends, and says nothing" "$? == 0 && $(grep -c warning "$name.rec") == 0" \
		"$(cat "$name.rec")"
	check_that "$name: one pause, one resume" "$(events "$name.er" pause) == 1 && $(events "$name.er" resume) == 1"
	check_that "$name: samples have their labels" "$(grep -c 'label="first &amp; &lt;last&gt;"/>' "$name.er/log.xml") == 1 &&
		$(samples "$name.er" paused) == 1 && $(samples "$name.er" 'too late') == 0"
}
attached attach "$collect" -p high -A off -o attach.er -P
true_cpu attach attach.er attach.out
attached attach_kernel "$er_kernel" -p high -A off -o attach_kernel.er -T

# Somebody else's calls do not count, and the process is as before when the recorder has gone.
waits alone samples 3
before=$(code_of "$pid")
timeout 300 "$collect" -A off -t 3 -o alone.er -P "$pid" >alone.rec 2>&1 &
recorder=$!
wait_until "[ \$(code_of $pid) != $before ]"
cat >other.pl <<'END'
use Socket;
socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die;
my $to = pack("S a*", AF_UNIX, "\0er_collector.$ARGV[0]");
send($s, pack("L L a32 a256", 1, $_, "", "stranger"), 0, $to) or die "send: $!" for 0 .. 3;
print "sent\n";
END
perl other.pl "$pid" >other.out 2>&1
wait $recorder
check_that "alone: another process's calls do nothing" "$(grep -c sent other.out) == 1 && $(events alone.er pause) == 0 &&
	$(samples alone.er stranger) == 0" "$(cat other.out alone.rec)"
check_that "alone: the code is as before" "$(code_of "$pid") == $before"
cat >listener.pl <<'END'
use Socket;
socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die;
bind($s, pack("S a*", AF_UNIX, "\0er_collector.$ARGV[0]")) or die "bind: $!";
$| = 1;
print "bound\n";
$SIG{TERM} = sub { recv($s, my $call, 1000, MSG_DONTWAIT) ? print "called\n" : print "none\n"; exit 0 };
sleep 100;
END
perl listener.pl "$pid" >listener.out 2>&1 &
listener=$!
wait_until "[ -s listener.out ]"
# A name that is taken is said.
timeout 300 "$collect" -A off -t 1 -o taken.er -P "$pid" >taken.rec 2>&1
check_that "taken: said" "$(grep -c "process $pid: its calls of the collector API go to another recorder" taken.rec) == 1" \
	"$(cat taken.rec)"
go_on
kill $listener
wait $listener
check_that "alone: nobody is called when no recorder is there" "$(grep -cx none listener.out) == 1 &&
	$(truth alone.out samples) == 12" "$(cat listener.out alone.out)"

# Nobody records.
check "unrecorded: the program runs" sh -c "'$api' 0.01; [ \$? = 7 ]"
for value in "" x "x y" "$(printf '%0200d %032d' 0 0)" "nobody $(printf '%032d' 0)"; do
	check "unrecorded, ER_COLLECTOR='$(echo "$value" | cut -c1-20)': the program runs" \
		env ER_COLLECTOR="$value" "$api" samples 10
done

# Another user of the machine knows the socket's name, but not the token.
cat >stranger.pl <<'END'
use Socket;
my ($name) = map { /@([0-9a-f]{32})\s*$/ ? $1 : () } `cat /proc/net/unix` or exit 3;
socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die;
my $to = pack("S a*", AF_UNIX, "\0$name");
for my $op (0 .. 9) {
	my $call = pack("L L a32 a256", 1, $op, "0" x 32, "stranger");
	for (1 .. 50) { # the queue may be full
		send($s, $_ % 2 ? $call : substr($call, 0, rand 300), MSG_DONTWAIT, $to);
		select(undef, undef, undef, 0.002);
	}
}
END
if command -v setpriv >/dev/null; then
	chmod 755 "$tmp"
	cat >load.sh <<END
env -u ER_COLLECTOR setpriv --reuid 65534 --regid 65534 --clear-groups perl stranger.pl
echo "stranger	\$?"
"$api" samples 5
END
	timeout 300 "$er_kernel" -o stranger.er -q 0 sh load.sh >stranger.out 2>stranger.err
	check_that "stranger: it found the socket" "$(truth stranger.out stranger) == 0" "$(cat stranger.out stranger.err)"
	check_that "stranger: its calls do nothing" "$(samples stranger.er stranger) == 0 &&
		$(events stranger.er pause) == 0"
	check_that "stranger: the load's calls count" "$(samples stranger.er four) == 20"
else
	skip "stranger" "setpriv is not installed"
fi

# A recorder that is stopped holds the program up once, for two seconds.
cat >stopped.sh <<END
kill -STOP \$PPID
"$api" samples 5
kill -CONT \$PPID
END
timeout 300 "$collect" -o stopped.er sh stopped.sh >stopped.out 2>&1
check_that "stopped: the program goes on" "$(truth stopped.out samples) == 20" "$(cat stopped.out)"

# As programs of users are built: with the headers as installed, shared and static, in C and C++, and with
# gprofng's header.
"$top/tools/install.sh" "$O" "$tmp/dest" /usr/local >installed 2>&1 ||
	not_ok "installs" "$(cat installed)"
dest=$tmp/dest/usr/local
for how in "$dest/lib/libcollectorAPI.a" "-L$dest/lib -Wl,-rpath,$dest/lib -lcollectorAPI"; do
	gcc -D_GNU_SOURCE -I"$dest/include/er_kernel" "$top/tests/synprog/api.c" $how -pthread -o built 2>gcc.err &&
		timeout 300 "$collect" -o built.er ./built samples 2 >built.out 2>&1
	check_that "built with ${how##*/}" "$(samples built.er four) == 8" "$(cat gcc.err built.out)"
	program=./built attached built_attached "$collect" -A off -o built_attached.er -P
	rm -rf built_attached.er
	rm -rf built.er built
done
printf '#include <collectorAPI.h>\nint main() { collector_sample("c++"); collector_pause(); return 0; }\n' >cc.cc
if command -v g++ >/dev/null; then
	g++ -Wall -Wextra -I"$dest/include/er_kernel" cc.cc "$dest/lib/libcollectorAPI.a" -o built 2>gcc.err &&
		timeout 300 "$collect" -o built.er ./built >built.out 2>&1
	check_that "built in C++" "$(samples built.er c++) == 1 && $(events built.er pause) == 1" "$(cat gcc.err built.out)"
	rm -rf built.er built
else
	skip "built in C++" "g++ is not installed"
fi
sed 's/collectorAPI/libcollector/' cc.cc >old.c
sed -i 's/return 0/collector_resume(); collector_func_unload(0); return 0/' old.c
for n in 0 1; do
	how=$([ $n = 0 ] || echo "-L$dest/lib -Wl,-rpath,$dest/lib -Wl,--no-as-needed -lcollectorAPI")
	gcc -Wall -Wextra -I"$dest/include/er_kernel" old.c $how -o built 2>gcc.err &&
		timeout 300 "$collect" -o built.er ./built >built.out 2>&1
	check_that "built with libcollector.h, linked with the library $n times" \
		"$(events built.er pause) == $n && $(events built.er resume) == $n && $(wc -c <gcc.err) == 0" \
		"$(cat gcc.err built.out)"
	rm -rf built.er built
done
if [ -f /usr/include/collectorAPI.h ]; then
	cp cc.cc c.c
	gcc c.c "$dest/lib/libcollectorAPI.a" -o built 2>gcc.err && timeout 300 "$collect" -o built.er ./built >built.out 2>&1
	check_that "built with gprofng's header" "$(samples built.er c++) == 1" "$(cat gcc.err built.out)"
else
	skip "built with gprofng's header" "it is not installed"
fi
