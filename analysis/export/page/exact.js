// SPDX-License-Identifier: GPL-2.0-or-later
// The states of the filter's threads in its range, from the recorder's snapshots: exact in whole seconds, an estimate
// with its error where the range begins or ends within one.
import { NSTATES } from './data.js'
import { isFilteredByKind, makeFilter } from './filter.js'
import { KINDS, NKINDS, NSUMMED, USER, addSeconds, askedExps, divideRange, hasSnapshots, vagueTime } from './snapshots.js'
import { addEventsToParts, divideTimes, makePart } from './estimate.js'
import { addToList, totalOf } from './numbers.js'

// Why snapshots do not say what the filter's threads did; '': they do.
export function whyEstimated(data, state) {
	const { snaps } = data
	if (!snaps)
		return 'no exact states of seconds were recorded'
	if (snaps.why === 'size')
		return 'the exact states of seconds had no room in the file: see --page-size'
	if (snaps.why || isFilteredByKind(data, state))
		return 'the exact states of seconds are those of whole threads, and the filter leaves a part of their time'
	const { thread } = makeFilter(data, state), met = data.threads.filter((t, i) => t.n && (!thread || thread[i]))
	if (snaps.named && met.some(t => t.renamed))
		return 'the file has only a part of a thread that had several names'
	return met.some(t => !snaps.exps.some(e => e.exp === t.exp)) ? 'a recording has no exact states of seconds' : ''
}

// Returns {ns, variance, exact, cpu, cpuVariance, split, nthreads, took, vague, from, to}; null: snapshots cannot say. ns and variance
// are by state; cpu is the time of all states on a CPU, whose division is an estimate unless `split`. perThread has the
// sampled times by thread and state, and squares the sum of the samples' squares.
export function exactStates(data, state, { perThread, squares }) {
	if (!hasSnapshots(data) || !data.whole || whyEstimated(data, state))
		return null
	const { snaps } = data, { thread } = makeFilter(data, state)
	const passes = o => !thread || (snaps.own[o] && thread[snaps.own[o] - 1]) || (snaps.fold[o] && thread[snaps.fold[o] - 1])
	const sums = new Float64Array(snaps.own.length * NKINDS), inParts = []
	const ret = { ns: new Float64Array(NSTATES), variance: new Float64Array(NSTATES), exact: true, cpu: 0, cpuVariance: 0, split: true,
		nthreads: 0, took: 0, vague: 0, from: null, to: null }
	for (const e of askedExps(data, state)) {
		const range = divideRange(snaps, e, state)
		addSeconds(e, range.first, range.last, sums)
		ret.vague += vagueTime(e, range.first, range.last, passes)
		ret.took = Math.max(ret.took, e.took)
		ret.split = ret.split && e.split
		if (range.last > range.first || range.parts.length) {
			ret.from = ret.from === null ? e.edges[range.first] : Math.min(ret.from, e.edges[range.first])
			ret.to = ret.to === null ? e.edges[range.last] : Math.max(ret.to, e.edges[range.last])
		}
		inParts.push(...range.parts.map(p => ({ e, ...p, part: makePart(data, e.edges[p.second] / 1000, e.edges[p.second + 1] / 1000, p.from / 1000, p.to / 1000) })))
	}
	ret.exact = !inParts.length
	ret.split = ret.split && ret.exact
	addParts(data, inParts, passes, sums, ret)
	addOwners(data, passes, sums, perThread, ret)
	divideCpu(data, ret, squares)
	return ret
}

// --- parts of seconds ---

// Threads wait for each other and share CPUs, so their errors are not independent. That of a sum is at most the sum of theirs.

function addParts(data, inParts, passes, sums, ret) {
	const { snaps } = data, byExp = new Map()
	for (const { e, part } of inParts)
		addToList(byExp, e.exp, part)
	addEventsToParts(data, data.threads.map(t => byExp.get(t.exp) || null))
	for (const { e, second, part } of inParts) {
		const exact = new Float64Array(snaps.own.length * NKINDS)
		addSeconds(e, second, second + 1, exact)
		for (const [thread, owners] of ownersByThread(data)) {
			addPart(data, part, thread, owners.filter(passes), exact, sums, ret)
		}
	}
	ret.cpuVariance **= 2
	ret.variance = ret.variance.map(error => error ** 2)
}

