// SPDX-License-Identifier: GPL-2.0-or-later
// Which threads ended the waits of which others, and which had the CPU that others waited for: as
// er_print -wakers and -runqueue, with as many rows as there are.
import { makeGroupChoice } from './choice.js'
import { el, fill } from './dom.js'
import { makeTable } from './table.js'
import { seconds } from './format.js'
import { hasWaits, waitColumns } from './view_waits.js'
import { finishWaits, mergeWaits, noWaits, waitCounting } from './waits.js'
import { runqueueRows, wakerRows, wakingChain } from './blame.js'

// A table of sums of waits under the names of their groups.
function waitsBy(id, title, choices, namesOf, makeRows, only) {
	return {
		id, title, has: page => hasWaits(page),
		make(root, page) {
			let whole = 0, by = choices[0].value
			const columns = () => [...waitColumns(page, () => whole),
				...namesOf(by).map((name, i) => ({ id: 'name' + i, title: name, width: '18em', left: true, text: r => r.names[i] }))]
			const table = makeTable(title, columns(), {
				open: r => r.threads && page.store.set({ threads: [...r.threads], ...only(page.data) }),
				sort: sort => page.store.setIn('sort', id, sort),
			})
			const buttons = makeGroupChoice(page, id, 'Group by', choices)
			const notes = el('div.notes')
			root.append(buttons.root, notes, table.root)
			return {
				update({ data, state }) {
					by = choices.some(c => c.value === state.by[id]) ? state.by[id] : choices[0].value
					const rows = makeRows(page, by)
					whole = rows.reduce((a, r) => a + r.us, 0)
					const total = noWaits({ key: '', first: 1, whole: 1, names: ['<Total>', '', ''] })
					rows.push(finishWaits(rows.reduce(mergeWaits, total), waitCounting(page)))
					buttons.update(by)
					fill(notes, ...(id === 'wakers' ? chainLinks(page, wakingChain(data, state)) : []))
					table.setColumns(columns())
					table.show(rows, { sort: state.sort[id] })
				},
			}
		},
	}
}

// The chain in words: each thread is a link that shows only this thread.
function chainLinks({ data, store }, chain) {
	const name = ({ thread }) => thread < 0 ? 'interrupts and timers' : el('button.link', { title: 'Show only this thread',
		onclick: () => store.set({ threads: [thread], processes: [] }) }, data.threads[thread].name)
	return chain.flatMap((step, i) => [i ? ' ← ' : 'Most of these waits were ended by ', name(step), ` ${seconds(step.us)} s`])
}

const stateNumber = (data, name) => data.states.findIndex(s => s.name === name)

export const wakersView = waitsBy('wakers', 'Wakers',
	[{ value: 'pair', text: 'By thread' }, { value: 'reason', text: 'By thread and reason' }],
	by => by === 'pair' ? ['Ended by', 'Waiting thread'] : ['Ended by', 'Waiting thread', 'Reason'],
	(page, by) => wakerRows(page, by === 'reason'), () => ({}))

export const runqueueView = waitsBy('runqueue', 'Run queue',
	[{ value: 'holder', text: 'Who had the CPU' }, { value: 'waiter', text: 'Who waited' }, { value: 'reason', text: 'Why' }],
	by => [{ holder: 'Had the CPU', waiter: 'Waited for it', reason: 'Reason' }[by]],
	runqueueRows, data => ({ states: [stateNumber(data, 'WAIT_CPU')] }))
