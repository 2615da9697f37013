#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to page: what the timeline shows and in which colours; finding text in tables; defaults
# of .er.rc files hold for the page.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"
need_page

cat >"$tmp/steps.js" <<'EOJ'
// The colours of a lane, between two times of w.er, which lasts a second.
async function colorsOf(page, name, from, to) {
	return page.evaluate(async ([name, from, to]) => {
		await new Promise(requestAnimationFrame)
		await new Promise(requestAnimationFrame)
		const canvas = document.querySelector('.lanes canvas'), box = canvas.getBoundingClientRect()
		const c = canvas.getContext('2d'), room = box.width - 230, colors = new Set()
		for (let x = 231 + from * room; x < 229 + to * room; x++) {
			for (let y = name * 18 + 22 + 2; y < name * 18 + 22 + 15; y++)
				colors.add([...c.getImageData(x, y, 1, 1).data.slice(0, 3)].join())
		}
		return [...colors]
	}, [name, from, to])
}

const FOUND = '217,79,192'

async function timeline(t) {
	const page = await t.openPage(t.browser, 'w.html', { viewport: { width: 1280, height: 420 } })
	const height = () => page.evaluate(() => document.querySelector('.lanes').scrollHeight)
	const all = await height()
	await page.click('summary:text-is("Timeline")')
	await page.selectOption('select[aria-label=Lanes]', 'threads')
	const threads = await height()
	await page.selectOption('select[aria-label=Lanes]', 'cpus')
	const cpus = await height()
	t.check('lanes of threads only, of CPUs only', threads < all && cpus < threads, `${all} ${threads} ${cpus}`)
	const before = await colorsOf(page, 1, 0, 1)
	await page.selectOption('select[aria-label=Colours]', 'leaf')
	const leaf = await colorsOf(page, 1, 0, 1)
	await page.selectOption('select[aria-label=Colours]', 'root')
	const root = await colorsOf(page, 1, 0, 1)
	await page.selectOption('select[aria-label="Of each stack"]', '3')
	const deep = await colorsOf(page, 1, 0, 1)
	t.check('three functions of each stack, the root first', root.every(c => deep.includes(c)) && deep.length > root.length, [root, deep].join('\n'))
	await page.selectOption('select[aria-label="Of each stack"]', '')
	t.check('samples have the colours of states, leaf or root', new Set([before, leaf, root].map(String)).size === 3, [before, leaf, root].join('\n'))
	await page.keyboard.press('Escape')
	await page.setViewportSize({ width: 1280, height: 900 })
	t.check('nothing is selected, nothing stands out', !root.includes(FOUND), root.join(' '))
	await page.click('#tab-functions')
	await page.click('#view-functions .tr:has(.td:last-child:text-is("crunch"))')
	t.check('samples of the selected function stand out', (await colorsOf(page, 1, 0, 1)).includes(FOUND), (await colorsOf(page, 1, 0, 1)).join(' '))
	const hash = await page.evaluate(() => location.hash)
	t.check('the choice is in the address', /lanes=%22cpus%22/.test(hash) && /color=%22root%22/.test(hash), hash)
	t.check('the legend: each function has its colour', await page.$$eval('#view-functions .tr .dot', all => all.length > 3 && all.every(d => d.style.background)), '')
	// The test itself reads the canvas back.
	const complaints = page.complaints.filter(c => !/^Canvas2D: Multiple readback/.test(c))
	t.check('timeline: no complaint', !complaints.length, complaints.join('\n'))
	await t.closePage(page)
}

// The text of the row that was found.
const found = page => page.evaluate(() => {
	const row = document.querySelector('.view:not([hidden]) .tr.picked')
	return row ? row.textContent : ''
})

