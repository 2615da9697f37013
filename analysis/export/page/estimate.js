// SPDX-License-Identifier: GPL-2.0-or-later
// How much of a second, whose exact states are known, belongs to a part of it. Recorded waits and CPU
// samples say where most of the time was. The remainder is divided like the waits that were sampled in the second. docs/howto-accuracy.md
// says how the error is found.
import { FLAG } from './data.js'
import { firstAt } from './aggregate.js'
import { KINDS, NSUMMED } from './snapshots.js'
import { totalOf } from './numbers.js'

const shared = (a, b, from, to) => Math.max(0, Math.min(b, to) - Math.max(a, from))

// The kind of time of each class; -1: it has no place in time.
function kindsOf(data) {
	return Int8Array.from(data.classes, c => c.flags & FLAG.rest ? -1 : data.states[c.state].cpu ? 0 : KINDS.indexOf(data.states[c.state].name))
}

// A part of a second {begin, end, from, to} in microseconds, with what events say by thread and kind: time
// that was surely inside or outside, and for sampled waits what they represent beside their own length, and how many they are.
export function makePart(data, begin, end, from, to) {
	const sums = () => new Float64Array(data.nthreads * NSUMMED)
	return { begin, end, from, to, inside: sums(), outside: sums(), restIn: sums(), restOut: sums(), n: sums() }
}

// Adds all events to the parts of their experiments. partsOf has the parts of each thread; null: none.
export function addEventsToParts(data, partsOf) {
	const all = [...new Set(partsOf.flatMap(parts => parts || []))], kinds = kindsOf(data)
	if (!all.length)
		return
	// A sample represents time since the thread's sample before, which may be in an earlier second.
	const early = Math.min(...all.map(p => p.begin)) - 1e6, late = Math.max(...all.map(p => p.end))
	const sampled = new Float64Array(data.nthreads).fill(-Infinity)
	for (const chunk of data.chunks) {
		const { thread, cls, base, time, weight, length, merged } = chunk
		for (let i = firstAt(chunk, early); i < chunk.n; i++) {
			const t = thread[i], kind = kinds[cls[i]], end = base + time[i], isMerged = merged && merged[i] > 0
			if (kind < 0 || !partsOf[t])
				continue
			const begin = kind || isMerged ? end - length[i] : sampled[t]
			if (!kind)
				sampled[t] = end
			if (begin >= late)
				continue
			const at = t * NSUMMED + kind
			for (const part of partsOf[t]) {
				if (begin < part.end && end >= part.begin)
					addToPart(part, at, { begin, end, weight: weight[i], kind, merged: isMerged ? merged[i] : 0 })
			}
		}
	}
}

function addToPart(part, at, { begin, end, weight, kind, merged }) {
	const length = end - begin, inside = shared(begin, end, part.from, part.to)
	const outside = shared(begin, end, part.begin, part.end) - inside
	if (!kind && !merged) {
		// Of the time since the sample before, so much at least was on a CPU here.
		part.inside[at] += Math.max(0, weight - (length - inside))
		part.outside[at] += Math.max(0, weight - (length - outside))
		return
	}
	const own = merged ? 0 : 1, rest = merged ? weight : Math.max(0, weight - length), within = end >= part.from && end < part.to ? 1 : 0
	part.inside[at] += own * inside
	part.outside[at] += own * outside
	if (rest < 1)
		return
	const shareIn = length > 0 ? inside / length : within, shareOut = length > 0 ? outside / length : 1 - within
	part.restIn[at] += rest * shareIn
	part.restOut[at] += rest * shareOut
	part.n[at] += (merged || 1) * (shareIn + shareOut)
}

// Divides the exact times of a thread in the second. `life`: how long it lived inside, null: not known. Returns the times inside and
// their variances.
export function divideTimes(part, thread, exact, life) {
	const us = new Float64Array(NSUMMED), variance = new Float64Array(NSUMMED), least = new Float64Array(NSUMMED), most = new Float64Array(NSUMMED)
	const total = totalOf(exact)
	const expected = Math.min(1, Math.max(0, life !== null && total > 0 ? life / total : (part.to - part.from) / (part.end - part.begin)))
	for (let k = 0; k < NSUMMED; k++) {
		const get = name => thread < 0 ? 0 : part[name][thread * NSUMMED + k]
		const inside = get('inside'), outside = get('outside'), restIn = get('restIn'), rest = restIn + get('restOut'), n = get('n')
		// Clocks differ by microseconds, so events may have a little more than there was.
		const known = inside + outside, scale = known && known > exact[k] ? Math.max(0, exact[k]) / known : 1
		const unknown = Math.max(0, exact[k] - known * scale)
		const one = n > 0 ? rest / n : 1, share = (restIn + expected * one) / (rest + one)
		least[k] = inside * scale
		most[k] = least[k] + unknown
		us[k] = least[k] + unknown * share
		variance[k] = unknown ** 2 * share * (1 - share) / (n + 2)
	}
	if (life !== null)
		fitToLife(us, variance, least, most, life)
	return { us, variance }
}

// The times add up to the thread's life, so each takes a part of the difference that is in proportion to its variance.
function fitToLife(us, variance, least, most, life) {
	const whole = totalOf(variance)
	if (!whole)
		return
	for (let turn = 0; turn < 4; turn++) {
		const lack = life - totalOf(us), free = variance.map((v, k) => lack > 0 ? us[k] < most[k] ? v : 0 : us[k] > least[k] ? v : 0)
		const sum = totalOf(free)
		if (Math.abs(lack) < 1e-3 || !sum)
			break
		for (let k = 0; k < us.length; k++)
			us[k] = Math.min(most[k], Math.max(least[k], us[k] + lack * free[k] / sum))
	}
	for (let k = 0; k < variance.length; k++)
		variance[k] -= variance[k] ** 2 / whole
}
