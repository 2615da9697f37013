// SPDX-License-Identifier: GPL-2.0-or-later
// Details of what is selected. Of an interval: why the thread waited, which thread had what it waited
// for, which thread ended the wait, and the stacks, with links. Of a sample: what was used in it. Of a
// function: its times under the filter, and where it is from.
import { dot, el, fill } from './dom.js'
import { FLAG, NSTATES, eventById, pathFuncs } from './data.js'
import { duration, moment, percent, seconds } from './format.js'
import { pathMask } from './filter.js'
import { panelNode, samplePanel, samplesOf } from './samples.js'
import { isCount, metricForm, metricTotal, metricsOf, pathTimes } from './metrics.js'
import { eachEvent } from './walk.js'
import { funcColor, stateColor } from './colors.js'
import { reasonName } from './view_waits.js'
import { aboutSpan } from './view_span.js'

export function makeDetails(root, page) {
	return {
		update({ data, state }) {
			const e = state.event === null ? null : eventById(data, state.event)
			page.event = e
			const what = e ? about(page, e) : data.spanCalls[state.span] ? aboutSpan(page, data.spanCalls[state.span]) : samplesOf(data)[state.sample] ? aboutSample(page, samplesOf(data)[state.sample]) :
				state.selected !== null && data.whole ? aboutFunction(page, state.selected) : []
			root.hidden = !what.length
			fill(root, ...what)
		},
	}
}

export function threadLink(page, index, time) {
	const t = page.data.threads[index]
	return el('button.link', { title: 'Go there', onclick: () => page.goTo(index, time) }, t.name)
}

export function row(name, ...values) {
	return [el('dt', {}, name), el('dd', {}, ...values)]
}

export function closeButton(page, patch) {
	return el('button.close', { ariaLabel: 'Close', onclick: () => page.store.set(patch) }, '×')
}

function aboutSample(page, s) {
	const { data } = page, rows = samplePanel(page, s)
	return [
		closeButton(page, { sample: null }),
		el('h2', {}, `Sample ${s.number}`, s.label ? ': ' + s.label : ''),
		data.experiments.length > 1 ? el('p', {}, data.experiments.find(e => e.id === s.exp).name) : null,
		rows ? panelNode(rows.slice(1)) : el('dl', {}, ...(s.begin === null ? [] : row('From', moment(s.begin) + ' s')), ...row('To', moment(s.end) + ' s')),
		s.begin === null ? null : el('button', { onclick: () => page.store.set({ from: s.begin, to: s.end }) }, 'Only this time'),
	].filter(Boolean)
}

// The times of all paths under the filter by state: arrays by path. All events are read, so only once for each filter.
function pathStates({ data, state, sums }) {
	if (sums.pathStates)
		return sums.pathStates
	const ret = sums.pathStates = [], shown = data.classes.map(c => c.state === 11 ? 1 : c.state)
	eachEvent(data, state, (chunk, i) => {
		const s = shown[chunk.cls[i]]
		if (!ret[s])
			ret[s] = new Float64Array(data.npaths)
		ret[s][chunk.path[i]] += chunk.weight[i]
	})
	return ret
}

// The times of a function by state, as er_print -fsingle.
function functionStates(page, func) {
	const { tree, pathNode } = page.data, inside = pathMask(page.data, func)
	const ret = { excl: new Float64Array(NSTATES), incl: new Float64Array(NSTATES) }
	pathStates(page).forEach((us, s) => us.forEach((v, path) => {
		if (!inside[path])
			return
		ret.incl[s] += v
		if (tree.func[pathNode[path]] === func)
			ret.excl[s] += v
	}))
	return ret
}

// Rows of the metrics that are no times by state.
function countRows({ data, sums }, func) {
	const inside = pathMask(data, func), leaf = data.pathNode.map(node => data.tree.func[node] === func ? 1 : 0)
	return metricsOf(data).filter(m => isCount(m.id) && !m.ratio).map(m => {
		const form = metricForm(data, m.id), values = pathTimes(sums, m.id), whole = metricTotal(sums, m.id)
		const [excl, incl] = [leaf, inside].map(mask => values.reduce((sum, v, p) => sum + (mask[p] && v), 0))
		return incl ? el('tr', {}, el('th.left', {}, m.name), ...[excl, incl].flatMap(v => [el('td', {}, form.text(v)), el('td', {}, form.share(v, whole))])) : null
	})
}

