#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The flight recorder: what is in memory is written on demand, with exact sums, and bounded in
# memory and on disk. A dump that fails leaves nothing, and the recording goes on.
# Time limit: 600 s
. "$(dirname "$0")/../lib/live.sh"
. "$top/tests/lib/recorders.sh" || exit 1
. "$top/tests/lib/cgroups.sh" || exit 1

W=4 # seconds of the window

load= pid= group=
on_exit=stop_all
stop_all()
{
	[ -z "$load" ] || kill $load
	[ -z "$pid" ] || kill $pid
	[ -z "$group" ] || { wait $load; rmdir "$group"; }
	cd / && ! mountpoint -q "$tmp/small" || umount "$tmp/small"
} 2>/dev/null

stop() { ask stop; wait $pid; status=$?; pid=; }
stop_load() { kill $load; wait $load; load=; } 2>/dev/null
# in_status WORDS: the number behind these words in the status.
in_status() { ask status; sed -n "s/.*$1 *\([0-9.]*\).*/\1/p" ctl.out; }
# await COMMAND…: until it succeeds, for two minutes at most.
await() { local i; for i in $(seq 600); do "$@" && return; sleep 0.2; done; not_ok "$*" "$(cat ctl.out)"; }
covers() { awk "BEGIN { exit !($(in_status 'the last') >= $1) }"; }
segments() { ls -d "$1"/*.er | sort -t. -k3n; }
begin_of() { event_time "$1" run; }
end_of() { awk "BEGIN { printf \"%.9f\", $(event_time "$1" run) + $(event_time "$1" exit) }"; }
# window_of GROUP: the seconds that its header says.
window_of() { "$er_print" -header "$1" | sed -n '/^Flight/{s/.*the last \([0-9.]*\) s.*/\1/p;q}'; }
# check_window DUMP SECONDS: it covers the window, and no more segments than that takes.
check_window()
{
	local all n first second last
	all=$(segments "$1") n=$(echo "$all" | wc -l)
	first=$(begin_of "$(echo "$all" | head -n 1)")
	second=$(begin_of "$(echo "$all" | sed -n 2p)")
	last=$(end_of "$(echo "$all" | tail -n 1)")
	check_that "$1: covers the window, and its second segment would not" \
		"$n >= 2 && $last - $first >= $2 && $last - $second < $2 + 0.001" \
		"$n segments from $first, $second to $last"
	said=$(window_of "$1/$(basename "${1%.*}").erg")
	check_that "$1: says how long it is" "$said - ($last - $first) < 0.002 && $last - $first - $said < 0.1" \
		"says $said, has $last - $first"
}

# --- a dump by command ---
"$syn/contend" 1000 >/dev/null 2>&1 &
load=$!
"$syn/spin" alpha:1000 >/dev/null 2>&1 &
spin=$!
load="$load $spin"
cp "$syn/spin" gone
start f.1.er --flight ${W}s -p high -v
await covers $W
"$syn/cpuwatch" $spin/task/$spin >watched & # its CPU time over the clock
watcher=$!
sleep $((W + 2)) # the window is to begin after the watch
./gone alpha:0.3 >gone.out && rm gone
"$er_kernel" --ctl dump --pid f.1.er >ctl.out 2>ctl.err
check_that "dump: by the name of -o" "$? == 0 && $(grep -cx 'f.1/f.erg' ctl.out) == 1" "$(cat ctl.out ctl.err)"
all=$(segments f.1)
check_that "the status says where dumps go, and names no experiment" \
	"$(ask status; grep -cx "dumps go to: $tmp/f.N" ctl.out) == 1 && $(grep -c '^experiment' ctl.out) == 0" "$(cat ctl.out)"
check_window f.1 $W
perl "$top/tests/lib/segments.pl" $all >sums 2>&1
check_that "the parts of each thread add up, and go on where they ended" \
	"$(awk '/^threads/ { print $2 }' sums) > 10 && $(awk '/^wrong/ { print $2 }' sums) == 0" "$(cat sums)"
