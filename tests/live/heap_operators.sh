#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Heap tracing by breakpoints (-H on with -P) of allocators whose operator new does not call malloc:
# jemalloc, tcmalloc, and one that the test builds. Its program counts what it allocates, with exceptions that
# operator new throws. Statically linked, libstdc++'s calls malloc and counts once.
. "$(dirname "$0")/../lib/live.sh"
[ -x "$O/bin/collect" ] || skip_all "collect was not built"
command -v g++ >/dev/null || skip_all "g++ is not installed: apt-get install g++"

collect=$O/bin/collect
metrics=i.heapalloccnt:i.heapallocbytes:i.heapleakcnt:i.heapleakbytes

cat >ops.cc <<'END'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unistd.h>

#define FUNCTION extern "C" __attribute__((noinline))
struct block { char bytes[100]; };
struct alignas(64) wide { char bytes[192]; };
static void *volatile sink;
static volatile size_t huge = ~0ul >> 2;

FUNCTION void keep() { for (int i = 0; i < 500; i++) sink = new block; }
FUNCTION void arrays() { for (int i = 0; i < 300; i++) { block *b = new block[3]; sink = b; delete[] b; } }
FUNCTION void wides() { for (int i = 0; i < 40; i++) sink = new wide; wide *w = new wide; sink = w; delete w; }
FUNCTION void nothrow() { for (int i = 0; i < 70; i++) sink = new (std::nothrow) block; }
FUNCTION void mixed() { for (int i = 0; i < 20; i++) { sink = malloc(77); void *m = malloc(33); sink = m; free(m); sink = new char[55]; } }
/* The frame of the call that has thrown is below this one's, and its words stay as they were. */
FUNCTION void deep(int n)
{
	char room[400];
	sink = room;
	if (n) { deep(n - 1); __asm__ volatile("" ::: "memory"); return; }
	sink = new block;
	void *m = malloc(44);
	sink = m;
	free(m);
}
FUNCTION int throwing(int n)
{
	char room[64];
	sink = room;
	if (n) return throwing(n - 1) + 1;
	sink = new char[huge];
	return 0;
}
FUNCTION void refused(int n)
{
	if (new (std::nothrow) char[huge]) abort();
	try { throwing(n); abort(); } catch (std::bad_alloc &) { }
	deep(n % 5);
}

int main()
{
	char word[100];
	dprintf(1, "ready\n");
	while (read(0, word, sizeof(word)) > 0) {
		for (int i = 0; i < 10; i++) { keep(); arrays(); wides(); nothrow(); mixed(); }
		for (int i = 0; i < 50; i++) refused(i);
		dprintf(1, "done\n");
	}
}
END
# An allocator in the manner of jemalloc: a quick way, and a jump to a slow one that may throw.
cat >own.cc <<'END'
#include <cstddef>
#include <cstring>
#include <new>
#include <sys/mman.h>
static char room[64 << 20];
static size_t used;
static void *take(size_t n, size_t align)
{
	if (n > sizeof(room)) return nullptr;
	size_t at = __atomic_fetch_add(&used, (n + 2 * align - 1) & ~(align - 1), __ATOMIC_RELAXED);
	return at + n + align > sizeof(room) ? nullptr : (char *)(((size_t)room + at + align - 1) & ~(align - 1));
}
static __attribute__((noinline)) void *slow(size_t n, bool may_throw)
{
	void *p = take(n, 16);
	if (!p && may_throw) throw std::bad_alloc();
	return p;
}
extern "C" void *malloc(size_t n) { return take(n, 16); }
extern "C" void *calloc(size_t n, size_t m) { return take(n * m, 16); }
extern "C" void *realloc(void *o, size_t n) { void *p = take(n, 16); return o ? memcpy(p, o, n) : p; }
extern "C" void free(void *) { }
void *operator new(size_t n) { return n < 64 ? take(n, 16) : slow(n, true); }
void *operator new[](size_t n) { return slow(n, true); }
void *operator new(size_t n, const std::nothrow_t &) noexcept { return slow(n, false); }
void *operator new[](size_t n, const std::nothrow_t &) noexcept { return slow(n, false); }
void *operator new(size_t n, std::align_val_t a) { void *p = take(n, (size_t)a); if (!p) throw std::bad_alloc(); return p; }
void operator delete(void *p) noexcept { free(p); }
void operator delete[](void *p) noexcept { free(p); }
void operator delete(void *p, size_t) noexcept { free(p); }
void operator delete[](void *p, size_t) noexcept { free(p); }
void operator delete(void *p, size_t, std::align_val_t) noexcept { free(p); }
END
g++ -O2 ops.cc -o ops 2>gcc.err || { not_ok "the program is compiled" "$(cat gcc.err)"; exit 1; }

# Function, allocations, bytes, leaks, leaked bytes; mixed has those of malloc, too.
expected="keep 5000 500000 5000 500000
arrays 3000 900000 0 0
wides 410 78720 400 76800
nothrow 700 70000 700 70000
mixed 600 33000 400 26400
deep 100 7200 50 5000"

