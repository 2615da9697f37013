# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests of Python programs. Source it after live.sh.

# pythons: the interpreters here whose functions are shown, one of each release.
pythons()
{
	local minor p
	for minor in 11 12 13; do
		for p in /usr/bin/python3.$minor /usr/local/bin/python3.$minor \
			/root/.pyenv/versions/3.$minor.*/bin/python3.$minor; do
			[ -x "$p" ] && "$p" -c 'import json, threading' 2>/dev/null || continue
			echo "$p"
			break
		done
	done
}
