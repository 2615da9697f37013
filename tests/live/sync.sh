#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# collect -s with and without the clock: waits for locks are synchronization data, as gprofng has them.
# main of lockkinds waits a fifth of a second for each kind of lock.
. "$(dirname "$0")/../lib/live.sh"
collect=$O/bin/collect

# total EXPERIMENT METRIC: of <Total>.
total() { "$er_print" -printmode , -metrics "i.$2:name" -functions "$1" 2>/dev/null | awk -F'"' '$4 == "<Total>" { print $2; exit }'; }

for mode in clock none all; do
	case $mode in
	clock) set -- -s on ;;
	none) set -- -p off -s on ;;
	all) set -- -p off -s all ;;
	esac
	if ! timeout 300 "$collect" "$@" -o $mode.er "$syn/lockkinds" >$mode.out 2>$mode.err; then
		not_ok "$mode: collect $* records" "$(cat $mode.err)"
		continue
	fi
	"$er_print" -functions $mode.er >functions 2>&1
	check_that "$mode: functions shows the waits for locks by default" \
		"$(grep -c 'Sync Wait' functions) >= 1" "$(cat functions)"
	wait=$(total $mode.er sync) n=$(total $mode.er syncn)
	check_that "$mode: main waited for each kind of lock" "$wait > 0.9 && $wait < 60 && $n >= 5" "$wait s, $n waits"
	"$er_print" -locks -waits $mode.er >reports 2>&1
	check_that "$mode: locks and waits have rows" "$(grep -c 'a_mutex' reports) >= 1" "$(cat reports)"
	"$er_print" -header $mode.er >header 2>&1
	case $mode in
	clock) check_that "clock: CPU time is there" "$(grep -c 'CPU' functions) >= 1" "$(cat functions)" ;;
	*)
		check_that "$mode: there are no clock metrics but the wait for locks" \
			"$(grep -c 'CPU' functions) == 0" "$(cat functions)"
		check_that "$mode: and no packet of another state" \
			"$(query "count() from packets where MSTATE ne USER_LOCK" $mode.er/*.er $mode.er) == 0 &&
			$(query "count() from packets where MSTATE eq USER_LOCK" $mode.er/*.er $mode.er) > 0"
		check_that "$mode: the header says what was recorded" \
			"$(grep -c '^Data: Synchronization.*no clock.*waits for locks' header) == 1" "$(cat header)"
		;;
	esac
	if command -v gprofng >/dev/null; then
		for m in sync syncn; do
			theirs=$(gprofng_text -printmode , -metrics "i.$m:name" -functions $mode.er 2>/dev/null |
				awk -F'"' '$4 == "<Total>" { print $2; exit }')
			ours=$(total $mode.er $m)
			[ -n "$ours" ] && [ "$theirs" = "$ours" ] && ok "$mode: gprofng has the same $m" ||
				not_ok "$mode: gprofng has the same $m" "gprofng '$theirs', er_print '$ours'"
		done
	else
		skip "$mode: gprofng has the same" "gprofng is not installed"
	fi
done
