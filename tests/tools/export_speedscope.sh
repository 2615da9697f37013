#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to speedscope: the files are valid by speedscope's own schema, and their sums are
# er_print's.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"
. "$top/tests/lib/npm.sh"
need_npm speedscope@1.25.0 ajv@8.17.1

cat >"$tmp/read.js" <<'EOJ'
// node read.js FILE: check a file by the schema, and print its profiles: name, unit, sum, largest stack.
const fs = require('fs'), path = require('path')
const release = path.join(process.env.NODE_PATH, 'speedscope/dist/release')
const Ajv = require('ajv').default
const file = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'))
const valid = new Ajv({ strict: false }).compile(
	JSON.parse(fs.readFileSync(path.join(release, 'file-format-schema.json'), 'utf8')))
if (!valid(file)) throw new Error(JSON.stringify(valid.errors))
for (const p of file.profiles) {
	const sum = p.weights.reduce((a, b) => a + b, 0)
	if (p.samples.length !== p.weights.length || sum !== p.endValue) throw new Error(p.name)
	const most = p.samples[p.weights.indexOf(Math.max(...p.weights))]
	const names = most.map(i => file.shared.frames[i].name)
	console.log([p.name, p.unit, sum, names.join(';')].join('\t'))
}
EOJ

# profiles EXPERIMENT OPTIONS…
profiles() { er_export --to speedscope -o s.json "$@" 2>err && node "$tmp/read.js" s.json >out 2>>err; }

first() { awk -F'\t' 'NR == 1 { print $3 }' out; }
others() { awk -F'\t' 'NR > 1 { n += $3 } END { printf "%.0f\n", n }' out; }

export_fixtures
for e in w:cpu w:total s:cpu t:total t:sleep c:user c:heapallocbytes c:cycles cut:user bad:user; do
	metric=${e#*:}
	case $metric in cycles) want=10000030 ;; *) want=$(total "$metric" ${e%:*}.er) ;; esac
	profiles --metric "$metric" ${e%:*}.er
	check_that "$e: valid, and adds up" "$? == 0 && $(first) == $want && $(others) == $want && $want > 0" "$(cat err out)"
done
profiles --metric total -pid 12 -to 500ms w.er
check_that "a filter" "$(first) == $(total total -pid 12 -to 500ms w.er) && $(first) > 0" "$(cat out)"
profiles w.er
check_that "stacks go from the root to the leaf" "$(grep -c "start_thread;work;crunch$" out) == 3" "$(cat out)"
check_that "a profile for each thread" "$(grep -c '^app, PID 12, TID 13 (worker)	nanoseconds	300000000	' out) == 1" "$(cat out)"
profiles --root reason w.er
check_that "reasons as roots" "$(grep -c '	timer;<crond_PID_40>;' out) == 2 && $(first) == $(total total w.er)" "$(cat out)"
profiles --metric heapallocbytes c.er
check_that "bytes" "$(grep -c '	bytes	' out) > 0" "$(cat out)"
profiles bad.er
check_that "names with quotes and control characters" "$(grep -cF 'main;\x1b]0;owned\x07' out) == 2 &&
	$(grep -c 'a,\\"b\\"' s.json) == 1" "$(cat out s.json)"
