#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to page: the comparison of two recordings and of two ranges has the numbers of
# er_print -compare, its errors and verdicts are those of er_print -diff, and the differential flame
# graph shows what vanished and what sampling explains. Lost seconds and cut stacks are shown.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"
need_page

cat >"$tmp/steps.js" <<'EOJ'
const files = ['before.er', 'after.er']
const number = text => Number(text.replace('+', ''))

// Rows by name: functions of one name may have several rows in er_print.
function addedUp(rows) {
	const sums = new Map()
	for (const r of rows) {
		const name = r.at(-1), sum = sums.get(name) || r.slice(0, -1).map(() => 0)
		sums.set(name, sum.map((v, i) => v + number(r[i])))
	}
	return [...sums].filter(([, sum]) => sum.some(v => v)).map(([name, sum]) => [...sum.map(v => v.toFixed(3)), name])
}

const plain = rows => rows.map(r => [...r.slice(0, -1).map(f => number(f).toFixed(3)), r.at(-1)])

// Of a row of the comparison: inclusive A, B, difference; exclusive A, B, difference; name.
const times = r => [r[0], r[1], r[2], r[5], r[6], r[7], r[11]]

async function unit(page, value) {
	await page.click(`#view-compare .compare button[value=${value}]`)
}

// The times and differences of er_print -compare.
async function sameTimes(t, page, what, metric, filter, first, second) {
	await unit(page, 'time')
	const got = plain((await t.tableRows(page, 'compare')).map(times))
	const want = (side, sign) => t.erPrint([...filter, ...side, '-limit', '0', '-metrics', `ie.${metric}:name`, '-functions', ...sign])
	const one = want(first, files).map(r => [r[0], '0', r[1], '0', r[2]])
	const two = want(second, files).map(r => ['0', r[0], '0', r[1], r[2]])
	t.sameRows(what, got, addedUp([...one, ...two]).map(r => [r[0], r[1], (r[1] - r[0]).toFixed(3),
		r[2], r[3], (r[3] - r[2]).toFixed(3), r[4]]))
}

