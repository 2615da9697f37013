// SPDX-License-Identifier: GPL-2.0-or-later
// Functions and load objects by exclusive and inclusive time, as er_print -functions and -objects.
import { funcColor } from './colors.js'
import { dot } from './dom.js'
import { makeTable } from './table.js'
import { functionTimes, objectTimes } from './tree.js'
import { extraColumns, extraMetrics, metricColumn, metricTotal, pathTimes, shareColumn } from './metrics.js'
import { seconds } from './format.js'
import { clockless } from './lanes.js'
import { errorColumn, errorsOf } from './variance.js'

// Columns of the chosen metric and of those beside it; whole() is 100 %.
export function timeColumns(page, whole) {
	const time = (id, title, member) => [
		metricColumn(page, id, title, member),
		...errorColumn(page, member + 'Error', seconds),
		shareColumn(page, id + 1, member, whole),
	]
	return [...time(0, 'Excl.', 'excl'), ...time(2, 'Incl.', 'incl'), ...clockless(page.data) ? [] : [otherColumn(page.state.metric)],
		...extraColumns(page, { excl: 'Excl. ', incl: 'Incl. ' }, extraMetrics(page, true))]
}

// The errors of both times of each row; <Total> is not sampled.
function addErrors(page, times, rows, from) {
	const errors = errorsOf(page, page.state.metric, from.sums, from.n, from.keyOf), error = errors && errors(us => times(from.data, us))
	for (const r of error ? rows : []) {
		r.exclError = error(t => t.excl[r.key])
		r.inclError = error(t => t.incl[r.key])
	}
}

const otherMetric = metric => metric === 'wait' ? 'cpu' : 'wait'

function otherColumn(metric) {
	return { id: 4, title: metric === 'wait' ? 'CPU' : 'Waits', unit: 'incl. sec.', width: '8em', value: r => r.other,
		text: r => seconds(r.other), help: 'The other part of the time, in this and what it called' }
}

function ratioOf(a, b) {
	const ratio = (x, y) => y ? x / y : 0, all = member => a[member].map((v, k) => ratio(v, b[member][k]))
	return { whole: ratio(a.whole, b.whole), excl: all('excl'), incl: all('incl') }
}

// Rows {key, excl, incl, other, extra} of what `times` sums up, for keys below n; and their sum. from: the tree
// and the sums that it is made from, if not those of functions; all: rows without time, too.
export function timeRows(page, times, n, from = page, all = false) {
	const { state } = page, { data, sums } = from, other = otherMetric(state.metric), total = id => metricTotal(page.sums, id)
	const main = times(data, pathTimes(sums, state.metric)), beside = times(data, pathTimes(sums, other))
	const timesOf = id => ({ whole: total(id), ...times(data, pathTimes(sums, id)) })
	const extra = extraMetrics(page, true).map(m => ({ id: m.id, ...m.ratio ? ratioOf(timesOf('n.' + m.ratio.num), timesOf('n.' + m.ratio.den)) : timesOf(m.id) }))
	const row = (key, pick) => ({ key, ...pick(main), other: pick(beside).incl,
		extra: Object.fromEntries(extra.map(x => [x.id, pick(x)])) })
	const whole = total(state.metric), rows = []
	main.whole = whole
	beside.whole = total(other)
	for (let k = 0; k < n; k++) {
		if (all || main.incl[k] || beside.incl[k] || extra.some(x => x.incl[k]))
			rows.push(row(k, t => ({ excl: t.excl[k], incl: t.incl[k] })))
	}
	addErrors(page, times, rows, from)
	return { rows, whole, total: row(-1, t => ({ excl: t.whole, incl: t.whole })) }
}

// A view of such rows. times: what sums them up; names: columns; on: what makeTable calls; hides(key): rows that are not shown.
function timesView({ id, title, key, label, times, count, names, on, withTotal, hides = () => false }) {
	return {
		id, title, key,
		make(root, page) {
			let whole = 0
			const columns = () => [...timeColumns(page, () => whole), ...names(page.data)]
			const table = makeTable(label, columns(), { ...on(page),
				sort: sort => page.store.setIn('sort', id, sort) })
			root.append(table.root)
			return {
				update({ data, state }) {
					const made = timeRows(page, times, count(data))
					whole = made.whole
					table.setColumns(columns())
					const total = withTotal ? [{ ...made.total, first: 1 }] : []
					table.show([...total, ...made.rows.filter(r => !hides(r.key))], { sort: state.sort[id],
						picked: withTotal && state.selected !== null ? state.selected : undefined })
				},
			}
		},
	}
}

export const functionsView = timesView({
	id: 'functions', title: 'Functions', key: '2', label: 'Functions',
	times: functionTimes, count: data => data.funcs.length, withTotal: true,
	names: data => [
		{ id: 5, title: 'Object', width: 'max(12em, 10vw)', left: true,
			text: r => r.key < 0 ? '' : data.objects[data.func_objects[r.key]][0] },
		{ id: 6, title: 'Function', left: true, text: r => r.key < 0 ? '<Total>' : data.funcs[r.key],
			cell: r => r.key < 0 ? '<Total>' : [dot(funcColor(data, r.key)), data.funcs[r.key]] }],
	on: page => ({
		pick: r => page.store.set({ selected: r.key >= 0 ? r.key : null }),
		open: r => r.key >= 0 && page.store.set({ func: r.key }),
	}),
})

export const objectsView = timesView({
	id: 'objects', title: 'Objects', label: 'Load objects',
	times: objectTimes, count: data => data.objects.length, withTotal: false,
	// That of <Total> and of <Stack-unwind-failed>, as session.c makes them, is no load object.
	hides: key => key === 1,
	names: data => [
		{ id: 5, title: 'Load object', width: 'max(16em, 12vw)', left: true, text: r => data.objects[r.key][0] },
		{ id: 6, title: 'Path', left: true, text: r => data.objects[r.key][1] }],
	on: () => ({}),
})
