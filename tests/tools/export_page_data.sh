#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to page: counters, memory, I/O and spans have the numbers of er_print's reports; a state can be chosen
# or left out; the chain of wakings; a process with one thread has one lane; packs are divided into chunks.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"
need_page

cat >"$tmp/steps.js" <<'EOJ'
const trimmed = rows => rows.map(r => r.map(f => f.trim().replace(/^~/, '')))
const totals = rows => rows.map(r => [...r.slice(0, 4), r[6]]).filter((r, i) => !i || r[2] !== '0.')

async function commandOf(t, page) {
	return t.shellWords(await page.textContent('.command')).slice(1)
}

// Reports that the page has only if there are such data.
async function kinds(t) {
	const page = await t.openPage(t.browser, 'c.html', { wait: 'body.decoded.counted' })
	t.sameRows('functions by counters', trimmed(await t.tableRows(page, 'counters')), trimmed(t.erPrint(['-metrics', 'ei.user:ei+cycles:ei+insts:name', '-functions', 'c.er'])))
	await page.click('#tab-memory')
	for (const report of ['leaks', 'allocs', 'ioactivity', 'iodetail']) {
		await page.click(`#view-memory button[value=${report}]`)
		const want = trimmed(t.erPrint(['-limit', '10000', `-${report}`, 'c.er'])), panels = /^(leaks|allocs)$/.test(report)
		t.sameRows(report, trimmed(await t.tableRows(page, 'memory')), panels ? want.map(r => r.slice(1)) : want)
	}
	await page.click('#view-memory button[value=iostat]')
	const text = await page.innerText('#view-memory .panel'), want = t.erPrintText(['-iostat', 'c.er']).split('\n\n')[0]
	t.check('I/O statistics', text.replace(/\s+/g, ' ').trim() === want.replace(/\s+/g, ' ').trim(), `${text}\n${want}`)
	t.check('kinds: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
	const spans = await t.openPage(t.browser, 'spans.html')
	await spans.click('#tab-spans')
	const names = t.erPrintText(['-spans', 'spans.1.er'])
	t.check('spans', (await spans.innerText('#view-spans')).includes('slow by') === names.includes('slow by'), await spans.innerText('#view-spans'))
	await t.closePage(spans)
	const data = await t.openPage(t.browser, 'data.html', { wait: 'body.decoded.counted' })
	await data.click('#tab-counters')
	for (const report of ['data_objects', 'data_layout']) {
		await data.click(`#view-counters button[value=${report}]`)
		const want = trimmed(t.erPrint([`-${report}`, 'data.1.er']))
		t.sameRows(report, trimmed(await t.tableRows(data, 'counters')), report === 'data_layout' ? want.map(r => r.slice(1)) : want)
	}
	await t.closePage(data)
	const few = await t.openPage(t.browser, 'w.html')
	const hidden = await few.$$eval('#tabs button[hidden]', all => all.map(b => b.textContent))
	t.check('no such data, no such tabs', ['Spans', 'Counters', 'Memory, I/O'].every(n => hidden.includes(n)), hidden.join())
	await t.closePage(few)
}

const timeOf = (page, name) => page.$eval(`.state:has-text("${name}") b`, b => b.textContent.replace('~', ''))

// KERNEL_CPU is shown as System CPU: a click on it must not lose time.
async function states(t) {
	for (const file of ['w', 't']) {
		const page = await t.openPage(t.browser, file + '.html'), before = await timeOf(page, 'System CPU')
		await page.click('.state:has-text("System CPU")')
		t.check(`${file}: a state keeps its time when it is chosen`, before === await timeOf(page, 'System CPU') && before !== '0.', `${before} ${await timeOf(page, 'System CPU')}`)
		await page.keyboard.press('c')
		await page.click('.state:has-text("Sleep")', { modifiers: ['Control'] })
		t.check(`${file}: Ctrl leaves a state out`, await timeOf(page, 'Sleep') === '0.' && await timeOf(page, 'System CPU') === before, await page.innerText('.legend'))
		t.sameRows(`${file}: functions without that state`, totals(await t.tableRows(page, 'functions')).map(r => [r[0], r[4]]),
			t.erPrint([...await commandOf(t, page), '-metrics', 'e.totalcpu:i.totalcpu:name', '-functions', file + '.er']).filter((r, i) => !i || r[1] !== '0.').map(r => [r[0], r[2]]))
		const chips = await page.$$eval('.chips .chip:not(.clear)', all => all.map(c => c.textContent))
		t.check(`${file}: many states are one part of the filter`, chips.length === 1 && /^not Sleep/.test(chips[0]), chips.join())
		await page.click('.chips .chip')
		t.check(`${file}: a click removes it`, await page.isHidden('.command'), '')
		t.check(`${file}: states: no complaint`, !page.complaints.length, page.complaints.join('\n'))
		await t.closePage(page)
	}
}

// A worker thread ended most of the waits of thread 13, and thread 14 most of its waits for locks.
async function chain(t) {
	const page = await t.openPage(t.browser, 'w.html', { hash: '#view="threads"' })
	await page.dblclick('#view-threads .tr:has-text("TID 13")')
	await page.click('#tab-wakers')
	const said = async () => [...(await page.innerText('#view-wakers .notes')).matchAll(/(?:by|←) (\S+?),.*? ([\d.]+) s/g)].map(m => [m[1], m[2]])
	const first = async () => t.erPrint([...await commandOf(t, page), '-limit', '1000', '-wakers', 'w.er']).filter(r => r[0] === '1')[1]
	const all = await said(), most = await first()
	t.check('the chain of wakings begins as er_print -wakers', all.length && most[9].startsWith(all[0][0] + ' ->') && most[1] === all[0][1], `${all}\n${most}`)
	await page.click('.state:has-text("User Lock")')
	const lock = await said(), holder = await first()
	t.check('it follows the filter', lock[0][0] === 'app' && lock[0][1] === holder[1], `${lock}\n${holder}`)
	t.check('it goes on with the waits of that thread, without the filter', lock.length > 1, String(lock))
	await page.click('#view-wakers .notes .link')
	t.check('a link shows only that thread', /TID == 14/.test((await commandOf(t, page)).join(' ')), (await commandOf(t, page)).join(' '))
	t.check('chain: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

// The height of all lanes, and what a click on a name does.
async function lanes(t) {
	const page = await t.openPage(t.browser, 'w.html', { viewport: { width: 1280, height: 420 }, hash: '#lanes="threads"' })
	const processes = new Map()
	for (const [, name] of t.erPrint(['-metrics', 'e.total:name', '-threads', 'w.er']).slice(1)) {
		const pid = (name.match(/PID (\d+)/) || [])[1] || 'kernel'
		processes.set(pid, (processes.get(pid) || 0) + 1)
	}
	const rows = [...processes].reduce((n, [pid, count]) => n + count + (count > 1 || pid === 'kernel' ? 1 : 0), 0)
	const [space, shown] = await page.evaluate(() => [document.querySelector('.lanes .space').offsetHeight, document.querySelector('.lanes').clientHeight])
	t.check('the only thread of a process has no heading', rows * 18 + 22 === space + shown && [...processes.values()].includes(1), `${rows} rows, ${space} ${shown}`)
	await t.closePage(page)
}

// What -object_api says holds for the page that is written with it.
async function objects(t) {
	const page = await t.openPage(t.browser, 'api.html'), got = await t.tableRows(page, 'functions')
	t.sameRows('-object_api', totals(got), t.erPrint(['-object_api', 'LinuxKernel', '-metrics', 'ei.%cpu:name', '-functions', 'w.er']))
	for (const kind of ['lines', 'pcs']) {
		await page.click('#tab-lines')
		await page.click(`#view-lines button[value=${kind}]`)
		await page.waitForSelector('#view-lines .tr', { timeout: 10000 })
		t.sameRows('-object_api: ' + kind, totals((await t.tableRows(page, 'lines')).map(r => [...r.slice(0, 5), '', r[5]])),
			t.erPrint(['-object_api', 'LinuxKernel', '-metrics', 'ei.%cpu:name', `-${kind}`, 'w.er']))
	}
	const all = t.erPrint(['-metrics', 'ei.%cpu:name', '-functions', 'w.er'])
	t.check('-object_api leaves out functions', totals(got).length < all.length, `${totals(got).length} of ${all.length}`)
	await t.closePage(page)
}

// What is marked as an estimate in a range, if all waits were recorded and if not.
async function exact(t) {
	for (const [file, what, marked] of [['w', /estimated/, () => true], ['all', /exact but for ~/, name => /(User|System) CPU/.test(name)]]) {
		const page = await t.openPage(t.browser, file + '.html', { hash: '#from=300000&to=900000' })
		const shown = await page.$$eval('.state:not(.none)', all => all.map(e => [e.textContent, e.querySelector('b').textContent]))
		t.check(`${file}: what is an estimate in a range`, what.test(await page.innerText('.what')) && shown.length > 3 &&
			shown.every(([name, time]) => time.startsWith('~') === marked(name)), JSON.stringify(shown))
		t.check(`${file}: exact: no complaint`, !page.complaints.length, page.complaints.join('\n'))
		await t.closePage(page)
	}
}

// A page of one descendant, whose path was given.
async function descendant(t) {
	const page = await t.openPage(t.browser, 'sub.html')
	t.sameRows('the path of a descendant', totals(await t.tableRows(page, 'functions')), t.erPrint(['-metrics', 'ei.%totalcpu:name', '-functions', 'w.er/_client_PID_20.1.er']))
	t.check('and nothing of the others', !(await page.innerText('.lanes')).includes('app') && !/app, PID 12/.test(JSON.stringify(await t.tableRows(page, 'processes'))), '')
	await t.closePage(page)
}

module.exports = async t => {
	await descendant(t)
	await exact(t)
	await kinds(t)
	await objects(t)
	await states(t)
	await chain(t)
	await lanes(t)
}
EOJ

export_fixtures
"$O/tests/golden/make_spans" . || not_ok "make_spans"
put data.1.er data.1.er
to_page w t c
check "spans: is written" er_export --to page -o spans.html spans.1.er
check "data: is written" er_export --to page -o data.html data.1.er
check "the path of a descendant: is written" er_export --to page -o sub.html w.er/_client_PID_20.1.er
check "-object_api" er_export --to page -object_api LinuxKernel -o api.html w.er

# Settings that hold for the page that is written with them: where source is, and how code and names are shown.
put_code code.er
# As if all waits of w.er had been recorded.
node -e 'const fs = require("fs"), z = require("zlib"), [from, to] = process.argv.slice(1)
	fs.writeFileSync(to, fs.readFileSync(from, "latin1").replace(/(data-pack="index">)([^<]*)/, (_, tag, text) => {
		const raw = z.gunzipSync(Buffer.from(text, "base64")).toString("latin1").replace(`"complete":false`, `"complete":true `)
		return tag + z.gzipSync(Buffer.from(raw, "latin1")).toString("base64")
	}), "latin1")' w.html all.html
# has_source NAME OPTIONS…: whether the page that is written with these has the text of the source.
has_source()
{
	local name=$1
	shift
	er_export --to page -o "$name.html" "$@" code.er && pack "$name.html" code | grep -q 'if (s == 12345)'
}
check_that "no path, no source" "$(has_source nowhere && echo 1 || echo 0) == 0"
check "-setpath" has_source setpath -setpath made/src
check "-addpath" has_source addpath -addpath made/src
check "-pathmap" has_source pathmap -pathmap /src/demo "$PWD/made/src"
check_that "instructions have no bytes" "$(pack setpath.html code | grep -c ':  85 ff  ') == 0"
printf 'addpath made/src\ndcc hex:src\nsthresh 1\n' >.er.rc
check "addpath of .er.rc" has_source rc
check_that "dcc of .er.rc: instructions have their bytes" "$(pack rc.html code | grep -c ':  85 ff  ') == 1"
thresholds() { pack "$1.html" code | grep -o '"threshold":[0-9]*' | sort -u | cut -d: -f2 | tr '\n' ' '; }
check "sthresh of .er.rc: rows are marked as hot from there" test "$(thresholds setpath), $(thresholds rc)" = "75 , 1 75 "
rm .er.rc
# Code has a budget, in the order of time. The first function here is the hottest one.
in_file() { pack "$1.html" code | grep -o '"func":[0-9]*' | wc -l; }
first_in() { pack "$1.html" code | grep -o '"func":[0-9]*' | head -n 1; }
check "a page with little room" er_export --to page --page-size 272k -o small.html -setpath made/src code.er
check "little room: the hottest function has code" test "$(first_in small)" = "$(first_in setpath)"
check_that "little room: others have none" "$(in_file small) == 1 && $(in_file setpath) > 1"
cat >chunks.mjs <<'END'
const { divide } = await import(process.argv[2])
const n = 70000, all = Float64Array.from({ length: n }, (_, i) => i)
const pack = { first: 5, n, base: 0, time: all, thread: Uint8Array.from(all, i => i % 3), cls: all, weight: all, length: all, path: all, cpu: all,
	merged: null, squares: null, variance: null, spans: null, rows: Uint32Array.from({ length: (n >> 8) + 2 }, (_, k) => k * 10) }
const chunks = divide(pack, 3), ends = chunks.map(c => [c.first, c.n, c.time[0], c.time[c.n - 1], c.rows[0], c.merged].join())
const grouped = chunks.every(c => [0, 1, 2].every(t => c.threadOrder.subarray(c.threadFirst[t], c.threadFirst[t + 1]).every((i, k, o) => c.thread[i] === t && (!k || i > o[k - 1]))) &&
	c.threadFirst[3] === c.n)
console.log(ends.join(' '), grouped, chunks[0].threadOrder.BYTES_PER_ELEMENT, divide({ ...pack, n: 0, thread: new Uint8Array(0) }, 3).length)
END
node chunks.mjs "$top/analysis/export/page/decode.js" >chunks 2>&1
check "a pack is divided into chunks" grep -qx '5,65536,0,65535,0, 65541,4464,65536,69999,2560, true 2 1' chunks
# 500 ms of a thread that waited for 300 of them; its samples represent 130 ms within that range.
cat >range.mjs <<'END'
const [{ clippedStates }, { defaults }] = await Promise.all(['range.js', 'store.js'].map(f => import(process.argv[2] + f)))
const array = (...all) => Float64Array.from(all)
const chunk = { n: 3, first: 0, base: 0, time: array(180000, 500000, 650000), thread: [0, 0, 0], cls: [0, 1, 0], path: [0, 0, 0], cpu: [0, 0, 0],
	weight: array(100000, 300000, 100000), length: array(100000, 300000, 100000) }
const states = Array.from({ length: 12 }, (_, s) => ({ name: s ? 'SLEEP' : 'USER', cpu: s === 0 }))
const data = { begin: 0, end: 1000000, nthreads: 1, npaths: 1, states, classes: [{ state: 0, flags: 0 }, { state: 7, flags: 0 }], reasons: [],
	threads: [{ begin: 0, end: 1000000, exp: 1 }], experiments: [], chunks: [chunk] }
const times = (complete, lost) => { const c = clippedStates({ ...data, complete, lost }, { ...defaults, from: 100000, to: 600000 }); return [c.us[0], c.us[7], c.exact].join() }
console.log(times(true), times(false), times(true, [[0, 0, 1000000, 1]]), clippedStates({ ...data, complete: true }, { ...defaults, from: 100000, to: 600000, states: [0] }).exact)
END
node range.mjs "$top/analysis/export/page/" >range 2>&1
check "all waits recorded: the rest of a range is CPU time" grep -qx '200000,300000,true 130000,300000,false 130000,300000,false false' range
# Thread 0 waits from 20 to 140 ms for a lock that thread 1 held, and thread 1 from 80 to 120 for one that thread 0 held. That wait represents 100 ms, from
# 50 to 150. Further a remainder and an idle wait, which do not count.
cat >lines.mjs <<'END'
const [{ clippedStates, topWaits }, { defaults }] = await Promise.all(['range.js', 'store.js'].map(f => import(process.argv[2] + f)))
const array = (...all) => Float64Array.from(all)
const chunk = { n: 5, first: 0, base: 0, time: array(90000, 120000, 140000, 150000, 160000), thread: [0, 1, 0, 1, 2], cls: [0, 1, 1, 2, 3], path: [0, 0, 0, 0, 0], cpu: [0, 0, 0, 0, 0],
	weight: array(20000, 100000, 120000, 90000, 160000), length: array(20000, 40000, 120000, 0, 160000), rows: [0], holder: [1, 2, 0, 0], waker: [3, 0, 0, 0] }
const states = Array.from({ length: 12 }, (_, s) => ({ name: ['USER', 'USER_LOCK', 'SLEEP'][s], cpu: !s })), flags = 0
const data = { begin: 0, end: 200000, nthreads: 3, npaths: 1, states, isWait: [0, 1, 1, 1], reasons: [{ name: 'NONE' }, { name: 'USER_LOCK' }],
	classes: [{ state: 0, flags }, { state: 1, reason: 1, flags }, { state: 1, reason: 1, flags: 32 }, { state: 2, reason: 0, flags }],
	threads: Array(3).fill({ begin: 0, end: 0, exp: 1 }), experiments: [], chunks: [chunk] }
for (const [from, to] of [[40000, 100000], [130000, 200000], [150000, 200000]]) {
	const state = { ...defaults, from, to }, c = clippedStates(data, state), top = topWaits(data, state, c.classUs, c)
	console.log(c.cpuPaths[0], top.map(w => [w.class.state, w.us, w.holder && w.holder.thread, w.holder && w.holder.us, w.waker && w.waker.thread, w.waker && w.waker.us]).join(), c.us[1])
}
END
node lines.mjs "$top/analysis/export/page/" >lines 2>&1
check "a range inside waits: time, holder and waker are of the parts inside" grep -qx '20000 1,110000,1,60000,2,50000 110000' lines
check "… and of what a wait before the range represents" grep -qx '0 1,30000,0,20000,2,20000 30000' lines
check "… but no remainder and no idle wait" grep -qx '0  0' lines
in_browser
