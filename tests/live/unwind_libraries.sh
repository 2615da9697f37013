#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Libraries that are loaded one after the other at the same address, in processes that also fork and
# execute themselves. Each record with a library's function must have a time at which this library
# was loaded. The times of the records decide, not the sums: the CPU time of a sample includes what
# the thread ran before it, and that may have been in the library before.
. "$(dirname "$0")/../lib/live.sh"

command -v gcc >/dev/null || skip_all "gcc is not installed"
source=$top/tests/fixtures/source
flags="-O1 -w -D_GNU_SOURCE -I$top -fomit-frame-pointer -fno-optimize-sibling-calls"
for i in 0 1 2; do
	gcc $flags -DFRAME=$((24 + 1000 * i)) -DFUNCTION=lib$i "$source/frames_library.c" -shared -fPIC \
		-o lib$i.so 2>gcc.err || skip_all "gcc: $(head -n 1 gcc.err)"
done
gcc $flags "$source/libraries.c" -o libraries 2>gcc.err || skip_all "gcc: $(head -n 1 gcc.err)"

# Other processes keep the CPUs busy, so that the recorder is late.
cat >load <<'END'
for i in 1 2 3 4; do ./libraries 12 ./lib0.so ./lib1.so ./lib2.so >out$i & done
"$syn/many" 300 8 0.2 >/dev/null
wait
END
must_record lib.er -A off -F '=^libraries$' -p high -q 0 -- sh ./load
cat out? >calls
start=$(event_time lib.er run)

# calls_of LIBRARY: a filter for the times of its calls. before_end: for all times before the end of
# each process's last call. Later records are the remainders of totals.
calls_of()
{
	awk -v start="$start" -v lib="$1" '$2 == lib {
		printf "%s(PID==%d && TSTAMP>=%.0f && TSTAMP<=%.0f)", (n++ ? "||" : ""), $1,
			$3 - start * 1e9, $4 - start * 1e9 }' calls
}
before_end()
{
	awk -v start="$start" '{ if ($4 > end[$1]) end[$1] = $4 } END { for (pid in end)
		printf "%s(PID==%d && TSTAMP<=%.0f)", (n++ ? "||" : ""), pid, end[pid] - start * 1e9 }' calls
}

# seconds FILTER: the time of all records that it keeps, on CPUs and in waits; 0 if it keeps none.
seconds()
{
	printf 'filters "%s"\nmetrics e.total:name\nlimit 1\nfunctions\n' "$1" >script
	"$er_print" -printmode , -script script lib.er 2>err | csv_rows |
		awk -F'\t' 'NR == 1 { print $1 + 0 } END { if (!NR) print 0 }'
}

for i in 0 1 2; do
	has="FNAME('lib$i') SOME IN STACK"
	inside=$(seconds "$has && ($(calls_of $i))")
	outside=$(seconds "$has && !($(calls_of $i)) && ($(before_end))")
	check_that "library $i: $inside s while it was loaded, $outside s at other times" \
		"$inside > 0 && $outside == 0" "$(cat err)"
done
