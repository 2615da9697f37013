// SPDX-License-Identifier: GPL-2.0-or-later
// What happened within a range of time. Here an event that is partly outside the range counts in
// part. In the sums of reports, by contrast, the whole event counts if it ends within the range.
import { FLAG, NSTATES, waitRow } from './data.js'
import { firstAt, inPieces } from './aggregate.js'
import { chosenRange, eventMasks, isFilteredByKind, makeFilter } from './filter.js'
import { countLost } from './marks.js'
import { varianceBySampling } from './variance.js'
import { eachEvent } from './walk.js'
import { totalOf } from './numbers.js'

// Returns the time in each state between state.from and state.to, and how long these threads were
// alive in it (null: not recorded); perThread has the times by thread and state, squares the sum of the squares of
// CPU samples, and variance that of each state by sampling. If all waits were recorded, the rest of a thread's life is its CPU time: `exact`
// says so. Only how much of it was user time is an estimate. classUs and cpuPaths have the times by class, and of CPU samples by path;
// strays are the waits [chunk, i] that are partly inside, but end outside.
export function clippedStates(data, state) {
	const filter = makeFilter(data, { ...state, from: null, to: null }), masks = eventMasks(data, filter)
	const [from, to] = chosenRange({ data, state })
	const us = new Float64Array(NSTATES), per = new Float64Array(data.nthreads * NSTATES), met = new Uint8Array(data.nthreads)
	const stateOf = Int8Array.from(data.classes, c => c.flags & FLAG.rest ? -1 : c.state), addTo = { data, from, to, per, met, stateOf, squares: 0, variance: new Float64Array(NSTATES), cpu: Uint8Array.from(data.states, s => s.cpu ? 1 : 0),
		classUs: new Float64Array(data.classes.length), cpuPaths: new Float64Array(data.npaths), strays: [] }
	for (const chunk of data.chunks) {
		const { before, after } = reachOf(chunk, stateOf)
		inPieces(firstAt(chunk, from - after), firstAt(chunk, to + before), (lo, hi) => addClipped(chunk, masks, addTo, lo, hi))
	}
	const known = data.threads.every((t, i) => !met[i] || t.end > 0)
	const exact = data.complete && known && !isFilteredByKind(data, state) && !countLost(data, { ...filter, from, to })
	let lives = 0, nthreads = 0
	data.threads.forEach((t, i) => {
		if (!met[i])
			return
		const mine = per.subarray(i * NSTATES, (i + 1) * NSTATES), life = Math.max(0, Math.min(to, t.end) - Math.max(from, t.begin))
		const cpu = mine.reduce((sum, v, s) => sum + (data.states[s].cpu ? v : 0), 0), waits = totalOf(mine) - cpu
		const scale = exact && cpu ? Math.max(0, life - waits) / cpu : 1
		nthreads++
		lives += life
		mine.forEach((v, s) => { us[s] += data.states[s].cpu ? v * scale : v })
	})
	us[1] += us[11]
	us[11] = 0
	addTo.variance[1] += addTo.variance[11]
	const { squares, variance, classUs, cpuPaths, strays } = addTo
	return { us, nthreads, exact, lives: known ? lives : null, from, to, length: to - from, perThread: per, squares, variance, classUs, cpuPaths, strays }
}

// The standard errors by state of such times that are not exact. Remainders are not in them, since their place in time is not
// known: their share of the thread's life may be missing.
export function clippedErrors(data, state, { from, to, variance }) {
	const missing = new Float64Array(NSTATES)
	eachEvent(data, { ...state, from: null, to: null }, (chunk, i) => {
		const { begin, end } = data.threads[chunk.thread[i]].end ? data.threads[chunk.thread[i]] : data
		missing[data.classes[chunk.cls[i]].state] += chunk.weight[i] * Math.max(0, Math.min(to, end) - Math.max(from, begin)) / (end - begin || 1)
	}, Uint8Array.from(data.classes, c => c.flags & FLAG.rest ? 1 : 0))
	return variance.map((v, s) => Math.sqrt(v + missing[s] ** 2))
}

// How far the time that an event represents goes on after its end. A sampled wait stands for others before and
// after it. Those of a merged one are in its coarse range.
const spill = (chunk, i) => chunk.merged && chunk.merged[i] ? 0 : Math.max(0, Math.floor((chunk.weight[i] - chunk.length[i]) / 2))

const spreadOf = (chunk, i) => chunk.merged && chunk.merged[i] && chunk.length[i] || Math.max(chunk.weight[i], chunk.length[i])

// The time of event i that is in a range; -1: it does not reach into the range.
function clippedPart(chunk, i, from, to) {
	const spread = spreadOf(chunk, i), end = chunk.base + chunk.time[i] + spill(chunk, i), begin = end - spread
	if (begin >= to || end < from || spread <= 0)
		return -1
	return begin >= from && end <= to ? chunk.weight[i] : chunk.weight[i] * (Math.min(end, to) - Math.max(begin, from)) / spread
}

