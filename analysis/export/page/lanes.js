// SPDX-License-Identifier: GPL-2.0-or-later
// The lanes of the timeline: a list of them, and the data that each one shows.
import { firstAt } from './aggregate.js'
import { isFilteredByKind, makeFilter } from './filter.js'
import { firstWhere } from './numbers.js'

// Returns the lanes from top to bottom: {kind: 'group' | 'cpu' | 'thread' | 'spans', name, …}. A closed
// group has only its heading. The only thread of a process has no heading above it: its lane has the
// name of the process, and `key`. A range of time hides no lanes, so that threads that slept through
// it are shown.
export function makeLanes(data, state, closed, sums) {
	const lanes = [], cpus = cpuNumbers(data), { thread } = makeFilter(data, state), met = clockless(data) || !isFilteredByKind(data, state)
	if (cpus.length && state.lanes !== 'threads') {
		lanes.push({ kind: 'group', key: 'cpus', name: 'CPUs', count: cpus.length, threads: null })
		if (!closed.has('cpus'))
			cpus.forEach(cpu => lanes.push({ kind: 'cpu', cpu, name: 'CPU ' + cpu }))
	}
	for (const p of state.lanes === 'cpus' ? [] : data.processes) {
		const threads = p.threads.filter(t => (!thread || thread[t]) && (met || sums.threads[t]))
		if (!threads.length)
			continue
		if (p.pid && p.threads.length === 1) {
			lanes.push({ kind: 'thread', thread: threads[0], key: p.key, name: p.name }, ...spanLane(data, threads[0]))
			continue
		}
		lanes.push({ kind: 'group', key: p.key, name: p.name, count: threads.length, process: p, threads })
		if (!closed.has(p.key))
			threads.forEach(t => lanes.push({ kind: 'thread', thread: t, name: threadLabel(data.threads[t]) }, ...spanLane(data, t)))
	}
	return lanes
}

// The lane of a thread's calls of spans; none if it has no calls. Its label has their names.
function spanLane(data, thread) {
	const calls = data.spanLanes.get(thread)
	if (!calls)
		return []
	const names = [...new Set(calls.map(c => c.name))].map(n => data.spans.names[n])
	return [{ kind: 'spans', thread, name: (names.length > 1 ? 'spans ' : 'span ') + names.join(', ') }]
}

// The label of a thread's lane. The heading above it names the process.
function threadLabel(t) {
	return t.pid ? `${t.comm || 'thread'} ${t.tid}` : `${t.comm || 'kernel thread'} ${t.tid}`
}

// Whether there are only events without a state.
export const clockless = data => !data.nevents

// The CPUs that have samples.
export function cpuNumbers(data) {
	const seen = new Set()
	for (const chunk of (clockless(data) && data.counts || data).chunks)
		samplesByCpu(data, chunk).forEach((_, cpu) => cpu >= 0 && seen.add(cpu))
	return [...seen].sort((a, b) => a - b)
}

// Returns the clock samples of a chunk by CPU, as indexes in order of time.
function samplesByCpu(data, chunk) {
	if (chunk.byCpu)
		return chunk.byCpu
	const { n, cls, cpu } = chunk, counts = new Map(), filled = new Map()
	for (let i = 0; i < n; i++) {
		if (!data.isWait[cls[i]])
			counts.set(cpu[i], (counts.get(cpu[i]) || 0) + 1)
	}
	chunk.byCpu = new Map([...counts].map(([number, count]) => [number, new Uint16Array(count)]))
	for (let i = 0; i < n; i++) {
		if (data.isWait[cls[i]])
			continue
		const at = filled.get(cpu[i]) || 0
		chunk.byCpu.get(cpu[i])[at] = i
		filled.set(cpu[i], at + 1)
	}
	return chunk.byCpu
}

// Whether all events of a chunk end before a time.
const isOver = (chunk, time) => chunk.n > 0 && chunk.base + chunk.time[chunk.n - 1] < time

