#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to page: counters, data objects, memory and I/O obey the filter of the page. All tables have er_print's
# numbers under the same filter. What is missing in a file that was cut is said.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"
need_page

cat >"$tmp/steps.js" <<'EOJ'
const trimmed = rows => rows.map(r => r.map(f => f.trim()))
// Rows without any of these values.
const some = (rows, n) => rows.filter((r, i) => !i || r.slice(0, n).some(v => v !== '0' && v !== '0.'))

// The command that the page shows for its filter, as arguments of er_print.
async function filterOf(t, page) {
	return await page.isVisible('.command') ? t.shellWords(await page.textContent('.command')).slice(1) : []
}

async function filtered(t, file, hash, expr, act) {
	const page = await t.openPage(t.browser, file, { hash: '#' + hash, wait: 'body.decoded.counted' })
	if (expr) {
		await page.fill('#expression', expr)
		await page.press('#expression', 'Enter')
		t.check(`${expr}: is accepted`, (await filterOf(t, page)).includes(expr), await page.innerText('#filter'))
	}
	await act(page, await filterOf(t, page))
	t.check(`${hash} ${expr}: no complaint`, !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

// Filters of the recording with counters. Every third is tried with all tables.
const filters = [['', ''], ['from=170011&to=215003', ''], ['cpus=[1]', ''], ['threads=[1,2]', ''], ['from=180000', 'CPUID == 0 && TID IN (1, 3)'],
	['', 'FNAME("warm") SOME IN STACK'], ['', '!(FNAME("hot") SOME IN STACK) || TSTAMP < 190ms'], ['', 'STATE == USER'], ['', '!(STATE == USER)'],
	['', 'STATE == USER || CPUID == 1'], ['', '!(REASON == DISK) && TID == 2'], ['states=[0]', ''], ['', 'LEAF IN FNAME("mix|warm")']]

async function functions(t, page, what, filter) {
	const got = (await t.tableRows(page, 'functions')).map(r => [...r.slice(0, 4), r[5], r[6], r[8]])
	const want = t.erPrint([...filter, '-metrics', 'ei+%cycles:ei+insts:name', '-functions', 'counted.er'])
	t.sameRows(what + ': functions', some(got, 6), some(want.map(r => [r[0], r[1], r[2], r[3], r[4], r[5], r.at(-1)]), 6))
	return got[0].join()
}

async function callers(t, page, what, filter, func) {
	await page.click('#tab-functions')
	const row = page.locator(`#view-functions .tr:has(.td:last-child:text-is("${func}"))`)
	if (!await row.count())
		return
	await row.click()
	const got = (await t.tableRows(page, 'callers')).map(r => [r[0], r[2], r[3], r[4], r[5].replace(/^[↑↓] /, '')])
	const want = t.erPrint([...filter, '-cmetrics', 'aei+cycles:a+insts:name', '-csingle', func, 'counted.er']).map(r => [...r.slice(-5, -1), r.at(-1).replace(/^\*/, '')])
	const shown = rows => rows.filter(r => r[0] !== '0' || r[3] !== '0')
	t.sameRows(`${what}: callers and callees of ${func}`, shown(got), shown(want))
}

async function calltree(t, page, what, filter) {
	await page.click('#tab-calltree')
	await page.click('#view-calltree button:has-text("Unfold all")')
	const got = (await t.tableRows(page, 'calltree')).map(r => [String(r[0] - 1), r[1], r[2], r[3], r.at(-1).replace(/^[▾▸]/, '')])
	if (got.length > 1)
		t.sameRows(what + ': call tree', got, t.erPrint([...filter, '-metrics', 'i+%cycles:i+insts:name', '-calltree', 'counted.er']))
}

async function places(t, page, what, filter) {
	for (const kind of ['lines', 'pcs']) {
		await page.click('#tab-lines')
		await page.click(`#view-lines button[value=${kind}]`)
		await page.waitForSelector('#view-lines .tr', { timeout: 10000 })
		const got = (await t.tableRows(page, 'lines')).map(r => [...r.slice(0, 4), r[5], r[6], r.at(-1)])
		t.sameRows(`${what}: ${kind}`, some(got, 6), some(t.erPrint([...filter, '-metrics', 'ei+%cycles:ei+insts:name', `-${kind}`, 'counted.er']), 6))
	}
}

async function code(t, page, what, filter) {
	for (const [kind, button] of [['source', 'Source'], ['disasm', 'Disassembly']]) {
		await page.click('#tab-source')
		await page.click(`#view-source button:text-is("${button}")`)
		await page.selectOption('#view-source select', { label: 'hot' })
		await page.waitForSelector('#view-source .tr', { timeout: 10000 })
		// The columns of waits and of CPU time, and the object, are not er_print's.
		const got = (await t.tableRows(page, 'source')).map(r => [...r.slice(0, 5), r[6], r[7], r.at(-1)])
		t.sameRows(`${what}: ${kind}`, got, t.erPrint([...filter, '-metrics', 'ei+%cycles:ei+insts', '-setpath', 'made/src', `-${kind}`, 'hot', 'counted.er']))
	}
}

async function counters(t) {
	const totals = new Set()
	for (const [i, [hash, expr]] of filters.entries())
		await filtered(t, 'counted.html', `${hash ? hash + '&' : ''}metric="n.cycles"&columns=["n.insts"]`, expr, async (page, filter) => {
			const what = [hash, expr].filter(Boolean).join(' ') || 'everything'
			totals.add(await functions(t, page, what, filter))
			if (i % 3)
				return
			await calltree(t, page, what, filter)
			for (const func of ['hot', 'work'])
				await callers(t, page, what, filter, func)
			await places(t, page, what, filter)
			await code(t, page, what, filter)
		})
	t.check('the filters leave different sums', totals.size >= 7, [...totals].join('\n'))
	await filtered(t, 'counted.html', 'columns=["r.IPC","n.insts"]&cpus=[1]', '', async (page, filter) => {
		const got = (await t.tableRows(page, 'functions')).map(r => [...r.slice(5, 9), r.at(-1)])
		t.sameRows('instructions per cycle', some(got, 4), some(t.erPrint([...filter, '-metrics', 'ei+IPC:ei+insts:name', '-functions', 'counted.er']), 4))
	})
	// Cycles can be shown as time.
	await filtered(t, 'counted.html', 'metric="t.cycles"&from=180011', '', async (page, filter) => {
		const got = (await t.tableRows(page, 'functions')).map(r => [...r.slice(0, 4), r.at(-1)])
		t.sameRows('cycles as time', some(got, 4), some(t.erPrint([...filter, '-metrics', 'ei.%cycles:name', '-functions', 'counted.er']), 4))
	})
}

// Each metric of memory, I/O and locks in turn.
async function metrics(t) {
	for (const [hash, expr] of [['', ''], ['from=12000', ''], ['', 'FNAME("log|malloc") SOME IN STACK'], ['', 'TSTAMP < 27ms']])
		await filtered(t, 'c.html', hash, expr, async (page, filter) => {
			const ids = await page.$$eval('#metric option', all => all.map(o => o.value).filter(v => v.startsWith('n.')))
			t.check('metrics of all kinds can be chosen', ['heapleakbytes', 'ioreadtime', 'iowritebytes', 'syncn', 'insts'].every(m => ids.includes('n.' + m)), ids.join())
			for (const id of ids) {
				await page.selectOption('#metric', id)
				const name = id.slice(2), got = (await t.tableRows(page, 'functions')).map(r => [...r.slice(0, 4), r.at(-1)])
				const form = /time$|^sync$/.test(name) ? '.' : '+'
				t.sameRows(`${hash}${expr}: ${name}`, some(got, 4), some(t.erPrint([...filter, '-metrics', `ei${form}%${name}:name`, '-functions', 'c.er']), 4))
			}
			await page.click('#tab-memory')
			for (const report of ['leaks', 'allocs', 'ioactivity', 'iodetail']) {
				const button = await page.$(`#view-memory button[value=${report}]`)
				await button.click()
				await page.waitForSelector('#view-memory .tr', { timeout: 10000 })
				const want = trimmed(t.erPrint([...filter, '-limit', '10000', `-${report}`, 'c.er'])), panels = /^(leaks|allocs)$/.test(report)
				t.sameRows(`${hash}${expr}: ${report}`, trimmed(await t.tableRows(page, 'memory')), panels ? want.map(r => r.slice(1)) : want)
			}
			await page.click('#view-memory button[value=iostat]')
			const text = (await page.$$eval('#view-memory .panel', all => all.map(p => p.innerText))).join('\n'), want = t.erPrintText([...filter, '-iostat', 'c.er'])
			t.check(`${hash}${expr}: I/O statistics`, text.replace(/\s+/g, ' ').trim() === want.replace(/\s+/g, ' ').trim(), `${text}\n${want}`)
		})
}

async function data(t) {
	for (const [hash, expr] of [['', ''], ['cpus=[1]', ''], ['', 'FNAME("add|clear") SOME IN STACK']])
		await filtered(t, 'data.html', hash, expr, async (page, filter) => {
			await page.click('#tab-counters')
			for (const report of ['data_objects', 'data_layout']) {
				await page.click(`#view-counters button[value=${report}]`)
				await page.waitForSelector('#view-counters .tr', { timeout: 10000 })
				const want = trimmed(t.erPrint([...filter, `-${report}`, 'data.er']))
				t.sameRows(`${hash}${expr}: ${report}`, trimmed(await t.tableRows(page, 'counters')), report === 'data_layout' ? want.map(r => r.slice(1)) : want)
			}
		})
}

// A recording of the system, whose sub-experiments have counters, too.
async function system(t) {
	for (const [hash, expr] of [['', ''], ['', 'PID == 12'], ['', 'CPUID == 1 || LNAME("vmlinux") SOME IN STACK']])
		await filtered(t, 'hwc.html', hash, expr, async (page, filter) => {
			const ids = await page.$$eval('#metric option', all => all.map(o => o.value).filter(v => v.startsWith('n.')))
			for (const id of ids) {
				await page.selectOption('#metric', id)
				const got = (await t.tableRows(page, 'functions')).map(r => [...r.slice(0, 4), r.at(-1)])
				t.sameRows(`system: ${expr} ${id}`, some(got, 4), some(t.erPrint([...filter, '-metrics', `ei+%${id.slice(2)}:name`, '-functions', 'hwc.er']), 4))
			}
		})
}

// What the summary of a function says of counters, and what the table of counters says.
async function summary(t) {
	await filtered(t, 'counted.html', 'from=180011', '', async (page, filter) => {
		await page.click('#tab-counters')
		const got = (await t.tableRows(page, 'counters')).map(r => r.map(f => f.trim()))
		const want = t.erPrint([...filter, '-metrics', 'ei.user:ei+cycles:ei+insts:name', '-functions', 'counted.er'])
		t.sameRows('functions by counters', some(got, 6), some(want, 6))
		await page.click('#tab-functions')
		await page.click('#view-functions .tr:has(.td:last-child:text-is("hot"))')
		const row = (await page.innerText('#details tr:has-text("Instructions")')).split(/\t/).map(f => f.trim())
		const line = t.erPrint([...filter, '-metrics', 'ei+%insts:name', '-functions', 'counted.er']).find(r => r.at(-1) === 'hot')
		t.check('summary of a function', row.slice(1).join() === line.slice(0, 4).join(), `${row}\n${line}`)
	})
}

// A file that ends before the last packs, or within one.
async function cutFiles(t) {
	for (const [file, tab, button] of [['nolater', 'lines', null], ['nocode', 'source', null], ['nocode', 'lines', null], ['nocounts', 'memory', 'leaks'], ['within', 'lines', null]]) {
		const page = await t.openPage(t.browser, file + '.html', { wait: 'body.ready' })
		await page.click('#tab-' + tab)
		if (button)
			await page.click(`#view-${tab} button[value=${button}]`)
		await page.waitForFunction(tab => /incomplete/.test(document.querySelector(`#view-${tab}`).innerText), tab, { timeout: 5000 }).catch(() => 0)
		const text = await page.innerText('#view-' + tab)
		t.check(`${file}: ${tab} says that the file is incomplete`, /file is incomplete/.test(text) && !/still being read/.test(text), text)
		t.check(`${file}: so does the page`, /file is cut/i.test(await page.innerText('#status')), await page.innerText('#status'))
		await t.closePage(page)
	}
}

// A page that has no room for them has er_print's reports, and says so.
async function leftOut(t) {
	const page = await t.openPage(t.browser, 'left.html', { hash: '#from=180011' })
	t.check('left out: there are only times to choose', !(await page.$$eval('#metric option', all => all.map(o => o.value))).some(v => v[1] === '.'), '')
	await page.click('#tab-counters')
	await page.waitForSelector('#view-counters .tr', { timeout: 10000 })
	t.sameRows('left out: functions', trimmed(await t.tableRows(page, 'counters')), trimmed(t.erPrint(['-functions', 'counted.er'])))
	t.check('left out: the report says that it does not obey', /the filter of this page does not apply/.test(await page.innerText('#view-counters .notes')), await page.innerText('#view-counters .notes'))
	t.check('left out: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

module.exports = async t => {
	await leftOut(t)
	await counters(t)
	await metrics(t)
	await data(t)
	await system(t)
	await summary(t)
	await cutFiles(t)
}
EOJ

export_fixtures
put data.1.er data.er
put hwc.1.er hwc.er
put_code code.er
to_page c data hwc
check "counted: is written" er_export --to page -setpath made/src -o counted.html counted.er
er_export --to page --page-size 1k -o left.html counted.er 2>err
check_that "counters that take too much room are left out, which is said" "$(pack left.html counts | grep -cx none) == 1 && $(grep -c 'do not obey its filter' err) == 1" "$(cat err)"
# cut_at KIND BYTES FROM TO: the page FROM up to its first pack of this kind, and so many bytes of it.
cut_at()
{
	node -e 'const fs = require("fs"), [kind, more, from, to] = process.argv.slice(1), text = fs.readFileSync(from, "latin1")
		fs.writeFileSync(to, text.slice(0, text.lastIndexOf("<script", text.indexOf(`data-pack="${kind}"`)) + Number(more)), "latin1")' "$@"
}
cut_at later 0 counted.html nolater.html
cut_at later 90 counted.html within.html
cut_at code 0 counted.html nocode.html
cut_at counts 0 c.html nocounts.html
in_browser
