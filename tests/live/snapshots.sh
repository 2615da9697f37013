#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The exact states between two usage samples (snapshots.xml.gz, exact_states), compared with threads
# that know when they computed and slept, and with the totals of all threads.
# Time limit: 200 s
. "$(dirname "$0")/../lib/live.sh"

# adds_up NAME EXPERIMENT…: all that was written of each thread is its total, to the nanosecond.
adds_up()
{
	local name=$1 e wrong=
	shift
	for e; do
		perl "$top/tests/lib/snapshots.pl" "$e" >sums 2>&1
		grep -q '^wrong 0$' sums && grep -q '^threads [1-9]' sums || wrong="$wrong$e: $(cat sums)
"
	done
	[ -z "$wrong" ] && ok "$name" || not_ok "$name" "$wrong"
}

must_record e.1.er -q 0 "$syn/phases" 5
grep '^[as]' record.out >truths
adds_up "the records of each thread add up to its total" e.1.er
start=$(sed -n 's/.*<event kind="run" tstamp="\([0-9.]*\)".*/\1/p' e.1.er/log.xml)

# exact FROM TO THREAD: seconds by the report: from and to as it chose them, total, CPU, sleep.
exact()
{
	"$er_print" -printmode , -from "$1" -to "$2" -exact_states e.1.er >exact.out 2>exact.err
	"$er_print" -from "$1" -to "$2" -limit 2 -exact_states e.1.er 2>/dev/null | grep '^Exact,' >>exact.out
	awk -F'","' -v tid="TID $3\"\$" '
		/^"?Total/ { for (i = 1; i <= NF; i++) if ($i ~ /^"?Sleep/) sleep = i; next }
		/usage sample at/ { match($0, /sample at [0-9.]+/); from = substr($0, RSTART + 10, RLENGTH - 10)
			match($0, /that at [0-9.]+/); to = substr($0, RSTART + 8, RLENGTH - 8) }
		$0 ~ tid { gsub(/"/, ""); split($0, f, ","); total = f[1]; cpu = f[2]; asleep = f[sleep] }
		END { print from, to, total + 0, cpu + 0, asleep + 0 }' exact.out
}

# The CPU time between two moments by the thread's own notes: between two notes it is interpolated.
for kind in alternate short; do
	tid=$(awk -F'\t' -v k=$kind '$1 == k { print $2; exit }' truths)
	wrong=
	for from in 1 2 3; do
		exact ${from}s $((from + 1))s "$tid" >figures
		result=$(awk -F'\t' -v k=$kind -v start="$start" '
			FILENAME == "figures" { split($0, f, " "); next }
			$1 == k { n++; at[n] = $3 - start; cpu[n] = $4 }
			function cpu_at(t, i) {
				for (i = 2; i <= n && at[i] < t; i++);
				return cpu[i-1] + (cpu[i] - cpu[i-1]) * (t - at[i-1]) / (at[i] - at[i-1])
			}
			END {
				want = cpu_at(f[2]) - cpu_at(f[1])
				off = f[4] - want
				# A note is up to 10 ms from its neighbours; asleep for 200 ms between two.
				bad = off > 0.03 || off < -0.03
				bad = bad || f[3] - (f[2] - f[1]) > 0.02 || f[3] - (f[2] - f[1]) < -0.02
				bad = bad || (k == "alternate" && (f[5] < 0.2 || f[5] > 0.7))
				print (bad ? "BAD" : "good"), "own notes", want, "report", f[1], f[2], f[3], f[4], f[5]
			}' figures truths)
		case $result in good*) ;; *) wrong="$wrong$result
$(cat exact.out exact.err)
" ;; esac
	done
	[ -z "$wrong" ] && ok "$kind: each second has the CPU time that the thread noted" ||
		not_ok "$kind: each second has the CPU time that the thread noted" "$wrong"
done

# A thread that sleeps all the time has records in the first and the last snapshot only.
sleeper=$(gzip -dc e.1.er/snapshots.xml.gz | grep -c '[ "]0/2[,+]')
check_that "a thread that does nothing writes nothing" "$sleeper <= 3" "$sleeper records of kthreadd"

# Rolling, a pause, one program, with exact user time: the sums hold in each experiment.
must_record r.1.er -q 0 --roll 1s "$syn/phases" 3
adds_up "so they do in each segment of a rolling recording" r.*.er
must_record t.1.er -q 0 --exact-user "$syn/many" 300 20 0.5
adds_up "with exact user time and short-lived threads" t.1.er
"$O/bin/collect" -o c.1.er "$syn/phases" 2 >c.out 2>c.err
adds_up "of one program, by collect" c.1.er
size=$(perl "$top/tests/lib/snapshots.pl" e.1.er | awk '/^records/ { n = $2 } /^bytes/ { print $2 / n }')
check_that "a record has at most 100 bytes" "$size <= 100" "$size bytes"
