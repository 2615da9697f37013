// SPDX-License-Identifier: GPL-2.0-or-later
// Threads with their time in each state, as er_print -microstates.
import { NSTATES } from './data.js'
import { makeTable } from './table.js'
import { seconds } from './format.js'

export const threadsView = {
	id: 'threads', title: 'Threads', key: '3',
	make(root, page) {
		const order = page.data.states_met
		const table = makeTable('Threads', [
			{ title: 'Total', unit: 'sec.', width: '6em', value: r => r.total, text: r => seconds(r.total) },
			...order.map(s => ({ title: page.data.states[s].uname, width: '6.5em', value: r => r.us[s],
				text: r => seconds(r.us[s]) })),
			{ title: 'Thread', left: true, text: r => r.name },
		], {
			open: r => r.key >= 0 && page.store.set({ threads: [r.key] }),
			sort: sort => page.store.set({ sort: { ...page.store.state.sort, threads: sort } }),
		})
		root.append(table.root)
		return {
			table,
			update({ data, state, sums }) {
				const merge = us => { us[1] += us[11]; return us }
				const rows = [{ key: -1, first: 1, name: '<Total>', us: merge(sums.states.slice()), total: sums.total }]
				for (let t = 0; t < data.nthreads; t++) {
					if (sums.threads[t])
						rows.push({ key: t, name: data.threads[t].name, total: sums.threads[t],
							us: merge(sums.threadStates.slice(t * NSTATES, (t + 1) * NSTATES)) })
				}
				table.show(rows, { sort: state.sort.threads || [1, true] })
			},
		}
	},
}
