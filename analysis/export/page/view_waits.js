// SPDX-License-Identifier: GPL-2.0-or-later
// Waits by state, reason and system call.
import { dot, el } from './dom.js'
import { makeTable } from './table.js'
import { count, seconds, waitPercent } from './format.js'
import { stateColor } from './colors.js'
import { errorColumn, varianceBySampling } from './variance.js'
import { eachEvent } from './walk.js'

export function reasonName(data, reason) {
	return data.reasons[reason] ? data.reasons[reason].uname : 'unknown'
}

// The variance of the time of each class that comes of sampling; null: errors are not shown.
function classVariances(data, state) {
	if (!state.errors || !data.whole)
		return null
	const ret = new Float64Array(data.classes.length)
	eachEvent(data, state, (chunk, i) => {
		if (data.isWait[chunk.cls[i]])
			ret[chunk.cls[i]] += varianceBySampling(data, chunk, i)
	})
	return ret
}

// Returns sums by state, reason and system call, the largest first.
export function waitRows(data, state, sums) {
	const byKey = new Map(), variances = classVariances(data, state)
	data.classes.forEach((c, i) => {
		if (data.states[c.state].cpu || !sums.classN[i])
			return
		const key = `${c.state} ${c.reason} ${c.syscall} ${c.flags & 32}`
		const row = byKey.get(key) || { key, state: c.state, reason: c.reason, call: c.call || '', us: 0, n: 0, variance: 0,
			rest: !!(c.flags & 32) }
		row.us += sums.classUs[i]
		row.variance += variances ? variances[i] : 0
		row.n += sums.classN[i]
		byKey.set(key, row)
	})
	byKey.forEach(row => { row.error = Math.sqrt(row.variance) })
	return [...byKey.values()].sort((a, b) => b.us - a.us)
}

// Whether any wait was recorded.
export const hasWaits = ({ data }) => data.isWait.some(Boolean)

// Columns of rows {us, error, n}; whole() is 100 %.
export function waitColumns(page, whole) {
	return [
		{ id: 0, title: 'Time', unit: 'sec.', width: '7em', value: r => r.us, text: r => seconds(r.us) },
		...errorColumn(page, 'error', seconds),
		{ id: 1, title: '%', width: '5em', value: r => r.us, text: r => waitPercent(r.us, whole()) },
		{ id: 2, title: 'Recorded', width: '7em', value: r => r.n, text: r => r.rest ? '' : count(r.n),
			help: 'Waits with a packet of their own. Others are counted in the time only.' },
	]
}

export const waitsView = {
	id: 'waits', title: 'Waits', key: '4', has: page => hasWaits(page),
	make(root, page) {
		let whole = 0
		const { data } = page
		const columns = () => [...waitColumns(page, () => whole),
			{ id: 3, title: 'State', width: '11em', left: true, text: r => data.states[r.state].uname,
				cell: r => el('span', {}, dot(stateColor(data.states[r.state].name)), data.states[r.state].uname) },
			{ id: 4, title: 'System call', width: '11em', left: true, text: r => r.call },
			{ id: 5, title: 'Reason', left: true, text: r => reasonName(data, r.reason) + (r.rest ? ', between samples' : '') },
		]
		const table = makeTable('Waits', columns(), {
			open: r => page.store.set({ reasons: [r.reason], states: [r.state] }),
			sort: sort => page.store.setIn('sort', 'waits', sort),
		})
		root.append(table.root)
		return {
			table,
			update({ data: d, state, sums }) {
				whole = sums.totalWait
				table.setColumns(columns())
				table.show(waitRows(d, state, sums), { sort: state.sort.waits })
			},
		}
	},
}
