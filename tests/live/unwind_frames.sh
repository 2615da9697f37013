#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks in a recording, compared with known chains of calls: deep recursion, realigned stacks,
# signal handlers on their own stack, threads, vfork, PLT entries, the vdso, calls that never
# return, generated code while mappings change, libraries that are loaded one after the other at
# the same address, and assembly without unwind information. The programs are dynamic, static,
# static-PIE, and linked with musl. A stack may be cut if it says so at its root. It may never be
# wrong.
. "$(dirname "$0")/../lib/live.sh"

command -v gcc >/dev/null || skip_all "gcc is not installed"
source=$top/tests/fixtures/source
flags="-O1 -w -D_GNU_SOURCE -I$top -fomit-frame-pointer -fno-optimize-sibling-calls -pthread"
seconds=0.4

# library NAME FRAME FUNCTION FLAGS…; program BUILD COMPILER ARGUMENTS…
library() { gcc $flags "-DFRAME=$2" "-DFUNCTION=$3" "$source/frames_library.c" "${@:4}" -o "$1"; }
program() { $2 $flags "$source/frames.c" "${@:3}" -o "fr_$1" 2>gcc.err; }

library touch.so 24 small -shared -fPIC && library small.so 24 small -shared -fPIC &&
	library large.so 3000 large -shared -fPIC && library touch.o 24 small -c ||
	skip_all "gcc does not build libraries"

# build, case, least share of complete stacks, and the chain in the form of chain.pl
cases()
{
	cat <<-'END'
		dyn plain 0.97 main;case_plain;deep*3;burn_all;burn
		dyn deep 0.97 main;case_deep;deep*500;burn_all;burn
		dyn deeper 0 main;case_deeper;deep*700;burn_all;burn
		dyn aligned 0.97 main;case_aligned;aligned;variable;burn_all;burn
		dyn signal 0.97 main;case_signal;~;on_same_stack;~;on_own_stack;deep*2;burn_all;burn
		dyn thread 0.97 thread;deep*2;burn_all;burn
		dyn vfork 0.97 main;case_vfork;burn_all;burn
		dyn plt 0.97 main;case_plt;nothing@plt
		cf plt 0.97 main;case_plt;nothing@plt
		now plt 0.97 main;case_plt;nothing
		dyn vdso 0.97 main;case_vdso;clock_gettime;.*\[vdso\].**n
		dyn noreturn 0.97 main;case_noreturn;ends_in_call;never_returns;burn_all;burn
		dyn dlopen 0.97 main;case_dlopen;loaded;(small|large);burn
		dyn jit 0.97 main;case_jit;<Unknown>;burn_all;burn
		dyn asmcall 0.97 main;case_asmcall;no_entry_calls;burn_all;burn
		dyn asmloop 0.97 main;case_asmloop;run_loops;no_entry_loops
		dyn barecall 0 none;no_size_calls;burn_all;burn
		dyn bareloop 0 none;no_size_loops
		st plain 0.97 main;case_plain;deep*3;burn_all;burn
		st signal 0.97 main;case_signal;~;on_same_stack;~;on_own_stack;deep*2;burn_all;burn
		st thread 0.97 thread;deep*2;burn_all;burn
		st vfork 0.97 main;case_vfork;burn_all;burn
		sp plain 0.97 main;case_plain;deep*3;burn_all;burn
		sp signal 0.97 main;case_signal;~;on_same_stack;~;on_own_stack;deep*2;burn_all;burn
		sp thread 0.97 thread;deep*2;burn_all;burn
		musl plain 0 main;case_plain;deep*3;burn_all;burn
		musl signal 0 main;case_signal;~;on_same_stack;~;on_own_stack;deep*2;burn_all;burn
		musl thread 0.97 thread;deep*2;burn_all;burn
		musls plain 0 main;case_plain;deep*3;burn_all;burn
		go deep 0.97 main.main;main.deep*3;main.burn
	END
}

program dyn gcc ./touch.so -Wl,-z,lazy -g || skip_all "gcc: $(head -n 1 gcc.err)"
program cf gcc ./touch.so -fcf-protection -Wl,-z,lazy,-z,ibtplt
program now gcc ./touch.so -Wl,-z,now -fno-plt
program st gcc -DNO_DLOPEN touch.o -static
program sp gcc -DNO_DLOPEN touch.o -static-pie
if command -v musl-gcc >/dev/null; then
	program musl musl-gcc -DNO_DLOPEN touch.o
	program musls musl-gcc -DNO_DLOPEN touch.o -static
fi

