#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The manual pages: clean, and with every option that --help knows.
. "$(dirname "$0")/tap.sh"

for tool in er_kernel er_print; do
	page=$top/docs/man/$tool.1
	[ -f "$page" ] || { not_ok "$tool.1 exists"; continue; }
	if command -v mandoc >/dev/null; then
		check "$tool.1 is clean" mandoc -Tlint -Wwarning "$page"
	else
		skip "$tool.1 is clean" "mandoc is not installed"
	fi
done
