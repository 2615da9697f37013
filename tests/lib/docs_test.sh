#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every file and function that a page of docs/ names must exist.
. "$(dirname "$0")/tap.sh"

(cd "$top" && find analysis bpf kernel_er loaders user tools tests docs Makefile -type f) >files
# howto-view.md has invented names, which contain `inner`: skip them.
for page in "$top"/docs/howto-packet.md "$top"/docs/howto-view.md "$top"/docs/architecture.md \
	"$top"/docs/howto-export.md "$top"/docs/howto-page.md "$top"/docs/testing.md "$top"/docs/start.md; do
	grep -o '`[^`]*`' "$page" | tr -d '`' | grep -v inner | sort -u >named
	gone=
	for word in $(grep -xE '[A-Za-z_./0-9]+\.(c|h|sh|md)' named); do
		grep -qE "(^|/)$word\$" files || gone="$gone $word"
	done
	grep -oxE '[a-z]+(_[a-z]+)+(\(\))?' named | tr -d '()' |
		while read -r word; do
			grep -qE "/$word\.(c|sh)\$" files ||
				grep -rqw -- "$word" "$top"/analysis "$top"/bpf "$top"/kernel_er \
					"$top"/loaders "$top"/user "$top"/tests "$top"/tools \
					"$top"/Makefile || echo "$word"
		done >unknown
	gone="$gone $(tr '\n' ' ' <unknown)"
	check_that "${page##*/}: named files and functions exist" "\"$(echo $gone)\" == \"\"" "$gone"
done
