// SPDX-License-Identifier: GPL-2.0-or-later
// The flame graph: callees below callers, or callers below callees ("leaf up"). With a function
// chosen for the sandwich, its callers are above it and its callees below.
import { el, fill, hint, when } from './dom.js'
import { makeFlame } from './flame.js'
import { bottomUp, calleesOf, nodeTimes, topDown } from './tree.js'
import { metricForm, metricName, metricTotal, pathTimes } from './metrics.js'
import { FOUND, funcColor } from './colors.js'

// --- search ---

export const NO_PATTERN = 'not a regular expression'

// null: there is no text; undefined: it is no regular expression.
export function makePattern(text) {
	try {
		return text ? new RegExp(text, 'i') : null
	} catch {
		return undefined
	}
}

// Returns the time of stacks that contain a matching function.
export function matchedTime(data, pathUs, pattern) {
	const matches = data.funcs.map(name => pattern.test(name))
	const tree = data.tree, us = nodeTimes(data, pathUs), inside = new Uint8Array(tree.n)
	let sum = 0
	for (let i = 1; i < tree.n; i++) {
		inside[i] = inside[tree.parent[i]]
		if (!inside[i] && matches[tree.func[i]]) {
			inside[i] = 1
			sum += us[i]
		}
	}
	return { sum, matches }
}

// --- the view ---

export const flameView = {
	id: 'flame', title: 'Flame graph', key: '1',
	make(root, page) {
		const path = el('div.crumbs')
		root.append(path)
		const f = { page, path, matched: null, sandwich: null }
		f.graph = makeFlame(root, {
			paint: b => paintOf(f, b),
			name: item => itemName(page.data, item),
			tip: item => tipOf(f, item),
			selected: item => page.state.selected !== null && item.func === page.state.selected,
			click: item => page.store.set({ selected: item.func >= 0 ? item.func : null }),
			leave: () => leaveSandwich(f),
			zoomed: () => showCrumbs(f),
			label: () => `Flame graph of ${f.form.words(f.whole)}`,
		})
		return {
			update({ state }) {
				if (f.leafUp !== state.leafUp)
					f.graph.zoom = []
				f.leafUp = state.leafUp
				build(f)
			},
		}
	},
}

function build(f) {
	const { data, state, sums } = f.page
	const us = pathTimes(sums, state.metric), pattern = makePattern(state.search)
	f.whole = metricTotal(sums, state.metric)
	f.form = metricForm(data, state.metric)
	f.matched = pattern && matchedTime(data, us, pattern)
	if (f.sandwich !== null)
		f.graph.show({ callers: bottomUp(data, us, f.sandwich),
			callees: calleesOf(data, us, f.sandwich) })
	else
		f.graph.show(state.leafUp ? bottomUp(data, us) : topDown(data, us))
	showCrumbs(f)
}

function leaveSandwich(f) {
	if (f.sandwich === null)
		return
	f.sandwich = null
	build(f)
}

export function itemName(data, item) {
	if (item.n)
		return `${item.n} narrow functions`
	return item.func < 0 ? '<Total>' : data.funcs[item.func]
}

// What does not match is pale, as are the callers of the outermost box.
function paintOf(f, { item, above }) {
	const known = f.matched && item.func >= 0
	const found = known && f.matched.matches[item.func] && !above
	return { dim: above || (known && !found), ink: found ? '#fff' : null,
		fill: found ? FOUND : funcColor(f.page.data, item.func) }
}

function tipOf(f, item) {
	const { data, state } = f.page
	return [el('b', {}, itemName(data, item)),
		el('div', {}, item.func < 0 ? '' : data.objects[data.func_objects[item.func]][0]),
		el('div', {}, `${f.form.words(item.us)}, ${f.form.share(item.us, f.whole)} % of ${metricName(data, state.metric)}`)]
}

// The line above the graph: what it shows, and buttons to change that.
function showCrumbs(f) {
	const { data, state, store } = f.page
	const button = (text, on, act, help) => el('button' + (on ? '.on' : ''), { ariaPressed: String(!!on), title: help || '',
		onclick: act }, text)
	const search = el('input', { type: 'search', placeholder: 'Search: regular expression', value: state.search,
		ariaLabel: 'Search functions' })
	search.id = 'search'
	when(search, 'change', () => store.set({ search: search.value }))
	const had = document.activeElement && document.activeElement.id === 'search'
	fill(f.path, ...[
		button('Root on top', !state.leafUp && f.sandwich === null, () => { f.sandwich = null; store.set({ leafUp: false }); build(f) },
			'Callees below callers'),
		button('Leaf on top', state.leafUp && f.sandwich === null, () => { f.sandwich = null; store.set({ leafUp: true }); build(f) },
			'Callers below callees'),
		button('Sandwich', f.sandwich !== null, () => { f.sandwich = state.selected; build(f) },
			f.sandwich === null && state.selected === null ? 'Select a function first: its callers are above it, callees below' : 'Callers above the selected function, callees below'),
		search,
		hint(f.matched ? `${f.form.share(f.matched.sum, f.whole)} % match, ${f.form.words(f.matched.sum)}` : f.matched === null ? '' : NO_PATTERN),
		f.graph.zoom.length && f.sandwich === null ? button('Whole graph', false, () => { f.graph.zoom = []; build(f) }) : null,
	].filter(Boolean))
	if (f.sandwich === null && state.selected === null)
		f.path.children[2].disabled = true
	if (had)
		search.focus()
	if (f.sandwich !== null)
		f.path.append(hint('of ' + data.funcs[f.sandwich]))
}
