# SPDX-License-Identifier: GPL-2.0-or-later
#
# The environment of every test; source it first. A user's own settings, such as er_print's
# defaults and the shell's language, must not change results.

unset CDPATH COLUMNS LINES NO_COLOR PAGER DEBUGINFOD_URLS GREP_COLORS LANGUAGE POSIXLY_CORRECT
export LC_ALL=C.UTF-8 TZ=UTC TERM=dumb HOME=/nonexistent ER_SYSTEM_RC=/nonexistent
umask 022

# runs_programs DIRECTORY: whether programs can be created and run there; /tmp may be
# noexec.
runs_programs()
{
	local at=$1/er-test.$$ status
	printf '#!/bin/sh\n' 2>/dev/null >"$at" && chmod +x "$at" && "$at" 2>/dev/null
	status=$?
	rm -f "$at" 2>/dev/null
	return $status
}

# usable_dir DIRECTORY…: the first where programs run, or else the first.
usable_dir()
{
	local dir
	for dir; do
		! runs_programs "$dir" || { echo "$dir"; return; }
	done
	echo "$1"
}
