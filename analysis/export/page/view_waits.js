// SPDX-License-Identifier: GPL-2.0-or-later
// Waits by state, reason and system call.
import { el } from './dom.js'
import { makeTable } from './table.js'
import { count, seconds, waitPercent } from './format.js'
import { stateColor } from './colors.js'

export function reasonName(data, reason) {
	return data.reasons[reason] ? data.reasons[reason].uname : 'unknown'
}

// Returns sums by state, reason and system call, the largest first.
export function waitRows(data, sums) {
	const byKey = new Map()
	data.classes.forEach((c, i) => {
		if (data.states[c.state].cpu || !sums.classN[i])
			return
		const key = `${c.state} ${c.reason} ${c.syscall} ${c.flags & 32}`
		const row = byKey.get(key) || { key, state: c.state, reason: c.reason, call: c.call || '', us: 0, n: 0,
			rest: !!(c.flags & 32) }
		row.us += sums.classUs[i]
		row.n += sums.classN[i]
		byKey.set(key, row)
	})
	return [...byKey.values()].sort((a, b) => b.us - a.us)
}

export const waitsView = {
	id: 'waits', title: 'Waits', key: '4',
	make(root, page) {
		let whole = 0
		const { data } = page
		const table = makeTable('Waits', [
			{ title: 'Time', unit: 'sec.', width: '7em', value: r => r.us, text: r => seconds(r.us) },
			{ title: '%', width: '5em', value: r => r.us, text: r => waitPercent(r.us, whole) },
			{ title: 'Recorded', width: '7em', value: r => r.n, text: r => r.rest ? '' : count(r.n),
				help: 'Waits with a packet of their own. Others are counted in the time only.' },
			{ title: 'State', width: '11em', left: true, text: r => data.states[r.state].uname,
				cell: r => {
					const dot = el('i.dot')
					dot.style.background = stateColor(data.states[r.state].name)
					return el('span', {}, dot, data.states[r.state].uname)
				} },
			{ title: 'System call', width: '11em', left: true, text: r => r.call },
			{ title: 'Reason', left: true, text: r => reasonName(data, r.reason) + (r.rest ? ', between samples' : '') },
		], {
			open: r => page.store.set({ reasons: [r.reason], states: [r.state] }),
			sort: sort => page.store.set({ sort: { ...page.store.state.sort, waits: sort } }),
		})
		root.append(table.root)
		return {
			table,
			update({ data: d, state, sums }) {
				whole = sums.totalWait
				table.show(waitRows(d, sums), { sort: state.sort.waits })
			},
		}
	},
}
