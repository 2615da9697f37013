// SPDX-License-Identifier: GPL-2.0-or-later
// Functions and load objects by exclusive and inclusive time, as er_print -functions and -objects.
import { makeTable } from './table.js'
import { functionTimes, objectTimes } from './tree.js'
import { extraColumns, extraMetrics, metricTotal, pathTimes } from './metrics.js'
import { percent, seconds } from './format.js'

// Columns of the chosen metric and of the one beside it; whole() is 100 %.
function timeColumns(whole) {
	return [
		{ title: 'Excl.', unit: 'sec.', width: '6em', value: r => r.excl, text: r => seconds(r.excl) },
		{ title: '%', width: '5em', value: r => r.excl, text: r => percent(r.excl, whole()) },
		{ title: 'Incl.', unit: 'sec.', width: '6em', value: r => r.incl, text: r => seconds(r.incl) },
		{ title: '%', width: '5em', value: r => r.incl, text: r => percent(r.incl, whole()) },
	]
}

const otherMetric = metric => metric === 'wait' ? 'cpu' : 'wait'

function otherColumn(metric) {
	return { id: 4, title: metric === 'wait' ? 'CPU' : 'Waits', unit: 'incl. sec.', width: '8em', value: r => r.other,
		text: r => seconds(r.other), help: 'The other part of the time, in this and what it called' }
}

// Rows {key, excl, incl, other, extra} of what `times` sums up, for keys below n; and their sum.
function timeRows(page, times, n) {
	const { data, state, sums } = page, other = otherMetric(state.metric)
	const main = times(data, pathTimes(sums, state.metric)), beside = times(data, pathTimes(sums, other))
	const extra = extraMetrics(page).map(m => ({ id: m.id, whole: metricTotal(sums, m.id), ...times(data, pathTimes(sums, m.id)) }))
	const row = (key, pick) => ({ key, ...pick(main), other: pick(beside).incl,
		extra: Object.fromEntries(extra.map(x => [x.id, pick(x)])) })
	const whole = metricTotal(sums, state.metric), rows = []
	main.whole = whole
	beside.whole = metricTotal(sums, other)
	for (let k = 0; k < n; k++) {
		if (main.incl[k] || beside.incl[k] || extra.some(x => x.incl[k]))
			rows.push(row(k, t => ({ excl: t.excl[k], incl: t.incl[k] })))
	}
	return { rows, whole, total: row(-1, t => ({ excl: t.whole, incl: t.whole })) }
}

export const functionsView = {
	id: 'functions', title: 'Functions', key: '2',
	make(root, page) {
		const { data } = page
		let whole = 0
		const columns = () => [...timeColumns(() => whole), otherColumn(page.state.metric),
			...extraColumns(page, { excl: 'Excl. ', incl: 'Incl. ' }),
			{ id: 5, title: 'Object', width: '12em', left: true, text: r => r.key < 0 ? '' : data.objects[data.func_objects[r.key]][0] },
			{ id: 6, title: 'Function', left: true, text: r => r.key < 0 ? '<Total>' : data.funcs[r.key] }]
		const table = makeTable('Functions', columns(), {
			pick: r => page.store.set({ selected: r.key >= 0 ? r.key : null }),
			open: r => r.key >= 0 && page.store.set({ func: r.key }),
			sort: sort => page.store.set({ sort: { ...page.store.state.sort, functions: sort } }),
		})
		root.append(table.root)
		return {
			update({ state }) {
				const made = timeRows(page, functionTimes, data.funcs.length)
				whole = made.whole
				table.setColumns(columns())
				table.show([{ ...made.total, first: 1 }, ...made.rows],
					{ sort: state.sort.functions, picked: state.selected === null ? undefined : state.selected })
			},
		}
	},
}

export const objectsView = {
	id: 'objects', title: 'Objects',
	make(root, page) {
		const { data } = page
		let whole = 0
		const columns = () => [...timeColumns(() => whole), otherColumn(page.state.metric),
			...extraColumns(page, { excl: 'Excl. ', incl: 'Incl. ' }),
			{ id: 5, title: 'Load object', width: '16em', left: true, text: r => data.objects[r.key][0] },
			{ id: 6, title: 'Path', left: true, text: r => data.objects[r.key][1] }]
		const table = makeTable('Load objects', columns(), {
			sort: sort => page.store.set({ sort: { ...page.store.state.sort, objects: sort } }),
		})
		root.append(table.root)
		return {
			update({ state }) {
				const made = timeRows(page, objectTimes, data.objects.length)
				whole = made.whole
				table.setColumns(columns())
				table.show(made.rows, { sort: state.sort.objects })
			},
		}
	},
}