async function find(t) {
	const page = await t.openPage(t.browser, 'code.html')
	await page.click('#tab-functions')
	await page.keyboard.press('/')
	await page.keyboard.type('^.*(hot|warm)$')
	const names = []
	for (let i = 0; i < 3; i++) {
		await page.keyboard.press('Enter')
		names.push(await found(page))
	}
	t.check('Enter goes to the next match, then to the first', /hot|warm/.test(names[0]) && /hot|warm/.test(names[1]) && names[0] !== names[1] && names[2] === names[0], names.join('\n'))
	await page.keyboard.press('Shift+Enter')
	t.check('Shift Enter goes back', await found(page) === names[1], await found(page))
	t.check('matches are counted', /of 2/.test(await page.textContent('header .hint')), await page.textContent('header'))
	await page.click('#tab-source')
	await page.fill('#find', 's == 12345')
	await page.focus('#find')
	await page.keyboard.press('Enter')
	t.check('text of the source', /if \(s == 12345\)/.test(await found(page)), await found(page))
	await page.fill('#find', '')
	await page.keyboard.press('Enter')
	t.check('nothing typed: a row with high metrics', await page.$('.view:not([hidden]) .tr.hot.picked') !== null, await found(page))
	await page.fill('#find', 'no such text')
	await page.keyboard.press('Enter')
	t.check('not found is said', /not found/.test(await page.textContent('header .hint')), '')
	await page.fill('#find', '(hot')
	await page.keyboard.press('Enter')
	t.check('what is no regular expression is said', /not a regular expression/.test(await page.textContent('header .hint')), await page.textContent('header'))
	await page.click('#tab-flame')
	await page.fill('#find', 'hot')
	await page.keyboard.press('Enter')
	t.check('in the flame graph it searches the graph', await page.inputValue('#search') === 'hot' && / % match/.test(await page.textContent('#view-flame .crumbs')), await page.textContent('#view-flame .crumbs'))
	await page.fill('#search', '(hot')
	await page.keyboard.press('Enter')
	await page.waitForFunction(() => decodeURIComponent(location.hash).includes('(hot'))
	t.check('… whose field says what is no regular expression', /not a regular expression/.test(await page.textContent('#view-flame .crumbs')), await page.textContent('#view-flame .crumbs'))
	t.check('find: no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}

// The page was written with an object hidden and long names, by .er.rc.
async function defaults(t) {
	const page = await t.openPage(t.browser, 'rc/w.html'), fresh = {
		shown: () => page.$$eval('#tabs button:not([hidden])', all => all.map(b => b.textContent)),
		first: await page.textContent('#tabs [aria-selected=true]'),
	}
	const got = (await t.tableRows(page, 'functions')).map(r => [r[0], r[2], r[6]]).filter((r, i) => !i || r[1] !== '0.')
	const want = t.erPrint(['-object_hide', 'LinuxKernel', '-metrics', 'e.cpu:i.cpu:name', '-functions', 'w.er'])
	t.sameRows('defaults of .er.rc', got, want)
	t.check('tabs of .er.rc', (await fresh.shown()).join() === 'Functions,Source' && fresh.first === 'Functions', `${await fresh.shown()}; ${fresh.first}`)
	const chosen = await page.$$eval('.option select', all => all.map(s => s.value))
	t.check('tlmode of .er.rc: the last of CPUs and threads, leafs, a depth', chosen.join() === 'cpus,leaf,3', chosen.join())
	await page.click('summary:text-is("Timeline")')
	await page.selectOption('.option label:has-text("Lanes") select', '')
	t.check('what differs from .er.rc is in the address, and nothing else', /^#(view="functions"&)?lanes=""$/.test(decodeURIComponent(await page.evaluate(() => location.hash))),
		await page.evaluate(() => location.hash))
	t.check('a hidden object is one entry', got.some(r => r[2] === 'LinuxKernel' || r[2] === '<LinuxKernel>') && !got.some(r => /^vmlinux`/.test(r[2])), JSON.stringify(got))
	await t.closePage(page)
}

// Marks of packets, in a lane that has nothing else after the only sample.
async function marks(t) {
	const page = await t.openPage(t.browser, 'rc/c.html', { wait: 'body.decoded.counted' })
	const boxes = await page.$$eval('.option label:has-text("Marks of") input', all => all.map(b => b.checked)), names = await page.$$eval('.option label:has-text("Marks of")', all => all.map(b => b.textContent.trim()))
	t.check('tldata of .er.rc says which packets have marks', names.join() === 'Marks of counters,Marks of locks,Marks of memory,Marks of I/O' && boxes.join() === 'true,false,false,true', `${names} ${boxes}`)
	// Columns of pixels with a mark.
	const drawn = () => page.evaluate(async () => {
		await new Promise(requestAnimationFrame)
		await new Promise(requestAnimationFrame)
		const canvas = document.querySelector('.lanes canvas'), c = canvas.getContext('2d'), ink = getComputedStyle(document.body).color.match(/\d+/g).slice(0, 3).join()
		const found = new Set()
		for (let lane = 0; lane < canvas.height / 18 - 2; lane++) {
			for (let x = 231; x < canvas.width; x++) {
				if ([...c.getImageData(x, 22 + lane * 18 + 13, 1, 1).data.slice(0, 3)].join() === ink)
					found.add(lane + ' ' + x)
			}
		}
		return found.size
	})
	const some = await drawn()
	await page.click('summary:text-is("Timeline")')
	await page.uncheck('.option label:has-text("Marks of counters") input')
	const fewer = await drawn()
	await page.uncheck('.option label:has-text("Marks of I/O") input')
	const none = await drawn()
	t.check('packets are marked as chosen', some > fewer && fewer > none && none === 0, `${some} ${fewer} ${none}`)
	await t.closePage(page)
}

module.exports = async t => {
	await marks(t)
	await timeline(t)
	await find(t)
	await defaults(t)
}
EOJ

export_fixtures
put_code code.er
to_page w
check "code: is written" er_export --to page -setpath made/src -o code.html code.er
mkdir rc && printf 'object_hide LinuxKernel\ntabs disasm:functions:no-such\ntlmode thread:cpu:leaf:3\n' >rc/.er.rc
echo 'tldata sample:hwc:iotrace' >>rc/.er.rc
check "c: is written" sh -c 'cd rc && er_export --to page -o c.html ../c.er'
check "with an .er.rc: is written" sh -c 'cd rc && er_export --to page -o w.html ../w.er'
in_browser
