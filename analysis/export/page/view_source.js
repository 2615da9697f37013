// SPDX-License-Identifier: GPL-2.0-or-later
// Annotated source and disassembly, as er_print shows them, under the page's filter.
import { el, fill, hint, unread } from './dom.js'
import { makeGroupChoice } from './choice.js'
import { makeTable } from './table.js'
import { extraMetrics, isCount, metricForm, metricName, pathTimes } from './metrics.js'
import { keying, placeSums, placeTimes } from './places.js'
import { exclusiveTimes } from './tree.js'
import { timeColumns, timeRows } from './view_functions.js'
import { addToList, totalOf } from './numbers.js'

// The function whose code is shown: the selected one, or the first that has code.
function shownFunc(page, code, kind) {
	const having = code.funcs.filter(f => f[kind] >= 0)
	return having.find(f => f.func === page.state.selected) || having[0]
}

const otherKind = kind => kind === 'source' ? 'disasm' : 'source'

// The share of the chosen metric's time that was spent in functions that have code here.
function shareWithCode({ data, state, sums }, code, kind) {
	const us = pathTimes(sums, state.metric), excl = exclusiveTimes(data, us)
	return metricForm(data, state.metric).share(code.funcs.reduce((sum, f) => sum + (f[kind] < 0 ? 0 : excl[f.func]), 0), totalOf(us))
}

function note(page, code, kind, read) {
	const { data, reports, state } = page
	if (!reports.knows('code'))
		return 'This file has no code: it was written with --no-source or --redact.'
	if (!read)
		return unread(page)
	const f = shownFunc(page, code, kind)
	if (!f)
		return kind === 'source' ? 'No source file was found: er_print -source says why.' : 'No instructions were found: er_print -disasm says why.'
	const missing = state.selected !== null && f.func !== state.selected ? `The code of ${data.funcs[state.selected]} is not in this file. ` : ''
	return `${missing}As er_print -${kind} ${data.funcs[f.func]}. Functions whose code is in this file have ${shareWithCode(page, code, kind)} % of the ${isCount(state.metric) ? metricName(data, state.metric) : 'time'}. `
}

// Reads where the places of stacks count: a keying for lines and one for instructions.
function readParts(report, places) {
	report.keyings = report.parts.map(([n, ...pairs]) => {
		const keys = new Int32Array(places.nplaces).fill(n)
		for (let i = 0, place = 0; i < pairs.length; i += 2)
			keys[place += pairs[i]] = pairs[i + 1]
		return { ...keying(places, keys, n + 1), count: n }
	})
}

// The rows with their times; those at the threshold are marked as er_print marks them.
function codeRows(page, report, places) {
	if (!report.keyings)
		readParts(report, places)
	const from = placeSums(page, places)
	let whole = 0
	const timed = report.keyings.flatMap(k => {
		const made = timeRows(page, placeTimes(k), k.count, from, true)
		whole = made.whole
		return made.rows
	})
	const rows = report.text.map((text, i) => ({ ...timed[report.keys[i] - 1], key: i, text, blank: !report.keys[i] }))
	const shown = [r => r, ...extraMetrics(page).map(m => r => r.extra && r.extra[m.id])].flatMap(of => ['excl', 'incl'].map(member => r => (of(r) || {})[member] || 0))
	for (const value of shown) {
		const most = rows.reduce((max, r) => Math.max(max, value(r)), 0)
		for (const r of rows) {
			if (value(r) > 0 && value(r) * 100 >= most * report.threshold)
				r.mark = 'hot'
		}
	}
	return { rows, whole }
}

// Lines without code have no metrics.
const unlessBlank = c => ({ ...c, text: r => r.blank ? '' : c.text(r), value: r => r.blank ? -Infinity : c.value(r) })

function makeCodeTable(page, part, kind) {
	const columns = () => [{ title: '', unit: '', width: '2em', left: true, text: r => r.mark ? '##' : '' },
		...timeColumns(page, () => part.whole).map(unlessBlank),
		{ id: 'text', title: '', unit: '', left: true, text: r => r.text }]
	// Sorting by the text gives the order of the file back.
	const show = (by = ['text', false]) => {
		part.by = by
		table.setColumns(columns())
		table.show(part.rows, { sort: by, keepOrder: by[0] === 'text' })
	}
	const table = makeTable(kind === 'source' ? 'Source' : 'Disassembly', columns(), { sort: show })
	return { ...table, show }
}

// The functions, by the file that they are from, if the page knows it. Source shows the whole file, whichever of them is chosen.
function pickOptions(page, funcs, shown) {
	const about = page.reports.get('fsummary'), byFile = new Map()
	for (const g of funcs) {
		const file = about && about.rows[g.func][2] || ''
		addToList(byFile, file, el('option', { value: g.func, selected: g === shown }, page.data.funcs[g.func]))
	}
	return [...byFile].flatMap(([file, options]) => file ? el('optgroup', { label: file }, ...options) : options)
}

function showCode(page, part, code, kind) {
	const places = code && page.places.get(), f = places && shownFunc(page, code, kind), report = f && code.reports[f[kind]]
	fill(part.notes, ...[note(page, code, kind, places), ...report ? report.notes : []].map(n => hint(n + ' ')))
	fill(part.pick, ...pickOptions(page, code ? code.funcs.filter(g => g[kind] >= 0) : [], f))
	const fresh = part.shown !== report
	part.shown = report
	if (fresh)
		fill(part.box)
	if (!report)
		return
	Object.assign(part, codeRows(page, report, places))
	if (fresh) {
		part.table = makeCodeTable(page, part, kind)
		part.box.append(part.table.root)
	}
	part.table.show(fresh ? undefined : part.by)
	if (fresh)
		part.table.reveal(part.rows.findIndex(r => r.mark))
}

export const sourceView = {
	id: 'source', title: 'Source',
	make(root, page) {
		const part = { notes: el('div.notes'), box: el('div.report.code'), shown: undefined,
			pick: el('select', { ariaLabel: 'Function', onchange: e => page.store.set({ selected: Number(e.target.value) }) }) }
		const choice = makeGroupChoice(page, 'source', 'Kind of code', [{ value: 'source', text: 'Source' }, { value: 'disasm', text: 'Disassembly' }])
		choice.root.append(part.pick)
		root.append(choice.root, part.notes, part.box)
		return {
			update({ state, reports }) {
				const code = reports.get('code')
				let kind = state.by.source === 'disasm' ? 'disasm' : 'source'
				// Without any source there is still disassembly.
				if (!state.by.source && code && !shownFunc(page, code, kind))
					kind = otherKind(kind)
				choice.update(kind)
				showCode(page, part, code, kind)
			},
		}
	},
}
