#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Code of another architecture: the cross compiler's output, in er_src and in an experiment
# that claims to be recorded there. libopcodes for it comes with the cross binutils, which
# the compiler needs.
. "$(dirname "$0")/../lib/tools.sh"

gcc=aarch64-linux-gnu-gcc
command -v $gcc >/dev/null || { skip "AArch64" "no $gcc here"; exit 0; }
src=$top/tests/fixtures/source
fresh
$gcc -O2 -g -fPIC -nostdlib -shared -Wl,-z,max-page-size=4096,-Ttext=0x2000 -o work.so "$src/work.c" &&
	$gcc -O2 -g -c -o work.o "$src/work.c" || { not_ok "objects are built"; exit 1; }
cp "$src/work.c" "$src/mix.h" .

# has NAME PATTERN COMMAND…: the command must succeed and print a matching line.
has()
{
	local name=$1 pattern=$2
	shift 2
	"$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	if [ $? = 0 ] && grep -qE -- "$pattern" "$tmp/out"; then
		ok "$name"
	else
		not_ok "$name" "$* : no '$pattern' in: $(head -n 30 "$tmp/out") $(cat "$tmp/err")"
	fi
}

for o in work.so work.o; do
	has "$o: functions" " hot$" er_src -func $o
	has "$o: source" "<Function: hot>" er_src -source hot $o
	has "$o: instructions" "\] +[0-9a-f]+:  ret$" er_src -disasm hot $o
	has "$o: names are padded, without tabs" ":  mov    w[0-9]" er_src -disasm work $o
	has "$o: calls have names" ":  bl? +[0-9a-f]+ <(hot|warm)" er_src -disasm work $o
	has "$o: inlined code is marked" "<-- mix mix.h:" er_src -disasm hot $o
	has "$o: bytes" "\] +[0-9a-f]+:  ([0-9a-f]{2} ){4}" er_src -dcc hex:nosrc -disasm hot $o
done

"$O/tests/golden/make_code" . work.so && sed -i 's/arch="[^"]*"/arch="aarch64"/' code.1.er/log.xml ||
	{ not_ok "an experiment is made"; exit 1; }
has "header says which machine" "aarch64" er_print -header full code.1.er
has "functions of an experiment" " (hot|warm|work)$" er_print -functions code.1.er
has "disassembly with metrics" "^ *##.*  [0-9a-f]+:  [a-z]" er_print -disasm hot code.1.er
has "source with metrics" "^ *##.* s \+= twice" er_print -source hot code.1.er