# Go programs have only .debug_frame, compressed.
if command -v go >/dev/null; then
	cat >main.go <<-'END'
		package main

		import "time"

		var sink int

		//go:noinline
		func burn(end time.Time) {
			for time.Now().Before(end) {
				for i := 0; i < 1000000; i++ {
					sink += i
				}
			}
		}

		//go:noinline
		func deep(n int, end time.Time) {
			if n > 1 {
				deep(n-1, end)
			} else {
				burn(end)
			}
			sink++
		}

		func main() { deep(3, time.Now().Add(1500*time.Millisecond)) }
	END
	HOME=$tmp GO111MODULE=off go build -o fr_go main.go 2>gcc.err
fi

# Its loader's library path does not include the tests' directory, so libraries are named by a path.
while read -r build name share chain; do
	[ ! -e "fr_$build" ] || { cp "fr_$build" "fr_${build}_$name" && echo "fr_${build}_$name"; }
done < <(cases) >programs
# The first program is not judged: the tables of libraries are built while it runs.
cp fr_dyn fr_first_plain
must_record frames.er -F '=fr_.*' -p high -q 0 -- sh -c \
	"./fr_first_plain 0.5; while read -r p; do ./\$p $seconds ./small.so ./large.so >\$p.out; done <programs"

# complete PROGRAM: percentage of its waits with complete stacks, by the recorder's own count.
complete()
{
	"$er_print" -printmode , -unwinding frames.er |
		awk -F'","' -v p="$1" '{ gsub(/^"|"$/, "") } $5 == p { print $4 + 0 }'
}

# burnt BUILD CASE CHAIN: the least time of stacks with the chain's last function: what the program
# says that it burnt there. Where it calls a short function in a loop, or prints no time, a few stacks
# suffice.
burnt()
{
	case $3 in
	*\;burn) awk "BEGIN { print 0.95 * $(truth "fr_$1_$2.out" "$2") }" ;;
	*) echo 0.01 ;;
	esac
}

late=0
while read -r build name share chain; do
	program=fr_${build}_$name
	[ -e "$program" ] || { skip "$build $name" "cannot be built here"; continue; }
	for e in frames.er/_"$program"_PID_*.er; do
		"$O/bin/er_export" --to folded -o - --metric totalcpu "$e" 2>/dev/null
	done | tee "$program.folded" | perl "$top/tests/lib/chain.pl" "$chain" >chain
	read -r whole cut wrong <chain
	# Stacks that came before the table are judged together below.
	early=$(late_of frames.er "$program")
	late=$(awk "BEGIN { print $late + $early }")
	check_that "$build $name: $whole s whole, $cut cut, $wrong wrong" \
		"$wrong == 0 && $whole >= $share * ($whole + $cut - $early) - 0.000001 &&
		$whole + $cut >= $(burnt "$build" "$name" "$chain")" \
		"before the table: $early s; $(tail -n +2 chain; head -n 5 "$program.folded" | cut -c1-200)"
	[ "$share" != 0 ] || check_that "$build $name: no stack claims to be complete" "$whole == 0"
done < <(cases)

all=$(query 'sum(ns/1e9) from walk where program =~ "^fr_" && of eq "cpu"' frames.er)
check_that "tables come within 2 % of the time, and the time that the recorder waited for a CPU" \
	"$late <= 0.02 * $all + $(recorder_waited frames.er)" "late for $late of $all s"

# vfork keeps its return address in a register, and no frame of it has the parent's registers.
check_that "vfork: the waits of both have complete stacks" "$(complete fr_dyn_vfork) >= 97" \
	"$(complete fr_dyn_vfork)"
# The lock of the mappings is often held by the other thread. Such stacks are copied, and walked in
# user space through the generated code.
lost=$(grep -c 'program="fr_dyn_jit".* end="address in no mapping"' frames.er/recorder.xml)
check_that "jit: no walk loses its way in generated code" "$lost == 0" \
	"$(grep 'program="fr_dyn_jit"' frames.er/recorder.xml)"
# Which of the two libraries a stack is in is judged by unwind_libraries.sh, by the times of records.
# Sums cannot show it: a sample's CPU time begins at the thread's sample before.
for lib in small large; do
	check_that "dlopen: stacks are in $lib" "$(grep -c ";$lib;burn" fr_dyn_dlopen.folded) > 0" \
		"$(cut -c1-200 fr_dyn_dlopen.folded)"
done
check_that "dlopen: the second library was at the first one's address" \
	"$(truth fr_dyn_dlopen.out same-place) == 1"
