#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to page of recordings without clock data: one has calls of spans only, one calls for memory only. Each tab that is
# shown has something to show; tabs of times are not shown; what the page says and what a click does.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"
need_page

cat >"$tmp/steps.js" <<'EOJ'
const LANE = 18, AXIS = 22

const tabsOf = page => page.$$eval('#tabs button:not([hidden])', all => all.map(b => b.id.slice(4)))

// Clicks through all tabs, and all choices of each. A tab that says nothing at all is a defect.
async function clickThrough(t, page, what, want) {
	const tabs = await tabsOf(page)
	t.check(`${what}: the tabs`, tabs.join() === want.join(), tabs.join())
	for (const tab of tabs) {
		await page.click('#tab-' + tab)
		// A click may replace the buttons.
		await page.$$eval(`#view-${tab} .crumbs button:not([disabled])`, all => all.forEach(b => b.isConnected && b.click()))
		await page.waitForFunction(id => !/still being read/.test(document.querySelector('#view-' + id).innerText), tab)
		const shown = await page.evaluate(id => {
			const view = document.querySelector('#view-' + id)
			return view.innerText.trim() || view.querySelector('canvas')
		}, tab)
		t.check(`${what}: ${tab} shows something`, shown, '')
	}
	t.check(`${what}: no complaint`, !page.complaints.length, page.complaints.join('\n'))
}

async function says(t, page, what) {
	const verdict = await page.innerText('#verdict')
	t.check(`${what}: there are no times by state, which is said`, /^The recording has no clock data/.test(verdict.trim()), verdict)
	t.check(`${what}: no state has a time`, !await page.$('#verdict .state, #verdict .cpusum'), verdict)
	t.check(`${what}: nothing is an estimate with an error`, !verdict.includes('±'), verdict)
	await page.waitForFunction(() => !document.querySelector('#status').textContent, null, { timeout: 5000 }).catch(() => null)
	t.check(`${what}: the page is read`, await page.textContent('#status') === '', await page.textContent('#status'))
}

async function spans(t) {
	const page = await t.openPage(t.browser, 'spans.html')
	await says(t, page, 'spans only')
	t.check('spans only: the page opens with the spans', await page.getAttribute('#tab-spans', 'aria-selected') === 'true', (await tabsOf(page)).join())
	const want = t.erPrint(['-spans', 'spans.er'])
	await page.waitForSelector('#view-spans .tr')
	t.check('spans only: all rows of er_print', (await t.tableRows(page, 'spans')).length === want.length, String(want.length))
	// Lanes: the process, thread 13 and below it its spans.
	const box = await page.locator('.lanes canvas').boundingBox()
	await page.focus('.lanes canvas')
	let text = ''
	for (let lane = 0; lane < 8 && !/Span/.test(text); lane++) {
		for (let x = 300; x < box.width && !/Span/.test(text); x += 60) {
			await page.mouse.click(box.x + x, box.y + AXIS + lane * LANE + LANE / 2)
			text = await page.isVisible('#details') ? await page.innerText('#details') : ''
		}
	}
	t.check('spans only: a call has details', /Span \w+/.test(text) && /\d (ms|s)/.test(text), text)
	await page.click('#details button:text-is("Only this time")')
	t.check('spans only: a call is a filter', /-from \d+us -to \d+us/.test(await page.innerText('.command')), await page.innerText('.command'))
	await page.click('#tab-spans')
	t.check('spans only: the report says that it does not obey', /of the whole recording: the filter of this page does not apply/.test(await page.innerText('#view-spans .notes')), '')
	await page.click('#view-spans .notes button:text-is("Clear the filter")')
	t.check('spans only: and a click clears the filter', await page.isHidden('.command'), '')
	await clickThrough(t, page, 'spans only', ['spans', 'experiments', 'about'])
	await t.closePage(page)
}

async function heap(t) {
	const page = await t.openPage(t.browser, 'heap.html', { wait: 'body.decoded.counted' })
	await says(t, page, 'heap only')
	t.check('heap only: the page opens with functions by a metric of the calls', await page.getAttribute('#tab-functions', 'aria-selected') === 'true' &&
		(await page.inputValue('#metric')).startsWith('n.heap'), await page.inputValue('#metric'))
	await clickThrough(t, page, 'heap only', ['flame', 'functions', 'callers', 'calltree', 'lines', 'source', 'objects', 'compare', 'memory', 'experiments', 'about'])
	await page.click('#tab-flame')
	const hash = await page.evaluate(() => location.hash), again = await t.openPage(t.browser, 'heap.html', { hash, wait: 'body.decoded.counted' })
	t.check('heap only: the address opens the same view', await again.getAttribute('#tab-flame', 'aria-selected') === 'true' &&
		await again.inputValue('#metric') === await page.inputValue('#metric'), hash)
	await t.closePage(again)
	await t.closePage(page)
}

module.exports = async t => {
	await spans(t)
	await heap(t)
}
EOJ

fresh
put spans.1.er spans.er
rm spans.er/_app_PID_12.1.er/profile
put heap.1.er whole.er
mv whole.er/_f1.er heap.er
to_page spans heap
check_that "spans only: there are no functions" "$(er_print -printmode csv -functions spans.er | grep -vc '<Total>') == 1"
in_browser
