// SPDX-License-Identifier: GPL-2.0-or-later
// node page.js FILE ROUNDS: opens a page in a browser and prints medians: first picture, all decoded
// (ms), heap (MB), a filter (ms), a frame while the timeline moves: median and 95th of 100 (ms), and
// the same while the flame graph is zoomed.
// node page.js --events FILE: prints the number of its events, which the JSON of the index has.
const { spawn } = require('child_process')
const fs = require('fs')
const path = require('path')

const sorted = list => [...list].sort((a, b) => a - b)
const at = (list, share) => sorted(list)[Math.min(list.length - 1, Math.floor(list.length * share))]

async function open(browser, file) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
	const page = await context.newPage()
	await page.goto('file://' + path.resolve(file))
	await page.waitForSelector('body.decoded', { timeout: 120000 })
	return page
}

// The marks in a trace, in ms since the page was asked for.
function marksOf(trace) {
	const events = JSON.parse(trace).traceEvents.filter(e => e.cat.includes('blink.user_timing'))
	const at = name => events.find(e => e.name === name), decoded = at('er-decoded')
	const begin = Math.max(...events.filter(e => e.name === 'navigationStart' && e.pid === decoded.pid && e.ts < at('er-first-paint').ts).map(e => e.ts))
	return { first: (at('er-first-paint').ts - begin) / 1000, decoded: (decoded.ts - begin) / 1000 }
}

// Opens the page as a user does, with nothing attached to the browser. What drives it has the whole file decoded
// once more for the network panel of developer tools, which took a second of 20 MB.
async function openAlone(file) {
	// The browser's other processes may still write there after its end. run.sh removes what they leave.
	const dir = path.resolve(fs.mkdtempSync('er-page-')), trace = path.join(dir, 'trace.json')
	const seconds = 8 + Math.ceil(fs.statSync(file).size / 4e6), wait = ms => new Promise(done => setTimeout(done, ms))
	const browser = spawn(process.env.BROWSER, ['--headless', '--no-sandbox', '--no-first-run', '--disable-component-update',
		'--disable-extensions', '--disable-background-networking', '--window-size=1280,900', '--remote-debugging-port=0',
		'--user-data-dir=' + path.join(dir, 'profile'), '--trace-startup=blink.user_timing', '--trace-startup-format=json',
		'--trace-startup-duration=' + seconds, '--trace-startup-file=' + trace, 'file://' + path.resolve(file)], { stdio: 'ignore' })
	const ended = new Promise(done => browser.on('exit', done))
	for (let i = 0; i < seconds + 20 && !fs.existsSync(trace); i++)
		await wait(1000)
	await wait(500)
	browser.kill()
	await ended
	const ret = marksOf(fs.readFileSync(trace, 'utf8'))
	return ret
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

// Does something 60 times, once a frame, and returns the lengths of the frames (ms). 'move': the timeline
// to the right and back; 'zoom': into the flame graph, from box to box nine times, then out again.
async function frames(page, what, selector) {
	return page.evaluate(async ([what, selector]) => {
		const canvas = document.querySelector(selector), times = []
		const frame = () => new Promise(requestAnimationFrame)
		const press = key => canvas.dispatchEvent(new KeyboardEvent('keydown', { key }))
		const enter = row => {
			const { left, top, width } = canvas.getBoundingClientRect()
			canvas.dispatchEvent(new MouseEvent('click', { clientX: left + width / 3, clientY: top + row * 19 + 9 }))
		}
		const acts = { move: i => press(i % 10 < 5 ? 'ArrowRight' : 'ArrowLeft'),
			zoom: i => i % 10 < 9 ? enter(i % 10 + 1) : press('0') }
		let last = await frame()
		for (let i = 0; i < 60; i++) {
			acts[what](i)
			const now = await frame()
			times.push(now - last)
			last = now
		}
		return times
	}, [what, selector])
}

async function moveTimeline(page) {
	await page.focus('.lanes canvas')
	for (let i = 0; i < 3; i++)
		await page.keyboard.press('+')
	return frames(page, 'move', '.lanes canvas')
}

async function zoomFlame(page) {
	await page.keyboard.press('1')
	await page.waitForSelector('#view-flame canvas')
	return frames(page, 'zoom', '#view-flame canvas')
}

function countEvents(file) {
	const [, index] = /data-pack="index">([^<]*)/.exec(fs.readFileSync(file, 'latin1'))
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
		const marks = await openAlone(file)
		first.push(marks.first)
		decoded.push(marks.decoded)
		if (page)
			await page.context().close()
		page = await open(browser, file)
		heap.push(await page.evaluate(() => performance.memory.usedJSHeapSize / 1e6))
	}
	const filter = await filters(page), frame = await moveTimeline(page), zoom = await zoomFlame(page)
	console.log([at(first, 0.5), at(decoded, 0.5), at(heap, 0.5), at(filter, 0.5), at(frame, 0.5), at(frame, 0.95),
		at(zoom, 0.5), at(zoom, 0.95)].map(Math.round).join(' '))
	await browser.close()
}
main()
