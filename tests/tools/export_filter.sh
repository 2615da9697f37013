#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to page: an expression of er_print that is typed into the page selects what it selects
# in er_print, and what the page cannot evaluate is said. Also the filters by cgroup, by a function
# with a dot in its name, and by a process of one of two recordings. And by spans, whose calls contain events.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"
need_page

cat >"$tmp/steps.js" <<'EOJ'
// The inclusive time of waits is er_print's total time without CPU time.
async function sameAs(t, page, what, filter, file = 'w.er') {
	const got = (await t.tableRows(page, 'functions')).map(r => [r[0], r[2], r[6]]).filter((r, i) => !i || r[1] !== '0.')
	await page.selectOption('#metric', { label: 'Thread time' })
	const total = (await t.tableRows(page, 'functions')).map(r => [r[0], r[2], r[6]]).filter((r, i) => !i || r[1] !== '0.')
	await page.selectOption('#metric', { label: 'CPU time' })
	t.sameRows(what + ': CPU time', got, t.erPrint([...filter, '-metrics', 'ei.cpu:name', '-functions', file]).filter((r, i) => !i || r[1] !== '0.'))
	t.sameRows(what + ': thread time', total, t.erPrint([...filter, '-metrics', 'ei.total:name', '-functions', file]).filter((r, i) => !i || r[1] !== '0.'))
}

async function type(page, text) {
	await page.fill('#expression', text)
	await page.press('#expression', 'Enter')
}

// Each selects some events and leaves some out.
const expressions = [
	'STATE == USER_LOCK', 'STATE IN (USER, "SYSTEM")', 'mstate != 7', '!(STATE == SLEEP)', 'PID == 12 && TID != 13',
	'TID >= 13 && TID < 0x15', 'REASON == DISK || REASON IN (PIPE, POLL)', 'CPUID == 0', 'COMM == "worker"', "COMM != '(app|work.*)'",
	"COMM IN ('cl.*', \"crond\")", 'CGROUP == "/app.*"', 'CGROUP != "/app.*"', '!(CGROUP == "/app.*")',
	'CGROUP == "/app.*" || STATE == USER', 'FNAME("futex_wait") SOME IN STACK', 'FNAME("ser[vw]e") SOME IN STACK && STATE == SLEEP',
	'LEAF IN FNAME("crunch|parse")', 'LNAME(".*Kernel.*") SOME IN STACK', '!(FNAME("main") SOME IN STACK) && STATE == USER || TID == 20',
	'SYSCALL == futex', 'SYSCALL IN (read, poll)', 'TSTAMP >= 500ms', 'TSTAMP < 450ms && PID == 12', 'TRUE && STATE != SLEEP',
	'TSTAMP < 600ms && STATE == USER || REASON == TIMER', '!FALSE && PID == 12', '(TRUE || FALSE) && STATE == USER',
	'((((STATE == USER))))',
]

