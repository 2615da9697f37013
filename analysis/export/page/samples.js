// SPDX-License-Identifier: GPL-2.0-or-later
// Samples: the times between two sample points, at which the recorder noted what was used.
import { el } from './dom.js'
import { cellShown } from './view_reports.js'
import { addToList, firstWhere } from './numbers.js'

// The sample points as samples {exp, number, begin, end, from, label}, by experiment and time; from and
// label are the labels of both ends. The first point of a recording ends no sample: its begin is null.
export function samplesOf(data) {
	if (!data.sampleList) {
		const points = data.samples || []
		data.sampleList = points.map(([exp, number, end, label], i) => {
			const [, , begin, from] = i && points[i - 1][0] === exp ? points[i - 1] : [exp, 0, null, '']
			return { exp, number, begin, end, from, label }
		})
	}
	return data.sampleList
}

// The number of the sample that a time is in, -1: none. As er_print's SAMPLE has it, the first
// point belongs to what was before it, and each further one to the sample that it ends.
export function sampleAt(data, exp, time) {
	if (!data.samplesByExp) {
		data.samplesByExp = new Map()
		for (const s of samplesOf(data))
			addToList(data.samplesByExp, s.exp, s)
	}
	const list = data.samplesByExp.get(exp) || []
	const at = firstWhere(0, list.length, k => time < list[k].end || (k && time === list[k].end))
	return at < list.length ? list[at].number : -1
}

// --- panels: reports without headings, in groups of lines ---

// The panels of a report, each a list of rows.
export function panelsOf(report) {
	const panels = new Map()
	for (const r of report.rows)
		addToList(panels, r[0], r.slice(1))
	return [...panels.values()]
}

// Cells of a column without a heading are times, unless the file says what they are.
export function panelNode(rows, kinds = ['text', 'time', 'percent']) {
	return el('table.panel', {}, el('tbody', {}, ...rows.map(r => el('tr', {}, ...r.map((c, i) =>
		el(i ? 'td' : 'th.left', {}, i ? cellShown(c, kinds[i]) : c || ''))))))
}

// What was used in a sample, from the report sample_detail; null: the file does not say.
export function samplePanel(page, sample) {
	const report = page.reports.get('sample_detail')
	const ends = rows => rows.some(r => r[0] === 'End Time (sec.):' && Math.floor(r[1] / 1000) === sample.end)
	return report && panelsOf(report).find(rows => rows[0][0] === `Sample Number: ${sample.number}` && ends(rows)) || null
}