sleep 0.3
kill $watcher
first=$(begin_of "$(echo "$all" | head -n 1)") last=$(end_of "$(echo "$all" | tail -n 1)")
read -r least most <<END
$(ran_between watched $first $last)
END
got=$(for s in $all; do query "sum(run) from thread where tid == $spin" "$s"; done |
	awk '{ n += $1 } END { printf "%.6f", n / 1e9 }')
check_that "a thread that lived through it has the CPU time that the kernel counted" \
	"$got >= $least - 0.02 && $got <= $most + 0.02 && $least > 0" "got $got of $least to $most"
for s in $(echo "$all" | sed -n '1p;$p'); do
	check "$s opens in gprofng" opens_in_gprofng "$s"
done
for s in $all; do
	check_that "$s was closed, and its header has the reason" \
		"$("$er_print" -header "$s" | grep -c '^Flight recorder: dumped at .*, by command: ') == 1 &&
		 $("$er_print" -header "$s" | grep -ci 'not closed') == 0" "$("$er_print" -header "$s")"
done
check_that "the log of the last segment has the reason" \
	"$(grep -c 'kind="comment".*dumped: by command' $(echo "$all" | tail -n 1)/log.xml) == 1"
check "er_print opens the group" "$er_print" -header -functions f.1/f.erg
check "gprofng opens the group in its directory" sh -c 'cd f.1 && gprofng display text -functions f.erg |
	grep -qE "^ *[0-9.]+ .*<Total>"'
want=$(query 'sum(NTICK) from packets where ON_CPU' $all)
got=$(seconds_of '<Total>' e.totalcpu f.1/f.erg)
check_that "the group has all packets" "1e6 * $got - $want < 1000 && $want - 1e6 * $got < 1000" "got $got of $want"
check_that "a program that ended and is gone has its names" "$("$er_print" -filters 'COMM=="gone"' \
	-metrics i.totalcpu:name -functions f.1/f.erg | grep -cw alpha) == 1"
