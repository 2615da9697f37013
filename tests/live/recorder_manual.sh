#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The manual page describes every option of the usage text, and no other.
. "$(dirname "$0")/../lib/live.sh"

"$er_kernel" --help | grep -oE '^  (-[A-Za-z]|--[a-z-]+)(, --[a-z-]+)?' | tr -d ' ' | tr , '\n' |
	sed 's/^-*//' | sort >usage.txt
sed -n 's/^\.It Fl //p' "$top/docs/man/er_kernel.1" | sed 's/ *, */\n/g' |
	sed 's/^-*//; s/ .*//' | sort >manual.txt
check_that "the usage text lists options" "$(wc -l <usage.txt) >= 20"
cmp -s usage.txt manual.txt && ok "er_kernel(1) describes each option" ||
	not_ok "er_kernel(1) describes each option" "$(diff usage.txt manual.txt)"
