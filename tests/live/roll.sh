#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Rolling recordings: segments every second under a fork storm. Nothing is counted twice or
# missed at a boundary, each segment opens by itself, and all open together.
# Time limit: 600 s
. "$(dirname "$0")/../lib/live.sh"

segments() { ls -d "$1".*.er | sort -t. -k2n; }
# sum_of STATE SEGMENT…: of threads.xml.gz, and of the packets; in seconds.
in_threads()
{
	state=$1
	shift
	threads_of "$@" | perl -ne \
		"\$n += \$1 if / $state=\"(\\d+)\"/; END { printf '%.6f', (\$n // 0) / 1e9 }"
}
in_packets()
{
	state=$1
	shift
	seconds_of '<Total>' "e.$state" "$@"
}

"$syn/contend" 20 >/dev/null 2>&1 &
contend=$!
on_exit=leave
stop_load() { kill $contend 2>/dev/null; }
leave() { stop_load; [ -z "$group" ] || rmdir "$group" 2>/dev/null; }
# The processes run in a cgroup, of which the kernel counts all CPU time. getrusage lacks what a
# process uses after its parent has been told of its end.
group=
for dir in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ ! -e $dir/cgroup.controllers ] || ! mkdir $dir/er_roll_$$ 2>/dev/null || group=$dir/er_roll_$$
done
# At least 8000 processes, and at least 3 seconds, however fast the machine is.
cat >storm <<END
${group:+echo \$\$ >$group/cgroup.procs || echo "not in the cgroup" >&2}
END
cat >>storm <<'END'
end=$(($(date +%s) + 4))
"$syn/many" 8000 50 0.5
while [ "$(date +%s)" -lt $end ]; do "$syn/many" 1000 50 0.5; done
END
stolen=$(steal)
"$er_kernel" -o s.1.er -q 0 --roll 1s -g s.erg -- sh storm >out 2>err
check_that "a rolling recording ends with status 0" "$? == 0 && $(truth out processes) >= 8000" "$(cat err)"
stolen=$(stolen_since "$stolen")
all=$(segments s)
n=$(echo "$all" | wc -l)
last=$(echo "$all" | tail -n 1)
span=$(awk "BEGIN { print $(event_time "$last" run) + $(event_time "$last" exit) - $(event_time s.1.er run) }")
check_that "a segment each second" "$n >= 2 && $n > 0.5 * $span && $n < $span + 1" \
	"$n segments in $span s: $all"
perl "$top/tests/lib/segments.pl" $all >sums 2>&1
check_that "the parts of each thread add up, and go on where they ended" \
	"$(awk '/^threads/ { print $2 }' sums) > $(truth out processes) && $(awk '/^wrong/ { print $2 }' sums) == 0" \
	"$(cat sums)"
if [ "$group" ] && ! grep -q "not in the cgroup" err; then
	want=$(awk '$1 == "usage_usec" { print $2 / 1e6 }' "$group/cpu.stat")
	got=$(threads_of $all | grep "cgroup=\"/${group##*/}\"" |
		perl -ne '$n += $1 if / run="(\d+)"/; END { printf "%.6f", $n / 1e9 }')
	most="1.01 * $want"
else
	want=$(awk "BEGIN { print $(truth out cpu) + $(truth out children-cpu) }")
	got=$(awk '$1 == "comm" && $2 == "many" { printf "%.6f", $3 / 1e9 }' sums)
	most="1.03 * $want + 0.0001 * $(truth out processes)"
fi
check_that "all segments together have the CPU time that the kernel counted" \
	"$got > 0.99 * $want && $got < $most" "got $got, kernel $want, at most $most"
for s in $(echo "$all" | awk 'NR % 5 == 1'); do
	for state in sleep wait lock; do
		want=$(in_threads $state "$s")
		got=$(in_packets $state "$s")
		check_that "$s: packets of $state are the exact total" \
			"$got - $want < 0.002 && $want - $got < 0.002" "packets $got, threads $want"
	done
	"$er_print" -header "$s" >header 2>&1
	check_that "$s: the header finds nothing wrong" "$(grep -c '\*\*\*' header) == 0" "$(cat header)"
	check_that "$s: was closed" "$(grep -ci 'not closed' header) == 0" "$(cat header)"
	check "$s: opens in gprofng" opens_in_gprofng "$s"
