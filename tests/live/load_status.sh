#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_kernel returns the load's exit status. The load keeps its own streams and identity.
. "$(dirname "$0")/../lib/live.sh"

status_is() # NAME STATUS LOAD…
{
	local name=$1 want=$2 got
	shift 2
	"$er_kernel" -o s.er -q 0 -- "$@" >out 2>err
	got=$?
	check_that "$name: status $want" "$got == $want" "got $got: $(cat err)"
	rm -rf s.er
}

status_is "a load that ends well" 0 true
status_is "a load that does not" 3 sh -c 'exit 3'
status_is "a load that is killed" 137 sh -c 'kill -9 $$'

# A file that exists and is executable, but cannot be run.
printf '#!/nowhere/interpreter\n' >script && chmod +x script
status_is "a load that cannot be run" 127 ./script
timeout 60 "$er_kernel" -o x.er -q 0 -x ./script >out 2>err
check_that "-x with a load that cannot be run ends" "$? == 127 && $(wc -l <err) == 1" "$(cat err)"

"$er_kernel" -o long.er -t 1 -- sh -c 'sleep 2; echo done; exit 5' >out 2>err
check_that "-t ends the recording, not the load" "$? == 5 && $(grep -c done out) == 1" "$(cat out err)"

echo through | "$er_kernel" -o in.er -q 0 -- cat >out 2>err
check_that "the load keeps its standard input" "$(grep -c through out) == 1" "$(cat out err)"
"$er_kernel" -o sig.er -q 0 -- grep -E 'SigBlk|SigIgn' /proc/self/status >out 2>err
grep -E 'SigBlk|SigIgn' /proc/self/status >mine
cmp -s out mine && ok "signals of the load are as ours" || not_ok "signals of the load are as ours" "$(cat out mine)"
"$er_kernel" -o fd.er -q 0 -- sh -c 'ls /proc/$$/fd; :' >out 2>err
sh -c 'ls /proc/$$/fd; :' >mine
cmp -s out mine && ok "no descriptor leaks to the load" || not_ok "no descriptor leaks to the load" "$(cat out mine)"