async function typed(t) {
	const page = await t.openPage(t.browser, 'w.html')
	for (const expr of expressions) {
		await type(page, expr)
		const error = await page.isVisible('#expression-error') && await page.textContent('#expression-error')
		t.check(expr + ': is understood', !error, error)
		await sameAs(t, page, expr, ['-filters', expr])
	}
	const command = t.shellWords(await page.textContent('.command')).slice(1)
	t.check('the command has the expression', command[1] === expressions.at(-1), command.join(' '))
	await type(page, expressions[4])
	await page.click('.state:has-text("User CPU")')
	const both = t.shellWords(await page.textContent('.command')).slice(1)
	await sameAs(t, page, 'an expression and a state: ' + both[1], both)
	const again = await t.openPage(t.browser, 'w.html', { hash: await page.evaluate(() => location.hash) })
	t.check('the address has the expression', await again.inputValue('#expression') === expressions[4], '')
	await sameAs(t, again, 'from the address', both)
	await t.closePage(again)
	for (const [short, expr] of [['TID 12-13,20', 'TID >= 12 && TID <= 13 || TID == 20'], ['CPUID 1', 'CPUID == 1']]) {
		await type(page, short)
		t.check(`${short} is short for an expression`, await page.inputValue('#expression') === expr, await page.inputValue('#expression'))
	}
	await page.click('.state:has-text("User CPU")')
	await type(page, 'TID 12-13,20')
	await sameAs(t, page, 'ranges of numbers', ['-filters', 'TID >= 12 && TID <= 13 || TID == 20'])
	await type(page, '')
	await page.click('#title')
	await page.keyboard.press('c')
	t.check('an empty expression filters nothing', await page.isHidden('.command'), '')
	t.check('nothing is selected', await page.isHidden('button:text-is("OR")'), '')
	await page.click('#view-functions .tr:has(.td:last-child:text-is("serve"))')
	const clause = 'FNAME("serve") SOME IN STACK'
	for (const [button, expr] of [['Set', clause], ['AND', `(STATE == SLEEP) && ${clause}`], ['OR', `(STATE == USER) || ${clause}`]]) {
		await type(page, (expr.match(/^\((.*?)\)/) || [])[1] || 'TID == 20')
		await page.click(`#filter button:text-is("${button}")`)
		t.check(button + ' of the selected function', await page.inputValue('#expression') === expr, await page.inputValue('#expression'))
		await sameAs(t, page, button, ['-filters', expr])
	}
	t.check('typed: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

// An event passes if this is true for one of the calls that contain it.
const ofSpans = [
	"SPAN == 'q' && SPANPCT >= 99", 'SPANDUR > 10ms', "SPAN == 'q' && SPANPCT < 99", '!HAS_PROP(SPAN)', 'HAS_PROP(SPAN) && STATE == USER',
	"SPAN IN ('inner', 'hot')", 'SPANDUR == 8ms', 'SPANDUR > 1.9ms || TSTAMP >= 1s', '!(SPANPCT >= 50)', "SPAN != 'rec' && TID == 12",
	"SPAN == 'q' && SPAN == 'inner'", "SPAN == 'rec' && SPANDUR < 5ms", 'SPANPCT IN (0, 33) || REASON == WRITEBACK',
]

async function spans(t) {
	const page = await t.openPage(t.browser, 'spans.html')
	for (const expr of ofSpans) {
		await type(page, expr)
		const error = await page.isVisible('#expression-error') && await page.textContent('#expression-error')
		t.check(expr + ': is understood', !error, error)
		await sameAs(t, page, expr, ['-filters', expr], 'spans.er')
	}
	for (const expr of ['SPANUSER > 1us', 'HAS_PROP(WAITLEN)']) {
		await type(page, expr)
		t.check(expr + ' is refused', /cannot evaluate/.test(await page.textContent('#expression-error')), '')
	}
	for (const expr of ["SPAN == 'typo'", "SPAN IN ('q', 'typo')", "SPAN != 'typo' || TID == 12"]) {
		const before = await page.textContent('.command')
		await type(page, expr)
		const said = await page.textContent('#expression-error')
		t.check(expr + ': the names of spans are said', /^Column \d+: no span has this name; there are (\w+, )+\w+\. Still in force: /.test(said) && ['q', 'rec', 'hot', 'inner'].every(n => said.includes(n)), said)
		t.check(expr + ': the filter stays', await page.textContent('.command') === before, before)
	}
	t.check('spans: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
	// er_export's filter excludes all calls but those of q. `inner` contains an event, too.
	const part = await t.openPage(t.browser, 'part.html')
	await type(part, 'SPANDUR > 1ms')
	t.check('a page without all calls refuses', /cannot evaluate SPANDUR/.test(await part.textContent('#expression-error')), await part.textContent('#filter'))
	await t.closePage(part)
}

// What the page cannot do, or nobody can, and a word of the sentence that says so.
const wrong = [
	['STATE == NOWHERE', 'no value of this name'], ['PID + 1 == 13', 'cannot evaluate \\+'], ['STATE ==', 'ends where a value'], ['PID == app', 'a number is expected'],
	['WAITLEN > 1ms', 'cannot evaluate WAITLEN'], ['SPANDUR > 1ms', 'this page has no spans'], ['SPAN == "q"', 'this page has no spans'], ['TSTAMP > 1ms', '>= and <'], ['TSTAMP >= 1.5us', 'whole microseconds'],
	['COMM == app', 'quotes'], ['FNAME("a[[:digit:]]") SOME IN STACK', 'without classes'], ['FNAME("a(") SOME IN STACK', 'regular expression'],
	['FNAME("a") IN STACK', 'SOME IN STACK'], ['(STATE == USER', '\\) is missing'], ['STATE == USER)', 'should end'], ['STATE == USER PID', 'should end'],
	['COMM == "a', 'closing quote'], ['SYSCALL == mmap', 'there are futex'], ['SYSCALL != futex', 'waits only'], ['TID == 1.5', 'unit'],
	['!STATE == SLEEP', 'parentheses'], ['FNAME("a+?") SOME IN STACK', 'repeated'], ['PID constructor 3', 'cannot evaluate'],
	['#', 'no meaning'], ['!'.repeat(200) + 'TRUE', 'deeply'], ['ABSENT == 1', 'cannot evaluate ABSENT: if er_print -describe lists it'], ['COMM = "x"', '== compares'], ['COMM == 3', 'a regular expression in quotes is missing'],
	['TID == 99999999999999999999', 'not a number that can be represented'], ['TID == 99999999999s', 'not a number that can be represented'], ['TID == 9007199254740993', 'cannot evaluate 9007199254740993'], ['STATE', 'comparison is missing'],
]

async function errors(t) {
	const page = await t.openPage(t.browser, 'w.html')
	for (const [expr, words] of wrong) {
		await type(page, expr)
		const said = await page.isVisible('#expression-error') ? await page.textContent('#expression-error') : 'nothing is said'
		t.check(`'${expr.slice(0, 40)}': ${words}`, new RegExp('^Column \\d+: .*' + words).test(said), said)
	}
	t.check('an expression with an error filters nothing', await page.isHidden('.command'), '')
	t.check('which is said', / It filters nothing\.$/.test(await page.textContent('#expression-error')), await page.textContent('#expression-error'))
	await type(page, 'TID == 13')
	await type(page, 'TID = 14')
	t.check('the filter that stays in force is said', / Still in force: TID == 13$/.test(await page.textContent('#expression-error')) && /TID == 13/.test(await page.textContent('.command')), await page.textContent('#filter'))
	const from = await t.openPage(t.browser, 'w.html', { hash: '#expr=' + encodeURIComponent('"PID === 1"') })
	t.check('an error in the address is said', await from.isVisible('#expression-error') && / It filters nothing\.$/.test(await from.textContent('#expression-error')), await from.textContent('#filter'))
	t.check('… and its filter is not shown as one', await from.isHidden('.command'), await from.textContent('#filter'))
	await type(from, 'PID === 2')
	t.check('… nor said to be in force', / It filters nothing\.$/.test(await from.textContent('#expression-error')), await from.textContent('#filter'))
	t.check('errors: no complaint', !page.complaints.length && !from.complaints.length, [...page.complaints, ...from.complaints].join('\n'))
	await t.closePage(from)
	await t.closePage(page)
}

// A row of a table filters by its cgroup; a function's name may have any characters.
async function rows(t) {
	const page = await t.openPage(t.browser, 'w.html')
	const cgroups = (await t.tableRows(page, 'cgroups')).map(r => [r[0], r.at(-1)])
	t.sameRows('cgroups', cgroups, t.erPrint(['-metrics', 'e.total:name', '-cgroups', 'w.er']))
	await page.dblclick('#view-cgroups .tr:has-text("app.service")')
	const command = t.shellWords(await page.textContent('.command')).slice(1)
	t.check('a cgroup filters', /CGROUP/.test(command[1]), command.join(' '))
	await sameAs(t, page, 'a cgroup', command)
	await t.closePage(page)
	const cold = await t.openPage(t.browser, 'cold.html')
	await cold.click('#tab-functions')
	await cold.dblclick('#view-functions .tr:has-text("[hot.cold]")')
	const rows = (await t.tableRows(cold, 'functions')).map(r => [r[0], r[2], r[6]])
	t.sameRows('a function with a dot', rows, t.erPrint([...t.shellWords(await cold.textContent('.command')).slice(1), '-metrics', 'ei.user:name', '-functions', 'cold.er']))
	await t.closePage(cold)
	const two = await t.openPage(t.browser, 'two.html')
	await two.click('#tab-processes')
	await two.dblclick('#view-processes .tr:has-text("app, PID 12")')
	const states = (await t.tableRows(two, 'processes')).map(r => [r[0], r.at(-1)])
	const both = t.erPrint([...t.shellWords(await two.textContent('.command')).slice(1), '-microstates', 'processes', 'w.er', 's.er'])
	t.sameRows('a process of one of two recordings', states, both.map(r => [r[0], r.at(-1)]))
	await t.closePage(two)
}

// COMM is the name of the thread at that time. An exec also gives a thread another name.
async function names(t) {
	const page = await t.openPage(t.browser, 'renamed.html')
	for (const expr of ['COMM == "app"', 'COMM == "worker"', 'COMM == "later"', 'COMM != "later|client"', 'COMM IN ("last", "cron2") && STATE != USER', '!(COMM == "later") && TID == 13', 'COMM == "crond"']) {
		await type(page, expr)
		await sameAs(t, page, 'renamed: ' + expr, ['-filters', expr], 'renamed.er')
	}
	await t.closePage(page)
	const coarse = await t.openPage(t.browser, 'coarse.html')
	await type(coarse, 'COMM == "later"')
	t.check('COMM is refused where the timeline is too coarse for it', /coarse where a thread got or lost this name/.test(await coarse.textContent('#expression-error')), await coarse.textContent('#filter'))
	await type(coarse, 'COMM == "early|later"')
	await coarse.selectOption('#metric', { label: 'Thread time' })
	t.sameRows('a coarse timeline, and all names of a thread', (await t.tableRows(coarse, 'functions')).map(r => [r[0], r[2], r[6]]),
		t.erPrint(['-filters', 'COMM == "early|later"', '-metrics', 'ei.total:name', '-functions', 'coarse.er']))
	await t.closePage(coarse)
}

// A filter that nothing passes says so, with a way out.
async function nothing(t) {
	for (const hash of ['#view="waits"&from=100000&to=400000&expr="PID%20%3D%3D%2030"', '#view="functions"&expr="PID%20%3D%3D%2030"']) {
		const page = await t.openPage(t.browser, 'w.html', { hash }), text = await page.innerText('#note')
		t.check('a filter that excludes everything says so', text.startsWith('The filter excludes all data.'), text)
		await page.click('#note button:text-is("Clear all")')
		t.check('… and a click clears it', await page.isHidden('#note') && await page.isHidden('.command'), await page.evaluate(() => location.hash))
		await type(page, 'PID == 30')
		await page.click('#tab-findings')
		t.check('findings are of the whole recording and do not say so', await page.isHidden('#note'), '')
		await t.closePage(page)
	}
}

module.exports = async t => {
	await nothing(t)
	await typed(t)
	await spans(t)
	await errors(t)
	await rows(t)
	await names(t)
}
EOJ

export_fixtures
put_code code.er
sed -i 's|tid="1[34]"|& cgroup="/app.slice/app.service"|; s|tid="20"|& cgroup="/client"|' w.er/threads.xml
put waits.1.er renamed.er
cat >>renamed.er/names.xml <<'END'
<name pid="12" tid="13" at="300000000" comm="later"/>
<name pid="12" tid="13" at="700000000" comm="last"/>
<name pid="40" tid="40" at="500100900" comm="cron2"/>
END
put spans.1.er spans.er
to_page w renamed cold spans
# A renaming has the time of the first event with the new name, which is rounded down.
check_that "times of names are rounded down as those of events" "$(pack renamed.html index | grep -c '\[500100,"cron2"') == 1" "$(pack renamed.html index | grep -o 'kinds[^}]*')"
"$O/tests/bench/gen_experiment" coarse.er 60000 50 8 40 5000 >/dev/null
echo '<name pid="100" tid="107" at="10000000" comm="early"/> <name pid="100" tid="107" at="300000000" comm="later"/>' >coarse.er/names.xml
check "coarse: is written" er_export --to page --page-size 1k -o coarse.html coarse.er
check "part: is written" er_export --to page -filters "TID == 12 && (SPAN == 'q' || !HAS_PROP(SPAN))" -o part.html spans.er
check "two: is written" er_export --to page -o two.html w.er s.er
check "--redact" er_export --to page --redact -o less.html w.er
check_that "--redact leaves out cgroups" "$(pack less.html index | grep -c 'app\.service') == 0"
in_browser
