// SPDX-License-Identifier: GPL-2.0-or-later
// Goes over the events that pass the filter, for sums that not every view needs.
import { NSTATES, waitRow } from './data.js'
import { firstAt, inPieces } from './aggregate.js'
import { eventMasks, makeFilter } from './filter.js'

// Calls fn(chunk, i, row) for each event that passes, in order of time; row is its place in the
// columns of waits. With a mask of classes, for events of these only.
export function eachEvent(data, state, fn, classes = null) {
	const filter = makeFilter(data, state)
	if (classes)
		filter.cls = filter.cls ? classes.map((on, c) => on && filter.cls[c]) : classes
	const masks = eventMasks(data, filter)
	for (const chunk of data.chunks)
		inPieces(firstAt(chunk, filter.from), firstAt(chunk, filter.to), (from, to) => eachOfPiece(data, chunk, masks, fn, from, to))
}

// The class is asked first: it decides most.
function eachOfPiece(data, chunk, { classOk, threadOk, pathOk, rest }, fn, from, to) {
	const { cls, thread, path } = chunk, isWait = data.isWait
	let row = waitRow(data, chunk, from)
	for (let i = from; i < to; i++) {
		const c = cls[i], r = row
		row += isWait[c]
		if (classOk[c] && threadOk[thread[i]] & pathOk[path[i]] && (!rest || rest(chunk, i)))
			fn(chunk, i, r)
	}
}

// The time of each state by keyOf(chunk, i): a Map of arrays.
export function statesBy(data, state, keyOf) {
	const ret = new Map()
	eachEvent(data, state, (chunk, i) => {
		const key = keyOf(chunk, i)
		let us = ret.get(key)
		if (!us)
			ret.set(key, us = new Float64Array(NSTATES))
		us[data.classes[chunk.cls[i]].state] += chunk.weight[i]
	})
	return ret
}

export function cpuStates(data, state) {
	return statesBy(data, state, (chunk, i) => chunk.cpu[i])
}
