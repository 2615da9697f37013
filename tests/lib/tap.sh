# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests written in sh; source it first. A test prints one line per case,
#	ok NAME | not ok NAME | skip NAME: REASON
# and after a failure its details, in lines that begin with "#". $test is the
# file's name, $tmp its own directory, which is removed at the end.

unset CDPATH # with CDPATH cd prints the directory
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/lib/env.sh"
O=${O:-$top/.output/build}
case $O in /*) ;; *) O=$top/$O ;; esac
test=$(basename "$0" .sh)
tmp=$(mktemp -d "$(usable_dir "${TMPDIR:-/tmp}" /var/tmp "$O")/er-$test.XXXXXX") || exit 1
er_kernel=$O/bin/er_kernel
er_print=$O/bin/er_print
syn=$O/tests/synprog
failures=0

tap_cleanup()
{
	trap - EXIT
	[ -z "${on_exit:-}" ] || $on_exit
	cd / && rm -rf "$tmp"
}
trap 'tap_cleanup; exit $((failures > 0))' EXIT
trap 'exit 1' INT TERM HUP
cd "$tmp" || exit 1

ok() { echo "ok $test: $1"; }
skip() { echo "skip $test: $1: $2"; }

# not_ok NAME [DETAILS]
not_ok()
{
	failures=$((failures + 1))
	echo "not ok $test: $1"
	[ -z "${2:-}" ] || printf '%s\n' "$2" | head -n 40 | sed 's/^/#   /'
}

# check NAME COMMAND…: the command must succeed; if not, its output is shown.
check()
{
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "$* (status $?): $out"; fi
}

# check_that NAME AWK-CONDITION DETAILS…: the arithmetic condition must hold; if not, its
# numbers are shown.
check_that()
{
	if awk "BEGIN { exit !($2) }" 2>/dev/null; then ok "$1"; else not_ok "$1" "$2  ${3:-}"; fi
}

# gprofng_text OPTION…: gprofng display text. In rare runs its threads wait for each other for ever, because one is
# woken before it waits (seen with 2.40). So it is run again if it takes too long.
gprofng_text()
{
	local seconds status
	for seconds in 60 120; do
		timeout $seconds gprofng display text "$@" >"$tmp/gprofng_text"
		status=$?
		[ $status = 124 ] || break
	done
	cat "$tmp/gprofng_text"
	return $status
}

# Skip the whole file.
skip_all()
{
	echo "skip $test: $1"
	exit 0
}
