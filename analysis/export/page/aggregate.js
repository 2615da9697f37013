// SPDX-License-Identifier: GPL-2.0-or-later
// Adds up the events that pass a filter. All views show these sums. Times are microseconds;
// they are whole, and exact below 2^53.
import { NSTATES } from './data.js'
import { isFiltered } from './store.js'
import { eventFacts, makeFilter, pathMask } from './filter.js'

function emptySums(data) {
	return {
		cpu: new Float64Array(data.npaths), wait: new Float64Array(data.npaths),
		threadStates: new Float64Array(data.nthreads * NSTATES),
		classUs: new Float64Array(data.classes.length), classN: new Uint32Array(data.classes.length),
		n: 0, cutN: 0, partial: false,
	}
}

// Returns the sums of the events that pass the state's filter. `partial` is true if they are too
// small because some events are not decoded yet.
export function aggregate(data, state) {
	const sums = emptySums(data)
	if (!isFiltered(state))
		addIndex(data, sums)
	if (isFiltered(state) || data.whole) {
		const only = isFiltered(state) ? sums : emptySums(data)
		const filter = makeFilter(data, state)
		for (const chunk of data.chunks)
			addChunkSums(data, chunk, filter, only)
		sums.classUs = only.classUs
		sums.classN = only.classN
		sums.n = only.n
		sums.cutN = only.cutN
	}
	sums.partial = isFiltered(state) && !data.whole
	finish(data, sums)
	sums.ofState = stateSums(data, state)
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

// Returns the index of the first event of a chunk that ended at a time or later.
export function firstAt(chunk, time) {
	let lo = 0, hi = chunk.n
	while (lo < hi) {
		const mid = (lo + hi) >> 1
		if (chunk.base + chunk.time[mid] < time)
			lo = mid + 1
		else
			hi = mid
	}
	return lo
}

function addChunkSums(data, chunk, filter, sums) {
	const lo = firstAt(chunk, filter.from), hi = firstAt(chunk, filter.to)
	const { thread, cls, path, weight, cpu, merged } = chunk
	const { cpu: cpuSums, wait: waitSums, threadStates, classUs, classN } = sums
	const isWait = data.isWait, stateOf = Uint8Array.from(data.classes, c => c.state)
	const threadOk = filter.thread, classOk = filter.cls, pathOk = filter.path, cpus = filter.cpus, other = filter.other
	const cut = cutPaths(data)
	let n = 0
	for (let i = lo; i < hi; i++) {
		const c = cls[i], t = thread[i], p = path[i]
		if ((threadOk && !threadOk[t]) || (classOk && !classOk[c]) || (pathOk && !pathOk[p]) ||
		    (cpus && !cpus.has(cpu[i])) || (other && !other(eventFacts(chunk, i))))
			continue
		const w = weight[i]
		if (isWait[c])
			waitSums[p] += w
		else
			cpuSums[p] += w
		threadStates[t * NSTATES + stateOf[c]] += w
		classUs[c] += w
		const count = merged && merged[i] || 1
		classN[c] += count
		sums.cutN += cut[p] * count
		n += count
	}
	sums.n += n
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
	sums.total = sums.states.reduce((a, b) => a + b, 0)
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
