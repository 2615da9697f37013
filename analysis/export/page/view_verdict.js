// SPDX-License-Identifier: GPL-2.0-or-later
// Where the time went: a bar of states, which add up to the time of the threads, and the
// functions and waits with the most time, each with a link.
import { dot, el, fill, hint } from './dom.js'
import { filterKeys, hasRange } from './store.js'
import { clippedErrors, clippedStates, topWaits } from './range.js'
import { exactStates, whyEstimated } from './exact.js'
import { hasSnapshots, wholeSeconds } from './snapshots.js'
import { duration, moment, percent, seconds, secondsOfNs, shorten } from './format.js'
import { exclusiveTimes } from './tree.js'
import { stateColor } from './colors.js'
import { reasonName } from './view_waits.js'
import { chosenRange, dividesStates, isFilteredByKind, makeFilter, wholeRanges } from './filter.js'
import { countLost } from './marks.js'
import { clockless } from './lanes.js'
import { totalOf } from './numbers.js'

export function makeVerdict(root, page) {
	const bar = el('div.bar', { role: 'img' }), legend = el('div.legend'), what = el('div.what'), tops = el('div.tops')
	root.append(what, bar, legend, tops)
	return {
		update({ data, state, sums }) {
			const v = verdictOf(page), total = totalOf(v.ns)
			const lack = v.lives !== null && !isFilteredByKind(data, state) ? Math.max(0, v.lives - total) : 0
			// In a range this is an estimate, which may be a little off at the ends.
			const unknown = lack > total / 1000 ? lack : 0
			const met = data.state_order.filter(s => data.states_met.includes(s) || v.ns[s])
			drawBar(bar, data, met, v.ns, total + unknown, unknown)
			fill(legend, ...cpuSum(data, v, total + unknown), ...met.map(s => stateButton(page, s, v, total + unknown)))
			if (unknown)
				legend.append(hint(`Not known ${secondsOfNs(Math.round(unknown))} s`))
			fill(what, ...sentence(page, v, total), ...lacks(data, state, sums))
			fill(tops, ...topLinks(page, v))
		},
	}
}

// The times by state in ns, and what is known of them: {ns, mark(state): estimated, error(state) in ns, lives,
// nthreads}; `seconds` is what snapshots say (exact.js), `clipped` what events say of a range (range.js).
function verdictOf(page) {
	const { data, state, sums } = page, inRange = hasRange(state)
	const clipped = data.whole && (inRange || hasSnapshots(data)) ? clippedOnce(page) : null
	const seconds = clipped && exactStates(data, state, clipped)
	if (seconds && (seconds.exact || !clipped.exact)) {
		const error = s => Math.sqrt(Math.max(0, seconds.variance[s]))
		return { seconds, clipped: null, ns: seconds.ns, lives: null, nthreads: seconds.nthreads, error,
			mark: s => data.states[s].cpu ? !seconds.split : !seconds.exact && error(s) > 0 }
	}
	if (!inRange || !clipped) {
		const divided = dividesStates(data, state)
		return { ns: withSystem(sums.states).map(us => us * 1000), lives: null, nthreads: sums.threads.reduce((n, us) => n + (us ? 1 : 0), 0),
			mark: s => divided && (data.states[s].cpu || !data.complete), error: () => 0 }
	}
	const errors = clipped.exact ? null : clipped.errors || (clipped.errors = clippedErrors(data, state, clipped))
	return { clipped, ns: clipped.us.map(us => us * 1000), lives: clipped.lives === null ? null : clipped.lives * 1000, nthreads: clipped.nthreads,
		mark: s => data.states[s].cpu || !data.complete || errors && errors[s] > 0, error: s => errors ? errors[s] * 1000 : 0 }
}

// It reads all events of the range, so only once for each filter.
function clippedOnce(page) {
	const { data, state } = page, key = JSON.stringify(filterKeys.map(k => state[k]))
	if (page.clippedFor !== key) {
		page.clipped = clippedStates(data, state)
		page.clippedFor = key
	}
	return page.clipped
}

// KERNEL_CPU counts as SYSTEM.
function withSystem(states) {
	const us = states.slice()
	us[1] += us[11]
	us[11] = 0
	return us
}

