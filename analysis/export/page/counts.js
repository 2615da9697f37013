// SPDX-License-Identifier: GPL-2.0-or-later
// The second stream of events: packets without a state that add to metrics. Counters, probes, memory, I/O, locks.
// data.counts has the form of data, so that filters and walks work on it.
import { eachEvent } from './walk.js'

export const HEAP_PACKET = 5 // kind of packets

export function readCounts(data) {
	const made = data.counts, has = made && made.classes
	data.metrics = has ? made.metrics : []
	data.ratios = has ? made.ratios : []
	data.counts = null
	if (!has)
		return
	// Who recorded counters wants to see them.
	data.display.columns = data.metrics.filter(m => m.counter).slice(0, 2).map(m => 'n.' + m.id)
	const heap = new Set(made.heap), kindOf = (adds, i) => heap.has(i) ? HEAP_PACKET : data.metrics[adds[0]].kind
	const classes = made.classes.map((adds, i) => ({ state: null, reason: null, flags: 0, call: null, adds, kind: kindOf(adds, i) }))
	data.counts = { ...data, stated: data.classes, classes, isWait: new Uint8Array(classes.length), nrows: made.n, chunks: [], whole: false }
}

// What an event adds: 1, or one of its two numbers.
export const amount = (chunk, i, from) => [1, chunk.weight[i], chunk.second && chunk.second[i]][from]

// Sums by metric and key under a filter; keyOf(chunk, i) is below n.
export function addCounts({ metrics, counts }, state, n, keyOf) {
	const ret = metrics.map(() => new Float64Array(n))
	eachEvent(counts, state, (chunk, i) => {
		const key = keyOf(chunk, i), { adds } = counts.classes[chunk.cls[i]]
		for (let k = 0; k < adds.length; k += 2)
			ret[adds[k]][key] += amount(chunk, i, adds[k + 1])
	})
	return ret
}

// What an event adds to a metric, by the metric's index.
export function addedTo({ classes }, metric, chunk, i) {
	const { adds } = classes[chunk.cls[i]]
	for (let k = 0; k < adds.length; k += 2) {
		if (adds[k] === metric)
			return amount(chunk, i, adds[k + 1])
	}
	return 0
}

// The sums of a metric, by its id; all are made when the first one is asked for.
export function countSums(data, state, n, keyOf) {
	let all
	return id => {
		all = all || addCounts(data, state, n, keyOf)
		return all[data.metrics.findIndex(m => m.id === id.slice(2))]
	}
}
