#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Control of a running recorder: pause and resume with exact times, samples, the status, the end.
# Also clients that are hostile or have no permission.
. "$(dirname "$0")/../lib/live.sh"
. "$top/tests/lib/recorders.sh" || exit 1

state_is() { ctl status --pid $pid && grep -q "^state: *$1\$" ctl.out; }

# until_true COMMAND…: wait until the command succeeds, for at most half a minute
until_true()
{
	local tries=0

	until "$@" || [ $((tries += 1)) -gt 600 ]; do sleep 0.05; done
}

# at_least N PATTERN FILE: so many lines of the file match.
at_least() { [ "0$(grep -c -- "$2" "$3" 2>/dev/null)" -ge "$1" ]; }

# The load has used so many seconds of CPU time.
has_used() { awk "BEGIN { exit !($(cpu_of $load) >= $1) }"; }

# Wait until the load has used 0.3 s more. On a busy machine that takes longer.
let_it_run() { until_true has_used "$(cpu_of $load) + 0.3"; }

# A pause in the middle of a load with known CPU time. cpuwatch reports its CPU time over the clock.
# The load runs until it is killed, however slow the machine is.
start pause.er -p high -q 0.3 -- \
	sh -c 'echo "pid	$$"; "$0/cpuwatch" $$/task/$$ >watched & exec "$0/spin" alpha:1000' "$syn"
load=
stolen=$(steal)
on_exit=stop_load
stop_load() { kill $load 2>/dev/null; }
until_true [ -s pause.er.out ]
load=$(pid_of pause.er.out)
let_it_run
check "the status says recording" state_is recording
ctl pause --pid $pid && ok "--ctl pause succeeds" || not_ok "--ctl pause succeeds" "$(cat ctl.err)"
check "the status says paused" state_is paused
check_that "the state has the pause's time" "$(grep -c 's of it paused' ctl.out) == 1" "$(cat ctl.out)"
sleep 0.5
ctl sample 'halfway & on' --pid $pid && ok "--ctl sample succeeds" || not_ok "--ctl sample succeeds" "$(cat ctl.err)"
ctl pause --pid $pid && ok "a second pause changes nothing" || not_ok "a second pause changes nothing" "$(cat ctl.err)"
sleep 0.5
# Wait for one more of the samples of each second.
samples=$(grep -c 'label="periodic"' pause.er/log.xml)
until_true at_least $((samples + 1)) 'label="periodic"' pause.er/log.xml
let_it_run
ctl resume --pid pause.er && ok "--ctl resume finds the recorder by the experiment's name" || not_ok "--ctl resume finds the recorder by the experiment's name" "$(cat ctl.err)"
let_it_run
ctl stop --pid $pid && ok "--ctl stop succeeds" || not_ok "--ctl stop succeeds" "$(cat ctl.err)"
check "stop returns when the experiment is complete" grep -q 'kind="exit"' pause.er/log.xml
wait $pid
check_that "the recorder's status is 0" "$? == 0" "$(cat pause.er.err)"
kill $load
check "the socket of a recorder that ended is gone" [ ! -e $place/$pid ]

paused=$(event_time pause.er pause) resumed=$(event_time pause.er resume)
check_that "the pause is in the experiment" "$resumed - $paused >= 1 && $resumed < $(event_time pause.er exit)" \
	"from $paused to $resumed"
check_that "the log has one pause and one resume" "$(query 'count() from event where kind eq "pause"' pause.er) == 1 &&
	$(query 'count() from event where kind eq "resume"' pause.er) == 1"
check_that "the label is in the experiment" \
	"$(grep -c 'label="halfway &amp; on"' pause.er/log.xml) == 1" "$(grep label pause.er/log.xml)"
check_that "samples of usage go on during the pause" \
	"$(query "count() from event where label eq 'periodic' && tstamp > $paused && tstamp < $resumed" pause.er) >= 1"

# Each thread's line ends at the pause, and another one begins after it. No line spans the pause.
begun=$(query 'min(begin) from thread where again' pause.er)
ended=$(query "max(end) from thread where end < $resumed * 1e9" pause.er)
check_that "all threads end at the pause" "$ended / 1e9 - $paused < 1 && $ended > 0" "$ended, $paused"
check_that "all threads begin again after the pause" "$begun / 1e9 >= $resumed" "$begun, $resumed"
check_that "no thread spans the pause" \
	"$(query "count() from thread where begin < $paused * 1e9 && end > $resumed * 1e9" pause.er) == 0"
inside="TSTAMP - $(event_time pause.er run) * 1e9 > $ended + 1e6 &&
	TSTAMP - $(event_time pause.er run) * 1e9 < $begun"
check_that "no packet lies in the pause" "$(query "count() from packets where $inside" pause.er) == 0" \
	"$(query "LWPID THRID MSTATE REASON NTICK WFLAGS TSTAMP-$(event_time pause.er run)*1e9 count() from packets where $inside" pause.er)"