copies=$(ls -i f.1/*.er/archives | awk '$2 ~ /^libc\.so\.6_/' | sort -u)
check_that "segments share archives, as in memory" \
	"$(echo "$copies" | wc -l) == $(echo "$copies" | awk '{ print $2 }' | sort -u | wc -l)" "$copies"

# --- more dumps ---
ask dump
check_that "a dump at once after it" "$? == 0 && $(grep -cx 'f.2/f.erg' ctl.out) == 1" "$(cat ctl.out ctl.err)"
check_window f.2 $W
ask pause && ask dump
check_that "a dump during a pause" "$? == 0" "$(cat ctl.out ctl.err)"
check_that "the pause goes on" "$(ask status; grep -c '^state: *paused' ctl.out) == 1" "$(cat ctl.out)"
check "a dump of a pause opens" "$er_print" -functions f.3/f.erg
sleep $((W + 1)) # a pause as long as the window
ask dump
check_that "a long pause keeps what was recorded before it" \
	"$? == 0 && $(segments f.4 | wc -l) >= 2 && $(window_of f.4/f.erg) >= $W" "$(segments f.4; cat ctl.err)"
ask resume
ask dump now
refused $? 2 && ok "dump takes no argument" || not_ok "dump now" "$(cat ctl.out ctl.err)"
chmod 666 "${place:?}/${pid:?}"
as_nobody "$er_kernel" --ctl dump --pid $place/$pid >ctl.out 2>ctl.err
refused $? && ok "another user is refused" || not_ok "another user" "$(cat ctl.out ctl.err)"
check_that "the status counts dumps" "$(in_status 'dumps:') == 4" "$(cat ctl.out)"
stop
check_that "its end is good, and writes nothing" "$status == 0 && $(ls -d f.* | grep -c er$) == 0 && $(ls -d f.[0-9] | wc -l) == 4" \
	"status $status: $(ls; cat f.1.er.err)"

# --- kill -9 leaves no memory ---
start k.er --flight 60s -p high
megabytes() { in_status 'wanted),' >/dev/null; sed -n 's/.*wanted), \([0-9.]*\) MB of.*/\1/p' ctl.out; }
has_megabytes() { awk "BEGIN { exit !($(megabytes) + 0 >= $1) }"; }
await has_megabytes 5
# The kernel frees a file system that is mounted nowhere with its last descriptor.
memory_of() { for f in /proc/$1/fd/*; do
	[ "$(readlink "$f")" != / ] || [ "$(stat -f -c %T "$f")" != tmpfs ] || stat -L -c %d "$f"
	done | sort -u; }
users_of() { stat -L -c %d /proc/[0-9]*/fd/* 2>/dev/null | grep -cx "$1"; }
mounts_of() { cat /proc/[0-9]*/mountinfo 2>/dev/null | awk -v dev="0:$1" '$3 == dev { n++ } END { print n + 0 }'; }
memory=$(memory_of $pid)
check_that "the memory is one file system, mounted nowhere" \
	"$(echo $memory | wc -w) == 1 && $(users_of "$memory") > 0 && $(mounts_of "$memory") == 0" "devices: $memory"
kill -9 $pid
wait $pid 2>/dev/null
pid=
check_that "kill -9 frees the memory" "$(users_of "$memory") == 0 && $(mounts_of "$memory") == 0" \
	"$(ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c memory) of device $memory"

# --- a full disk ---
mkdir small
if mount -t tmpfs -o size=1m er-test small 2>/dev/null; then
	start d.er -d small --flight ${W}s -p high
	await covers $W
	ask dump
	refused $? && grep -q 'No space left.*free some space' ctl.err && ok "a full disk: one sentence" ||
		not_ok "a full disk" "$(cat ctl.out ctl.err)"
	check_that "the recorder says it, too" "$(grep -c 'No space left' d.er.err) == 1" "$(cat d.er.err)"
	check_that "nothing is left of the dump" "$(ls -A small | wc -l) == 0" "$(ls -A small)"
	ask status
	check_that "the status has it, and the recording goes on" \
		"$(grep -c '^dumps: *0, and 1 failed' ctl.out) == 1 && $(grep -c '^state: *recording' ctl.out) == 1" \
		"$(cat ctl.out)"
	mount -o remount,size=200m small
	ask dump
	check_that "with room the next dump is good" "$? == 0 && $(ls -d small/d.1/*.er | wc -l) >= 2" \
		"$(cat ctl.err; ls -A small)"
	check_window small/d.1 $W
	stop
	check_that "a dump that failed is not a failure of the recording" "$status == 0" "$(cat d.er.err)"
else
	skip "a full disk" "mount is not permitted"
fi

# --- the bound of memory ---
start b.er --flight 1000s,16M -p 0.1 --keep 1M --dump-on end
dropped_early() { ask status; grep -q 'dropped early' ctl.out; }
await dropped_early
check_that "the memory is bounded" "$(megabytes) <= 16.8" "$(cat ctl.out)"
# What is renamed belongs to the user, as does a directory with the number of a dump.
ask dump && mv b.1 kept && mkdir b.5 && ask dump && ask dump
check_that "what found no room is said" "$("$er_print" -header b.7/b.erg |
	grep -c 'of 1000 s (earlier ones found no room in 16 MB: give --flight more)') >= 1" \
	"$("$er_print" -header b.7/b.erg | grep '^Flight')"
check_that "a recorder with too little memory goes on" "$(ask status; grep -c '^state: *recording' ctl.out) == 1" \
	"$(cat ctl.out b.er.err)"
check_that "--keep: the oldest dump goes, what was moved stays" \
	"$([ -d kept ] && [ -d b.5 ] && [ ! -e b.6 ] && [ -d b.7 ]; echo $?) == 0" "$(ls -d b.* kept; cat b.er.err)"
