// SPDX-License-Identifier: GPL-2.0-or-later
// Reports of er_print that are in the file as they are: locks, counters, what is known of the
// recording. The page's filter does not apply to them.
import { inflate, parseBytes, sections } from './pack.js'
import { lazyPart } from './lazy.js'
import { el, fill, hint, unread } from './dom.js'
import { makeGroupChoice } from './choice.js'
import { makeTable } from './table.js'
import { fixed } from './format.js'
import { clearedFilter } from './store.js'
import { filterCommand, isFiltered } from './filter.js'
import { copyButton } from './view_filter.js'
import { panelNode, panelsOf } from './samples.js'

// Returns the value of a pack with one section of JSON.
export async function readJson(base64) {
	return parseBytes(sections(await inflate(base64)).json)
}

// The reports of the file. Parsed they take much memory, so each stays compressed until it is first
// asked for. rows: the number of rows by report, in the order of the packs; loaded() is called when
// one that was asked for has been read.
export function makeReports(rows, loaded, failed) {
	const part = () => lazyPart(texts => texts.report, ({ report }) => readJson(report[0]), loaded, failed)
	const names = Object.keys(rows), parts = new Map(names.map(name => [name, part()]))
	let n = 0
	return {
		add(base64) { parts.get(names[n++]).add(base64, 'report') },
		knows: name => name in rows,
		has: name => rows[name] > 0,
		// Returns undefined while it is read, and for one that the file does not have.
		get: name => parts.has(name) ? parts.get(name).get() : undefined,
	}
}

// A number as er_print writes it; nothing at all is "0.".
const scaled = (scale, digits) => v => v === null ? '' : v ? fixed(v / scale, digits) : '0.'

const cellText = {
	time: scaled(1e9, 3), msec: scaled(1e6, 3), usec: scaled(1e3, 3), percent: scaled(1, 2), ratio: scaled(1, 3), times: scaled(1, 3),
	count: v => v === null ? '' : String(v), text: v => v === null ? '' : v, hist: v => v === null ? '' : v,
}

// A histogram as er_print draws it, one character for each count.
function drawnCounts(text) {
	const counts = text.split(' ').map(Number), most = Math.max(...counts)
	return counts.map(n => ' .:-=+*#'[n > 0 ? 1 + Math.floor(n / most * 6 + 0.5) : 0]).join('')
}

// A cell of the file as text. An estimate is an array of one number. A number of another kind than
// its column's is an object: {"count":5}.
export function cellShown(cell, kind) {
	if (Array.isArray(cell))
		return '~' + cellText[kind](cell[0])
	if (cell !== null && typeof cell === 'object')
		return cellShown(...Object.entries(cell)[0].reverse())
	return typeof cell === 'string' ? cell : cellText[kind](cell)
}

// Standard errors are hidden until they are asked for. If columns have headings in common, the text of the last column
// comes first, because they need the width.
export function reportColumns(report, errors) {
	const columns = report.columns.map((c, i) => {
		if (c.hidden && !errors)
			return null
		const left = c.kind === 'text' || c.kind === 'hist'
		const title = [c.group, ...c.title.slice(0, 2)].filter(Boolean).join(' ')
		return { id: i, title, unit: c.title[2], left,
			width: c.kind === 'hist' ? '11em' : !left ? Math.max(6, (title + c.title[2]).length * 0.62) + 'em' : c.title.some(Boolean) ? '14em' : '2em',
			value: r => r.cells[i] === null ? -Infinity : r.cells[i],
			text: r => (r.estimates[i] ? '~' : '') + cellText[c.kind](r.cells[i]),
			cell: c.kind === 'hist' && (r => el('span.hist', {}, drawnCounts(r.cells[i] || ''))) }
	}).filter(Boolean)
	return report.columns.some(c => c.group) ? [{ ...columns[columns.length - 1], width: '30em' }, ...columns.slice(0, -1)] : columns
}

// Rows of a panel stay together. The file has an estimate as an array of one number.
export function reportRows(report) {
	const groups = new Set(report.rows.map(r => r[0])).size
	return report.rows.map((r, i) => ({ key: i, cells: r.slice(1).map(c => Array.isArray(c) ? c[0] : c), estimates: r.slice(1).map(Array.isArray),
		first: groups > 1 ? groups - r[0] : 0,
		mark: r[1] === '##' ? 'hot' : groups > 1 && i && report.rows[i - 1][0] !== r[0] ? 'begins' : '' }))
}

