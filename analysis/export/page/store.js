// SPDX-License-Identifier: GPL-2.0-or-later
// The state of the page: what is filtered and what is shown. There is one store; views read it
// and change it by set(). It is kept in the address, so that a copied address shows the same.

// What a new page has. Lists are empty for "all". Keys of the first group filter.
export const defaults = {
	from: null, to: null,      // whole microseconds: events that end at `from` or later, before `to`
	processes: [], threads: [], // keys and indexes
	cpus: [], states: [], reasons: [],
	func: null,                // index of a function that is in the stack

	metric: 'cpu',             // cpu, wait or total
	view: 'findings',          // the lower view
	leafUp: false,             // flame graph: callers above
	search: '',                // regular expression
	selected: null,            // function that is looked at
	event: null,               // event that is looked at
	viewFrom: null, viewTo: null, // what the timeline shows
	sort: {},                  // by table: [column, descending]
}

export const filterKeys = ['from', 'to', 'processes', 'threads', 'cpus', 'states', 'reasons', 'func']

export function makeStore(address) {
	const state = Object.assign({}, defaults, parseState(address))
	const listeners = []
	return {
		state,
		// Sets these members and tells the listeners which ones have changed.
		set(patch) {
			const changed = new Set()
			for (const [key, value] of Object.entries(patch)) {
				if (JSON.stringify(state[key]) === JSON.stringify(value))
					continue
				state[key] = value
				changed.add(key)
			}
			if (changed.size)
				listeners.forEach(fn => fn(changed))
		},
		// Calls fn with the set of changed keys.
		listen(fn) { listeners.push(fn) },
	}
}

export function isFiltered(state) {
	return filterKeys.some(key => {
		const v = state[key]
		return Array.isArray(v) ? v.length : v !== null
	})
}

export function clearedFilter() {
	return Object.fromEntries(filterKeys.map(key => [key, defaults[key]]))
}

// "#from=1000&states=[7]": only what differs from the defaults, values as JSON.
export function stateText(state) {
	const parts = []
	for (const key of Object.keys(defaults)) {
		const text = JSON.stringify(state[key])
		if (text !== JSON.stringify(defaults[key]))
			parts.push(key + '=' + encodeURIComponent(text))
	}
	return parts.length ? '#' + parts.join('&') : ''
}

// What cannot be understood is left out: an address may be damaged or hostile.
export function parseState(address) {
	const ret = {}
	for (const part of address.replace(/^#/, '').split('&')) {
		const [key, text] = part.split('=')
		if (!(key in defaults) || text === undefined)
			continue
		try {
			const value = JSON.parse(decodeURIComponent(text))
			if (isLike(defaults[key], value))
				ret[key] = value
		} catch {
			continue
		}
	}
	return ret
}

function isLike(model, value) {
	if (model === null)
		return value === null || Number.isInteger(value)
	if (Array.isArray(model))
		return Array.isArray(value) && value.every(v => ['number', 'string'].includes(typeof v))
	return typeof model === typeof value && value !== null
}