check_that "--keep below one dump: said once" "$(grep -c 'only the newest is kept' b.er.err) == 1" "$(cat b.er.err)"
stop
check_that "its end writes a dump, too" "$status == 0 && $([ -e b.8/b.erg ]; echo $?) == 0" "$(ls -d b.*; cat b.er.err)"

# --- the memory is full, and nothing is left to drop ---
stop_load # from here on it is enough that something runs
start m.er --flight 1000s,16M # the present segment is the only one
records() { ask status; grep -q '^recorded: *[1-9]' ctl.out; }
await records
for f in /proc/$pid/fd/*; do
	[ "$(readlink "$f")" = / ] && [ -d "$f" ] && [ "$(stat -f -c %T "$f")" = tmpfs ] && exec 8<"$f" && break
done
root=/proc/$$/fd/8 # the recorder may close that descriptor
dd if=/dev/zero of="$root/filler" bs=4096 2>/dev/null
dump_is_good() { ask dump && [ -e m.1/m.erg ]; } # a segment that could not be written is not dumped
await dump_is_good
check_that "the next segment has memory of its own" "$(grep -c 'cannot be created' m.er.err) == 0" "$(cat m.er.err)"
check "the memory has room again" rm "$root/filler"
exec 8<&-
ask dump
check_that "with room the next dump is good, too" "$? == 0 && $([ -e m.2/m.erg ]; echo $?) == 0" \
	"$(cat ctl.out ctl.err m.er.err)"
stop
check_that "a full memory is no failure of the recording" "$status == 0" "$(cat m.er.err)"

# --- dumps by signals, and at the end ---
"$er_kernel" -n -d small -o p.er --flight 60s --dump-on USR2 --dump-on io:5% >out 2>err
check_that "-n says what would be dumped, where and when" "$? == 0 && $(grep -c '^dumps: *small/p\.N,' out) == 1 &&
	$(grep -c '^dump signal: *User' out) == 1 && $(grep -c '^dump pressure: *io above 5 % of 10 s, then not for 60 s' out) == 1" \
	"$(cat out err)"
exists() { [ -e "$1" ]; }
reason_of() { "$er_print" -header "$1" | sed -n '/^Flight/{s/.*dumped at [^,]*, \(.*\): the last.*/\1/p;q}'; }
start s.er --flight ${W}s --dump-on USR2 --dump-on end --status s.prom
await covers $W
kill -USR2 $pid
await exists s.1
check_that "a dump by a signal" "\"$(reason_of s.1/s.erg)\" == \"by signal SIGUSR2\"" "$(cat s.er.err)"
check_window s.1 $W
stop
check_that "a dump at the end" "$status == 0 && \"$(reason_of s.2/s.erg)\" == \"by the end of the recording\"" \
	"$(cat s.er.err)"
check_that "the last status has that dump, too" \
	"$(grep -cx -e 'er_kernel_dumps_total 2' -e 'er_kernel_running 0' s.prom) == 2" "$(cat s.prom)"
check_window s.2 $W
check_that "its last segment has archives" "$(ls "$(segments s.2 | tail -n 1)/archives" | wc -l) > 0"
start q.er --flight 60s -t 1000-2000 --dump-on USR2
kill -USR2 $pid
failed_once() { ask status; grep -q '^dumps: *0, and 1 failed' ctl.out; }
await failed_once
check_that "a signal before anything is recorded: one sentence" \
	"$(grep -c 'no dump by signal SIGUSR2: nothing is recorded yet' q.er.err) == 1 && $(wc -l <q.er.err) == 1" "$(cat q.er.err)"
stop

start n.er --flight 60s -v
stop
check_that "an end without a dump says that nothing was written" "$status == 0 &&
	$(grep -c 'wrote nothing, as no dump was asked for' n.er.err) == 1" "$(cat n.er.err)"
