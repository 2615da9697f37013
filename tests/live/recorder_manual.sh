#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The manual page of each recorder describes every option of the usage text, and no other.
. "$(dirname "$0")/../lib/live.sh"

for program in "$er_kernel" "$O/bin/collect"; do
	name=${program##*/}
	"$program" --help | grep -oE '^  (-[A-Za-z]|--[a-z-]+)(, --[a-z-]+)?' | tr -d ' ' | tr , '\n' |
		sed 's/^-*//' | sort >usage.txt
	sed -n 's/^\.It Fl //p' "$top/docs/man/$name.1" | sed 's/ *, */\n/g' |
		sed 's/^-*//; s/ .*//' | sort >manual.txt
	check_that "$name: the usage text lists options" "$(wc -l <usage.txt) >= 20"
	cmp -s usage.txt manual.txt && ok "$name(1) describes each option" ||
		not_ok "$name(1) describes each option" "$(diff usage.txt manual.txt)"
done
