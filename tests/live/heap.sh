#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Heap tracing (-H). The workload counts its own allocations, bytes and leaks by function; the
# recording has the same numbers, in er_print and in gprofng, with stacks that reach _start.
. "$(dirname "$0")/../lib/live.sh"

metrics=e.heapalloccnt:e.heapallocbytes:e.heapleakcnt:e.heapleakbytes
functions="before_main leak churn grow zeroed aligned map"

# rows COMMAND…: "function allocs bytes leaks leaked" of each function that a report lists.
rows()
{
	"$@" 2>/dev/null | awk 'NF == 5 && $1 ~ /^[0-9]+$/ { print $5, $1, $2, $3, $4 }'
}

# expected FILE TIMES FUNCTION…: the same, as the workload says; TIMES: how many processes did it.
expected()
{
	local file=$1 times=$2 f what
	shift 2
	for f; do
		for what in allocs bytes leaks leaked; do
			awk -F'\t' -v n="$f.$what" -v t="$times" \
				'$1 == n { printf "%d ", $2 * t }' "$file"
		done | sed "s/^/$f /; s/ \$//"
		echo
	done
}

# same NAME EXPECTED ROWS: each expected line is among the rows.
same()
{
	local missing
	missing=$(grep -vxFf "$3" "$2")
	[ -s "$2" ] && [ -z "$missing" ] && ok "$1" ||
		not_ok "$1" "expected: $missing; all rows: $(cat "$3")"
}

# compare EXPERIMENT TRUTH TIMES FUNCTION…
compare()
{
	local exp=$1 truth=$2 times=$3
	shift 3
	expected "$truth" "$times" "$@" >expected
	rows "$er_print" -metrics $metrics:name -functions "$exp" >rows
	same "$exp: allocations and leaks by function" expected rows
}

must_record plain.er -q 0 -H on "$syn/heap"
compare plain.er record.out 1 $functions
check "plain.er: has a header" "$er_print" -header plain.er
lost=$("$er_print" -header plain.er | grep -i "heap event"; grep -i "heap event" record.err)
[ -z "$lost" ] && ok "plain.er: no heap event was lost" || not_ok "plain.er: no heap event was lost" "$lost"

if command -v gprofng >/dev/null; then
	rows gprofng_text -metrics $metrics:name -functions plain.er >rows
	same "plain.er: the same in gprofng" expected rows
else
	skip "plain.er: the same in gprofng" "there is no gprofng"
fi

# Each stack has its root at the program's beginning, or where the loader called it.
"$er_print" -leaks -allocs plain.er >stacks 2>/dev/null
stacks=$(grep -c '#[0-9]' stacks)
rootless=$(awk 'BEGIN { RS = "" } /#[0-9]/ && !/ (_start|_dl_start_user|_dl_start)( |$)/' stacks)
check_that "stacks were recorded" "$stacks > 10" "$stacks"
[ -z "$rootless" ] && ok "stacks are complete" || not_ok "stacks are complete" "$rootless"

# All that the program has leaked is in use at the end; each block of churn is freed at once.
"$O/bin/collect" -p off -H on -o use.er "$syn/heap" >use.out 2>&1
"$er_print" -heapuse use.er >use 2>&1
leaked=$("$er_print" -metrics e.heapleakbytes:name -functions use.er 2>/dev/null | awk '$2 == "<Total>" { print $1 }')
in_use=$(awk '/^[0-9.]+ +[0-9]+ +[0-9]+ +[0-9]+$/ { last = $2 } END { print last }' use)
check_that "use.er: in use at the end is what was never freed" "$in_use == $leaked" "$(cat use)"
"$er_print" -metrics e.heaptempcnt:name -functions use.er 2>/dev/null >rows
check "use.er: temporary allocations" grep -qx " *$(truth use.out churn.allocs | cut -d. -f1) *churn" rows
check_that "use.er: leaks are not temporary" "$(grep -cE '[1-9] +leak$' rows) == 0" "$(cat rows)"

must_record threads.er -q 0 -H on "$syn/heap" threads
compare threads.er record.out 1 $functions hand_over

# The child is a copy: what it allocates is its own, and what it has not freed leaks again.
must_record fork.er -q 0 -H on "$syn/heap" fork
compare fork.er record.out 2 leak churn grow zeroed aligned map
compare fork.er record.out 1 before_main

# A process can be preempted after it has connected. It gets its ring all the same.
if command -v python3 >/dev/null; then
	version=$(sed -n "s/.*HEAP_VERSION = \([0-9]*\).*/\1/p" "$top/user/preload/heap_ring.h")
	must_record late.er -q 0 -H on -- python3 -c '
