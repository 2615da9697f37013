// SPDX-License-Identifier: GPL-2.0-or-later
// Compares two experiments, or two ranges of time, by function: as a table and as a flame graph.
import { el, fill, hint, unread } from './dom.js'
import { makeGroupChoice } from './choice.js'
import { makeTable } from './table.js'
import { comparedRows, functionKeys, makeComparison, sameSides, sideFilter, sidesOf, thresholdText } from './compare.js'
import { makeCompareFlame } from './compare_flame.js'
import { makeSideControls, sideLetters, sideText } from './compare_sides.js'
import { filterCommand } from './filter.js'
import { filterKeys, hasRange } from './store.js'
import { isCount, metricName } from './metrics.js'
import { fixed, msecOfNs, secondsOfNs, signed } from './format.js'

// --- the table ---

// The columns of one flavor. Differences are sorted by size, whatever their sign.
function pairColumns(v, flavor, title) {
	const { time, unit } = v, { errors } = v.page.state
	const column = (name, head, value, text) => ({ id: flavor + name, title: head, unit,
		width: '6.2em', value: r => value(r[flavor]), text: r => text(r[flavor]) })
	const colored = (c, help) => ({ ...c, help, cell: r =>
		el('span.' + r[flavor].verdict, {}, c.text(r)) })
	const by = column('by', `${title} B − A`, p => Math.abs(p.by), p => signed(p.by, time(p.by)))
	const percent = column('percent', '', p => p.percent === null ? Infinity : p.percent,
		p => p.percent === null ? '' : signed(p.percent, fixed(p.percent, 1)))
	const verdict = column('verdict', 'Change', p => p.verdict,
		p => p.verdict === 'same' ? '' : v.words[p.verdict] || p.verdict)
	const error = column('error', 'Std. error', p => p.error, p => time(p.error))
	return [
		column('a', `${title} A`, p => p.a, p => time(p.a)),
		column('b', `${title} B`, p => p.b, p => time(p.b)),
		{ ...colored(by, 'The difference; grey if it is too small to be sure'), width: '9.5em' },
		...(errors ? [{ ...error, unit: '' }] : []),
		{ ...colored(percent, 'The difference as a share of A'), unit: '%', width: '4.5em' },
		{ ...verdict, unit: '', left: true, width: '4em' },
	]
}

function comparedObject(data, key) {
	return key < 0 ? '' : data.objects[data.func_objects[functionKeys(data).first[key]]][0]
}

function comparisonColumns(v) {
	const { data } = v.page
	return [...pairColumns(v, 'incl', 'Incl.'), ...pairColumns(v, 'excl', 'Excl.'),
		{ id: 'object', title: 'Object', width: '8em', left: true,
			text: r => comparedObject(data, r.key) },
		{ id: 'name', title: 'Function', left: true, text: r => r.name,
			cell: r => el('span.' + r.incl.verdict, {}, r.name) }]
}

function showComparedRows(v) {
	const { data, state } = v.page, [total, ...rows] = comparedRows(v.c)
	v.table.setColumns(comparisonColumns(v))
	v.table.show([{ ...total, first: 1 }, ...rows], { sort: state.sort.compare || ['inclby', true],
		picked: state.selected === null ? undefined : functionKeys(data).of[state.selected] })
}

// --- choices ---

const comparisonChoices = {
	comparison: [['functions', 'Functions'], ['flame', 'Flame graph']],
	comparisonUnit: [
		['rate', 'In a second', 'Milliseconds in a second of recording, as er_print -diff rate'],
		['time', 'Whole time', 'Seconds of the whole, as er_print -diff time']],
	comparisonColor: [
		['relative', 'Relative', 'Colours show the change as a share of the function itself'],
		['absolute', 'Absolute', 'Colours show the change as a share of the largest one']],
}

function comparisonChoice(state, id) {
	const choices = comparisonChoices[id]
	return choices.some(c => c[0] === state.by[id]) ? state.by[id] : choices[0][0]
}

function makeChoiceButtons(page, id) {
	const choice = makeGroupChoice(page, id, id, comparisonChoices[id].map(([value, text, help]) => ({ value, text, help })))
	return { root: choice.root, update: () => choice.update(comparisonChoice(page.state, id)) }
}

// --- the view ---

