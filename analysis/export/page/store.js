// SPDX-License-Identifier: GPL-2.0-or-later
// The state of the page: the filter, and what is shown. There is one store; views read it and
// change it by set(). The address has the state, so a copied address shows the same.

// The state of a page that was just opened. An empty list means "all". Members above the empty
// line are the filter.
export const defaults = {
	from: null, to: null,      // whole microseconds: events that end at `from` or later, before `to`
	processes: [], threads: [], // keys and indexes
	cpus: [], states: [], reasons: [],
	cgroups: [],               // paths
	group: null,               // number of an experiment or group of experiments
	func: null,                // index of a function that stacks must contain
	expr: '',                  // an expression of er_print

	metric: 'cpu',             // as metrics.js has them
	columns: [],               // metrics beside it
	view: 'findings',          // the lower view
	leafUp: false,             // flame graph: callers above
	search: '',                // regular expression
	selected: null,            // selected function
	event: null, sample: null, // selected event; selected sample, an index
	span: null,                // selected call of a span, an index
	viewFrom: null, viewTo: null, // range that the timeline shows
	sort: {},                  // by table: [column, descending]
	by: {},                    // by table: what its rows are
	errors: false,             // show standard errors
	hidden: [],                // tabs that are not shown
	marks: [],                 // timeline: kinds of packets that are marked, as timeline_choice.js has them
	lanes: '', color: '', depth: '', // timeline: all, cpus or threads; of states, leaf or root; how many functions of a stack
	a: [], b: [],              // what is compared, as compare.js has it
}

export const filterKeys = ['from', 'to', 'processes', 'threads', 'cpus', 'states', 'reasons', 'cgroups', 'group',
	'func', 'expr']

// before(patch) returns the change to make in place of a wanted one.
export function makeStore(address, before = patch => patch) {
	const state = Object.assign({}, defaults, parseState(address))
	const listeners = []
	return {
		state,
		// Sets these members, and calls the listeners if a value changed.
		set(patch) {
			const changed = new Set()
			for (const [key, value] of Object.entries(before(alone(patch)))) {
				if (JSON.stringify(state[key]) === JSON.stringify(value))
					continue
				state[key] = value
				changed.add(key)
			}
			if (changed.size)
				listeners.forEach(fn => fn(changed))
		},
		// Sets one member of state.sort or state.by.
		setIn(key, member, value) { this.set({ [key]: { ...state[key], [member]: value } }) },
		// Has fn called after each change, with the set of changed keys.
		listen(fn) { listeners.push(fn) },
	}
}

// The details show what was selected last.
function alone(patch) {
	const ret = { ...patch }
	const what = ['event', 'sample', 'span', 'selected'].find(key => Number.isInteger(patch[key]))
	for (const key of what ? ['event', 'sample', 'span'] : []) {
		if (key !== what)
			ret[key] = null
	}
	return ret
}

export const hasRange = ({ from, to }) => from !== null || to !== null

export function clearedFilter() {
	return Object.fromEntries(filterKeys.map(key => [key, defaults[key]]))
}

// Returns the state as text for the address, such as "#from=1000&states=[7]". It has only what
// differs from the defaults, as JSON.
export function stateText(state) {
	const parts = []
	for (const key of Object.keys(defaults)) {
		const text = JSON.stringify(state[key])
		if (text !== JSON.stringify(defaults[key]))
			parts.push(key + '=' + encodeURIComponent(text))
	}
	return parts.length ? '#' + parts.join('&') : ''
}

// Parses such a text. Wrong parts are ignored, because an address may be damaged or hostile.
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
