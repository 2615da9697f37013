#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to page --page-size: a page that is larger gets a coarse timeline. Its tables have
# er_print's numbers all the same, under every filter; it says where it is coarse.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"
. "$top/tests/lib/npm.sh"
BROWSER=$(command -v chromium) || skip_all "chromium is not installed"
need_npm playwright-core@1.65.1
export BROWSER test PATH

cat >"$tmp/steps.js" <<'EOJ'
const functions = rows => rows.map(r => [...r.slice(0, 4), r[6]]).filter((r, i) => !i || r[2] !== '0.')
const totals = rows => rows.map(r => [r[0], ...r.slice(1, -2).filter((_, i) => i % 2 === 0).slice(0, 11), r[r.length - 1]]
	.filter(f => f !== '0.'))

// The tables are those of er_print with the page's own command.
async function compare(t, page, what) {
	const filter = await page.isVisible('.command') ? t.shellWords(await page.textContent('.command')).slice(1) : []
	const print = args => t.erPrint([...filter, ...args, 'big.er'])
	t.sameRows(what + ': functions', functions(await t.tableRows(page, 'functions')), print(['-metrics', 'ei.%totalcpu:name', '-functions']))
	t.sameRows(what + ': threads', (await t.tableRows(page, 'threads')).map(r => r.filter(f => f !== '0.')), totals(print(['-microstates'])))
	// All waits are in the first 5 ms.
	const wakers = print(['-limit', '10000', '-wakers']).filter(r => r[0] === '1').map(r => [r[1], r[2], r[9]])
	if (wakers.length)
		t.sameRows(what + ': wakers', (await t.tableRows(page, 'wakers')).map(r => [r[0], r[1], r.at(-1) ? `${r.at(-2)} -> ${r.at(-1)}` : r.at(-2)]), wakers)
	return filter
}

// Where the page says that its timeline is coarse: [from, to], in microseconds.
async function coarse(page) {
	await page.click('#tab-about')
	const text = await page.innerText('#view-about')
	return /coarse timeline, in (\d+) ranges?/.exec(text)
}

// Numbers of waits are not known where the timeline is coarse.
const uncounted = (table, rows) => table === 'functions' ? rows : rows.map(r => [...r.slice(0, 4), ...r.slice(7)])

module.exports = async t => {
	const whole = await t.openPage(t.browser, 'whole.html')
	t.check('a page that fits is not coarse', !await coarse(whole) && await whole.isHidden('#troubles'), '')
	await t.closePage(whole)
	const [errors, want] = await Promise.all(['small.html', 'whole.html'].map(file => t.openPage(t.browser, file, { hash: '#errors=true' })))
	for (const table of ['functions', 'waits', 'wakers'])
		t.sameRows('standard errors: ' + table, await t.tableRows(errors, table), uncounted(table, await t.tableRows(want, table)))
	await t.closePage(errors)
	await t.closePage(want)

	const page = await t.openPage(t.browser, 'small.html')
	t.check('the page says that it is coarse', await coarse(page) && /coarse timeline/.test(await page.textContent('#troubles')), '')
	await compare(t, page, 'everything')
	await page.click('.state:has-text("User Lock")')
	await compare(t, page, 'a state')
	await page.keyboard.press('c')
	for (const [from, to] of [[100001, 700003], [333333, 2900001]]) {
		const part = await t.openPage(t.browser, 'small.html', { hash: `#from=${from}&to=${to}` })
		const filter = await compare(t, part, `from ${from} to ${to}`)
		const [a, b] = [parseInt(filter[1]), parseInt(filter[3])]
		t.check(`from ${from} to ${to}: widened to whole ranges`, a <= from && b >= to && (a < from || b < to || a === from), filter.join(' '))
		await t.closePage(part)
	}
	// The first slice is coarse: it is the oldest one.
	const inside = await t.openPage(t.browser, 'small.html', { hash: '#from=1' })
	t.check('a time within a coarse range', (await inside.textContent('.command').catch(() => '')).includes('-from 0us'), await inside.textContent('#filter'))
	await inside.keyboard.press('c')
	await inside.fill('#expression', 'TSTAMP >= 1us')
	await inside.press('#expression', 'Enter')
	t.check('a typed time within a coarse range is refused', /coarse/.test(await inside.textContent('.expression')), await inside.textContent('#filter'))
	t.check('no complaint', ![...page.complaints, ...inside.complaints].length, [...page.complaints, ...inside.complaints].join('\n'))
	await t.closePage(inside)
	// The largest event of the first range was made of many.
	await page.mouse.click(...await page.evaluate(() => {
		const box = document.querySelector('.lanes canvas').getBoundingClientRect()
		return [box.left + 231, box.top + 22 + 18 * 6 + 9]
	}))
	t.check('the details of a merged event say so', /Events \d+, together/.test((await page.innerText('#details')).replace(/\s+/g, ' ')), await page.innerText('#details'))
	await t.closePage(page)
}
EOJ

fresh
# Few stacks and threads, so that most events differ only in time; the waits differ in wakers.
"$O/tests/bench/gen_experiment" big.er 400000 20 8 40 5000 >/dev/null
check "without a limit" er_export --to page --page-size 0 -o whole.html big.er
size=$(($(wc -c <whole.html) * 6 / 10 / 1024))
check "with a limit" er_export --to page --page-size ${size}k -o small.html big.er
check_that "the page has that size" "$(wc -c <small.html) <= $size * 1024 && $(wc -c <small.html) > $size * 1024 / 2" "$(wc -c <small.html) of ${size}k"
er_export --to page --page-size 1k -o least.html big.er 2>err
check_that "a size that cannot be reached is said" "$(grep -c 'more than --page-size allows' err) == 1" "$(cat err)"
for bad in 32X M -1 1.5M 5000000000; do
	refuses "--page-size $bad" "not a size" er_export --to page --page-size $bad -o x.html big.er
done
refuses "--page-size of another format" "only page has" er_export --to pprof --page-size 1M -o x.gz big.er
# Chromium writes into HOME. The HOME of tests, /nonexistent, must not be created.
HOME=$tmp/home node "$top/tests/lib/page.js" "$tmp/steps.js" || failures=1
