// SPDX-License-Identifier: GPL-2.0-or-later
// Counters, data objects and I/O under the page's filter, as er_print lists them. What cannot be added up here
// is a report of er_print.
import { el, fill, hint, unread } from './dom.js'
import { makeTable } from './table.js'
import { addCounts, amount } from './counts.js'
import { eachEvent } from './walk.js'
import { extraColumns, metricForm, metricsOf, pathTimes } from './metrics.js'
import { functionTimes } from './tree.js'
import { panelNode } from './samples.js'
import { reportsView } from './view_reports.js'
import { totalOf } from './numbers.js'

export const MHWC = 7, IO = 19 // kinds of packets
export const sortedBy = (rows, value) => rows.sort((a, b) => value(b) - value(a))

// Columns of the values of rows, one for each metric.
export const valueColumns = ({ data }, metrics) => metrics.map((m, i) => {
	const form = metricForm(data, 'n.' + m.id)
	return { id: m.id, title: m.name, unit: form.unit, width: '10.5em', value: r => r.values ? r.values[i] : -Infinity, text: r => r.values ? form.text(r.values[i]) : '' }
})

// Shows rows in their order, or as the user sorted them.
export function showRows(page, part, command, columns, rows, open) {
	const id = 'report-' + command
	const table = makeTable(command, columns, { open, sort: sort => page.store.setIn('sort', id, sort) })
	fill(part.notes)
	fill(part.box, table.root)
	table.show(rows, { sort: page.state.sort[id], keepOrder: !page.state.sort[id] })
}

export const showUnread = (page, part) => {
	fill(part.notes, hint(unread(page)))
	fill(part.box)
}

// --- functions by counters ---

function showFunctions(page, part, command) {
	const { data, sums } = page, shown = metricsOf(data).filter(m => m.id === 'cpu' || m.counter)
	const times = shown.map(m => functionTimes(data, pathTimes(sums, m.id))), whole = shown.map(m => totalOf(pathTimes(sums, m.id)))
	const row = (key, of, more) => ({ key, ...more, extra: Object.fromEntries(shown.map((m, i) => [m.id, of(i)])) })
	const rows = data.funcs.map((_, f) => row(f, i => ({ excl: times[i].excl[f], incl: times[i].incl[f] }))).filter(r => Object.values(r.extra).some(x => x.incl))
	const columns = [...extraColumns(page, { excl: 'Excl. ', incl: 'Incl. ' }, shown), { id: 'name', title: 'Function', left: true, text: r => r.key < 0 ? '<Total>' : data.funcs[r.key] }]
	const total = row(-1, i => ({ excl: whole[i], incl: whole[i] }), { first: 1 })
	showRows(page, part, command, columns, [total, ...sortedBy(rows, r => r.extra[shown[0].id].excl)])
}

// --- what packets were about: data, files ---

// The metrics that er_print lists for this kind of packets.
export function listedMetrics(data, kind) {
	const all = data.metrics.filter(m => m.kind === kind), some = all.filter(m => m.listed)
	return some.length ? some : all
}

// Rows {key, name, values, parts}. A subject is [data object, offset, number] or [file, its opening].
function subjectRows({ data, state }, subjects, kind, metrics, nameOf) {
	const sums = addCounts(data, state, subjects.length + 1, (chunk, i) => chunk.subject ? chunk.subject[i] : 0)
	const rows = new Map(), add = (to, v) => v.forEach((n, i) => { to.values[i] += n })
	const total = { key: -1, name: '<Total>', values: metrics.map(() => 0), first: Infinity, parts: [] }
	subjects.forEach((s, i) => {
		const values = metrics.map(m => sums[data.metrics.indexOf(m)][i + 1]), [key, name] = nameOf(s)
		if ((s.length > 2) !== (kind === MHWC) || !values.some(Boolean))
			return
		if (!rows.has(key))
			rows.set(key, { key, name, values: metrics.map(() => 0), parts: [] })
		add(rows.get(key), values)
		add(total, values)
		rows.get(key).parts.push({ offset: s[1], values })
	})
	return [total, ...sortedBy([...rows.values()], r => r.values[0])]
}

const partText = at => `  +0x${at.toString(16).padStart(4, '0')} (block ${Math.floor(at / 32)}, +${at % 32})`

// The parts of each object below it, in order of their offsets.
function withParts(rows) {
	return rows.flatMap((r, i) => [r, ...r.parts.filter(p => p.offset >= 0).sort((a, b) => a.offset - b.offset).map(p => ({ ...p, name: partText(p.offset) }))]
		.map((k, n) => ({ ...k, key: `${i} ${n}`, first: i ? rows.length - i : Infinity, mark: !n && i ? 'begins' : '' })))
}

