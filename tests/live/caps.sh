#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The recorder of an ordinary user. With file capabilities it works; without them it says what is
# missing. The load gets none of the capabilities.
. "$(dirname "$0")/../lib/live.sh"

command -v setcap >/dev/null && command -v setpriv >/dev/null ||
	skip_all "setcap or setpriv is not installed"
chmod 755 "$tmp"
install -m 755 "$er_kernel" plain
install -m 755 "$er_kernel" capable
setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep capable 2>/dev/null ||
	skip_all "this file system keeps no file capabilities"
mkdir home && chown 65534:65534 home
as_nobody() { (cd home && setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"); }

as_nobody ../plain -o no.er -t 1 >out 2>err
check_that "without capabilities: one sentence, nothing left behind" \
	"$? != 0 && $(wc -l <err) == 1 && $(ls -A home | wc -l) == 0" "$(cat err; ls -A home)"

as_nobody ../capable -o yes.er -p high -F on -q 0 -- sh -c \
	'grep CapEff /proc/self/status; id -u; '"cat /dev/zero | head -c 300000000 >/dev/null" >out 2>err
check_that "with capabilities er_kernel records" "$? == 0" "$(cat err)"
check_that "the load has no capability" "$(grep -c 'CapEff:.0000000000000000' out) == 1" "$(cat out)"
check_that "the load runs with the caller's identity" "$(grep -cx 65534 out) == 1" "$(cat out)"
check_that "the caller owns the experiment" "$(stat -c %u home/yes.er) == 65534"
got=$(function_seconds e.kcpu home/yes.er | awk -F'\t' '$2 ~ /`/ { s += $1 } END { print s + 0 }')
check_that "with capabilities kernel functions have names" "$got > 0" "$("$er_print" -functions home/yes.er | head)"

# Capabilities do not let a caller record files that the caller may not read. --check says so.
setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search+ep capable
as_nobody ../capable --check >out 2>err
check_that "--check says what is lost, with cap_dac_read_search, too" \
	"$(grep -A 3 '^no   binaries that only others may read' out |
		grep -c 'without: functions of programs that you may not read have no names') == 1" "$(cat out)"
setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep capable
"$er_kernel" --check >out 2>err
check_that "root: no file is refused" \
	"$(grep -c '^yes  binaries that only others may read' out) == 1" "$(cat out)"

# Which capabilities the recorder has while it records, as numbers. Root's recorder has these in
# effect, to read what is mapped: cap_dac_read_search 2, cap_sys_ptrace 19, cap_checkpoint_restore
# 40. An ordinary user's recorder has none in effect. It is permitted cap_sys_ptrace; cap_bpf 39,
# for unwind tables; and, for CPUs that come online, cap_perfmon 38, or cap_sys_admin 21 where the
# kernel requires that.
keeps=$((1 << 2 | 1 << 19 | 1 << 40)) ptrace=$((1 << 19)) opens=$((1 << 38 | 1 << 39))
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || opens=$((opens | 1 << 21))
too_many() { echo $((0x$(awk '$1 == "'"$2"':" { print $2 }' "/proc/$1/status") & ~$3)); }

# gives_up NAME EFFECTIVE PERMITTED EXPERIMENT COMMAND…: while er_kernel records it has no other
# capabilities.
gives_up()
{
	local name=$1 effective=$2 permitted=$3 exp=$4 pid left
	shift 4
	"$@" >out 2>err &
	pid=$!
	until [ -s "$exp/profile" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	left=$(too_many $pid CapEff $effective)$(too_many $pid CapPrm $permitted)
	kill -INT $pid
	wait $pid
	check_that "$name: ends with status 0 after capabilities were given up" "$? == 0" "$(cat err)"
	[ "$left" = 00 ] && ok "$name: gives them up" || not_ok "$name: gives them up" "left $left"
}

user="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all"
gives_up "an ordinary user" 0 $((ptrace | opens)) home/drop.er $user env --default-signal=INT \
	./capable -o home/drop.er -p high
gives_up root $keeps $((keeps | opens)) root.er env --default-signal=INT \
	"$er_kernel" -o root.er -p high

# An ordinary user gets no core file of it, which would have memory of other users' programs. Here
# setpriv has all capabilities until it starts the recorder: then the kernel would allow core files.
$user ./capable -o home/core.er -t 20 >out 2>err &
pid=$!
until [ -s home/core.er/profile ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
owner=$(stat -c %u /proc/$pid/mem)
kill $pid
wait $pid
check_that "the recorder's memory belongs to root" "${owner:-65534} == 0" "$owner; $(cat err)"

# Files that a user names are opened with the user's own rights, whatever was granted, from start to
# end: a directory, a group, a path below another process.
mkdir -m 700 closed && mkdir -m 777 closed/open
setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,cap_dac_override+ep capable
sleep 60 &
sleeper=$!
(cd closed/open && exec sleep 60) &
inside=$!
on_exit=kill_sleepers
kill_sleepers() { kill $sleeper $inside; }
until [ "$(readlink /proc/$inside/cwd)" = "$tmp/closed/open" ]; do sleep 0.02; done
for where in "-d $tmp/closed" "-d $tmp/closed/open" "-o $tmp/closed/open/x.er" \
	"-d /proc/$inside/cwd" "-d /proc/$sleeper/root/$tmp/home"; do
	(cd home && $user ../capable $where -t 0.3) >out 2>err
	status=$?
	check_that "refuses $(echo "$where" | sed "s,$tmp/,,; s,[0-9][0-9]*,PID,")" \
		"$status != 0 && $(wc -l <err) == 1 && $(ls closed/open | wc -l) == 0" "$(cat err)"
done
(cd home && $user ../capable -o group.er -g /proc/$inside/cwd/g.erg -t 0.3) >out 2>err
check_that "no group is made in another user's directory" "$? != 0 && $(ls closed/open | wc -l) == 0" "$(cat err)"

# The recorder asks no server and loads no library: either would get its privileges.
check_that "calls nothing that would run other code" \
	"$(nm -D --undefined-only "$er_kernel" | grep -cE ' (dlopen|system|popen)') == 0 &&
	$(nm "$er_kernel" | grep -c debuginfod) == 0"

# A set-user-id recorder acts for its caller, and so does the load.
mkdir open && chmod 777 open && mkdir -m 755 roots
chmod 4755 plain
setuid() { (cd open && $user ../plain "$@") >out 2>err; }
setuid -o suid.er -q 0 -- grep '^Uid:' /proc/self/status
if [ $? = 0 ]; then
	check_that "set-user-id: the load runs with the caller's identity" "$(tr -s '\t' ' ' <out | grep -cx 'Uid: 65534 65534 65534 65534') == 1" \
		"$(cat out err)"
	check_that "set-user-id: the experiment is the caller's" "$(stat -c %u open/suid.er) == 65534"
	setuid -d "$tmp/roots" -t 0.3
	check_that "set-user-id: refuses a directory that is not the caller's" \
		"$? != 0 && $(ls roots | wc -l) == 0" "$(cat err)"
	setuid -o group.er -g "$tmp/roots/g.erg" -t 0.3
	check_that "set-user-id: no group is made in another user's directory" "$? != 0 && $(ls roots | wc -l) == 0" "$(cat err)"
else
	skip "set-user-id" "not on this file system: $(head -n 1 err)"
fi
