// SPDX-License-Identifier: GPL-2.0-or-later
// The differential flame graph. Orange takes more time in B, blue less; grey is what sampling
// or the threshold explains. A strong colour is a large difference: as a share of the function's own time, or of
// the largest difference.
import { el } from './dom.js'
import { comparedTree, functionKeys, thresholdText } from './compare.js'
import { makeFlame } from './flame.js'
import { fixed, signed } from './format.js'
import { isDark } from './colors.js'

function changeColor(v, item) {
	if (item.n || item.pair.verdict === 'same')
		return isDark() ? '#454b53' : '#d3d7dc'
	const { a, b, by } = item.pair, largest = v.relative ? Math.max(a, b) : v.tree.largest
	const t = Math.min(1, Math.abs(by) / (largest || 1)), hue = by > 0 ? '18 85%' : '212 75%'
	return `hsl(${hue} ${isDark() ? 30 + 22 * t : 88 - 32 * t}%)`
}

function itemText(v, item) {
	const keys = functionKeys(v.page.data)
	if (item.n)
		return `${item.n} narrow functions`
	const name = item.func < 0 ? '<Total>' : keys.names[keys.of[item.func]]
	return ['new', 'gone'].includes(item.pair.verdict) ? `${item.pair.verdict}: ${name}` : name
}

function itemTip(v, item) {
	const title = el('b', {}, itemText(v, item)), p = item.pair, { time, unit } = v
	if (item.n)
		return [title]
	const percent = p.percent === null ? '' : `, ${signed(p.percent, fixed(p.percent, 1))} % of A`
	return [title, el('div', {}, `A ${time(p.a)}, B ${time(p.b)} ${unit}`),
		el('div', {}, `${signed(p.by, time(p.by))} ${unit}${percent}`),
		el('div', {}, `standard error ${time(p.error)}: ` +
			(p.verdict === 'same' ? `same, with a threshold of ${thresholdText(v.page.data)}` : v.words[p.verdict] || p.verdict))]
}

function isSelected(v, item) {
	const { data, state } = v.page, { of } = functionKeys(data)
	return state.selected !== null && item.func >= 0 && of[item.func] === of[state.selected]
}

// Adds the graph to root. show(comparison, {relative, time, unit}) draws it; `time` writes a time.
export function makeCompareFlame(root, page) {
	const v = { page }
	const graph = makeFlame(root, {
		paint: ({ item, above }) => ({ dim: above, fill: changeColor(v, item) }),
		name: item => itemText(v, item),
		tip: item => itemTip(v, item),
		selected: item => isSelected(v, item),
		click: item => page.store.set({ selected: item.func >= 0 ? item.func : null }),
		leave: () => {},
		zoomed: () => {},
		label: () => 'Flame graph of the differences',
	})
	return { root: graph.scroll, show(c, options) {
		Object.assign(v, options, { tree: comparedTree(c) })
		graph.show(v.tree)
	} }
}
