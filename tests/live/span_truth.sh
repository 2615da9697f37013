#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A server that makes 1 % of its requests slow for one cause (tests/synprog/oneslow.c): spans names the
# cause in its first row, and findings does.
# Time limit: 200 s
. "$(dirname "$0")/../lib/live.sh"

disk=$tmp
on_exit=unmount_own_disk
mount_own_disk && disk=$tmp/mnt

p=$syn/oneslow

# names_cause CAUSE "STATE, REASON": what slow requests wait for most, in the report's words
names_cause()
{
	local cause=$1 want=$2 first found
	must_record "$cause.er" -q 0 --span-limit unlimited --span "request=$p:request" -- "$p" "$cause" "$disk/$cause"
	if grep -q '^skip' record.out; then
		skip "$cause" "$(cut -f2 record.out)"
		return
	fi
	check_that "$cause: each request is counted" "$(query 'count from span' "$cause.er") == $(truth record.out requests)"
	# A disk that answers at once is no cause: then the CPU has half of the time.
	if [ "$(awk "BEGIN { print $(truth record.out cause) < 0.55 * $(truth record.out slow) }")" = 1 ]; then
		skip "$cause: the first row names it" "it took only $(truth record.out cause) of $(truth record.out slow) s here"
		return
	fi
	"$er_print" -spans "$cause.er" >spans 2>&1
	first=$(sed -n 's/.*request: slow by [0-9.]* [mu]*s of //p' spans)
	case $first in
	$want) ok "$cause: the first row names it" ;;
	*) not_ok "$cause: the first row names it" "$first; $(cat record.out spans)" ;;
	esac
	"$er_print" -findings "$cause.er" >findings 2>&1
	found=$(sed -n 's/.*Slow calls of `request` .* of their time in \([^,]*\), others .*/\1/p' findings)
	[ "$found" = "$(echo "$first" | sed 's/, /: /')" ] && ok "$cause: so does the finding" ||
		not_ok "$cause: so does the finding" "$found; $(cat findings)"
}

names_cause lock 'User Lock, user lock'
names_cause fsync 'Sleep, writeback'
names_cause fault 'Data Page Fault, page fault'
names_cause hog 'Wait CPU, preempted'
names_cause sleep 'Sleep, timer'
names_cause child 'Sleep, child'
