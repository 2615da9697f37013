#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# File systems in user space that stop to answer, while root records. A program is mapped from one, has
# its perf map there, or is to be archived from it. The recording ends in time,
# nevertheless, and says what did not answer. From one that answers, the names of functions are right.
. "$(dirname "$0")/../lib/live.sh"

command -v gcc >/dev/null || skip_all "gcc is not installed"
command -v setpriv >/dev/null || skip_all "setpriv is not installed"
[ -e /dev/fuse ] && unshare -m true 2>/dev/null || skip_all "there is no FUSE here"
chmod 755 "$tmp"
mkdir files mnt lower upper work
: >rules
unshare -m sh -c '"$syn/fuse" mnt files rules & sleep 0.3; umount mnt' >out 2>err
grep -q mounted out || skip_all "FUSE cannot be mounted here: $(cat err)"
cp "$syn/spin" files/fuse_spin
gcc -O1 -D_GNU_SOURCE -o files/generated "$top/tests/fixtures/source/generated.c" 2>gcc.err ||
	skip_all "gcc: $(head -n 1 gcc.err)"
on_exit=clean_up
clean_up()
{
	: >rules
	[ -z "${load:-}" ] || kill $load
	[ -z "${server:-}" ] || kill "$server"
	wait
} 2>/dev/null

# soon CONDITION…: wait until the command succeeds, or 60 s.
soon()
{
	local tries=3000
	until "$@" || [ $((tries -= 1)) = 0 ]; do sleep 0.02; done 2>/dev/null
}

# burn COMMAND: runs it in a private mount namespace that has the file system on mnt. Its process is $load.
burn()
{
	rm -f ready server
	: >rules
	unshare -m sh -c '"$syn/fuse" mnt files rules >ready 2>server.err & echo $! >server
		until grep -q mounted ready || ! kill -0 $!; do sleep 0.02; done 2>/dev/null
		eval "$0"' "$1" >load.out 2>&1 &
	load=$!
	soon is_mounted
	server=$(cat server)
	sleep 0.5
}

is_mounted() { [ -s server ] && grep -q mounted ready; }

# All that waits for the file system ends with its server.
cease()
{
	kill "$server"
	kill -9 $load && wait $load
	server= load=
} 2>/dev/null

now() { date +%s.%N; }

# run CASE RULES ARGUMENTS…: record for a second while these requests are not answered. Sets $took.
run()
{
	local exp=$1.er began
	printf '%s\n' "$2" >rules
	shift 2
	began=$(now)
	"$er_kernel" -o "$exp" -p high -q 0 -t 1 "$@" >out 2>err &
	pid=$!
	# No signal ends a recorder that waits for the file system; then the server must end.
	until ! kill -0 $pid || awk "BEGIN { exit !($(now) - $began > $most + 5) }"; do sleep 0.05; done 2>/dev/null
	kill -0 $pid 2>/dev/null && kill "$server" $pid
	wait $pid
	status=$?
	took=$(awk "BEGIN { print $(now) - $began }")
}

unanswered() { sed -n 's/.*"unanswered".* count="\([0-9]*\)".*/\1/p' "$1.er/recorder.xml" 2>/dev/null; }
samples() { query 'count() from packets' "$1.er"; }

most=60
# A file system that answers changes nothing. How long that takes is the measure for the others.
burn 'exec mnt/fuse_spin alpha:60'
run answers "" -F '=fuse_spin' -A copy
check_that "a file system that answers: the program's function has its name" \
	"$(seconds_of alpha e.user answers.er) > 0" "$("$er_print" -functions answers.er) $(cat err)"
check "and its archive is the file" cmp files/fuse_spin answers.er/archives/fuse_spin_*
check_that "and nothing is missing" "$(unanswered answers) + 0 == 0" "$(cat err)"
cease
usual=$took
# Patience lasts two seconds; the rest is for a busy machine.
most=$(awk "BEGIN { print 3 * $usual + 3 }")

# hung CASE: it ended in time, recorded, and named what is missing.
hung()
{
	check_that "$1: the recording ends in time" "$status == 0 && $took < $most" "status $status, $took s of $most: $(cat err)"
	check_that "$1: the load was recorded" "$(samples "$1") > 0" "$(cat err)"
	check_that "$1: the header counts what did not answer" "$(unanswered "$1") + 0 > 0" "$(cat "$1.er/recorder.xml")"
	check "$1: the recorder says so" grep -q 'did not answer in time' err
}

# Nothing answers; then all but one request.
for rules in 'LOOKUP GETATTR OPEN READ STATFS' GETATTR OPEN READ; do
	burn 'exec mnt/fuse_spin alpha:60'
	run "mapped-${rules##* }" "$rules" -F '=fuse_spin' -A copy
	hung "mapped-${rules##* }"
	cease
done
# The perf map would be there.
cp files/generated generated
burn 'mount --bind mnt /tmp && exec ./generated'
run tmp 'LOOKUP' -F '=generated'
hung tmp
cease
# An overlay hides the file system.
burn 'mount -t overlay er-overlay -o lowerdir=mnt:lower lower && exec lower/fuse_spin alpha:60'
if [ -d "/proc/$load" ] && grep -q er-overlay "/proc/$load/mountinfo"; then
	run overlay 'LOOKUP GETATTR OPEN READ' -F '=fuse_spin' -A copy
	hung overlay
else
	skip "an overlay" "there is no overlayfs here"
fi
cease
# A program lets its own address space be locked for ever, so that nobody can read its mappings, nor the
# stacks of its sleeping threads. Or a thread sleeps on a stack that nobody can read.
head -c 65536 /dev/zero | tr '\0' x >files/text
# hold PROGRAM
hold()
{
	burn "exec \"\$syn/$1\" mnt/text rules"
	soon grep -q held load.out
}
for states in off on; do
	hold lockhold
	run "lock, states $states" READ -F '=lockhold' --states $states
	hung "lock, states $states"
	cease
done
hold filestack
run filestack READ -F '=filestack'
check_that "filestack: the recording ends in time" "$status == 0 && $took < $most" "status $status, $took s of $most: $(cat err)"
cease
# It answers, but never fast.
burn 'exec mnt/fuse_spin alpha:60'
run slow 'delay=400' -F '=fuse_spin' -A copy
check_that "slow: the recording ends in time" "$status == 0 && $took < $most" "$took s of $most: $(cat err)"
cease