function drawBar(bar, data, met, ns, whole, unknown) {
	const shown = met.filter(s => ns[s] > 0)
	fill(bar, ...shown.map(s => {
		const part = el('span', { title: `${data.states[s].uname}: ${secondsOfNs(Math.round(ns[s]))} s, ${percentOfNs(ns[s], whole)} %` })
		part.style.flexGrow = ns[s] / 1000
		part.style.background = stateColor(data.states[s].name)
		return part
	}))
	if (unknown) {
		const part = el('span.unknown', { title: 'Not known' })
		part.style.flexGrow = unknown / 1000
		bar.append(part)
	}
	bar.setAttribute('aria-label', shown.map(s => `${data.states[s].uname} ${percentOfNs(ns[s], whole)} percent`).join(', '))
}

const percentOfNs = (ns, whole) => percent(Math.round(ns) / 1000, Math.round(whole) / 1000)

// A time with its mark and its standard error, which is rounded up.
function timeText(ns, marked, error) {
	return (marked && ns ? '~' : '') + secondsOfNs(Math.round(ns)) + (marked && error > 0 ? ` ±${(Math.ceil(error / 1e6) / 1e3).toFixed(3)}` : '')
}

// Snapshots know the CPU time, but not which part of it was user time.
function cpuSum(data, { seconds }, whole) {
	if (!seconds)
		return []
	return [el('span.cpusum', { title: 'User and system time together' }, 'CPU', el('b', {}, timeText(seconds.cpu, !seconds.exact && seconds.cpuVariance > 0, Math.sqrt(seconds.cpuVariance))),
		el('small', {}, percentOfNs(seconds.cpu, whole) + ' %'))]
}

function stateButton(page, s, v, whole) {
	const { data, state } = page, on = state.states.includes(s), ns = v.ns[s]
	const without = list => list.filter(k => !shownAs(data, s).includes(k)), all = () => [...new Set(data.classes.map(c => c.state))]
	return el('button.state' + (on ? '.on' : '') + (ns ? '' : '.none'), {
		title: (on ? 'Show all states' : 'Show only this state') + '; with Ctrl: all but this state', ariaPressed: String(on),
		onclick: e => page.store.set({ states: e.ctrlKey ? without(state.states.length ? state.states : all()) :
			on ? without(state.states) : [...state.states, ...shownAs(data, s)] }),
	}, dot(stateColor(data.states[s].name)), data.states[s].uname, el('b', {}, timeText(ns, v.mark(s), v.error(s))), el('small', {}, percentOfNs(ns, whole) + ' %'))
}

// The states whose time a button shows: KERNEL_CPU is shown as SYSTEM.
function shownAs(data, s) {
	return s === 1 && data.classes.some(c => c.state === 11) ? [1, 11] : [s]
}

function sentence(page, v, total) {
	if (clockless(page.data))
		return ['The recording has no clock data, or the filter of the file leaves none: there are no times by state. Marks in the timeline are calls and events.']
	const { data, state, sums } = page, threads = [' in ', el('b', {}, String(v.nthreads)), v.nthreads === 1 ? ' thread' : ' threads']
	if (!v.clipped && !hasRange(state))
		return [el('b', {}, timeText(total, v.ns.some((ns, s) => ns && v.mark(s)), 0) + ' s'), ' of time', ...threads, sums.partial ? ' (still being read)' : '', ...exactness(page, v.seconds)]
	const [from, to] = chosenRange(page)
	if (v.seconds)
		return [el('b', {}, duration(to - from)), ...threads, ...exactness(page, v.seconds)]
	const why = data.whole && !(v.clipped && v.clipped.exact) ? whyEstimated(data, state) : ''
	const help = 'The bar and these times are cut at the ends of the range.' +
		(why ? ` Estimated, because ${why}.` : '')
	return [el('b', {}, duration(to - from)), ...threads, el('span.hint', { title: help },
		v.clipped && v.clipped.exact ? '  exact but for ~, waits cut at the ends of the range' : '  estimated from samples, waits cut at the ends of the range' + (why ? `: ${why}` : ''))]
}

