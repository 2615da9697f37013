#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Debian's unmodified gprofng and our er_print read the same recordings of er_kernel and must print
# the same rows. oracle_gprofng.sh does this for recordings of gprofng's own recorder.
. "$(dirname "$0")/../lib/live.sh"
. "$top/tests/lib/oracle.sh"

command -v gprofng >/dev/null || skip_all "gprofng is not installed"
load='"$syn/spin" "outer>alpha:0.4" beta:0.2 >/dev/null; "$syn/sysload" zero:0.3 ppid:0.3 >/dev/null'

must_record off.er -F off -p high -q 0 -- sh -c "$load"
compare "-F off" off.er kcpu

total() { "$@" 2>/dev/null | csv_rows | awk -F'\t' '$2 == "<Total>" { print $1; exit }'; }
# Our own programs, with symbols: er_print and gprofng name code without symbols differently.
must_record on.er -F '=^(spin|sysload)$' -p high -q 0 -- sh -c "$load"
compare "followed" on.er user
# Our total also has the kernel time of processes that were not followed: state 11.
filters=MSTATE!=11 compare "followed" on.er system
got=$(total ours -printmode , -metrics e.system:name -functions on.er)
want=$(total ours -printmode , -metrics e.kcpu:name -functions on.er)
check_that "our system is all kernel time" "($got - $want)^2 < 0.0011^2" "$got, $want"

# Our KCPU is all kernel time: gprofng's kernel CPU and its system CPU.
kcpu=$(total theirs -printmode , -metrics e.kcpu:name -functions on.er)
system=$(total theirs -printmode , -metrics e.system:name -functions on.er)
got=$(total ours -printmode , -metrics e.kcpu:name -functions on.er)
check_that "our kcpu is gprofng's kcpu + system" "($got - ${kcpu:-0} - ${system:-0})^2 < 0.0021^2" \
	"$got, $kcpu + $system"

# Microstates, in each experiment alone: for gprofng a name without code (<Stack-not-taken>) is a
# separate function in each experiment. Its total lacks the founder's kernel time.
must_record ms.er -F '=^(spin|contend)$' -p high -q 0 -- sh -c "$load; \"\$syn/contend\" >/dev/null 2>&1"
states=user:e.system:e.trap:e.textpfault:e.datapfault:e.kernelpfault:e.lock:e.sleep:e.wait:e.stop
find_all_renames ms.er user sleep >/dev/null
n=0
for exp in ms.er ms.er/_*.er; do
	n=$((n + 1))
	[ -s "$exp/data.frameinfo" ] || continue
	kind=$(basename "$exp" | sed 's/_[0-9.]*er$//; s/PID_[0-9]*//')
	same_list "microstates, $kind" csv_numbers ms.er \
		"-metrics e.$states:i.sleep:i.user:name -filters EXPID==$n -functions" \
		"-metrics e.$states:i.sleep:i.user:name -filters 'EXPID==$n && MSTATE!=11' -functions"
done
for type in CPUs Seconds; do
	same_list "microstates, $type" csv_numbers ms.er "-metrics e.$states:name -indxobj $type" \
		"-metrics e.$states:name -filters MSTATE!=11 -indxobj $type"
done
define()
{
	printf 'indxobj_define Mine "%s"\nmetrics e.%s:name\nprintmode ,\n' "$1" "$states" >defined
	printf 'filters MSTATE!=11\nindxobj Mine\n' >>defined
	same_list "microstates, by $1" csv_numbers ms.er "-script defined" "-script defined"
}
define "CPUID*100+MSTATE"
define "TSTAMP/250000000"
define "NTICK>1000?MSTATE:-1"
waiting='MSTATE>=3 && MSTATE<=9' # gprofng reads beyond the end of packets of times on a CPU
# A CPU that the load ran on, and the middle of the recording, from the start of the founder.
cpu=$(query 'max(CPUID) from packets where ON_CPU && MSTATE ne KERNEL_CPU' ms.er/_*.er)
middle=$(query 'min(TSTAMP) max(TSTAMP) from packets' ms.er |
	awk -v start="$(event_time ms.er run)" '{ printf "%.0f", ($1 + $2) / 2 - start * 1e9 }')