import os, socket, struct, sys, time
name, token = os.environ["ER_HEAP"].split()
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect("\0" + name)
time.sleep(0.3)
s.send(struct.pack("IIiI", int(sys.argv[1]), 0, 0, 0) + token.encode())
print("rings\t%d" % len(socket.recv_fds(s, 1, 4)[1]))' "$version"
	check_that "a process that is slow to say hello gets its ring" "$(truth record.out rings) == 1" "$(cat record.out record.err)"
else
	skip "a process that is slow to say hello" "python3 is not installed"
fi

# A program that an exec replaces, a static or set-uid one and a 32-bit one start as without us.
must_record sh.er -q 0 -H on sh -c "ls / >/dev/null; exec $syn/heap"
compare sh.er record.out 1 $functions

# A program that does not load the library is not passed over in silence.
printf '#include <stdlib.h>\nint main(void) { return !malloc(10); }\n' >fixed.c
if gcc -static fixed.c -o fixed 2>/dev/null && strip fixed; then
	must_record fixed.er -q 0 -H on ./fixed
	check_that "a static program without symbols: that it was not traced is said" \
		"$(grep -c -- '-H: no program was traced' record.err) == 1" "$(cat record.err)"
	"$er_print" -header full fixed.er >header 2>&1
	check "and in the experiment" grep -q -- '-H: no program was traced' header
else
	skip "a static program" "it cannot be built here"
fi

# A program that allocates nothing is traced all the same.
must_record none.er -q 0 -p off -H on "$syn/forktree" 2 2 0.01
check_that "a program without allocations: no warning" "$(grep -c 'was traced' record.err) == 0" "$(cat record.err)"
"$er_print" -heapstat none.er >stat 2>&1
check_that "and no time of a peak" "$(grep -c 'Time of peak' stat) == 0" "$(cat stat)"

# operator new, and an exception that passes through it, with glibc's malloc and others if there are any.
cat >new.cc <<'END'
#include <cstdio>
#include <new>
struct block { char bytes[100]; };
__attribute__((noinline)) void keep() { for (int i = 0; i < 50; i++) new block; }
__attribute__((noinline)) void arrays() { for (int i = 0; i < 30; i++) delete[] new block[3]; }
__attribute__((noinline)) int refused()
{
	int n = 0;
	for (int i = 0; i < 5; i++) {
		try { volatile size_t huge = ~0ul >> 2; new char[huge]; } catch (std::bad_alloc &) { n++; }
	}
	return n;
}
int main() { keep(); arrays(); printf("%d\n", refused()); keep(); }
END
if g++ -O0 new.cc -o new 2>/dev/null; then
	printf '%s\n' "keep() 100 10000 100 10000" "arrays() 30 9000 0 0" >expected
	for lib in libc.so.6 libjemalloc.so.2 libtcmalloc_minimal.so.4; do
		ldconfig -p | grep -q "$lib" || { skip "operator new with $lib" "not installed"; continue; }
		LD_PRELOAD=$lib must_record $lib.er -q 0 -H on ./new
		rows "$er_print" -metrics $metrics:name -functions $lib.er >rows
		same "operator new with $lib" expected rows
		check "exceptions of operator new with $lib" grep -qx 5 record.out
	done
else
	skip "operator new" "there is no g++"
fi

# Where children are not recorded, the program and they have the environment that the user gave. What the
# process itself executes is recorded as before, by each function of the family.
cat >exec.c <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
	char *args[] = { "env", NULL };
	switch (atoi(argv[1])) {
	case 0: return execl("/usr/bin/env", "env", NULL);
	case 1: return execlp("env", "env", NULL);
	case 2: return execle("/usr/bin/env", "env", NULL, environ);
	case 3: return execv("/usr/bin/env", args);
	case 4: return execvpe("env", args, environ);
	case 5: return fexecve(open("/usr/bin/env", O_RDONLY), args, environ);
	default: return execve(argv[2], argv + 2, environ);
	}
}
END
# environment LIST COMMAND…: what env says three times, in children and in the process itself, if it began with this
# LD_PRELOAD. Without what shells set, and without the variable of the collector API.
environment()
{
	local list=$1
	shift
	env ${list:+LD_PRELOAD=$list} "$@" sh -c 'env; ./exec 0; ./exec 6 ./exec 1; exec ./exec 5' 2>env.err |
		grep -vE '^(_|ER_COLLECTOR|OLDPWD)=' | sort
}
if gcc -D_GNU_SOURCE exec.c -o exec 2>/dev/null; then
	for list in "" libm.so.6; do
		environment "$list" >expected
		environment "$list" "$O/bin/collect" -F off -H on -s all -o env.er >rows
		check_that "-F off: the environment is as it was (LD_PRELOAD=$list)" \
			"$(grep -c ^PATH= rows) == 4 && $(cmp -s expected rows; echo $?) == 0" "$(diff expected rows; cat env.err)"
		rm -rf env.er
	done
	for how in 0 1 2 3 4 5; do
		"$O/bin/collect" -F off -H on -o family.er ./exec $how >family.out 2>&1
		n=$("$er_print" -objects family.er 2>/dev/null | grep -c '<env>')
		check_that "-F off: what exec function $how starts is recorded" "$n == 1" "$(cat family.out)"
		rm -rf family.er
	done
	"$O/bin/collect" -F off -H on -s all -o family.er ./exec 6 "$syn/heap" >family.out 2>&1
	compare family.er family.out 1 $functions
	rm -rf family.er
	"$O/bin/collect" -F off -H on -o family.er "$syn/heap" fork >family.out 2>&1
	check_that "-F off: a child's heap is not recorded" "$(find family.er -name heaptrace | wc -l) == 1" \
		"$(find family.er -name heaptrace; cat family.out)"
