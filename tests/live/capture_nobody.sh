#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The capture of an ordinary user with nothing but file capabilities.
. "$(dirname "$0")/../lib/tap.sh"

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e /sys/kernel/btf/vmlinux ] || skip_all "this kernel has no BTF"
command -v setcap >/dev/null || PATH=$PATH:/usr/sbin:/sbin

chmod 755 "$tmp"
for selftest in capture_selftest target_selftest; do
	cp "$O/tests/live/$selftest" "$tmp/selftest" && chmod 755 "$tmp/selftest"
	setcap cap_bpf,cap_perfmon+ep "$tmp/selftest" 2>/dev/null ||
		skip_all "file capabilities cannot be set here"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/selftest" 2>&1 |
		sed -E "s/^(ok|not ok|skip) /&$test: /"
done
