#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The manual pages have no lint warnings and describe every option of --help.
. "$(dirname "$0")/tap.sh"

for program in "$O"/bin/er_* "$O"/bin/collect; do
	tool=${program##*/}
	case $tool in *.*) continue ;; esac
	page=$top/docs/man/$tool.1
	[ -f "$page" ] || { not_ok "$tool.1 exists"; continue; }
	# A page that only includes another program's page.
	source=$(sed -n 's/^\.so man1\///p' "$page")
	[ -z "$source" ] || page=$top/docs/man/$source
	missing=$("$program" --help 2>/dev/null | sed -n 's/^  -\([A-Za-z]\) .*/\1/p' | while read -r o; do
		grep -q "^\.It Fl $o\b" "$page" || echo "-$o"
	done)
	[ -z "$missing" ] && ok "$tool.1 has every option" || not_ok "$tool.1 has every option" "$missing"
	if command -v mandoc >/dev/null; then
		check "$tool.1 is clean" mandoc -Tlint -Wwarning "$page"
	else
		skip "$tool.1 is clean" "mandoc is not installed"
	fi
done
for page in "$top"/docs/man/*.[35]; do
	command -v mandoc >/dev/null || break
	check "${page##*/} is clean" mandoc -Tlint -Wwarning "$page"
done
