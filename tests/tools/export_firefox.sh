#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to firefox: the profiles have the tables of format 60, complete and consistent, and
# their sums are er_print's. The Firefox Profiler is not in npm's registry, so no test loads the
# profiles into it.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"

command -v node >/dev/null || skip_all "node is not installed"
cat >"$tmp/read.js" <<'EOJ'
// node read.js FILE: check tables and references, then print "cpu NS", "waits NS" and a line for each marker.
const fs = require('fs'), zlib = require('zlib')
const p = JSON.parse(zlib.gunzipSync(fs.readFileSync(process.argv[2])))
const s = p.shared
const fail = what => { throw new Error(what) }
const columns = {
	stackTable: 'frame prefix', sources: 'uuid filename', resourceTable: 'lib name host type',
	nativeSymbols: 'libIndex address name functionSize',
	frameTable: 'address inlineDepth category subcategory func nativeSymbol innerWindowID line column',
	funcTable: 'name isJS relevantForJS resource source lineNumber columnNumber',
}
function table(name, t, names) {
	for (const c of names.split(' '))
		if (!Array.isArray(t[c]) || t[c].length !== t.length) fail(`${name}.${c}`)
}
function refs(name, column, n, none) {
	column.forEach(i => { if (i !== none && !(i >= 0 && i < n)) fail(`${name}: ${i} of ${n}`) })
}
for (const name in columns) table(name, s[name], columns[name])
refs('frame', s.stackTable.frame, s.frameTable.length)
s.stackTable.prefix.forEach((at, i) => { if (at !== null && !(at < i)) fail(`prefix ${i}`) })
refs('func', s.frameTable.func, s.funcTable.length)
refs('category', s.frameTable.category, p.meta.categories.length)
refs('func name', s.funcTable.name, s.stringArray.length)
refs('resource', s.funcTable.resource, s.resourceTable.length, -1)
refs('source', s.funcTable.source, s.sources.length, null)
refs('lib', s.resourceTable.lib, p.libs.length)
refs('resource name', s.resourceTable.name, s.stringArray.length)
refs('file name', s.sources.filename, s.stringArray.length)
if (p.meta.preprocessedProfileVersion !== 60) fail('version')
// The names of a stack, from the root.
function stack(i) {
	const names = []
	for (; i !== null; i = s.stackTable.prefix[i])
		names.unshift(s.stringArray[s.funcTable.name[s.frameTable.func[s.stackTable.frame[i]]]])
	return names.join(';')
}
const ns = ms => Math.round(ms * 1e6)
let cpu = 0, waits = 0, lines = []
for (const t of p.threads) {
	table('samples', t.samples, 'stack time weight threadCPUDelta')
	table('markers', t.markers, 'data name startTime endTime phase category')
	refs('sample', t.samples.stack, s.stackTable.length, null)
	refs('marker', t.markers.name, s.stringArray.length)
	t.samples.time.forEach((at, i, all) => { if (i && at < all[i - 1]) fail('order') })
	const sum = t.samples.weight.reduce((a, b) => a + ns(b), 0)
	if (typeof t.tid === 'string') waits += sum; else cpu += sum
	if (typeof t.tid === 'number' && t.samples.threadCPUDelta.reduce((a, b) => a + b, 0) !== sum) fail('CPU deltas')
	t.markers.data.forEach((d, i) => lines.push(['marker', t.name, t.tid, s.stringArray[t.markers.name[i]], d.state,
		ns(t.markers.startTime[i]), ns(t.markers.endTime[i]), d.holder, d.waker, stack(d.cause.stack)].join('\t')))
	t.samples.stack.forEach((at, i) => lines.push(['sample', t.name, t.tid, ns(t.samples.weight[i]), stack(at)].join('\t')))
}
console.log('cpu ' + cpu + '\nwaits ' + waits + '\n' + lines.join('\n'))
p.meta.extra[0].entries.forEach(e => console.log('about\t' + e.value))
EOJ

# profile EXPERIMENT OPTIONS…
profile() { er_export --to firefox -o p.gz "$@" 2>err && node "$tmp/read.js" p.gz >out 2>>err; }

# raw EXPERIMENT: the weight of all packets of waits, in nanoseconds, remainders among them.
raw()
{
	er_export "$1" | awk '/^packet.* WLEN=/ { split("", f)
		for (i = 3; i <= NF; i++) { split($i, a, "="); f[a[1]] = a[2] }
		n += f["NTICK"] } END { printf "%.0f\n", n * 1e6 }'
}
sum() { sed -n "s/^$1 //p" out; }

export_fixtures
for e in w s t cut bad; do
	profile $e.er
	check_that "$e: whole and consistent" "$? == 0" "$(cat err)"
	cpu=$(total cpu $e.er)
	[ "$cpu" ] || cpu=$(total totalcpu $e.er)
	check_that "$e: samples add up to the CPU time" "$(sum cpu) == $cpu && $cpu > 0" "$(head -n 2 out)"
done
profile w.er
check_that "waits add up to all time off a CPU" "$(sum waits) == $(raw w.er) && $(sum waits) > 0"
check_that "remainders are no markers" "$(grep -c '^marker' out) < $(grep -c '^sample' out) && \
	$(grep '^marker' out | grep -c '<Unsampled') == 0" "$(grep marker out)"
check_that "a marker has its times, state, holder, waker and stack" "$(grep -c \
	'^marker	worker	13	user lock	User Lock	500000000	550000000	worker (TID 14)	worker (TID 14)	start_thread;work;lock_queue;.*__schedule$' out) == 1" \
	"$(grep marker out)"
check_that "an interrupt is a waker" "$(grep -c '^marker	crond.*	an interrupt	' out) == 1" "$(grep marker out)"
check_that "stacks go from the root to the leaf" "$(grep -c '^sample	app	12	100000000	main;serve;parse$' out) == 1" "$(grep sample out)"
check_that "sampled waits are marked as estimates" "$(grep -c '^about	Waits are sampled' out) == 1"
profile -from 300ms -to 700ms -pid 12 w.er
check_that "a filter" "$(sum cpu) == $(total cpu -from 300ms -to 700ms -pid 12 w.er) && $(sum cpu) > 0" "$(cat out)"
profile cut.er
check_that "a killed recording is said to be" "$(grep -c '^about	.*was not closed' out) == 1"
profile bad.er
check_that "names with quotes and control characters" "$(grep -cF 'main;\x1b]0;owned\x07' out) == 1 && $(grep -c 'main;a,"b"$' out) == 1" "$(cat out)"
