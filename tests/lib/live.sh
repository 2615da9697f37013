# SPDX-License-Identifier: GPL-2.0-or-later
#
# For live tests, which record on this kernel. Source it first. If the machine cannot run
# such tests, it skips the whole file with the reason.

. "$(dirname "$0")/../lib/tap.sh"

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e /sys/kernel/btf/vmlinux ] || skip_all "this kernel has no BTF"
command -v bpftool >/dev/null || PATH=$PATH:/usr/sbin:/sbin
bpftool prog show >/dev/null 2>&1 || skip_all "bpf(2) is not permitted here"
[ -x "$er_kernel" ] && [ -x "$er_print" ] || { not_ok "programs are built"; exit 1; }
export syn # loads given as sh text use "$syn/spin"; the path may have spaces

# Mount a small file system of the test's own at $tmp/mnt. Fails if that is not permitted here.
# Its reads go to the disk and not to the page cache of the image, where the file system below can
# do that; otherwise a read hardly waits.
mount_own_disk()
{
	local dev
	truncate -s 96M image && mkfs.ext4 -q image && mkdir mnt || return
	if dev=$(losetup --direct-io=on -f --show image) && mount "$dev" mnt; then
		losetup -d "$dev" # when it is unmounted
	else
		[ -z "$dev" ] || losetup -d "$dev"
		mount -o loop image mnt
	fi
} 2>/dev/null

unmount_own_disk()
{
	cd / && { umount "$tmp/mnt" || umount -l "$tmp/mnt"; }
} 2>/dev/null

# record EXPERIMENT ARGUMENTS…: run er_kernel; its messages are in $tmp/record.err.
record()
{
	local exp=$1
	shift
	"$er_kernel" -o "$exp" "$@" >record.out 2>record.err
}

# must_record EXPERIMENT ARGUMENTS…: the same; a failure ends the whole file.
must_record()
{
	record "$@" && [ -d "$1" ] && return
	not_ok "records ($*)" "$(cat record.err)"
	exit 1
}

# function_seconds METRIC EXPERIMENT…: a metric's seconds by function, a line each:
# "seconds<TAB>name". If $pids (blank separated) is set, only for these processes, as others
# may run the same program.
function_seconds()
{
	local metric=$1
	shift
	"$er_print" -printmode , ${pids:+-filters "$(pid_filter)"} -metrics "$metric:name" \
		-functions "$@" 2>/dev/null | csv_rows
}

pid_filter() { echo "$pids" | sed "s/^ *//; s/ *\$//; s/  */ || PID==/g; s/^/PID==/"; }
pids=

# Convert CSV lines of a number and a name to tab-separated values.
csv_rows()
{
	awk '/^"[0-9.]+",".*"$/ { sub(/^"/, ""); sub(/"$/, ""); sub(/","/, "\t"); print }'
}

# seconds_of NAME METRIC EXPERIMENT…: one function's seconds; 0 if it is not listed.
seconds_of()
{
	local name=$1
	shift
	function_seconds "$@" | awk -F'\t' -v n="$name" '$2 == n { s += $1 } END { printf "%.3f\n", s }'
}

# truth FILE NAME: a value that a workload printed about itself.
truth()
{
	awk -F'\t' -v n="$2" '$1 == n { s += $2 } END { printf "%.6f\n", s }' "$1"
}

# header_value EXPERIMENT WORDS: the first number after these words in the header.
header_value()
{
	"$er_print" -header full "$1" 2>/dev/null | grep -i -m1 -- "$2" |
		sed "s/.*$2//I" | grep -o -m1 '[0-9][0-9,.]*' | head -n1 | tr -d ,
}

# Whether gprofng prints a number before <Total>. It prints none for an experiment that it
# cannot open.
opens_in_gprofng()
{
	gprofng_text -functions "$1" 2>/dev/null | grep -qE "^ *[0-9.]+ .*<Total>"
}

# query 'COLUMN… from TABLE where CONDITION' EXPERIMENT…: read experiments independently of
# our own code; see query.pl.
query() { perl "$top/tests/lib/query.pl" "$@"; }

# threads_of EXPERIMENT…: the lines of threads.xml.gz. Its end is missing while the recorder runs.
threads_of()
{
	local e
	for e; do gzip -dc "$e/threads.xml.gz" 2>/dev/null; done
}

# longest EXPERIMENT: the longest time between two samples of a thread, in seconds. On a busy machine it is
# 0.2 s. What lies between two samples is told at the second one, or not at all if there is none. Half a
# second is a thread that has no samples.
longest() { query 'max(NTICK/1e6) from packets where ON_CPU && NTICK < 400000' "$1"; }