async function recordings(t) {
	const page = await t.openPage(t.browser, 'cmp.html')
	t.check('a page written under compare opens with the comparison', await page.isVisible('#view-compare .table'), '')
	await unit(page, 'time')
	const rows = plain((await t.tableRows(page, 'compare')).map(times))
	const want = t.erPrint(['-compare', 'on', '-limit', '0', '-metrics', 'ie.totalcpu:name', '-functions', ...files])
	t.sameRows('two recordings: CPU time as -compare on', rows.map(r => [r[0], r[1], r[3], r[4], r[6]]), addedUp(want))
	const delta = t.erPrint(['-compare', 'delta', '-limit', '0', '-metrics', 'ie.totalcpu:name', '-functions', ...files])
	t.sameRows('two recordings: differences as -compare delta', rows.map(r => [r[0], r[2], r[3], r[5], r[6]]),
		addedUp(delta.map(r => [r[0], r[1], r[2], r[3], r[4]])))
	for (const [group, side] of [[1, 'a'], [2, 'b']])
		t.check(`side ${side} is group ${group}`, await page.inputValue(`#view-compare .side:has(button[value=${side}]) select`) === String(group), '')
	const notes = await page.textContent('#view-compare .notes')
	t.check('the notes have the commands', /EXPGRID == 1.*EXPGRID == 2/s.test(notes), notes)
	await page.selectOption('#metric', { label: 'User Lock' })
	await sameTimes(t, page, 'two recordings: locks', 'lock', [], ['-filters', 'EXPGRID == 1'], ['-filters', 'EXPGRID == 2'])
	t.check('recordings: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

// er_print -diff lists what changed, but nothing that is about the recording itself. Its rows:
// panel, before, after, change, error, percent, verdict, metric, name.
async function errors(t) {
	const page = await t.openPage(t.browser, 'cmp.html')
	await page.check('#tools label:has-text("Standard errors") input')
	for (const how of ['rate', 'time']) {
		const all = t.erPrint(['-diff', how, ...files]), totals = all.filter(r => /^<Total>/.test(r[8])), changed = all.filter(r => !/^<Total>/.test(r[8]))
		for (const [label, name] of [['CPU time', 'CPU time'], ['User Lock', 'User locks']]) {
			await page.selectOption('#metric', { label })
			await unit(page, how)
			const rows = await t.tableRows(page, 'compare')
			const total = rows.find(r => r.at(-1) === '<Total>'), same = totals.find(r => r[8].endsWith(name))
			t.check(`${how}, ${name}: the total as er_print -diff`, total.slice(0, 5).join() === same.slice(1, 6).join() && (total[5] || 'same') === same[6], `${total} ${same}`)
			for (const [flavor, from, metric] of [['inclusive', 0, name + ', with callees'], ['exclusive', 6, name]]) {
				const want = changed.filter(r => r[7] === metric).map(r => [...r.slice(1, 7), r[8]])
				const got = rows.filter(r => r[from + 5] && !r.at(-1).startsWith('<')).map(r => [...r.slice(from, from + 6), r.at(-1)])
				t.check(`${how}, ${metric}: er_print lists something`, want.length > 0, JSON.stringify(all))
				t.sameRows(`${how}, ${flavor} ${metric}: changes, errors and verdicts as er_print -diff`, got, want)
			}
		}
	}
	await page.selectOption('#metric', { label: 'CPU time' })
	await unit(page, 'time')
	await sampledTotals(t, page)
	const little = await page.$eval('#view-compare .tr:has(span:text-is("little")) .td:nth-child(3) span', e => e.className)
	t.check('a difference within the error is grey', little === 'same', little)
	await t.closePage(page)
}

// The threshold is er_print's: the totals differ by 1.8 %.
async function threshold(t) {
	for (const [file, verdict, note] of [['cmp', '', '5 %'], ['fine', 'slower', '0.5 %']]) {
		const page = await t.openPage(t.browser, file + '.html')
		await unit(page, 'time')
		const [total] = await t.tableRows(page, 'compare'), notes = await page.textContent('#view-compare .notes')
		t.check(`threshold of ${note}: the total`, total.at(-1) === '<Total>' && total[3] === '+1.8' && total[4] === verdict, String(total))
		t.check(`threshold of ${note}: is said`, notes.includes(`grey: not more than ${note} and `), notes)
		await t.closePage(page)
	}
}

// The totals of a recording are exact. Those of a range or of a state are sampled, too, and have errors, but not those of threads.
async function sampledTotals(t, page) {
	for (const [hash, args] of [['from=100000&to=600000', ['-from', '100000us', '-to', '600000us']], ['states=[0]', ['-filters', 'STATE == USER']],
		[`expr="${encodeURIComponent('TSTAMP < 600ms')}"`, ['-filters', 'TSTAMP < 600ms']], [`expr="${encodeURIComponent('PID > 0')}"`, ['-filters', 'PID > 0']]]) {
		const state = await page.evaluate(() => location.hash)
		await page.evaluate(h => { location.hash += '&' + h }, hash)
		await page.waitForFunction(() => !document.querySelector('.command').hidden)
		const [total] = (await t.tableRows(page, 'compare')).filter(r => r.at(-1) === '<Total>')
		const want = t.erPrint([...args, '-diff', 'time', ...files]).find(r => r[8] === '<Total> CPU time')
		t.check(`${args.join(' ')}: the total and its error as er_print -diff`, total.slice(0, 4).join() === want.slice(1, 5).join() && (total[3] === '0.') === (hash.includes('PID')), `${total} ${want}`)
		t.check(`${args.join(' ')}: its verdict`, (total[5] || 'same') === want[6], `${total} ${want}`)
		await page.evaluate(h => { location.hash = h }, state)
		await page.waitForFunction(() => document.querySelector('.command').hidden)
	}
}

// A counter: as er_print -compare has it, with errors of a sampled share of an exact total.
async function counters(t) {
	const page = await t.openPage(t.browser, 'cmp.html', { wait: 'body.decoded.counted' })
	await page.check('#tools label:has-text("Standard errors") input')
	await page.selectOption('#metric', 'n.cycles')
	await unit(page, 'time')
	const rows = await t.tableRows(page, 'compare'), both = r => [r[0], r[1], r[6], r[7], r.at(-1)], changes = r => [r[0], r[2], r[6], r[8], r.at(-1)]
	const want = how => addedUp(t.erPrint(['-compare', how, '-limit', '0', '-metrics', 'ie+cycles:name', '-functions', ...files]))
	t.sameRows('a counter: as -compare on', plain(rows.map(both)), want('on'))
	t.sameRows('a counter: differences as -compare delta', plain(rows.map(changes)), want('delta'))
	const error = n => String(Math.round(2000003 * Math.sqrt((1700 + 1730) * (n / 3430) * (1 - n / 3430))))
	for (const [name, n, verdict] of [['f', 1200, 'more'], ['g', 1200, 'less'], ['old', 400, 'gone'], ['young', 400, 'new'], ['little', 210, '']]) {
		const r = rows.find(k => k.at(-1) === name)
		t.check(`a counter: ${name} ${verdict}, and its error`, r[3] === error(n) && r[5] === verdict && r[9] === error(n), `${r} ${error(n)}`)
	}
	t.check('a counter: the metric is named', /CPU Cycles; grey/.test(await page.innerText('#view-compare .notes')), await page.innerText('#view-compare .notes'))
	await unit(page, 'rate')
	const rate = (await t.tableRows(page, 'compare')).find(r => r.at(-1) === 'f')
	const seconds = [...(await page.innerText('#view-compare .notes')).matchAll(/recorded ([\d.]+) s/g)].map(m => Number(m[1]))
	t.check('a counter: in a second', [400, 800].every((n, i) => Math.abs(rate[i] / (n * 2000003 / seconds[i]) - 1) < 1e-3), `${rate} ${seconds}`)
	await unit(page, 'flame')
	await unit(page, 'time')
	const all = await frames(page), f = all.find(k => k.tip.startsWith('f A')) || { tip: 'none' }
	t.check('a counter: the flame graph', f.tip.includes(`A ${400 * 2000003}, B ${800 * 2000003} +${400 * 2000003}`) && /more$/.test(f.tip), f.tip)
	t.check('a counter: no complaint', !complaints(page).length, complaints(page).join('\n'))
	await t.closePage(page)
}

// The most frequent one: some pixels are of a text or an outline.
function mostOf(colors) {
	const times = c => colors.filter(d => String(d) === String(c)).length
	return [...colors].sort((a, b) => times(b) - times(a))[0]
}

// Complaints but the one about these tests, which read pixels.
const complaints = page => page.complaints.filter(c => !/willReadFrequently/.test(c))

// What each frame of the lowest level says, with the colour of its pixels.
async function frames(page) {
	const box = await page.locator('#view-compare canvas').boundingBox(), found = new Map()
	for (let x = 3; x < box.width; x += 8) {
		await page.mouse.move(box.x + x, box.y + 2 * 19 + 10)
		const tip = await page.innerText('#view-compare .tip')
		const color = await page.evaluate(at => [...document.querySelector('#view-compare canvas').getContext('2d')
			.getImageData(at, 2 * 19 + 15, 1, 1).data.slice(0, 3)], x)
		found.set(tip, [...(found.get(tip) || []), color])
	}
	return [...found].map(([tip, colors]) => ({ tip: tip.replace(/\s+/g, ' '), n: colors.length, color: mostOf(colors) }))
}

const grey = ([r, , b]) => Math.abs(r - b) < 20
const warm = ([r, , b]) => r - b > 40
const cold = ([r, , b]) => b - r > 40

async function flame(t, colorScheme) {
	const page = await t.openPage(t.browser, 'cmp.html', { colorScheme })
	await unit(page, 'flame')
	await unit(page, 'time')
	const what = text => `${colorScheme} flame graph: ${text}`
	const all = await frames(page), of = name => all.find(f => f.tip.includes(name)) || { tip: 'none', color: [0, 0, 0] }
	t.check(what('what vanished is there'), /^gone: old A 2\.000, B 0\. sec\. -2\.000/.test(of('old').tip), of('old').tip)
	t.check(what('what is new'), /^new: young A 0\., B 2\.000 sec\. \+2\.000/.test(of('young').tip), of('young').tip)
	t.check(what('f takes twice as long'), /^f A 2\.000, B 4\.000 sec\. \+2\.000 sec\., \+100\.0 % of A .* slower/.test(of('f A').tip), of('f A').tip)
	t.check(what('little did not change'), /standard error .*: same, with a threshold of 5 %/.test(of('little').tip) && grey(of('little').color), JSON.stringify(of('little')))
	t.check(what('more is warm, less is cold'), warm(of('f A').color) && warm(of('young').color) && cold(of('g A').color) && cold(of('old').color),
		JSON.stringify(all))
	t.check(what('a frame is as wide as the mean of both'), Math.abs(of('old').n - of('young').n) <= 1 && Math.abs(of('f A').n - of('g A').n) <= 1 &&
		of('f A').n > 2 * of('old').n, JSON.stringify(all))
	const relative = of('young').color
	await unit(page, 'absolute')
	const main = (await frames(page)).find(f => f.tip.includes('little')).color
	t.check(what('absolute keeps grey'), grey(main), String(main))
	t.check(what('relative to itself, what is new changed most'), relative.some((v, i) => v !== of('f A').color[i]), String(relative))
	t.check(what('no complaint'), !complaints(page).length, complaints(page).join('\n'))
	await t.closePage(page)
}

// Two ranges of one recording, chosen with the mouse.
async function ranges(t) {
	const page = await t.openPage(t.browser, 'before.html')
	await page.click('#tab-compare')
	t.check('without two sides it is said what to do', /Drag a range/.test(await page.textContent('#view-compare .notes')), '')
	await t.dragRange(page, 0.1, 0.3)
	const same = await page.textContent('#view-compare .notes')
	t.check('with one range it is said that it is both sides, and what to do', /^A and B are the same. Press “Range to A”/.test(same), same)
	const first = t.shellWords(await page.textContent('.command')).slice(1)
	await page.click('#view-compare button[value=a]')
	await t.dragRange(page, 0.5, 0.9)
	const second = t.shellWords(await page.textContent('.command')).slice(1)
	t.check('the ranges are not the same', first.join() !== second.join() && first.length === 4, first.join(' ') + second.join(' '))
	await page.click('#view-compare .compare button[value=time]')
	const got = plain((await t.tableRows(page, 'compare')).map(times))
	const want = range => t.erPrint([...range, '-limit', '0', '-metrics', 'ie.totalcpu:name', '-functions', 'before.er'])
	const both = addedUp([...want(first).map(r => [r[0], '0', r[1], '0', r[2]]), ...want(second).map(r => ['0', r[0], '0', r[1], r[2]])])
	t.sameRows('two ranges', got.map(r => [r[0], r[1], r[3], r[4], r[6]]), both)
	const rate = (await unit(page, 'rate'), await t.tableRows(page, 'compare')).find(r => r.at(-1) === '<Total>')
	t.check('rates of two ranges: each has one thread on a CPU', Math.abs(number(rate[0]) - 1000) < 20 && Math.abs(number(rate[1]) - 1000) < 20, rate.join(' '))
	const hash = await page.evaluate(() => location.hash)
	const again = await t.openPage(t.browser, 'before.html', { hash })
	await unit(again, 'time')
	t.sameRows('two ranges from the address', plain((await t.tableRows(again, 'compare')).map(times)), got)
	await t.closePage(again)
	t.check('ranges: no complaint', !complaints(page).length, complaints(page).join('\n'))
	await t.closePage(page)
}

// Choices in the address that mean nothing are ignored.
async function addresses(t) {
	for (const hash of ['#a=[9]', '#a=[1,5]', '#a=[1,900000,100000]', '#a=["x"]', '#b=[1,2,3,4]', '#group=7', '#group=-1', '#a=[0,-9e9,9e99]',
		'#by={"comparison":"__proto__","comparisonUnit":5}']) {
		const page = await t.openPage(t.browser, 'cmp.html', { hash: hash + '&view="compare"' })
		const rows = await t.tableRows(page, 'compare')
		t.check(`address ${hash}: the two recordings`, rows.length > 5 && !complaints(page).length && await page.isHidden('.command'), complaints(page).join('\n'))
		await t.closePage(page)
	}
}

// The number of pixels of the colour of losses in a lane, by second.
async function hatched(page, y) {
	return page.evaluate(y => {
		const canvas = document.querySelector('.lanes canvas'), c = canvas.getContext('2d')
		const bad = getComputedStyle(document.documentElement).getPropertyValue('--bad').trim()
		const [r, g, b] = [1, 3, 5].map(i => parseInt(bad.slice(i, i + 2), 16)), width = canvas.width - 230, seconds = []
		const data = c.getImageData(230, y, width, 14).data
		for (let i = 0; i < data.length; i += 4) {
			const s = Math.floor((i / 4 % width) / width * (window.erEnd || 1))
			if (Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 24)
				seconds[s] = (seconds[s] || 0) + 1
		}
		return Object.keys(seconds).map(Number)
	}, y)
}

async function losses(t) {
	const page = await t.openPage(t.browser, 'after.html')
	const said = await page.textContent('#verdict .what')
	t.check('lost records are counted above every view', /9 records lost/.test(said), said)
	const want = t.erPrint(['-metrics', 'i.total:name', '-limit', '0', '-functions', 'after.er']).find(r => r[1] === '<Truncated-stack>')
	t.check('cut stacks are counted above every view', said.includes(`cut stacks: ${want[0]} s`) && / 20 events/.test(said), said)
	const box = await page.locator('.lanes canvas').boundingBox()
	// The seconds of the timeline, from the width of the recording.
	const end = Number(t.erPrint(['-metrics', 'e.total:name', '-threads', 'after.er']).find(r => /TID 1$/.test(r[1]))[0])
	await page.evaluate(s => { window.erEnd = s }, end)
	const lanes = []
	for (let y = 22; y + 18 <= box.height && lanes.length < 12; y += 18)
		lanes.push(await hatched(page, y + 2))
	t.check('one lane is hatched, in its lost second', lanes.filter(l => l.length).length === 1 && lanes.some(l => l.join() === '2'), JSON.stringify(lanes))
	t.check('the axis has the losses of all threads', (await hatched(page, 8)).join() === '2,5', String(await hatched(page, 8)))
	const lane = lanes.findIndex(l => l.length)
	await page.mouse.move(box.x + 230 + 2.5 / end * (box.width - 230), box.y + 22 + lane * 18 + 8)
	t.check('a lost second says how many', /7 lost records/.test(await page.innerText('#timeline .tip')), await page.innerText('#timeline .tip'))
	const without = await t.openPage(t.browser, 'after.html', { hash: '#from=3000000&to=4000000' })
	t.check('a range without losses says none', !/lost/.test(await without.textContent('#verdict .what')), await without.textContent('#verdict .what'))
	await t.closePage(without)
	const thread = await t.openPage(t.browser, 'after.html', { hash: '#from=2000000&to=2500000' })
	t.check('a range with a loss', /7 records lost/.test(await thread.textContent('#verdict .what')), await thread.textContent('#verdict .what'))
	await t.closePage(thread)
	t.check('losses: no complaint', !complaints(page).length, complaints(page).join('\n'))
	await t.closePage(page)
}

// 1,700 samples of 5 ms: n of them have the error 5 ms * sqrt(n (1 - n / 1700)).
async function sampled(t) {
	const page = await t.openPage(t.browser, 'before.html'), error = n => (0.005 * Math.sqrt(n * (1 - n / 1700))).toFixed(3)
	await page.check('#tools label:has-text("Standard errors") input')
	const want = [['2.000', error(400), 'f'], ['4.000', error(800), 'g'], ['2.000', error(400), 'old'], ['0.500', error(100), 'little']]
	const named = (rows, name) => rows.filter(r => want.some(w => w[2] === name(r)))
	const functions = named(await t.tableRows(page, 'functions'), r => r.at(-1))
	t.sameRows('exclusive times and errors', functions.map(r => [r[0], r[1], r.at(-1)]), want)
	t.sameRows('inclusive times and errors', functions.map(r => [r[3], r[4], r.at(-1)]), want)
	await page.click('#tab-calltree')
	await page.click('#view-calltree button:has-text("Unfold all")')
	const bare = r => r.at(-1).replace(/^[▾▸]/, '')
	t.sameRows('errors in the call tree', named(await t.tableRows(page, 'calltree'), bare).map(r => [r[1], r[2], bare(r)]), want)
	await page.click('#tab-functions')
	await page.click('#view-functions .tr:has(.td:last-child:text-is("main"))')
	const callees = (await t.tableRows(page, 'callers')).filter(r => r.at(-1).startsWith('↓')).map(r => [r[0], r[1], r.at(-1).slice(2)])
	t.sameRows('errors of callees', callees, want)
	t.check('errors: no complaint', !complaints(page).length, complaints(page).join('\n'))
	await t.closePage(page)
}

async function builds(t) {
	const page = await t.openPage(t.browser, 'builds.html')
	const notes = await page.textContent('#view-compare .notes')
	t.check('different builds are said to be', /Different builds of \/opt\/demo\/work\.so: functions are compared by name/.test(notes), notes)
	const rows = await t.tableRows(page, 'compare'), hot = rows.filter(r => r.at(-1) === 'hot')
	t.check('a function of two builds is one row', hot.length === 1 && hot[0][0] === hot[0][1] && number(hot[0][0]) > 0, JSON.stringify(rows))
	await t.closePage(page)
	const less = await t.openPage(t.browser, 'less.html')
	const said = await less.textContent('#view-compare')
	t.check('--redact leaves out names of experiments and paths', /Recording 1/.test(said) && !/one\.er|opt\/demo/.test(said), said)
	await t.closePage(less)
}

module.exports = async t => {
	await recordings(t)
	await errors(t)
	await threshold(t)
	await counters(t)
	await flame(t, 'light')
	await flame(t, 'dark')
	await ranges(t)
	await addresses(t)
	await sampled(t)
	await losses(t)
	await builds(t)
}
EOJ

fresh
"$O/tests/golden/make_compare" . || { not_ok "make_compare"; exit 1; }
mv before.1.er before.er && mv after.1.er after.er
to_page before after
check "er_print -compare on -page" er_print -compare on -page cmp.html before.er after.er
check "er_print -threshold -page" er_print -compare on -threshold 0.5% -page fine.html before.er after.er
check_that "a page of one recording has no part of a comparison" "$(pack before.html index | grep -cE '"(groups|compare|builds|lost)"') == 0"
check_that "losses: thread, begin, end, records; those of counters are left out" \
	"$(pack after.html index | grep -cE '"lost":\[\[[0-9]+,2000000,3000000,7\],\[-1,5000000,6000000,2\]\]') == 1"
# A recording that began 0.4 s before a second of the clock.
cp -R after.er early.er && sed -i 's/\(kind="run" tstamp="\)1000\.0*"/\1999.600000000"/' early.er/log.xml
to_page early
check_that "seconds of the clock begin at other moments than those of the recording" \
	"$(pack early.html index | grep -cE '"lost":\[\[[0-9]+,2400000,3400000,7\],\[-1,5400000,6400000,2\]\]') == 1" \
	"$(pack early.html index | grep -o '"lost".*'; grep run early.er/log.xml)"
# Two builds of one library.
for n in 1 2; do
	gcc -shared -nostdlib -o work$n.so "$top/tests/fixtures/source/work.s" \
		-Wl,-z,noseparate-code,-Ttext=0x2000,--build-id=0x$(printf %040d $n),-Bsymbolic &&
		mkdir made$n && "$O/tests/golden/make_code" made$n work$n.so || { not_ok "make_code"; exit 1; }
done
mv made1/code.1.er one.er && mv made2/code.1.er two.er
check "er_export -compare" er_export --to page -compare on -o builds.html one.er two.er
check "--redact" er_export --to page --redact -compare on -o less.html one.er two.er
in_browser
