#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Calls of spans in traces: each recorded call is a slice of Perfetto or a marker of the Firefox Profiler,
# with its name, its times by state and its numbers. Texts stay out.
. "$(dirname "$0")/../lib/tools.sh"


fresh
put spans.1.er s.er
all=$(perl "$top/tests/lib/query.pl" 'count() sum(SPANDUR) from spans' s.er | tr '\t' ' ')

if command -v protoc >/dev/null; then
	er_export --to perfetto -o t.gz s.er && zcat t.gz |
		protoc -I"$top/tests/tools" --decode perfetto.protos.Trace perfetto.proto >text 2>err
	check_that "Perfetto: protoc knows every field" "$(grep -cE '^ *[0-9]+[:{ ]' text) == 0 && $(wc -l <text) > 100" "$(cat err)"
	# A line for each slice: track, begin, length, depth on the track, name. Ends come before begins of the same time.
	awk '
		/^packet/ { type = track = name = category = "" }
		/^  timestamp: / { t = $2 }
		/ type: / { type = $2 }
		/ track_uuid: / { track = $2 }
		/ categories: / { category = $2 }
		/^    name: / { name = $2 }
		/^}/ && type == "TYPE_SLICE_BEGIN" && category == "\"span\"" {
			ours[track] = 1; n = ++depth[track]; begun[track, n] = t; called[track, n] = name }
		/^}/ && type == "TYPE_SLICE_END" && ours[track] {
			n = depth[track]--; print track, begun[track, n], t - begun[track, n], n, called[track, n] }
		END { for (i in depth) if (depth[i]) print "open" }' text >slices
	check_that "Perfetto: each recorded call is a slice" "$(wc -l <slices) == ${all% *} && $(awk '{ s += $3 } END { printf "%.0f", s }' slices) == ${all#* }"
	check_that "Perfetto: calls are inside those that made them" "$(grep -c ' 3 "rec"' slices) == 1 &&
		$(awk '$3 == 60000000 { t = $1; b = $2 } $5 == "\"inner\"" { it = $1; ib = $2; n = $4 }
			END { print (t "" == it "" && n == 2 && ib > b) }' slices) == 1 && $(awk '$3 <= 0' slices | wc -l) == 0" "$(cat slices)"
	check_that "Perfetto: the slowest has its states and its numbers" "$(grep -c 'string_value: "arguments 42, -1, 0, 7"' text) == 1 &&
		$(grep -A1 'name: "User Lock ns"' text | cat - text | grep -c 'uint_value: 8000000') >= 1"
	check_that "Perfetto: no text" "$(grep -c select text) == 0"
	er_export --to perfetto -o t.gz -filters 'SPAN=="q" && SPANPCT>=99' s.er && zcat t.gz |
		protoc -I"$top/tests/tools" --decode perfetto.protos.Trace perfetto.proto >text 2>err
	check_that "Perfetto: a filter chooses calls" "$(grep -c 'categories: "span"' text) >= 1 &&
		$(grep -c 'categories: "span"' text) < 5" "$(grep -c 'categories: "span"' text) $(cat err)"
else
	skip "Perfetto" "protoc is not installed: apt-get install protobuf-compiler"
fi

if command -v node >/dev/null; then
	er_export --to firefox -o p.gz s.er
	cat >read.js <<'EOJ'
const fs = require('fs'), zlib = require('zlib')
const p = JSON.parse(zlib.gunzipSync(fs.readFileSync(process.argv[2])))
for (const { tid, markers: m } of p.threads) {
	for (const c of ['data', 'name', 'startTime', 'endTime', 'phase', 'category'])
		if (m[c].length !== m.length) throw new Error(c)
	m.data.forEach((d, i) => d.type === 'span' && console.log([tid, p.shared.stringArray[m.name[i]],
		Math.round((m.endTime[i] - m.startTime[i]) * 1e6), d.rank, d.states, d.facts || ''].join('\t')))
}
if (!p.meta.markerSchema.some(s => s.name === 'span')) throw new Error('schema')
EOJ
	node read.js p.gz >markers 2>err
	check_that "Firefox: each recorded call is a marker" "$(wc -l <markers) == ${all% *} &&
		$(awk -F'\t' '{ s += $3 } END { printf "%.0f", s }' markers) == ${all#* }" "$(cat err)"
	check_that "Firefox: the slowest has its states and its numbers" "$(awk -F'\t' '$1 == 12 && $2 == "q" && $3 == 60000000 &&
		$4 == 2 && /User Lock 8.000000 ms/ && /Sleep 51.000000 ms/ && /arguments 42, -1, 0, 7/' markers | wc -l) == 1" "$(tail -n 5 markers)"
	check_that "Firefox: no text" "$(zcat p.gz | grep -c select) == 0"
else
	skip "Firefox" "node is not installed"
fi
