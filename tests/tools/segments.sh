#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Segments of a recording that are read together are the recording: every report and export of the group is that
# of the same recording without segments. Only what describes single experiments differs.
. "$(dirname "$0")/../lib/tools.sh"

fresh
put whole.1.er whole.1.er
put part.1.er part.1.er
put part.2.er part.2.er
put parts.erg parts.erg
for i in 1 2 3; do put third.$i.er third.$i.er; done
put thirds.erg thirds.erg

# same_as_whole NAME OPTIONS…: er_print's report of each group is that of the whole.
same_as_whole()
{
	local name=$1 group
	shift
	er_print "$@" whole.1.er >"$tmp/whole" 2>&1
	for group in parts thirds; do
		er_print "$@" $group.erg >"$tmp/parts" 2>&1
		if [ -s "$tmp/whole" ]; then check "$name, $group" diff "$tmp/whole" "$tmp/parts"; else not_ok "$name" "no output"; fi
	done
}

for report in functions threads processes seconds microstates "microstates processes" lifetimes cpus cgroups comms \
	callers-callees calltree findings objects waits locks runqueue wakers longest "wakechain app" waitpaths; do
	# shellcheck disable=SC2086
	same_as_whole "$report" -$report
done
same_as_whole "times and numbers of waits" -metrics e.sleep:e.lock:e.wait:e.waitcount -functions
er_print -printmode csv -locks parts.erg >"$tmp/out" 2>/dev/null
check_that "a lock has one row, with each wait once" "$(grep -c '^2,0.500,100.00,0.,2,.*lock at' "$tmp/out") == 1" "$(cat "$tmp/out")"
same_as_whole "waits as long as a divided one" -filters 'WAITLEN >= 600000000' -waits
same_as_whole "a range that begins in the second segment" -filters 'TSTAMP>1250000000' -threads
same_as_whole "a process whose PID came again" -filters 'PID==30 && SERIAL==2' -threads
same_as_whole "all CPU time of the second that the second segment has" -filters 'TSTAMP>=1000000000' -seconds
er_print -threads parts.erg >"$tmp/out"
check_that "a thread has one row" "$(grep -c 'app, PID 10, TID 10$' "$tmp/out") == 1" "$(cat "$tmp/out")"
check "folded threads of both segments are one row" grep -q 'cc1, 4 short-lived threads' "$tmp/out"
check "a PID that came again in another segment has a serial" grep -q 'new, PID 30, serial 2' "$tmp/out"

er_print -samples parts.erg >"$tmp/out"
check_that "samples of both segments are numbered together" "$(grep -c ', [0-9.]* to [0-9.]* sec., ' "$tmp/out") == 4" "$(cat "$tmp/out")"
check "and have the times of the recording" grep -q ', 1.500 to 2.000 sec., half to end' "$tmp/out"

# Named in any order, and without the first.
for report in threads microstates lifetimes seconds; do
	er_print -$report parts.erg | sort >"$tmp/out"
	er_print -$report part.2.er part.1.er | sort >"$tmp/turned"
	check "the order of segments does not matter: $report" diff "$tmp/out" "$tmp/turned"
done
er_print -seconds part.2.er >"$tmp/alone"
check_that "a segment alone begins at its own start" "$(grep -c 'Second of execution 0' "$tmp/alone") == 1" "$(cat "$tmp/alone")"

cp -R part.2.er again.er
er_print -threads parts.erg again.er >"$tmp/out" 2>"$tmp/err"
check "a segment that is named twice is told" grep -q "'part.2.er' and 'again.er' are the same segment" "$tmp/err"
er_print -threads parts.erg >"$tmp/out" 2>"$tmp/err"
check_that "others are not" "$(wc -l <"$tmp/err") == 0" "$(cat "$tmp/err")"

er_print -threads third.3.er third.1.er >"$tmp/out" 2>"$tmp/err"
check "a segment that is left out is told" grep -q "warning: 0.400 sec. lie between segments that are open" "$tmp/err"
check_that "by one sentence" "$(wc -l <"$tmp/err") == 1" "$(cat "$tmp/err")"

# Compared with each other they are two recordings.
er_print -compare on -printmode csv -seconds part.1.er part.2.er >"$tmp/out" 2>&1
check "segments that are compared both begin at 0" grep -q '^1.400,100.00,0.900,.*Second of execution 0' "$tmp/out"

er_print -compare on -printmode csv -threads part.1.er part.2.er >"$tmp/out" 2>&1
check "a thread of both has one row" grep -q '^0.700,50.00,0.700,.*"app, PID 10, TID 10"' "$tmp/out"
check "a thread of the second only has its name" grep -q '^0.,0.,0.100,.*"new, PID 30, serial 2, TID 30"' "$tmp/out"

for format in folded speedscope; do
	er_export --to $format -o whole.out whole.1.er 2>/dev/null
	er_export --to $format -o parts.out parts.erg 2>/dev/null
	sed -i 's/whole\.1\.er\|parts\.erg\|part\.[12]\.er/X/g' whole.out parts.out
	check "er_export --to $format" diff whole.out parts.out
	rm -f whole.out parts.out
done

# The page has one lane for a thread, and the times of the whole.
. "$top/tests/lib/export.sh"
need_page
cat >"$tmp/steps.js" <<'EOJ'
module.exports = async t => {
	for (const hash of ['', '#from=150000&to=1400000']) {
		const rows = {}
		for (const file of ['whole', 'parts']) {
			const page = await t.openPage(t.browser, file + '.html', { hash, wait: 'body.decoded' })
			rows[file] = []
			for (const tab of ['threads', 'processes', 'functions', 'waits', 'wakers', 'runqueue', 'locks'])
				rows[file].push(...await t.tableRows(page, tab))
			rows[file].push([await page.$eval('.lanes', e => e.scrollHeight)], await page.$$eval('.state', all => all.map(e => e.innerText)))
			t.check(`${file}${hash}: no complaint`, !page.complaints.length, page.complaints.join('\n'))
			await t.closePage(page)
		}
		t.check(`the page of segments is that of the whole ${hash}`, rows.whole.length > 6 && JSON.stringify(rows.whole) === JSON.stringify(rows.parts),
			rows.whole.map((r, i) => [r, rows.parts[i]].map(x => JSON.stringify(x))).filter(([a, b]) => a !== b).join("\n"))
	}
}
EOJ
for f in whole.1.er parts.erg; do
	check "$f: the page is written" er_export --to page -o "${f%%.*}.html" $f
done
check "segments named one by one: the page is written" er_export --to page -o named.html part.1.er part.2.er
check_that "they are not offered for a comparison" "$(pack named.html index | grep -c '"experiments":') == 1 && $(pack named.html index | grep -c '"groups":') == 0"
check "unless they are compared: the page is written" er_export --to page -compare on -o compared.html part.1.er part.2.er
check_that "then they are" "$(pack compared.html index | grep -c '"groups":') == 1"
lives() { pack $1.html index | node -e 'const d = JSON.parse(require("fs").readFileSync(0, "utf8"))
	console.log(d.threads.map(t => [t.name, t.begin, t.end].join()).sort().join("\n"))'; }
lives whole >"$tmp/whole"
lives parts >"$tmp/parts"
check "the page's threads have the lives of the whole" diff "$tmp/whole" "$tmp/parts"
check "which begin in the second segment, too" grep -q ',1600000,1660000$' "$tmp/parts"
in_browser
