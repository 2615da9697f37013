// SPDX-License-Identifier: GPL-2.0-or-later
// Memory in use under the page's filter: the calls for memory that pass it are replayed, as analysis/metrics/leaks.c
// does. An allocation without a matching free that passes stays in use.
import { countInts, inflate, parseBytes, readInts, readUints, sections } from './pack.js'
import { lazyPart } from './lazy.js'
import { eachEvent } from './walk.js'
import { addedTo } from './counts.js'

const MALLOC = 0, FREE = 1, REALLOC = 2, MMAP = 3, MUNMAP = 4
const LOOK_AT_MOST = 1e8, HEAP_ROWS = 20, HEAP_ROWS_MOST = 10000

// Returns {known, sampled, add(base64, kind), get()}, as lazyPart.
export function makeHeap(data, loaded, failed) {
	const part = lazyPart(({ heap }) => heap, ({ heap }) => readHeap(heap[0]), loaded, failed)
	return {
		...part, known: data.reports.heap > 0, sampled: data.reports.heap > 1,
		get() {
			const heap = part.get()
			return data.counts && data.counts.whole ? heap : undefined
		},
	}
}

// --- the calls ---

// The variance that a sampled allocation adds to a sum (leaks_variance).
function varianceOf(mean, type, size) {
	if (mean <= 0 || type === MMAP)
		return 0
	const ratio = size / mean
	let x = ratio
	for (let i = 0; i < 60; i++) {
		const over = x - ratio * (1 - Math.exp(-x))
		if (over <= 1e-12 * x)
			break
		x -= over / (1 - ratio * Math.exp(-x))
	}
	return size * size * Math.exp(-x)
}

function fromDifferences(values) {
	for (let i = 1; i < values.length; i++)
		values[i] += values[i - 1]
	return values
}

// Call k of a file has the number k + 1; those of a stream are [from, to), by time.
async function readHeap(base64) {
	const s = sections(await inflate(base64)), heap = parseBytes(s.json), n = countInts(s.htyp)
	const values = (bytes, read) => read(bytes, n, new Float64Array(n))
	const types = values(s.htyp, readUints), type = types.map(t => t & 7), temporary = types.map(t => t >> 3), size = values(s.hsiz, readUints), addr = fromDifferences(values(s.hadr, readInts))
	const old = values(s.hold, readInts).map((v, i) => v + addr[i]), time = fromDifferences(values(s.htim, readInts))
	let at = 0
	const streams = heap.streams.map(([count, id, pid, mean, end]) => ({ id, pid, mean, end, from: at, to: at += count }))
	const variance = new Float64Array(n)
	for (const { from, to, mean } of streams) {
		for (let i = from; i < to; i++)
			variance[i] = varianceOf(mean, type[i], size[i])
	}
	return { ...heap, n, streams, type, temporary, size, addr, old, time, variance }
}

// Which calls pass the filter; how much of each was never freed.
export function passingCalls({ metrics, counts }, state, heap) {
	const ret = { passed: new Uint8Array(heap.n), leaked: new Float64Array(heap.n) }, leak = metrics.findIndex(m => m.id === 'heapleakbytes')
	eachEvent(counts, state, (chunk, i) => {
		if (!chunk.heap || !chunk.heap[i])
			return
		ret.passed[chunk.heap[i] - 1] = 1
		ret.leaked[chunk.heap[i] - 1] += addedTo(counts, leak, chunk, i)
	})
	return ret
}

// How many of them are temporary allocations.
export const temporaryCalls = ({ temporary }, passed) => temporary.reduce((n, t, i) => n + (passed[i] && t), 0)

// --- replaying ---

function giveBack(m, block, bytes) {
	bytes = Math.min(bytes, block.left)
	block.left -= bytes
	m.bytes -= bytes
	m.variance -= block.variance
	block.variance = 0
}

function release(m, addr) {
	const block = m.blocks.get(addr)
	if (!block)
		return
	giveBack(m, block, Infinity)
	m.blocks.delete(addr)
}

function allocate(m, { type, size, addr, variance }, i) {
	if (!addr[i])
		return
	release(m, addr[i])
	const block = { call: i, addr: addr[i], size: size[i], left: size[i], variance: variance[i] }
	m.blocks.set(addr[i], block)
	if (type[i] === MMAP)
		m.mapped.push(block)
	m.bytes += size[i]
	m.variance += variance[i]
}

function unmap(m, addr, size) {
	const block = m.blocks.get(addr)
	if (block && block.size === size) {
		release(m, addr)
		return
	}
	if (m.looked > LOOK_AT_MOST)
		return
	m.looked += m.mapped.length
	for (const b of m.mapped) {
		const from = Math.max(addr, b.addr), to = Math.min(addr + size, b.addr + b.size)
		if (from < to)
			giveBack(m, b, to - from)
	}
	m.mapped = m.mapped.filter(b => b.left)
}

