// SPDX-License-Identifier: GPL-2.0-or-later
// Details of one interval: why the thread waited, which thread had what it waited for, which
// thread ended the wait, and the stacks. Each has a link.
import { el } from './dom.js'
import { FLAG, eventById, pathFuncs } from './data.js'
import { duration, moment, seconds } from './format.js'
import { stateColor } from './colors.js'
import { reasonName } from './view_waits.js'

export function makeDetails(root, page) {
	return {
		update({ data, state }) {
			const e = state.event === null ? null : eventById(data, state.event)
			page.event = e
			root.hidden = !e
			if (e)
				root.replaceChildren(...about(page, e))
		},
	}
}

function threadLink(page, index, time) {
	const t = page.data.threads[index]
	return el('button.link', { type: 'button', title: 'Go there', onclick: () => page.goTo(index, time) }, t.name)
}

function row(name, ...values) {
	return [el('dt', {}, name), el('dd', {}, ...values)]
}

function about(page, e) {
	const { data } = page, c = e.class
	const dot = el('i.dot')
	dot.style.background = stateColor(data.states[c.state].name)
	const rows = [
		...row('Thread', threadLink(page, e.thread, e.begin)),
		...(c.flags & FLAG.rest ? [] : row('From', moment(e.begin) + ' s' + (c.flags & FLAG.openStart ? ', began before the recording' : ''))),
		...row('To', moment(e.end) + ' s' + (c.flags & FLAG.openEnd ? ', the recording ended' : '')),
		...(c.flags & FLAG.rest ? [] : row('Length', duration(e.end - e.begin))),
		...(Math.abs(e.weight - (e.end - e.begin)) > 1 ? row('Represents', `${seconds(e.weight)} s: an estimate from a sample`) : []),
		...(e.wait ? row('Reason', reasonName(data, c.reason) + (c.call ? `, in ${c.call}` : '')) : []),
		...(e.cpu >= 0 ? row('CPU', String(e.cpu)) : []),
		...(e.holder >= 0 ? row(data.states[c.state].name === 'WAIT_CPU' ? 'CPU had by' : 'Held by', threadLink(page, e.holder, (e.begin + e.end) / 2)) : []),
		...(c.flags & FLAG.irq ? row('Ended by', c.flags & FLAG.timer ? 'a timer' : 'an interrupt') :
			e.waker >= 0 ? row('Ended by', threadLink(page, e.waker, e.end)) : []),
	]
	return [
		el('button.close', { type: 'button', ariaLabel: 'Close', onclick: () => page.store.set({ event: null }) }, '×'),
		el('h2', {}, dot, data.states[c.state].uname, c.flags & FLAG.rest ? ', between samples' : ''),
		el('dl', {}, ...rows),
		el('h3', {}, e.wait ? 'Where it waited' : 'What ran'),
		stack(page, e.path),
		e.wakerPath >= 0 ? el('h3', {}, 'Where it was woken') : null,
		e.wakerPath >= 0 ? stack(page, e.wakerPath) : null,
	].filter(Boolean)
}

// A stack, leaf first, as in er_print.
function stack(page, path) {
	const funcs = pathFuncs(page.data, path).reverse()
	return el('ol.stack', {}, ...funcs.map(f => el('li', {}, el('button.link', { type: 'button', title: page.data.funcs[f],
		onclick: () => page.store.set({ selected: f }) }, page.data.funcs[f]))))
}
