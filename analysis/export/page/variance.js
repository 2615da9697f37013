// SPDX-License-Identifier: GPL-2.0-or-later
// Standard errors of sampled times. CPU time is a sample of an exact total: a share p of it has the
// variance p (1 - p) times the sum of all samples' squares, as in er_print -diff. The variances of
// waits add up.
import { FLAG } from './data.js'
import { ofOneState } from './aggregate.js'
import { isCount } from './metrics.js'
import { HEAP_PACKET, addedTo } from './counts.js'
import { eachEvent } from './walk.js'
import { totalOf } from './numbers.js'

export const PARTS = ['cpu', 'wait', 'squares'] // sums by path; squares: the variance of waits

// The variance of a wait's time if waits come at random, and the one that comes of sampling only: a
// wait is chosen with the probability length / weight (analysis/metrics/waitstat.h).
export const varianceByChance = (data, chunk, i) => squareOf(chunk, i)

// The square of an event's weight. A merged event has the sum for those that it was made from.
function squareOf(chunk, i) {
	return chunk.merged && chunk.merged[i] ? chunk.squares[i] : chunk.weight[i] ** 2
}

export function varianceBySampling(data, chunk, i) {
	if (chunk.merged && chunk.merged[i])
		return chunk.variance[i]
	const weight = chunk.weight[i], length = chunk.length[i]
	if (length <= 0 || weight - length < 1 || data.classes[chunk.cls[i]].flags & FLAG.rest)
		return 0
	return weight * (weight - length)
}

// The times of a metric by path with their variances, and the sum of the samples' squares.
export function gatherVariances(data, state, metric, ofWait, n = data.npaths, keyOf = (chunk, i) => chunk.path[i]) {
	const one = metric.startsWith('s') ? ofOneState(state, Number(metric.slice(1))) : state
	const ret = Object.fromEntries(PARTS.map(part => [part, new Float64Array(n)]))
	ret.cpuSquares = 0
	eachEvent(data, one, (chunk, i) => {
		const path = keyOf(chunk, i), weight = chunk.weight[i]
		if (!data.isWait[chunk.cls[i]]) {
			if (metric === 'wait')
				return
			ret.cpu[path] += weight
			ret.cpuSquares += squareOf(chunk, i)
		} else if (metric !== 'cpu') {
			ret.wait[path] += weight
			ret.squares[path] += ofWait(data, chunk, i)
		}
	})
	ret.totalCpu = totalOf(ret.cpu)
	return ret
}

// The same of a metric that is no time by state: `cpu` has what is sampled as CPU time is, or exact. Overflows of counters are
// samples of an exact total; which allocations of a sampled heap were recorded is chance.
export function gatherCounts(data, state, metric) {
	const index = data.metrics.findIndex(m => m.id === metric.slice(2)), { counter, kind } = data.metrics[index], byChance = kind === HEAP_PACKET && data.reports.heap > 1
	const ret = { ...Object.fromEntries(PARTS.map(part => [part, new Float64Array(data.npaths)])), cpuSquares: 0 }
	eachEvent(data.counts, state, (chunk, i) => {
		const v = addedTo(data.counts, index, chunk, i)
		ret.cpu[chunk.path[i]] += v
		ret.cpuSquares += counter ? v * v : 0
		ret.squares[chunk.path[i]] += byChance ? v * v : 0
	})
	return ret
}

// Returns error(times): the standard errors of the sums that times(pathUs) makes of times by path,
// for the page's filter and a metric. null: errors are not shown. keyOf gives another key of an event than its path,
// below n; `memory` keeps the sums of one kind of key.
export function errorsOf({ data, state, sums }, metric, memory = sums, n = undefined, keyOf = undefined) {
	if (!state.errors || !data.whole || isCount(metric))
		return null
	const known = memory.variances || (memory.variances = new Map())
	if (!known.has(metric))
		known.set(metric, gatherVariances(data, state, metric, varianceBySampling, n, keyOf))
	const v = known.get(metric)
	return times => {
		const cpu = times(v.cpu), squares = times(v.squares)
		return pick => {
			const p = v.totalCpu ? Math.min(1, pick(cpu) / v.totalCpu) : 0
			return Math.sqrt(v.cpuSquares * p * (1 - p) + pick(squares))
		}
	}
}

// A column for such an error, which is the member `member` of a row.
export function errorColumn(page, member, text) {
	return !page.state.errors ? [] : [{ id: member, title: 'Std. error', width: '6em',
		value: r => r[member] || 0, text: r => r[member] === undefined ? '' : text(Math.round(r[member] * 1000) / 1000),
		help: 'From sampling; 0. is exact' }]
}
