#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Processes in their own namespaces: programs that exist only there, two of them
# under one path; process IDs of the host; cgroups; a recorder in a container.
. "$(dirname "$0")/../lib/live.sh"

unshare --fork --pid --mount-proc true 2>/dev/null || skip_all "namespaces cannot be made"

# contained PROGRAM ARGUMENTS…: run a copy from its own file system, /mnt/er/$prog. The
# name is unique to this test, because another checkout may run its tests at the same time.
export prog=prog$$
cat >contained <<'END'
mount -t tmpfs er-test /mnt && mkdir /mnt/er && cp "$1" "/mnt/er/$prog" || exit 1
shift
cd / && exec "/mnt/er/$prog" "$@"
END
cgroups=
# Version 2, alone or together with version 1.
for dir in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ ! -e $dir/cgroup.procs ] || [ ! -e $dir/cgroup.controllers ] || cgroups=$dir
done
on_exit=leave
leave() { [ -z "$cgroups" ] || rmdir "$cgroups/er_test_$$" 2>/dev/null; }
[ -z "$cgroups" ] || mkdir "$cgroups/er_test_$$" 2>/dev/null || cgroups=

cat >load <<END
( ${cgroups:+sh -c 'echo \$PPID' >$cgroups/er_test_$$/cgroup.procs}
  exec unshare --fork --pid --mount-proc sh "$tmp/contained" "$syn/spin" alpha:1 >one ) &
unshare --fork --pid --mount-proc sh "$tmp/contained" "$syn/sysload" zero:1 >two &
wait
END
must_record both.er -p high -q 0 -- sh ./load
"$er_print" -processes both.er >list 2>&1
pids=$(sed -n 's/.* '$prog', PID //p' list | tr '\n' ' ')
check_that "two processes, with the numbers of the host" \
	"$(echo "$pids" | wc -w) == 2 && $(echo " $pids" | grep -c ' 1 ') == 0" "$(cat list)"
near() { check_that "$1" "($2 - $3)^2 <= (0.02 * $3 + 0.003)^2" "got $2, truth $3"; }
near "a function of the first" "$(seconds_of alpha i.totalcpu both.er)" "$(truth one alpha)"
near "a function of the second, which has its name" \
	"$(seconds_of load_zero i.totalcpu both.er)" "$(truth two zero)"
check_that "the files of both containers are archived" "$(ls both.er/archives | grep -c "^${prog}_") == 2" "$(ls both.er/archives)"

if [ -n "$cgroups" ]; then
	got=$("$er_print" -printmode , -filters "CGROUP==\"/er_test_$$\"" -metrics i.totalcpu:name \
		-functions both.er 2>/dev/null | csv_rows)
	near "the filter CGROUP keeps what was in it" \
		"$(echo "$got" | awk -F'\t' '$2 == "alpha" { print $1 }')" "$(truth one alpha)"
	check_that "the filter CGROUP leaves out what ran elsewhere" "$(echo "$got" | grep -c load_zero) == 0" "$got"
else
	skip "the filter CGROUP" "no cgroup of version 2 can be made"
fi

unshare --fork --pid --mount-proc "$er_kernel" -o inside.er -t 0.3 >out 2>err
check_that "a recorder in a container says that process numbers differ" \
	"$? == 0 && $(wc -l <err) == 1 && $(grep -c 'process numbers of the host' err) == 1" "$(cat err)"
check_that "the experiment of a recorder in a container says that process numbers differ" \
	"$("$er_print" -header full inside.er | grep -c 'Collector Warning: process numbers of the host') == 1" \
	"$("$er_print" -header full inside.er | head -n 4)"
for option in "-T 1" --no-self; do
	unshare --fork --pid --mount-proc "$er_kernel" -o refused.er $option -t 0.3 >out 2>err
	check_that "a recorder in a container refuses $option, which would select another process" \
		"$? == 1 && $(wc -l <err) == 1 && $(ls -d refused.er 2>/dev/null | wc -l) == 0" "$(cat err)"
done

pids=
# A container of a user without privileges: its processes are root in a user namespace only.
unprivileged="setpriv --reuid=65534 --regid=65534 --clear-groups unshare --user --map-root-user --mount"
cat >usernamespace <<'END'
mount -t tmpfs er-test /mnt && cp "$(command -v perl)" "/mnt/$prog" && cd / && exec "/mnt/$prog" -e '
	sub f { my $n = shift; $n < 2 ? $n : f($n - 1) + f($n - 2) } my $end = (times)[0] + shift;
	f(16) while (times)[0] < $end' "$1"
END
in_user() { $unprivileged --fork --pid --mount-proc sh -c "$(cat usernamespace)" sh "$1"; }
if in_user 0 2>err; then
	must_record user.er -F "=^$prog\$" -p high -q 0 -- $unprivileged --fork --pid --mount-proc sh -c \
		"$(cat usernamespace)" sh 1
	in_time "user namespace" user.er "$prog"
	complete=$(complete_of user.er "$prog" cpu)
	check_that "user namespace: stacks on CPUs are complete" "$complete >= 97" \
		"$complete; $("$er_print" -unwinding user.er)"
	named=$(seconds_of Perl_runops_standard i.user user.er) # it ran for 1 s
	check_that "user namespace: functions of a file that only it has are named" \
		"$named >= 0.9 - $(late_of user.er "$prog")" "$named of 1 s"
else
	skip "user namespace" "cannot be made: $(head -n 1 err)"
fi

# From Linux 6.8 on /proc/PID/maps shows other inodes for overlayfs than the mapped files have. Root's
# overlay is of the whole file system. An ordinary user's is of /usr, because mounts below it are
# not allowed.
cat >overlaid <<'END'
lower=/ run="chroot /mnt/root /usr/bin/perl"
[ "$2" = root ] || lower=/usr run=/mnt/root/bin/perl
mount -t tmpfs er-test /mnt && mkdir /mnt/up /mnt/work /mnt/root || exit 1
mount -t overlay -o "lowerdir=$lower,upperdir=/mnt/up,workdir=/mnt/work" er-test /mnt/root || exit 1
[ "$2" != root ] || mount --bind /dev /mnt/root/dev || exit 1
exec $run -e '
	sub f { my $n = shift; $n < 2 ? $n : f($n - 1) + f($n - 2) }
	my $end = (times)[0] + shift; f(16) while (times)[0] < $end' "$1"
END
# overlay NAME USER COMMAND…: the command runs programs from an overlay. Some of the processes run
# before the recording begins.
overlay()
{
	local name=$1 user=$2 complete
	shift 2
	"$@" sh -c "$(cat overlaid)" sh 0 $user 2>err || {
		skip "$name" "cannot be mounted: $(head -n 1 err)"
		return
	}
	"$@" sh -c "$(cat overlaid)" sh 100 $user &
	sleep 0.5
	must_record "$name.er" -p high -q 0 -- "$@" sh -c "$(cat overlaid)" sh 1 $user
	kill $! 2>/dev/null
	in_time "$name" "$name.er" perl
	complete=$(complete_of "$name.er" perl cpu)
	check_that "$name: stacks on CPUs are complete" "$complete >= 97" \
		"$complete; $("$er_print" -unwinding "$name.er")"
}
overlay overlayfs root unshare --mount
overlay "overlayfs in a user namespace" nobody $unprivileged
