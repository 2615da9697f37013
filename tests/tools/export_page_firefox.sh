#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to page in Firefox: the page opens from disk, decodes, and shows er_print's figures,
# with and without a filter. Chromium has the other tests of the page.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"
FIREFOX=$(command -v firefox-esr || command -v firefox) ||
	skip_all "Firefox is not installed (Debian's package firefox-esr)"
command -v node >/dev/null || skip_all "node is not installed"
export FIREFOX test PATH

cat >"$tmp/steps.js" <<'EOJ'
// Times and names of functions, without those that only waited.
const functions = rows => rows.map(r => [...r.slice(0, 4), r[6]]).filter((r, i) => !i || r[2] !== '0.')

// Totals by state of er_print -microstates, without the shares beside them and without zeros.
const totals = rows => rows.map(r => [r[0], ...r.slice(1, -2).filter((_, i) => i % 2 === 0).slice(0, 11), r[r.length - 1]]
	.filter(f => f !== '0.'))

async function decoded(page) {
	return page.run(`const wait = () => document.body.classList.contains('decoded') ? done(true) : setTimeout(wait, 50)
		wait()`)
}

module.exports = async t => {
	for (const file of ['w', 's']) {
		const page = await t.open(file + '.html')
		t.check(file + ': all events are decoded', await decoded(page), '')
		t.sameRows(file + ': functions', functions(await page.rows('functions')),
			t.erPrint(['-metrics', 'ei.%cpu:name', '-functions', file + '.er']))
		t.sameRows(file + ': states of threads', (await page.rows('threads')).map(r => r.filter(f => f !== '0.')),
			totals(t.erPrint(['-microstates', file + '.er'])))
		const loaded = await page.run(`done(performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith('blob:')))`)
		t.check(file + ': nothing else is loaded', !loaded.length, loaded.join('\n'))
	}
	const page = await t.open('w.html')
	await decoded(page)
	await page.run(`[...document.querySelectorAll('.state')].find(e => /User CPU/.test(e.textContent)).click(); done()`)
	t.sameRows('a state: functions', functions(await page.rows('functions')),
		t.erPrint(['-filters', 'STATE == USER', '-metrics', 'ei.%cpu:name', '-functions', 'w.er']))
	const drawn = await page.run(`const c = document.querySelector('.lanes canvas')
		const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, seen = new Set()
		for (let i = 0; i < p.length; i += 4)
			seen.add(p[i] << 16 | p[i + 1] << 8 | p[i + 2])
		done(seen.size)`)
	t.check('the timeline is drawn', drawn > 5, drawn + ' colours')
}
EOJ

export_fixtures
for e in w s; do
	check "$e: is written" er_export --to page -o $e.html $e.er
done
# Firefox writes into HOME. The HOME of tests, /nonexistent, must not be created.
mkdir home
HOME=$PWD/home TMPDIR=$PWD/home node "$top/tests/lib/firefox.js" "$tmp/steps.js" || failures=1
