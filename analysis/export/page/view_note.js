// SPDX-License-Identifier: GPL-2.0-or-later
// A note above the views: that the filter excludes everything, and how tables count waits at the ends of a range.
import { el, fill } from './dom.js'
import { clearedFilter, hasRange } from './store.js'
import { eachEvent } from './walk.js'
import { isFiltered } from './filter.js'

// Tabs of the whole recording.
const unfilteredTabs = ['findings', 'experiments', 'about']

// Whether no event passes the filter. false if not all is read.
function isExcluded({ data, state, sums }) {
	let n = sums.n
	if (!isFiltered(data, state) || n || sums.partial || (data.counts && !data.counts.whole))
		return false
	if (data.counts)
		eachEvent(data.counts, state, () => { n++ })
	return !n
}

// What a tab has of the sums, if it has waits.
function timeOfTab({ data, state, sums }) {
	const us = name => sums.states[data.states.findIndex(s => s.name === name)], all = sums.total
	return { threads: all, processes: all, cgroups: all, cpus: all, waits: sums.totalWait, wakers: sums.totalWait - us('WAIT_CPU'),
		runqueue: us('WAIT_CPU'), locks: us('USER_LOCK') }[state.view]
}

// How tables count waits, if something of a range passes that does not end in it.
function aboutEnds(page, excluded) {
	const { data, state, clipped } = page, us = excluded ? 0 : timeOfTab(page)
	if (!hasRange(state) || !data.whole || us === undefined || !clipped || !clipped.nthreads)
		return ''
	return 'Tables count a wait in whole where it ends, as er_print does; the bar above counts what is in the range.' +
		(us ? '' : ' Nothing of this table ends in the range: read the lines above the timeline, or move the end of the range behind the wait.')
}

export function makeNote(root, page) {
	return {
		update({ state, store }) {
			const excluded = !unfilteredTabs.includes(state.view) && isExcluded(page), text = aboutEnds(page, excluded) || (excluded ? 'The filter excludes all data.' : '')
			fill(root, text, excluded ? el('button', { onclick: () => store.set(clearedFilter()) }, 'Clear all') : '')
			root.hidden = !text
		},
	}
}