done
want=$(awk '/^run/ { printf "%.6f", $2 / 1e9 }' sums)
for together in "$all" s.erg; do
	got=$(seconds_of '<Total>' e.totalcpu $together)
	# A sample may have time that the hypervisor has just taken; the exact times have none of it.
	check_that "all segments together have all time on CPUs ($(echo $together | cut -c 1-5))" \
		"$got > 0.999 * $want && $got < 1.001 * $want + $stolen" "got $got of $want, stolen $stolen"
done
# The main thread of contend waits for its threads, through all segments.
for s in $(echo "$all" | sed -n 2,3p); do
	waited=$("$er_print" -filters "TID==$contend" -printmode csv -limit 1 -metrics i.lock:name -functions "$s" | awk -F, '/<Total>/ { print $1 + 0 }')
	known=$("$er_print" -filters "TID==$contend" -printmode csv -metrics i.lock:name -functions "$s" | awk -F, '/,main$/ { print $1 + 0 }')
	check_that "$s: a wait through the segment has its stack" "${waited:-0} > 0.2 && ${known:-0} > 0.99 * $waited" \
		"waited $waited, with a stack ${known:-0}"
done
# Together they are one recording.
"$er_print" -printmode csv -filters "TID==$contend" -longest s.erg >together 2>&1
check_that "a wait through all segments is one, and as long" \
	"$(awk -F, -v least="$span" 'NR > 1 && $2 > 900 * least' together | wc -l) == 1 && $(grep -c ',user lock,' together) == 1" "$(cat together)"
"$er_print" -threads s.erg >together 2>&1
tids() { grep -o "PID $contend, TID [0-9]*" together; }
check_that "a thread that ran through all segments has one row" \
	"$(tids | wc -l) >= 4 && $(tids | wc -l) == $(tids | sort -u | wc -l)" "$(grep contend together)"
"$er_print" -printmode csv -metrics e.totalcpu:name -seconds s.erg >together 2>&1
check_that "each second is one of the recording" \
	"$(grep -c 'Second of execution' together) > $span - 1 && $(grep -c 'Second of execution' together) < $span + 2" "$(cat together)"
# shellcheck disable=SC2046
"$er_print" -exact_states $(echo "$all" | sed -n '2p;4p') >together 2>&1
check "a segment that is left out is told" grep -q '^\*\*\* [0-9.]* sec. of it are in segments that are not open' together
first=$(echo "$all" | head -n 1)
check "er_cp copies a segment" "$O/bin/er_cp" "$first" copy.er
check "er_mv moves a segment" "$O/bin/er_mv" copy.er moved.er
check "a moved segment opens" "$er_print" -header -functions moved.er
check "er_rm removes a segment" "$O/bin/er_rm" moved.er
check_that "er_rm of a copied segment leaves the original" "$([ -d "$first" ] && [ ! -d moved.er ]; echo $?) == 0"
stop_load

# --- names of processes ---
# Forked, without an exec, they wait and end one after the other: the first record in their last segment is of
# their end, when /proc has their command line no more.
cat >gates <<'END'
for i in $(seq 16); do mkfifo gate$i; (read -r x <gate$i; :) & done
sleep 2.5
for i in $(seq 16); do : >gate$i; sleep 0.1; done; wait
END
"$er_kernel" -o g.1.er -q 0 --roll 1s -A off -- sh gates >/dev/null 2>err
for s in $(segments g); do zcat "$s/processes.xml.gz"; done >programs
pid=$(sed -n 's/^<process pid="\([0-9]*\)" .* command="sh gates".*/\1/p' programs | head -n 1)
grep "^<process pid=\"[0-9]*\" ppid=\"$pid\" start=\"[0-9]*\" comm=\"sh\"" programs >gated
check_that "a process has the same command line in all segments" \
	"$(wc -l <gated) >= 32 && $(grep -vc ' command="sh gates"' gated) == 0" "$(cat gated)"
pid=
rm -rf g.*.er

# --- archives: each once, shared by all segments ---
names=$(for s in $all; do ls "$s/archives"; done | sort -u | wc -l)
inodes=$(for s in $all; do ls -i "$s/archives"; done | awk '{ print $1 }' | sort -u | wc -l)
check_that "segments share their archives" "$names > 1 && $inodes == $names" \
	"$names names, $inodes files"

