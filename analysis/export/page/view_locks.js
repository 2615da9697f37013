// SPDX-License-Identifier: GPL-2.0-or-later
// User locks, under the page's filter; and the report of er_print, which also has lengths of waits, and locks that were only taken.
import { el, fill, hint, unread } from './dom.js'
import { makeGroupChoice } from './choice.js'
import { makeTable } from './table.js'
import { seconds } from './format.js'
import { lockRows } from './locks.js'
import { waitColumns } from './view_waits.js'
import { showReport } from './view_reports.js'

const lockReports = [{ value: 'filtered', text: 'Locks' }, { value: 'counted', text: 'As er_print writes them' }]

export const locksView = {
	id: 'locks', title: 'Locks', has: ({ data, reports }) => data.redacted || reports.has('locks'),
	make(root, page) {
		let whole = 0
		const part = { notes: el('div.notes'), box: el('div.report') }, choice = makeGroupChoice(page, 'locks', 'Report', lockReports)
		const columns = () => [...waitColumns(page, () => whole), { id: 'name', title: 'Lock', left: true, text: r => r.text }]
		const table = makeTable('Locks', columns(), { sort: sort => page.store.setIn('sort', 'locks', sort) })
		root.append(choice.root, part.notes, part.box)
		return {
			update({ data, state }) {
				const places = page.places.get(), counted = state.by.locks === 'counted' || !page.places.known || (places && !places.locks)
				choice.update(counted ? 'counted' : 'filtered')
				if (counted) {
					showReport(page, part, 'locks')
					return
				}
				fill(part.notes, places ? '' : hint(unread(page)))
				fill(part.box, places ? table.root : '')
				if (!places)
					return
				const { rows, idle } = lockRows(data, state, places)
				whole = rows[0].us
				if (idle)
					part.notes.append(hint(`Left out: ${seconds(idle)} sec. in which threads of language runtimes waited for work or slept.`))
				table.setColumns(columns())
				table.show(rows, { sort: state.sort.locks, keepOrder: !state.sort.locks })
			},
		}
	},
}