// Several owners have the thread with the same index, if its TID came again. Those without a thread are alone.
function ownersByThread(data) {
	const { snaps } = data
	if (!snaps.byThread) {
		snaps.byThread = new Map()
		snaps.own.forEach((own, o) => {
			const key = own ? own - 1 : -1 - o
			addToList(snaps.byThread, key, o)
		})
	}
	return snaps.byThread
}

function addPart(data, part, thread, owners, exact, sums, ret) {
	const times = new Float64Array(NSUMMED)
	for (const o of owners) {
		for (let k = 0; k < NSUMMED; k++)
			times[k] += exact[o * NKINDS + k] / 1000
	}
	if (!times.some(v => v))
		return
	const { us, variance } = divideTimes(part, thread, times, lifeInside(data, part, thread, times))
	us.forEach((v, k) => { sums[owners[0] * NKINDS + k] += v * 1000 })
	const error = k => Math.sqrt(Math.max(0, variance[k])) * 1000
	ret.cpuVariance += error(0)
	for (let k = 1; k < NSUMMED; k++)
		ret.variance[stateOf(data, k)] += error(k)
}

// How long a thread lived inside a part; null: its life in the second is not that of the list of threads.
function lifeInside(data, part, thread, times) {
	const SLACK = 1000, total = totalOf(times), whole = part.end - part.begin
	if (Math.abs(total - whole) < SLACK)
		return (part.to - part.from) * total / whole
	const t = data.threads[thread], within = (from, to) => Math.max(0, Math.min(to, t.end) - Math.max(from, t.begin))
	return t && t.end && Math.abs(within(part.begin, part.end) - total) < SLACK ? within(part.from, part.to) : null
}

// --- sums ---

function stateOf(data, kind) {
	return data.states.findIndex(s => s.name === KINDS[kind])
}

function addOwners(data, passes, sums, perThread, ret) {
	const { snaps } = data, seen = new Set(), states = KINDS.map((_, k) => stateOf(data, k))
	snaps.own.forEach((own, o) => {
		const mine = sums.subarray(o * NKINDS, (o + 1) * NKINDS)
		if (!passes(o) || !mine.some(v => v))
			return
		seen.add(own || (snaps.fold[o] ? 'fold ' + snaps.fold[o] : 'owner ' + o))
		for (let k = 1; k < NSUMMED; k++)
			ret.ns[states[k]] += mine[k]
		ret.cpu += mine[0]
		addCpu(data, mine, own || snaps.fold[o], perThread, ret)
	})
	ret.nthreads = seen.size
}

// Divides the CPU time of a thread as its samples in the range are divided, else as all its samples are.
function addCpu(data, mine, thread1, perThread, ret) {
	if (ret.split) {
		ret.ns[stateOf(data, USER)] += mine[USER]
		ret.ns[stateOf(data, SYSTEM)] += mine[0] - mine[USER]
		return
	}
	const shares = new Float64Array(NSTATES), on = data.states.map((s, k) => s.cpu ? k : -1).filter(k => k >= 0)
	if (thread1)
		on.forEach(k => { shares[k] = perThread[(thread1 - 1) * NSTATES + k] })
	if (thread1 && !shares.some(v => v > 0))
		on.forEach(k => { shares[k] = Math.max(0, data.threads[thread1 - 1].us[k] || 0) })
	const sum = totalOf(shares)
	on.forEach(k => { ret.ns[k] += sum > 0 ? mine[0] * shares[k] / sum : k ? 0 : mine[0] })
}

// KERNEL_CPU counts as SYSTEM. A share p of the CPU time has the variance of a share of the samples (variance.js).
function divideCpu(data, ret, squares) {
	ret.ns[1] += ret.ns[11]
	ret.ns[11] = 0
	data.states.forEach((s, k) => {
		const p = ret.cpu > 0 ? Math.min(1, Math.max(0, ret.ns[k] / ret.cpu)) : 0
		if (s.cpu)
			ret.variance[k] = ret.split ? 0 : ret.cpuVariance * p * p + squares * 1e6 * p * (1 - p)
	})
}
