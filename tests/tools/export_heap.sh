#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to page: memory in use over time and at its peak, allocations by size, and leaks of a sampled heap with their
# errors obey the filter of the page, with er_print's numbers under the same filter; so do objects of types that the user
# defined. A recording without clock data has a page.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"
need_page

cat >"$tmp/steps.js" <<'EOJ'
const trimmed = rows => rows.map(r => r.map(f => f.trim()))

// The command that the page shows for its filter, as arguments of er_print.
async function filterOf(t, page) {
	return await page.isVisible('.command') ? t.shellWords(await page.textContent('.command')).slice(1) : []
}

// er_print writes the mark of an estimate only in a text.
const unmarked = rows => rows.map(r => r.map(f => f.replace(/^~/, '')))
const words = text => text.replace(/\s+/g, ' ').trim()

async function choose(page, report) {
	await page.click('#tab-memory')
	await page.click(`#view-memory button[value=${report}]`)
}

async function memory(t, page, what, filter, file, sampled) {
	await choose(page, 'heapuse')
	await page.waitForSelector('#view-memory .th', { timeout: 10000 })
	const want = t.erPrint([...filter, '-heapuse', file]).filter(r => r.length > 1).map(r => sampled ? r : r.filter((_, i) => i !== 2))
	const got = trimmed(await t.tableRows(page, 'memory'))
	if (want.length)
		t.sameRows(what + ': memory over time', unmarked(got), want)
	else
		t.check(what + ': no memory', !got.length, String(got))
	t.check(what + ': estimates have a mark', got.every(r => r.slice(1).every((f, i) => f.startsWith('~') === (sampled && i !== 1 && f !== '0'))), String(got[0]))
	const note = t.erPrintText([...filter, '-printmode', 'text', '-heapuse', file]).match(/^(Temporary allocations: \d+|~ marks an estimate)/m)
	t.check(what + ': the note', (await page.innerText('#view-memory .notes')).startsWith(note[1]), await page.innerText('#view-memory .notes'))
	await choose(page, 'heapstat')
	const text = (await page.$$eval('#view-memory .panel', all => all.map(p => p.innerText))).join('\n')
	t.check(what + ': allocations by size', words(text) === words(t.erPrintText([...filter, '-heapstat', file])), `${text}\n${t.erPrintText([...filter, '-heapstat', file])}`)
}

async function stacks(t, page, what, filter, file) {
	for (const report of ['leaks', 'allocs']) {
		await choose(page, report)
		await page.waitForSelector('#view-memory .tr', { timeout: 10000 })
		const got = trimmed(await t.tableRows(page, 'memory'))
		t.sameRows(`${what}: ${report}`, unmarked(got), trimmed(t.erPrint([...filter, '-limit', '1000', `-${report}`, file])).map(r => r.slice(1)))
		t.check(`${what}: ${report} are estimates`, got.every(r => !r[1] || r[1] === '0' || r[1].startsWith('~')), String(got[0]))
	}
}

async function peak(t, page, what, filter, file, sampled) {
	await choose(page, 'heappeak')
	await page.waitForSelector('#view-memory .tr', { timeout: 10000 })
	const got = trimmed(await t.tableRows(page, 'memory')), text = t.erPrintText([...filter, '-printmode', 'text', '-heappeak', file])
	const want = trimmed(t.erPrint([...filter, '-limit', '1000', '-heappeak', file])).map(r => r.slice(-4)).map(r => sampled ? r : r.filter((_, i) => i !== 2))
	t.sameRows(what + ': in use at the peak', unmarked(got), want)
	t.check(what + ': blocks of the peak are estimates', got.every(r => !r[1] || r[1] === '0' || r[1].startsWith('~') === sampled), String(got[0]))
	const note = words(await page.innerText('#view-memory .notes')), wanted = text.match(/^The peak was at [^]*?\.$/m)
	t.check(what + ': when the peak was', wanted ? note.startsWith(words(wanted[0])) : !note.includes('The peak'), note)
	return got.length
}

