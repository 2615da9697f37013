#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs in the virtual machine of run.sh: probes on functions, returns, USDT and tracepoints count what
# the program says it did.
. /bin/guest.sh

p=$(command -v probed)
er_kernel -o p.er -q 0 --probe "$p:target(1:int)" --probe "usdt:$p:probed:passed" --probe "end=$p:target%return" \
	--probe-counts "above=$p:target if arg1 > 100" --probe tp:sched:sched_process_fork -- "$p" 300 2 2 >out 2>err
says "records probes" "$? == 0" "$(cat err)"
of() { awk -v n="$1" '$1 == n { print $2 }' out; }
hits() { sed -n "s/^<probe name=\"$1\".* hits=\"\([0-9]*\)\".*/\1/p" p.er/recorder.xml; }
says "each call is a hit" "$(hits target) == $(of target)" "$(hits target)"
says "each return is a hit" "$(hits end) == $(of target)" "$(hits end)"
says "each pass of a USDT probe is a hit" "$(hits passed) == $(of target) && $(of watched) == $(of target)" \
	"$(hits passed), $(of watched) with the semaphore"
says "a filter counts what passes it" "$(hits above) == $(of above)" "$(hits above)"
says "the tracepoint counts forks" "$(hits sched_process_fork) >= 4" "$(hits sched_process_fork)"
er_print -printmode , -metrics i.target:name -functions p.er >functions 2>err
got=$(awk -F'","' '$2 == "caller_b\"" { sub(/^"/, "", $1); print $1 }' functions)
says "stacks lead to the caller" "${got:-0} == $(of caller_b)" "$got; $(head -n 8 functions)"