// Calls fn(chunk, i) for the samples of a CPU that end at `from` or later, until fn returns true.
export function eachOfCpu(data, cpu, from, fn) {
	for (const chunk of data.chunks) {
		const list = samplesByCpu(data, chunk).get(cpu)
		if (!list || isOver(chunk, from))
			continue
		const first = firstAt(chunk, from)
		for (let at = firstWhere(0, list.length, k => list[k] >= first); at < list.length; at++) {
			if (fn(chunk, list[at]))
				return
		}
	}
}

// Calls fn(chunk, i) for the events of a thread that end after `from`, until fn returns true.
export function eachOfThread(data, thread, from, fn) {
	for (const chunk of data.chunks) {
		if (isOver(chunk, from))
			continue
		const { threadFirst, threadOrder } = chunk, end = threadFirst[thread + 1]
		for (let at = firstWhere(threadFirst[thread], end, k => chunk.base + chunk.time[threadOrder[k]] > from); at < end; at++) {
			if (fn(chunk, threadOrder[at]))
				return
		}
	}
}

// The length of the longest event. A search for the events at a time may end that much after it.
function longestOf(data) {
	if (data.longestFor === data.chunks.length)
		return data.longest
	let longest = 0
	for (const chunk of data.chunks) {
		for (let i = 0; i < chunk.n; i++)
			longest = Math.max(longest, chunk.weight[i], chunk.length[i])
	}
	data.longestFor = data.chunks.length
	return data.longest = longest
}

// Returns the sample of a CPU that covers a time, or the first one after it.
export function cpuEventNear(data, cpu, time) {
	let found = null
	eachOfCpu(data, cpu, time, (chunk, i) => { found = { chunk, i }; return true })
	return found
}

// Returns the clock sample of a lane that covers a time; null: there is none near.
export function sampleOfLane(data, lane, time) {
	let left = 64, found = null
	const each = lane.kind === 'cpu' ? eachOfCpu : eachOfThread
	each(data, lane.kind === 'cpu' ? lane.cpu : lane.thread, time, (chunk, i) => {
		if (!data.isWait[chunk.cls[i]] && chunk.base + chunk.time[i] - Math.max(chunk.weight[i], chunk.length[i]) <= time)
			found = { chunk, i }
		return found || --left < 0
	})
	return found
}

// Returns the event of a thread at a time: the shortest one that covers it, otherwise the first
// one after it.
export function eventNear(data, thread, time) {
	let best = null, bestSpread = Infinity, next = null
	eachOfThread(data, thread, time, (chunk, i) => {
		const end = chunk.base + chunk.time[i]
		if (data.classes[chunk.cls[i]].flags & 32)
			return false
		next = next || { chunk, i }
		const length = chunk.length[i]
		if (end - length <= time && length < bestSpread) {
			best = { chunk, i }
			bestSpread = length
		}
		return end > time + longestOf(data)
	})
	return best || next
}

// Returns the event of a lane, of either kind, at a time or after it.
export function laneEventNear(data, lane, time) {
	return lane.kind === 'cpu' ? cpuEventNear(data, lane.cpu, time) : eventNear(data, lane.thread, time)
}

// Returns the last event of a lane that ends at a time or before it; null: there is none.
export function laneEventBefore(data, lane, time) {
	for (const chunk of [...data.chunks].reverse()) {
		const list = lane.kind === 'cpu' ? samplesByCpu(data, chunk).get(lane.cpu) || [] :
			chunk.threadOrder.subarray(chunk.threadFirst[lane.thread], chunk.threadFirst[lane.thread + 1])
		for (let at = firstWhere(0, list.length, k => chunk.base + chunk.time[list[k]] > time); at-- > 0;) {
			if (!(data.classes[chunk.cls[list[at]]].flags & 32))
				return { chunk, i: list[at] }
		}
	}
	return null
}
