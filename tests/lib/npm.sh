# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests that need packages of npm's registry; source it after tap.sh.

# need_npm PACKAGE@VERSION…: have them where node finds them, as $npm/node_modules. They are installed once
# for a build. Skips the whole file if that is impossible.
need_npm()
{
	local new
	command -v node >/dev/null && command -v npm >/dev/null || skip_all "node and npm are not installed"
	npm=$O/npm/$(printf %s "$*" | tr -c 'A-Za-z0-9.-' _)
	export NODE_PATH=$npm/node_modules
	[ ! -d "$NODE_PATH" ] || return 0
	mkdir -p "$O/npm" 2>/dev/null && new=$(mktemp -d "$O/npm/new.XXXXXX" 2>/dev/null) || new=$tmp/npm
	mkdir -p "$new"
	# In a subshell with a HOME of its own: npm writes caches and logs there.
	(cd "$new" && HOME=$new timeout 120 npm install --no-audit --no-fund --ignore-scripts \
		--loglevel=error "$@" >log 2>&1) ||
		skip_all "npm cannot install $*: $(grep -v warn "$new/log" | head -n 1)"
	if mv -T "$new" "$npm" 2>/dev/null; then
		return 0
	elif [ -d "$NODE_PATH" ]; then # another test was faster
		rm -rf "$new"
	else
		npm=$new NODE_PATH=$new/node_modules
	fi
}