# --- the quota ---
# quota [ARGUMENT…]: records into the directory q in the background, with a quota that is soon used
# up. Sets $pid.
quota()
{
	mkdir -p q
	"$er_kernel" -d q -o q.1.er -q 0 -A off -p 0.2 --roll 1s --keep 1M "$@" >/dev/null 2>err &
	pid=$!
}

# end_when COMMAND…: end the recording when the command succeeds, or after a minute.
end_when()
{
	tries=0
	until "$@" || [ $((tries += 1)) -gt 600 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
	kill -INT $pid
	wait $pid
	ended=$?
	pid=
	return $ended
}

# whole SEGMENT: nothing of it is removed yet.
whole()
{
	for f in log.xml map.xml profile recorder.xml threads.xml.gz; do
		[ -e "$1/$f" ] || return 1
	done
}

# replace_closed: put a link in the place of the newest segment but one. False: the recorder does not
# have it in its list yet, or the quota removes it just now. Sets $closed, its number. The recorder
# stands still meanwhile: else it may have begun to remove the segment that is moved away.
replace_closed()
{
	kill -STOP $pid || return
	replace_closed_of_stopped
	replaced=$?
	kill -CONT $pid
	return $replaced
}
replace_closed_of_stopped()
{
	newest=0 closed=0
	for s in q/q.*.er; do
		[ -d "$s" ] || continue
		n=${s#q/q.} n=${n%.er}
		if [ "$n" -gt $newest ]; then closed=$newest newest=$n
		elif [ "$n" -gt $closed ]; then closed=$n; fi
	done
	# The recorder lists the closed segment before it writes this file into the next one.
	[ $closed -gt 0 ] && [ -e q/q.$newest.er/recorder.xml ] && whole q/q.$closed.er || return 1
	mv q/q.$closed.er aside && ln -s ../victim.er q/q.$closed.er
}
"$syn/spin" -t 2 alpha:200 >/dev/null & # 400 KB a second, with a CPU
load=$!
stop_load() { kill $load $pid 2>/dev/null; }
quota -g q.erg
until [ -d q/q.1.er ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
end_when [ ! -e q/q.1.er ]
check_that "--keep: records" "$? == 0" "$(cat err)"
check_that "--keep: the oldest segments are removed" "$([ ! -e q/q.1.er ]; echo $?) == 0 && $(ls q | wc -l) >= 1" \
	"$(ls q)"
check_that "--keep: the group lists the segments that are left" \
	"$(grep -c '^q\.' q/q.erg) == $(ls -d q/*.er | wc -l)" "$(cat q/q.erg; ls q)"
rm -rf q

# A quota that holds no experiment: the user is told once. The archive of Python makes it more than a megabyte.
timeout 20 python3 -c 'while True: pass' &
load=$!
"$er_kernel" -o tight.1.er -q 0 --roll 1s --keep 1M -t 4 >/dev/null 2>err
check_that "--keep below one experiment: says so once, and what to do" \
	"$? == 0 && $(grep -c -- '--keep is 1.*one complete experiment takes .*give --keep several' err) == 1" "$(cat err; du -s tight.*)"
kill $load
check_that "and the newest is kept" "$(segments tight | wc -l) >= 1" "$(ls)"
rm -rf tight.*.er

# Another user may put a link in the place of a segment.
mkdir victim.er && echo mine >victim.er/log.xml
quota
until replace_closed || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
end_when [ ! -e q/q.$((closed + 1)).er ]
check_that "--keep: a segment that was replaced by something else is left alone" \
	"$([ -L q/q.$closed.er ] && [ -e victim.er/log.xml ] && [ -e aside/log.xml ]; echo $?) == 0 &&
	 $(grep -c 'left alone' err) == 1" "$(cat err; ls -l q)"
rm -rf q aside
stop_load

# --- kill -9 at any moment of a rotation ---
"$syn/many" 1000000 8 0.2 >/dev/null 2>&1 &
load=$!
for i in 1 2 3; do
	"$er_kernel" -o "k.1.er" -p high --roll 1s -q 0 >/dev/null 2>err &
	pid=$!
	until [ -d "k.2.er" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.005; done
	sleep "$(awk -v seed="$i$pid" 'BEGIN { srand(seed); printf "%.3f", rand() * 0.2 }')"
	kill -9 $pid
	wait $pid 2>/dev/null
	for s in $(segments k); do
		check "killed while it begins a segment: $s opens ($i)" "$er_print" -header -functions "$s"
		# gprofng shows no sum where there is no packet yet.
		[ ! -s "$s/profile" ] || check "$s opens in gprofng ($i)" opens_in_gprofng "$s"
	done
	rm -rf k.*.er
done

# --- a full disk ---
# rolling COMMAND…: start a recorder. Sets $pid.
rolling()
{
	"$@" >/dev/null 2>err &
	pid=$!
}

mkdir small
if mount -t tmpfs -o size=2m er-test small 2>/dev/null; then
	stop_load() { kill $load $pid 2>/dev/null; cd / && umount "$tmp/small"; }
	timeout 60 "$er_kernel" -d small -o f.1.er -q 0 -p high -A off --roll 1s -t 50 >/dev/null 2>err
	status=$?
	check_that "a full disk ends a rolling recording with a failure" "$status == 1" "status $status: $(cat err)"
	check_that "a rolling recording reports a full disk" "$(grep -ciE 'no space|full' err) >= 1 && $(wc -l <err) <= 3" "$(cat err)"
	for s in $(ls -d small/f.*.er); do
		check "full disk: ${s#small/} opens" "$er_print" -header -functions "$s"
	done
	rm -rf small/*
	# The quota, two experiments while one follows the other, and what they reserve.
	mount -o remount,size=3m small
	timeout 60 "$er_kernel" -d small -o f.1.er -q 0 -p high -A off --roll 1s --keep 1M -t 10 \
		>/dev/null 2>err
	status=$?
	check_that "--keep below its size goes on" "$status == 0" "status $status: $(cat err)"

	# Other programs fill the disk for a moment, while an experiment is written.
	rm -rf small/*
	mount -o remount,size=16m small
	rolling "$er_kernel" -d small -o f.1.er -q 0 -p high -A off --roll 1s --keep 12M -g f.erg
	until [ -e small/f.3.er/recorder.xml ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	dd if=/dev/zero of=small/fill bs=64k 2>/dev/null
	until [ ! -e small/f.1.er ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	rm small/fill
	newest=$(segments small/f | tail -n 1)
	until [ "$(segments small/f | tail -n 1)" != "$newest" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	kill -INT $pid
	wait $pid
	status=$?
	check_that "a rolling recording survives a disk that is full for a moment" "$status == 0" "$(cat err)"
	check_that "it says that older experiments were removed" \
		"$(grep -vc 'lost: ' err) == 1 && $(grep -c 'older experiments are removed' err) == 1" "$(cat err)"
	check_that "and the group lists those that are left" \
		"$(grep -c '^f\.' small/f.erg) == $(segments small/f | wc -l)" "$(cat small/f.erg; ls small)"
	for s in $(segments small/f); do
		"$er_print" -header "$s" >header 2>&1
		check_that "full for a moment: ${s#small/} is whole" \
			"$(grep -cE 'ot closed|to its end' header) == 0" "$(cat header)"
	done

	# It stays full, of an experiment that takes more than the quota by itself.
	rm -rf small/*
	rolling "$er_kernel" -d small -o f.1.er -q 0 -p high -A off --roll 1s --keep 1M
	until [ -e small/f.2.er/recorder.xml ] || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
	newest=$(segments small/f | tail -n 1)
	while kill -0 $pid 2>/dev/null; do dd if=/dev/zero bs=64k 2>/dev/null >>$newest/fill; done
	wait $pid
	status=$?
	check_that "a disk that stays full ends a rolling recording" "$status == 1" "status $status: $(cat err)"
	"$er_print" -header "$(segments small/f | head -n 1)" >header 2>&1
	check_that "the newest complete experiment stays beside the one that could not be written" \
		"$(segments small/f | wc -l) >= 2 && $(grep -cE 'ot closed|to its end' header) == 0" \
		"$(ls small; cat header)"
fi

# --- wrong values ---
for wrong in "--roll 0" "--roll 60" "--roll 5x" "--roll 200" "--roll 0.1M" "--keep 2G" "--roll 1s --keep 0" \
	"--roll 600M --keep 1G" "--roll -5s" "--keep 1T --roll 1s"; do
	"$er_kernel" -t 1 $wrong >out 2>err
	status=$?
	check_that "$wrong: one sentence" "$status == 2 && $(wc -l <err) == 1" "status $status: $(cat err)"
done
