#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Names of Java methods without any option: from the memory of the Java VM, for each VM that is
# installed. The program knows the CPU time that it burns. The names must be those of the VM's own list.
# Time limit: 400 s
. "$(dirname "$0")/../lib/live.sh"

command -v javac >/dev/null || skip_all "javac is not installed"
javac --release 17 -d . "$top/tests/fixtures/source/Calls.java" 2>javac.err ||
	skip_all "javac: $(head -n 1 javac.err)"
depth=12
pid=
on_exit=clean_up
clean_up() { [ -z "$pid" ] || { kill "$pid"; rm -f "/tmp/perf-$pid.map"; }; } 2>/dev/null

# sub EXPERIMENT: the sub-experiment of our java, which is known by its command line.
sub()
{
	echo "$1/$(programs_in "$1" | sed -n '/Calls 1/s/.* experiment="\(_java_PID_[^"]*\)".*/\1/p' |
		tail -n 1)"
}

# times EXPERIMENT: seconds in all; of stacks with a frame without a name; in `burn`, and in frames of
# the interpreter without a method.
times()
{
	"$O/bin/er_export" --to folded -o - --metric totalcpu "$(sub "$1")" 2>/dev/null | awk '
		{ us = $NF; all += us }
		/<Unknown>|<Java>/ { unknown += us }
		/long Calls.burn\(long\)/ { burnt += us }
		/<interpreter>/ { interpreted += us }
		END { printf "%f %f %f %f\n", all / 1e6, unknown / 1e6, burnt / 1e6, interpreted / 1e6 }'
}

# own_names EXPERIMENT: how many functions the VM's own list has at the same address, and how
# many of these have another name there. Our name of the interpreter is another one.
own_names()
{
	sed -n 's/.*object="function".* vaddr="0x\([0-9A-F]*\)" size="[0-9]*" name="\(.*\)".*/\1 \2/p' \
		"$(sub "$1")/map.xml" | sed 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' |
	awk 'NR == FNR { at = tolower(substr($1, 3)); sub(/^0*/, "", at); sub(/^[^ ]* [^ ]* /, ""); own[at] = $0; next }
		{ at = tolower($1); sub(/^[^ ]* /, "") }
		at in own && $0 != "<interpreter>" { n++; differ += $0 != own[at] }
		END { print n + 0, differ + 0 }' "/tmp/perf-$pid.map" -
}

# run EXPERIMENT JAVA [OPTION]: records the load $pid, which has run for a while.
run()
{
	"$2" -Xmx256m ${3:-} -cp . Calls 100000 $depth >/dev/null &
	pid=$!
	# Until it has used 2 s of CPU time, nearly all of it below `burn'.
	while kill -0 "$pid" && [ "$(awk '{ print $14 + $15 }' "/proc/$pid/stat")" -lt $((2 * $(getconf CLK_TCK))) ]; do
		sleep 0.1
	done
	must_record "$1" -p high -q 0 -F "=java" -t 4
}

stop()
{
	kill "$pid" && wait "$pid" 2>/dev/null
	rm -f "/tmp/perf-$pid.map"
	pid=
}

# test_vm NAME JAVA
test_vm()
{
	rm -rf -- *.er
	run burn.er "$2"
	read -r all unknown burnt interpreted < <(times burn.er)
	check_that "$1: 99 % of the time has names" "$all > 0 && $unknown <= 0.01 * $all" "$unknown of $all s"
	check_that "$1: the method that burns has its time" "$burnt >= 0.9 * $all" "$burnt of $all s"
	"$(dirname "$2")/jcmd" "$pid" Compiler.perfmap >jcmd.out 2>&1
	read -r same differ < <([ -e "/tmp/perf-$pid.map" ] && own_names burn.er || echo 0 0)
	# Between the recording and the list the VM may replace code.
	check_that "$1: the names are the VM's own" "$same >= 1 && $differ <= 0.1 * $same" \
		"$differ of $same differ: $(cat jcmd.out)"
	stop
	run interpreted.er "$2" -Xint
	read -r all unknown burnt interpreted < <(times interpreted.er)
	# At first the recorder has to find out where this VM keeps what.
	check_that "$1: interpreted methods have names" "$all > 0 && $burnt >= 0.7 * $all && $interpreted <= 0.3 * $all" \
		"$burnt in burn, $interpreted without a method, of $all s"
	"$O/bin/er_print" -metrics e.totalcpu:name -lines "$(sub interpreted.er)" >lines.out 2>lines.err
	in_loop=$(awk '/long Calls.burn.*, line (19|20) in "Calls.java"/ { s += $1 } END { print s + 0 }' lines.out)
	check_that "$1: interpreted methods have lines" "$in_loop >= 0.5 * $all" "$in_loop of $all s"
	stop
}

for java in $(realpath /usr/lib/jvm/*/bin/java "$(command -v java)" 2>/dev/null | sort -u); do
	version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
	[ "${version:-0}" -ge 17 ] || continue
	test_vm "Java $version" "$java"
done
