#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Names of JavaScript functions from node's perf map. The program knows its own depth of recursion
# and the CPU time that it burns there. Then the map is read after node has ended, inside a PID
# namespace with a /tmp of its own, and not at all, where JavaScript is <JavaScript>.
# Time limit: 600 s
. "$(dirname "$0")/../lib/live.sh"

command -v node >/dev/null || skip_all "node is not installed"
cp "$top/tests/fixtures/source/calls.js" .
maps="--perf-basic-prof --interpreted-frames-native-stack"
# Without inlining a call is a frame. NODE_OPTIONS does not take these.
flags="--no-turbo-inlining --max-inlined-bytecode-size=0"
node $flags -e 0 2>/dev/null || flags=--max-inlined-bytecode-size=0
depth=12
on_exit=clean_up
clean_up() { rm -f "/tmp/perf-$(pid_of out).map"; } 2>/dev/null

# sub EXPERIMENT: the sub-experiment of our node, which is known by its command line.
sub()
{
	echo "$1/$(programs_in "$1" | sed -n '/calls\.js/s/.* experiment="\(_node_PID_[^"]*\)".*/\1/p' |
		tail -n 1)"
}

# folded EXPERIMENT: the stacks of our node on CPUs, each with its microseconds.
folded()
{
	"$O/bin/er_export" --to folded -o - --metric totalcpu "$(sub "$1")" 2>/dev/null
}

# shares: of the folded stacks: seconds of all, of those with a frame without a name, and of those
# with one that is only <JavaScript>.
shares()
{
	awk '{ us = $NF; all += us }
		/;<Unknown>|^<Unknown>/ { unknown += us }
		/<JavaScript>/ { js += us }
		END { printf "%.6f %.6f %.6f\n", all / 1e6, unknown / 1e6, js / 1e6 }'
}

# depths: of the complete stacks in `burn`: seconds of all, and of those with the true depth.
depths()
{
	awk -v want="$depth" '
		/JS:.burn / && !/^<(Stack-unwind-failed|Truncated-stack)>/ {
			us = $NF
			n = gsub(/JS:.deep /, "")
			all += us
			if (n == want) right += us
		}
		END { printf "%.6f %.6f\n", all / 1e6, right / 1e6 }'
}

must_record map.er -p high -q 0 -F on -- node $maps $flags calls.js 2.1 $depth
cp record.out out
folded map.er >map.folded
read -r all unknown js < <(shares <map.folded)
check_that "99 % of a node's time has names" "$all > 0 && $unknown + $js <= 0.01 * $all" \
	"$unknown s <Unknown>, $js s <JavaScript> of $all s; $(grep -E '<Unknown>|<JavaScript>' map.folded |
		head -n 5 | cut -c1-300)"
read -r burnt right < <(depths <map.folded)
want=$(truth out chains)
# On a busy machine node's unwind table comes later, and stacks before it are cut.
late=$(late_of map.er node)
check_that "its complete stacks have its time" \
	"$burnt >= 0.9 * $want - ${late:-0} && $burnt <= 1.02 * $want" "$burnt of $want s, $late came late"
check_that "they have the true depth" "$right >= 0.99 * $burnt" "$right of $burnt s"
for name in callback:mapped method:method getter:'get area' generator:generator promised:promised; do
	want=$(truth out "${name%%:*}")
	got=$(grep -E "JS:.${name#*:} .*JS:.burn " map.folded | awk '{ s += $NF } END { print s / 1e6 }')
	check_that "${name%%:*}: ${name#*:} has its time" "$got >= 0.8 * $want && $got <= 1.05 * $want" \
		"$got of $want s"
done
check "recorder.xml counts what was read" grep -q '<generated processes="[1-9].* maps="[1-9].* written="[1-9]' map.er/recorder.xml
few=$(grep -c 'object="function"' "$(sub map.er)/map.xml")
listed=$(wc -l <"/tmp/perf-$(pid_of out).map")
check_that "only functions that stacks mention are written" "$few > 10 && $few < $listed / 4" \
	"$few of $listed"
if command -v gprofng >/dev/null; then
	gprofng_text -functions map.er 2>/dev/null | grep -q 'JS:.burn ' &&
		ok "gprofng has the names, too" || not_ok "gprofng has the names, too"
fi

# --jit asks for the map, beside what the user asks for.
must_record jit.er --jit -p high -q 0 -- sh -c \
	"echo options \$NODE_OPTIONS; exec node calls.js 0.7 $depth"
check "--jit sets what node needs" grep -q '^options --perf-basic-prof ' record.out
folded jit.er >jit.folded
read -r all unknown js < <(shares <jit.folded)
check_that "with --jit 99 % of its time has names" "$all > 0.7 && $unknown + $js <= 0.01 * $all" \
	"$unknown, $js of $all s"
rm -f "/tmp/perf-$(truth record.out pid | cut -d. -f1).map"

# A jitdump has code, too.
must_record dump.er -p high -q 0 -- node --perf-prof --interpreted-frames-native-stack $flags calls.js 0.7 $depth
folded dump.er >dump.folded
read -r all unknown js < <(shares <dump.folded)
check_that "with a jitdump 99 % of its time has names" "$all > 0.7 && $unknown + $js <= 0.01 * $all" \
	"$unknown, $js of $all s"
name=$(grep -o 'JS:[*]burn [^;]*js:[0-9:]*' dump.folded | head -n 1)
"$er_print" -disasm "$name" 1 "$(sub dump.er)" >disasm 2>&1
check_that "and its functions have code" "$(grep -c '  \(push\|jmp\|call\|mov\) ' disasm) > 10" "$(head disasm)"

# Without a map.
must_record none.er -p high -q 0 -- node $flags calls.js 0.7 $depth
folded none.er >none.folded
read -r all unknown js < <(shares <none.folded)
want=$(truth record.out chains)
check_that "without a map JavaScript is <JavaScript>, a frame for each frame" \
	"$unknown <= 0.01 * $all && $js >= 0.5 * $want" "$unknown s <Unknown>, $js of $want s"
# Interpreted functions run in a builtin of node's binary.
deep=$(awk -v d="$depth" '/<JavaScript>/ && gsub(/<JavaScript>|Builtins_InterpreterEntryTrampoline/, "") >= d {
	us += $NF } END { print us / 1e6 }' none.folded)
check_that "its recursion is to be seen" "$deep >= 0.9 * $js" "$deep of $js s"

# In namespaces: node is process 1 or 2 there, and its map is in a /tmp that only it sees.
if unshare -mpf --mount-proc true 2>/dev/null; then
	exec 3<calls.js
	must_record inside.er -p high -q 0 -- unshare -mpf --mount-proc sh -c \
		"mount -t tmpfs tmp /tmp && cat <&3 >/tmp/calls.js && node $maps $flags /tmp/calls.js 0.7 $depth"
	exec 3<&-
	folded inside.er >inside.folded
	read -r all unknown js < <(shares <inside.folded)
	check_that "in namespaces of its own it has names" \
		"$all > 0 && $unknown + $js <= 0.02 * $all" "$unknown, $js of $all s; $(tail -n 3 record.err)"
else
	skip "namespaces" "unshare is not permitted here"
fi
