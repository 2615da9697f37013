// SPDX-License-Identifier: GPL-2.0-or-later
// Opens pages of er_export --to page in Debian's Firefox, for tests: node firefox.js STEPS, a module
// that exports an async function ({open, check, sameRows, …}). It speaks Marionette, the protocol of
// Firefox's own tests, because playwright-core drives only a Firefox of its own.
const { spawn } = require('child_process')
const { check, erPrint, sameRows, shownRows, finish } = require('./page_checks.js')
const fs = require('fs')
const net = require('net')
const os = require('os')
const path = require('path')

const SECONDS = 90 // a first start on a busy machine

const sleep = ms => new Promise(done => setTimeout(done, ms))

// The port that Firefox chose. It writes the port into its profile.
async function portOf(profile, firefox) {
	for (let i = 0; i < SECONDS * 10; i++, await sleep(100)) {
		if (firefox.exitCode !== null)
			throw new Error(`${process.env.FIREFOX} ended with status ${firefox.exitCode}`)
		const file = path.join(profile, 'MarionetteActivePort')
		const port = fs.existsSync(file) && Number(fs.readFileSync(file, 'utf8'))
		if (port)
			return port
	}
	throw new Error(`${process.env.FIREFOX} opened no port within ${SECONDS} s`)
}

// Returns a function that sends a command and resolves with its result. Messages are
// "LENGTH:JSON": [0, id, command, parameters] and [1, id, error, result].
function connect(port) {
	const socket = net.connect(port, '127.0.0.1'), waiting = new Map()
	let bytes = Buffer.alloc(0), id = 0, greeted
	const ready = new Promise((done, failed) => { greeted = done; socket.on('error', failed) })
	socket.on('data', part => {
		bytes = Buffer.concat([bytes, part])
		for (let colon; (colon = bytes.indexOf(58)) > 0;) {
			const end = colon + 1 + Number(bytes.subarray(0, colon))
			if (bytes.length < end)
				return
			const message = JSON.parse(bytes.subarray(colon + 1, end))
			bytes = bytes.subarray(end)
			if (!Array.isArray(message)) {
				greeted()
				continue
			}
			const [, n, error, result] = message, [done, failed] = waiting.get(n)
			waiting.delete(n)
			error ? failed(new Error(error.message || error.error)) : done(result)
		}
	})
	return async (command, parameters = {}) => {
		await ready
		return new Promise((done, failed) => {
			const text = JSON.stringify([0, ++id, command, parameters])
			waiting.set(id, [done, failed])
			socket.write(Buffer.byteLength(text) + ':' + text)
		})
	}
}

// Opens a file; run(script, …args) then runs a function's body in it, in which `done` ends an
// asynchronous one.
async function openFile(send, file) {
	await send('WebDriver:Navigate', { url: 'file://' + path.resolve(file) })
	const run = async (script, ...args) => (await send('WebDriver:ExecuteAsyncScript', { args,
		script: 'const done = arguments[arguments.length - 1];\n' + script })).value
	const rows = tab => run(`document.getElementById('tab-' + arguments[0]).click()
		;(${shownRows})(arguments[0]).then(done)`, tab)
	return { run, rows }
}

const prefs = [
	['marionette.port', 0], ['security.sandbox.content.level', 0], ['browser.shell.checkDefaultBrowser', false], ['app.update.enabled', false],
	['datareporting.policy.dataSubmissionEnabled', false], ['toolkit.telemetry.enabled', false],
	['browser.startup.homepage_override.mstone', 'ignore'], ['network.captive-portal-service.enabled', false],
	['network.connectivity-service.enabled', false], ['extensions.update.enabled', false],
]

async function main() {
	const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'firefox-'))
	fs.writeFileSync(path.join(profile, 'user.js'), prefs.map(([k, v]) => `user_pref(${JSON.stringify(k)}, ${JSON.stringify(v)});\n`).join(''))
	const firefox = spawn(process.env.FIREFOX, ['--headless', '--no-remote', '--marionette', '--profile', profile], { stdio: 'ignore' })
	const ended = new Promise(done => firefox.on('exit', done))
	let send = null
	try {
		send = connect(await portOf(profile, firefox))
		await send('WebDriver:NewSession', { strictFileInteractability: false })
		await send('WebDriver:SetTimeouts', { script: SECONDS * 1000, pageLoad: SECONDS * 1000 })
		await require(path.resolve(process.argv[2]))({ open: file => openFile(send, file), check, erPrint, sameRows })
	} catch (error) {
		check('the steps end', false, error.stack)
	}
	if (send)
		await Promise.race([send('Marionette:Quit', { flags: ['eForceQuit'] }).catch(() => null), sleep(5000)])
	await Promise.race([ended, sleep(10000)])
	firefox.kill('SIGKILL')
	fs.rmSync(profile, { recursive: true, force: true })
	finish()
}
main()