// How far the events of a chunk reach before and after their ends, at most.
function reachOf(chunk, stateOf) {
	if (!chunk.reach) {
		chunk.reach = { before: 0, after: 0 }
		inPieces(0, chunk.n, (lo, hi) => addReach(chunk, stateOf, lo, hi))
	}
	return chunk.reach
}

function addReach(chunk, stateOf, lo, hi) {
	let { before, after } = chunk.reach
	for (let i = lo; i < hi; i++) {
		if (stateOf[chunk.cls[i]] < 0)
			continue
		const on = spill(chunk, i), back = spreadOf(chunk, i) - on
		before = back > before ? back : before
		after = on > after ? on : after
	}
	chunk.reach = { before, after }
}

function addClipped(chunk, masks, addTo, lo, hi) {
	const { from, to, per, met, stateOf, classUs, cpuPaths, strays } = addTo, { classOk, threadOk, pathOk, rest } = masks
	const { thread, cls, path, base, time } = chunk
	for (let i = lo; i < hi; i++) {
		const c = cls[i], s = stateOf[c]
		const part = s < 0 ? -1 : clippedPart(chunk, i, from, to)
		if (part < 0 || !classOk[c] || !(threadOk[thread[i]] & pathOk[path[i]]) || rest && !rest(chunk, i))
			continue
		per[thread[i] * NSTATES + s] += part
		classUs[c] += part
		met[thread[i]] = 1
		addTo.variance[s] += addTo.cpu[s] ? part ** 2 : part && varianceBySampling(addTo.data, chunk, i) * (part / chunk.weight[i]) ** 2
		if (addTo.cpu[s]) {
			addTo.squares += part ** 2
			cpuPaths[path[i]] += part
		} else if (base + time[i] < from || base + time[i] >= to) {
			strays.push([chunk, i])
		}
	}
}

// Returns the three kinds of waits (state, reason, system call) with the most time, the largest
// first. Each has the holder and the waker with the largest part of it. Idle waits are left out. classUs has the times by class. Of a
// range, `clipped` is what clippedStates() says, and counts the parts inside; null: events count in whole.
export function topWaits(data, state, classUs, clipped) {
	const kinds = new Map(), key = c => `${c.state} ${c.reason} ${c.call || ''}`
	data.classes.forEach((c, i) => {
		if (!data.isWait[i] || !classUs[i] || isIdle(data, c))
			return
		const kind = kinds.get(key(c)) || { class: c, us: 0, holders: null, wakers: null }
		kind.us += classUs[i]
		kinds.set(key(c), kind)
	})
	const top = [...kinds.values()].sort((a, b) => b.us - a.us).slice(0, 3)
	const byClass = data.classes.map((c, i) => classUs[i] && top.find(k => key(k.class) === key(c)) || null)
	addBlame(data, state, byClass, clipped)
	for (const kind of top) {
		kind.holder = largest(kind.holders)
		kind.waker = largest(kind.wakers)
	}
	return top
}

// Whether a thread waits for nobody. A language runtime sleeps, and waits for work, in state USER_LOCK.
export function atRest(data, c) {
	const reason = data.reasons[c.reason]
	return !!reason && ['TIMER', 'NO_WORK', 'RUNTIME_IDLE'].includes(reason.name)
}

// Whether waits of this class do not hold a program up: a timer, or a worker without work.
export function isIdle(data, c) {
	const reason = data.reasons[c.reason]
	return atRest(data, c) || data.states[c.state].name === 'SLEEP' && (!reason || ['NONE', 'POLL', 'CHILD', 'SIGNAL'].includes(reason.name))
}

// Adds up by thread who held what these kinds of waits waited for, and who ended them.
function addBlame(data, state, byClass, clipped) {
	const byThread = () => new Float64Array(data.nthreads + 1) // [0]: no thread
	for (const kind of byClass) {
		if (kind && !kind.holders)
			Object.assign(kind, { holders: byThread(), wakers: byThread() })
	}
	const add = (chunk, i, row) => {
		const cls = chunk.cls[i], kind = byClass[cls], us = clipped ? clippedPart(chunk, i, clipped.from, clipped.to) : chunk.weight[i]
		kind.holders[chunk.holder[row]] += us
		if (!(data.classes[cls].flags & FLAG.irq))
			kind.wakers[chunk.waker[row]] += us
	}
	eachEvent(data, state, add, Uint8Array.from(byClass, kind => kind ? 1 : 0))
	for (const [chunk, i] of clipped ? clipped.strays : []) {
		if (byClass[chunk.cls[i]])
			add(chunk, i, waitRow(data, chunk, i))
	}
}

// Returns the thread with the most time; null: none has any.
function largest(us) {
	let best = 0
	for (let k = 1; k < us.length; k++) {
		if (us[k] && (!best || us[k] > us[best]))
			best = k
	}
	return best ? { thread: best - 1, us: us[best] } : null
}
