#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The sentence about warnings counts recordings, as the user does. The experiments of a recording's processes are
# none, and that a killed recording was not closed is one warning.
. "$(dirname "$0")/../lib/tools.sh"

# says TEXT OPERAND…: what is said about warnings.
says()
{
	local want=$1
	shift
	er_print -threads "$@" 2>&1 >/dev/null | grep warnings >said
	check_that "$*: $want" "\"$(cat said)\" == \"er_print: $want\"" "$(cat said)"
}

fresh
"$O/tests/bench/gen_processes" killed.er 40 >/dev/null || { not_ok "an experiment is made"; exit 1; }
cp -R killed.er parts.er
check "it has an experiment for each program" test -d killed.er/_program11.1.er
sed -i '/kind="exit"/d' killed.er/log.xml
says "experiment 'killed.er' has warnings (1); see header 1" killed.er
cp -R killed.er again.er
says "2 experiments have warnings (2), experiment 'killed.er' is the first; see header" killed.er again.er
rm parts.er/_program1.1.er/log.xml
says "experiment 'parts.er' has warnings (1); see header 1" parts.er
rm parts.er/_program10.1.er/log.xml
says "experiment 'parts.er' has warnings (2); see header 1" parts.er
