#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to page: the tables of the page, with and without a filter, have the numbers of
# er_print's reports; metrics and groupings can be chosen; keys work; long tables have few elements.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"
need_page

cat >"$tmp/steps.js" <<'EOJ'
// The command that the page shows for its filter, as arguments of er_print.
async function filterOf(t, page) {
	return await page.isVisible('.command') ? t.shellWords(await page.textContent('.command')).slice(1) : []
}

// Totals by state, without the shares beside them and without zeros.
function states(rows) {
	const sums = rows.map(r => [r[0], ...r.slice(1, -2).filter((_, i) => i % 2 === 0).slice(0, 11), r[r.length - 1]])
	return sums.map(r => r.filter(f => f !== '0.'))
}

async function processes(t, page, what, filter) {
	const got = (await t.tableRows(page, 'processes')).map(r => r.filter(f => f !== '0.'))
	t.sameRows(what + ': processes', got, states(t.erPrint([...filter, '-microstates', 'processes', 'w.er'])))
}

async function cpus(t, page, what, filter) {
	const got = (await t.tableRows(page, 'cpus')).map(r => [r[0], r[r.length - 1]])
	t.sameRows(what + ': CPUs', got, t.erPrint([...filter, '-metrics', 'e.total:name', '-cpus', 'w.er']))
}

async function objects(t, page, what, filter, file = 'w.er') {
	const got = (await t.tableRows(page, 'objects')).map(r => [...r.slice(0, 4), `${r[5]} (${r[6]})`])
	const want = t.erPrint([...filter, '-metrics', 'ei.%cpu:name', '-objects', file])
	t.sameRows(what + ': load objects', got.filter(r => r[2] !== '0.'), want.filter(r => r[2] !== '0.').map(r => [...r.slice(0, 4), r[4].replace(/, names from.*/, '')]))
}

// The rows of a table of waits, with their numbers: time, %, number, mean, longest, names.
async function waitTable(t, page, tab) {
	await page.click('#tab-' + tab)
	await page.waitForSelector('body.placed', { timeout: 10000 })
	return (await t.tableRows(page, tab)).map(r => [r[0], r[1], ...r.slice(3)])
}

// The same of a row of er_print.
const figures = r => [r[1], r[2], r[4], r[6], r[7], r[9].trim()]
const unmarked = rows => rows.map(r => r.map(f => f.replace(/^~/, '')))

// Which numbers are estimates: [time, number] of each row. Only the text says it.
const estimates = text => [...text.matchAll(/^ *(\d+\.\d*) +[\d.]+ +(~?\d+)/mg)].map(m => `${m[1]} ${m[2]}`)

async function waits(t, page, what, filter) {
	await page.click('#tab-waits')
	await page.click('#view-waits button[value=reason]')
	const got = await waitTable(t, page, 'waits'), want = t.erPrint([...filter, '-limit', '1000', '-waits', 'w.er'])
	t.sameRows(what + ': waits by reason', unmarked(got), want.filter(r => r[0] === '1' && !/^<Total>|^wait for a CPU:/.test(r[9])).map(figures))
	const all = estimates(t.erPrintText([...filter, '-limit', '1000', '-waits', 'w.er'])), marks = got.filter(r => r[2]).map(r => `${r[0]} ${r[2]}`)
	t.check(what + ': which numbers of waits are estimates', marks.every(m => all.includes(m)), `${marks}\n${all}`)
}

async function wakers(t, page, what, filter, file = 'w.er') {
	const got = (await waitTable(t, page, 'wakers')).map(r => [...r.slice(0, 5), r[6] ? `${r[5]} -> ${r[6]}` : r[5]])
	const want = t.erPrint([...filter, '-limit', '1000', '-wakers', file]).filter(r => r[0] === '1')
	t.sameRows(what + ': wakers', unmarked(got), want.map(figures))
}

// er_print's report has panels with a heading each, and a histogram.
async function runqueue(t, page, what, filter, file = 'w.er') {
	const panels = new Map()
	for (const r of t.erPrint([...filter, '-limit', '1000', '-runqueue', file])) {
		const rows = panels.get(r[0]) || []
		rows.push(figures(r))
		panels.set(r[0], rows)
	}
	const titles = { reason: '<Total>', holder: 'Who had the CPU:', waiter: 'Who waited:' }
	await page.click('#tab-runqueue')
	for (const [by, title] of Object.entries(titles)) {
		await page.click(`#view-runqueue .crumbs button[value=${by}]`)
		const got = (await waitTable(t, page, 'runqueue')).map(r => [...r.slice(0, 5), r[5] === '<Total>' ? title : r[5]])
		t.sameRows(`${what}: run queue by ${by}`, unmarked(got), [...panels.values()].find(p => p[0][5] === title) || [])
	}
}

