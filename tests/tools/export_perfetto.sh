#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to perfetto: protoc decodes the traces with a subset of Perfetto's own definitions.
# Their content must equal er_print's.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"

command -v protoc >/dev/null || skip_all "protoc is not installed: apt-get install protobuf-compiler"

# trace EXPERIMENT OPTIONS…: export, and decode into `text`. A field that the definitions lack
# is decoded as a number.
trace()
{
	er_export --to perfetto -o t.gz "$@" 2>err && zcat t.gz >t &&
		protoc -I"$top/tests/tools" --decode perfetto.protos.Trace perfetto.proto <t >text 2>>err
}

# One line for each packet of a kind, with its fields as NAME=VALUE.
packets()
{
	awk -v kind="$1" '
		/^packet/ { line = ""; is = 0; next }
		/^}/ { if (is) print line; next }
		$1 == kind && $2 == "{" { is = 1 }
		/: / { name = $1; sub(/^ *[a-z0-9_]*: /, ""); line = line " " name $0 }' text
}

# raw FIELD EXPERIMENT: the sum of a field over recorded waits, without remainders.
raw()
{
	er_export "$2" | awk -v want="$1" '/^packet.* WLEN=/ {
		for (i = 3; i <= NF; i++) { split($i, a, "="); f[a[1]] = a[2] }
		if (int(f["WFLAGS"] / 32) % 2 == 0) n += f[want] } END { printf "%.0f\n", n }'
}

# The CPU time of samples: the last count of each CPU.
samples_ns()
{
	packets perf_sample | awk '{ cpu = ""; for (i = 1; i <= NF; i++) {
		if ($i ~ /^cpu:/) cpu = $i; if ($i ~ /^timebase_count:/) last[cpu] = substr($i, 16) } }
		END { for (c in last) n += last[c]; printf "%.0f\n", n }'
}

# The time in slices, each from its beginning to the next end on its track.
slices_ns()
{
	packets track_event | awk '{ for (i = 1; i <= NF; i++) {
			if ($i ~ /^timestamp:/) t = substr($i, 11); if ($i ~ /^track_uuid:/) track = $i }
		if (/TYPE_SLICE_/) { if (t < last[track]) bad = 1; last[track] = t }
		if (/TYPE_SLICE_BEGIN/) { if (track in begun) bad = 1; begun[track] = t }
		if (/TYPE_SLICE_END/) { if (!(track in begun)) bad = 1; n += t - begun[track]; delete begun[track] } }
		END { for (i in begun) bad = 1; printf "%.0f\n", bad ? -1 : n }'
}

export_fixtures
for e in w s t cut bad; do
	trace $e.er
	check_that "$e: protoc decodes it, and knows every field" "$? == 0 &&
		$(grep -cE '^ *[0-9]+[:{ ]' text) == 0 && $(grep -c '^packet' text) > 5" "$(cat err)"
	cpu=$(total cpu $e.er)
	[ "$cpu" ] || cpu=$(total totalcpu $e.er)
	check_that "$e: the samples' time is the CPU time" "$(samples_ns) == $cpu" "$(samples_ns) $cpu"
done
# In this fixture the waits of the other threads overlap, which cannot happen in a real recording.
for pid in 20 40; do
	trace -pid $pid w.er
	check_that "slices are the recorded waits: PID $pid" "$(slices_ns) == $(total sleep -pid $pid w.er) && $(slices_ns) > 0"
done
trace w.er
check_that "slices do not overlap" "$(slices_ns) > 3500000000"
check_that "the waits' weights are the time that they represent" "$(packets track_event |
	sed -n 's/.*callstack_weight: *\([0-9.e+]*\).*/\1/p' | awk '{ n += $1 } END { printf "%.0f", n }') == \
	$(raw NTICK w.er) * 1e6"
packets track_event >events
check_that "a wait has its reason, state, holder, waker and stack" \
	"$(grep TYPE_SLICE_BEGIN events | grep '"user lock"' | grep '"User Lock"' | grep 'worker (TID 14)' | grep -c callstack_iid) == 3" \
	"$(cat events)"
