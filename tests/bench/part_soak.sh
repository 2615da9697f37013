# SPDX-License-Identifier: GPL-2.0-or-later
#
# A long recording of a build server, MINUTES long (30): a compile loop, whose processes are short
# and whose executables are new each time, and two servers, each in its cgroup. It rolls every ROLL
# (10m, as the service does). SOAK_KEEP: a directory for the recording. Sourced by run.sh; only
# PARTS=soak runs it.
#
# shellcheck shell=bash

# Many small files compiled, linked and run, again and again: eight processes for each.
soak_compile()
{
	local i
	mkdir -p soak && cd soak || return
	for i in $(seq 8); do
		printf '#include <stdio.h>\n#include <stdlib.h>\nint f%s(int n) { return n < 2 ? n : f%s(n - 1) + f%s(n - 2); }\nint main(void) { printf("%%d\\n", f%s(15)); return 0; }\n' \
			"$i" "$i" "$i" "$i" >"p$i.c"
	done
	# bash prints a function (declare -f) without the tabs of its here-documents, so no line may need one.
	cat >Makefile <<'END'
PROGS := $(patsubst %.c,%.out,$(wildcard p*.c))
all: $(PROGS)
%.o: %.c; gcc -O1 -c $< -o $@
%.out: %.o; gcc $< -o $@ && ./$@ >$@.txt
clean:; rm -f *.o *.out *.txt
END
	while :; do make -s -j2 all; make -s clean; done
}

# A cgroup of the unified hierarchy. Sets $group, "" if there is none.
soak_group()
{
	local root
	group=
	for root in /sys/fs/cgroup/unified /sys/fs/cgroup; do
		[ -e $root/cgroup.controllers ] || continue
		mkdir "$root/er-soak-$1-$$" 2>/dev/null && group=$root/er-soak-$1-$$
		return
	done
}

# soak_in NAME COMMAND…: a job in a cgroup of its own.
soak_in()
{
	local name=$1
	shift
	soak_group "$name"
	groups[$name]=$group
	start bash -c '[ -z "$1" ] || echo $$ >"$1/cgroup.procs"; shift; eval "$@"' soak "$group" "$@"
}

soak_used() { awk '$1 == "usage_usec" { print $2 / 1e6 }' "$1/cpu.stat" 2>/dev/null; }

# Files of a kind, in bytes; hard links count once.
soak_bytes() { find soak.*.er -type f "$@" -printf '%i %s\n' | sort -u | awk '{ n += $2 } END { printf "%.0f\n", n }'; }

# A line: seconds since the start, RSS in MB, descriptors, MB on disk without archives.
soak_look()
{
	echo "$((SECONDS - soak_began)) $(awk '$1 == "VmRSS:" { print $2 / 1024 }' "/proc/$1/status") \
$(ls "/proc/$1/fd" | wc -l) $(calc "$(soak_bytes -not -path '*/archives/*') / 1e6" %.3f)"
}

# The share of each kind of file, largest first.
soak_shares()
{
	local name all=$1
	find soak.*.er -type f -not -path '*/archives/*' -printf '%f\n' | sort -u | while read -r name; do
		echo "$(soak_bytes -name "$name" -not -path '*/archives/*') $name"
	done | sort -rn | awk -v all="$all" '$1 / all >= 0.02 { printf "%s%s %.0f %%", n++ ? ", " : "", $2, 100 * $1 / all }'
}

# soak_growth SECONDS: how much more memory the recorder has in the last segment than at the same time of the
# segment before, MB by the hour; and the standard deviation of these differences. Memory grows within a
# segment, so a slope would depend on where the time begins and ends. Before that, caches of stacks fill.
soak_growth()
{
	awk -v roll="$1" '{ t[NR] = $1; v[NR] = $2; last = $1 } END {
		for (i = j = 1; i <= NR; i++) {
			while (j < i && t[j] < t[i] - roll) j++
			if (t[i] <= last - roll || j == i) continue
			d = v[i] - v[j]; n++; sum += d; squares += d * d }
		mean = n ? sum / n : 0
		printf "%.2f %.2f\n", mean * 3600 / roll, n ? sqrt(squares / n - mean * mean) * 3600 / roll : 0 }' soak.log
}

