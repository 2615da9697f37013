// SPDX-License-Identifier: GPL-2.0-or-later
// The data of the page: the index, and the events, which are decoded in the background. Data does
// not change once it is read.
import { base64Bytes, countInts, inflate, parseBytes, reader, sections } from './pack.js'
import { workerText } from './decode.js'
import { duration } from './format.js'
import { outermostOf } from './tree.js'
import { readSpans } from './spans.js'
import { readSnapshots } from './snapshots.js'
import { readCounts } from './counts.js'
import { firstWhere } from './numbers.js'

export const FLAG = { traced: 1, openStart: 2, openEnd: 4, io: 8, irq: 16, rest: 32, early: 64, timer: 128, continued: 256, more: 512, goesOn: 32768 }
export const NSTATES = 12

// --- elements of the file ---

// Calls found(kind, base64) for each pack as soon as the browser has read it. Calls ended()
// after the last one.
export function watchPacks(found, ended) {
	const taken = new Set()
	const look = over => {
		for (const e of document.querySelectorAll('script[data-pack]')) {
			// A pack is complete when the next one has begun.
			const next = e.nextElementSibling
			if (taken.has(e) || !(over || (next && next.dataset.pack)))
				continue
			taken.add(e)
			const text = e.textContent
			e.textContent = ''
			found(e.dataset.pack, text)
		}
	}
	const observer = new MutationObserver(() => look(false))
	const finish = () => { observer.disconnect(); look(true); ended() }
	observer.observe(document.body, { childList: true })
	if (document.readyState === 'loading')
		document.addEventListener('DOMContentLoaded', finish)
	else
		finish()
}

// --- the index ---

export async function readIndex(base64) {
	const s = sections(await inflate(base64))
	const data = parseBytes(s.json)
	data.reports = parseBytes(s.rprt)
	data.nthreads = data.threads.length
	data.isWait = Uint8Array.from(data.classes, c => data.states[c.state].cpu ? 0 : 1)
	readTree(data, s.tree)
	readPaths(data, s.pths)
	readMips(data, s.mips)
	readCoarse(data, s.crse)
	readSpans(data, s.span, s.spst)
	readSnapshots(data, s)
	nameProcesses(data)
	meetStates(data)
	data.chunks = []
	data.ndecoded = 0
	data.whole = !data.nrows
	readCounts(data)
	return data
}

function readTree(data, bytes) {
	const n = 1 + countInts(bytes) / 2, r = reader(bytes)
	const parent = new Uint32Array(n), func = new Int32Array(n).fill(-1), depth = new Uint16Array(n)
	for (let i = 1; i < n; i++) {
		const p = i - r.uint()
		parent[i] = p
		func[i] = r.uint()
		depth[i] = depth[p] + 1
	}
	data.tree = { n, parent, func, depth }
	linkChildren(data.tree)
	data.tree.outermost = outermostOf(data.tree, data.tree.func, data.funcs.length)
}

// The children of node i are children[first[i]] to children[first[i + 1] - 1].
export function linkChildren(tree) {
	const first = new Uint32Array(tree.n + 1)
	for (let i = 1; i < tree.n; i++)
		first[tree.parent[i] + 1]++
	for (let i = 0; i < tree.n; i++)
		first[i + 1] += first[i]
	const next = first.slice(), children = new Uint32Array(tree.n)
	for (let i = 1; i < tree.n; i++)
		children[next[tree.parent[i]]++] = i
	tree.first = first
	tree.children = children
}

function readPaths(data, bytes) {
	const n = countInts(bytes) / 3, r = reader(bytes)
	data.npaths = n
	data.pathNode = new Uint32Array(n)
	data.pathCpu = new Float64Array(n)
	data.pathWait = new Float64Array(n)
	for (let p = 0; p < n; p++) {
		data.pathNode[p] = r.uint()
		data.pathCpu[p] = r.int()
		data.pathWait[p] = r.int()
	}
}

// Reads the timeline of each thread at low resolution. bins[bin * NSTATES + state] is the share
// of a bin's time that the thread spent in a state, in units of 1/255.
function readMips(data, bytes) {
	const r = reader(bytes)
	data.mips = data.threads.map(() => {
		const n = r.uint(), bins = new Uint8Array(n * NSTATES)
		for (let i = 0; i < n; i++) {
			const mask = r.uint()
			for (let s = 0; s < NSTATES; s++) {
				if (mask >> s & 1)
					bins[i * NSTATES + s] = r.byte()
			}
		}
		return { n, bins }
	})
}

// Reads where the timeline is coarse: data.coarse has [from, to] of each coarse range. There, events
// that differ only in time are one event. data.nrows is the number of events in the file.
function readCoarse(data, bytes) {
	data.coarse = []
	data.nrows = data.nevents
	if (!bytes)
		return
	const r = reader(bytes)
	data.nrows = r.uint()
	for (let at = data.begin; r.more;) {
		const from = at + r.int(), to = from + r.uint()
		data.coarse.push([from, to])
		at = to
	}
	const us = data.coarse.reduce((sum, [from, to]) => sum + to - from, 0)
	data.about.push(`To keep the page small, ${duration(us)} of ${duration(data.end - data.begin)} have a ` +
		`coarse timeline, in ${data.coarse.length} range${data.coarse.length === 1 ? '' : 's'}. All sums are exact. ` +
		'A chosen range has the whole of each coarse range that it touches.')
}

// Returns the coarse range that contains a time, but does not begin at it; null: none.
export function coarseAround(data, time) {
	return data.coarse.find(([from, to]) => from < time && time < to) || null
}