// What of a verdict is exact, and a button that makes all of it exact.
function exactness(page, seconds) {
	if (!seconds)
		return []
	const { exact, from, to, took, vague } = seconds, at = ns => moment(Math.floor(ns / 1000)) + ' s', whole = wholeSeconds(page.data, page.state)
	const text = exact ? `  exact, from ${at(from)} to ${at(to)}` : (to > from ? `  exact from ${at(from)} to ${at(to)}, beside it ` : '  within a second ') + 'estimated; ± is the standard error'
	const help = 'Between two usage samples the states of each thread are known to the nanosecond, as in er_print -exact_states. A thread that left or ' +
		`entered a CPU during such a sample counts up to that moment, at most ${(took / 1e6).toFixed(3)} ms later.` + (seconds.split ? '' : ' Which part of the CPU time is user time is an estimate (~).')
	return [el('span.hint', { title: help }, text),
		vague ? el('span.bad.lack', {}, `${secondsOfNs(vague)} s may belong to the time before or after`) : null,
		!exact && whole && sameRange(wholeRanges(page.data, whole), whole) ? el('button.whole', { title: 'Move the ends of the range to the nearest usage samples: then all of it is exact. Key e',
			onclick: () => page.store.set(whole) }, 'Whole seconds') : null].filter(Boolean)
}

// A coarse timeline moves the ends elsewhere.
const sameRange = (a, b) => a.from === b.from && a.to === b.to

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

// What the lines add up: of a range the parts of events that are inside. Where packets say more than the bar has,
// as in a sample of waits, the lines are smaller by as much as it is.
function lineTimes({ data, state, sums, clipped: range }, v) {
	const clipped = data.whole && hasRange(state) ? range : null
	if (!clipped)
		return { cpu: sums.cpu, classUs: sums.classUs, clipped, fit: () => 1 }
	const kindOf = s => data.states[s].cpu ? -1 : s, most = clipped.length * clipped.nthreads, had = new Map(), shown = new Map()
	const add = (map, s, us) => map.set(kindOf(s), (map.get(kindOf(s)) || 0) + us)
	data.classes.forEach((c, i) => c.state !== null && add(had, c.state, clipped.classUs[i]))
	v.ns.forEach((ns, s) => add(shown, s, ns / 1000))
	const fit = s => Math.min(1, Math.min(shown.get(kindOf(s)), most) / had.get(kindOf(s)) || 0)
	return { cpu: clipped.cpuPaths.map(us => us * fit(0)), classUs: clipped.classUs, clipped, fit }
}

function topLinks(page, v) {
	const { data, state, sums } = page, ret = [], set = patch => page.store.set(patch), { cpu, classUs, clipped, fit } = lineTimes(page, v)
	const excl = exclusiveTimes(data, cpu)
	const best = [...excl.keys()].filter(f => excl[f]).sort((a, b) => excl[b] - excl[a]).slice(0, 3)
	if (best.length)
		ret.push(el('span', {}, 'Most CPU time:', ...best.map(f => el('button.link.top', { title: data.funcs[f],
			onclick: () => set({ selected: f, view: 'flame', metric: 'cpu' }) }, `${shorten(data.funcs[f], 40)} ${seconds(excl[f])}`))))
	// They are a walk over all events, and are the same until the filter changes.
	if (data.whole && !sums.topWaits)
		sums.topWaits = topWaits(data, state, classUs, clipped)
	const waits = sums.topWaits || []
	if (waits.length)
		ret.push(el('span', {}, 'Most time waiting:', ...waits.map(w => el('span.top', {}, ...waitLink(page, data, w, fit(w.class.state))))))
	return ret
}

// Who held what was waited for, and who ended the waits if that is another thread.
function waitLink(page, data, w, scale) {
	const c = w.class, forCpu = data.states[c.state].name === 'WAIT_CPU', call = c.call ? ` in ${c.call}` : ''
	const blame = [[w.holder, forCpu ? 'CPU had by' : 'held by']]
	if (w.waker && !(w.holder && (forCpu || w.holder.thread === w.waker.thread)))
		blame.push([w.waker, 'ended by'])
	return [el('button.link', { title: 'Show only these waits',
		onclick: () => page.store.set({ states: [c.state], reasons: [c.reason], metric: 'wait' }) },
		`${data.states[c.state].uname}: ${reasonName(data, c.reason)}${call} ${seconds(w.us * scale)}`),
	...blame.filter(([who]) => who).map(([who, how]) => el('button.link', { title: 'Show only this thread',
		onclick: () => page.store.set({ threads: [who.thread], states: [], reasons: [], metric: 'cpu' }) },
		`(${seconds(who.us * scale)} ${how} ${shorten(data.threads[who.thread].name, 36)})`))]
}
