// SPDX-License-Identifier: GPL-2.0-or-later
// Recorded calls of spans: what their lanes draw, and what is known of one.
import { reader } from './pack.js'
import { firstWhere } from './numbers.js'

export const SPAN_FLAG = { returned: 1, threadEnd: 2, exec: 4, left: 8, openStart: 16, openEnd: 32 }

const MAX_LEVELS = 32 // a thread has at most so many open; a damaged recording may have more

// Reads the calls: {thread, name, begin, end (nanoseconds), rank, flags, times (pairs of a state and
// nanoseconds), args, level, index}, and pct: so many percent of its name's calls are shorter. data.spanCalls has all of them; data.spanLanes those of each thread,
// in the order of their begins. level counts the calls of the thread that are open at its begin.
export function readSpans(data, bytes, sets) {
	data.spanCalls = []
	readSets(data, sets)
	data.spanLanes = new Map()
	if (!bytes || !data.spans)
		return
	let at = 0
	for (const r = reader(bytes); r.more;) {
		const c = { index: data.spanCalls.length, thread: r.uint(), name: r.uint() }
		at += r.int()
		c.begin = at
		c.end = at + r.uint()
		c.rank = r.uint()
		c.pct = r.uint()
		c.flags = r.uint()
		const mask = r.uint()
		c.times = data.states.map((_, s) => s).filter(s => mask >> s & 1).map(s => [s, r.uint()])
		c.args = Array.from({ length: r.uint() }, () => (BigInt(r.int()) << 32n) + BigInt(r.uint()))
		data.spanCalls.push(c)
		const lane = data.spanLanes.get(c.thread)
		lane ? lane.push(c) : data.spanLanes.set(c.thread, [c])
	}
	data.spanLanes.forEach(layOut)
	const { drawn, recorded } = data.spans
	if (drawn < recorded)
		data.about.push(`${drawn} of ${recorded} recorded calls of spans are drawn: the slowest of each name, in threads that have samples or waits.`)
}

// Reads the sets of calls that contain events: data.spanSets[k] has the indexes + 1 of set k. Set 0 is that of
// events outside of any call. null: the page does not have all of these calls.
function readSets(data, bytes) {
	data.spanSets = bytes ? [[0]] : null
	for (const r = reader(bytes || []); r.more;)
		data.spanSets.push(Array.from({ length: r.uint() }, r.uint))
}

// Gives each call the lowest level that no earlier call still has. lane.levels is their number;
// lane.longest the length of the longest call.
function layOut(lane) {
	const ends = []
	lane.sort((p, q) => p.begin - q.begin || q.end - p.end)
	for (const c of lane) {
		const free = ends.findIndex(end => end <= c.begin)
		c.level = free >= 0 ? free : Math.min(ends.length, MAX_LEVELS - 1)
		ends[c.level] = Math.max(c.end, ends[c.level] || 0)
	}
	lane.levels = ends.length
	lane.longest = lane.reduce((n, c) => Math.max(n, c.end - c.begin), 0)
}

// The index of the first call of a lane that may reach a time (nanoseconds).
function firstFrom(lane, time) {
	return firstWhere(0, lane.length, k => lane[k].begin >= time - lane.longest)
}

// Calls fn(call) for the calls of a thread that overlap a range in microseconds.
export function eachSpan(data, thread, from, to, fn) {
	const lane = data.spanLanes.get(thread)
	if (!lane)
		return
	for (let i = firstFrom(lane, from * 1000); i < lane.length && lane[i].begin < to * 1000; i++) {
		if (lane[i].end >= from * 1000)
			fn(lane[i])
	}
}

// The colour of a name, from its place among all names.
export function spanColor(data, name) {
	return `hsl(${Math.round(205 + 137.5 * name) % 360} 45% 55%)`
}

// Draws the calls of a lane, each level in its part of the height. A call is at least a pixel wide.
export function drawSpans(c, data, lane, range, place, chosen, colors) {
	const levels = data.spanLanes.get(lane.thread).levels, height = Math.max(2, place.height / Math.min(levels, 6))
	const drawn = new Map()
	eachSpan(data, lane.thread, ...range, call => {
		const level = Math.min(call.level, 5), a = Math.max(place.left, place.xOf(call.begin / 1000))
		const b = Math.min(place.right, Math.max(place.xOf(call.end / 1000), a + 1))
		// Where calls are dense, one stands for those in its pixel.
		if (b <= (drawn.get(level) || 0) && call.index !== chosen)
			return
		drawn.set(level, Math.ceil(b))
		c.fillStyle = spanColor(data, call.name)
		c.fillRect(a, place.y + level * height, b - a, Math.max(1, height - 1))
		if (call.index === chosen) {
			c.strokeStyle = colors.text
			c.strokeRect(a, place.y + level * height, b - a, height - 1)
		}
	})
}

// The call at a place of a lane: the innermost one there, or one at most 3 pixels away; null: none.
export function spanNear(data, thread, time, us) {
	let best = null
	eachSpan(data, thread, time - us, time + us, call => {
		const inside = call.begin / 1000 <= time && time < call.end / 1000
		if (!best || inside >= best.inside)
			best = { call, inside }
	})
	return best && best.call
}