# attach NAME PRELOAD PROGRAM: attach, let it do all. Its status is the program's.
attach()
{
	local name=$1 recorder
	rm -f words && mkfifo words
	env ${2:+LD_PRELOAD=$2} "$3" <words >out & pid=$!
	exec 9>words
	until grep -q ready out; do sleep 0.05; done
	"$collect" -p off -H on -P $pid -o "$name.er" >record.out 2>record.err & recorder=$!
	until [ -s "$name.er/recorder.xml" ] || ! kill -0 $recorder 2>/dev/null; do sleep 0.05; done
	echo all >&9
	until grep -q done out || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	kill -INT $recorder
	wait $recorder || not_ok "$name: is recorded" "$(cat record.err)"
	exec 9>&-
	"$er_print" -metrics $metrics:name -functions "$name.er" >rows 2>&1
	wait $pid
}

# traced NAME PRELOAD PROGRAM: the same, and compare.
traced()
{
	local name=$1 line f
	attach "$@"
	check_that "$name: the program ends as by itself" "$? == 0" "$(cat out)"
	echo "$expected" | while read -r f line; do
		[ "$(awk -v f="$f" '$5 == f { print $1, $2, $3, $4 }' rows)" = "$line" ] && echo "$f" >>"$name.good"
	done
	check_that "$name: allocations and leaks by function" "$(grep -c . "$name.good") == 6" "$(cat "$name.good" rows record.err)"
	"$er_print" -metrics e.heapalloccnt -functions "$name.er" >leaves 2>&1
	# glibc's malloc is called by operator new.
	[ -z "$2" ] || check_that "$name: a stack begins with the caller" \
		"$(awk '$2 == "keep" { print $1 }' leaves) == 5000" "$(cat leaves)"
	check_that "$name: nothing is said" "$(wc -c <record.err) == 0" "$(cat record.err)"
}

if g++ -O2 -fPIC -shared own.cc -o libown.so 2>gcc.err; then
	traced own "$PWD/libown.so" ./ops
else
	not_ok "an allocator is compiled" "$(cat gcc.err)"
fi
lib_of() { ldconfig -p | awk -v so="$1" '$1 == so { print $NF; exit }'; }
lib=$(lib_of libjemalloc.so.2)
[ -n "$lib" ] && traced jemalloc "$lib" ./ops || skip "jemalloc" "not installed"
# tcmalloc's operators jump to its other functions by its procedure linkage table.
lib=$(lib_of libtcmalloc_minimal.so.4)
[ -n "$lib" ] && traced tcmalloc "$lib" ./ops || skip "tcmalloc" "not installed"
# The code of this operator does not show where it returns.
{
	sed 's/^void \*operator new(size_t n) .*/static void *may(size_t n) { return slow(n, true); }/' own.cc
	echo 'static void *(*volatile how)(size_t) = may; void *operator new(size_t n) { return how(n); }'
} >hidden.cc
if g++ -O2 -fPIC -shared hidden.cc -o libhidden.so 2>gcc.err; then
	attach hidden "$PWD/libhidden.so" ./ops
	check "hidden: what is missing is said" grep -q 'operator new of .*libhidden.* may be missing' record.err
	check_that "hidden: malloc is traced" "$(awk '$5 == "mixed" { print $1 }' rows) >= 200" "$(cat rows)"
else
	not_ok "an allocator that hides its ends is compiled" "$(cat gcc.err)"
fi
# Files whose unwind tables take long: first the stacks are copied, then no more copies are allowed and the walk has no
# rule for the instruction that returns, which a breakpoint hides.
echo '.text;.rept 300000;.cfi_startproc;nop;.cfi_def_cfa_offset 32;nop;.cfi_endproc;.endr;.section .note.GNU-stack,"",@progbits' >slow.s
cat >late.cc <<'END'
#include <cstdio>
#include <new>
#include <unistd.h>
static void *volatile sink;
extern "C" __attribute__((noinline)) void keep(int n)
{
	char room[4096];
	sink = room;
	if (n) { keep(n - 1); __asm__ volatile("" ::: "memory"); return; }
	sink = operator new(100);
}
int main()
{
	char word[100];
	dprintf(1, "ready\n");
	while (read(0, word, sizeof(word)) > 0) {
		for (int i = 0; i < 3000; i++) keep(5);
		dprintf(1, "done\n");
	}
}
END
if as slow.s -o slow.o && g++ -O2 -fPIC -shared own.cc slow.o -o libslow.so && g++ -O2 late.cc slow.o -o late; then
	attach late "$PWD/libslow.so" ./late
	"$er_print" -metrics e.heapalloccnt:name -functions late.er >leaves 2>&1
	check_that "late tables: a stack begins with the caller" "$(awk '$2 == "keep" { print $1 }' leaves) == 3000" "$(cat leaves)"
	check_that "late tables: not all stacks were copied" "$(grep -c 'copies_refused="[1-9]' late.er/recorder.xml) == 1" \
		"$(grep -o 'copies_[a-z]*="[0-9]*"' late.er/recorder.xml)"
else
	not_ok "files with late unwind tables are made"
fi 2>gcc.err
traced glibc "" ./ops
g++ -O2 -static ops.cc -o static 2>gcc.err && traced static "" ./static || skip "static" "it cannot be built here"