arrows() { grep -oE " $1:[0-9]+" events | sed 's/.*://' | sort; }
arrows flow_ids >from
arrows terminating_flow_ids >to
check "each arrow has a beginning and an end" cmp from to
check_that "there are arrows" "$(wc -l <from) > 5"
check_that "an interrupted thread is no waker" "$(grep -c '"wakes crond' events) == 0"
check_that "every stack, frame, function and file is defined when it is used" "$(awk '
	/^    [a-z_]+ \{/ { kind = $1 }
	/^ +iid: / { defined[kind, $2] = 1 }
	/ frame_ids: / { used["frames", $2] = 1 }
	/ function_name_id: / { used["function_names", $2] = 1 }
	/ mapping_id: / { used["mappings", $2] = 1 }
	/ path_string_ids: / { used["mapping_paths", $2] = 1 }
	/ callstack_iid: / { used["callstacks", $2] = 1 }
	/^}/ { for (u in used) { n++; if (!(u in defined)) bad++ }; split("", used) }
	END { print bad + (n < 50) }' text) == 0"
check_that "frames go from the root to the leaf" "$(awk '
	/^    [a-z_]+ \{/ { kind = $1; n = 0 }
	kind == "function_names" && / iid: / { id = $2 }
	kind == "function_names" && / str: / { name[id] = $2 }
	kind == "frames" && / iid: / { id = $2 }
	kind == "frames" && / function_name_id: / { frame[id] = name[$2] }
	kind == "callstacks" && / frame_ids: / { at[++n] = frame[$2]
		if (n == 3 && at[1] == "\"main\"" && at[2] == "\"serve\"" && at[3] == "\"parse\"") ok = 1 }
	END { print ok + 0 }' text) == 1"

# TID 20 has a packet for each of its waits, so it runs from 200 to 400 and from 600 to 800 ms. TID
# 12 to 14 have sampled waits, so nothing is said about them.
packets ftrace_events | sed 's/ *\(prev\|next\)_prio:[0-9]*//g' >sched
# switch MS FROM STATE TO
switch() { grep -c "timestamp:1000$1000000 .*prev_pid:$2 .*prev_state:$3 .*next_pid:$4 " sched; }
check_that "switches" "$(grep -c prev_pid sched) == 5 && $(switch 200 0 0 20) == 1 && $(switch 400 20 1 0) == 1 &&
	$(switch 600 0 0 20) == 1 && $(switch 800 20 1 0) == 1" "$(cat sched)"
check_that "wakings name the waker; an interrupt's is marked" \
	"$(grep -c 'timestamp:1000600000000 pid:12 .*comm:"client" pid:20 ' sched) == 1 &&
	$(grep -c 'pid:0 common_flags:8 .*comm:"crond"' sched) == 1" "$(cat sched)"
check_that "threads with gaps are left out, with a message" "$(grep -cE 'pid:1[234]$|_pid:1[234] ' sched) == 0 &&
	$(grep -c '4 of 6 threads have waits without an event' err) == 1" "$(cat sched err)"
check_that "threads and processes have names" "$(packets process_tree | grep -c 'cmdline:"app".*tid:13 name:"worker" tgid:12') == 1" \
	"$(packets process_tree)"
check_that "a kernel thread is a process" "$(packets process_tree | grep -c 'pid:5 cmdline:"kworker/0:1" is_kthread:true') == 1"
trace -from 300ms -to 700ms w.er
check_that "a time range" "$(samples_ns) == $(total cpu -from 300ms -to 700ms w.er) && $(samples_ns) > 0 &&
	$(packets track_event | grep -c 'Exported with the filter: TSTAMP >= 300ms') == 1"
check_that "a thread that the range cuts has no switches" "$(packets ftrace_events | grep -c prev_pid) == 0"
trace cut.er
check_that "a killed recording is said to be" "$(packets track_event | grep -c 'was not closed') == 1"
trace bad.er
check_that "no control characters" "$(grep -c 'x1b]0:owned\|x1b]0;owned' text) == 1 && $(tr -d '\n' <text | grep -c '[[:cntrl:]]') == 0"
sed -i 's/lost="0"/lost="7"/' s.er/recorder.xml 2>/dev/null
printf '<ring cpu="1" produced="10" recorded="3" lost="7"/>\n' >>s.er/recorder.xml
trace s.er
check_that "losses of a CPU" "$(packets perf_sample | grep -c 'cpu:1 kernel_records_lost:7') > 0"