check_that "a dump says at its end what it wrote, and nothing else" "$(grep -c 'wrote nothing' f.1.er.err) == 0" \
	"$(cat f.1.er.err)"

# --- dumps by pressure ---
# press WHAT: the recorder is to dump for this pressure, which the load $load makes.
press()
{
	start $1.er --flight ${W}s --dump-on $1:1%/2s --cooldown 1000s
	for i in $(seq 300); do
		[ ! -e $1.1 ] || break
		sleep 0.2
	done
	if [ ! -e $1.1 ] && awk '/^some/ { sub("avg10=", "", $2); exit $2 > 2 }' /proc/pressure/$1; then
		skip "a dump by $1 pressure" "the load makes none here"
	else
		check_that "a dump by $1 pressure, with its figure" \
			"$(reason_of $1.1/$1.erg | grep -cE "^by $1 pressure above 1 % of 2 s \(avg10 [0-9.]+ %\)$") == 1" \
			"$(cat $1.er.err; cat /proc/pressure/$1)"
	fi
}

ignored() { ask status; grep -q 'ignored [1-9][0-9]* times* that pressure was high' ctl.out; }

if [ -r /proc/pressure/cpu ]; then
	for i in $(seq $((2 * $(nproc) + 1))); do
		"$syn/spin" alpha:1000 >/dev/null &
		load="$load $!"
	done
	press cpu
	await ignored
	check_that "none in the cooldown" "$([ ! -e cpu.2 ]; echo $?) == 0" "$(ls -d cpu.*; cat cpu.er.err)"
	check_that "a command dumps in the cooldown" "$(ask dump; grep -cx cpu.2/cpu.erg ctl.out) == 1" "$(cat ctl.err)"
	stop
	start again.er --flight ${W}s --dump-on cpu:1%/2s --cooldown 0s
	await exists again.2
	ok "without a cooldown there is a second one"
	stop
	stop_load
	sh -c 'while :; do dd if=/dev/zero of=io.data bs=64k count=64 oflag=direct,dsync; done' 2>/dev/null &
	load=$!
	press io
	stop
	stop_load
	if small_cache_group; then
		# Written in the group: its pages belong to the group that first has them.
		sh -c "echo \$\$ >$group/cgroup.procs; head -c 64M /dev/zero >memory.data
			while :; do cat memory.data >/dev/null; done" 2>/dev/null &
		load=$!
		press memory
		stop
		stop_load
		until rmdir "$group" 2>/dev/null; do sleep 0.1; done
		group=
	else
		skip "a dump by memory pressure" "no memory group can be made here"
	fi
else
	skip "dumps by pressure" "this kernel has no PSI"
fi

# --- what has no memory, and wrong values ---
start n.er
ask dump
refused $? && grep -q -- '--flight 60s' ctl.err && ok "a recorder without memory refuses" ||
	not_ok "dump without --flight" "$(cat ctl.out ctl.err)"
stop
setpriv --bounding-set -sys_admin --inh-caps -all "$er_kernel" --flight 60s -t 1 >out 2>err
check_that "without the capability: one sentence" "$? == 1 && $(grep -c 'cap_sys_admin' err) == 1 && $(wc -l <err) == 1" \
	"$(cat err)"
for wrong in "--flight 0" "--flight 60" "--flight 5x" "--flight 60s," "--flight 60s,5" "--flight 60s,1M" "--flight -5s" \
	"--flight 60s --dump-on cpu:0%" "--flight 60s --dump-on disk:5%" "--dump-on USR2" "--flight 60s --cooldown x" \
	"--flight 0.5s" "--flight 60s -L 2000" "--flight 60s --dump-on USR1 --dump-on USR2" \
	"--flight 60s --roll 60s" "--flight 60s -g x.erg" "--flight 60s -o x"; do
	"$er_kernel" -t 1 $wrong >out 2>err
	status=$?
	check_that "$wrong: one sentence" "$status == 2 && $(wc -l <err) == 1" "status $status: $(cat err)"
done
