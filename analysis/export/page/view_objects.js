// SPDX-License-Identifier: GPL-2.0-or-later
// Memory objects, such as cache lines and pages, by counters that have addresses of data: as er_print -memobj lists
// them, under the page's filter.
import { el } from './dom.js'
import { makeGroupChoice } from './choice.js'
import { addCounts } from './counts.js'
import { objectFilter, objectTypes } from './objects.js'
import { MHWC, listedMetrics, showRows, showUnread, sortedBy, valueColumns } from './view_counts.js'

// Rows {key, name, values}; the first is the sum.
function objectRows({ data, state }, { names, keyOf }, metrics) {
	const sums = addCounts(data, state, names.length + 1, keyOf), of = metrics.map(m => sums[data.metrics.indexOf(m)])
	const rows = names.map((name, i) => ({ key: i, name, values: of.map(s => s[i + 1]) })).filter(r => r.values.some(Boolean))
	const total = metrics.map((_, k) => rows.reduce((sum, r) => sum + r.values[k], 0))
	return [{ key: -1, first: 1, name: '<Total>', values: total }, ...sortedBy(rows, r => r.values[0])]
}

export const memoryObjectsView = {
	id: 'memobj', title: 'Memory objects', has: ({ data }) => data.counts && objectTypes(data, true).length > 0,
	make(root, page) {
		const { data } = page, types = objectTypes(data, true), part = { notes: el('div.notes'), box: el('div.report') }
		const choice = makeGroupChoice(page, 'memobj', 'Type of object', types.map(value => ({ value, text: value })))
		root.append(choice.root, part.notes, part.box)
		return {
			update({ state }) {
				const type = types.includes(state.by.memobj) ? state.by.memobj : types[0], objects = page.objects.get()
				choice.update(type)
				if (!objects)
					return showUnread(page, part)
				const metrics = listedMetrics(data, MHWC), of = objects.of(type, true)
				const open = r => r.key >= 0 && page.store.set(objectFilter(page, type, of.values[r.key]) || {})
				return showRows(page, part, 'memobj', [...valueColumns(page, metrics), { id: 'name', title: 'Name', left: true, text: r => r.name }],
					objectRows(page, of, metrics), open)
			},
		}
	},
}
