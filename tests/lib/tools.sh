# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests of the experiment tools; source it first. They need no root and no recording:
# they use the golden tests' experiments.

. "$(dirname "$0")/../lib/tap.sh"

PATH=$O/bin:$PATH
mkdir fixtures
for make in make_fixtures make_waits make_kinds make_counters make_folds make_spans make_segments; do
	[ -x "$O/tests/golden/$make" ] || { not_ok "$make is built"; exit 1; }
	"$O/tests/golden/$make" fixtures || { not_ok "$make"; exit 1; }
done

# fresh: change to a new empty directory, for put to fill.
fresh() { cd "$tmp" && chmod -R u+rwx work 2>/dev/null; rm -rf work && mkdir work && cd work; }
# put FIXTURE NAME…: copy the fixture to each of these names.
put()
{
	local from=$1 n
	shift
	for n; do cp -R "$tmp/fixtures/$from" "$n"; done
}

# refuses NAME WORDS COMMAND…: the command must fail with status 1 or 2, print one line with
# the words on standard error and nothing on standard output, and create or remove no entry
# here.
refuses()
{
	local name=$1 words=$2 status before after
	shift 2
	before=$(find . | sort)
	"$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	after=$(find . | sort)
	if [ $status -gt 0 ] && [ $status -lt 3 ] && [ "$(wc -l <"$tmp/err")" = 1 ] &&
		grep -q -- "$words" "$tmp/err" && [ ! -s "$tmp/out" ] && [ "$before" = "$after" ]; then
		ok "$name"
	else
		not_ok "$name" "$* (status $status): $(cat "$tmp/err" "$tmp/out") $after"
	fi
}

same() { check "$1" diff -r "$2" "$3"; }
