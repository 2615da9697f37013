// SPDX-License-Identifier: GPL-2.0-or-later
// The sentences of er_print -findings. Each has its figure, the standard error, and a link that
// shows the data.
import { el, fill } from './dom.js'
import { clearedFilter } from './store.js'
import { seconds } from './format.js'
import { clockless } from './lanes.js'
import { locksView } from './view_locks.js'
import { wholeNotes } from './view_reports.js'
import { isFiltered } from './filter.js'

// Returns the numbers of named values, from a list such as "WAIT_CPU" or "DISK, WRITEBACK".
function numbersOf(list, names) {
	const wanted = names.split(/, */)
	return list.map((v, i) => wanted.includes(v.name) ? i : -1).filter(i => i >= 0)
}

// Returns the page's filter for the er_print expression of a finding: processes, states, reasons.
export function findingFilter(data, expression) {
	const patch = clearedFilter()
	const pids = /PID IN \(([\d,]+)\)/.exec(expression), tid = /TID == (\d+)/.exec(expression)
	if (pids) {
		const wanted = pids[1].split(',').map(Number)
		patch.processes = [...new Set(data.threads.filter(t => wanted.includes(t.pid)).map(t => t.key))]
	}
	if (tid)
		patch.threads = data.threads.map((t, i) => t.tid === Number(tid[1]) ? i : -1).filter(i => i >= 0)
	for (const [, name, values] of expression.matchAll(/\b(STATE|REASON) (?:==|IN) \(?([A-Z_, ]+)/g)) {
		if (name === 'STATE')
			patch.states = numbersOf(data.states, values.trim())
		else
			patch.reasons = numbersOf(data.reasons, values.trim())
	}
	return patch
}

// The tab that has what the command of a finding shows.
function tabOf(page, f) {
	const [, report] = /-(runqueue|locks|wakechain)\b/.exec(f.command) || []
	if (report && (report !== 'locks' || locksView.has(page)))
		return report === 'wakechain' ? 'wakers' : report
	return f.filter ? 'waits' : f.rule === 'losses' ? 'about' : 'functions'
}

function finding(page, f) {
	const show = el('button', { ariaLabel: 'Show: ' + f.text, onclick: () =>
		page.store.set({ ...(f.filter ? findingFilter(page.data, f.filter) : clearedFilter()),
			metric: f.filter ? 'wait' : 'cpu', view: tabOf(page, f) }) }, 'Show')
	return el('li.finding', {}, el('p', {}, f.text), el('p.hint', {},
		f.error === null ? `${seconds(f.us)} s, counted ` : `${seconds(f.us)} s, standard error ${seconds(f.error)} s `,
		show, ' ', el('code', {}, 'er_print ' + f.command)))
}

export const findingsView = {
	id: 'findings', title: 'Findings', key: '8', has: page => !clockless(page.data),
	make(root, page) {
		const list = el('ol.findings'), notes = el('div.notes')
		root.append(notes, el('div.text', { tabIndex: 0 }, list))
		return {
			update({ data, state }) {
				fill(notes, ...isFiltered(data, state) ? wholeNotes(page, 'The findings are', 'findings') : [])
				fill(list, ...data.findings.map(f => finding(page, f)))
			},
		}
	},
}