off=$(query 'sum(tfault + dfault + kfault + lock + sleep + wait + stop + run) from thread' pause.er)
all=$(query 'sum(end - begin) from thread' pause.er)
check_that "the states of all threads add up to their time outside the pause" \
	"$off == $all && $all > 0" "$off of $all"

# The load ran all the time. The recording must have the part outside the pause.
pids=$(pid_of pause.er.out)
got=$("$er_print" -printmode , -filters "$(pid_filter)" -metrics e.user:e.kcpu:name -functions pause.er |
	total_cpu)
start=$(event_time pause.er run)
read -r least1 most1 least2 most2 <<END
$(ran_between watched 0 "$(awk "BEGIN { printf \"%.9f\", $start + $paused }")") $(
	ran_between watched "$(awk "BEGIN { printf \"%.9f\", $start + $resumed }")" \
		"$(awk "BEGIN { printf \"%.9f\", $start + $(event_time pause.er exit) }")")
END
check_that "CPU time outside the pause is recorded, and none inside" \
	"$got >= 0.98 * ($least1 + $least2) - 0.05 && $got <= $most1 + $most2 + 0.05 && $least2 > 0.2" \
	"got $got of $least1 + $least2 to $most1 + $most2"
"$er_print" -header full pause.er >header
check_that "the header reports the pause" "$(grep -c 'Paused 1 time' header) == 1" "$(cat header)"
"$er_print" -microstates pause.er >threads 2>&1
# A sample may have time that the hypervisor has just taken. If it is the thread's last one, the
# thread has that much more than the kernel's figure.
stolen=$(stolen_since "$stolen")
more=$(sed -n 's/^\*\*\* [0-9]* rows* ha[sve]* \([0-9.]*\) sec\..* more than the time in the recording\.$/\1/p' threads)
check_that "the states of each thread add up" \
	"$(grep -c "^Checked: the states of each row add up" threads) == 1 || 0${more:-9} <= $stolen" \
	"stolen $stolen; $(tail -n 5 threads)"
if command -v gprofng >/dev/null; then
	check "gprofng opens an experiment with a pause" opens_in_gprofng pause.er
else
	skip "gprofng opens it" "gprofng is not installed"
fi

# Wrong requests.
start wrong.er -p on
ctl dance --pid $pid
refused $? 2 && ok "an unknown command is one sentence" || not_ok "an unknown command is one sentence" "$(cat ctl.out ctl.err)"
ctl "$(printf 'da\033[2Jnce')" --pid $pid
check_that "control characters do not reach the terminal" "$(tr -d '\n[:print:]' <ctl.err | wc -c) == 0" \
	"$(cat -v ctl.err)"
ctl sample --pid $pid
refused $? 2 && ok "a sample needs a name" || not_ok "a sample needs a name" "$(cat ctl.out ctl.err)"
ctl pause --pid $pid now
refused $? 2 && ok "pause takes no argument" || not_ok "pause takes no argument" "$(cat ctl.out ctl.err)"
ctl status --pid 1
refused $? && ok "not a recorder: one sentence" || not_ok "not a recorder: one sentence" "$(cat ctl.out ctl.err)"

# Other users are refused.
as_nobody "$er_kernel" --ctl pause --pid $place/$pid >ctl.out 2>ctl.err
refused $? && ok "the socket's permissions refuse another user" || not_ok "the socket's permissions refuse another user" "$(cat ctl.out ctl.err)"
chmod 666 "${place:?}/${pid:?}"
as_nobody "$er_kernel" --ctl pause --pid $place/$pid >ctl.out 2>ctl.err
refused $? && grep -q 'belongs to another user' ctl.err && ok "the recorder refuses another user on an open socket" ||
	not_ok "the recorder refuses another user on an open socket" "$(cat ctl.out ctl.err)"
chmod 600 "${place:?}/${pid:?}"
check "the recorder goes on after it refused another user" state_is recording

# Hostile clients: a long message, one that is not text, silence, many messages, many clients at
# once.
rss() { awk '$1 == "VmRSS:" { print $2 }' "/proc/$1/status"; }
sockets() { ls -l "/proc/$1/fd" | grep -c socket:; }
# A paused recorder needs no more memory for what it records.
ctl pause --pid $pid
sleep 1
rss=$(rss $pid) sockets=$(sockets $pid)
perl -MSocket -e '
	$| = 1;
	sub reach { socket(my $s, AF_UNIX, SOCK_SEQPACKET, 0); connect($s, pack_sockaddr_un($ARGV[0])) ? $s : undef }
	sub talk { my ($s, $text, $reply) = (reach(), @_, ""); send($s, $text, 0); recv($s, $reply, 9999, 0); $reply }
	print talk("x" x 100000), "\n", talk("status\0pause"), "\n", talk("sample "), "\n";
	send(reach(), "status", 0) for 1 .. 300;
	@silent = map { reach() } 1 .. 8;
	$SIG{ALRM} = sub { exit };
	alarm 8;
	push @silent, reach() for 1 .. 30;
	sleep 8' $place/$pid >replies 2>&1 &
hostile=$!
until_true at_least 2 '^-the request is' replies
check_that "a long and a binary request are refused" \
	"$(grep -c '^-the request is' replies) == 2" "$(cat -v replies)"
check_that "a name that is empty is missing" \
	"$(grep -c '^-an argument is missing: write sample NAME' replies) == 1" "$(cat -v replies)"
ctl status --pid $pid && ok "requests are answered while other clients misbehave" || not_ok "requests are answered while other clients misbehave" "$(cat ctl.err)"
kill $hostile 2>/dev/null
wait $hostile 2>/dev/null
check_that "memory does not grow with many clients" "$(rss $pid) - $rss < 8000" "$rss to $(rss $pid) KB"
ctl resume --pid $pid
has_sockets() { [ "$(sockets $pid)" = "$1" ]; }
until_true has_sockets "$sockets"
check_that "descriptors do not grow with many clients" "$(sockets $pid) == $sockets" "$sockets to $(sockets $pid)"

# Two recorders at once, and one that was killed.
first=$pid
start second.er -p on
ctl status
check_that "--ctl status lists both recorders" "$(grep -cE "^recorder: *($first|$pid)\$" ctl.out) == 2" "$(cat ctl.out)"
ctl pause
refused $? && grep -q "several recorders run: .*$first (wrong.er)" ctl.err && ok "with two recorders, other commands need --pid" ||
	not_ok "with two recorders, other commands need --pid" "$(cat ctl.out ctl.err)"
kill -9 $pid
wait $pid 2>/dev/null
check "a killed recorder leaves its socket" [ -S $place/$pid ]
ctl status --pid $pid
refused $? && ok "the socket of a killed recorder is no recorder" || not_ok "the socket of a killed recorder is no recorder" "$(cat ctl.out ctl.err)"
killed=$pid
start third.er -p on
check "the next recorder removes the socket of a killed one" [ ! -e $place/$killed ]
ctl status --pid "$tmp/third.er" && grep -q "^experiment: *$tmp/third.er" ctl.out && ok "--pid takes the path that a status prints" ||
	not_ok "--pid takes the path that a status prints" "$(cat ctl.out ctl.err)"
ctl stop --pid $pid
ctl stop --pid $first
wait

# A rolling recorder that is paused rests, although a segment would be due.
start rests.1.er -p on --roll 1s
ctl pause --pid $pid
sleep 1.5
from=$(date +%s%N) before=$(awk '{ print $1 }' /proc/$pid/schedstat)
sleep 1
used=$(($(awk '{ print $1 }' /proc/$pid/schedstat) - before)) passed=$(($(date +%s%N) - from))
check_that "a paused rolling recorder rests" "$used < 0.5 * $passed" "$used ns of CPU time in $passed ns"
ctl resume --pid $pid
until [ -e rests.2.er ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
check "and begins the segment that was due when it goes on" [ -e rests.2.er ]
ctl stop --pid $pid
wait

# An ordinary user with capabilities uses a directory of the user's own.
command -v setcap >/dev/null || PATH=$PATH:/usr/sbin:/sbin
chmod 755 "$tmp"
install -m 755 "$er_kernel" capable
mkdir -m 700 home run && chown 65534:65534 home run
if ! setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep capable 2>/dev/null; then
	skip "an ordinary user" "file capabilities cannot be set here"
	exit
fi
own() { (cd home && XDG_RUNTIME_DIR=$tmp/run as_nobody ../capable "$@"); }
own -o own.er -p on >own.out 2>own.err &
until [ -n "$(ls run/er_kernel 2>/dev/null)" ] || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
own --ctl pause >ctl.out 2>ctl.err && ok "an ordinary user pauses the only recorder" ||
	not_ok "an ordinary user pauses the only recorder" "$(cat ctl.err)"
own --ctl resume && own --ctl status >ctl.out 2>ctl.err
check_that "an ordinary user resumes the only recorder" "$(grep -c 'state: *recording' ctl.out) == 1" "$(cat ctl.out ctl.err)"
"$er_kernel" --ctl status --pid run/er_kernel/* >ctl.out 2>ctl.err && ok "root controls a user's recorder by the socket's path" ||
	not_ok "root controls a user's recorder by the socket's path" "$(cat ctl.err)"
own --ctl stop
wait
check "root ends a user's recorder" grep -q 'kind="exit"' home/own.er/log.xml
chmod 777 run/er_kernel
own -v -o loose.er -t 0.5 >own.out 2>own.err
check_that "a directory that others may write is not used, and -v says so" \
	"$(grep -c 'no control socket.*other users may write' own.err) == 1" "$(cat own.err)"