// One page; each filter takes the place of the one before.
async function heap(t, file, sampled) {
	const page = await t.openPage(t.browser, file + '.html', { hash: '#view="memory"', wait: 'body.decoded.counted' }), seen = new Set()
	if (sampled)
		await page.check('#tools label:has-text("Standard errors") input')
	for (const expr of ['', 'TID == 1', 'FNAME("load") SOME IN STACK', 'TSTAMP >= 23ms && TSTAMP < 29ms', 'CPUID == 1 && PID == 4712', 'STATE == USER', '!(FNAME("free|munmap") SOME IN STACK)']) {
		await page.fill('#expression', expr)
		await page.press('#expression', 'Enter')
		const filter = await filterOf(t, page)
		t.check(`${file}: ${expr}: is accepted`, expr ? filter.includes(expr) : !filter.length, String(filter))
		await memory(t, page, `${file}: ${expr}`, filter, file + '.er', sampled)
		seen.add(await page.innerText('#view-memory .report'))
		const rows = await peak(t, page, `${file}: ${expr}`, filter, file + '.er', sampled)
		t.check(`${file}: ${expr}: the peak has stacks`, expr === 'STATE == USER' || rows > 2, String(rows))
		if (sampled && expr !== 'STATE == USER')
			await stacks(t, page, `${file}: ${expr}`, filter, file + '.er')
	}
	t.check(`${file}: the filters leave different sums`, seen.size >= 6, [...seen].join('\n'))
	t.check(`${file}: no complaint`, !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

// A process whose calls for memory were recorded, and nothing else.
async function withoutClock(t) {
	const page = await t.openPage(t.browser, 'only.html', { wait: 'body.decoded.counted' }), file = 'heap.er/_f1.er'
	const tabs = await page.$$eval('#tabs button:not([hidden])', all => all.map(b => b.id.slice(4)))
	t.check('no clock: tabs of times are hidden', ['functions', 'flame', 'calltree', 'memory', 'lines'].every(v => tabs.includes(v)) && !['threads', 'processes', 'waits', 'findings', 'index', 'cpus', 'locks'].some(v => tabs.includes(v)), tabs.join())
	t.check('no clock: the page says so', /no clock data/.test(await page.innerText('#verdict')), await page.innerText('#verdict'))
	const metrics = await page.$$eval('#metric option', all => all.map(o => o.value))
	t.check('no clock: metrics are those of the calls', metrics.length > 2 && metrics.every(m => m.startsWith('n.heap')), metrics.join())
	for (const expr of ['', 'TID == 5']) {
		await page.fill('#expression', expr)
		await page.press('#expression', 'Enter')
		const filter = await filterOf(t, page)
		await page.selectOption('#metric', 'n.heapallocbytes')
		const rows = (await t.tableRows(page, 'functions')).map(r => [...r.slice(0, 4), r.at(-1)])
		t.sameRows(`no clock: ${expr}: functions`, rows, t.erPrint([...filter, '-metrics', 'ei+%heapallocbytes:name', '-functions', file]).filter(r => r[2] !== '0'))
		await memory(t, page, `no clock: ${expr}`, filter, file, false)
	}
	await page.click('#tab-lines')
	await page.waitForSelector('#view-lines .tr', { timeout: 10000 })
	await page.click('#tab-flame')
	await t.dragRange(page, 0.7, 0.95)
	t.check('no clock: a range of the timeline is a filter', (await filterOf(t, page)).includes('-from'), '')
	t.check('no clock: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

// The tables of objects have er_print's numbers under the filter of the page, which is this expression.
async function objectRows(t, page, expr) {
	const filter = await filterOf(t, page)
	t.check(`objects: ${expr}: is accepted`, expr ? filter.includes(expr) : !filter.length, String(filter))
	await page.click('#tab-index')
	for (const type of ['Parity', 'Called']) {
		await page.click(`#view-index button[value=${type}]`)
		const want = t.erPrint([...filter, '-indxobj_metrics', 'e.total:name', '-indxobj', type, 'mem.er'])
		await page.waitForFunction(n => document.querySelectorAll('#view-index .tr').length >= n, want.length)
		t.sameRows(`objects: ${expr}: ${type}`, (await t.tableRows(page, 'index')).map(r => [r[0], r.at(-1)]), want)
	}
	await page.click('#tab-memobj')
	const types = await page.$$eval('#view-memobj .crumbs button', all => all.map(b => b.value))
	t.check('objects: types are built in or defined', types.includes('Vpage_8K') && types.includes('Half'), types.join())
	for (const type of ['Vpage_8K', 'Pline_64B', 'Half']) {
		await page.click(`#view-memobj button[value=${type}]`)
		await page.waitForSelector('#view-memobj .tr', { timeout: 10000 })
		t.sameRows(`objects: ${expr}: ${type}`, trimmed(await t.tableRows(page, 'memobj')), trimmed(t.erPrint([...filter, '-memobj', type, 'mem.er'])))
	}
}

// A row of an object becomes the filter, in place of another object; it joins any other expression.
async function objectFilters(t, page) {
	const open = async (tab, type, row) => {
		await page.click('#tab-' + tab)
		await page.click(`#view-${tab} button[value=${type}]`)
		await page.locator(`#view-${tab} .tr`).nth(row).dblclick()
		return page.inputValue('#expression')
	}
	await page.fill('#expression', '')
	await page.press('#expression', 'Enter')
	t.check('objects: <Total> is no filter', !await open('memobj', 'Vpage_8K', 0), await page.inputValue('#expression'))
	for (const [tab, type, form] of [['index', 'Parity', /^Parity == [01]$/], ['index', 'Called', /^Called == ".*"$/], ['memobj', 'Vpage_8K', /^Vpage_8K == \d+$/]]) {
		const expr = await open(tab, type, 1)
		t.check(`objects: a row of ${type} is a filter`, form.test(expr), expr)
		await objectRows(t, page, expr)
	}
	await page.fill('#expression', 'STATE == USER || Parity == 1')
	await page.press('#expression', 'Enter')
	const joined = await open('memobj', 'Half', 1)
	t.check('objects: a row joins an expression', /^\(STATE == USER \|\| Parity == 1\) && Half == -?\d+$/.test(joined), joined)
	await objectRows(t, page, joined)
	for (const name of ['Either', 'Anywhere', 'Huge']) {
		await page.fill('#expression', name + ' == 3')
		await page.press('#expression', 'Enter')
		t.check(`objects: ${name} is refused`, new RegExp(`cannot evaluate ${name}`).test(await page.textContent('#expression-error')), '')
	}
}

// Types of objects that .er.rc defines are tabs of index and memory objects, and names in filters.
async function objects(t) {
	const page = await t.openPage(t.browser, 'objects.html', { hash: '#view="index"&expr="Half+%3D%3D+-1"'.replace(/\+/g, '%20'), wait: 'body.decoded.counted' })
	await page.waitForFunction(() => !/still being read/.test(document.querySelector('#verdict').innerText))
	await objectRows(t, page, 'Half == -1')
	for (const expr of ['', 'CPUID == 0', 'FNAME("next") SOME IN STACK', 'Parity == 1', '!(parity IN (0, 7))', 'Half != -1 || STATE == USER', 'Vpage_8K > 0', 'Called == "a.*"', 'Big == 2', 'Odd == -1', 'Odd != -1']) {
		await page.fill('#expression', expr)
		await page.press('#expression', 'Enter')
		await objectRows(t, page, expr)
	}
	await objectFilters(t, page)
	t.check('objects: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

module.exports = async t => {
	await heap(t, 'heap', false)
	await heap(t, 'some', true)
	await withoutClock(t)
	await objects(t)
}
EOJ

fresh
put heap.1.er heap.er
put some.1.er some.er
to_page heap some
put mem.1.er mem.er
# Odd is -1 for some packets; Either is also unknown for others, and Anywhere is known of packets without addresses: the page
# cannot tell what er_print would do.
printf '%s\n' 'indxobj_define Parity CPUID%2' 'mobj_define Half VADDR>>32' 'indxobj_define Called COMM' 'indxobj_define Big TID*2' \
	'indxobj_define Odd TID%2?TID:-1' 'indxobj_define Either VADDR>0?-1:-1' 'mobj_define Anywhere TID' \
	'indxobj_define Huge TID<<60' >.er.rc
check "with types of objects of .er.rc: is written" er_export --to page -o objects.html mem.er
check "a process without clock data: is written" er_export --to page -o only.html heap.er/_f1.er
check "without anything that passes there is no page" sh -c '! er_export --to page -filters "TID == 99" -o none.html heap.er/_f1.er 2>err && grep -q "nothing to export" err && [ ! -e none.html ]'
er_export --to page --redact -o redacted.html heap.er
check_that "a redacted page has no addresses of memory" "$(grep -c 'data-pack="heap"' redacted.html) == 0 && $(grep -c 'data-pack="heap"' heap.html) == 1"
in_browser
