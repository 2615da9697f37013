# SPDX-License-Identifier: GPL-2.0-or-later
#
# For live tests: recordings of this very kernel. Source it first; it ends the
# test with a skip line where the machine, not our program, stands in the way.

. "$(dirname "$0")/../lib/tap.sh"

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e /sys/kernel/btf/vmlinux ] || skip_all "this kernel has no BTF"
command -v bpftool >/dev/null || PATH=$PATH:/usr/sbin:/sbin
bpftool prog show >/dev/null 2>&1 || skip_all "bpf(2) is not permitted here"
[ -x "$er_kernel" ] && [ -x "$er_print" ] || { not_ok "programs are built"; exit 1; }
export syn # loads that are text for sh name their programs "$syn/spin": a path may have spaces

# record EXPERIMENT ARGUMENTS…: er_kernel, its messages in $tmp/record.err.
record()
{
	local exp=$1
	shift
	"$er_kernel" -o "$exp" "$@" >record.out 2>record.err
}

# must_record: or say so and give up on the file.
must_record()
{
	record "$@" && [ -d "$1" ] && return
	not_ok "records ($*)" "$(cat record.err)"
	exit 1
}

# Seconds of a metric by function, "seconds<TAB>name" a line: function_seconds METRIC
# EXPERIMENT…; of the processes $pids (blank separated) if set: others may run the same.
function_seconds()
{
	local metric=$1
	shift
	"$er_print" -printmode , ${pids:+-filters "$(pid_filter)"} -metrics "$metric:name" \
		-functions "$@" 2>/dev/null | csv_rows
}

pid_filter() { echo "$pids" | sed "s/^ *//; s/ *\$//; s/  */ || PID==/g; s/^/PID==/"; }
pids=

# CSV lines of two columns whose first is a number: as tab separated values.
csv_rows()
{
	awk '/^"[0-9.]+",".*"$/ { sub(/^"/, ""); sub(/"$/, ""); sub(/","/, "\t"); print }'
}

# One function's seconds, 0 when it is not listed: seconds_of NAME METRIC EXPERIMENT…
seconds_of()
{
	local name=$1
	shift
	function_seconds "$@" | awk -F'\t' -v n="$name" '$2 == n { s += $1 } END { printf "%.3f\n", s }'
}

# What a workload said about itself: truth FILE NAME
truth()
{
	awk -F'\t' -v n="$2" '$1 == n { s += $2 } END { printf "%.6f\n", s }' "$1"
}

# A value of the header: header_value EXPERIMENT WORDS: the first number behind them.
header_value()
{
	"$er_print" -header full "$1" 2>/dev/null | grep -i -m1 -- "$2" |
		sed "s/.*$2//I" | grep -o -m1 '[0-9][0-9,.]*' | head -n1 | tr -d ,
}

# With a number before <Total>: for an experiment that it cannot open it prints none.
opens_in_gprofng()
{
	gprofng display text -functions "$1" 2>/dev/null | grep -qE "^ *[0-9.]+ .*<Total>"
}

# What is in experiments, by no code of ours: query 'COLUMN… from TABLE where CONDITION'
# EXPERIMENT…; query.pl says how to ask.
query() { perl "$top/tests/lib/query.pl" "$@"; }

# From CSV of e.user:e.kcpu:name, the <Total> of both: all CPU time there is, for
# our kcpu counts kernel mode wherever it was recorded.
total_cpu()
{
	awk -F'","' '$3 ~ /^<Total>/ { gsub(/"/, "", $1); print $1 + $2; exit }'
}

# Seconds from the start of an experiment to its event: event_time EXPERIMENT KIND
event_time()
{
	query "tstamp from event where kind eq '$2'" "$1" | tail -n 1
}

# The seconds that a thread, "PID" or "PID/task/TID", has had a CPU, and has had to wait for one.
cpu_of() { awk '{ print $1 / 1e9 }' "/proc/$1/schedstat"; }
runq_of() { awk '{ print $2 / 1e9 }' "/proc/$1/schedstat"; }

# CLOCK_MONOTONIC of an experiment's first packet on a CPU of a thread, and of its end:
# recorded_from_to EXPERIMENT TID
recorded_from_to()
{
	awk -v first="$(query "min(TSTAMP) from packets where ON_CPU && THRID == $2" "$1")" \
		-v start="$(event_time "$1" run)" -v end="$(event_time "$1" exit)" \
		'BEGIN { printf "%.9f %.9f\n", first / 1e9, start + end }'
}

# What a thread ran from one time to another, by the lines of cpuwatch: at least, at most.
ran_between() # FILE FROM TO
{
	awk -v from="$2" -v to="$3" '
		$1 <= from || !n { before = $2 }
		$1 >= from && !n++ { first = $2 }
		$1 <= to { last = $2 }
		{ after = $2 }
		$1 >= to { exit }
		END { printf "%.6f %.6f\n", (last > first ? last - first : 0), after - before }' "$1"
}

# Wait until a process has so many threads: wait_threads PID N
wait_threads()
{
	until [ "$(ls "/proc/$1/task" 2>/dev/null | wc -l)" -ge "$2" ] || ! kill -0 "$1" 2>/dev/null
	do sleep 0.02; done
}

# The process that a workload says it was: pid_of FILE
pid_of() { awk -F'\t' '$1 == "pid" { printf "%d\n", $2 }' "$1"; }
