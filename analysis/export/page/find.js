// SPDX-License-Identifier: GPL-2.0-or-later
// Finds text in the rows of the table that is shown: names, source, instructions. An empty text finds
// rows with high metrics.
import { el, when } from './dom.js'
import { NO_PATTERN, makePattern } from './view_flame.js'

// The table that is in sight; null: the view has none.
export function shownTable() {
	const root = document.querySelector('.view:not([hidden]) .table')
	return root && root.table
}

const rowText = (t, row) => t.columns.filter(c => c.left).map(c => c.text(row)).join(' ')

// The field, with the number of matches beside it. Enter goes to the next match, Shift Enter to the one
// before. In the flame graph it searches the graph.
export function makeFind(page) {
	const hint = el('span.hint', { role: 'status' })
	const field = el('input', { type: 'search', id: 'find', placeholder: 'Find', ariaLabel: 'Find in the table or flame graph',
		title: 'Regular expression. Enter: next; Shift Enter: previous; nothing: rows with high metrics' })
	const go = step => {
		const t = shownTable(), pattern = makePattern(field.value)
		const found = []
		if (!t && page.state.view === 'flame')
			page.store.set({ search: field.value })
		for (const [i, r] of t ? t.rows.entries() : []) {
			if (pattern ? pattern.test(rowText(t, r)) : pattern === null && r.mark === 'hot')
				found.push(i)
		}
		const next = step > 0 ? found.find(i => i > t.at) : found.filter(i => i < t.at).pop()
		const to = next === undefined ? found[step > 0 ? 0 : found.length - 1] : next
		hint.textContent = pattern === undefined ? NO_PATTERN : !t ? page.state.view === 'flame' ? '' : 'no table' : found.length ? `${found.indexOf(to) + 1} of ${found.length}` : 'not found'
		if (found.length)
			t.pick(to)
	}
	when(field, 'keydown', e => e.key === 'Enter' && go(e.shiftKey ? -1 : 1))
	return [hint, field]
}