# soak_slope COLUMN: the slope of a column of soak.log after a sixth of its time, by the hour, and
# the change that it makes over that time, in standard deviations of what remains around the line.
soak_slope()
{
	awk -v c="$1" '{ t[NR] = $1; v[NR] = $c; last = $1 } END {
		for (i = 1; i <= NR; i++) if (t[i] >= last / 6) { n++; st += t[i]; sv += v[i] }
		mt = st / n; mv = sv / n
		for (i = 1; i <= NR; i++) if (t[i] >= last / 6) {
			a += (t[i] - mt) * (v[i] - mv); b += (t[i] - mt) ^ 2 }
		k = b ? a / b : 0
		for (i = 1; i <= NR; i++) if (t[i] >= last / 6) e += (v[i] - mv - k * (t[i] - mt)) ^ 2
		sd = sqrt(e / n)
		printf "%.2f %.2f\n", k * 3600, sd ? k * last * 5 / 6 / sd : 0 }' soak.log
}

# soak_cgroup NAME FROM TO: CPU time of the cgroup by the kernel and in the recording.
soak_cgroup()
{
	local got want
	want=$(calc "$3 - $2" %.3f)
	got=$(zcat soak.*.er/threads.xml.gz | perl -ne 'BEGIN { $g = shift }
		$n += $1 if / cgroup="\/\Q$g\E"/ && / run="(\d+)"/; END { printf "%.3f", ($n // 0) / 1e9 }' \
		"${groups[$1]##*/}")
	row "CPU time of the cgroup '$1'" "within 1 % of cpu.stat" "$got s of $want s" \
		"$got > 0.99 * $want && $got < 1.01 * $want"
}

bench_soak()
{
	local minutes=${MINUTES:-30} roll=${ROLL:-600} pid name peak slope sd bytes archives
	local -A groups from to
	step "a recording of $minutes minutes"
	"$er_kernel" -o soak.1.er -q 0 --roll "${roll}s" --status soak.prom >soak.out 2>soak.err &
	pid=$!
	until [ -s soak.prom ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
	soak_began=$SECONDS
	soak_in compile "$(declare -f soak_compile); soak_compile"
	soak_in redis "redis-server --port 6390 --save '' & sleep 0.5; redis-benchmark -p 6390 -l -q -t get,set"
	until [ $((SECONDS - soak_began)) -ge $((minutes * 60)) ] || ! kill -0 $pid 2>/dev/null; do
		soak_look $pid
		sleep 5
	done >soak.log
	stop_jobs
	sleep 1
	for name in "${!groups[@]}"; do [ -z "${groups[$name]}" ] || to[$name]=$(soak_used "${groups[$name]}"); done
	stop_recorder $pid
	peak=$(awk '$2 > m { m = $2 } END { print m }' soak.log)
	row "memory of the recorder, at most" "100 MB" "$(calc "$peak" %.1f) MB" "$peak <= 100"
	read -r slope sd < <(soak_growth "$roll")
	row "… more than a segment before, in the last one" "zero within its noise" \
		"$slope MB an hour, standard deviation $sd" "$slope <= 2 * $sd"
	read -r slope sd < <(soak_slope 3)
	row "open descriptors" "flat" "$(awk 'NR == 1 { a = $3 } $3 > m { m = $3 } END { print a " at first, at most " m ", " $3 " at the end" }' soak.log), $slope an hour" "$sd < 2"
	bytes=$(soak_bytes -not -path '*/archives/*')
	archives=$(soak_bytes -path '*/archives/*')
	read -r slope sd < <(soak_slope 4)
	row "bytes on disk, without archives, after $(calc "$minutes / 6" %.1f) minutes" "100 MB an hour" \
		"$slope MB an hour ($(soak_shares "$bytes")), and archives of $(calc "$archives / 1e6" %.1f) MB" \
		"$slope <= 100"
	row "processes" "" "$(awk '$1 == "er_kernel_processes_total" { print $2 }' soak.prom) with packets, \
$(zcat soak.*.er/threads.xml.gz | perl -ne '$n += / count="(\d+)"/ ? $1 : / born="1"/; END { print $n }') threads born" 1
	for name in "${!groups[@]}"; do
		[ -z "${groups[$name]}" ] || soak_cgroup "$name" 0 "${to[$name]}"
		[ -z "${groups[$name]}" ] || rmdir "${groups[$name]}"
	done
	[ -z "${SOAK_KEEP:-}" ] || cp -r soak.log soak.err soak.*.er "$SOAK_KEEP"
}

section "A long recording" soak
alone+=(soak)
