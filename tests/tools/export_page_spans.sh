#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Calls of spans in the page: a lane below each thread that has some, the details of a call, and what
# happened in slow calls. export_filter.sh has expressions about spans.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"
need_page

cat >"$tmp/steps.js" <<'EOJ'
const LANE = 18, AXIS = 22, LABEL = 230, FROM = 990000, TO = 1070000

// Clicks a lane, from the top, at a time in microseconds. Lanes: the process, thread 13, its spans, thread 12, its spans.
async function click(page, lane, time) {
	const box = await page.locator('.lanes canvas').boundingBox()
	await page.mouse.move(0, 0)
	await page.mouse.click(box.x + LABEL + (time - FROM) / (TO - FROM) * (box.width - LABEL), box.y + AXIS + lane * LANE + LANE / 2)
	return page.isVisible('#details') ? page.innerText('#details') : ''
}

const has = (text, ...words) => words.every(w => text.replace(/\s+/g, ' ').includes(w))

module.exports = async t => {
	const hash = `#lanes="threads"&viewFrom=${FROM}&viewTo=${TO}`
	const page = await t.openPage(t.browser, 's.html', { hash })
	let text = await click(page, 4, 1030000)
	t.check('the slowest call: its length, states, arguments', has(text, 'Span q', '60.0 ms', 'number 2', 'arguments 42, -1, 0, 7',
		'Sleep 51.0 ms 85.00', 'User Lock 8.00 ms 13.33', 'CPU 1.00 ms 1.67'), text)
	t.check('no text of a call', !/select/.test(text), text)
	text = await click(page, 4, 1055000)
	t.check('the call inside it', has(text, 'Span inner', '8.00 ms', 'User Lock 8.00 ms 100.00'), text)
	const shared = await t.openPage(t.browser, 's.html', { hash: await page.evaluate(() => location.hash) })
	t.check('the address has the call', has(await shared.innerText('#details'), 'Span inner'), '')
	text = await click(page, 3, 1030000)
	t.check('the thread has its own lane', !/Span/.test(text) && text, text)
	const fast = await t.openPage(t.browser, 's.html', { hash: `#lanes="threads"&viewFrom=${FROM - 9e5}&viewTo=${TO - 9e5}` })
	text = await click(fast, 4, 1005500)
	t.check('another call has its own', has(text, 'Span q', '1.10 ms', 'arguments 10'), text)
	await fast.click('#details button:text-is("The slowest")')
	text = await fast.innerText('#details')
	t.check('from it to the slowest', has(text, 'Span q', '100 ms', 'number 1', 'still open at the end'), text)
	await fast.click('#details button:text-is("Only this time")')
	t.check('its time is the filter', has(await fast.innerText('.command'), '-from 1900000us', '-to 2000000us', 'TID == 13'), await fast.innerText('.command'))
	await fast.keyboard.press('c')
	await fast.click('#details button:text-is("Only slow calls")')
	const slow = t.shellWords(await fast.innerText('.command')).slice(1)
	t.sameRows('what happened in slow calls', (await t.tableRows(fast, 'functions')).map(r => [r[0], r[2], r[6]]).filter((r, i) => !i || r[1] !== '0.'),
		t.erPrint([...slow, '-metrics', 'ei.cpu:name', '-functions', 's.er']).filter((r, i) => !i || r[1] !== '0.'))
	const list = await t.openPage(t.browser, 's.html')
	await list.click('#tab-spans')
	text = await list.innerText('#view-spans .thead')
	t.check('means of all calls and of the slowest are told apart', has(text, 'All calls Mean us', 'Slowest 1 % Mean us') || has(text, 'All calls Mean ms', 'Slowest 1 % Mean ms'), text)
	await list.click('#view-spans button[value=calls]')
	const slowest = (await list.$$eval('#view-spans .tr', all => all.map(r => r.innerText.split('\n').join(' '))))
	t.check('the slowest calls of all names, in order', slowest[0].startsWith('100 ms Sleep 100 % q 1 ') && slowest[1].startsWith('60.0 ms Sleep 85 % q 2 ') &&
		slowest[2].startsWith('30.0 ms CPU 100 % rec 1 ') && /TID 13/.test(slowest[0]), slowest.slice(0, 3).join('\n'))
	await list.click('#view-spans .tr >> nth=1')
	text = await list.innerText('#details')
	t.check('a click leads to its states', has(text, 'Span q', '60.0 ms', 'number 2', 'Sleep 51.0 ms 85.00'), text)
	t.check('and to its time in the timeline', /viewFrom=/.test(await list.evaluate(() => location.hash)), await list.evaluate(() => location.hash))
	t.check('the list is still there', await list.isVisible('#view-spans .tr >> nth=2'), '')
	text = await click(page, 2, 1030000)
	t.check('no call is near', !/Span/.test(text), text)
	t.check('a wrong number in the address', !(await (await t.openPage(t.browser, 's.html', { hash: '#span=100000' })).isVisible('#details')), '')
	t.check('no complaint, no request', ![page, shared, fast, list].some(p => p.complaints.length), [page, shared, fast, list].flatMap(p => p.complaints).join('\n'))
	for (const colorScheme of process.env.PICTURES ? ['light', 'dark'] : []) {
		const seen = await t.openPage(t.browser, 's.html', { hash: hash, colorScheme })
		await click(seen, 4, 1030000)
		await seen.screenshot({ path: `${process.env.PICTURES}/spans-${colorScheme}.png` })
	}
	const none = await t.openPage(t.browser, 'w.html', { hash: '#lanes="threads"' })
	t.check('a recording without spans has no such lanes', !none.complaints.length, none.complaints.join('\n'))
}
EOJ
fresh
put spans.1.er s.er
put waits.1.er w.er
to_page s w
in_browser
