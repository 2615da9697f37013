// SPDX-License-Identifier: GPL-2.0-or-later
// node speedscope.js FILE: opens the file in speedscope's own application, as its command line does, and prints
// the milliseconds until its picture can be used. Needs the packages playwright-core and speedscope.
const fs = require('fs')
const path = require('path')

// The application reads a script, which a page from disk may load, and not the file.
function writeScript(file) {
	const script = path.resolve(file) + '.js', bytes = fs.readFileSync(file)
	fs.writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(path.basename(file))}, "${bytes.toString('base64')}")`)
	return script
}

async function main() {
	const { chromium } = require('playwright-core'), script = writeScript(process.argv[2])
	const app = path.join(path.dirname(require.resolve('speedscope/package.json')), 'dist/release/index.html')
	const browser = await chromium.launch({ executablePath: process.env.BROWSER, args: ['--no-sandbox', '--allow-file-access-from-files'] })
	const page = await browser.newPage({ viewport: { width: 1280, height: 900 } }), begin = Date.now()
	await page.goto(`file://${app}#localProfilePath=${script}`, { timeout: 600000 })
	await page.waitForSelector('text=Left Heavy', { timeout: 600000 })
	await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))
	console.log(Date.now() - begin)
	await browser.close()
}
main()