for f in "$waiting && REASON==7" "$waiting && (REASON IN (6,7))" "$waiting && WLEN>1000000" \
	"MSTATE==6" "EXPID>1 && CPUID==$cpu" "TSTAMP<$middle" '(FNAME(".*futex_wait") SOME IN STACK)'; do
	same_list "microstates, filters $f" csv_unnamed ms.er "-metrics e.$states:name -filters '$f' -CPUs" \
		"-metrics e.$states:name -filters '($f) && MSTATE!=11' -CPUs"
done
same_list "microstates, objects hidden" csv_numbers ms.er \
	"-metrics e.$states:name -object_hide LinuxKernel -filters EXPID==2 -functions" \
	"-metrics e.$states:name -object_hide LinuxKernel -filters EXPID==2 -functions"
# The number of the first sub-experiment whose name begins like this.
part() { ls -d ms.er ms.er/_*.er | grep -n "ms.er/_$1" | head -n 1 | cut -d: -f1; }
for m in sleep:others user:spin; do
	exp="EXPID==$(part "${m#*:}")" m=${m%:*}
	same "microstates, callers-callees $m" panel_rows ms.er "-metrics ei.$m:name -filters $exp" \
		-callers-callees "-cmetrics a.$m:name"
	same "microstates, calltree $m" tree_rows ms.er "-metrics ei.$m:name -filters $exp" -calltree
done
check_total()
{
	local theirs_total ours_total kernel
	theirs_total=$(total theirs -printmode , -metrics e.total:name -functions ms.er)
	ours_total=$(total ours -printmode , -metrics e.total:name -functions ms.er)
	kernel=$(total ours -printmode , -metrics e.kcpu:name -filters "MSTATE==11" -functions ms.er)
	check_that "our total is gprofng's and what the kernel used itself" \
		"($ours_total - ${theirs_total:-0} - ${kernel:-0})^2 < 0.0021^2" \
		"$ours_total, $theirs_total + $kernel"
}
check_total

mkdir fixtures
if "$O/tests/golden/make_fixtures" fixtures; then
	compare "tree" fixtures/tree.1.er user total
	compare "system" fixtures/sys.1.er user
	filters=MSTATE!=11 compare "system" fixtures/sys.1.er system
	compare "recursion" fixtures/rec.1.er user
	compare "not closed" fixtures/cut.1.er user
	"$O/tests/golden/make_kinds" fixtures
	: >renames
	: >vague
	for m in l3 loads user; do
		same_list "counters with addresses, $m" csv_numbers fixtures/mem.1.er \
			"-metrics ei+$m:name -functions" "-metrics ei+$m:name -functions"
	done
	for e in CPUID "VADDR>255?(VADDR>>12):-1" "PADDR>0?(PADDR>>13<<13):-1" HWCTAG; do
		printf 'indxobj_define Mine "%s"\nmetrics e+l3:e+loads:name\nprintmode ,\n' "$e" >defined
		printf 'filters "HAS_PROP(VADDR) && VADDR>=0"\nindxobj Mine\n' >>defined
		same_list "counters with addresses, by $e" csv_numbers fixtures/mem.1.er "-script defined" \
			"-script defined"
	done
	same_list "clock packets of old" csv_numbers fixtures/old.1.er "-metrics e.$states:i.total:name -functions" \
		"-metrics e.$states:i.total:name -functions"
	traced=e+syncn:e+heapalloccnt:e+heapallocbytes:e+heapleakbytes:e+ioreadbytes:e+iowritecnt:name
	for c in functions CPUs Seconds Datasize; do
		same_list "traced calls, $c" csv_numbers fixtures/trace.1.er "-metrics $traced -$c" \
			"-metrics $traced -$c"
	done
else
	not_ok "make_fixtures"
fi

if gprofng collect app -p hi -o app.er "$syn/spin" 'outer>alpha:0.5' beta:0.2 >/dev/null 2>&1; then
	compare "collect app" app.er totalcpu
else
	skip "collect app" "gprofng collect app does not work here"
fi