// Lists the states that occur, in the order of reports. KERNEL_CPU counts as SYSTEM.
function meetStates(data) {
	const met = new Set(data.threads.flatMap(t => Object.keys(t.us).map(Number)))
	if (met.has(11))
		met.add(1)
	data.states_met = data.state_order.filter(s => met.has(s))
}

// How much a state counts for the order of processes: CPU time most, then waits for something
// that the thread needed, then sleep.
function activity(state) {
	return state.cpu ? 1 : state.name === 'SLEEP' || state.name === 'STOPPED' ? 1e-9 : 1e-4
}

// Groups threads by process. Processes, and the threads of each, are sorted by activity.
function nameProcesses(data) {
	const byKey = new Map()
	data.threads.forEach((t, i) => {
		t.index = i
		t.active = 0
		for (const [state, us] of Object.entries(t.us))
			t.active += us * activity(data.states[state])
		const key = t.exp + ':' + t.pid
		if (!byKey.has(key))
			byKey.set(key, { key, exp: t.exp, pid: t.pid, threads: [], active: 0,
				name: t.pid ? t.process : 'Kernel threads' })
		const p = byKey.get(key)
		p.threads.push(i)
		p.active += t.active
		t.key = key
	})
	data.processes = [...byKey.values()].filter(p => p.threads.some(i => data.threads[i].n))
	data.processes.sort((a, b) => b.active - a.active)
	for (const p of data.processes) {
		p.threads = p.threads.filter(i => data.threads[i].n)
		p.threads.sort((a, b) => data.threads[b].active - data.threads[a].active)
	}
}

// Returns a function (thread, time) of what make(comm, process, tid) makes of the names that a thread and its process had then;
// null: unknown. `kinds` has the names of a renamed thread, each with the time from which on it is valid.
export function namesAt(data, make) {
	const made = data.threads.map(t => (t.kinds || [[0, t.comm, t.pid && !t.process.startsWith('(unknown), PID') ?
		t.process.replace(/, (PID \d+|\d+ short-lived threads?, .*)$/, '') : null]]).map(([, comm, process = comm]) => make(comm, process, t.tid)))
	return (thread, time) => {
		const all = made[thread], { kinds } = data.threads[thread]
		return all[firstWhere(1, all.length, i => kinds[i][0] > time) - 1]
	}
}

// --- events ---

// Returns a function that decodes a pack in one of some workers. Calls done(chunks) for each pack.
export function eventDecoder(data, done, failed, nworkers = 2) {
	const about = { nthreads: data.nthreads, npaths: data.npaths, nclasses: data.classes.length, isWait: data.isWait,
		coarse: data.coarse, nsets: data.spanSets ? data.spanSets.length : 0 }
	const url = URL.createObjectURL(new Blob([workerText()], { type: 'text/javascript' }))
	const waiting = [], idle = []
	// Bytes can be given away. A text would be copied, which takes longer than to decode it here.
	const send = (worker, base64) => {
		const bytes = base64Bytes(base64)
		worker.postMessage({ bytes, about }, [bytes.buffer])
	}
	const next = () => {
		while (waiting.length && idle.length)
			send(idle.pop(), waiting.shift())
	}
	for (let i = 0; i < nworkers; i++) {
		const w = new Worker(url)
		w.onmessage = e => {
			idle.push(w)
			if (e.data.error)
				failed(e.data.error)
			else
				done(e.data.chunks)
			next()
		}
		w.onerror = e => failed(e.message)
		idle.push(w)
	}
	return base64 => { waiting.push(base64); next() }
}

export function addChunks(data, chunks) {
	data.chunks.push(...chunks)
	data.chunks.sort((a, b) => a.first - b.first)
	data.ndecoded = data.chunks.reduce((n, c) => n + c.n, 0)
	data.whole = data.ndecoded === data.nrows
}

// Returns the row of event i in the columns that only waits have.
export function waitRow(data, chunk, i) {
	let row = chunk.rows[i >> 8]
	for (let k = i & ~255; k < i; k++)
		row += data.isWait[chunk.cls[k]]
	return row
}

// Returns event i of a chunk as an object.
export function eventAt(data, chunk, i) {
	const c = data.classes[chunk.cls[i]]
	const wait = data.isWait[chunk.cls[i]]
	const end = chunk.base + chunk.time[i]
	const e = { chunk, i, id: chunk.first + i, end, weight: chunk.weight[i], class: c, wait: !!wait,
		state: c.state, thread: chunk.thread[i], path: chunk.path[i], cpu: chunk.cpu[i],
		begin: end - chunk.length[i], merged: chunk.merged ? chunk.merged[i] : 0,
		waker: -1, holder: -1, wakerPath: -1 }
	if (!wait)
		return e
	const row = waitRow(data, chunk, i)
	e.waker = chunk.waker[row] - 1
	e.holder = chunk.holder[row] - 1
	e.wakerPath = chunk.wakerPath[row] - 1
	return e
}

export function eventById(data, id) {
	for (const c of data.chunks) {
		if (id >= c.first && id < c.first + c.n)
			return eventAt(data, c, id - c.first)
	}
	return null
}

// Returns the functions of a path, root first.
export function pathFuncs(data, path) {
	return nodeFuncs(data, data.pathNode[path])
}

export function nodeFuncs(data, node) {
	const ret = []
	for (; node; node = data.tree.parent[node])
		ret.push(data.tree.func[node])
	return ret.reverse()
}
