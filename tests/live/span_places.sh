#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Where the breakpoints of spans are set: many places at once, in programs that start later, in chosen
# processes before and after an exec, at the function of a line; and what is said of a place that the kernel
# refuses.
. "$(dirname "$0")/../lib/live.sh"

p=$syn/spans
count() { query "count from span where name eq '$1'" "$2"; }

# begin EXPERIMENT ARGUMENTS…: record until finish; the breakpoints are set when it returns.
begin()
{
	e=$1
	shift
	"$er_kernel" -o "$e" -p lo -A off -t 100 "$@" >record.out 2>record.err & recorder=$!
	while kill -0 $recorder 2>/dev/null && [ ! -e "$e/recorder.xml" ]; do sleep 0.1; done
}
finish()
{
	kill -INT $recorder
	wait $recorder
}

# All places of a file share a link, where the kernel has such links. It has them since 6.6, with the updates
# that limit them to a process.
begin many.er --span "many=$p:f*"
places=$(sed -n "s/.* \([0-9]*\) places: .*/\1/p" record.err)
links=$(ls -l /proc/$recorder/fd | grep -c 'bpf.link')
"$p" chain >chain.out
finish
check_that "functions of many places are spans" "$(count many many.er) >= 50 && ${places:-0} >= 50" "$(cat record.err)"
case $(uname -r) in
[0-5].* | 6.[0-9].*) skip "many places share a link" "Linux $(uname -r)" ;;
*) check_that "many places share a link" "$links < $places" "$links links, $places places" ;;
esac

# A process that starts after the breakpoints were set.
begin later.er --span "empty=$p:empty" -F =spans
"$p" >out
finish
check_that "a program that starts later is recorded" "$(count empty later.er) == $(grep -c '^empty' out)" "$(cat record.err)"

# Only a chosen process, which executes the program later.
mkfifo gate
sh -c 'read -r go <gate; exec "$0"' "$p" >t.out & pid=$!
begin chosen.er -T $pid --span "empty=$p:empty"
"$p" >other.out
echo >gate
wait $pid
finish
check_that "a chosen process is recorded after an exec, and no other one" \
	"$(count empty chosen.er) == $(grep -c '^empty' t.out)" "$(cat record.err)"

# The function of a line.
at=$(grep -n '^FUNCTION int recurse' "$top/tests/synprog/spans.c" | cut -d: -f1)
must_record line.er -q 0 --span "line=$p:spans.c:$((at + 2))(1:s32)" --span "name=$p:recurse" -- "$p"
check_that "a line means the function that it is in" "$(count line line.er) == 6 && $(count name line.er) == 6" \
	"$(cat record.err)"
check_that "the function is named" "$(grep -c '1 place: recurse' record.err) == 1" "$(cat record.err)"

# Of many places the kernel refuses one: an instruction that is a breakpoint itself. It looks at those of running
# programs only.
cat >trap.s <<'END'
.globl main, fine, trap
.type main, @function
.type fine, @function
.type trap, @function
fine:	nop
	ret
.size fine, .-fine
trap:	int3
	ret
.size trap, .-trap
main:	call pause@PLT
	ret
.size main, .-main
.section .note.GNU-stack,"",@progbits
END
gcc -o trap trap.s || { skip "a place that is refused" "gcc is not installed"; exit; }
./trap & pid=$!
"$er_kernel" -o refused.er --span "f=$PWD/trap:fine" --span "t=$PWD/trap:trap" true >out 2>err &&
	not_ok "a place that the kernel refuses ends the command"
kill $pid
at=$(nm trap | sed -n 's/^0*\([0-9a-f]*\) . trap$/0x\1/p')
check_that "of several places the refused one is named, in one sentence" \
	"$(wc -l <err) == 1 && $(grep -c "$at: the kernel cannot put a breakpoint on this instruction" err) == 1 &&
	$(ls -d refused.er 2>/dev/null | wc -l) == 0" "$(cat err)"
