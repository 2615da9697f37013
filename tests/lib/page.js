// SPDX-License-Identifier: GPL-2.0-or-later
// Drives a page of er_export --to page in a browser, for tests: node page.js STEPS, a module that
// exports an async function (t). Prints ok and not ok lines.
const { chromium } = require('playwright-core')
const { execFileSync } = require('child_process')
const path = require('path')

const name = process.env.test || 'page'
let failures = 0

function check(what, good, details) {
	console.log(`${good ? 'ok' : 'not ok'} ${name}: ${what}`)
	if (good)
		return
	failures++
	console.log(String(details).split('\n').slice(0, 30).map(l => '#   ' + l).join('\n'))
}

// The fields of a line of CSV.
function fields(line) {
	return [...(line + ',').matchAll(/(?:"((?:[^"]|"")*)"|([^,]*)),/g)].map(m => m[1] === undefined ? m[2] : m[1].replace(/""/g, '"'))
}

// What er_print writes into a file.
function erPrintText(args) {
	return execFileSync('er_print', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

// Rows of er_print's CSV, without headings.
function erPrint(args) {
	return erPrintText(['-printmode', 'csv', ...args]).trim().split('\n').slice(1).map(fields)
}

// The words of a command as a shell reads them.
function shellWords(text) {
	const out = execFileSync('sh', ['-c', `printf '%s\\n' ${text}`], { encoding: 'utf8' })
	return out.split('\n').slice(0, -1)
}

async function openPage(browser, file, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
	const page = await context.newPage()
	page.complaints = []
	page.on('console', m => ['error', 'warning'].includes(m.type()) && page.complaints.push(m.text()))
	page.on('pageerror', e => page.complaints.push(e.stack))
	page.on('request', r => !/^(file|blob):/.test(r.url()) && page.complaints.push('request: ' + r.url()))
	await page.goto('file://' + path.resolve(file) + (options.hash || ''))
	await page.waitForSelector(options.wait || 'body.decoded', { timeout: 60000 })
	return page
}

// All rows of the shown table, as arrays of texts; those of a tree begin with their level.
async function tableRows(page, tab) {
	await page.click('#tab-' + tab)
	return page.evaluate(async view => {
		const table = document.querySelector(`#view-${view} .table`), rows = new Map()
		for (table.scrollTop = 0; ; table.scrollTop += 200) {
			await new Promise(requestAnimationFrame)
			await new Promise(requestAnimationFrame)
			for (const r of table.querySelectorAll('.tr'))
				rows.set(Number(r.getAttribute('aria-rowindex')), [...(r.ariaLevel ? [r.ariaLevel] : []), ...[...r.children].map(c => c.textContent)])
			if (table.scrollTop + table.clientHeight >= table.scrollHeight - 1)
				break
		}
		return [...rows].sort((a, b) => a[0] - b[0]).map(r => r[1])
	}, tab)
}

const lines = rows => rows.map(r => r.join(' ')).sort().join('\n')

// Compare two sets of rows and show the first that differ.
function sameRows(what, got, want) {
	const a = lines(got).split('\n'), b = lines(want).split('\n')
	const diff = [...a.filter(l => !b.includes(l)).map(l => 'page:     ' + l), ...b.filter(l => !a.includes(l)).map(l => 'er_print: ' + l)]
	check(what, want.length > 0 && lines(got) === lines(want), diff.join('\n') || `${got.length} rows`)
}

async function main() {
	const browser = await chromium.launch({ executablePath: process.env.BROWSER, args: ['--no-sandbox'] })
	try {
		await require(path.resolve(process.argv[2]))({ browser, check, erPrint, erPrintText, shellWords, openPage, tableRows, sameRows })
	} catch (error) {
		check('the steps end', false, error.stack)
	}
	await browser.close()
	process.exit(failures ? 1 : 0)
}
main()
