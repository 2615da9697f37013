// SPDX-License-Identifier: GPL-2.0-or-later
// Keys of the whole page, and the overlay that lists all keys.
import { byId, el, when } from './dom.js'
import { shownTable } from './find.js'
import { metricsOf } from './metrics.js'
import { clearedFilter } from './store.js'
import { wholeSeconds } from './snapshots.js'

const keys = [
	['Timeline', [['drag', 'choose a range'], ['click', 'look at an interval; on a name: only this thread or process'],
		['Ctrl click', 'on names: several'], ['Ctrl wheel, + -', 'zoom'], ['Shift wheel, ← →', 'move in time'],
		['double click', 'zoom to the interval'], ['0', 'show everything'], ['Enter', 'filter by the shown range'],
		['Esc', 'remove the range'], ['e', 'move its ends to usage samples, so that the times above are exact'], ['↑ ↓', 'choose a lane'], ['Space', 'select the interval in the middle; fold a process'],
		[', .', 'previous and next interval'], ['t', 'only this thread, process or CPU']]],
	['Tables', [['↑ ↓ Page Home End', 'move'], ['Enter, double click', 'filter by this row; in Callers: go there'],
		['← →', 'fold and unfold a row of the call tree'], ['Tab, Enter', 'go to a heading and sort by it']]],
	['Flame graph', [['click', 'zoom to a frame and select its function'], ['Backspace', 'one step back'], ['0, Esc', 'whole graph']]],
]

export function makeHelp(page, views) {
	const general = [...views.filter(v => v.key).map(v => [v.key, v.title]), ['/', 'find in the table, or in the flame graph'], ['c', 'clear the filter'], ['f', 'only stacks with the selected function'],
		['m', 'next metric'], ['?', 'this help']]
	const dialog = el('dialog', { ariaLabel: 'Help' },
		el('h2', {}, 'Keys'),
		el('div.keys', {}, ...[['Everywhere', general], ...keys].map(([title, rows]) => el('div', {}, el('h3', {}, title),
			el('dl', {}, ...rows.flatMap(([key, text]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, text)]))))),
		el('h2', {}, 'What is exact'),
		el('p.said', {}, 'Timeline: a wait with a dark line on top was recorded with its own beginning and end. Pale colour is density: estimates from a sample of the waits, and ' +
			'CPU samples, each spread over the time that it represents. Above it: a time with ~ is an estimate, ± its standard error. Between two usage samples (triangles on the axis) ' +
			'the states of each thread are exact.'),
		el('button', { onclick: () => dialog.close() }, 'Close'))
	document.querySelector('main').append(dialog)
	when(byId('help'), 'click', () => dialog.showModal())
	when(window, 'keydown', e => globalKey(page, views, dialog, e))
}

function globalKey(page, views, dialog, e) {
	if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) || dialog.open)
		return
	const { state, store } = page
	const view = views.find(v => v.key && v.key === e.key)
	const metrics = metricsOf(page.data).filter(m => !m.ratio).map(m => m.id)
	const acts = {
		'?': () => dialog.showModal(),
		'/': () => {
			if (shownTable())
				return byId('find').focus()
			store.set({ view: 'flame' })
			byId('search').focus()
		},
		c: () => store.set(clearedFilter()),
		e: () => store.set(wholeSeconds(page.data, state) || {}),
		f: () => store.set({ func: state.func === null ? state.selected : null }),
		m: () => store.set({ metric: metrics[(metrics.indexOf(state.metric) + 1) % metrics.length] }),
	}
	if (view)
		store.set({ view: view.id })
	else if (e.key in acts)
		acts[e.key]()
	else
		return
	e.preventDefault()
}