// Shows one of several panels, which a list chooses by its first line.
function showPanels(page, part, command, panels) {
	const { store, state } = page, id = 'panel-' + command, at = panels[state.by[id]] ? Number(state.by[id]) : 0
	const pick = el('select', { ariaLabel: 'Panel', onchange: e => store.setIn('by', id, e.target.value) },
		...panels.map((rows, i) => el('option', { value: i, selected: i === at }, rows[0][0])))
	part.box.append(panels.length > 1 ? el('div.crumbs', {}, pick) : '', el('div.text', { tabIndex: 0 }, panelNode(panels[at], part.kinds)))
}

// Reports on the whole recording, whatever the filter.
const unfiltered = ['header', 'experiment_list', 'statistics', 'sample_detail', 'lifetimes', 'unwinding']

// That figures are of everything, whatever the filter of the page; and while there is one, what clears it, and the command that
// shows them under it. No command: there is none. A page written with a filter of er_print would need both.
export function wholeNotes({ data, state, store }, said, command) {
	const all = `${said} of ${data.filter ? 'all that the file was written with' : 'the whole recording'}: the filter of this page does not apply. `
	const text = `er_print ${filterCommand(data, state)} -${command}`
	if (!command || !isFiltered(data, state))
		return [hint(all)]
	return [el('span.beyond', {}, all), el('button', { onclick: () => store.set(clearedFilter()) }, 'Clear the filter'), ' ',
		...data.filter ? [] : [el('code', {}, text), ' ', copyButton(() => text), ' ']]
}

export function showReport(page, part, command) {
	const report = page.reports.get(command)
	fill(part.notes)
	fill(part.box)
	if (!report) {
		part.notes.append(el('p.hint', {}, page.reports.knows(command) ? unread(page) : page.data.redacted ?
			'The file was written with --redact, which leaves this report out.' : 'The recording has nothing for this report.'))
		return
	}
	if (report.columns.every(c => !c.title.some(Boolean)) && report.columns.length > 1) {
		part.kinds = report.columns.map(c => c.kind)
		showPanels(page, part, command, panelsOf(report))
	} else if (report.columns.every(c => !c.title.some(Boolean))) {
		part.box.append(el('div.text', { tabIndex: 0 }, el('pre', {}, report.rows.map(r => r[1] === null ? '' : r[1]).join('\n'))))
	} else if (report.rows.length) {
		const id = 'report-' + command
		const table = makeTable(command, reportColumns(report, page.state.errors), {
			sort: sort => page.store.setIn('sort', id, sort),
		})
		part.box.append(table.root)
		table.show(reportRows(report), { sort: page.state.sort[id], keepOrder: !page.state.sort[id] })
	}
	part.notes.append(...wholeNotes(page, `As er_print -${command},`, unfiltered.includes(command) ? '' : command), ...report.notes.map(n => hint(n + ' ')))
}

// A view of one report, or of several: choices are [command, text of the button]; and, of one that is made here and
// obeys the filter, {has(page), show(page, part, command)}. What has no rows has no button.
// redactable: the view of a redacted file says that they were left out.
export function reportsView(id, title, choices, redactable) {
	const isMade = (page, c) => c[2] && c[2].has(page), has = (page, c) => isMade(page, c) || page.reports.has(c[0])
	return {
		id, title,
		has: page => page.data.redacted && redactable || choices.some(c => has(page, c)),
		make(root, page) {
			const part = { notes: el('div.notes'), box: el('div.report') }
			const known = choices.filter(c => has(page, c))
			const shown = known.length ? known : choices
			const choice = makeGroupChoice(page, id, 'Report', shown.map(([value, text]) => ({ value, text })))
			root.append(shown.length > 1 ? choice.root : '', part.notes, part.box)
			return {
				update({ state }) {
					const chosen = shown.find(c => c[0] === state.by[id]) || shown[0]
					choice.update(chosen[0]);
					(isMade(page, chosen) ? chosen[2].show : showReport)(page, part, chosen[0])
				},
			}
		},
	}
}

export const experimentsView = reportsView('experiments', 'Experiments', [['header', 'Recording, losses and cost'],
	['overview', 'Overview'], ['statistics', 'Statistics'], ['sample_detail', 'Samples'], ['experiment_list', 'Experiments'], ['unwinding', 'User stacks'], ['lifetimes', 'Processes that ran']], true)