// What is compared in words, and what to know about it.
function comparisonNotes(v, sides) {
	const { data, state } = v.page
	if (sameSides(sides))
		return ['A and B are the same. ' + (hasRange(state) ? 'Press' : 'Drag a range over the timeline and press') +
			' “Range to A”. Then drag the range to compare it with.']
	if (!v.c)
		return [unread(v.page)]
	const lines = sides.map((s, i) => `${sideLetters[i]}: ${sideText(data, s)}, recorded ` +
		`${s.seconds.toFixed(3)} s: er_print ${filterCommand(data, sideFilter(state, s))}`.trim() + '.')
	lines.push(`${metricName(data, comparedMetric(state))}; grey: not more than ${thresholdText(data)} and ${fixed(v.c.z, 1)} standard errors, as er_print -diff judges.${v.c.sampled.some(Boolean) ? ' The totals of a part of the threads’ time, such as a range, are sampled, too.' : ''}`)
	if (!v.c.rate && Math.abs(sides[1].seconds - sides[0].seconds) > 0.05 * sides[0].seconds)
		lines.push('The sides are not equally long.')
	return lines.concat((data.builds || []).map(path =>
		`Different builds of ${path}: functions are compared by name.`))
}

// A counter is compared as a number, whether it can be shown as time or not.
const comparedMetric = state => state.metric.replace(/^t\./, 'n.')

// How its values are written: a time, or a number of its unit.
function valueForm(data, metric, rate) {
	const { unit } = isCount(metric) ? data.metrics.find(m => m.id === metric.slice(2)) : { unit: 'time' }
	if (unit === 'time')
		return rate ? { time: msecOfNs, unit: 'ms/s', words: {} } : { time: secondsOfNs, unit: 'sec.', words: {} }
	return { time: String, unit: (unit === 'bytes' ? unit : '') + (rate ? '/s' : ''), words: { slower: 'more', faster: 'less' } }
}

// Adds up again only if the filter, the sides, the metric or the unit changed.
function updateComparison(v, sides) {
	const { data, state } = v.page, rate = comparisonChoice(state, 'comparisonUnit') === 'rate'
	const metric = comparedMetric(state), key = JSON.stringify([sides, metric, rate, filterKeys.map(k => state[k])])
	if (!data.whole || isCount(metric) && !data.counts.whole || sameSides(sides))
		v.c = null
	else if (!v.c || v.key !== key)
		v.c = makeComparison(data, sides.map(s => sideFilter(state, s)), sides, metric, rate)
	v.key = key
	Object.assign(v, valueForm(data, metric, rate))
}

function showComparison(v) {
	const { data, state } = v.page, sides = sidesOf(data, state)
	const asFlame = comparisonChoice(state, 'comparison') === 'flame'
	updateComparison(v, sides)
	v.sides.forEach((s, i) => s.update(sides[i]))
	v.buttons.forEach(b => b.update())
	v.buttons[2].root.hidden = !asFlame
	fill(v.notes, ...comparisonNotes(v, sides).map(text => hint(text + ' ')))
	v.table.root.hidden = asFlame || !v.c
	v.flame.root.hidden = !asFlame || !v.c
	if (v.c && asFlame)
		v.flame.show(v.c, { time: v.time, unit: v.unit, words: v.words,
			relative: comparisonChoice(state, 'comparisonColor') === 'relative' })
	else if (v.c)
		showComparedRows(v)
}

export const compareView = {
	id: 'compare', title: 'Compare', key: '5',
	make(root, page) {
		const box = el('div.report'), notes = el('div.notes')
		const v = { page, notes, c: null, sides: sideLetters.map((_, i) => makeSideControls(page, i)),
			buttons: Object.keys(comparisonChoices).map(id => makeChoiceButtons(page, id)) }
		v.table = makeTable('Comparison', [], {
			pick: r => page.store.set({
				selected: r.key < 0 ? null : functionKeys(page.data).first[r.key] }),
			sort: sort => page.store.setIn('sort', 'compare', sort),
		})
		root.append(el('div.crumbs.compare', {}, ...v.sides.map(s => s.root),
			...v.buttons.map(b => b.root)), notes, box)
		box.append(v.table.root)
		v.flame = makeCompareFlame(box, page)
		return { update: () => showComparison(v) }
	},
}
