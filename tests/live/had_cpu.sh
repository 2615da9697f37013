#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Which thread had the CPU that others waited for. Beside three threads that compute, one on the same CPU runs for
# microseconds each millisecond. The scheduler prefers it, so many waits end just after it has run. But it had the CPU
# only while it ran, and three threads waited meanwhile at most.
. "$(dirname "$0")/../lib/live.sh"

command -v taskset >/dev/null || skip_all "taskset is not installed"
cpu=$(($(nproc) - 1))
spins=
on_exit=stop_load
stop_load() { kill $spins ${ticker:-} 2>/dev/null; }
for i in 1 2 3; do
	taskset -c $cpu "$syn/spin" alpha:30 >/dev/null &
	spins="$spins $!"
done
taskset -c $cpu perl -e 'select(undef, undef, undef, 0.001) while 1' &
ticker=$!
sleep 0.3

# had PATTERN: the seconds of the waits of `spin` in which a thread of this name had the CPU.
had()
{
	"$er_print" -comm spin -printmode , -limit 0 -runqueue had.er 2>/dev/null | tr -d '"' | awk -F, -v name="$1" '
		/Who had the CPU:/ { inside = 1; next }
		/Who waited:/ { inside = 0 }
		inside && $NF ~ name { s += $1 }
		END { print s + 0 }'
}

cpu_of() { awk '{ print $1 / 1e9 }' "/proc/$1/schedstat"; }
before=$(cpu_of $ticker)
must_record had.er -q 0 -t 5
ran=$(awk "BEGIN { print $(cpu_of $ticker) - $before }")
all=$(had .) of_it=$(had perl)
check_that "they waited for the CPU" "$all > 5" "$all s"
check_that "a thread that ran shortly had the CPU shortly" "$of_it <= 3 * $ran + 0.02 * $all && $ran > 0" \
	"it had the CPU for $of_it of $all s that three waited, and ran for $ran s"
check_that "the others had it most of the time" "$(had spin) > 4 * $of_it" "$(had spin) s, $of_it s"
