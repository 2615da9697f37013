// SPDX-License-Identifier: GPL-2.0-or-later
// Sums of waits: time, number, mean and longest length, as analysis/metrics/waitcount.h and waitstat.h have them.
import { FLAG, NSTATES } from './data.js'
import { varianceBySampling } from './variance.js'

// us; n: recorded waits, of divided ones their first parts; variance: of us. Where numbers are known, waits: their number,
// of which `counted` microseconds are; longest: nanoseconds; estimates: packets by the index of the factor by which they count.
export const noWaits = more => ({ us: 0, n: 0, variance: 0, waits: 0, counted: 0, longest: 0, estimates: new Map(), ...more })

export function mergeWaits(to, s) {
	for (const member of ['us', 'n', 'variance', 'waits', 'counted'])
		to[member] += s[member]
	to.longest = Math.max(to.longest, s.longest)
	s.estimates.forEach((n, factor) => to.estimates.set(factor, (to.estimates.get(factor) || 0) + n))
	return to
}

// What counts waits: columns and factors of places.js. null: their numbers are not known, as where the timeline is coarse;
// undefined: they are being read.
export function waitCounting({ data, places }) {
	return data.coarse.length || !places || !places.known ? null : places.get()
}

// Adds a wait. `counting`: as waitCounting() returns it.
export function addWait(sum, data, counting, chunk, i) {
	const { flags, state } = data.classes[chunk.cls[i]]
	sum.us += chunk.weight[i]
	sum.n += flags & (FLAG.rest | FLAG.continued) ? 0 : chunk.merged && chunk.merged[i] || 1
	sum.variance += varianceBySampling(data, chunk, i)
	if (counting)
		countWait(sum, counting, flags, state, chunk, i)
}

function countWait(sum, { factors, usual, factor: codes, lengthNs, others }, flags, state, chunk, i) {
	const us = chunk.weight[i], length = chunk.length[i] * 1000 + lengthNs[chunk.first + i], other = others ? others[chunk.first + i] : 0
	const code = codes[chunk.first + i], factor = (code > 1 ? code - 1 : code && usual[chunk.thread[i] * NSTATES + state]) - 1
	const [some, ratios, all, allNs, estimates, unscaled] = factors[factor] || [], rest = flags & FLAG.rest
	const waits = factor < 0 ? (flags & FLAG.traced && length > 0 && !(flags & FLAG.continued) ? 1 : 0) : rest ? all * (us * 1000) / allNs : some * (us * 1000 / length) / ratios
	sum.waits += waits
	if (!rest && (waits > 0 || flags & FLAG.continued))
		sum.longest = Math.max(sum.longest, length + other)
	// The first part of a divided wait counts as the wait, and the others as none.
	if (waits > 0)
		sum.counted += other ? (length + other) / 1000 : us
	if (estimates || unscaled && !rest)
		sum.estimates.set(factor, (sum.estimates.get(factor) || 0) + 1)
}

// Whether the number is an estimate. It is exact if it has all packets of each factor, and all waits have packets or the
// recorder counted them (sum.whole: it is of threads and states).
export const isEstimate = ({ factors }, sum) => [...sum.estimates].some(([factor, n]) =>
	factors[factor][5] || n !== factors[factor][4] || factors[factor][6] && !sum.whole)

// Sums by keyOf(chunk, i, row) -> a sum of noWaits; ended with their errors.
export function finishWaits(sum, counting) {
	return Object.assign(sum, { error: Math.sqrt(sum.variance), estimate: !!counting && isEstimate(counting, sum) })
}