# All CPU time: the sum of both <Total>s, from CSV of e.user:e.kcpu:name. Our kcpu counts
# kernel mode wherever it was recorded.
total_cpu()
{
	awk -F'","' '$3 ~ /^<Total>/ { gsub(/"/, "", $1); print $1 + $2; exit }'
}

# event_time EXPERIMENT KIND: seconds from the experiment's start to this event.
event_time()
{
	query "tstamp from event where kind eq '$2'" "$1" | tail -n 1
}

# The seconds that a thread ("PID" or "PID/task/TID") ran, and that it waited for a CPU.
cpu_of() { awk '{ print $1 / 1e9 }' "/proc/$1/schedstat"; }
runq_of() { awk '{ print $2 / 1e9 }' "/proc/$1/schedstat"; }

# steal: the seconds that the hypervisor took from all CPUs so far, by the kernel's own figure
steal() { awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu" { print $9 / hz }' /proc/stat; }
# stolen_since S: the seconds that it took since `steal` printed S
stolen_since() { awk "BEGIN { print $(steal) - $1 }"; }

# recorded_from_to EXPERIMENT TID: CLOCK_MONOTONIC of the thread's first packet on a CPU,
# and of the experiment's end.
recorded_from_to()
{
	awk -v first="$(query "min(TSTAMP) from packets where ON_CPU && THRID == $2" "$1")" \
		-v start="$(event_time "$1" run)" -v end="$(event_time "$1" exit)" \
		'BEGIN { printf "%.9f %.9f\n", first / 1e9, start + end }'
}

# ran_between FILE FROM TO: the least and the greatest time that a thread ran between two
# times, from cpuwatch's lines.
ran_between()
{
	awk -v from="$2" -v to="$3" '
		$1 <= from { before = $2; seen = 1 }
		$1 >= from && !n++ { first = $2; if (!seen) before = $2 - ($1 - from) }
		$1 <= to { last = $2 }
		{ after = $2; at = $1 }
		$1 >= to { exit }
		END {
			if (at < to) after += to - at
			printf "%.6f %.6f\n", (last > first ? last - first : 0), after - before
		}' "$1"
}

# wait_threads PID N: wait until the process has at least N threads, or is gone.
wait_threads()
{
	until [ "$(ls "/proc/$1/task" 2>/dev/null | wc -l)" -ge "$2" ] || ! kill -0 "$1" 2>/dev/null
	do sleep 0.02; done
}

# Whether a stack was cut because the program's unwind table, or its mappings, were not known yet. Only
# the upper part of a deep stack is copied then.
came_late="(end eq 'no unwind table yet' || end =~ 'not be looked up' || end =~ '^deeper than what')"

# late_of EXPERIMENT PROGRAM: the CPU seconds of such stacks.
late_of()
{
	query "sum(ns/1e9) from walk where program eq '$2' && of eq 'cpu' && $came_late" "$1"
}

# complete_of EXPERIMENT PROGRAM cpu|waits: the percentage of complete stacks among all others.
complete_of()
{
	query "sum(complete*ns) sum(ns) from walk where program eq '$2' && of eq '$3' && !$came_late" "$1" |
		awk '{ print $2 ? 100 * $1 / $2 : 0 }'
}

# in_time NAME EXPERIMENT PROGRAM: the table came within 2 % of the program's CPU time, and the time
# that the recorder waited for a CPU.
in_time()
{
	local late=$(late_of "$2" "$3") waited=$(recorder_waited "$2")
	local all=$(query "sum(ns/1e9) from walk where program eq '$3' && of eq 'cpu'" "$2")

	check_that "$1: the table comes in time" "$late <= 0.02 * $all + $waited" "late for $late of $all s"
}

# recorder_waited EXPERIMENT: the seconds that the recorder's own threads waited for a CPU. So long
# tables may come later on a busy machine.
recorder_waited() { query 'sum(wait/1e9) from thread where comm =~ "Recording"' "$1"; }

# pid_of FILE: the process ID that a workload printed.
pid_of() { awk -F'\t' '$1 == "pid" { printf "%d\n", $2 }' "$1"; }

# programs_in EXPERIMENT…: the text of processes.xml.gz. A killed recorder leaves no end of the format.
programs_in()
{
	local e
	for e; do gzip -dc "$e/processes.xml.gz" 2>/dev/null; done
}

# experiment_of PID EXPERIMENT: the sub-experiment with the packets of the process's last program.
experiment_of()
{
	programs_in "$2" | grep "^<process pid=\"$1\" " |
		sed 's/.* begin="\([0-9]*\)".* experiment="\([^"]*\)".*/\1 \2/; s/.* experiment="/0 /; s/"\/>$//' |
		sort -n | tail -n 1 | cut -d' ' -f2
}
