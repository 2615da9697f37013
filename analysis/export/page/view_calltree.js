// SPDX-License-Identifier: GPL-2.0-or-later
// The call tree from the roots of stacks down, as er_print -calltree. Only unfolded rows exist.
import { el } from './dom.js'
import { makeTable, sortRows } from './table.js'
import { nodeTimes } from './tree.js'
import { extraColumns, extraMetrics, metricColumn, metricTotal, pathTimes, shareColumn } from './metrics.js'
import { seconds } from './format.js'
import { errorColumn, errorsOf } from './variance.js'

const MOST = 200000 // calls that "unfold all" opens

// The row of a node; times are inclusive, by metric.
function nodeRow(v, node, depth) {
	const leaf = childNodes(v, node).length === 0
	return { key: node, depth, node, us: v.us[node], error: v.error && node ? v.error(us => us[node]) : undefined, open: leaf ? undefined : v.open.has(node),
		extra: Object.fromEntries(v.extra.map(x => [x.id, { attr: x.us[node] }])) }
}

function childNodes(v, node) {
	const { tree } = v.page.data
	return tree.children.subarray(tree.first[node], tree.first[node + 1])
		.filter(c => v.us[c] || v.extra.some(x => x.us[c]))
}

// Unfolded rows, callers before their callees, each level in the order of the table.
function unfoldedRows(v) {
	const rows = []
	const put = row => {
		rows.push(row)
		if (!row.open)
			return
		const below = [...childNodes(v, row.node)].map(c => nodeRow(v, c, row.depth + 1))
		sortRows(v.table, below).forEach(put)
	}
	put(nodeRow(v, 0, 0))
	return rows
}

// At first the hottest path is unfolded, as long as it has most of the time.
function unfoldHottest(v) {
	for (let node = 0; node !== undefined;) {
		v.open.add(node)
		const hottest = [...childNodes(v, node)].sort((a, b) => v.us[b] - v.us[a])[0]
		node = hottest !== undefined && v.us[hottest] * 2 > v.us[0] ? hottest : undefined
	}
}

function unfoldAll(v) {
	const { tree } = v.page.data
	for (let i = 0; i < tree.n && v.open.size < MOST; i++) {
		if ((v.us[i] || v.extra.some(x => x.us[i])) && tree.first[i] < tree.first[i + 1])
			v.open.add(i)
	}
}

export const calltreeView = {
	id: 'calltree', title: 'Call tree',
	make(root, page) {
		const { data } = page
		const v = { page, open: new Set(), us: null, extra: [], table: null }
		const funcOf = r => data.tree.func[r.node]
		const columns = () => [
			metricColumn(page, 0, 'Attr.', 'us', { help: 'Inclusive, of this call path' }),
			...errorColumn(page, 'error', seconds),
			shareColumn(page, 1, 'us', () => v.whole),
			...extraColumns(page, { attr: '' }),
			{ id: 2, title: 'Function', left: true, text: r => r.node ? data.funcs[funcOf(r)] : '<Total>' }]
		const draw = sort => v.table.show(unfoldedRows(v), { sort, keepOrder: true })
		v.table = makeTable('Call tree', columns(), {
			pick: r => page.store.set({ selected: r.node ? funcOf(r) : null }),
			open: r => r.node && page.store.set({ func: funcOf(r) }),
			unfold(r, open) {
				open ? v.open.add(r.node) : v.open.delete(r.node)
				draw()
			},
			sort: sort => page.store.setIn('sort', 'calltree', sort),
		})
		const button = (text, act) => el('button', { onclick: () => { act(); draw() } }, text)
		root.append(el('div.crumbs', {}, button('Unfold all', () => unfoldAll(v)), button('Fold all', () => { v.open = new Set([0]) }),
			button('Hottest path', () => { v.open = new Set(); unfoldHottest(v) })), v.table.root)
		return {
			update({ state, sums }) {
				v.us = nodeTimes(data, pathTimes(sums, state.metric))
				v.extra = extraMetrics(page).map(m => ({ id: m.id, us: nodeTimes(data, pathTimes(sums, m.id)) }))
				const errors = errorsOf(page, state.metric)
				v.error = errors && errors(us => nodeTimes(data, us))
				v.whole = metricTotal(sums, state.metric)
				if (!v.open.size)
					unfoldHottest(v)
				v.table.setColumns(columns())
				draw(state.sort.calltree)
			},
		}
	},
}
