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