function makeCall(m, heap, i) {
	const type = heap.type[i]
	if (type === REALLOC)
		release(m, heap.old[i])
	if (type === MALLOC || type === MMAP || type === REALLOC)
		allocate(m, heap, i)
	else if (type === FREE)
		release(m, heap.addr[i])
	else if (type === MUNMAP)
		unmap(m, heap.addr[i], heap.size[i])
}

// Replays what passes of a stream, until so many bytes are in use. changed(time, bytes, variance) is called for each change
// of the memory in use.
function replay(heap, { from, to }, passed, changed, until = Infinity) {
	const m = { blocks: new Map(), mapped: [], bytes: 0, variance: 0, looked: 0, peak: 0, peakTime: 0 }
	for (let i = from; i < to && m.bytes < until; i++) {
		if (!passed[i])
			continue
		const { bytes, variance } = m
		makeCall(m, heap, i)
		if (m.bytes !== bytes)
			changed(heap.time[i], m.bytes - bytes, m.variance - variance)
		if (m.bytes > m.peak)
			Object.assign(m, { peak: m.bytes, peakTime: heap.time[i] })
	}
	return m
}

// Rows {time, bytes, error, highest, allocated} for equal parts of the time, as er_print -heapuse.
export function memoryOverTime(heap, passed) {
	const changes = [], nparts = heap.limit ? Math.min(heap.limit, HEAP_ROWS_MOST) : HEAP_ROWS
	const add = (time, bytes, variance) => changes.push({ time, bytes, variance })
	for (const stream of heap.streams) {
		const { bytes, variance } = replay(heap, stream, passed, add)
		if (stream.end !== null && bytes)
			add(stream.end, -bytes, -variance)
	}
	if (!changes.length)
		return []
	changes.sort((a, b) => a.time - b.time)
	const begin = changes[0].time, length = changes[changes.length - 1].time - begin, rows = []
	for (let part = 1, at = 0, bytes = 0, variance = 0; part <= nparts; part++) {
		const time = begin + (part === nparts ? length : Math.trunc(length / nparts * part))
		let highest = bytes, allocated = 0
		for (; at < changes.length && changes[at].time <= time; at++) {
			bytes += changes[at].bytes
			variance += changes[at].variance
			highest = Math.max(highest, bytes)
			allocated += Math.max(0, changes[at].bytes)
		}
		rows.push({ key: part, time, bytes, error: Math.round(Math.sqrt(Math.max(0, variance))), highest, allocated })
	}
	return rows
}

// The stream with the highest peak, with its `peak` and `peakTime`; of equal ones the last.
export function highestPeak(heap, passed) {
	let ret = null
	for (const stream of heap.streams) {
		const { peak, peakTime } = replay(heap, stream, passed, () => {})
		if (peak && (!ret || peak >= ret.peak))
			ret = { ...stream, peak, peakTime }
	}
	return ret
}

// The highest peak, and the blocks that were in use then: {call, left, variance}. They add up to the peak.
export function heldAtPeak(heap, passed) {
	const peak = highestPeak(heap, passed)
	return { peak, blocks: peak ? [...replay(heap, peak, passed, () => {}, peak.peak).blocks.values()].filter(b => b.left) : [] }
}

// Sums of allocations and of leaks: {sizes, n, least, most, bytes, variance}; sizes are counted by rangeOf(size).
export function allocationSums(heap, { passed, leaked }, rangeOf) {
	const zero = () => ({ sizes: [], n: 0, least: 0, most: 0, bytes: 0, variance: 0 }), ret = { allocated: zero(), leaked: zero() }
	const add = (s, bytes, variance) => {
		const range = rangeOf(bytes)
		s.sizes[range] = (s.sizes[range] || 0) + 1
		s.least = s.n ? Math.min(s.least, bytes) : bytes
		s.most = Math.max(s.most, bytes)
		s.n++
		s.bytes += bytes
		s.variance += variance
	}
	for (let i = 0; i < heap.n; i++) {
		if (!passed[i] || ![MALLOC, REALLOC, MMAP].includes(heap.type[i]))
			continue
		add(ret.allocated, heap.size[i], heap.variance[i])
		if (leaked[i])
			add(ret.leaked, leaked[i], heap.variance[i])
	}
	return ret
}

// The variances of bytes allocated and leaked by key, below n, of keyOf(chunk, i).
export function allocationVariances({ metrics, counts }, state, heap, n, keyOf) {
	const ret = { allocated: new Float64Array(n), leaked: new Float64Array(n) }, leak = metrics.findIndex(m => m.id === 'heapleakbytes')
	eachEvent(counts, state, (chunk, i) => {
		const call = chunk.heap ? chunk.heap[i] - 1 : -1
		if (call < 0)
			return
		ret.allocated[keyOf(chunk, i)] += heap.variance[call]
		if (addedTo(counts, leak, chunk, i))
			ret.leaked[keyOf(chunk, i)] += heap.variance[call]
	})
	return ret
}
