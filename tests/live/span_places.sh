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

# Places that the kernel refuses: what has a prefix that it does not know, what is a breakpoint itself, what is no
# instruction. The program calls those that can run.
cat >trap.s <<'END'
.globl main
.macro function name
.globl \name
.type \name, @function
\name:
.endm
.macro end name
	ret
.size \name, .-\name
.endm
function f_plain
	nop
end f_plain
function f_locked
	lock addl $0, (%rsp)
end f_locked
function f_other
	mov %rdi, %rax
end f_other
function f_trap
	int3
end f_trap
function f_none
	.byte 0x06
end f_none
function main
	push %rbx
	mov $100, %ebx
1:	call f_plain
	call f_locked
	call f_other
	dec %ebx
	jnz 1b
	pop %rbx
	xor %eax, %eax
end main
.section .note.GNU-stack,"",@progbits
END
gcc -o trap trap.s || { skip "a place that is refused" "gcc is not installed"; exit; }

# The kernel looks at instructions of files that a process has mapped: the recorder itself does, if no program runs.
must_record left.er -q 0 --span "f=$PWD/trap:f_*" --span "plain=$PWD/trap:f_plain" -- ./trap
check_that "of a wildcard's functions those that the kernel refuses are named" \
	"$(grep -c "f_\*': left out 3 of them, because .*: f_locked, f_trap, f_none$" record.err) == 1" "$(cat record.err)"
check_that "and the others are recorded" "$(count f left.er) == 200 && $(count plain left.er) == 100 &&
	$(query "sites from span where name eq 'f'" left.er) == 2 && $(query 'sum(nobegin+unended) from span' left.er) == 0" \
	"$(cat left.er/spans.xml)"
must_record probed.er -q 0 -p off --probe "$PWD/trap:f_*" --probe-counts "other=$PWD/trap:f_other%return" -- ./trap
check_that "probes leave them out, too" "$(query "hits from probe where name ne 'other'" probed.er) == 200 &&
	$(query "hits from probe where name eq 'other'" probed.er) == 100 &&
	$(grep -c 'left out 3 of them, because .*: f_locked, f_trap, f_none$' record.err) == 1" "$(cat record.err)"

# refused WHAT NAMES OPTION…: one sentence with the names, and no recording.
refused()
{
	local what=$1 names=$2
	shift 2
	"$er_kernel" -o refused.er "$@" true >out 2>err && not_ok "$what ends the command"
	check_that "$what is an error that names it" \
		"$(tail -n 1 err | grep -c "$names") == 1 && $(ls -d refused.er 2>/dev/null | wc -l) == 0" "$(cat err)"
}
refused "a refused function of a name" 'a breakpoint on an instruction of f_locked: write another' \
	--span "f=$PWD/trap:f_plain" --span "t=$PWD/trap:f_locked"
refused "a refused function of a probe" 'a breakpoint on an instruction of f_trap: write another' --probe "$PWD/trap:f_trap"
refused "a wildcard of refused functions only" 'no function of this name can be probed, such as f_trap: ' \
	--span "t=$PWD/trap:f_t*"
refused "a pair that cannot end" 'of it: write another name' --span "t=$PWD/trap:f_plain,f_n*"

# Where exceptions may pass, the ends are breakpoints, too. If one is refused its function is left out as a whole.
cat >ends.s <<'END'
.globl main, f_begin, f_end, f_fine
.type main, @function
.type f_begin, @function
.type f_end, @function
.type f_fine, @function
f_begin:
	lock addl $0, (%rsp)
	ret
.size f_begin, .-f_begin
f_end:	nop
	.byte 0x2e
	ret
.size f_end, .-f_end
f_fine:	nop
	ret
.size f_fine, .-f_fine
main:	push %rbx
	mov $100, %ebx
1:	call f_begin
	call f_end
	call f_fine
	dec %ebx
	jnz 1b
	pop %rbx
	xor %eax, %eax
	ret
.size main, .-main
.section .gcc_except_table,"a",@progbits
	.byte 0
.section .note.GNU-stack,"",@progbits
END
gcc -o ends ends.s
must_record ends.er -q 0 --span "f=$PWD/ends:f_*" -- ./ends
check_that "a function whose end is refused is left out, with its begin" "$(count f ends.er) == 100 &&
	$(grep -c 'left out 2 of them, because .*: f_begin, f_end$' record.err) == 1 &&
	$(query 'sum(nobegin+unended) from span' ends.er) == 0 && $(query 'max(sites) from span' ends.er) == 1" \
	"$(cat record.err ends.er/spans.xml)"