// The rows of the call tree with their depths.
async function treeRows(t, page) {
	const rows = await t.tableRows(page, 'calltree')
	return rows.map(r => [String(r[0] - 1), ...r.slice(1, -1), r[r.length - 1].replace(/^[▾▸]/, '')])
}

async function calltree(t, page, what, filter, file = 'w.er', metric = 'cpu') {
	await page.click('#tab-calltree')
	await page.click('#view-calltree button:has-text("Unfold all")')
	t.sameRows(what + ': call tree', await treeRows(t, page), t.erPrint([...filter, '-metrics', `i.%${metric}:name`, '-calltree', file]))
}

// The panel of a function: callers, the function, callees. The page leaves out what has no time.
async function callers(t, page, what, filter, func, file = 'w.er', metric = 'cpu') {
	const want = t.erPrint([...filter, '-cmetrics', `a.${metric}:e.${metric}:i.${metric}:name`, '-csingle', func, file])
	await page.click('#tab-functions')
	await page.evaluate(() => { document.querySelector('#view-functions .table').scrollTop = 0 })
	await page.click(`#view-functions .tr:has(.td:last-child:text-is("${func}"))`)
	const got = (await t.tableRows(page, 'callers')).map(r => [r[0], r[2], r[3], r[4].replace(/^[↑↓] /, '')])
	t.sameRows(`${what}: callers and callees of ${func}`, got.filter(r => r[0] !== '0.'),
		want.map(r => [...r.slice(-4, -1), r[r.length - 1].replace(/^\*/, '')]).filter(r => r[0] !== '0.'))
}

// Lines and pcs, which have rows without time where the page has none.
async function places(t, page, what, filter, file = 'w.er', metric = 'cpu') {
	for (const kind of ['lines', 'pcs']) {
		await page.click('#tab-lines')
		await page.click(`#view-lines button[value=${kind}]`)
		await page.waitForSelector('#view-lines .tr', { timeout: 10000 })
		const got = (await t.tableRows(page, 'lines')).map(r => [...r.slice(0, 4), r[r.length - 1]])
		t.sameRows(`${what}: ${kind}`, got.filter(r => r[2] !== '0.'),
			t.erPrint([...filter, '-metrics', `ei.%${metric}:name`, `-${kind}`, file]).filter(r => r[2] !== '0.'))
	}
}

async function locks(t, page, what, filter, file = 'w.er') {
	await page.click('#tab-locks')
	await page.waitForSelector('#view-locks .tr', { timeout: 10000 })
	const rows = await t.tableRows(page, 'locks'), got = rows.map(r => [r[0], r[1], ...r.slice(3, 6).map(f => f.replace('~', '')), r[6].trim()])
	t.sameRows(what + ': locks', got, t.erPrint([...filter, '-limit', '1000', '-locks', file]).map(r => [r[1], r[2], r[4], r[6], r[7], r[9].trim()]))
	const marks = [...t.erPrintText([...filter, '-limit', '1000', '-locks', file]).matchAll(/^ *(\d+\.\d*) +\S+ +(~?\d+)/mg)].map(m => [m[1], m[2]])
	t.sameRows(what + ': which numbers of waits for locks are estimates', rows.filter(r => r[3]).map(r => [r[0], r[3]]), marks)
}

const all = { processes, cpus, objects, waits, wakers, runqueue, calltree, places, locks }

