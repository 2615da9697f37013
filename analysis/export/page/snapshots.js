// SPDX-License-Identifier: GPL-2.0-or-later
// The exact states of threads in each second between two usage samples, as the recorder's snapshots
// have them. They do not come from events. Times are nanoseconds, and exact below 2^53.
import { makeFilter } from './filter.js'
import { inflate, parseBytes, reader, sections } from './pack.js'
import { hasRange } from './store.js'

// The kinds of times, as page_snapshots.c numbers them, by state. The first is all CPU time; the last two are
// the parts of it that --exact-user measured.
export const KINDS = ['CPU', 'SLEEP', 'WAIT_CPU', 'USER_LOCK', 'DFAULT', 'TFAULT', 'KFAULT', 'STOPPED', 'USER', 'SYSTEM']
export const NKINDS = 10, NSUMMED = 8, USER = 8, SYSTEM = 9

// Sets data.snaps: null, there are none; else {why, exps, own, fold}. `why` is empty if the file has the packs. Owner
// i of a time is the thread own[i] - 1, or a thread of the fold whose sums the thread fold[i] - 1 has. Second k of an
// experiment is the time between edges[k] and edges[k + 1].
export function readSnapshots(data, s) {
	data.snaps = null
	if (!s.snjs)
		return
	const snaps = parseBytes(s.snjs), times = reader(s.snat), owners = reader(s.snow)
	for (const e of snaps.exps) {
		e.edges = [e.begin]
		for (let k = 0, at = e.begin; k < e.n; k++)
			e.edges.push(at += times.int())
		e.seconds = new Array(e.n).fill(null)
		e.gaps = []
	}
	snaps.own = []
	snaps.fold = []
	while (owners.more) {
		snaps.own.push(owners.uint())
		snaps.fold.push(owners.uint())
	}
	data.snaps = snaps
}

// Whether all packs were read.
export const hasSnapshots = ({ snaps }) => !!snaps && !snaps.why && snaps.packs === 0

// Reads a pack.
export async function addSnapshots(data, base64) {
	const r = reader(sections(await inflate(base64)).snap)
	while (r.more) {
		const e = data.snaps.exps[r.uint()], k = r.uint()
		e.seconds[k] = readSecond(r, e, k)
	}
	data.snaps.packs--
}

// A second has columns: record i belongs to owner[i], and its times are start[i] to start[i + 1] - 1.
function readSecond(r, e, k) {
	const n = r.uint(), owner = new Uint32Array(n), start = new Uint32Array(n + 1), kind = [], ns = []
	for (let i = 0, last = 0; i < n; i++) {
		owner[i] = last += r.int()
		const head = r.uint()
		// Before this second the thread had no record, and was in one state.
		if (head % 2)
			e.gaps.push({ owner: last, second: k, n: r.uint(), kind: r.uint(), late: r.int() })
		readRecord(r, head >> 1, e.edges[k + 1] - e.edges[k], kind, ns)
		start[i + 1] = kind.length
	}
	return { n, owner, start, kind: Uint8Array.from(kind), ns: Float64Array.from(ns) }
}

// The longest time is what the others leave of the second, and a difference.
function readRecord(r, head, length, kind, ns) {
	const longest = head & 15, mask = head >> 4
	let at = -1
	for (let s = 0; s < NKINDS; s++) {
		if (!(mask >> s & 1))
			continue
		if (s === longest)
			at = ns.length
		const v = r.int()
		if (s !== longest && s < NSUMMED)
			length -= v
		kind.push(s)
		ns.push(v)
	}
	ns[at] += length
}

// Adds the times of some seconds to sums: sums[owner * NKINDS + kind].
export function addSeconds(e, from, to, sums) {
	for (let k = from; k < to; k++) {
		const { n, owner, start, kind, ns } = e.seconds[k]
		for (let i = 0; i < n; i++) {
			for (let c = start[i]; c < start[i + 1]; c++)
				sums[owner[i] * NKINDS + kind[c]] += ns[c]
		}
	}
	for (const { owner, second, n, kind, late } of e.gaps) {
		const a = Math.max(from, second - n), b = Math.min(to, second)
		if (b > a)
			sums[owner * NKINDS + kind] += e.edges[b] - e.edges[a] - (a === second - n ? late : 0)
	}
}

// The time of which it is not known whether it was within these seconds.
export function vagueTime(e, from, to, passes) {
	return e.vague.reduce((sum, [owner, begin, second, ns]) =>
		sum + (passes(owner) && from <= second && (from > begin || to <= second) ? ns : 0), 0)
}

// --- edges of seconds ---

const inUs = ns => Math.floor(ns / 1000)

// The edge that is nearest to a time in nanoseconds.
export function nearestEdge(e, ns) {
	let best = 0
	for (let k = 1; k < e.edges.length; k++) {
		if (Math.abs(e.edges[k] - ns) < Math.abs(e.edges[best] - ns))
			best = k
	}
	return best
}

// The edges that er_print's times leave of an experiment.
function limits(snaps, e) {
	return [snaps.from === undefined ? 0 : nearestEdge(e, snaps.from), snaps.to === undefined ? e.n : nearestEdge(e, snaps.to)]
}

// Divides a range: seconds `first` to `last` - 1 are whole; `parts` of others are {second, from, to}, in nanoseconds.
export function divideRange(snaps, e, { from, to }) {
	const [low, high] = limits(snaps, e), us = e.edges.map(inUs)
	const place = (time, open, k) => {
		if (time === null || (open === low ? time <= us[low] : time >= us[high]))
			return [open, null]
		while (k < high && us[k + 1] <= time)
			k++
		return [k, us[k] >= time || k === high ? null : time * 1000]
	}
	const [a, fromNs] = place(from, low, low), [b, toNs] = place(to, high, low)
	if (fromNs !== null && toNs !== null && a === b)
		return { first: a, last: a, parts: toNs > fromNs ? [{ second: a, from: fromNs, to: toNs }] : [] }
	const parts = []
	if (fromNs !== null)
		parts.push({ second: a, from: fromNs, to: e.edges[a + 1] })
	if (toNs !== null)
		parts.push({ second: b, from: e.edges[b], to: toNs })
	return { first: fromNs === null ? a : a + 1, last: b, parts }
}

// The experiments with threads that pass the filter, of those with snapshots.
export function askedExps(data, state) {
	const { thread } = makeFilter(data, state)
	const asked = thread && new Set(data.threads.filter((t, i) => thread[i]).map(t => t.exp))
	return data.snaps.exps.filter(e => !asked || asked.has(e.exp))
}

// The change of the state that moves the ends of its range to the nearest usage samples; null: there are none,
// or the range begins and ends at such. Of several recordings that pass, it is the first one's.
export function wholeSeconds(data, state) {
	if (!hasSnapshots(data) || !hasRange(state))
		return null
	const e = askedExps(data, state)[0] || data.snaps.exps[0], [low, high] = limits(data.snaps, e), at = ns => Math.max(low, Math.min(high, nearestEdge(e, ns)))
	let a = state.from === null ? low : at(state.from * 1000), b = state.to === null ? high : at(state.to * 1000)
	if (a === b)
		a === high || (a > low && e.edges[a] > state.from * 1000) ? a-- : b++
	const patch = { from: inUs(e.edges[a]), to: b === e.n ? Math.max(inUs(e.edges[b]), data.end) : inUs(e.edges[b]) }
	return patch.from === state.from && patch.to === state.to ? null : patch
}
