// SPDX-License-Identifier: GPL-2.0-or-later
// Callers and callees of the selected function, as er_print -callers-callees.
import { el } from './dom.js'
import { makeTable } from './table.js'
import { functionTimes, neighbours, outermostCallees } from './tree.js'
import { extraColumns, extraMetrics, metricColumn, metricTotal, pathTimes, shareColumn } from './metrics.js'
import { seconds } from './format.js'
import { errorColumn, errorsOf } from './variance.js'

const CALLER = 3, MIDDLE = 2, CALLEE = 1 // order of the three parts

// The attributed, exclusive and inclusive times of a metric: {attr(part, func), excl, incl, whole}.
function panel(page, metric, func) {
	const { data, sums } = page, us = pathTimes(sums, metric), total = metricTotal(sums, metric)
	const { excl, incl } = functionTimes(data, us)
	const around = func === null ? outermostCallees(data, us) : neighbours(data, us, func)
	const own = { excl: f => f < 0 ? total : excl[f], incl: f => f < 0 ? total : incl[f] }
	// <Total> has all time; its callees divide it.
	const self = func === null ? total : around.self
	return { ...own, around, whole: func === null ? total : incl[func],
		attr: (part, f) => part === MIDDLE ? self : (part === CALLER ? around.callers : around.callees).get(f) || 0 }
}

// The error of an attributed time, by part and function.
function panelError(page, func) {
	const { data, state } = page, errors = errorsOf(page, state.metric)
	const error = errors && errors(us => func === null ? outermostCallees(data, us) : neighbours(data, us, func))
	return (part, f) => error ? error(around => part === MIDDLE ? around.self :
		(part === CALLER ? around.callers : around.callees).get(f) || 0) : undefined
}

function panelRows(page, func) {
	const main = panel(page, page.state.metric, func), error = panelError(page, func)
	const extra = extraMetrics(page).map(m => [m.id, panel(page, m.id, func)])
	const all = [main, ...extra.map(x => x[1])], rows = []
	const times = (p, part, f) => ({ attr: p.attr(part, f), excl: p.excl(f), incl: p.incl(f) })
	const put = (part, f) => rows.push({ key: part * 2 ** 31 + f, first: part, func: f, mark: part === MIDDLE ? 'middle' : '',
		...times(main, part, f), error: error(part, f), extra: Object.fromEntries(extra.map(([id, p]) => [id, times(p, part, f)])) })
	const keys = side => new Set(all.flatMap(p => [...p.around[side].keys()]))
	keys('callers').forEach(f => put(CALLER, f))
	put(MIDDLE, func === null ? -1 : func)
	keys('callees').forEach(f => put(CALLEE, f))
	return { rows, whole: main.whole }
}

export const callersView = {
	id: 'callers', title: 'Callers',
	make(root, page) {
		const { data } = page
		let whole = 0
		const hint = el('span.hint')
		const columns = () => [
			metricColumn(page, 0, 'Attr.', 'attr', { help: 'Of the calls between this function and the one in the middle' }),
			...errorColumn(page, 'error', seconds),
			shareColumn(page, 1, 'attr', () => whole),
			metricColumn(page, 2, 'Excl.', 'excl'), metricColumn(page, 3, 'Incl.', 'incl'),
			...extraColumns(page, { attr: 'Attr. ' }),
			{ id: 4, title: 'Function', left: true, text: r => r.func < 0 ? '<Total>' : data.funcs[r.func],
				cell: r => el('span', {}, { [CALLER]: '↑ ', [MIDDLE]: '', [CALLEE]: '↓ ' }[r.first], r.func < 0 ? '<Total>' : data.funcs[r.func]) }]
		const table = makeTable('Callers and callees', columns(), {
			open: r => page.store.set({ selected: r.func < 0 ? null : r.func }),
			sort: sort => page.store.setIn('sort', 'callers', sort),
		})
		root.append(el('div.crumbs', {}, hint), table.root)
		return {
			update({ state }) {
				const made = panelRows(page, state.selected)
				whole = made.whole
				hint.textContent = 'Callers (↑), the selected function, callees (↓). Enter or a double click goes to a function.'
				table.setColumns(columns())
				table.show(made.rows, { sort: state.sort.callers })
			},
		}
	},
}