async function tables(t) {
	const page = await t.openPage(t.browser, 'w.html')
	for (const table of Object.values(all))
		await table(t, page, 'everything', [])
	for (const func of ['<Total>', 'work', 'serve', 'crunch'])
		await callers(t, page, 'everything', [], func)
	t.check('tables: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
	for (const [what, hash] of [['a range', '#from=300000&to=900000'], ['a process', '#processes=["1:12"]']]) {
		const filtered = await t.openPage(t.browser, 'w.html', { hash }), filter = await filterOf(t, filtered)
		t.check(what + ': there is a filter', filter.length > 0, hash)
		for (const table of Object.values(all))
			await table(t, filtered, what, filter)
		await callers(t, filtered, what, filter, 'work')
		await t.closePage(filtered)
	}
}

// Standard errors on demand: those of er_print, in each table of waits.
async function errors(t) {
	const page = await t.openPage(t.browser, 'w.html')
	await page.check('#tools label:has-text("Standard errors") input')
	const wakers = (await t.tableRows(page, 'wakers')).map(r => [r[0], r[1], r[8] ? `${r[7]} -> ${r[8]}` : r[7]])
	const all = t.erPrint(['-limit', '1000', '-wakers', 'w.er']).filter(r => r[0] === '1')
	t.check('errors: some wakers have one, some have none', new Set(all.map(r => r[3] === '0.')).size === 2, JSON.stringify(all))
	t.sameRows('errors of times by waker', wakers, all.map(r => [r[1], r[3], r[9]]))
	const holders = (await t.tableRows(page, 'runqueue')).map(r => [r[0], r[1]])
	const panels = t.erPrint(['-limit', '1000', '-runqueue', 'w.er']).map(r => [r[0], r[1], r[3], r[9].trim()])
	const group = panels.find(r => r[3] === 'Who had the CPU:')[0]
	t.sameRows('errors of waits for a CPU', holders, panels.filter(r => r[0] === group).map(r => [r[1], r[2]]))
	const reason = (await t.tableRows(page, 'waits')).filter(r => r.at(-1) === 'user lock').map(r => [r[0], r[1]])
	t.sameRows('errors of waits by reason', reason, t.erPrint(['-waits', 'w.er']).filter(r => r[9] === 'user lock').slice(0, 1).map(r => [r[1], r[3]]))
	t.check('errors: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

// A thread that had the CPU, but was not recorded itself.
async function unnamed(t) {
	const page = await t.openPage(t.browser, 'unnamed.html')
	await runqueue(t, page, 'a thread without a name', [], 'unnamed.er')
	await t.closePage(page)
}

async function recursion(t) {
	const page = await t.openPage(t.browser, 'rec.html')
	await calltree(t, page, 'recursion', [], 'rec.er', 'user')
	await callers(t, page, 'recursion', [], 'r', 'rec.er', 'user')
	await t.closePage(page)
}

// One state as the metric, another one beside it.
async function metrics(t) {
	const page = await t.openPage(t.browser, 'w.html')
	await page.click('#tab-functions')
	await page.selectOption('#metric', { label: 'User Lock' })
	const lock = (await t.tableRows(page, 'functions')).map(r => [...r.slice(0, 4), r[6]]).filter(r => r[2] !== '0.')
	t.sameRows('metric user lock', lock, t.erPrint(['-metrics', 'ei.%lock:name', '-functions', 'w.er']))
	await page.selectOption('#metric', { label: 'CPU time' })
	await page.click('.choice summary')
	await page.check('.choices label:has-text("System CPU") input')
	await page.keyboard.press('Escape')
	const two = (await t.tableRows(page, 'functions')).map(r => [r[0], r[2], r[5], r[6], r[8]]).filter(r => r[1] !== '0.')
	t.sameRows('two metrics', two, t.erPrint(['-metrics', 'e.cpu:i.cpu:e.system:i.system:name', '-functions', 'w.er']))
	t.check('the columns are in the address', /columns=/.test(await page.evaluate(() => location.hash)), '')
	await page.click('#view-functions .th button:has-text("Excl. System CPU")')
	const sorted = (await t.tableRows(page, 'functions')).slice(1).map(r => Number(r[5]))
	t.check('sorted by a chosen metric', sorted[0] > 0 && sorted.every((v, i) => !i || v <= sorted[i - 1]), sorted.join(' '))
	await page.click('#tab-calltree')
	await page.click('#view-calltree .choice summary, .choice summary')
	await page.check('.choices label:has-text("User Lock") input')
	await page.keyboard.press('Escape')
	const tree = (await t.tableRows(page, 'calltree')).map(r => [r[1], r[5], r[r.length - 1].replace(/^[▾▸]/, '')])
	t.check('a metric is added to the call tree', tree[0][2] === '<Total>' && tree[0][1] !== '', tree[0].join(' '))
	t.check('metrics: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

// Reports that the file has as er_print makes them. Text columns of er_print's CSV are the same texts.
async function reports(t) {
	const page = await t.openPage(t.browser, 'w.html')
	await page.evaluate(() => {
		const stream = window.DecompressionStream
		window.unpacked = 0
		window.DecompressionStream = function(kind) { window.unpacked++; return new stream(kind) }
	})
	// CSV has the counts of a histogram, which people see drawn.
	const drawn = f => !/^\d+( \d+){8}$/.test(f) ? f : f.split(' ').map((n, _, all) => ' .:-=+*#'[n > 0 ? 1 + Math.floor(n / Math.max(...all) * 6 + 0.5) : 0]).join('')
	const whole = rows => rows.map(r => r.map(f => drawn(f).trim().replace(/^~/, '')))
	const hidden = [2, 4] // the standard errors, which are shown on demand
	await page.click('#tab-locks')
	await page.click('#view-locks button[value=counted]')
	await page.waitForSelector('#view-locks .tr', { timeout: 10000 })
	t.sameRows('locks', whole(await t.tableRows(page, 'locks')),
		whole(t.erPrint(['-limit', '1000', '-locks', 'w.er']).map(r => r.slice(1).filter((_, i) => !hidden.includes(i)))))
	const shown = (await t.tableRows(page, 'locks'))[0][2], lengths = (await t.tableRows(page, 'locks'))[0][5]
	t.check('locks: lengths are drawn as er_print draws them', lengths.trim() && t.erPrintText(['-locks', 'w.er']).includes(` ${lengths.trimEnd()} `), lengths)
	const unpacked = await page.evaluate(() => window.unpacked)
	// The places of stacks, in two packs, and the report.
	t.check('a report is unpacked when it is looked at, and once', unpacked === 3, String(unpacked))
	t.check('locks: an estimated count has a ~', shown === t.erPrintText(['-locks', 'w.er']).match(/^ *[0-9.]+ +100.00 +(~\d+)/m)[1], shown)
	await page.check('#tools label:has-text("Standard errors") input')
	t.sameRows('locks with standard errors', whole(await t.tableRows(page, 'locks')),
		whole(t.erPrint(['-limit', '1000', '-locks', 'w.er']).map(r => r.slice(1))))
	await page.fill('#expression', 'PID == 12')
	await page.press('#expression', 'Enter')
	const said = await page.textContent('#view-locks .notes'), command = await page.textContent('#view-locks .notes code')
	t.check('a report says that it is of the whole recording', /^As er_print -locks, of the whole recording: the filter of this page does not apply/.test(said), said)
	t.check('and which command shows it under the filter', command === "er_print -filters 'PID == 12' -locks" && t.erPrint([...t.shellWords(command).slice(1), 'w.er']).length > 0, command)
	await page.click('#view-locks .notes button:text-is("Clear the filter")')
	t.check('a click beside the report clears the filter', await page.isHidden('.command'), '')
	t.check('without a filter there is no command', await page.$('#view-locks .notes code') === null, '')
	await locks(t, await t.openPage(t.browser, 'joined.html'), 'joined', [], 'joined.er')
	const truncated = await t.openPage(t.browser, 's.html')
	t.check('a stack is truncated', (await t.tableRows(truncated, 'functions')).some(r => r.at(-1) === '<Truncated-stack>'), '')
	await objects(t, truncated, 'truncated stacks', [], 's.er')
	const renamed = await t.openPage(t.browser, 'renamed.html')
	for (const [what, hash, filter] of [['all', '', []], ['a part', '#from=400000&to=900000', ['-from', '400ms', '-to', '900ms']]]) {
		const part = hash ? await t.openPage(t.browser, 'renamed.html', { hash }) : renamed
		await locks(t, part, 'renamed threads, ' + what, filter, 'renamed.er')
		await wakers(t, part, 'renamed threads, ' + what, filter, 'renamed.er')
		await runqueue(t, part, 'renamed threads, ' + what, filter, 'renamed.er')
	}
	await page.click('#tab-experiments')
	const header = await page.textContent('#view-experiments pre')
	const want = t.erPrintText(['-header', 'full', 'w.er'])
	t.check('the recording as er_print -header says it', header.trim() === want.trim(), header + '\n---\n' + want)
	await page.click('#view-experiments button[value=experiment_list]')
	t.sameRows('experiments', await t.tableRows(page, 'experiments'), t.erPrint(['-experiment_list', 'w.er']))
	await t.closePage(page)
	const code = await t.openPage(t.browser, 'code.html')
	await places(t, code, 'code', [], 'code.er', 'user')
	await code.fill('#expression', 'TSTAMP < 95ms')
	await code.press('#expression', 'Enter')
	await places(t, code, 'code with a filter', ['-filters', 'TSTAMP < 95ms'], 'code.er', 'user')
	t.check('reports: no complaint', !page.complaints.length && !code.complaints.length, [...page.complaints, ...code.complaints].join('\n'))
	await t.closePage(code)
}

// Annotated code: er_print's rows, with the marks of the hottest ones.
async function annotated(t, page, what, filter, kind, func) {
	const got = (await t.tableRows(page, 'source')).map(r => [...r.slice(0, 5), r.at(-1)])
	t.sameRows(`${kind} of ${func}${what}`, got, t.erPrint([...filter, '-metrics', 'ei.%user', '-setpath', 'made/src', `-${kind}`, func, 'code.er']))
	return got
}

async function source(t) {
	const page = await t.openPage(t.browser, 'code.html')
	for (const [kind, button] of [['source', 'Source'], ['disasm', 'Disassembly']]) {
		for (const func of ['hot', 'warm']) {
			await page.click('#tab-source')
			await page.click(`#view-source button:text-is("${button}")`)
			await page.selectOption('#view-source select', { label: func })
			// The table is scrolled to the first one.
			const hot = await page.waitForSelector('#view-source .tr.hot', { timeout: 10000 }).then(e => e.isVisible(), () => false)
			t.check(`${kind} of ${func}: the hottest row is marked and in sight`, hot, '')
			const whole = await annotated(t, page, '', [], kind, func)
			for (const expr of ['TSTAMP < 95ms', 'FNAME("warm") SOME IN STACK']) {
				await page.fill('#expression', expr)
				await page.press('#expression', 'Enter')
				const part = await annotated(t, page, ' under ' + expr, ['-filters', expr], kind, func)
				t.check(`${kind} of ${func} depends on the filter`, func !== 'hot' || part.join() !== whole.join(), part.slice(0, 9).join('\n'))
			}
			await page.keyboard.press('Escape')
			await page.click('#tab-source')
			await page.keyboard.press('c')
		}
	}
	await page.click('#tab-source')
	await page.click('#view-source button:text-is("Source")')
	await page.waitForSelector('#view-source optgroup', { state: 'attached', timeout: 10000 }).catch(() => 0)
	const files = await page.$$eval('#view-source optgroup', all => all.map(g => g.label + ': ' + [...g.children].map(o => o.textContent).sort().join()))
	t.check('functions with source can be chosen by file', files.length === 1 && /work\.c: .*hot,.*warm/.test(files[0]), files.join('\n'))
	const notes = await page.textContent('#view-source .notes')
	t.check('the page says how much of the time has code', /have (9[0-9.]+|100\.00) % of the time/.test(notes), notes)
	t.check('source: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
	const bare = await t.openPage(t.browser, 'less.html')
	await bare.click('#tab-source')
	t.check('the page says that code was left out', /--no-source or --redact/.test(await bare.textContent('#view-source .notes')), '')
	await t.closePage(bare)
}

// The page adds up events in pieces: none is left out or counted twice, wherever the range begins.
async function pieces(t) {
	const page = await t.openPage(t.browser, 'big.html', { hash: '#from=1234&to=154321' })
	const excl = (await t.tableRows(page, 'functions')).map(r => [r[0], r[6]]).filter(r => r[0] !== '0.')
	const want = t.erPrint(['-from', '1234us', '-to', '154321us', '-metrics', 'e.totalcpu:name', '-functions', 'big.er']).filter(r => r[0] !== '0.')
	t.check('a range of more than 4,096 events', Number(excl[0][0]) > 12, excl[0].join())
	t.sameRows('functions in a range of many events', excl, want)
	await t.closePage(page)
}

// Keys in a tree; few elements, however many rows.
async function keys(t) {
	const page = await t.openPage(t.browser, 'big.html')
	await page.click('#tab-calltree')
	await page.click('#view-calltree button:has-text("Unfold all")')
	const count = () => page.evaluate(() => [Number(document.querySelector('#view-calltree .table').getAttribute('aria-rowcount')),
		document.querySelectorAll('#view-calltree .tr').length])
	const [rows, elements] = await count()
	t.check('a long table has elements only for what is in sight', rows > 1000 && elements < 100, `${rows} rows, ${elements} elements`)
	const at = () => page.evaluate(() => {
		const row = document.querySelector('#view-calltree .tr.picked')
		const active = document.querySelector('#view-calltree .table').getAttribute('aria-activedescendant')
		return row && row.id === active ? [Number(row.getAttribute('aria-rowindex')), row.getAttribute('aria-expanded')] : []
	})
	await page.focus('#view-calltree .table')
	await page.keyboard.press('End')
	t.check('End goes to the last row', (await at())[0] === rows, `${await at()} of ${rows}`)
	await page.keyboard.press('Home')
	await page.keyboard.press('ArrowLeft')
	t.check('left folds', (await count())[0] === 2 && (await at())[1] === 'false', `${await count()} ${await at()}`)
	await page.keyboard.press('ArrowRight')
	await page.keyboard.press('ArrowRight')
	t.check('right unfolds, then goes down', (await at())[0] === 3, String(await at()))
	await page.keyboard.press('ArrowLeft')
	await page.keyboard.press('ArrowLeft')
	t.check('left goes to the caller', (await at())[0] === 2, String(await at()))
	await t.closePage(page)
}

module.exports = async t => {
	await tables(t)
	await errors(t)
	await unnamed(t)
	await recursion(t)
	await metrics(t)
	await reports(t)
	await pieces(t)
	await source(t)
	await keys(t)
}
EOJ

export_fixtures
put rec.1.er rec.er
put waits.1.er unnamed.er
put locks.1.er joined.er
# Threads that are renamed while others wait for them.
put waits.1.er renamed.er
cat >>renamed.er/names.xml <<'END'
<name pid="12" tid="13" at="600000000" comm="later"/>
<name pid="12" tid="14" at="500000000" comm="other"/>
<name pid="12" tid="14" at="800000000" comm="worker"/>
<name pid="20" tid="20" at="450000000" comm="guest"/>
END
sed -i '/<thread .* tid="12"/d' unnamed.er/threads.xml
put_code code.er
to_page w s rec unnamed joined renamed
check "code: is written" er_export --to page -setpath made/src -o code.html code.er
check_that "the text of source is in the file" "$(pack code.html code | grep -c 'if (s == 12345)') == 1"
check "--no-source" er_export --to page --no-source -setpath made/src -o none.html code.er
check_that "--no-source leaves out code" "$(pack none.html code | grep -cx none) == 1"
refuses "--no-source of another format" "no source text" er_export --to pprof --no-source -o x.gz code.er
# The debug data name a file that is no source.
sed "s|work\.c|work_k|g" work.so >other.so && cp -R code.er other.er && cp -f other.so other.er/archives/* &&
	mkdir keys && cp made/src/work.c keys/work_k
check "debug data that name a file without a suffix" er_export --to page -setpath keys -o other.html other.er
check_that "only source files are read into the page" "$(pack other.html code | grep -c 'if (s == 12345)') == 0"
mkdir links && ln -s ../keys/work_k links/work.c
check "a source file that is a link" er_export --to page -setpath links -o link.html code.er
check_that "a link to another kind of file is not read into the page" "$(pack link.html code | grep -c 'if (s == 12345)') == 0"
"$O/tests/bench/gen_experiment" big.er 20000 400 30 2000 >/dev/null
to_page big
cat >columns.mjs <<'END'
const { indexArray, cpuArray } = await import(process.argv[2])
const kinds = [...[256, 65536, 65537].map(n => indexArray([7], n)), cpuArray([-1, 127]), cpuArray([-1, 128])]
console.log(kinds.map(a => a.constructor.name + '/' + a.join(' ')).join(', '))
END
node columns.mjs "$top/analysis/export/page/decode.js" >columns 2>/dev/null
check "columns are as narrow as the numbers allow" \
	grep -qx 'Uint8Array/7, Uint16Array/7, Uint32Array/7, Int8Array/-1 127, Int16Array/-1 128' columns
check "--redact" er_export --to page --redact -setpath made/src -o less.html code.er
check_that "--redact leaves out lines, locks and code" \
	"$(pack less.html reports | grep -c '"command":"unwinding"') == 1 && $(pack less.html reports | grep -c 'work\.c') == 0 && $(pack less.html reports | grep -c '"command":"locks"') == 0 && $(pack less.html code | grep -cx none) == 1"
in_browser
