// SPDX-License-Identifier: GPL-2.0-or-later
// Marks on the timeline: the seconds in which threads lost records, the compared ranges, and the
// sample points.
import { samplesOf } from './samples.js'

// The losses of a thread; null: of all threads, also of those without a lane. A loss is
// {thread, from, to, n}: n records of the thread between two times.
export function lossesOf(data, thread) {
	if (!data.losses) {
		const all = (data.lost || []).map(([t, from, to, n]) => ({ thread: t, from, to, n }))
		data.losses = new Map(all.map(l => [l.thread, []]))
		all.forEach(l => data.losses.get(l.thread).push(l))
		data.losses.set(null, all)
	}
	return data.losses.get(thread) || []
}

const overlaps = (loss, from, to) => loss.from < to && loss.to > from

// The number of lost records of the filter's threads in the filter's range.
export function countLost(data, filter) {
	return lossesOf(data, null).reduce((n, l) => n + (overlaps(l, filter.from, filter.to) &&
		(!filter.thread || (l.thread >= 0 && filter.thread[l.thread])) ? l.n : 0), 0)
}

// The number of a thread's records that were lost about a time.
export function lostAt(data, thread, time) {
	return lossesOf(data, thread).reduce((n, l) => n + (overlaps(l, time, time + 1) ? l.n : 0), 0)
}

function hatching(c, color) {
	const tile = new OffscreenCanvas(6, 6), t = tile.getContext('2d')
	t.strokeStyle = color
	t.lineWidth = 1.5
	for (const x of [-6, 0, 6]) {
		t.beginPath()
		t.moveTo(x, 6)
		t.lineTo(x + 6, 0)
		t.stroke()
	}
	return c.createPattern(tile, 'repeat')
}

// Hatches losses on a lane. place: {xOf(time), left, right, y, height}; each stretch once.
export function drawLosses(c, losses, place, colors) {
	const shown = losses.map(l => [Math.max(place.left, place.xOf(l.from)),
		Math.min(place.right, Math.max(place.xOf(l.to), place.xOf(l.from) + 2))])
		.filter(([a, b]) => b > a).sort((p, q) => p[0] - q[0])
	if (shown.length)
		c.fillStyle = hatching(c, colors.bad)
	let end = -Infinity
	for (const [a, b] of shown) {
		const from = Math.max(a, end)
		if (b > from)
			c.fillRect(from, place.y, b - from, place.height)
		end = Math.max(end, b)
	}
}

// Draws a bracket with its letter above each side that has a range of its own.
export function drawSides(c, sides, place, colors) {
	sides.forEach((side, i) => {
		const a = Math.max(place.left, place.xOf(side.from)), b = Math.min(place.right, place.xOf(side.to))
		if (!side.own || b < place.left || a > place.right)
			return
		c.fillStyle = i ? colors.more : colors.less
		c.fillRect(a, place.y, b - a, 2)
		c.fillRect(a, place.y, 1, place.height)
		c.fillRect(b - 1, place.y, 1, place.height)
		const letter = 'AB'[i], width = c.measureText(letter).width + 6
		c.fillRect(a, place.y, width, place.height)
		c.fillStyle = colors.back
		c.fillText(letter, a + 3, place.y + place.height / 2 + 1)
	})
}

// The labels of sample points that the recorder sets by itself.
const ordinary = ['', 'start', 'periodic', 'end', 'stop']

// Draws a triangle at each sample point; one that the user set has its label.
export function drawSamples(c, data, chosen, place, colors) {
	let free = -Infinity
	samplesOf(data).forEach((s, i) => {
		const x = place.xOf(s.end), own = !ordinary.includes(s.label)
		if (x < place.left || x > place.right)
			return
		// Where points are dense, one stands for its neighbours.
		if (x < free && !own && i !== chosen)
			return
		free = x + 4
		c.fillStyle = i === chosen || own ? colors.accent : colors.faint
		c.beginPath()
		c.moveTo(x - 4, place.y)
		c.lineTo(x + 4, place.y)
		c.lineTo(x, place.y + 6)
		c.fill()
		if (own)
			c.fillText(s.label, x + 6, place.y + 5)
	})
}

// The sample point nearest to a place on the axis, at most 6 pixels away; null: there is none.
export function sampleNear(data, x, xOf) {
	let best = null, least = 6
	samplesOf(data).forEach((s, i) => {
		const far = Math.abs(xOf(s.end) - x)
		if (far <= least) {
			least = far
			best = i
		}
	})
	return best
}
