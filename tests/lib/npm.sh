# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests that need packages of npm's registry; source it after tap.sh.

# need_npm PACKAGE@VERSION…: install them into $npm, for node to require. Skips the whole file
# if that is impossible.
need_npm()
{
	command -v node >/dev/null && command -v npm >/dev/null || skip_all "node and npm are not installed"
	npm=$tmp/npm
	mkdir "$npm"
	# In a subshell with a HOME of its own: npm writes caches and logs there.
	(cd "$npm" && HOME=$npm timeout 120 npm install --no-audit --no-fund --ignore-scripts \
		--loglevel=error "$@" >log 2>&1) ||
		skip_all "npm cannot install $*: $(grep -v warn "$npm/log" | head -n 1)"
	export NODE_PATH=$npm/node_modules
}
