#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to page: between usage samples the states above the timeline are exact, those of er_print -exact_states;
# within a second they are estimates with an error, and one action makes them exact; what snapshots cannot say.
# Time limit: 400 s
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"
need_page

cat >"$tmp/steps.js" <<'EOJ'
const { differences, said, shownTimes } = require(process.env.top + '/tests/lib/page_seconds.js')
const wait = 'body.seconds'

async function equal(t, what, file, hash, args) {
	const page = await t.openPage(t.browser, file + '.html', { hash, wait })
	const diff = await differences(t, page, args)
	t.check(`${what}: equal to er_print`, !diff, diff)
	const times = await shownTimes(page)
	t.check(`${what}: only user and system time is estimated`, Object.entries(times).every(([name, time]) => time.startsWith('~') === /^(User|System|Trap) CPU/.test(name)), JSON.stringify(times))
	t.check(`${what}: is said to be exact`, /  ?exact, from/.test(await said(page)), await said(page))
	t.check(`${what}: no button`, !await page.$('.whole'), '')
	t.check(`${what}: no complaint`, !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

// A range that begins and ends within seconds.
async function estimated(t) {
	const page = await t.openPage(t.browser, 'w.html', { hash: '#from=300000&to=800000', wait }), before = await shownTimes(page)
	const numbers = Object.entries(before).filter(([name]) => name !== 'CPU').map(([, time]) => Number(time.replace(/^~| .*/g, '')))
	const sum = numbers.reduce((a, b) => a + b, 0)
	t.check('within a second: estimates have their errors', Object.values(before).some(time => /^~[\d.]+ ±\d\.\d{3}$/.test(time)) && /±/.test(await said(page)), JSON.stringify(before))
	// That of user time: its share of the CPU time is p = 0.847, and the squares of the samples' weights add up to 0.0756 s²:
	// (0.051 p)² + 0.0756 p (1 - p) = 0.108². Errors of threads are added up, not their squares.
	const errors = Object.entries(before).map(([name, time]) => `${name} ${time.replace(/.*±/, '')}`).join(', ')
	t.check('within a second: each error has its size', errors === 'CPU 0.051, User CPU 0.108, System CPU 0.099, Trap CPU 0.013, Wait CPU 0.015, User Lock 0.017, ' +
		'Text Page Fault 0.016, Data Page Fault 0.019, Sleep 0.010', errors)
	t.check('within a second: the times add up to the lives', Math.abs(sum - 3) < 0.01, `${sum}: ${JSON.stringify(before)}`)
	const from = ['-from', '250000us', '-to', '750000us', '-exact_states', 'w.er']
	await page.click('.whole')
	let diff = await differences(t, page, from)
	t.check('a click makes the range exact', !diff && /exact, from 0.250000 s to 0.750000 s/.test(await said(page)), `${diff} ${await said(page)}`)
	t.check("er_print's command is that of the range", /-from 250000us -to 750000us/.test(await page.textContent('.command')), await page.textContent('.command'))
	await page.evaluate(() => { location.hash = '#from=300000&to=800000' })
	await page.waitForSelector('.whole')
	await page.keyboard.press('e')
	diff = await differences(t, page, from)
	t.check('the key e does, too', !diff, diff)
	await page.keyboard.press('?')
	t.check('it is in the help', /usage samples/.test(await page.innerText('dialog')), await page.innerText('dialog'))
	t.check('within a second: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

// Each recording has usage samples of its own.
async function ofEach(t) {
	for (const [group, from] of [['', '0.250000'], ['&group=1', '0.250000'], ['&group=2', '0.400000']]) {
		const page = await t.openPage(t.browser, 'unlike.html', { hash: '#from=300000&to=760000' + group })
		await page.click('.whole')
		const text = await said(page)
		t.check(`whole seconds of two recordings${group}`, new RegExp(`from ${from} s to 0.750000 s`).test(text) || (!group && /from="?250000|0.250000/.test(await page.innerText('.chips'))), text)
		await t.closePage(page)
	}
}

// What snapshots cannot say stays an estimate, and the page says why.
async function cannot(t) {
	for (const [what, file, hash] of [['a state', 'w', '#from=250000&to=750000&states=[7]'], ['a CPU', 'w', '#from=250000&to=750000&cpus=[0]'],
		['an expression', 'w', `#from=250000&to=750000&expr="${encodeURIComponent('REASON == DISK')}"`], ["a filter of er_export's", 'filtered', '#from=250000&to=750000'],
		['a name that a thread had for a time', 'named', '#from=250000&to=750000'], ['no snapshots', 'none', '#from=250000&to=750000'], ['no room', 'small', '#from=250000&to=750000']]) {
		const page = await t.openPage(t.browser, file + '.html', { hash }), text = await said(page)
		t.check(`${what}: is an estimate, and the page says why`, /estimated from samples.*: (the exact states of seconds|no exact states|the file has only a part)/.test(text) && !await page.$('.cpusum, .whole'), text)
		t.check(`${what}: no complaint`, !page.complaints.length, page.complaints.join('\n'))
		await t.closePage(page)
	}
}

// An expression about threads chooses threads. One that tests more keeps estimates, with errors.
async function expressions(t) {
	const ofExpr = (expr, range = '#from=250000&to=750000&') => `${range}expr=${encodeURIComponent(JSON.stringify(expr))}`, whole = ['-from', '250000us', '-to', '750000us']
	for (const expr of ['PID >= 0', 'TID == 13', 'COMM == "worker" && !(TID == 14)'])
		await equal(t, expr, 'w', ofExpr(expr), [...whole, '-filters', expr, '-exact_states', 'w.er'])
	await equal(t, 'an expression without a range', 'w', ofExpr('PID == 12', '#'), ['-filters', 'PID == 12', '-exact_states', 'w.er'])
	for (const expr of ['DURATION >= 100ms', 'COMM == "worker'])
		await equal(t, `${expr} is refused`, 'w', ofExpr(expr), [...whole, '-exact_states', 'w.er'])
	const page = await t.openPage(t.browser, 'w.html', { hash: ofExpr('TID IN (13, 14)', '#from=300000&to=340000&'), wait: 'body.seconds.decoded' }), typed = await shownTimes(page)
	t.check('a part of a second of two threads: times have errors, and add up to it', Object.values(typed).some(time => / ±/.test(time)) &&
		Math.abs(Object.entries(typed).reduce((sum, [name, time]) => sum + (name === 'CPU' ? 0 : Number(time.replace(/^~| .*/g, ''))), 0) - 0.08) < 0.003, JSON.stringify(typed))
	await t.closePage(page)
	for (const [expr, file] of [['STATE == USER_LOCK || PID == 12', 'w'], ['TRUE && STATE != SLEEP', 'w'], ['TRUE && STATE != SLEEP', 'none']]) {
		const more = await t.openPage(t.browser, file + '.html', { hash: ofExpr(expr) }), times = await shownTimes(more)
		t.check(`${file}, ${expr}: estimates with errors`, Object.values(times).every(time => /^~/.test(time)) && Object.values(times).filter(time => /^~[\d.]+ ±\d\.\d{3}$/.test(time)).length > 2, JSON.stringify(times))
		await t.closePage(more)
	}
}

module.exports = async t => {
	await expressions(t)
	const whole = ['-from', '250000us', '-to', '750000us']
	await equal(t, 'whole recording', 'w', '', ['-exact_states', 'w.er'])
	await equal(t, 'whole seconds', 'w', '#from=250000&to=750000', [...whole, '-exact_states', 'w.er'])
	await equal(t, 'a begin only', 'w', '#from=750000', ['-from', '750000us', '-exact_states', 'w.er'])
	await equal(t, 'a process', 'w', '#from=250000&to=750000&processes=["1:12"]', [...whole, '-filters', 'PID == 12', '-exact_states', 'w.er'])
	await equal(t, 'redacted', 'redacted', '#from=250000&to=750000', [...whole, '-exact_states', 'w.er'])
	await equal(t, 'er_export -comm', 'comm', '#from=250000&to=750000', [...whole, '-comm', 'worker', '-exact_states', 'w.er'])
	await equal(t, 'er_export of a process, a thread of which had two names', 'process', '#from=250000&to=750000', [...whole, '-pid', '12', '-exact_states', 'renamed.er'])
	await equal(t, 'er_export -from -to', 'times', '', [...whole, '-exact_states', 'w.er'])
	// A thread that waits through all of the range has no event there.
	await equal(t, 'er_export -pid -from -to', 'timed', '', [...whole, '-pid', '12,40', '-exact_states', 'w.er'])
	await equal(t, 'two recordings', 'two', '#from=250000&to=750000', [...whole, '-exact_states', 'w.er', 'v.er'])
	await equal(t, 'one of two', 'two', '#from=250000&to=750000&group=2', [...whole, '-exact_states', 'v.er'])
	await equal(t, 'folded threads', 'folded', '', ['-exact_states', 'folded.er'])
	await equal(t, 'folded threads of a cgroup', 'folded', '#cgroups=["/build"]', ['-filters', 'CGROUP == "/build"', '-exact_states', 'folded.er'])
	await estimated(t)
	await ofEach(t)
	await cannot(t)
}
EOJ

export_fixtures
put waits.1.er v.er none.er
put sums.1.er folded.er
cat >w.er/snapshots.xml <<'END'
<snapshot at="0" took="90000" threads="12,s 12/13,r 12/14,r 20,s 40,s 0/5,s"/>
<snapshot at="250000000" took="100000" threads="12,sr50000000u40000000y10000000s190000000w10000000 12/13,lr100000000u100000000l100000000s50000000 12/14+20000,rr150020000u150020000l50000000w50000000"/>
<snapshot at="750000000" took="80000" threads="12/13,sr100000000u100000000d120000000t80000000l200000000 20,rr200000000u200000000s550000000"/>
<ends threads="12+1000000000,r100000000u60000000y40000000s610000000w40000000 12/13+1000000000,r100000000u100000000l50000000s100000000 12/14+1000000000,r349980000u299980000y50000000l250000000w50000000p70000000k30000000 20+1000000000,r200000000u200000000s50000000 40+1000000000,r10000000s990000000 0/5+1000000000,r20000000s980000000"/>
END
cp w.er/snapshots.xml v.er/
# Of folded threads 101 has events of its own. A TID came again; a pause; a thread with times that may be earlier.
cat >folded.er/snapshots.xml <<'END'
<snapshot at="200000000" took="1000" threads="200,sr20000000s180000000 300,ss200000000"/>
<ends threads="100+21000000,r5000000s6000000 101+32000000,r6000000s6000000 104+65000000,r9000000s6000000 200+300000000,s100000000 100+1200000000,r700000000"/>
<snapshot at="600000000" took="1000" threads="300+300,ss400000300 200,rr100000000"/>
<snapshot at="800000000" took="1000" threads=""/>
<ends threads="77+90000000,s1000000 200+1000000000,r400000000 300+1000000000,s399000000r999700"/>
END
put waits.1.er u.er
sed 's/at="250000000"/at="400000000"/' w.er/snapshots.xml >u.er/snapshots.xml
check "unlike: is written" er_export --to page -o unlike.html w.er u.er
to_page w none folded
er_print -exact_states folded.er >folded.out 2>&1
check "exact_states has a thread without packets" grep -q 'TID 77$' folded.out
er_print -filters 'TID < 1000' -exact_states folded.er >folded.out 2>&1
check_that "a filter leaves it out" "$(grep -c 'TID 77$' folded.out) == 0"
check "redacted: is written" er_export --to page --redact -o redacted.html w.er
check "comm: is written" er_export --to page -comm worker -o comm.html w.er
cp -R w.er renamed.er
printf '<name pid="12" tid="13" at="%s" comm="%s"/>\n' 0 sh 100000000 worker >renamed.er/names.xml
check "process: is written" er_export --to page -pid 12 -o process.html renamed.er
check "named: is written" er_export --to page -comm worker -o named.html renamed.er
check "times: is written" er_export --to page -from 300ms -to 700ms -o times.html w.er
check "timed: is written" er_export --to page -pid 12,40 -from 300ms -to 700ms -o timed.html w.er
check "filtered: is written" er_export --to page -filters 'STATE == SLEEP' -o filtered.html w.er
check "two: is written" er_export --to page -o two.html w.er v.er
er_export --to page --page-size 1 -o small.html w.er 2>small.err
check "small: er_export says what it left out" grep -q 'exact states of seconds need' small.err
# A thread sleeps for 400 ms of a second and computes for 600 ms. One of two sampled waits was inside the first half, each of 10 ms
# and for 50 ms. Unknown: 380 ms of sleep, of which (40 + 20) of (80 + 40) are inside; its variance is 380² / 4 / 4. All CPU time is unknown.
cat >divide.mjs <<'END'
const [{ makePart, addEventsToParts, divideTimes }, { KINDS }] = await Promise.all(['estimate.js', 'snapshots.js'].map(f => import(process.argv[2] + f)))
const array = (...all) => Float64Array.from(all), states = KINDS.map(name => ({ name, cpu: name === 'USER' }))
const data = { nthreads: 1, states, classes: [{ state: 1, flags: 0 }, { state: 1, flags: 32 }],
	chunks: [{ n: 3, base: 0, time: array(400e3, 700e3, 900e3), thread: [0, 0, 0], cls: [0, 0, 1], weight: array(50e3, 50e3, 9e3), length: array(10e3, 10e3, 9e3) }] }
const part = makePart(data, 0, 1e6, 0, 5e5), exact = array(600e3, 400e3, 0, 0, 0, 0, 0, 0)
addEventsToParts(data, [[part]])
const free = divideTimes(part, 0, exact, null), fitted = divideTimes(part, 0, exact, 520e3), sum = fitted.us.reduce((a, b) => a + b, 0)
console.log([...free.us.slice(0, 2), ...[...free.variance.slice(0, 2)].map(Math.sqrt)].map(v => (v / 1e3).toFixed(1)).join(' '), (sum / 1e3).toFixed(1),
	fitted.variance[0] < free.variance[0] && Math.abs(fitted.variance[0] - fitted.variance[1]) < 1)
END
node divide.mjs "$top/analysis/export/page/" >divide 2>&1
check "a second is divided, with the error of what is unknown" grep -qx '300.0 200.0 212.1 95.0 520.0 true' divide
export top
in_browser
