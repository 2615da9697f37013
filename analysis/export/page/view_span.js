// SPDX-License-Identifier: GPL-2.0-or-later
// The view of spans: er_print's report, and the slowest calls. Details of one call: when and how long, its
// times by state, its arguments, and the way to the slowest call of its name. Texts of calls are not in the page.
import { dot, el, fill, hint } from './dom.js'
import { duration, moment, percent } from './format.js'
import { stateColor } from './colors.js'
import { literal } from './filter.js'
import { closeButton, row, threadLink } from './view_details.js'
import { SPAN_FLAG, spanColor } from './spans.js'
import { makeTable } from './table.js'
import { reportsView, wholeNotes } from './view_reports.js'

const SHOWN = 100 // of the slowest calls

// Nanoseconds as a length of time; short ones with two digits behind microseconds.
function lengthOf(ns) {
	return ns < 1e5 ? (ns / 1000).toFixed(2) + ' µs' : duration(ns / 1000)
}

export function spanLength(call) {
	return lengthOf(call.end - call.begin)
}

// How it began and ended, if it is not whole, and its arguments.
export function spanFacts(call) {
	const facts = []
	const add = (flag, text) => call.flags & flag && facts.push(text)
	add(SPAN_FLAG.threadEnd, 'ended with its thread')
	add(SPAN_FLAG.exec, 'ended by exec')
	add(SPAN_FLAG.left, 'left without return')
	add(SPAN_FLAG.openStart, 'began before the recording')
	add(SPAN_FLAG.openEnd, 'still open at the end')
	if (call.args.length)
		facts.push('arguments ' + call.args.join(', '))
	return facts
}

// If user and system time are not known apart, there is one state for both.
function spanState(data, state) {
	return data.states[state].name === 'LINUX_CPU' ? 'CPU' : data.states[state].uname
}

function slowestOf(data, name) {
	return data.spanCalls.find(c => c.name === name && c.rank === 1)
}

function showSpan(page, call) {
	const begin = call.begin / 1000, length = (call.end - call.begin) / 1000
	page.goTo(call.thread, begin)
	page.timeline.zoom(begin - length, begin + 2 * length)
	page.store.set({ span: call.index })
}

export function aboutSpan(page, call) {
	const { data } = page, length = call.end - call.begin, slowest = slowestOf(data, call.name), name = data.spans.names[call.name]
	const times = call.times.map(([state, ns]) => el('tr', {}, el('th.left', {}, dot(stateColor(data.states[state].name)), spanState(data, state)),
		el('td', {}, lengthOf(ns)), el('td', {}, percent(ns, length))))
	const link = (text, to) => el('button', { onclick: () => showSpan(page, to) }, text)
	return [
		closeButton(page, { span: null }),
		el('h2', {}, dot(spanColor(data, call.name)), `Span ${name}`),
		el('dl', {}, ...row('Thread', threadLink(page, call.thread, call.begin / 1000)), ...row('From', moment(call.begin / 1000) + ' s'),
			...row('Length', spanLength(call)), ...row('Slowest of its name', `number ${call.rank}`),
			...spanFacts(call).flatMap(fact => row('Also', fact))),
		el('table.panel', {}, el('tbody', {}, ...times)),
		el('p', {}, link('Show it', call), ' ', slowest && slowest !== call ? link('The slowest', slowest) : '', ' ',
			el('button', { onclick: () => page.store.set({ threads: [call.thread],
				from: Math.floor(call.begin / 1000), to: Math.ceil(call.end / 1000) }) }, 'Only this time'), ' ',
			data.spanSets ? el('button', { title: 'What happened in the slowest hundredth of the calls of this name', onclick: () =>
				page.store.set({ expr: `SPAN == "${literal(name)}" && SPANPCT >= 99` }) }, 'Only slow calls') : ''),
	]
}

const lengthNs = call => call.end - call.begin

// The state in which the call was longest, and its share: "Sleep 85 %".
function mostState(data, call) {
	const [state, ns] = call.times.reduce((a, b) => b[1] > a[1] ? b : a, [null, 0])
	return state === null ? '' : `${spanState(data, state)} ${Math.round(100 * ns / lengthNs(call))} %`
}

function callColumns(data) {
	const column = (id, title, width, left, value, text) => ({ id, title, unit: '', width, left, value, text: text || value })
	return [
		column('length', 'Length', '6em', false, r => lengthNs(r.call), r => spanLength(r.call)),
		column('most', 'Mostly', '12em', true, r => mostState(data, r.call)),
		column('span', 'Span', '12em', true, r => data.spans.names[r.call.name]),
		column('rank', 'N', '5em', false, r => r.call.rank, r => String(r.call.rank)),
		column('from', 'From (s)', '8em', false, r => r.call.begin, r => moment(r.call.begin / 1000)),
		column('thread', 'Thread', '14em', true, r => data.threads[r.call.thread].name),
	]
}

// The slowest recorded calls of all names. The choice of one shows its details and its place in the timeline.
const slowestCalls = {
	has: page => page.data.spanCalls.length > 0,
	show(page, part, command) {
		const { data, state, store } = page, id = 'report-' + command
		const slowest = [...data.spanCalls].sort((a, b) => lengthNs(b) - lengthNs(a) || a.index - b.index).slice(0, SHOWN)
		part.calls = part.calls || makeTable('Slowest calls', callColumns(data), {
			pick: r => r.call.index === page.state.span || showSpan(page, r.call),
			sort: sort => store.setIn('sort', id, sort),
		})
		if (part.calls.root.parentNode !== part.box)
			fill(part.box, part.calls.root)
		part.calls.show(slowest.map(call => ({ key: call.index, call })), { sort: state.sort[id], keepOrder: !state.sort[id] })
		fill(part.notes, ...wholeNotes(page, `The ${slowest.length} slowest`, ''),
			hint('Choose one to see its states, and its waits and stacks in the timeline.'))
	},
}

export const spansView = reportsView('spans', 'Spans', [['spans', 'Spans'], ['calls', 'Slowest calls', slowestCalls]])