fi

# A program with a malloc of its own is not traced, and the recorder says so.
cat >own.c <<'END'
#include <stddef.h>
static char room[1 << 20];
static size_t used;
void *malloc(size_t n) { used += (n + 15) & ~15ul; return room + used - ((n + 15) & ~15ul); }
void free(void *p) {}
int main(void) { return !malloc(10); }
END
if gcc own.c -o own 2>/dev/null; then
	must_record own.er -q 0 -H on ./own
	check "a malloc of the program's own is reported" grep -q "whose heap was not traced" record.err
fi

# One at fixed addresses that takes malloc's address has a slot for it of its own, but the library sees its calls.
cat >slot.c <<'END'
#include <stdlib.h>
void *(*volatile take)(size_t) = malloc;
int main(void) { return !take(12345); }
END
if gcc -no-pie -fno-pie slot.c -o slot 2>/dev/null; then
	must_record slot.er -q 0 -H on ./slot
	check_that "a program that takes malloc's address is traced, and nothing else is said" \
		"$(grep -c "whose heap was not traced" record.err) == 0 &&
		 $("$er_print" -heapstat slot.er | grep -c 'Largest allocation bytes  *12345') == 1" "$(cat record.err)"
fi

# Code that is in no file, as a just-in-time compiler makes it, may allocate.
cat >generated.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
int main(void)
{
	/* push rbp; mov rsp, rbp; mov malloc, rax; mov 3000, edi; call *rax; pop rbp; ret */
	unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,
				 0xbf, 0xb8, 0x0b, 0, 0, 0xff, 0xd0, 0x5d, 0xc3 };
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *(*f)(size_t) = malloc;

	memcpy(code + 6, &f, sizeof(f));
	memcpy(at, code, sizeof(code));
	for (int i = 0; i < 7; i++)
		if (!((void *(*)(void))at)())
			return 1;
	return 0;
}
END
if gcc -O0 generated.c -o generated 2>/dev/null; then
	timeout 300 "$O/bin/collect" -H on -o generated.er ./generated 2>generated.err
	check_that "a program whose generated code allocates runs" "$? == 0" "$(cat generated.err)"
	check_that "and is traced" "$("$er_print" -leaks generated.er | grep -cE '^ +7 +21000 +Leak') == 1" \
		"$("$er_print" -leaks generated.er)"
fi

# Sampled: a block of any size stands for the bytes of its like. 16 MB in small blocks is about 32
# samples: the sum of all is within 6 standard errors.
must_record sampled.er -q 0 -H sampled "$syn/heap" sampled
rows "$er_print" -metrics $metrics:name -functions sampled.er >rows
for f in small_blocks large_blocks; do
	bytes=$(truth record.out $f.bytes)
	found=$(awk -v f=$f '$1 == f { print $3 }' rows)
	error=$("$er_print" -errors on -printmode csv -allocs sampled.er 2>/dev/null |
		awk -F, -v f=$f '{ gsub(/"/, "") } /Allocation #/ { e = $4 } $NF ~ " " f " " { print e; exit }')
	check_that "sampled.er: bytes of $f within 5 standard errors" \
		"${error:-0} > 0 && ($found - $bytes) ^ 2 < 25 * $error ^ 2 && $error < 0.5 * $bytes" "$found, $bytes, $error"
	left=$(awk -v f=$f '$1 == f { print $5 }' rows)
	check_that "sampled.er: bytes of $f" \
		"(${found:-0} - $bytes) ^ 2 < 36 * 524288 * $bytes" "$found of $bytes"
	check_that "sampled.er: leaked bytes of $f" "${left:-0} == ${found:-1}" "$left of $found"
done

for bad in "-H maybe $syn/heap" "-H on" "-H on --roll 5s $syn/heap" "-H on -F off $syn/heap"; do
	record no.er $bad && not_ok "refuses $bad" || check "refuses $bad" grep -q -- "-H" record.err
done
