// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes packs of events, in workers. The code may use pack.js and nothing else, because the
// text of these functions is all that a worker has.
import { gunzip, inflate, readInts, readUints, reader, sections } from './pack.js'

// Returns the values in 32 bits each if all fit, otherwise unchanged. Values are whole.
export function narrow(values) {
	let max = 0, min = 0
	for (let i = 0; i < values.length; i++) {
		if (values[i] > max)
			max = values[i]
		if (values[i] < min)
			min = values[i]
	}
	return min >= 0 && max < 2 ** 32 ? new Uint32Array(values) : values
}

// An array for n indexes below `most`. It depends on the recording only, so that all packs have arrays of one type.
export function indexArray(n, most) {
	return most <= 65536 ? new Uint16Array(n) : new Uint32Array(n)
}

// Groups events by thread: the events of thread t are order[first[t]] to order[first[t + 1] - 1].
export function groupByThread(thread, nthreads) {
	const first = new Uint32Array(nthreads + 1), order = new Uint32Array(thread.length)
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
function stretchMerged(coarse, { time, merged, length, cls, isWait }) {
	for (let i = 0, r = 0; i < time.length && r < coarse.length; i++) {
		while (r < coarse.length && coarse[r][1] <= time[i])
			r++
		if (merged[i] && !isWait[cls[i]] && r < coarse.length)
			length[i] = coarse[r][1] - coarse[r][0]
	}
}

// Few machines have CPUs whose numbers need more than 8 bits.
export function readCpus(bytes, n) {
	const small = readInts(bytes, n, new Int8Array(n)), all = readInts(bytes, n, new Int16Array(n))
	return small.every((v, i) => v === all[i]) ? small : all
}

// Decodes one pack into arrays, one for each column. Columns of wakers and holders have rows for
// waits only; waitRow finds the row.
export async function decodeEvents(base64, about) {
	const s = sections(await inflate(base64))
	const head = reader(s.evts)
	const first = head.uint(), n = head.uint()
	const delta = readInts(s.time, n, new Float64Array(n))
	const time = new Float64Array(n)
	let at = 0
	for (let i = 0; i < n; i++) {
		at += delta[i]
		time[i] = at
	}
	const base = n ? time[0] : 0
	for (let i = 0; i < n; i++)
		delta[i] = time[i] - base
	const cls = readUints(s.clas, n, new Uint16Array(n))
	const thread = readUints(s.thrd, n, indexArray(n, about.nthreads))
	const weight = readInts(s.wght, n, new Float64Array(n))
	const isWait = about.isWait
	const rows = new Uint32Array((n >> 8) + 2)
	let nwaits = 0
	for (let i = 0; i < n; i++) {
		if (!(i & 255))
			rows[i >> 8] = nwaits
		nwaits += isWait[cls[i]]
	}
	const extra = readInts(s.leng, nwaits, new Float64Array(nwaits)), length = delta.slice()
	for (let i = 0, w = 0; i < n; i++)
		length[i] = weight[i] + (isWait[cls[i]] ? extra[w++] : 0)
	const merged = readUints(s.mrgd, n, new Uint32Array(n))
	stretchMerged(about.coarse, { time, merged, length, cls, isWait })
	const waker = readUints(s.wakr, nwaits, indexArray(nwaits, about.nthreads + 1))
	const weights = narrow(weight)
	const chunk = {
		first, n, base, time: narrow(delta), thread, cls, weight: weights, rows, nwaits,
		path: readUints(s.path, n, indexArray(n, about.npaths)),
		cpu: readCpus(s.cpus, n),
		length: length.every((v, i) => v === weight[i]) ? weights : narrow(length),
		...(merged.some(count => count) ? { merged, squares: readUints(s.sqrs, n, new Float64Array(n)),
			variance: readUints(s.vari, n, new Float64Array(n)) } : { merged: null }),
		waker,
		wakerPath: readUints(s.wkpt, nwaits, indexArray(nwaits, about.npaths + 1)),
		holder: holders(readUints(s.hold, nwaits, indexArray(nwaits, about.nthreads + 2)), waker),
	}
	return Object.assign(chunk, groupBy(thread, about.nthreads))
}

function groupBy(thread, nthreads) {
	const g = groupByThread(thread, nthreads)
	return { threadFirst: g.first, threadOrder: g.order }
}

// Returns the worker's program: the text of the functions above, and its handler of messages.
export function workerText() {
	const parts = [inflate, gunzip, sections, readUints, readInts, reader, narrow, indexArray, groupByThread, groupBy,
		holders, stretchMerged, readCpus, decodeEvents]
	return parts.map(String).join('\n') + `
onmessage = async e => {
	try {
		const chunk = await decodeEvents(e.data.base64, e.data.about)
		const buffers = new Set(Object.values(chunk).filter(ArrayBuffer.isView).map(v => v.buffer))
		postMessage({ chunk }, [...buffers])
	} catch (error) {
		postMessage({ error: String(error) })
	}
}`
}
