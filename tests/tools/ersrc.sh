#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_src on objects that the local compiler builds from tests/fixtures/source: a shared
# object, an object file, stripped, without line numbers; and on wrong files.
. "$(dirname "$0")/../lib/tools.sh"

src=$top/tests/fixtures/source
fresh
build() { gcc -O2 -fPIC -nostdlib -fno-ipa-icf "$@" "$src/work.c"; }
build -g -shared -o work.so && build -g -c -o work.o && build -g -c -ffunction-sections -o apart.o &&
	build -shared -o plain.so && cp work.so stripped.so && strip stripped.so ||
	{ not_ok "objects are built"; exit 1; }
cp "$src/work.c" "$src/mix.h" .

# has NAME PATTERN COMMAND…: the command must succeed, print no message, and print a
# matching line.
has()
{
	local name=$1 pattern=$2
	shift 2
	"$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	if [ $? = 0 ] && [ ! -s "$tmp/err" ] && grep -qE -- "$pattern" "$tmp/out"; then
		ok "$name"
	else
		not_ok "$name" "$* : no '$pattern' in: $(head -n 30 "$tmp/out") $(cat "$tmp/err")"
	fi
}

for o in work.so work.o apart.o; do
	has "$o: functions" " hot$" er_src -func $o
	has "$o: source of all" "17\..*twice" er_src $o
	has "$o: source of a function" "<Function: hot>" er_src -source hot $o
	has "$o: source of a file" "<Function: warm>" er_src -src work.c $o
	has "$o: source of a header" "x \*= 0x5bd1e995" er_src -src "hot'mix.h'" $o
	has "$o: all by tag -1" "<Function: work>" er_src -source all -1 $o
	has "$o: inlined functions" "Function twice inlined from source file work.c" \
		er_src -scc inline -source hot $o
	has "$o: calls have names" "<(hot|warm)" er_src -disasm work $o
	has "$o: inlined code is marked" "<-- twice work.c:9 <-- mix mix.h:" er_src -disasm hot $o
	has "$o: bytes" "\] +[0-9a-f]+:  ([0-9a-f]{2} )+" er_src -dcc hex:nosrc -disasm hot $o
	has "$o: no source between" "^ +\[" er_src -dcc nosrc -disasm all -1 $o
done
er_src -dcc nosrc -disasm hot work.so | grep -q 'unsigned' && not_ok "nosrc: no source" || ok "nosrc: no source"
has "without lines: disassembly" "\[\?\] +[0-9a-f]+:  [a-z]" er_src -disasm hot plain.so
has "exported names of a stripped object" "<Function: warm>" er_src -disasm warm stripped.so
has "outfile" "" er_src -outfile out.txt -source hot -outfile - -func work.so
grep -q '<Function: hot>' out.txt && ok "outfile has the source" || not_ok "outfile has the source"
has "version" "^er_src [0-9]" er_src -V
has "usage" "-disasm item" er_src -h
echo "scc inline" >.er.rc && echo "sthresh 50" >>.er.rc
has "remarks from .er.rc" "Function mix inlined" er_src -source hot work.so
rm .er.rc

# A function with lines from two files and a line before its first one, which calls through
# a PLT slot.
cat >early.c <<END
int before;
int target(int);
int early(int n)
{
	n = target(n);
#line 1 "early.c"
	n += target(n + 7);
#include "part.h"
#line 9 "early.c"
	return n;
}
int also(int) __attribute__((alias("early")));
END
printf '\tn ^= target(n + 3);\n' >part.h
gcc -O2 -g -fPIC -fno-plt -shared -nostdlib -o early.so early.c || not_ok "early.so is built"
has "a line before the function's first" "^ +1\. int before;" er_src -disasm early early.so
check "a line before the function's first one is shown once" [ "$(grep -c 'int before' "$tmp/out")" = 1 ]
has "calls through slots have names" "call .*<target@got>" er_src -disasm early early.so
# Relocations that only add the load address come first; large programs have a million of them.
printf 'static int x; int *large[1100000] = { [0 ... 1099999] = &x };\n' |
	gcc -O2 -g -fPIC -fno-plt -shared -nostdlib -o large.so -x c - -x c early.c || not_ok "large.so is built"
has "so have those of a program with a million relocations" "call .*<target@got>" er_src -disasm early large.so
has "source leads to the other file" "<Function: early, instructions from source file part.h>" \
	er_src -source early early.so
has "and back" "<Function: early, instructions from source file early.c>" \
	er_src -source "early'part.h'" early.so
has "without remarks" "n \\^= target" er_src -scc none -source "early'part.h'" early.so
check "no line where a function begins" [ "$(grep -c 'Function: early>' "$tmp/out")" = 0 ]
has "a function by its other name" "<Function: early>" er_src -disasm also early.so
cp -r "$src" "$tmp/elsewhere" && rm work.c mix.h

head -c 4000 work.so >half.so
check_that "half a file: says so" "$(er_src -func half.so 2>&1 | grep -c 'half.so: is incomplete') == 1"
refuses "no such item" "no function and no source file.*(-func)" er_src -source nothing work.so
mkdir lost && cp "$src/work.c" "$src/mix.h" lost && gcc -O2 -g -shared -nostdlib -fPIC -o lost.so "$PWD/lost/work.c"
rm -rf lost
refuses "no such source" "run it in the directory of the source" er_src -source hot lost.so
gzip -k plain.so work.so && head -c 2000 work.so.gz >cut.so.gz
has "compressed: functions" " hot$" er_src -func work.so.gz
refuses "compressed and cut short" "it is damaged or implausibly large" er_src cut.so.gz
refuses "no line numbers" "compile with -g" er_src plain.so
refuses "no such object" "No such file" er_src gone.so
refuses "no object" "not an executable" er_src "$src/work.c"
refuses "a directory" "no regular file" er_src "$tmp"
refuses "an unknown option" "unknown" er_src -metrics e.user work.so
refuses "an option without its argument" "needs an argument" er_src work.so -disasm
refuses "two objects" "one object at a time" er_src work.so work.o
