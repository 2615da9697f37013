// SPDX-License-Identifier: GPL-2.0-or-later
// Waits by state, reason and system call; or by reason, as er_print -waits.
import { dot, el } from './dom.js'
import { makeGroupChoice } from './choice.js'
import { makeTable } from './table.js'
import { count, msecOfNs, seconds, waitPercent } from './format.js'
import { stateColor } from './colors.js'
import { FLAG } from './data.js'
import { causeName } from './blame.js'
import { errorColumn } from './variance.js'
import { addWait, finishWaits, noWaits, waitCounting } from './waits.js'
import { eachEvent } from './walk.js'

export function reasonName(data, reason) {
	return data.reasons[reason] ? data.reasons[reason].uname : 'unknown'
}

// Sums of waits, the largest first: by state, reason and system call, or by reason only.
export function waitRows(page, byReason) {
	const { data, state } = page, rows = new Map(), counting = waitCounting(page)
	const keys = data.classes.map(c => `${c.state} ${c.reason} ${c.syscall} ${c.flags & FLAG.rest}`)
	eachEvent(data, state, (chunk, i) => {
		const cls = chunk.cls[i], c = data.classes[cls], key = byReason ? causeName(data, c) : keys[cls]
		let row = rows.get(key)
		if (!row)
			rows.set(key, row = noWaits({ key, state: c.state, reason: c.reason, call: c.call || '', rest: !byReason && !!(c.flags & FLAG.rest) }))
		addWait(row, data, counting, chunk, i)
	}, data.isWait)
	return [...rows.values()].map(r => finishWaits(r, counting)).sort((a, b) => b.us - a.us)
}

// Whether any wait was recorded.
export const hasWaits = ({ data }) => data.isWait.some(Boolean)

const estimated = (r, text) => r.waits > 0 ? (r.estimate ? '~' : '') + text : ''

const countColumns = [
	{ id: 'waits', title: 'Waits', width: '7em', value: r => r.waits, text: r => estimated(r, Math.max(1, Math.floor(r.waits + 0.5))) },
	{ id: 'mean', title: 'Mean', unit: 'ms', width: '7em', value: r => r.waits && r.counted / r.waits, text: r => estimated(r, msecOfNs(Math.trunc(r.counted * 1000 / r.waits))) },
	{ id: 'longest', title: 'Longest', unit: 'ms', width: '7em', value: r => r.longest, text: r => r.longest ? msecOfNs(r.longest) : '' }]

// Columns of sums of waits; whole() is 100 %. Numbers are empty until they are read.
export function waitColumns(page, whole) {
	return [
		{ id: 0, title: 'Time', unit: 'sec.', width: '7em', value: r => r.us, text: r => seconds(r.us) },
		...errorColumn(page, 'error', seconds),
		{ id: 1, title: '%', width: '5em', value: r => r.us, text: r => waitPercent(r.us, whole()) },
		{ id: 2, title: 'Recorded', width: '7em', value: r => r.n, text: r => r.rest ? '' : count(r.n),
			help: 'Waits with a packet of their own. Others are counted in the time only.' },
		...waitCounting(page) === null ? [] : countColumns,
	]
}

const groups = [{ value: 'call', text: 'By reason and system call' }, { value: 'reason', text: 'By reason' }]

export const waitsView = {
	id: 'waits', title: 'Waits', key: '4', has: page => hasWaits(page),
	make(root, page) {
		let whole = 0, byReason = false
		const { data } = page, choice = makeGroupChoice(page, 'waits', 'Group by', groups)
		const columns = () => [...waitColumns(page, () => whole),
			...byReason ? [] : [{ id: 3, title: 'State', width: '11em', left: true, text: r => data.states[r.state].uname,
				cell: r => el('span', {}, dot(stateColor(data.states[r.state].name)), data.states[r.state].uname) },
				{ id: 4, title: 'System call', width: '11em', left: true, text: r => r.call }],
			{ id: 5, title: 'Reason', left: true, text: r => byReason ? r.key : reasonName(data, r.reason) + (r.rest ? ', between samples' : '') },
		]
		const table = makeTable('Waits', columns(), {
			open: r => page.store.set({ reasons: [r.reason], ...byReason ? {} : { states: [r.state] } }),
			sort: sort => page.store.setIn('sort', 'waits', sort),
		})
		root.append(choice.root, table.root)
		return {
			table,
			update({ state, sums }) {
				whole = sums.totalWait
				byReason = state.by.waits === 'reason'
				choice.update(byReason ? 'reason' : 'call')
				table.setColumns(columns())
				table.show(waitRows(page, byReason), { sort: state.sort.waits })
			},
		}
	},
}
