// SPDX-License-Identifier: GPL-2.0-or-later
// Drives a page of er_export --to page in a browser, for tests: node page.js STEPS, a module that
// exports an async function (t). Prints ok and not ok lines.
const { chromium } = require('playwright-core')
const { check, erPrint, fields, erPrintText, shellWords, sameRows, shownRows, finish } = require('./page_checks.js')
const path = require('path')

// Pages that a test closed, by their options. A page that is opened anew gets one of them, since a new browser context
// costs a process of the browser's, more than reading the page.
const idle = new Map()

async function newPage(browser, options) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
	const page = await context.newPage()
	page.on('console', m => ['error', 'warning'].includes(m.type()) && page.complaints.push(m.text()))
	page.on('pageerror', e => page.complaints.push(e.stack))
	page.on('request', r => !/^(file|blob|about):/.test(r.url()) && page.complaints.push('request: ' + r.url()))
	return page
}

// Opens FILE: with an address's HASH, until WAIT is found. The other options are those of a browser context.
async function openPage(browser, file, { hash = '', wait = 'body.decoded', ...options } = {}) {
	const kind = JSON.stringify(options)
	const page = idle.get(kind)?.pop() || await newPage(browser, options)
	page.complaints = []
	page.kind = kind
	await page.goto('file://' + path.resolve(file) + hash, { timeout: 60000 })
	await page.waitForSelector(wait, { timeout: 60000 })
	return page
}

// Gives a page back. What it held is gone.
async function closePage(page) {
	await page.goto('about:blank')
	if (!idle.has(page.kind))
		idle.set(page.kind, [])
	idle.get(page.kind).push(page)
}

// All rows of a tab's table.
async function tableRows(page, tab) {
	await page.click('#tab-' + tab)
	return page.evaluate(shownRows, tab)
}

// Drags over the timeline, from one share of its width to another.
async function dragRange(page, from, to) {
	const box = await page.locator('.lanes canvas').boundingBox()
	const x = part => box.x + 230 + part * (box.width - 230)
	await page.mouse.move(x(from), box.y + 60)
	await page.mouse.down()
	await page.mouse.move(x((from + to) / 2), box.y + 70, { steps: 4 })
	await page.mouse.move(x(to), box.y + 70)
	await page.mouse.up()
}

async function main() {
	const browser = await chromium.launch({ executablePath: process.env.BROWSER, args: ['--no-sandbox'] })
	try {
		await require(path.resolve(process.argv[2]))({ browser, check, erPrint, fields, erPrintText, shellWords, openPage, closePage, tableRows, sameRows,
			dragRange })
	} catch (error) {
		check('the steps end', false, error.stack)
	}
	await browser.close()
	finish()
}
main()
