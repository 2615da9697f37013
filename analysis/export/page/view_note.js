// SPDX-License-Identifier: GPL-2.0-or-later
// A note above the views: that the filter excludes everything.
import { el } from './dom.js'
import { clearedFilter, isFiltered } from './store.js'
import { eachEvent } from './walk.js'

// Tabs of the whole recording.
const unfilteredTabs = ['findings', 'experiments', 'about']

// Whether no event passes the filter. false if not all is read.
function isExcluded({ data, state, sums }) {
	let n = sums.n
	if (!isFiltered(state) || n || sums.partial || (data.counts && !data.counts.whole))
		return false
	if (data.counts)
		eachEvent(data.counts, state, () => { n++ })
	return !n
}

export function makeNote(root, page) {
	return {
		update({ state, store }) {
			const excluded = !unfilteredTabs.includes(state.view) && isExcluded(page), texts = []
			if (excluded)
				texts.push('The filter excludes all data. ', el('button', { onclick: () => store.set(clearedFilter()) }, 'Clear all'))
			root.replaceChildren(...texts)
			root.hidden = !texts.length
		},
	}
}
