#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to page: index objects, statistics, samples, and the summary of a function have the
# numbers of er_print's reports; tabs without data are hidden.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"
need_page

cat >"$tmp/steps.js" <<'EOJ'
const squeezed = text => text.replace(/\s+/g, ' ').trim()

// The lines of er_print's report, as the page shows the panels of one.
const linesOf = text => text.split('\n').map(squeezed).filter(Boolean)

async function panelLines(page, where) {
	return page.$$eval(`${where} .panel tr`, rows => rows.map(r => [...r.children].map(c => c.textContent).join(' ').replace(/\s+/g, ' ').trim()))
}

async function filterOf(t, page) {
	return await page.isVisible('.command') ? t.shellWords(await page.textContent('.command')).slice(1) : []
}

// Totals of each kind of index object.
async function indexObjects(t, page, what, filter, file, kinds) {
	await page.click('#tab-index')
	for (const kind of kinds) {
		await page.click(`#view-index .crumbs button[value=${kind}]`)
		const got = (await t.tableRows(page, 'index')).map(r => [r[0], r[r.length - 1]])
		t.sameRows(`${what}: ${kind}`, got, t.erPrint([...filter, '-metrics', 'e.total:name', `-${kind}`, file]))
	}
}

async function index(t) {
	const page = await t.openPage(t.browser, 'w.html')
	await indexObjects(t, page, 'everything', [], 'w.er', ['seconds', 'states'])
	t.check('no samples, no list of them', await page.$('#view-index button[value=samples]') === null, '')
	const plain = await t.tableRows(page, 'index')
	await page.click('#view-index .crumbs button[value=graph]')
	t.sameRows('Graphical: the same numbers', await t.tableRows(page, 'index'), plain)
	// The bar of each time, in percent of the longest in its column; <Total> has none.
	const bars = await page.$$eval('#view-index .tr', rows => rows.map(r => [...r.children].slice(0, -1).map(c => [
		Number(c.textContent), c.querySelector('.meter') ? parseFloat(c.querySelector('.meter').style.width) : 0])))
	const most = k => Math.max(...bars.slice(1).map(r => r[k][0]))
	const wrong = bars.slice(1).flatMap(r => r.filter(([sec, width], k) => sec && Math.abs(width - sec / most(k) * 100) > 1))
	t.check('Graphical: bars are as long as the times', bars.length > 3 && !wrong.length && bars[0].every(b => !b[1]) && bars[1][0][1] > 0,
		JSON.stringify(bars))
	await page.click('#view-index .crumbs button[value=text]')
	t.check('Text: no bars', await page.$('#view-index .meter') === null, '')
	await page.dblclick('#view-index .tr:has-text("USER_LOCK")')
	const filter = await filterOf(t, page)
	t.check('a double click filters', /STATE == USER_LOCK/.test(filter.join(' ')), filter.join(' '))
	await indexObjects(t, page, 'a state', filter, 'w.er', ['seconds', 'states'])
	t.check('index: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
	const long = await t.openPage(t.browser, 't.html')
	await indexObjects(t, long, 'several seconds', [], 't.er', ['seconds', 'samples'])
	await long.click('#view-index .crumbs button[value=seconds]')
	await long.dblclick('#view-index .tr:has-text("Second of execution 1")')
	const second = await filterOf(t, long)
	t.check('a second is a range', second.includes('-from'), second.join(' '))
	await indexObjects(t, long, 'a second', second, 't.er', ['seconds', 'samples'])
	await t.closePage(long)
}

// The panels of statistics and samples, and a sample that was clicked in the timeline.
async function samples(t) {
	const page = await t.openPage(t.browser, 't.html')
	await page.click('#tab-experiments')
	for (const kind of ['overview', 'statistics']) {
		await page.click(`#view-experiments button[value=${kind}]`)
		const got = await panelLines(page, '#view-experiments')
		t.sameRows(kind, got.filter(Boolean).map(l => [l]), linesOf(t.erPrintText([`-${kind}`, 't.er'])).map(l => [l]).filter(l => !/^\[X\] marks/.test(l[0])))
	}
	const detail = t.erPrintText(['-sample_detail', 't.er']).split(/\n(?=Sample Number)/).map(linesOf)
	t.check('there are samples', detail.length > 1, detail.join('\n'))
	await page.click('#view-experiments button[value=sample_detail]')
	await page.selectOption('#view-experiments select', { index: 1 })
	t.sameRows('a sample in the list', (await panelLines(page, '#view-experiments')).map(l => [l]), detail[1].map(l => [l]))
	// The triangle at the end of the sample, on the axis.
	const box = await page.locator('.lanes canvas').boundingBox()
	const end = Number(/End Time \(sec\.\):([\d.]+)/.exec(await page.textContent('#view-experiments .panel'))[1])
	const length = Number(/Duration: ([\d.]+) sec/.exec(t.erPrintText(['-overview', 't.er']))[1])
	await page.mouse.click(box.x + 230 + Math.min(0.999, end / length) * (box.width - 230), box.y + 3)
	t.check('a click on the axis selects the sample', await page.isVisible('#details'), `${end} of ${length}`)
	t.sameRows('the selected sample', (await panelLines(page, '#details')).map(l => [l]), detail[1].slice(1).map(l => [l]))
	await page.click('#details button:has-text("Only this time")')
	t.check('only this sample', /^-from \d+us -to \d+us$/.test((await filterOf(t, page)).join(' ')), await page.textContent('.command'))
	t.check('samples: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

// Metrics of er_print that the page's summary has, by its names.
const metrics = { 'Thread time': 'Total Thread Time', 'CPU time': lines => lines.some(l => l.startsWith('Exclusive CPU Time:')) ? 'CPU Time' : 'Total CPU Time', 'User CPU': 'User CPU Time', 'System CPU': 'System CPU Time',
	'Wait CPU': 'Wait CPU Time', 'User Lock': 'User Lock Time', 'Sleep': 'Sleep Time', 'Data Page Fault': 'Data Page Fault Time' }

async function summaryOf(t, page, what, filter, file, func) {
	await page.click('#tab-functions')
	await page.evaluate(() => { document.querySelector('#view-functions .table').scrollTop = 0 })
	await page.click(`#view-functions .tr:has(.td:last-child:text-is("${func}"))`)
	const lines = linesOf(t.erPrintText([...filter, '-fsingle', func, file]))
	const value = name => (lines.find(l => l.startsWith(name + ':')) || '').replace(/.*: /, '')
	const want = Object.entries(metrics).map(([name, of]) => [name, typeof of === 'string' ? of : of(lines)])
		.map(([name, label]) => [name, value('Exclusive ' + label), value('Inclusive ' + label)].join(' ').trim()).filter(l => !/ 0\. 0\.$/.test(l) && l.includes('.'))
	const rows = (await panelLines(page, '#details')).filter(l => Object.keys(metrics).some(m => l.startsWith(m + ' ')))
	t.sameRows(`${what}: times of ${func}`, rows.map(l => [l]), want.map(l => [l]))
	const text = squeezed(await page.innerText('#details dl'))
	for (const [name, label] of [['Load object', 'Load Object'], ['Source', 'Source File'], ['Size', 'Size'], ['Address', 'PC Address'], ['Aliases', 'Aliases']]) {
		const known = value(label)
		if (known && !known.endsWith(':') && known !== '(unknown)')
			t.check(`${what}: ${name} of ${func}`, text.includes(`${name} ${known}`), `${text}\n${known}`)
	}
}

async function summaries(t) {
	const page = await t.openPage(t.browser, 'w.html')
	for (const func of ['work', 'crunch', 'parse'])
		await summaryOf(t, page, 'everything', [], 'w.er', func)
	await page.click('#details .close')
	t.check('the summary is closed', await page.isHidden('#details'), '')
	await t.closePage(page)
	const ranged = await t.openPage(t.browser, 'w.html', { hash: '#from=300000&to=900000' })
	await summaryOf(t, ranged, 'a range', await filterOf(t, ranged), 'w.er', 'work')
	await t.closePage(ranged)
	const code = await t.openPage(t.browser, 'code.html')
	await summaryOf(t, code, 'code', [], 'code.er', 'hot')
	t.check('the source file is named', /Source \S*work\.c/.test(squeezed(await code.innerText('#details dl'))), await code.innerText('#details dl'))
	t.check('summaries: no complaint', !page.complaints.length && !code.complaints.length, [...page.complaints, ...code.complaints].join('\n'))
	await t.closePage(code)
}

async function tabs(t) {
	const page = await t.openPage(t.browser, 'code.html')
	const hidden = await page.$$eval('#tabs button[hidden]', all => all.map(b => b.textContent))
	t.check('tabs without data are hidden', ['Waits', 'Locks', 'Wakers', 'Run queue', 'Cgroups'].every(n => hidden.includes(n)) && !hidden.includes('Functions'), hidden.join(' '))
	await t.closePage(page)
	const full = await t.openPage(t.browser, 'w.html', { hash: '#hidden=["runqueue"]' })
	t.check('the address hides a tab', await full.isHidden('#tab-runqueue'), '')
	await full.click('summary:text-is("Tabs")')
	await full.uncheck('.choices label:has-text("Wakers") input')
	await full.check('.choices label:has-text("Run queue") input')
	t.check('tabs can be chosen', await full.isHidden('#tab-wakers') && await full.isVisible('#tab-runqueue') &&
		(await full.evaluate(() => location.hash)).includes(encodeURIComponent('"wakers"')), await full.evaluate(() => location.hash))
	await full.check('.choices label:has-text("Wakers") input')
	await full.keyboard.press('Escape')
	const lacks = await full.$$eval('#tabs button[hidden]', all => all.map(b => b.textContent))
	t.check('all other tabs are shown', !lacks.some(n => !['Cgroups', 'Spans', 'Counters', 'Memory objects', 'Memory, I/O'].includes(n)), lacks.join(' '))
	await t.closePage(full)
}

module.exports = async t => {
	await index(t)
	await samples(t)
	await summaries(t)
	await tabs(t)
}
EOJ

export_fixtures
put_code code.er
to_page w t
check "code: is written" er_export --to page -setpath made/src -o code.html code.er
in_browser
