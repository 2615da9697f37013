// SPDX-License-Identifier: GPL-2.0-or-later
// node page.js FILE ROUNDS: opens a page in a browser and prints medians: first picture, all decoded
// (ms), heap (MB), a filter (ms), a frame while the timeline moves: median and 95th of 100 (ms).
// node page.js --events FILE: prints the number of its events, which the JSON of the index has.
const path = require('path')

const sorted = list => [...list].sort((a, b) => a - b)
const at = (list, share) => sorted(list)[Math.min(list.length - 1, Math.floor(list.length * share))]

async function open(browser, file) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
	const page = await context.newPage()
	await page.goto('file://' + path.resolve(file))
	await page.waitForSelector('body.decoded', { timeout: 120000 })
	const when = name => page.evaluate(n => performance.getEntriesByName(n)[0].startTime, name)
	return { page, first: await when('er-first-paint'), decoded: await when('er-decoded') }
}

async function filters(page) {
	await page.evaluate(() => performance.clearMeasures())
	for (let i = 0; i < 3; i++) {
		for (const state of await page.$$('.state:not(.none)'))
			await state.click().catch(() => null)
	}
	await page.keyboard.press('c')
	return page.evaluate(() => performance.getEntriesByName('er-filter').map(e => e.duration))
}

async function frames(page) {
	await page.focus('.lanes canvas')
	for (let i = 0; i < 3; i++)
		await page.keyboard.press('+')
	return page.evaluate(async () => {
		const canvas = document.querySelector('.lanes canvas'), times = []
		const frame = () => new Promise(requestAnimationFrame)
		let last = await frame()
		for (let i = 0; i < 60; i++) {
			canvas.dispatchEvent(new KeyboardEvent('keydown', { key: i % 10 < 5 ? 'ArrowRight' : 'ArrowLeft' }))
			const now = await frame()
			times.push(now - last)
			last = now
		}
		return times
	})
}

function countEvents(file) {
	const [, index] = /data-pack="index">([^<]*)/.exec(require('fs').readFileSync(file, 'latin1'))
	return /"nevents":(\d+)/.exec(require('zlib').gunzipSync(Buffer.from(index, 'base64')).toString('latin1'))[1]
}

async function main() {
	if (process.argv[2] === '--events') {
		console.log(countEvents(process.argv[3]))
		return
	}
	const [file, rounds] = process.argv.slice(2), { chromium } = require('playwright-core')
	const browser = await chromium.launch({ executablePath: process.env.BROWSER, args: ['--no-sandbox', '--enable-precise-memory-info'] })
	const first = [], decoded = [], heap = []
	let page
	for (let i = 0; i < Number(rounds); i++) {
		if (page)
			await page.context().close()
		const opened = await open(browser, file)
		page = opened.page
		first.push(opened.first)
		decoded.push(opened.decoded)
		heap.push(await page.evaluate(() => performance.memory.usedJSHeapSize / 1e6))
	}
	const filter = await filters(page), frame = await frames(page)
	console.log([at(first, 0.5), at(decoded, 0.5), at(heap, 0.5), at(filter, 0.5), at(frame, 0.5), at(frame, 0.95)].map(Math.round).join(' '))
	await browser.close()
}
main()
