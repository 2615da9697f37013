// SPDX-License-Identifier: GPL-2.0-or-later
// Functions by exclusive and inclusive time, as er_print -functions.
import { makeTable } from './table.js'
import { functionTimes } from './tree.js'
import { pathTimes } from './aggregate.js'
import { percent, seconds } from './format.js'

export const functionsView = {
	id: 'functions', title: 'Functions', key: '2',
	make(root, page) {
		let whole = 0
		const table = makeTable('Functions', [
			{ title: 'Excl.', unit: 'sec.', width: '6em', value: r => r.excl, text: r => seconds(r.excl) },
			{ title: '%', width: '5em', value: r => r.excl, text: r => percent(r.excl, whole) },
			{ title: 'Incl.', unit: 'sec.', width: '6em', value: r => r.incl, text: r => seconds(r.incl) },
			{ title: '%', width: '5em', value: r => r.incl, text: r => percent(r.incl, whole) },
			{ title: 'Waits', unit: 'incl. sec.', width: '8em', value: r => r.other, text: r => seconds(r.other),
				help: 'Time off the CPU in this function and what it called' },
			{ title: 'Object', width: '12em', left: true, text: r => r.object },
			{ title: 'Function', left: true, text: r => r.name },
		], {
			pick: r => page.store.set({ selected: r.key >= 0 ? r.key : null }),
			open: r => r.key >= 0 && page.store.set({ func: r.key }),
			sort: sort => page.store.set({ sort: { ...page.store.state.sort, functions: sort } }),
		})
		root.append(table.root)
		return {
			table,
			update({ data, state, sums }) {
				const us = pathTimes(sums, state.metric)
				const times = functionTimes(data, us)
				const other = functionTimes(data, state.metric === 'wait' ? sums.cpu : sums.wait)
				table.head.children[4].firstChild.textContent = state.metric === 'wait' ? 'CPU' : 'Waits'
				whole = us.reduce((a, b) => a + b, 0)
				const otherSums = state.metric === 'wait' ? sums.totalCpu : sums.totalWait
				const rows = [{ key: -1, first: 1, name: '<Total>', object: '', excl: whole, incl: whole,
					other: otherSums }]
				for (let f = 0; f < data.funcs.length; f++) {
					if (times.incl[f] || other.incl[f])
						rows.push({ key: f, name: data.funcs[f], object: data.objects[data.func_objects[f]][0],
							excl: times.excl[f], incl: times.incl[f], other: other.incl[f] })
				}
				table.show(rows, { sort: state.sort.functions, picked: state.selected === null ? undefined : state.selected })
			},
		}
	},
}
