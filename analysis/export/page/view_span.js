// SPDX-License-Identifier: GPL-2.0-or-later
// Details of one call of a span: when and how long, its times by state, its arguments, and the way to
// the slowest call of its name. Texts of calls are not in the page.
import { dot, el } from './dom.js'
import { duration, moment, percent } from './format.js'
import { stateColor } from './colors.js'
import { literal } from './filter.js'
import { closeButton, row, threadLink } from './view_details.js'
import { SPAN_FLAG, spanColor } from './spans.js'

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
