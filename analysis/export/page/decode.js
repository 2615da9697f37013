// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes packs of events, in workers. The code may use pack.js and nothing else, because the
// text of these functions is all that a worker has.
import { gunzip, readInts, readUints, reader, sections } from './pack.js'

// Returns an array that is used again for each pack: new memory costs more than decoding into it.
function roomFor(use, n) {
	const rooms = roomFor.rooms = roomFor.rooms || []
	if (!rooms[use] || rooms[use].length < n)
		rooms[use] = new Float64Array(n)
	return rooms[use].subarray(0, n)
}

// Copies the values, in 32 bits each if all fit. Values are whole.
export function narrow(values) {
	let max = 0, min = 0
	for (let i = 0; i < values.length; i++) {
		if (values[i] > max)
			max = values[i]
		if (values[i] < min)
			min = values[i]
	}
	return min >= 0 && max < 2 ** 32 ? new Uint32Array(values) : new Float64Array(values)
}

// Copies indexes below `most`. The type depends on the recording only, so that all packs have arrays of one type.
export function indexArray(values, most) {
	return most <= 256 ? new Uint8Array(values) : most <= 65536 ? new Uint16Array(values) : new Uint32Array(values)
}

// Groups at most 65,536 events by thread: the events of thread t are order[first[t]] to order[first[t + 1] - 1].
export function groupByThread(thread, nthreads) {
	const first = new Uint32Array(nthreads + 1), order = new Uint16Array(thread.length)
	for (let i = 0; i < thread.length; i++)
		first[thread[i] + 1]++
	for (let t = 0; t < nthreads; t++)
		first[t + 1] += first[t]
	const next = first.slice()
	for (let i = 0; i < thread.length; i++)
		order[next[thread[i]]++] = i
	return { first, order }
}

// Decodes the thread that held what an event waited for: 0 none, 1 the waker, otherwise the
// thread's index + 2. Returns the index + 1, or 0.
function holders(codes, waker) {
	for (let i = 0; i < codes.length; i++)
		codes[i] = codes[i] > 1 ? codes[i] - 1 : codes[i] && waker[i]
	return codes
}

// A merged clock sample extends over its coarse range. Merged waits have that length already.
function stretchMerged(coarse, { base, time, merged, length, cls, isWait }) {
	for (let i = 0, r = 0; i < time.length && r < coarse.length; i++) {
		while (r < coarse.length && coarse[r][1] <= base + time[i])
			r++
		if (merged[i] && !isWait[cls[i]] && r < coarse.length)
			length[i] = coarse[r][1] - coarse[r][0]
	}
}

// Few machines have CPUs whose numbers need more than 8 bits.
export function cpuArray(values) {
	let most = 0
	for (let i = 0; i < values.length; i++)
		most = values[i] > most ? values[i] : most
	return most < 128 ? new Int8Array(values) : new Int16Array(values)
}

// Decodes the times at which events ended: the first one, and the others since then.
function readTimes(bytes, n) {
	const time = readInts(bytes, n, roomFor(0, n)), base = n ? time[0] : 0
	for (let i = 0, at = -base; i < n; i++)
		time[i] = at += time[i]
	return { base, time: narrow(time) }
}

// The length of each event: what it represents, and for a wait what is in `extra`.
function lengthsOf(weight, extra, cls, isWait, length) {
	for (let i = 0, w = 0; i < length.length; i++)
		length[i] = isWait[cls[i]] ? weight[i] + extra[w++] : weight[i]
	return length
}

function areEqual(a, b) {
	let i = 0
	while (i < a.length && a[i] === b[i])
		i++
	return i === a.length
}

// Decodes numbers that are written as differences.
function summedInts(bytes, n) {
	const ret = readInts(bytes, n, new Float64Array(n))
	for (let i = 1; i < n; i++)
		ret[i] += ret[i - 1]
	return ret
}

