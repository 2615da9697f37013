#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# gprofng's own recordings, of every kind of data that it records here, read by
# Debian's gprofng display text and by er_print: every command that both have
# must print the same numbers. docs/oracle.md lists what may differ, and this script removes
# each such difference by name.
. "$(dirname "$0")/../lib/tap.sh"
. "$top/tests/lib/oracle.sh"

collect_traced "-p hi -s all -H on -i on -F on" all.er

# Metrics for each kind of data. Leaks and I/O errors are included if they were recorded.
clock=totalcpu
counts="syncn heapalloccnt heapallocbytes ioreadcnt ioreadbytes iowritecnt iowritebytes ioothercnt
	ioerrorcnt"
times="sync ioreadtime iowritetime ioothertime ioerrortime"
e_counts=$(for m in $counts; do printf 'e+%s:' "$m"; done)name
# gprofng rounds each call's synchronization time to microseconds: compared below.
e_times=$(for m in totalcpu ${times#sync }; do printf 'e.%s:' "$m"; done)name

find_all_renames all.er $clock $times $counts
# The programs name ticks within the collector, which is stripped, differently.
hide="-object_hide libgp-collector.so"
for m in $clock ioothertime $counts; do
	may_be_empty=$([ $m != ioothertime ] || echo 1) # less than half a millisecond in total
	alike=$([ $m != ioothertime ] || echo times_alike)
	same_list "functions $m" csv_numbers all.er "-metrics ei.$m:name $hide -functions" \
		"-metrics ei.$m:name $hide -functions"
done
may_be_empty=
alike=times_alike
same_list "functions times" csv_numbers all.er "-metrics $e_times $hide -functions" \
	"-metrics $e_times $hide -functions"
alike=
same "callers-callees" panel_rows all.er "-metrics ei+syncn:name" -callers-callees \
	"-cmetrics a+syncn:name"
same "calltree" tree_rows all.er "-metrics ei+syncn:name" -calltree
sync_of() { "$@" -printmode , -metrics i.sync:i+syncn:name -functions all.er 2>/dev/null |
	sed -n 's/^"\([0-9.]*\)","\([0-9]*\)","'"$function"'"$/\1 \2/p'; }
for function in '<Total>' hold_lock pthread_mutex_lock; do
	set -- $(sync_of theirs) $(sync_of ours)
	# This function belongs to the collector. It has no name if the collector's library is
	# stripped.
	[ $# -gt 0 ] || [ $function != pthread_mutex_lock ] || continue
	check_that "functions sync, $function: equal except for a microsecond a call" \
		"${4:-0} > 0 && $2 == ${4:-0} && ($1 - ${3:-0})^2 < (0.0011 + $2 / 1000000)^2" "$*"
done
same "objects" object_rows all.er "" -objects

# Index objects. Threads and processes have other names and numbers, so only their rows are
# compared.
for type in CPUs Samples Seconds Datasize Duration; do
	# er_print knows the durations of allocations more exactly: see docs/oracle.md
	metrics=$e_counts
	[ $type != Duration ] || metrics=e+syncn:e+ioreadcnt:e+iowritecnt:e+ioothercnt:name
	same_list "$type counts" csv_numbers all.er "-metrics $metrics -indxobj $type" \
		"-metrics $metrics -indxobj $type"
	alike=times_alike
	same_list "$type times" csv_numbers all.er "-metrics $e_times -indxobj $type" \
		"-metrics $e_times -indxobj $type"
	alike=
done
# gprofng shows a process that did an exec as two. Only the first is compared.
for type in Threads Processes Experiment_IDs; do
	same_list "$type counts" csv_unnamed all.er \
		"-metrics $e_counts -filters 'EXPID<3' -indxobj $type" \
		"-metrics $e_counts -filters 'EXPID<3' -indxobj $type"
done

# Definitions: gprofng accepts them only in a script.
define()
{
	printf 'indxobj_define Mine "%s"\nmetrics %s\nprintmode ,\nindxobj Mine\n' "$1" "$2" >defined
	same_list "indxobj_define $1" csv_numbers all.er "-script defined" "-script defined"
}
define "CPUID*10+1" "$e_counts"
define "TSTAMP/100000000" "$e_counts"
define "EXPID" "$e_times"
define "(TSTAMP>500000000)?CPUID:-1" "$e_counts"

# Filters. In gprofng, packets that lack the property pass.
filter()
{
	local theirs_filter=$1 our_filter=${2:-$1}
	same_list "filters $1" csv_numbers all.er \
		"-metrics $e_counts -filters '$theirs_filter' -functions" \
		"-metrics $e_counts -filters '$our_filter' -functions"
}
cpus=$(theirs -metrics $e_counts -CPUs all.er | sed -n 's/.* CPU \([0-9]*\) *$/\1/p')
cpu=${cpus%%[!0-9]*}
filter "CPUID==$cpu"
filter "(CPUID IN ($cpu,9999)) || CPUID<0"
filter 'EXPID==2'
filter 'EXPID>1 && TSTAMP<60000000000'
filter '(TSTAMP>>27)%2==1'
may_be_empty=1
filter 'Seconds==0'
may_be_empty=
filter '(FNAME("use_files") SOME IN STACK)'
filter '!(FNAME("use_.*") SOME IN STACK)'
filter 'LEAF IN (FNAME("malloc"))'
filter 'LEAF IN (FNAME("malloc|read"))'
filter 'HTYPE==0' '!HAS_PROP(HTYPE) || HTYPE==MALLOC'
filter 'HSIZE>1000' '!HAS_PROP(HSIZE) || HSIZE>1000'
filter 'IOTYPE==1' '!HAS_PROP(IOTYPE) || IOTYPE==WRITE'
filter 'IOFD==3 && CPUID>=0' '(!HAS_PROP(IOFD) || IOFD==3) && CPUID>=0'

# Threads and LWPs have the same numbers in both. gprofng numbers the threads of a program after an
# exec separately, so its experiment is left out. It selects in the first experiment only.
for f in THRID==1 THRID==2 'THRID IN (3,4)' 'THRID>2' LWPID==1 'LWPID IN (2,4)'; do
	filter "EXPID<3 && ($f)"
done
for kind in thread lwp; do
	for spec in 1:1 1:2,4 1:2-3; do
		same_list "${kind}_select $spec" csv_numbers all.er \
			"-metrics $e_counts -${kind}_select $spec -functions" \
			"-metrics $e_counts -outfile /dev/null -${kind}_select $spec -outfile - -functions"
	done
done

# Selections. For gprofng a selection of CPUs is a filter, too, but it lets traced calls pass.
for spec in 1:1 1 2:1+3:all all:1; do
	may_be_empty=$([ $spec != 1:1 ] || echo 1)
	same_list "sample_select $spec" csv_numbers all.er \
		"-metrics $e_counts -sample_select $spec -functions" \
		"-metrics $e_counts -outfile /dev/null -sample_select $spec -outfile - -functions"
done
# A CPU may have only ticks and no counter packets.
may_be_empty=1
for cpu in $cpus; do
	same_list "cpu_select $cpu" csv_numbers all.er "-metrics $e_counts -filters 'CPUID==$cpu' -functions" \
		"-metrics $e_counts -outfile /dev/null -cpu_select $cpu -outfile - -functions"
done
may_be_empty=

# Load objects.
for o in "object_hide libc.so.6" "object_select traced" "object_hide all"; do
	same_list "$o" csv_numbers all.er "-metrics $e_counts -${o% *} ${o#* } -functions" \
		"-metrics $e_counts -${o% *} ${o#* } -functions"
done

# I/O by file; er_print names the experiment of a descriptor.
theirs_more='s/ (IOVFD=.*)"$/"/' ours_more='s/ (experiment [0-9]*, IOVFD=.*)"$/"/'
io=e+ioreadcnt:e+ioreadbytes:e+iowritecnt:e+iowritebytes:e+ioothercnt:e+ioerrorcnt:name
for c in ioactivity iodetail; do
	theirs -metrics $io -$c all.er | text_numbers 6 | sed "$theirs_more" | sort >theirs
	ours -printmode , -metrics $io -$c all.er | csv_numbers | sed "$ours_more" | sort >ours
	if [ -s theirs ] && cmp -s theirs ours; then
		ok "$c: $(wc -l <ours) rows are equal"
	else
		not_ok "$c: rows are equal (< gprofng, > er_print)" "$(diff theirs ours)"
	fi
done
theirs_more= ours_more=

# A group: two experiments as one report.
gprofng collect app -p off -s on -i on -F off -o more.er "$syn/traced" "$tmp/files" >/dev/null 2>&1
printf '#analyzer experiment group\nall.er\nmore.er\n' >two.erg
for c in functions CPUs Seconds; do
	same_list "group, $c" csv_numbers two.erg "-metrics $e_counts -$c" "-metrics $e_counts -$c"
done
same_list "group, filters EXPGRID" csv_unnamed two.erg \
	"-metrics $e_counts -filters 'EXPGRID==1 && EXPID>=1' -CPUs" \
	"-metrics $e_counts -filters 'EXPGRID==1 && EXPID>=1' -CPUs"
same_list "group, Experiment_IDs" csv_unnamed two.erg \
	"-metrics $e_counts -filters 'EXPID!=3' -indxobj Experiment_IDs" \
	"-metrics $e_counts -filters 'EXPID!=3' -indxobj Experiment_IDs"

# Lists of experiments and of selectable objects.
list_of() { "$@" 2>/dev/null | grep '^ *[0-9]' | awk '{ $1 = $1; print }'; }
for c in experiment_list sample_list thread_list lwp_list cpu_list; do
	list_of theirs -$c all.er >theirs
	list_of ours -$c all.er >ours
	if [ -s theirs ] && cmp -s theirs ours; then
		ok "$c: $(wc -l <ours) rows are equal"
	else
		not_ok "$c: rows are equal (< gprofng, > er_print)" "$(diff theirs ours)"
	fi
done
