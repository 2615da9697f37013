# SPDX-License-Identifier: GPL-2.0-or-later
#
# For live tests of collect as a user without privileges. Source it after live.sh. The programs are copied
# to a place that this user can reach; $collect and $syn are the copies.

setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null || skip_all "setpriv is missing"

# The build may be in a directory that others may not enter.
chmod 777 "$tmp"
mkdir bin
cp "$O/bin/collect" "$O/bin/er_clock.so" "$O/bin/er_heap.so" "$O"/tests/synprog/* bin/
chmod -R a+rX bin
collect=$tmp/bin/collect
syn=$tmp/bin
# The shared libraries of coverage and sanitizers are not for this.
ldd "$syn/fates" | grep -q asan && skip_all "the test programs have sanitizers"

as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$tmp" "$@"; }

# metric EXPERIMENT METRIC FUNCTION
metric()
{
	"$er_print" -printmode , -metrics "$2:name" -functions "$1" 2>/dev/null | csv_rows |
		awk -F'\t' -v n="$3" '$2 == n { s += $1 } END { printf "%.3f\n", s }'
}
