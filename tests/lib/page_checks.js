// SPDX-License-Identifier: GPL-2.0-or-later
// For tests of the page in any browser: ok and not ok lines, and what er_print says.
const { execFileSync } = require('child_process')

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

// What er_print writes into a file. Its status is 3 if -diff found that something got slower.
function erPrintText(args) {
	try {
		return execFileSync('er_print', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
	} catch (error) {
		if (error.status === 3)
			return error.stdout
		throw error
	}
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

const lines = rows => rows.map(r => r.join(' ')).sort().join('\n')

// Compare two sets of rows and show the first that differ.
function sameRows(what, got, want) {
	const a = lines(got).split('\n'), b = lines(want).split('\n')
	const diff = [...a.filter(l => !b.includes(l)).map(l => 'page:     ' + l), ...b.filter(l => !a.includes(l)).map(l => 'er_print: ' + l)]
	check(what, want.length > 0 && lines(got) === lines(want), diff.join('\n') || `${got.length} rows`)
}

// All rows of a tab's table, as arrays of texts; those of a tree begin with their level. Runs in the
// page, which has the elements of visible rows only.
async function shownRows(tab) {
	const table = document.querySelector(`#view-${tab} .table`), rows = new Map()
	for (table.scrollTop = 0; ; table.scrollTop += Math.max(table.clientHeight - 60, 200)) {
		await new Promise(requestAnimationFrame)
		await new Promise(requestAnimationFrame)
		for (const r of table.querySelectorAll('.tr')) {
			const level = r.getAttribute('aria-level')
			rows.set(Number(r.getAttribute('aria-rowindex')), [...(level ? [level] : []), ...[...r.children].map(c => c.textContent)])
		}
		if (table.scrollTop + table.clientHeight >= table.scrollHeight - 1)
			break
	}
	return [...rows].sort((a, b) => a[0] - b[0]).map(r => r[1])
}

// Ends the program; the status says whether all checks passed.
function finish() {
	process.exit(failures ? 1 : 0)
}

module.exports = { fields, check, erPrint, erPrintText, shellWords, sameRows, shownRows, finish }
