#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to page: in each view the page is valid HTML, and axe-core finds no element without an
# accessible name, no wrong role and no colour with too little contrast, light and dark. What the
# mouse can do, keys can do, and the help lists them.
# Time limit: 400 s
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"
. "$top/tests/lib/npm.sh"
BROWSER=$(command -v chromium) || skip_all "chromium is not installed"
need_npm playwright-core@1.65.1 html-validate@9.7.1 axe-core@4.10.3
export BROWSER test PATH

cat >"$tmp/steps.js" <<'EOJ'
const { HtmlValidate } = require('html-validate')

// The document as the browser has it, without the text of scripts and styles. Rules on the form of
// the text say nothing about what a browser has made.
const validator = new HtmlValidate({
	extends: ['html-validate:standard', 'html-validate:document'],
	rules: { 'no-trailing-whitespace': 'off', 'doctype-style': 'off', 'void-style': 'off', 'attr-quotes': 'off', 'long-title': 'off',
		'attribute-boolean-style': 'off', 'attribute-empty-style': 'off', 'no-inline-style': 'off', 'no-raw-characters': 'off',
		'require-sri': 'off' },
})

async function invalid(page) {
	const html = (await page.content()).replace(/(<script[^>]*>)[^<]*(?:<(?!\/script)[^<]*)*/g, '$1').replace(/(<style>)[^<]*/g, '$1')
	const report = await validator.validateString('<!DOCTYPE html>\n' + html.replace(/^<!DOCTYPE html>/i, ''))
	return report.results.flatMap(r => r.messages).map(m => `${m.ruleId}: ${m.message} (${m.selector})`)
}

// Only the colours are others in the dark.
async function inaccessible(page, colorScheme) {
	if (!await page.evaluate(() => window.axe))
		await page.addScriptTag({ path: require.resolve('axe-core/axe.min.js') })
	const rules = colorScheme === 'light' ? {} : { runOnly: ['color-contrast'] }
	const found = await page.evaluate(options => axe.run(document, options), { resultTypes: ['violations'], ...rules })
	return found.violations.map(v => `${v.id}: ${v.help}: ${v.nodes.map(n => n.target + ' ' + n.failureSummary).join('; ')}`)
}

async function views(t, colorScheme) {
	const page = await t.openPage(t.browser, 'w.html', { colorScheme, bypassCSP: true })
	for (const id of await page.$$eval('[role=tab]:not([hidden])', all => all.map(e => e.id))) {
		await page.click('#' + id)
		const wrong = [...(colorScheme === 'light' ? await invalid(page) : []), ...await inaccessible(page, colorScheme)]
		t.check(`${id.slice(4)}, ${colorScheme}`, !wrong.length, wrong.join('\n'))
	}
	await page.click('#tab-functions')
	await page.dblclick('#view-functions .tr:has-text("work")')
	await page.keyboard.press('?')
	const wrong = [...await invalid(page), ...await inaccessible(page, colorScheme)]
	t.check(`help and a filter, ${colorScheme}`, !wrong.length, wrong.join('\n'))
	await t.closePage(page)
}

// The timeline by keys: a lane, an interval in it, the one after it, the thread as a filter.
async function keys(t) {
	const page = await t.openPage(t.browser, 'w.html')
	const details = async () => (await page.innerText('#details')).replace(/\s+/g, ' ')
	const press = async (...all) => { for (const key of all) await page.keyboard.press(key) }
	await page.focus('.lanes canvas')
	let thread = ''
	for (let i = 0; i < 40 && !thread.includes('TID 13'); i++) {
		await press('ArrowDown', '.', ',')
		thread = await page.isVisible('#details') ? await details() : ''
	}
	await press(' ')
	thread = await details()
	t.check('Space selects the interval in the middle of a lane', /Thread app, PID 12, TID 13/.test(thread), thread)
	const seen = [thread]
	for (const key of ['.', '.', ',']) {
		await press(key)
		seen.push(await details())
	}
	t.check('. and , go to other intervals of the thread', seen[1] !== seen[0] && seen[2] !== seen[1] && seen[3] === seen[1] &&
		seen.every(text => /TID 13/.test(text)), seen.join('\n'))
	await press('t')
	t.check('t filters by the thread', /TID == 13/.test(await page.textContent('.command')), await page.textContent('#filter'))
	const only = [await details()]
	for (const key of ['.', ',', 't', '.']) {
		await press(key)
		only.push(await details())
	}
	t.check('t leaves the lane that the other keys act on', only[1] !== only[0] && only[2] === only[0] && only[4] === only[1] && await page.isHidden('.command'), only.join('\n'))
	await press('?')
	const help = await page.innerText('dialog')
	t.check('the help lists the keys', ['choose a lane', 'previous and next interval', 'only this thread'].every(k => help.includes(k)), help)
	await press('Escape')
	t.check('keys: no complaint', !page.complaints.length && !await page.isVisible('dialog'), page.complaints.join('\n'))
	await t.closePage(page)
}

// At this size nothing that matters is cut, or its title has the whole text.
async function layout(t) {
	const page = await t.openPage(t.browser, 'w.html', { viewport: { width: 1280, height: 800 }, hash: '#from=237470&to=737778&view="threads"&expr=' +
		encodeURIComponent(JSON.stringify('TID >= 0 && TID < 1000000 && PID >= 0 && PID < 1000000 && STATE != STOPPED')) })
	await page.evaluate(() => document.querySelector('#tab-threads').click())
	await page.dblclick('#view-threads .tr:has-text("TID 14")')
	const whole = where => page.$$eval(where, all => all.map(e => e.scrollWidth <= e.clientWidth + 1 && e.scrollHeight <= e.clientHeight + 1))
	t.check('Clear all fits its button', (await whole('.chip.clear')).join() === 'true', '')
	const chips = await page.$$eval('.chip:not(.clear)', all => all.map(e => [e.textContent, e.title]))
	t.check('a title has the text of a chip', chips.length === 2 && chips.every(([text, title]) => title.startsWith(text.replace(/ ×$/, '') + '\n')), JSON.stringify(chips))
	t.check('the name of a thread comes first', chips[1][0] === 'worker (app, PID 12, TID 14) ×', chips[1][0])
	const heads = await page.$$eval('#view-threads .th button', all => all.map(e => [e.textContent, e.title]))
	t.check('headings are whole', !(await whole('#view-threads .th button')).includes(false) && heads.some(h => h[0] === 'Data Page Fault'), JSON.stringify(heads))
	t.check('a title has the text of a heading', heads.every(([text, title]) => title.startsWith(text)), JSON.stringify(heads))
	t.check('layout: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

module.exports = async t => {
	await keys(t)
	await layout(t)
	for (const scheme of ['light', 'dark'])
		await views(t, scheme)
}
EOJ

export_fixtures
put_code code.er
check "is written" er_export --to page -o w.html w.er
# Chromium writes into HOME. The HOME of tests, /nonexistent, must not be created.
HOME=$tmp/home node "$top/tests/lib/page.js" "$tmp/steps.js" || failures=1