function aboutFunction(page, func) {
	const { data, state, sums } = page, us = functionStates(page, func)
	const sum = (a, keep) => a.reduce((all, v, s) => all + (keep(data.states[s]) ? v : 0), 0)
	const line = (name, keep) => {
		const [excl, incl, whole] = [us.excl, us.incl, sums.states].map(a => sum(a, keep))
		return incl ? el('tr', {}, el('th.left', {}, name), ...[excl, incl].flatMap(v => [el('td', {}, seconds(v)), el('td', {}, percent(v, whole))])) : null
	}
	const head = el('tr', {}, el('th.left', {}, ''), el('th', { colSpan: 2 }, 'Excl. sec., %'), el('th', { colSpan: 2 }, 'Incl. sec., %'))
	const known = page.reports.get('fsummary')
	const [size, address, source, aliases] = known ? known.rows[func] : []
	const object = data.objects[data.func_objects[func]]
	const only = state.func === func
	return [
		closeButton(page, { selected: null }),
		el('h2', {}, dot(funcColor(data, func)), data.funcs[func]),
		el('table.panel', {}, el('thead', {}, head), el('tbody', {}, ...[line('Thread time', () => true), line('CPU time', s => s.cpu), line('Waits', s => !s.cpu),
			...data.states_met.map(s => line(data.states[s].uname, d => d === data.states[s] || s === 1 && d === data.states[11])), ...countRows(page, func)].filter(Boolean))),
		el('dl', {}, ...row('Load object', object[1] || object[0]), ...(source ? row('Source', source) : []),
			...(size ? row('Size', `${size} bytes`) : []), ...(size ? row('Address', address) : []),
			...[...new Set(data.func_names[func] || [])].flatMap(n => row('Other name', n)), ...(aliases ? row('Aliases', aliases) : [])),
		el('p', {}, el('button', { onclick: () => page.store.set({ func: only ? null : func }) }, only ? 'Any stacks' : 'Only stacks with it'), ' ',
			el('button', { onclick: () => page.store.set({ view: 'callers' }) }, 'Callers'), ' ',
			el('button', { onclick: () => page.store.set({ view: 'source' }) }, 'Source')),
	]
}

function about(page, e) {
	const { data } = page, c = e.class
	const rows = [
		...row('Thread', threadLink(page, e.thread, e.begin)),
		...(e.merged ? row('Events', `${e.merged}, together ${seconds(e.weight)} s: the timeline is coarse here`) : []),
		...(c.flags & FLAG.rest ? [] : row('From', moment(e.begin) + ' s' + (c.flags & FLAG.continued && !(c.flags & FLAG.more) ? ', began in an earlier segment' : c.flags & FLAG.openStart ? ', began before the recording' : ''))),
		...row('To', moment(e.end) + ' s' + (c.flags & FLAG.goesOn ? ', goes on in the next segment' : c.flags & FLAG.openEnd ? ', the recording ended' : '')),
		...(c.flags & FLAG.rest || e.merged ? [] : row('Length', duration(e.end - e.begin))),
		...(!e.merged && Math.abs(e.weight - (e.end - e.begin)) > 1 ? row('Represents', `${seconds(e.weight)} s: an estimate from a sample`) : []),
		...(e.wait ? row('Reason', reasonName(data, c.reason) + (c.call ? `, in ${c.call}` : '')) : []),
		...(e.cpu >= 0 ? row('CPU', String(e.cpu)) : []),
		...(e.holder >= 0 ? row(data.states[c.state].name === 'WAIT_CPU' ? 'CPU had by' : 'Held by', threadLink(page, e.holder, (e.begin + e.end) / 2)) : []),
		...(c.flags & FLAG.irq ? row('Ended by', c.flags & FLAG.timer ? 'a timer' : 'an interrupt') :
			e.waker >= 0 ? row('Ended by', threadLink(page, e.waker, e.end)) : []),
	]
	return [
		closeButton(page, { event: null }),
		el('h2', {}, dot(stateColor(data.states[c.state].name)), data.states[c.state].uname, c.flags & FLAG.rest ? ', between samples' : ''),
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
	return el('ol.stack', {}, ...funcs.map(f => el('li', {}, dot(funcColor(page.data, f)), el('button.link', { title: page.data.funcs[f],
		onclick: () => page.store.set({ selected: f }) }, page.data.funcs[f]))))
}
