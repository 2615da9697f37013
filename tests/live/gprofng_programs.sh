#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# gprofng's own test programs, mttest and synprog, from Debian's source package of binutils, which is
# fetched now and not part of this project. They write what each of their functions has used: collect
# must say the same. Their own check allows 0.5 s and 10 %; here it is 0.1 s and 5 %.
# Time limit: 600 s
. "$(dirname "$0")/../lib/live.sh"
collect=$O/bin/collect

# fetch: unpack the test programs to ./gprofng.
fetch()
{
	local apt
	mkdir -p parts lists/partial cache/archives/partial
	# The sources of this machine, for source packages.
	cat /etc/apt/sources.list.d/*.sources 2>/dev/null | sed 's/^Types:.*/Types: deb-src/' >parts/own.sources
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | sed -n 's/^deb /deb-src /p' >parts/own.list
	apt="-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$tmp/parts -o Dir::State::lists=$tmp/lists
		-o Dir::Cache=$tmp/cache -o APT::Sandbox::User=root -o Acquire::Retries=0 -o Acquire::http::Timeout=20"
	timeout 200 apt-get $apt update && timeout 120 apt-get $apt source --download-only binutils || return
	timeout 120 tar xf binutils_*.orig.tar.* --wildcards '*/gprofng/testsuite/gprofng.display/*' || return
	ln -s binutils-*/gprofng/testsuite/gprofng.display gprofng && [ -d gprofng/mttest ]
}
for tool in apt-get tar xz gcc; do
	command -v $tool >/dev/null || skip_all "$tool is not installed"
done
fetch >fetch.out 2>&1 || skip_all "the source package of binutils cannot be had: $(tail -n 1 fetch.out)"

# far A B SECONDS PERCENT: true if two times differ by more than both.
far() { awk -v a="$1" -v b="$2" -v s="$3" -v p="$4" 'BEGIN { d = a > b ? a - b : b - a; exit !(d > s && d * 100 > p * b) }'; }

# compare_with ACCOUNT EXPERIMENT: each function of the account. A time without a lock has no such column.
compare_with()
{
	local x total cpu lock name got
	grep '^X ' "$1" | while read -r x total cpu lock name; do
		[ -n "$name" ] || { name=$lock lock=; }
		case $name in '<'* | Name*) continue ;; esac
		got=$(seconds_of "$name" i.totalcpu "$2")
		far "$got" "$cpu" 0.1 5 && echo "$name: CPU time $got, but it counts $cpu"
		got=$(seconds_of "$name" i.total "$2")
		far "$got" "$total" 0.2 5 && echo "$name: thread time $got, but it counts $total"
		[ -n "$lock" ] || continue
		# The program's clock goes on while a thread that has the lock waits for a CPU.
		got=$(seconds_of "$name" i.lock "$2")
		far "$got" "$lock" 0.3 5 && awk "BEGIN { exit !($got > $lock || $got + $(seconds_of "$name" i.wait "$2") < $lock) }" &&
			echo "$name: wait for locks $got, but it counts $lock"
	done >wrong 2>&1
	check_that "$2: $(grep -c '^X ' "$1") functions have the times that they count themselves" \
		"$(wc -l <wrong) == 0 && $(grep -c '^X ' "$1") > 1" "$(cat wrong "$1")"
}

gcc -w -g -DBOUND -pthread gprofng/mttest/gethrtime.c gprofng/mttest/mttest.c -o mttest 2>gcc.err ||
	not_ok "mttest is built" "$(cat gcc.err)"
for job in lock_global cond_global sema_global nothreads; do
	timeout 200 "$collect" -p hi -s on -A off -o $job.er ./mttest -t 2 -b 2 -j $job >out 2>&1
	check_that "$job: it ends as it would" "$? == 0" "$(cat out)"
	compare_with mttest.acct $job.er
	rm -f mttest.acct
done

for so in so_syx so_syn; do
	gcc -w -g -fpic -shared -o $so.so gprofng/synprog/$so.c 2>>gcc.err
done
sources=$(for f in synprog callso callsx endcases fitos iosyn pagethrash stopwatch; do echo gprofng/synprog/$f.c; done)
gcc -w -g -Wl,-E -o synprog gprofng/mttest/gethrtime.c $sources -ldl -lrt 2>>gcc.err ||
	not_ok "synprog is built" "$(cat gcc.err)"
timeout 300 "$collect" -p hi -A off -o synprog.er ./synprog icpu.md.cpu.rec.gpf.nap.sys.so.sx.sched.sig.forkexec.vforkexec \
	>out 2>&1
check_that "synprog: it ends as it would" "$? == 0" "$(cat out)"
compare_with synprog.acct synprog.er
