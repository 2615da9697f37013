// SPDX-License-Identifier: GPL-2.0-or-later
// Drives a page of er_export --to page in a browser, for tests: node page.js STEPS, a module that
// exports an async function (t). Prints ok and not ok lines.
const { chromium } = require('playwright-core')
const { check, erPrint, fields, erPrintText, shellWords, sameRows, shownRows, finish } = require('./page_checks.js')
const path = require('path')

async function openPage(browser, file, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
	const page = await context.newPage()
	page.complaints = []
	page.on('console', m => ['error', 'warning'].includes(m.type()) && page.complaints.push(m.text()))
	page.on('pageerror', e => page.complaints.push(e.stack))
	page.on('request', r => !/^(file|blob):/.test(r.url()) && page.complaints.push('request: ' + r.url()))
	await page.goto('file://' + path.resolve(file) + (options.hash || ''), { timeout: 60000 })
	await page.waitForSelector(options.wait || 'body.decoded', { timeout: 60000 })
	return page
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
		await require(path.resolve(process.argv[2]))({ browser, check, erPrint, fields, erPrintText, shellWords, openPage, tableRows, sameRows,
			dragRange })
	} catch (error) {
		check('the steps end', false, error.stack)
	}
	await browser.close()
	finish()
}
main()
