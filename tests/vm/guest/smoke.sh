#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs in the virtual machine of run.sh: records with er_kernel, reads with er_print. Emulated
# seconds are not real, but sums must agree.
. /bin/guest.sh

rm -rf s.er # of a first attempt
er_kernel -o s.er -p high -q 0 -- spin alpha:2 beta:1 >out 2>err
says "records" "$? == 0 && $(wc -l <err) == 0" "$(cat err)"
want=$(awk '$1 == "cpu" { print $2 }' out)
alpha=$(awk '$1 == "alpha" { print $2 }' out)
er_print -printmode , -metrics i.totalcpu:name -functions s.er >functions 2>err
of() { awk -F'","' -v n="$1\"" '{ sub(/^"/, "") } $2 == n { print $1 }' functions; }
got=$(of alpha)
says "a function has its time" "${got:-0} > 0.95 * $alpha && ${got:-0} < 1.05 * $alpha" "$got of $alpha; $(head -n 20 functions)"
got=$(er_print -printmode , -filters "PID==$(awk '$1 == "pid" { print int($2) }' out)" \
	-metrics e.totalcpu:name -functions s.er 2>>err | awk -F'","' '/<Total>/ { sub(/^"/, ""); print $1 }')
says "the sum is what the kernel counted" "${got:-0} > 0.97 * $want && ${got:-0} < 1.03 * $want" "$got of $want; $(cat err)"
# In an emulator, tables and mappings come too late for some stacks. These stacks say so and do not
# count.
late='end="(no unwind table yet|mapping could not be looked up at that moment)"'
got=$(grep '<walk program="spin" of="cpu"' s.er/recorder.xml | grep -vE "$late" |
	awk '{ match($0, / ns="[0-9]+/); ns = substr($0, RSTART + 5, RLENGTH - 5)
		all += ns; if (/complete="1"/) whole += ns } END { print (all > 1e9 ? 100 * whole / all : 0) }')
says "its user stacks are complete" "$got >= 99" "$(grep '<walk program="spin"' s.er/recorder.xml)"
er_print -header full s.er >header 2>&1
says "the header is printed" "$(grep -c . header) > 5" "$(cat header)"
er_kernel -o r.1.er --roll 1s -q 0 -- spin alpha:4 >out 2>err
says "rolls" "$? == 0 && $(ls -d r.*.er | wc -l) >= 2" "$(cat err)"
want=$(awk '$1 == "cpu" { print $2 }' out)
got=$(er_print -printmode , -filters "PID==$(awk '$1 == "pid" { print int($2) }' out)" \
	-metrics e.totalcpu:name -functions r.*.er 2>err | awk -F'","' '/<Total>/ { sub(/^"/, ""); print $1 }')
says "the segments have what the kernel counted" "${got:-0} > 0.97 * $want && ${got:-0} < 1.03 * $want" \
	"$got of $want; $(cat err)"
rm -rf c.er
collect -o c.er -p high sh -c 'spin alpha:1 >out; exit 5' 2>err
says "collect ends as its program" "$? == 5" "$(cat err)"
want=$(awk '$1 == "cpu" { print $2 }' out)
got=$(er_print -printmode , -filters "PID==$(awk '$1 == "pid" { print int($2) }' out)" \
	-metrics e.totalcpu:name -functions c.er 2>err | awk -F'","' '/<Total>/ { sub(/^"/, ""); print $1 }')
says "collect has what the kernel counted" "${got:-0} > 0.97 * $want && ${got:-0} < 1.03 * $want + 0.02" \
	"$got of $want; $(cat err)"
er_kernel --check >check 2>&1
says "--check runs" "$? == 0 && $(wc -l <check) > 3" "$(cat check)"
says "--check finds the kernel's symbols, as root" "$(grep -c '^no .*kernel symbols' check) == 0" "$(cat check)"
case $(uname -r) in 6.[123].*) want=no ;; *) want=yes ;; esac
says "--check knows whether mappings are found without a lock" \
	"$(grep -c "^$want *mappings without a lock" check) == 1" "$(cat check)"

# The limit of kernel frames: the recorder takes what the kernel allows, up to 255, and says what
# would give more. The kernel refuses another limit until it has released the events of the recording
# before, which is some time after the recorder has ended.
sysctl=/proc/sys/kernel/perf_event_max_stack
kernel_frames() {
	for attempt in 0 1 2 3 4 5 6 7 8 9; do
		(echo "$1" >$sysctl) 2>err && return
		sleep 1
	done
	return 1
}
for frames in 4 255; do
	kernel_frames $frames && er_kernel -o $frames.er -p high -t 1 >out 2>err
	says "records with $frames kernel frames at most" "$? == 0 && $(cat $sysctl) == $frames" "$(cat err)"
	er_print -header full $frames.er >header 2>&1
done
says "deeper kernel stacks are counted, with the remedy" \
	"$(er_print -header full 4.er | tr '\n' ' ' | tr -s ' ' | grep -c 'kernel stacks were deeper.* raise kernel.perf_event_max_stack') == 1" \
	"$(er_print -header full 4.er)"
says "and there are none with 255" "$(grep -c 'kernel stack.* deeper' header) == 0" "$(cat header)"

# Spans: the programs load on this kernel, and find begin and end of each call.
er_kernel -o calls.er -q 0 --span 'alpha=spin:alpha(1:int)' --span call=syscall:clock_nanosleep -- \
	sh -c 'spin alpha:1; sleep 1' >out 2>err
says "records spans" "$? == 0" "$(cat err)"
says "each call has a record" "$(grep -c 'name="alpha".* count="1" ' calls.er/spans.xml) == 1 &&
	$(grep -c 'name="call".* count="[1-9]' calls.er/spans.xml) == 1" "$(cat calls.er/spans.xml out)"

sed 's/^/# /' check
