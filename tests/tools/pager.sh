#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A report that is longer than the terminal goes through the pager, if commands are typed.
. "$(dirname "$0")/../lib/tools.sh"
command -v script >/dev/null || { skip "a pager" "there is no script(1)"; exit 0; }
fresh
put waits.1.er waits.1.er
rm -f .er.rc

# typed ROWS PAGER COMMAND…: type the commands on a terminal with this number of rows.
typed()
{
	local rows=$1 pager=$2
	shift 2
	rm -f paged screen
	{ printf '%s\n' "$@" quit; } | PAGER=$pager TERM=xterm timeout 30 script -qec \
		"stty rows $rows cols 70; er_print waits.1.er" typescript >screen 2>&1
}

typed 12 'cat >paged' waits
grep -q 'Waits by reason' paged 2>/dev/null && ! grep -q 'Waits by reason' screen &&
	ok "a long report goes to the pager" || not_ok "a long report goes to the pager" "$(cat screen)"
check_that "lines have the width of the terminal" \
	"$(awk '{ n = length($0) > n ? length($0) : n } END { print n + 0 }' paged) <= 70" "$(cat paged)"
typed 12 'head -n 1 >paged' waits 'limit 3' functions
grep -q 'Functions sorted' screen && ok "a pager that is left early does no harm" ||
	not_ok "a pager that is left early does no harm" "$(cat screen)"
unset NO_COLOR
typed 12 'cat >paged' waits
grep -q "$(printf '\033')\[1mWaits" paged && ok "titles stand out on a terminal" ||
	not_ok "titles stand out on a terminal" "$(head -n 3 paged)"
NO_COLOR=1
export NO_COLOR
typed 12 'cat >paged' waits 'microstates'
! grep -q "$(printf '\033')" paged && ok "NO_COLOR is obeyed" || not_ok "NO_COLOR is obeyed" "$(head -n 3 paged)"
typed 200 'cat >paged' waits
[ ! -e paged ] && grep -q 'Waits by reason' screen && ok "what fits is shown as it is" ||
	not_ok "what fits is shown as it is" "$(cat screen)"
typed 12 '' waits
grep -q 'Waits by reason' screen && ok "PAGER= switches it off" || not_ok "PAGER= switches it off" "$(cat screen)"
PAGER='cat >paged' er_print -waits waits.1.er >out
[ ! -e paged ] && grep -q 'Waits by reason' out && ok "a batch has no pager" || not_ok "a batch has no pager"
