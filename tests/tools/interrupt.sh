#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Ctrl-C while er_print prints a long report. It writes to a full pipe, so the report cannot
# be finished yet. Started alone, er_print ends by the signal, and its output ends with a
# whole line. At a terminal only the report ends.
. "$(dirname "$0")/../lib/tap.sh"

gen=$O/tests/bench/gen_experiment
[ -x "$er_print" ] && [ -x "$gen" ] || { not_ok "programs are built"; exit 1; }
"$gen" big.1.er 40000 10000 10 20000 >/dev/null || { not_ok "an experiment is made"; exit 1; }
"$er_print" -functions big.1.er >whole
whole=$(wc -l <whole)
mkfifo fifo
rm -f .er.rc

# The report is interrupted: shorter, whole lines, and a note that it is incomplete.
check_rest()
{
	local lines=$(wc -l <got)

	check_that "$1: the report is cut short" "$lines > 10 && $lines < $whole - 100" "$lines of $whole"
	[ -z "$(tail -c 1 got)" ] && ok "$1: the output ends with a whole line" || not_ok "$1: the output ends with a whole line" "$(tail -n 1 got)"
	tail -n 2 got | grep -q "^Interrupted" && ok "$1: a message says that the report was cut" || not_ok "$1: a message says that the report was cut" "$(tail -n 2 got)"
	head -n $((lines - 5)) got | cmp -s - "$2" && ok "$1: the lines before the end are unchanged" ||
		not_ok "$1: the lines before the end are unchanged" "$(head -n $((lines - 5)) got | diff - "$2" | head -n 5)"
}

# A shell makes background commands ignore Ctrl-C, so reset that.
env --default-signal=INT "$er_print" -outfile fifo -functions -functions big.1.er 2>err &
pid=$!
exec 3<fifo
head -c 1 <&3 >got
kill -INT $pid
cat <&3 >>got
wait $pid
status=$?
exec 3<&-
check_that "alone: status 130" "$status == 130" "$status"
grep -q "interrupted" err && ok "alone: a message says that the report was cut" || not_ok "alone: a message says that the report was cut" "$(cat err)"
head -n $(($(wc -l <got) - 5)) whole >expected
check_rest alone expected

# A signal that is ignored at the start stays ignored.
(trap '' INT; exec "$er_print" -outfile fifo -functions big.1.er) 2>err &
pid=$!
exec 3<fifo
head -c 1 <&3 >got
kill -INT $pid
cat <&3 >>got
wait $pid && cmp -s got whole && ok "ignored: the report is complete" || not_ok "ignored: the report is complete" "$(cat err)"
exec 3<&-

# At a terminal, whose keyboard is a pipe.
command -v script >/dev/null || { skip "at a terminal" "there is no script(1)"; exit 0; }
mkfifo keys
env --default-signal=INT script -qec "$er_print big.1.er" typed <keys >screen 2>&1 &
pid=$!
exec 4>keys
printf 'outfile fifo\nfunctions\n' >&4
exec 3<fifo
head -c 1 <&3 >got
printf '\003' >&4
# When the echo appears the kernel has sent the signal.
for i in $(seq 100); do grep -q '\^C' screen && break; sleep 0.1; done
cat <&3 >>got &
reader=$!
printf 'outfile -\nversion\nquit\n' >&4
exec 4>&-
wait $pid
exec 3<&-
wait $reader
head -n $(($(wc -l <got) - 5)) whole >expected
check_rest "at a terminal" expected
grep -q 'er_print: interrupted' screen && grep -q '^er_print [0-9]' screen && ok "at a terminal: the next command runs" ||
	not_ok "at a terminal: the next command runs" "$(tail -n 20 screen)"
