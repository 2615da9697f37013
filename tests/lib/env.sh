# SPDX-License-Identifier: GPL-2.0-or-later
#
# The environment of every test; source it first. What a user has set for himself, his
# own defaults and the language of his shell, must decide nothing.

unset CDPATH COLUMNS LINES NO_COLOR PAGER DEBUGINFOD_URLS GREP_COLORS LANGUAGE POSIXLY_CORRECT
export LC_ALL=C.UTF-8 TZ=UTC TERM=dumb HOME=/nonexistent ER_SYSTEM_RC=/nonexistent
umask 022

# runs_programs DIRECTORY: whether a program can be made and run there; /tmp may be noexec.
runs_programs()
{
	local at=$1/er-test.$$ status
	printf '#!/bin/sh\n' 2>/dev/null >"$at" && chmod +x "$at" && "$at" 2>/dev/null
	status=$?
	rm -f "$at" 2>/dev/null
	return $status
}

# The first of these that serves.
usable_dir()
{
	local dir
	for dir; do
		! runs_programs "$dir" || { echo "$dir"; return; }
	done
	echo "$1"
}