// Decodes one pack into chunks of arrays, one for each column. Columns of wakers and holders have rows for
// waits only; waitRow finds the row.
export async function decodeEvents(bytes, about) {
	const s = sections(await gunzip(bytes)), { isWait, nthreads, npaths } = about
	const head = reader(s.evts)
	const first = head.uint(), n = head.uint()
	const uints = (bytes, count) => readUints(bytes, count, roomFor(0, count))
	const { base, time } = readTimes(s.time, n)
	const cls = indexArray(uints(s.clas, n), about.nclasses)
	const thread = indexArray(uints(s.thrd, n), nthreads)
	const weight = readInts(s.wght, n, roomFor(1, n))
	const rows = new Uint32Array((n >> 8) + 2)
	let nwaits = 0
	for (let i = 0; i < n; i++) {
		if (!(i & 255))
			rows[i >> 8] = nwaits
		nwaits += isWait[cls[i]]
	}
	const length = lengthsOf(weight, readInts(s.leng, nwaits, roomFor(0, nwaits)), cls, isWait, roomFor(2, n))
	const merged = s.mrgd ? new Uint32Array(uints(s.mrgd, n)) : null
	if (merged)
		stretchMerged(about.coarse, { base, time, merged, length, cls, isWait })
	const ofEvent = (bytes, read) => bytes ? read(bytes, n, new Float64Array(n)) : null
	const waker = indexArray(uints(s.wakr, nwaits), nthreads + 1), weights = narrow(weight)
	return divide({
		first, n, base, time, thread, cls, weight: weights, rows, merged, waker,
		path: indexArray(uints(s.path, n), npaths),
		cpu: cpuArray(readInts(s.cpus, n, roomFor(0, n))),
		length: areEqual(length, weight) ? weights : narrow(length),
		squares: ofEvent(s.sqrs, readUints), variance: ofEvent(s.vari, readUints),
		variant: ofEvent(s.vrnt, readUints), second: ofEvent(s.scnd, readInts), subject: ofEvent(s.sbjt, readUints), heap: s.heap ? summedInts(s.heap, n) : null,
		spans: s.spns && about.nsets ? indexArray(uints(s.spns, n), about.nsets) : null,
		wakerPath: indexArray(uints(s.wkpt, nwaits), npaths + 1),
		holder: indexArray(holders(uints(s.hold, nwaits), waker), nthreads + 1),
	}, nthreads)
}

// Divides a pack into chunks of 65,536 events, so that indexes in a chunk have 16 bits. Their columns are
// views of the pack's; those of waits are not divided, and `rows` counts from the pack's begin.
export function divide(pack, nthreads) {
	const chunks = [], columns = ['time', 'thread', 'cls', 'weight', 'merged', 'path', 'cpu', 'length', 'squares', 'variance', 'spans', 'variant', 'second', 'subject', 'heap']
	for (let at = 0; at < pack.n || !at; at += 65536) {
		const to = Math.min(pack.n, at + 65536)
		const chunk = { ...pack, first: pack.first + at, n: to - at, rows: pack.rows.subarray(at >> 8) }
		for (const c of columns)
			chunk[c] = pack[c] && pack[c].subarray(at, to)
		const group = groupByThread(chunk.thread, nthreads)
		chunks.push({ ...chunk, threadFirst: group.first, threadOrder: group.order })
	}
	return chunks
}

// Returns the worker's program: the text of the functions above, and its handler of messages.
export function workerText() {
	const parts = [gunzip, sections, readUints, readInts, reader, roomFor, areEqual, narrow, indexArray, groupByThread, divide,
		holders, stretchMerged, cpuArray, readTimes, lengthsOf, summedInts, decodeEvents]
	// minify may have given it a shorter name.
	return parts.map(String).join('\n') + `
onmessage = async e => {
	try {
		const chunks = await ${decodeEvents.name}(e.data.bytes, e.data.about)
		const buffers = new Set(chunks.flatMap(Object.values).filter(ArrayBuffer.isView).map(v => v.buffer))
		postMessage({ chunks }, [...buffers])
	} catch (error) {
		postMessage({ error: String(error) })
	}
}`
}