function showSubjects(page, part, command) {
	const { data } = page, report = page.reports.get('subjects'), kind = command.startsWith('data') ? MHWC : IO, metrics = listedMetrics(data, kind)
	if (!report)
		return showUnread(page, part)
	const rows = subjectRows(page, report.rows, kind, metrics, s => kind === MHWC ? [s[2], s[0]] : command === 'iodetail' ? [s[1], s[1]] : [s[0], s[0]])
	return showRows(page, part, command, [...valueColumns(page, metrics), { id: 'name', title: 'Name', left: true, text: r => r.name }],
		command === 'data_layout' ? withParts(rows) : rows)
}

// --- I/O by size ---

const KB = 1024
const sizeRanges = [['0KB - 1KB', KB], ['1KB - 8KB', 8 * KB], ['8KB - 32KB', 32 * KB], ['32KB - 128KB', 128 * KB], ['128KB - 256KB', 256 * KB], ['256KB - 512KB', 512 * KB],
	['512KB - 1000KB', 1000 * KB], ['1000KB - 10MB', 10 * KB ** 2], ['10MB - 100MB', 100 * KB ** 2], ['100MB - 1GB', KB ** 3], ['1GB - 10GB', 10 * KB ** 3], ['10GB - 100GB', 100 * KB ** 3],
	['100GB - 1TB', KB ** 4], ['1TB - 10TB', 10 * KB ** 4], ['10TB and more', Infinity]]

// The index of the range that a size is in; lines [range, {count}] of numbers by range.
export const rangeOf = bytes => sizeRanges.findIndex(r => bytes <= r[1])
export const numberLine = (label, count) => ['  ' + label, { count }]
export const rangeLines = sizes => sizeRanges.flatMap((r, i) => sizes[i] ? [numberLine(r[0], sizes[i])] : [])

// Panels of calls by kind: {calls, bytes, ns, longest, least, most, sizes}.
function ioSums({ data, state }) {
	const zero = () => ({ calls: 0, bytes: 0, ns: 0, longest: 0, least: Infinity, most: 0, sizes: new Uint32Array(sizeRanges.length) })
	const sums = { write: zero(), read: zero(), other: zero(), error: zero() }
	eachEvent(data.counts, state, (chunk, i) => {
		const call = {}, { adds } = data.counts.classes[chunk.cls[i]]
		for (let k = 0; k < adds.length; k += 2)
			call[data.metrics[adds[k]].id] = amount(chunk, i, adds[k + 1])
		const kind = Object.keys(sums).find(name => call[`io${name}cnt`])
		if (!kind)
			return
		const s = sums[kind], bytes = call[`io${kind}bytes`] || 0, ns = call[`io${kind}time`] || 0
		s.calls++
		s.bytes += bytes
		s.ns += ns
		s.longest = Math.max(s.longest, ns)
		s.least = Math.min(s.least, bytes)
		s.most = Math.max(s.most, bytes)
		s.sizes[rangeOf(bytes)]++
	})
	return sums
}

function showIoSizes(page, part) {
	const sums = ioSums(page), time = (label, msec) => ['  ' + label, { msec }]
	const panel = (title, s, longest) => panelNode([[title, null],
		...longest ? [...rangeLines(s.sizes), time(longest, s.longest), numberLine('Smallest bytes', s.calls ? s.least : 0), numberLine('Largest bytes', s.most)] : [],
		time('Total time (msec.)', s.ns), numberLine('Total calls', s.calls), ...longest ? [numberLine('Total bytes', s.bytes)] : []])
	fill(part.notes)
	fill(part.box, el('div.text', { tabIndex: 0 }, panel('Write Statistics', sums.write, 'Longest write (msec.)'), panel('Read Statistics', sums.read, 'Longest read (msec.)'),
		panel('Other I/O Statistics', sums.other), panel('I/O Error Statistics', sums.error)))
}

// --- the view ---

// A choice that is made here if its data are in the file.
export const made = (value, text, has, show) => [value, text, { has, show }]
const hasSubjects = kind => ({ data, reports }) => reports.has('subjects') && data.metrics.some(m => m.kind === kind)

export const countersView = reportsView('counters', 'Counters', [
	made('functions', 'Functions by counters', ({ data }) => data.metrics.some(m => m.counter), showFunctions),
	['lines', 'Lines by counters'], ['pcs', 'PCs by counters'],
	made('data_objects', 'Data objects', hasSubjects(MHWC), showSubjects), made('data_layout', 'Data layout', hasSubjects(MHWC), showSubjects)])

// Those of I/O, which are in one tab with memory.
export const ioChoices = [
	made('ioactivity', 'Files', hasSubjects(IO), showSubjects), made('iodetail', 'Descriptors', hasSubjects(IO), showSubjects),
	made('iostat', 'I/O statistics', ({ data }) => data.metrics.some(m => m.kind === IO), showIoSizes)]
