#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to page: a browser shows the page without an error and without a request. Its numbers
# are er_print's, also under a filter, for which the page shows er_print's command.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"
need_page

cat >"$tmp/steps.js" <<'EOJ'
// Times and names; the page also lists functions that only waited.
const functions = rows => rows.map(r => [...r.slice(0, 4), r.at(-1)]).filter((r, i) => !i || r[2] !== '0.')

// The metric that the page calls CPU time.
const metric = { w: 'cpu', s: 'cpu', t: 'totalcpu', c: 'totalcpu', cut: 'totalcpu', bad: 'totalcpu' }

// Name and times of rows of er_print -microstates: total, then a pair of columns each state.
function threads(rows) {
	const sums = rows.map(r => [r[0], ...r.slice(1, -2).filter((_, i) => i % 2 === 0).slice(0, 11), r[r.length - 1]])
	return sums.map(r => r.filter(f => f !== '0.'))
}

async function plain(t, file) {
	const page = await t.openPage(t.browser, file + '.html')
	const got = functions(await t.tableRows(page, 'functions'))
	t.sameRows(file + ': functions', got, t.erPrint(['-metrics', 'ei.%' + metric[file] + ':name', '-functions', file + '.er']))
	const states = (await t.tableRows(page, 'threads')).map(r => r.filter(f => f !== '0.'))
	t.sameRows(file + ': states of threads', states, threads(t.erPrint(['-microstates', file + '.er'])))
	const trouble = await page.isVisible('#troubles') && await page.textContent('#troubles')
	t.check(file + ': losses are said', file === 'cut' ? /not closed/.test(trouble) : !trouble, trouble)
	t.check(file + ': no complaint, no request', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

// What the page shows is what er_print says with the page's own command.
async function compare(t, page, what, by = 'cpu') {
	const command = t.shellWords(await page.textContent('.command')).slice(1)
	t.check(what + ': the page says the command', command.length > 1, command.join(' '))
	const got = functions(await t.tableRows(page, 'functions'))
	t.sameRows(what + ': functions', got, t.erPrint([...command, '-metrics', `ei.%${by}:name`, '-functions', 'w.er']))
	const states = (await t.tableRows(page, 'threads')).map(r => r.filter(f => f !== '0.'))
	t.sameRows(what + ': states', states, threads(t.erPrint([...command, '-microstates', 'w.er'])))
	return command.join(' ')
}

async function filters(t) {
	const page = await t.openPage(t.browser, 'w.html')
	await t.dragRange(page, 0.2, 0.8)
	t.check('a range', /^-from \d+us -to \d+us$/.test(await compare(t, page, 'a range')), await page.textContent('.command'))
	await page.click('#tab-functions')
	await page.dblclick('#view-functions .tr:has-text("work")')
	t.check('a function', /FNAME\("work"\) SOME IN STACK/.test(await compare(t, page, 'a range and a function')), '')
	const marked = async () => /~/.test(await page.innerText('.legend') + await page.innerText('.what'))
	await page.keyboard.press('c')
	t.check('c clears', await page.isHidden('.command'), '')
	t.check('times by state: exact', !await marked(), await page.innerText('.legend'))
	await page.click('#tab-functions')
	await page.dblclick('#view-functions .tr:has-text("work")')
	t.check('times with a function in the stack: an estimate', await marked(), await page.innerText('.legend'))
	await page.keyboard.press('c')
	for (const state of ['User CPU', 'User Lock'])
		await page.click(`.state:has-text("${state}")`)
	await compare(t, page, 'two states')
	t.check('times of chosen states: exact', !await marked(), await page.innerText('.legend'))
	const hash = await page.evaluate(() => location.hash)
	const again = await t.openPage(t.browser, 'w.html', { hash })
	await compare(t, again, 'the same from the address')
	await page.keyboard.press('c')
	await page.click('#tab-waits')
	await page.dblclick('#view-waits .tr:has-text("disk")')
	await compare(t, page, 'a reason')
	await page.keyboard.press('c')
	await page.click('#tab-threads')
	await page.dblclick('#view-threads .tr:has-text("TID 13")')
	await compare(t, page, 'a thread')
	t.check('filters: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

// The first view is the findings: er_print's sentences, and a button that filters by one.
async function findings(t) {
	const page = await t.openPage(t.browser, 'w.html')
	const said = await page.$$eval('#view-findings .finding', all => all.map(e => [e.querySelector('p').textContent, e.querySelector('code').textContent]))
	const want = t.erPrint(['-findings', 'w.er']).map(r => [r[5].replace(/ See: .*/, ''), 'er_print ' + r[3]])
	t.sameRows('findings', said, want)
	t.check('findings: there is one to show', said.length > 1, JSON.stringify(said))
	await page.click('#view-findings .finding >> nth=0 >> button')
	const command = await compare(t, page, 'a finding', 'total')
	t.check('a finding filters by process and state', /PID IN|PID ==/.test(command) && /STATE/.test(command), command)
	await page.keyboard.press('8')
	t.check('8 goes back to the findings', await page.isVisible('#view-findings .finding'), '')
	const note = await page.innerText('#view-findings .notes')
	t.check('findings are of the whole recording, which is said under a filter', note.startsWith('The findings are of the whole recording: the filter of this page does not apply.'), note)
	t.check('findings: the command has the filter', await page.innerText('#view-findings .notes code') === `${await page.innerText('.command')} -findings`, note)
	await page.click('#view-findings .notes button:text-is("Clear the filter")')
	t.check('findings: a click clears the filter', await page.isHidden('.command') && !await page.innerText('#view-findings .notes'), '')
	t.check('findings: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

// "Show" opens the tab that has the report of a finding's command.
async function shown(t) {
	const tabs = { '-runqueue': 'runqueue', '-locks': 'locks', '-waits': 'waits', '-functions': 'functions', '-header': 'about' }
	for (const [file, least] of [['t', '-runqueue'], ['locks', '-locks'], ['w', '-waits']]) {
		const page = await t.openPage(t.browser, file + '.html'), met = []
		for (const [i, text] of (await page.$$eval('#view-findings .finding code', all => all.map(e => e.textContent))).entries()) {
			const command = text.replace(/.* (-\w+).*/, '$1'), want = tabs[command]
			await page.click('#tab-findings')
			await page.click(`#view-findings .finding >> nth=${i} >> button`)
			t.check(`${file}: a finding with ${command} opens the tab ${want}`, await page.isVisible(`#view-${want}`), await page.evaluate(() => location.hash))
			met.push(command)
		}
		t.check(`${file}: there is a finding with ${least}`, met.includes(least), met.join())
		await t.closePage(page)
	}
}

// A button that does nothing yet says why.
async function sandwich(t) {
	const page = await t.openPage(t.browser, 'w.html', { hash: '#view="flame"' }), title = () => page.getAttribute('button:text-is("Sandwich")', 'title')
	t.check('Sandwich: select a function first', /^Select a function first/.test(await title()) && await page.isDisabled('button:text-is("Sandwich")'), await title())
	await page.evaluate(() => { location.hash = '#view="flame"&selected=1' })
	await page.waitForSelector('button:text-is("Sandwich"):enabled')
	t.check('Sandwich: of the selected function', /^Callers above the selected/.test(await title()), await title())
	await t.closePage(page)
}

// A file that was not copied whole says so, and shows what it has.
async function cutFiles(t) {
	const page = await t.openPage(t.browser, 'short.html')
	t.check('a cut file says so', await page.textContent('#status') === 'The file is cut: some views have no data.', await page.textContent('#status'))
	t.check('a cut file shows functions', (await t.tableRows(page, 'functions')).length > 1, '')
	await t.closePage(page)
	const none = await t.openPage(t.browser, 'nothing.html', { wait: '#status.bad' })
	t.check('a file without data says so', await none.textContent('#status') === 'The file is cut: it has no data.', await none.textContent('#status'))
	await t.closePage(none)
	const whole = await t.openPage(t.browser, 'w.html')
	t.check('a whole file does not', await whole.textContent('#status') === '', await whole.textContent('#status'))
	await t.closePage(whole)
}

// In all of this range two threads wait for each other's lock.
async function withinWaits(t) {
	const page = await t.openPage(t.browser, 'w.html', { hash: '#from=630000&to=690000' }), tops = await page.innerText('.tops')
	t.check('a range inside waits: their kind, holder and time', /User Lock: user lock in futex 0\.120 *\(0\.060 held by app, PID 12, TID 1[34] \(worker\)\)/.test(tops), tops)
	const bar = await page.innerText('.state:has-text("User Lock") b')
	t.check('a range inside waits: the bar has the same', /^~0\.120 ±/.test(bar), bar)
	await page.evaluate(() => { location.hash = '#from=600000&to=690000' })
	for (const [tab, text] of [['threads', /^Tables count a wait in whole where it ends.*the range\.$/], ['runqueue', /Nothing of this table ends in the range/], ['functions', /^$/]]) {
		await page.click('#tab-' + tab)
		const note = await page.innerText('#note')
		t.check(`${tab}: how waits are counted at the ends of a range`, text.test(note), note)
	}
	await page.evaluate(() => { location.hash = '#view="waits"&threads=[2]&from=630000&to=690000' })
	await page.waitForFunction(() => /ends in the range/.test(document.querySelector('#note').textContent))
	t.check('a range inside a wait: tables are empty, with a way out', /Nothing of this table.*Clear all/.test(await page.innerText('#note')), await page.innerText('#note'))
	await t.closePage(page)
}

// A range cuts waits at its ends: 6 threads of 300 ms. Most is known, no wait counts twice.
async function verdict(t) {
	const page = await t.openPage(t.browser, 'w.html', { hash: '#from=600000&to=900000' })
	const times = await page.$$eval('.state b', all => all.map(b => Number(b.textContent.replace(/^~| .*/g, ''))))
	const sum = times.reduce((a, b) => a + b, 0)
	t.check('a verdict on a range is about its length', Math.abs(sum - 1.8) < 0.1, times.join(' '))
	const tops = await page.innerText('.tops')
	t.check('functions and waits of a range', /Most CPU time: *think 0\.200.*Most time waiting:.*User Lock: user lock in futex 0\.375 *\(0\.\d+ (held|ended) by/s.test(tops), tops)
	await page.click('.tops .link:has-text("user lock")')
	await compare(t, page, 'a wait of the verdict', 'lock')
	await t.closePage(page)
	await withinWaits(t)
}

// More events than a pack has.
async function packs(t) {
	const page = await t.openPage(t.browser, 'big.html')
	const got = functions(await t.tableRows(page, 'functions'))
	t.sameRows('two packs: functions', got, t.erPrint(['-metrics', 'ei.%totalcpu:name', '-functions', 'big.er']))
	await page.click('.state:has-text("User CPU")')
	const command = t.shellWords(await page.textContent('.command')).slice(1)
	t.sameRows('two packs: a state', functions(await t.tableRows(page, 'functions')),
		t.erPrint([...command, '-metrics', 'ei.%totalcpu:name', '-functions', 'big.er']))
	t.check('two packs: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

// Names that would end an element, run a script or reverse a line.
async function markup(t) {
	const page = await t.openPage(t.browser, 'm.html')
	const names = (await t.tableRows(page, 'functions')).map(r => r[6])
	t.check('markup in names is text', names.includes('</script <img src=x onerror=alert(1)'), names.join('\n').slice(0, 500))
	t.check('marks that reverse text are shown as \\x', names.includes('\\xe2\\x80\\xaegnp.exe'), names.join('\n').slice(0, 500))
	t.check('a name of 60 kB', names.some(n => n.length > 59000), '')
	await page.dblclick('#view-functions .tr:has-text("xxx")')
	t.check('a long name leaves room for the rest', await page.isVisible('.chip.clear, .chip') && await page.evaluate(() =>
		document.documentElement.scrollWidth <= innerWidth && document.querySelector('#filter').offsetHeight < 40), '')
	await page.click('#tab-flame')
	t.check('no element from a name', await page.$('img') === null, '')
	t.check('markup: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

// An address is input. It is read when the page opens, and when it changes.
async function addresses(t) {
	const hostile = ['func=999999', 'selected=-5', 'event=99999999', 'threads=[99]', 'states=[77]', 'reasons=["x"]', 'cpus=["$(id)"]',
		'metric="constructor"', 'view="__proto__"', 'sort={"functions":1}', 'sort={"functions":["x",null]}', 'search="("',
		'viewFrom=-9e300&viewTo=9e300', 'viewFrom=5&viewTo=5', 'from=9007199254740993', 'from=700000&to=600000', '%', '__proto__={"x":1}']
	const clean = await t.openPage(t.browser, 'w.html', { hash: '#view="functions"' })
	const want = await t.tableRows(clean, 'functions')
	await t.closePage(clean)
	const check = async (how, page) => {
		await page.click('#tab-functions')
		t.sameRows(`address ${how}: all functions`, await t.tableRows(page, 'functions'), want)
		t.check(`address ${how}: no complaint, no filter`, !page.complaints.length && await page.isHidden('.command'),
			page.complaints.join('\n'))
	}
	const changed = await t.openPage(t.browser, 'w.html')
	for (const hash of hostile) {
		await changed.evaluate(h => { location.hash = h }, hash)
		await check('changed to ' + hash, changed)
	}
	await t.closePage(changed)
	const opened = await t.openPage(t.browser, 'w.html', { hash: '#' + hostile.join('&') })
	await check('opened', opened)
	await t.closePage(opened)
}

// The browser's buttons go from filter to filter and from tab to tab. A selection is no step.
async function backAndForth(t) {
	const page = await t.openPage(t.browser, 'w.html'), tab = () => page.textContent('[role=tab][aria-selected=true]')
	const shown = async () => `${await tab()}; ${await page.isVisible('.command') ? await page.textContent('.command') : 'all'}`
	const first = await shown()
	await page.click('#tab-functions')
	await page.click('#view-functions .tr:has-text("work")')
	await page.keyboard.press('ArrowDown')
	const second = await shown()
	await t.dragRange(page, 0.2, 0.8)
	const third = await shown()
	for (const [what, go, want] of [['back', 'goBack', second], ['back again', 'goBack', first],
		['forward', 'goForward', second], ['forward again', 'goForward', third]]) {
		await page[go]()
		await page.waitForTimeout(100)
		t.check(`history: ${what}`, await shown() === want, `${await shown()} instead of ${want}`)
	}
	t.check('history: three states, no complaint', new Set([first, second, third]).size === 3 && !page.complaints.length,
		[first, second, third, ...page.complaints].join('\n'))
	await t.closePage(page)
}

// worker 13 waits for a lock from 0.50 to 0.55 s; worker 14 holds it and ends the wait.
async function interval(t) {
	const page = await t.openPage(t.browser, 'w.html')
	const box = await page.locator('.lanes canvas').boundingBox()
	const lanes = await page.evaluate(() => document.querySelector('.lanes').scrollHeight)
	for (let y = 30; y < Math.min(lanes, box.height); y += 18) {
		await page.mouse.click(box.x + 230 + 0.53 * (box.width - 230), box.y + y)
		if (await page.isVisible('#details') && /worker\) *From 0\.500000/.test(await page.innerText('#details').then(s => s.replace(/\s+/g, ' '))))
			break
	}
	const text = (await page.innerText('#details')).replace(/\s+/g, ' ')
	t.check('an interval: thread, times, holder, waker, stack', /User Lock.*TID 13.*0\.500000.*0\.550000.*50\.0 ms.*Held by.*TID 14.*Ended by.*TID 14.*lock_queue/.test(text), text)
	await page.click('#details dd .link >> nth=1')
	const there = (await page.innerText('#details')).replace(/\s+/g, ' ')
	t.check('the holder: one click', /Thread app, PID 12, TID 14/.test(there), there)
	t.check('interval: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

module.exports = async t => {
	for (const file of Object.keys(metric))
		await plain(t, file)
	await filters(t)
	await findings(t)
	await shown(t)
	await sandwich(t)
	await verdict(t)
	await cutFiles(t)
	await interval(t)
	await packs(t)
	await markup(t)
	await addresses(t)
	await backAndForth(t)
}
EOJ

export_fixtures
put markup.1.er m.er
put locks.1.er locks.er
to_page w s t c cut bad m locks
sed '/data-pack="reports"/,$d' w.html >short.html
sed '/data-pack="index"/,$d' w.html >nothing.html
check_that "no name is outside the packs" "$(grep -c 'onerror=alert' m.html) == 0"
"$O/tests/bench/gen_experiment" big.er 300000 50 8 40 >/dev/null
to_page big
check_that "big: two packs of events" "$(grep -c 'data-pack="events"' big.html) == 2"

check "--redact" er_export --to page --redact -o less.html w.er
pack w.html index >all.json
pack less.html index >less.json
check_that "--redact leaves out paths, command and host" \
	"$(grep -cE 'testhost|test args|/usr|w\.er' all.json) == 1 && $(grep -cE 'testhost|test args|/usr|w\.er' less.json) == 0" "$(cat less.json)"
# Notes and messages have any text; names of generated functions have paths.
cp -R w.er noted.er
echo 'ask the boss' >noted.er/notes
echo '<event kind="comment" id="1" tstamp="0.1" text="boss said"/>' >>noted.er/log.xml
er_export --to page -o noted.html noted.er
er_export --to page --redact -o lessnoted.html noted.er
check_that "--redact leaves out notes and messages" \
	"$(pack noted.html index | grep -c 'ask the boss.*boss said') == 1 && $(pack lessnoted.html index | grep -c boss) == 0" \
	"$(pack noted.html index)"
er_export --to page --redact -o lessm.html m.er
check_that "--redact leaves out paths in names of functions" \
	"$(pack m.html index | grep -c '</script <img') == 1 && $(pack lessm.html index | grep -c '</script <img') == 0 && $(pack lessm.html index | grep -c '<script <img') == 1" \
	"$(pack lessm.html index | cut -c 1-2000)"
refuses "--redact of a format that tells all" "only page can" er_export --to pprof --redact -o x.gz w.er
in_browser
for p in $(sed -n "s/.*content=\"\(default-src 'none'[^\"]*\)\".*/\1/p" w.html | tr ' ' '~'); do policy=$p; done
check_that "the policy allows this script and this style only" \
	"$(echo "$policy" | grep -cE "^default-src~'none';~script-src~'sha256-[^~]*';~style-src~'sha256-[^~]*';~worker-src~blob:;~img-src~data:;~base-uri~'none';~form-action~'none'$") == 1" "$policy"
check_that "the application is smaller than 200 kB" "$(sed '/^<script type="application.gzip"/,$d' w.html | wc -c) < 200000"
