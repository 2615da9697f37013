# SPDX-License-Identifier: GPL-2.0-or-later
#
# For live tests that use tracefs themselves. Source it before live.sh. The recorder needs no mounted
# tracefs, so a machine may lack it. Then the test runs in a mount namespace of its own, where it has one.

tracing=/sys/kernel/tracing
if [ ! -e $tracing/uprobe_events ] && [ -z "${ER_TEST_TRACEFS:-}" ] && unshare -m true 2>/dev/null; then
	ER_TEST_TRACEFS=1 exec unshare -m sh -c 'mount -t tracefs none /sys/kernel/tracing; exec "$0" "$@"' "$0" "$@"
fi
