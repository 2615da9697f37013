#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# CPU time that no sample represents. There is much of it if many threads use little: it belongs to the CPU that they
# ran on, and to the mode that they were in.
. "$(dirname "$0")/../lib/live.sh"

command -v taskset >/dev/null || skip_all "taskset is not installed"

# of FIELD PATTERN REPORT…: the sum of a field over the rows of a report that match.
of()
{
	field=$1 pattern=$2
	shift 2
	"$er_print" "$@" 2>/dev/null | awk -v f="$field" -v p="$pattern" '$0 ~ p { s += $f } END { print s + 0 }'
}

# Threads that take turns on one CPU, in segments: at the end of each most threads have such time.
last=$(($(nproc) - 1))
must_record_cmd() { "$er_kernel" -q 0 "$@" >truth 2>err; }
must_record_cmd --roll 1s -o turns.1.er -g turns.erg taskset -c $last "$syn/turns" 200 4
cpu=$(awk '$1 == "cpu" { print $2 }' truth)
all=$(of 1 '<Total>' -comm turns -functions turns.erg)
check_that "all of the time is there" "$cpu > 0 && $all > 0.98 * $cpu && $all < 1.1 * $cpu + 0.1" "$all of $cpu s: $(cat err)"
if [ "$(nproc)" -gt 1 ]; then
	here=$(of 1 "CPU $last\$" -comm turns -cpus turns.erg)
	check_that "it is on the CPU that the threads ran on" "$here > 0.995 * $all" "$here of $all s"
fi

# Processes too short for a sample, in the kernel and not.
cat >loads <<'END'
i=0
while [ $i -lt 250 ]; do
	dd if=/dev/zero of=/dev/null bs=64k count=300 status=none
	i=$((i + 1))
done
END
# kernel COMM EXPERIMENT: what part of its CPU time without a sample was in the kernel.
kernel()
{
	"$er_print" -comm "$1" -metrics e.cpu:e.kcpu:name -limit 0 -functions "$2" 2>/dev/null |
		awk '/<Unsampled-CPU>/ { print $2 / $1; n = 1 } END { if (!n) print -1 }'
}
for option in "" --exact-user; do
	must_record_cmd $option -o short.1.er sh -c '. ./loads; "$0" 250 1 1' "$syn/many"
	check_that "short processes in the kernel${option:+, $option}" "$(kernel dd short.1.er) > 0.5" \
		"$("$er_print" -comm dd -metrics e.cpu:e.kcpu:name -limit 5 -functions short.1.er)"
	check_that "short processes in user mode${option:+, $option}" \
		"$(kernel many short.1.er) >= 0 && $(kernel many short.1.er) < 0.5" \
		"$("$er_print" -comm many -metrics e.cpu:e.kcpu:name -limit 5 -functions short.1.er)"
	rm -rf short.1.er
done
