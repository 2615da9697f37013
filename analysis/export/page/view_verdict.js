// SPDX-License-Identifier: GPL-2.0-or-later
// Where the time went: a bar of states, which add up to the time of the threads, and the
// functions and waits with the most time, each with a link.
import { dot, el } from './dom.js'
import { isFilteredByKind } from './store.js'
import { clippedStates, topWaits } from './range.js'
import { duration, percent, seconds, shorten } from './format.js'
import { exclusiveTimes } from './tree.js'
import { stateColor } from './colors.js'
import { reasonName } from './view_waits.js'
import { makeFilter } from './filter.js'
import { countLost } from './marks.js'

export function makeVerdict(root, page) {
	const bar = el('div.bar', { role: 'img' }), legend = el('div.legend'), what = el('div.what'), tops = el('div.tops')
	root.append(what, bar, legend, tops)
	return {
		update({ data, state, sums }) {
			const inRange = state.from !== null || state.to !== null
			const clipped = inRange && data.whole ? clippedStates(data, state) : null
			const us = clipped ? clipped.us : withSystem(sums.states)
			const total = us.reduce((a, b) => a + b, 0)
			const lack = clipped && clipped.lives !== null && !isFilteredByKind(state) ? Math.max(0, clipped.lives - total) : 0
			// In a range this is an estimate, which may be a little off at the ends.
			const unknown = lack > total / 1000 ? lack : 0
			drawBar(bar, data, us, total + unknown, unknown)
			legend.replaceChildren(...data.states_met.map(s => stateButton(page, s, us[s], total + unknown, clipped)))
			if (unknown)
				legend.append(el('span.hint', {}, `Not known ${seconds(Math.round(unknown))} s`))
			what.replaceChildren(...sentence(data, state, sums, clipped), ...lacks(data, state, sums))
			tops.replaceChildren(...topLinks(page, data, state, sums))
		},
	}
}

// KERNEL_CPU counts as SYSTEM.
function withSystem(states) {
	const us = states.slice()
	us[1] += us[11]
	us[11] = 0
	return us
}

function drawBar(bar, data, us, whole, unknown) {
	const shown = data.states_met.filter(s => us[s])
	bar.replaceChildren(...shown.map(s => {
		const part = el('span', { title: `${data.states[s].uname}: ${seconds(Math.round(us[s]))} s, ${percent(us[s], whole)} %` })
		part.style.flexGrow = us[s]
		part.style.background = stateColor(data.states[s].name)
		return part
	}))
	if (unknown) {
		const part = el('span.unknown', { title: 'Not known' })
		part.style.flexGrow = unknown
		bar.append(part)
	}
	bar.setAttribute('aria-label', shown.map(s => `${data.states[s].uname} ${percent(us[s], whole)} percent`).join(', '))
}

function stateButton(page, s, us, whole, clipped) {
	const { data, state } = page, on = state.states.includes(s)
	const time = (clipped && us && (data.states[s].cpu || !data.complete) ? '~' : '') + seconds(Math.round(us))
	const without = list => list.filter(k => !shownAs(data, s).includes(k)), all = () => [...new Set(data.classes.map(c => c.state))]
	return el('button.state' + (on ? '.on' : '') + (us ? '' : '.none'), {
		title: (on ? 'Show all states' : 'Show only this state') + '; with Ctrl: all but this state', ariaPressed: String(on),
		onclick: e => page.store.set({ states: e.ctrlKey ? without(state.states.length ? state.states : all()) :
			on ? without(state.states) : [...state.states, ...shownAs(data, s)] }),
	}, dot(stateColor(data.states[s].name)), data.states[s].uname, el('b', {}, time), el('small', {}, percent(us, whole) + ' %'))
}

// The states whose time a button shows: KERNEL_CPU is shown as SYSTEM.
function shownAs(data, s) {
	return s === 1 && data.classes.some(c => c.state === 11) ? [1, 11] : [s]
}

function sentence(data, state, sums, clipped) {
	if (!clipped) {
		const n = sums.threads.reduce((a, b) => a + (b ? 1 : 0), 0)
		return [el('b', {}, seconds(sums.total) + ' s'), ' of time in ', el('b', {}, String(n)), n === 1 ? ' thread' : ' threads',
			sums.partial ? ' (still being read)' : '']
	}
	const help = 'The bar and these times are cut at the ends of the range. The views below count each wait in full where it ends, as er_print -from -to does.'
	return [el('b', {}, duration(clipped.length)), ' in ', el('b', {}, String(clipped.nthreads)),
		clipped.nthreads === 1 ? ' thread' : ' threads', el('span.hint', { title: help },
			clipped.exact ? '  exact but for ~, waits cut at the ends of the range' : '  estimated from samples, waits cut at the ends of the range')]
}

// What is missing from the figures of all views: lost records, and stacks without their callers.
function lacks(data, state, sums) {
	const lost = countLost(data, makeFilter(data, state)), ret = []
	const part = (text, title) => ret.push(el('span.bad.lack', { title }, text))
	if (lost)
		part(`${lost} ${lost === 1 ? 'record' : 'records'} lost`,
			'In the hatched seconds of the timeline, by these threads')
	if (sums.cutUs)
		part(`cut stacks: ${seconds(sums.cutUs)} s, ${percent(sums.cutUs, sums.total)} %` +
			(sums.cutN ? `, ${sums.cutN} ${sums.cutN === 1 ? 'event' : 'events'}` : ''),
			'Their outer callers are unknown: <Truncated-stack> and <Stack-unwind-failed>. ' +
			'er_print -unwinding says why.')
	return ret
}

function topLinks(page, data, state, sums) {
	const ret = [], set = patch => page.store.set(patch)
	const excl = exclusiveTimes(data, sums.cpu)
	const best = [...excl.keys()].filter(f => excl[f]).sort((a, b) => excl[b] - excl[a]).slice(0, 3)
	if (best.length)
		ret.push(el('span', {}, 'Most CPU time:', ...best.map(f => el('button.link.top', { title: data.funcs[f],
			onclick: () => set({ selected: f, view: 'flame', metric: 'cpu' }) }, `${shorten(data.funcs[f], 40)} ${seconds(excl[f])}`))))
	const waits = data.whole ? topWaits(data, state, sums) : []
	if (waits.length)
		ret.push(el('span', {}, 'Most time waiting:', ...waits.map(w => el('span.top', {}, ...waitLink(page, data, w)))))
	return ret
}

function waitLink(page, data, w) {
	const c = w.class, who = w.holder || w.waker
	const call = c.call ? ` in ${c.call}` : ''
	const ret = [el('button.link', { title: 'Show only these waits',
		onclick: () => page.store.set({ states: [c.state], reasons: [c.reason], metric: 'wait' }) },
		`${data.states[c.state].uname}: ${reasonName(data, c.reason)}${call} ${seconds(w.us)}`)]
	if (who)
		ret.push(el('button.link', { title: 'Show only this thread',
			onclick: () => page.store.set({ threads: [who.thread], states: [], reasons: [], metric: 'cpu' }) },
			`(${!w.holder ? 'ended by' : data.states[c.state].name === 'WAIT_CPU' ? 'CPU had by' : 'held by'} ${shorten(data.threads[who.thread].name, 36)})`))
	return ret
}
