#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# An ordinary user: with file capabilities the recorder serves, without them it
# says what is missing; and the load gets none of them.
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
check_that "without: one sentence, nothing left" \
	"$? != 0 && $(wc -l <err) == 1 && $(ls -A home | wc -l) == 0" "$(cat err; ls -A home)"

as_nobody ../capable -o yes.er -p high -F on -q 0 -- sh -c \
	'grep CapEff /proc/self/status; id -u; '"cat /dev/zero | head -c 300000000 >/dev/null" >out 2>err
check_that "with: records" "$? == 0" "$(cat err)"
check_that "the load has no capability" "$(grep -c 'CapEff:.0000000000000000' out) == 1" "$(cat out)"
check_that "the load is the caller" "$(grep -cx 65534 out) == 1" "$(cat out)"
check_that "the experiment is the caller's" "$(stat -c %u home/yes.er) == 65534"
got=$(function_seconds e.kcpu home/yes.er | awk -F'\t' '$2 ~ /`/ { s += $1 } END { print s + 0 }')
check_that "with names of kernel functions" "$got > 0" "$("$er_print" -functions home/yes.er | head)"

# Capabilities that a process has, besides those that it keeps to read of others:
# cap_dac_read_search 2, cap_sys_ptrace 19, cap_checkpoint_restore 40; and that it could have,
# for CPUs that come online: cap_perfmon 38, where the kernel wants that cap_sys_admin 21.
keeps=$((1 << 2 | 1 << 19 | 1 << 40)) opens=$((1 << 38))
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || opens=$((opens | 1 << 21))
too_many() { echo $((0x$(awk '$1 == "'"$2"':" { print $2 }' "/proc/$1/status") & ~$3)); }

# gives_up NAME EXPERIMENT COMMAND…: er_kernel has given up the others once it records.
gives_up()
{
	local name=$1 exp=$2 pid left
	shift 2
	"$@" >out 2>err &
	pid=$!
	until [ -s "$exp/profile" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	left=$(too_many $pid CapEff $keeps)$(too_many $pid CapPrm $((keeps | opens)))
	kill -INT $pid
	wait $pid
	check_that "$name: ends well without the capabilities that it began with" "$? == 0" "$(cat err)"
	[ "$left" = 00 ] && ok "$name: gives them up" || not_ok "$name: gives them up" "left $left"
}

gives_up "an ordinary user" home/drop.er setpriv --reuid=65534 --regid=65534 --clear-groups \
	--inh-caps=-all env --default-signal=INT ./capable -o home/drop.er -p high
gives_up root root.er env --default-signal=INT "$er_kernel" -o root.er -p high

# Where the program is set-user-id, the load still is its caller's.
install -m 4755 "$er_kernel" setuid
mkdir open && chmod 777 open
(cd open && setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
	../setuid -o suid.er -q 0 -- grep '^Uid:' /proc/self/status) >out 2>err
if [ "$(stat -c %u open/suid.er 2>/dev/null)" = 0 ]; then
	check_that "set-user-id: the load is the caller" "$(tr -s '\t' ' ' <out | grep -cx 'Uid: 65534 65534 65534 65534') == 1" \
		"$(cat out err)"
else
	skip "set-user-id: the load is the caller" "not on this file system: $(head -n 1 err)"
fi
