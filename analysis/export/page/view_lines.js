// SPDX-License-Identifier: GPL-2.0-or-later
// Source lines and pcs by exclusive and inclusive time, as er_print -lines and -pcs, under the page's filter.
import { el, fill, hint, unread } from './dom.js'
import { makeGroupChoice } from './choice.js'
import { makeTable } from './table.js'
import { placeSums, placeTimes } from './places.js'
import { timeColumns, timeRows } from './view_functions.js'

const placeKinds = [{ value: 'lines', text: 'Lines' }, { value: 'pcs', text: 'PCs' }]

export const linesView = {
	id: 'lines', title: 'Lines, PCs',
	make(root, page) {
		let whole = 0, names = []
		const { store, places } = page
		const columns = () => [...timeColumns(page, () => whole),
			{ id: 6, title: 'Name', left: true, text: r => r.key < 0 ? '<Total>' : names[r.key] }]
		const select = more => r => store.set({ selected: r.key < 0 ? null : r.func, ...more })
		const table = makeTable('Lines', columns(), { pick: select({}), open: select({ view: 'source' }), sort: sort => store.setIn('sort', 'lines', sort) })
		const choice = makeGroupChoice(page, 'lines', 'Kind of place', placeKinds), notes = el('div.notes')
		root.append(choice.root, notes, table.root)
		return {
			update({ data, state, sums }) {
				const kind = state.by.lines === 'pcs' ? 'pcs' : 'lines', p = places.get()
				choice.update(kind)
				fill(notes, p ? '' : hint(places.known ? unread(page) :
					'The file was written with --redact, which leaves lines out.'))
				if (!p)
					return
				const made = timeRows(page, placeTimes(p[kind]), p[kind].n, placeSums({ data, state, sums }, p))
				whole = made.whole
				names = p[kind].names
				made.rows.forEach(r => { r.func = p[kind].func[r.key] })
				table.setColumns(columns())
				table.show([{ ...made.total, first: 1 }, ...made.rows], { sort: state.sort.lines })
			},
		}
	},
}
