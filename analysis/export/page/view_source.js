// SPDX-License-Identifier: GPL-2.0-or-later
// Annotated source and disassembly of the functions with most time, as the file has them. The
// page's filter does not apply to them.
import { el } from './dom.js'
import { makeGroupChoice } from './choice.js'
import { makeTable } from './table.js'
import { reportColumns, reportRows } from './view_reports.js'

// The function whose code is shown: the selected one, or the first that has code.
function shownFunc(page, code, kind) {
	const having = code.funcs.filter(f => f[kind] >= 0)
	return having.find(f => f.func === page.state.selected) || having[0]
}

const otherKind = kind => kind === 'source' ? 'disasm' : 'source'

function note(page, code, kind) {
	const { data, reports, state } = page
	if (!code)
		return reports.has('code') ? 'This part of the file is still being read.' : 'This file has no code: it was written with --no-source or --redact.'
	const f = shownFunc(page, code, kind)
	if (!f)
		return kind === 'source' ? 'No source file was found: er_print -source says why.' : 'No instructions were found: er_print -disasm says why.'
	const missing = state.selected !== null && f.func !== state.selected ? `${data.funcs[state.selected]} is not among the functions with most time whose code is in this file. ` : ''
	return `${missing}As er_print -${kind} ${data.funcs[f.func]}: the filter of this page does not apply.`
}

function showCode(page, part, code, kind) {
	const f = code && shownFunc(page, code, kind), report = f && code.reports[f[kind]]
	part.notes.replaceChildren(el('span.hint', {}, note(page, code, kind)))
	part.pick.replaceChildren(...(code ? code.funcs : []).filter(g => g[kind] >= 0).map(g =>
		el('option', { value: g.func, selected: g === f }, page.data.funcs[g.func])))
	if (part.shown === report)
		return
	part.shown = report
	part.box.replaceChildren()
	if (!report)
		return
	const columns = reportColumns(report, false), rows = reportRows(report)
	// Sorting by the text gives the order of the file back.
	const sort = by => table.show(rows, { sort: by, keepOrder: by[0] === columns.length - 1 })
	const table = makeTable(kind === 'source' ? 'Source' : 'Disassembly', columns, { sort })
	part.box.append(table.root)
	part.notes.append(...report.notes.map(n => el('span.hint', {}, ' ' + n)))
	table.show(rows, { keepOrder: true })
	table.reveal(rows.findIndex(r => r.mark === 'hot'))
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
