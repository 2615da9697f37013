// SPDX-License-Identifier: GPL-2.0-or-later
// Adds up the events that pass a filter. All views show these sums. Times are microseconds;
// they are whole, and exact below 2^53.
import { NSTATES } from './data.js'
import { countSums } from './counts.js'
import { eventMasks, isFiltered, makeFilter, pathMask } from './filter.js'
import { firstWhere, totalOf } from './numbers.js'

// byPath has the CPU times of all paths, then their waits: cpu and wait are its halves.
function emptySums(data) {
	const byPath = new Float64Array(2 * data.npaths)
	return {
		byPath, cpu: byPath.subarray(0, data.npaths), wait: byPath.subarray(data.npaths),
		threadStates: new Float64Array(data.nthreads * NSTATES),
		classUs: new Float64Array(data.classes.length), classN: new Uint32Array(data.classes.length),
		n: 0, cutN: 0, partial: false,
	}
}

// Returns the sums of the events that pass the state's filter. `partial` is true if they are too
// small because some events, or objects that the filter needs, are not decoded yet.
export function aggregate(data, state) {
	const sums = emptySums(data)
	if (!isFiltered(data, state))
		addIndex(data, sums)
	if (isFiltered(data, state))
		addEvents(data, state, sums)
	else if (data.whole)
		Object.assign(sums, classesOfAll(data, state))
	finish(data, sums)
	sums.ofState = stateSums(data, state)
	sums.ofCount = countSums(data, state, data.npaths, (chunk, i) => chunk.path[i])
	return sums
}

// Takes the sums from the index, which has them for all events together.
function addIndex(data, sums) {
	sums.cpu.set(data.pathCpu)
	sums.wait.set(data.pathWait)
	data.threads.forEach((t, i) => {
		for (const [state, us] of Object.entries(t.us))
			sums.threadStates[i * NSTATES + Number(state)] += us
	})
	sums.n = data.nevents
}

// What the index does not have: sums by class for all events, made once.
function classesOfAll(data, state) {
	if (!data.classesOfAll) {
		const { classUs, classN, n, cutN } = addEvents(data, state, emptySums(data))
		data.classesOfAll = { classUs, classN, n, cutN }
	}
	return data.classesOfAll
}

// Returns the index of the first event of a chunk that ended at a time or later.
export function firstAt(chunk, time) {
	return firstWhere(0, chunk.n, i => chunk.base + chunk.time[i] >= time)
}

// Calls fn(from, to) for pieces of a range of events. A browser compiles a function that is often called, and
// keeps what it compiled; one long loop begins slow each time.
export function inPieces(lo, hi, fn) {
	for (let at = lo, to; at < hi; at = to) {
		to = Math.min(hi, (at | 4095) + 1)
		fn(at, to)
	}
}

// Adds the events that pass to the sums, and returns them.
function addEvents(data, state, sums) {
	const filter = makeFilter(data, state)
	const tables = { ...eventMasks(data, filter), stateOf: Uint8Array.from(data.classes, c => c.state), cut: cutPaths(data),
		half: Uint32Array.from(data.isWait, wait => wait ? data.npaths : 0) }
	sums.partial = !data.whole || filter.unread
	for (const chunk of data.chunks)
		inPieces(firstAt(chunk, filter.from), firstAt(chunk, filter.to), (from, to) => addPiece(chunk, tables, sums, from, to))
	sums.n = sums.classN.reduce((a, n) => a + n, 0)
	return sums
}

// This loop takes most of the time of a filter, so it has no branch but for the filter, and the class is asked first:
// it decides most.
function addPiece(chunk, tables, sums, from, to) {
	const { thread, cls, path, weight, merged } = chunk
	const { byPath, threadStates, classUs, classN } = sums, { stateOf, cut, half, threadOk, classOk, pathOk, rest } = tables
	let cutN = 0
	for (let i = from; i < to; i++) {
		const c = cls[i]
		if (!classOk[c])
			continue
		const t = thread[i], p = path[i]
		if (!(threadOk[t] & pathOk[p]) || rest && !rest(chunk, i))
			continue
		const w = weight[i], count = merged && merged[i] || 1
		byPath[p + half[c]] += w
		threadStates[t * NSTATES + stateOf[c]] += w
		classUs[c] += w
		classN[c] += count
		cutN += cut[p] * count
	}
	sums.cutN += cutN
}

// Marks the paths whose outer callers are unknown.
function cutPaths(data) {
	if (!data.cutPaths) {
		const masks = ['<Truncated-stack>', '<Stack-unwind-failed>'].map(name => data.funcs.indexOf(name))
			.filter(f => f >= 0).map(f => pathMask(data, f))
		data.cutPaths = new Uint8Array(data.npaths).map((_, p) => masks.some(m => m[p]) ? 1 : 0)
	}
	return data.cutPaths
}

function finish(data, sums) {
	sums.states = new Float64Array(NSTATES)
	sums.threads = new Float64Array(data.nthreads)
	for (let t = 0; t < data.nthreads; t++) {
		for (let s = 0; s < NSTATES; s++) {
			const us = sums.threadStates[t * NSTATES + s]
			sums.states[s] += us
			sums.threads[t] += us
		}
	}
	sums.total = totalOf(sums.states)
	sums.totalCpu = sums.states.reduce((a, us, s) => a + (data.states[s].cpu ? us : 0), 0)
	sums.totalWait = sums.total - sums.totalCpu
	sums.cutUs = cutPaths(data).reduce((us, cut, p) => us + (cut ? sums.cpu[p] + sums.wait[p] : 0), 0)
}

// The same filter for one state only. KERNEL_CPU counts as SYSTEM.
export function ofOneState(state, s) {
	const wanted = s === 1 ? [1, 11] : [s]
	const states = wanted.filter(k => !state.states.length || state.states.includes(k))
	return { ...state, states: states.length ? states : [-1] }
}

// The sums of one state under the same filter, made when they are first asked for.
function stateSums(data, state) {
	const known = new Map()
	return s => {
		if (!known.has(s))
			known.set(s, aggregate(data, ofOneState(state, s)))
		return known.get(s)
	}
}
