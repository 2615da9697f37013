#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# I/O tracing (-i). The workload counts its own calls, bytes and errors by function; the recording has
# the same numbers, in er_print and in gprofng, with stacks that reach _start.
. "$(dirname "$0")/../lib/live.sh"
collect=$O/bin/collect

metrics=i.ioreadcnt:i.ioreadbytes:i.iowritecnt:i.iowritebytes:i.ioothercnt:i.ioerrorcnt
functions="plain placed vectors sockets pipes copies failures syncs interrupted restarted waiting"

# rows COMMAND…: "function reads bytes writes bytes others errors" of each function of a report.
rows()
{
	"$@" 2>/dev/null | awk '$1 ~ /^[0-9]+$/ && NF >= 7 { print $7, $1, $2, $3, $4, $5, $6 }'
}

# expected FILE TIMES FUNCTION…: the same, as the workload says; TIMES: how many processes did it.
expected()
{
	local file=$1 times=$2 f what
	shift 2
	for f; do
		for what in reads readbytes writes writebytes others errors; do
			awk -F'\t' -v n="$f.$what" -v t="$times" '$1 == n { printf "%d ", $2 * t }' "$file"
		done | sed "s/^/$f /; s/ \$//"
		echo
	done
}

# same NAME EXPECTED ROWS: the rows have the expected numbers. A call whose stack could not be walked is
# in no function's row but in one of its own, so as many may be missing: on a slow machine the first
# calls come before the unwind tables.
same()
{
	local wrong
	wrong=$(awk 'NR == FNR { name[$1] = 1; for (i = 2; i <= 7; i++) want[$1, i] = $i; next }
		/^<(Stack-unwind-failed|Truncated-stack|Stack-lost)>/ { for (i = 2; i <= 7; i++) lost[i] += $i }
		{ for (i = 2; i <= 7; i++) got[$1, i] = $i }
		END { for (f in name) for (i = 2; i <= 7; i++)
			if (got[f, i] > want[f, i] || got[f, i] + lost[i] < want[f, i])
				print f, i, got[f, i] + 0, "not", want[f, i] }' "$2" "$3")
	[ -s "$2" ] && [ -s "$3" ] && [ -z "$wrong" ] && ok "$1" || not_ok "$1" "$wrong; all rows: $(cat "$3")"
}

# compare EXPERIMENT TRUTH TIMES FUNCTION…
compare()
{
	local exp=$1 truth=$2 times=$3
	shift 3
	expected "$truth" "$times" "$@" >expected
	rows "$er_print" -metrics $metrics:name -functions "$exp" >rows
	same "$exp: calls, bytes and errors by function" expected rows
	command -v gprofng >/dev/null || { skip "$exp: the same in gprofng" "there is no gprofng"; return; }
	rows gprofng_text -metrics $metrics:name -functions "$exp" >rows
	same "$exp: the same in gprofng" expected rows
}

# whole EXPERIMENT: nothing was lost
whole()
{
	check_that "$1: recorded and lost are what was produced" \
		"$(query 'sum(recorded+lost) from ioring' "$1") == $(query 'sum(produced) from ioring' "$1")"
	check_that "$1: nothing was lost" "$(query 'sum(lost) from ioring' "$1") == 0"
	check "$1: has a header" "$er_print" -header full "$1"
}

# traced NAME ARGUMENTS…: run the workload under collect, with a file as its descriptor 9
echo "thirty bytes of a given file.." >given.data
traced()
{
	local exp=$1
	shift
	timeout 300 "$collect" -p off -i on -o "$exp" "$syn/fileio" "$@" 9<given.data >"$exp.out" 2>"$exp.err"
	[ -d "$exp" ] || { not_ok "collect -i on records" "$(cat "$exp.err")"; exit 1; }
	whole "$exp"
}

traced one.er
compare one.er one.er.out 1 $functions given
traced threads.er threads
compare threads.er threads.er.out 1 $functions
traced fork.er fork
compare fork.er fork.er.out 2 plain placed vectors sockets pipes failures syncs

# The file of a descriptor: by its path, also of a copied descriptor, and of one that was open before.
path=$(awk -F'\t' '$1 == "file" { print $2 }' one.er.out)
truth=$(awk -F'\t' '$1 == "file" { print $3, $4, $5, $6 }' one.er.out)
by_file()
{
	"$@" -metrics e.ioreadcnt:e.ioreadbytes:e.iowritecnt:e.iowritebytes:name -ioactivity one.er 2>/dev/null
}
got=$(by_file "$er_print" | awk -v p="$path" '$5 == p { print $1, $2, $3, $4 }')
check_that "calls and bytes of a file" "\"$got\" == \"$truth\"" "$got, expected $truth"
got=$(by_file "$er_print" | awk -v p="${path%/*}/copies.data" '$5 == p { print $3, $4 }')
check_that "copied descriptors are of the same file" "\"$got\" == \"3 66\"" "$got"
got=$(by_file "$er_print" | awk -v p="$(realpath given.data)" '$5 == p { print $1, $2 }')
check_that "a file that was open before has its name" "\"$got\" == \"3 30\"" "$got"
if command -v gprofng >/dev/null; then
	got=$(by_file gprofng_text | awk -v p="$path" '$5 == p { print $1, $2, $3, $4 }')
	check_that "calls and bytes of a file in gprofng" "\"$got\" == \"$truth\"" "$got, expected $truth"
	for c in ioactivity iodetail; do
		strip='s/ (IOVFD=.*)$//; s/ (experiment [0-9]*, IOVFD=.*)$//; s/  */ /g; s/^ //'
		# gprofng has no names of files that were open before.
		gprofng_text -metrics $metrics:name -$c fork.er 2>/dev/null | sed "$strip" |
			grep '^[0-9].*\.data$' | sort >theirs
		"$er_print" -metrics $metrics:name -$c fork.er 2>/dev/null | sed "$strip" |
			grep '^[0-9].*\.data$' | grep -v given.data | sort >ours
		[ -s ours ] && cmp -s theirs ours && ok "$c: gprofng has the same rows" ||
			not_ok "$c: gprofng has the same rows" "$(diff theirs ours)"
	done
fi

# A read that waits takes as long as the workload saw.
ns=$(query "max(TSTAMP - IORQST) from calls where IONBYTE == 6 && IOTYPE == 0" one.er)
least=$(truth one.er.out waited_least) most=$(truth one.er.out waited_most)
check_that "the time of a call" "${ns:-0} >= $least && ${ns:-0} <= $most" "$ns, not $least to $most"

# Stacks are complete: each begins where the kernel or the dynamic loader starts a program or a thread.
"$er_print" -iocallstack one.er >stacks 2>/dev/null
rootless=$(awk 'BEGIN { RS = "" } /Stack #/ && !/(_start|clone3|<static>@[^ ]* \(<ld-linux.*)[^\n]*$/' stacks)
check_that "stacks were recorded" "$(grep -c 'Stack #' stacks) > 30" "$(grep -c 'Stack #' stacks)"
check_that "the recorder's own calls are not the program's" "$(grep -c '<Recording>' stacks) == 0" "$(cat stacks)"
[ -z "$rootless" ] && ok "stacks are complete" || not_ok "stacks are complete" "$rootless"

# A call that never returns is in progress at the end.
traced stuck.er stuck
"$er_print" -header full stuck.er >header 2>&1
check "a call that has not returned is counted" grep -q '^ *1 I/O call had not returned' header
compare stuck.er stuck.er.out 1 $functions

# The libraries of -H and -s all ask the recorder for memory, and the loader reads their files. That is none of the
# program's I/O: its calls are the same without them. A library that the program itself reads is read by the program.
totals() { "$er_print" -metrics $metrics:name -functions "$1" 2>/dev/null | awk '$7 == "<Total>" { $7 = ""; print }'; }
timeout 300 "$collect" -p off -i on -o bare.er true >bare.out 2>&1
timeout 300 "$collect" -p off -i on -s all -o locks.er true >locks.out 2>&1
timeout 300 "$collect" -p off -i on -H on -s all -o both.er true >both.out 2>&1
check_that "the calls of our libraries are not the program's" \
	"\"$(totals bare.er)\" == \"$(totals locks.er)\" && \"$(totals bare.er)\" != \"\"" "$(totals bare.er) $(totals locks.er)"
check_that "nor are their files" "$("$er_print" -ioactivity both.er | grep -c 'er_[a-z]*\.so') == 0"
check_that "nor their functions" \
	"$("$er_print" -functions both.er | grep -cE 'do_preload|connect_now|own_call|receive_ring|heap_ready') == 0"
whole both.er
timeout 300 "$collect" -p off -i on -H sampled -s all -o own.er "$syn/fileio" fork >own.er.out 2>own.er.err 9<given.data
compare own.er own.er.out 2 plain placed vectors sockets pipes failures syncs
timeout 300 "$collect" -p off -i on -H on -o reads.er cat "$O/bin/er_heap.so" >/dev/null 2>reads.err
got=$("$er_print" -metrics e.ioreadbytes:name -ioactivity reads.er 2>/dev/null | awk '/er_heap\.so$/ { print $1 }')
check_that "but the program's own reading of such a file is" "${got:-0} == $(stat -c %s "$O/bin/er_heap.so")" "$got"
timeout 300 "$collect" -p off -i on -o api.er "$syn/api" samples 5 >api.out 2>&1
check_that "calls of the collector API are no I/O of the program" \
	"$("$er_print" -functions api.er 2>/dev/null | grep -cE 'call_recorder|connect_recorder') == 0 &&
	 $(query "count() from event where kind eq 'sample'" api.er) >= 20" "$(cat api.out)"

# er_kernel records the same, with the clock beside it.
exec 9<given.data
must_record kernel.er -q 0 -i on "$syn/fileio"
exec 9<&-
compare kernel.er record.out 1 $functions given

# Only what is recorded is traced.
"$syn/spin" alpha:600 >/dev/null & other=$!
timeout 300 "$collect" -p on -i on -P $other -o other.er >other.out 2>other.err & recorder=$!
until "$syn/fileio" >/dev/null; [ -d other.er ]; do :; done
"$syn/fileio" >/dev/null
kill $other
wait $recorder
check_that "a process that does no I/O has none" "$(query 'count() from calls' other.er) == 0"

got=$("$collect" -i maybe true 2>&1)
check_that "a wrong word is refused" "$? != 0 && $(echo "$got" | grep -c 'write on or off') == 1" "$got"
