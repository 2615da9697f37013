// SPDX-License-Identifier: GPL-2.0-or-later
// How much of each pixel of a lane belongs to which state. A lane with many events is summed once
// in fine steps; a view that shows at least two steps in a pixel is taken from these sums, so that
// moving does not read the events again.
import { FLAG, NSTATES } from './data.js'
import { eachOfCpu, eachOfThread } from './lanes.js'

const FEW = 4096, STEPS_MOST = 32768, SUMS_KEPT = 64

// Returns the share of each state in n bins between `from` and `to`:
// shares[bin * NSTATES + state], where 1 is the whole bin.
export function laneBins(data, lane, from, to, n) {
	const about = aboutLane(data, lane), bins = new Float32Array(n * NSTATES), width = (to - from) / n
	if (about.n > FEW && width >= 2 * stepWidth(data, about)) {
		binSums(data, sumsOf(data, lane, about), from, width, bins, n)
		return bins
	}
	const late = to + about.longest
	eachOfLane(data, lane, from, (chunk, i) => {
		if (chunk.base + chunk.time[i] > late)
			return true
		addToBins(data, chunk, i, bins, from, width, n)
		return false
	})
	return bins
}

// What holds for all events of a lane: how many there are, the time that the longest extends over,
// the longest wait, and the states.
export function aboutLane(data, lane) {
	const all = lanesKnown(data), key = lane.kind === 'cpu' ? 'cpu ' + lane.cpu : lane.thread
	let about = all.get(key)
	if (about)
		return about
	about = { n: 0, longest: 0, longestWait: 0, states: new Uint8Array(NSTATES), sums: null }
	eachOfLane(data, lane, -Infinity, (chunk, i) => {
		const cls = chunk.cls[i], length = chunk.length[i]
		about.n++
		about.longest = Math.max(about.longest, length, chunk.weight[i])
		about.states[data.classes[cls].state] = 1
		if (data.isWait[cls] && length > about.longestWait)
			about.longestWait = length
		return false
	})
	all.set(key, about)
	return about
}

// Cleared when more events were decoded.
function lanesKnown(data) {
	if (!data.lanes || data.lanesFor !== data.ndecoded) {
		data.lanes = new Map()
		data.lanesSummed = []
		data.lanesFor = data.ndecoded
	}
	return data.lanes
}

function eachOfLane(data, lane, from, fn) {
	if (lane.kind === 'cpu')
		eachOfCpu(data, lane.cpu, from, fn)
	else
		eachOfThread(data, lane.thread, from, fn)
}

function addToBins(data, chunk, i, bins, from, width, n) {
	const cls = data.classes[chunk.cls[i]], weight = chunk.weight[i]
	const spread = Math.max(weight, chunk.length[i])
	if (cls.flags & FLAG.rest || spread <= 0 || weight <= 0)
		return
	const end = (chunk.base + chunk.time[i] - from) / width, begin = Math.max(0, end - spread / width)
	const share = weight / spread
	for (let b = Math.floor(begin), last = Math.min(n, end); b < last; b++)
		bins[b * NSTATES + cls.state] += (Math.min(last, b + 1) - Math.max(begin, b)) * share
}

// --- sums in fine steps ---

function stepsOf(about) {
	let steps = FEW
	while (steps < STEPS_MOST && steps < about.n)
		steps *= 2
	return steps
}

function stepWidth(data, about) {
	return (data.end - data.begin) / stepsOf(about)
}

// Returns {steps, states, of}: of[k][s] is the time in states[k] before step s, in steps.
function sumsOf(data, lane, about) {
	if (about.sums)
		return about.sums
	const steps = stepsOf(about), width = stepWidth(data, about)
	const bins = new Float32Array(steps * NSTATES)
	eachOfLane(data, lane, -Infinity, (chunk, i) => {
		addToBins(data, chunk, i, bins, data.begin, width, steps)
	})
	const states = [...about.states.keys()].filter(s => about.states[s])
	const of = states.map(state => {
		const sums = new Float64Array(steps + 1)
		for (let s = 0; s < steps; s++)
			sums[s + 1] = sums[s] + bins[s * NSTATES + state]
		return sums
	})
	about.sums = { steps, states, of }
	data.lanesSummed.push(about)
	if (data.lanesSummed.length > SUMS_KEPT)
		data.lanesSummed.shift().sums = null
	return about.sums
}

function binSums(data, { steps, states, of }, from, width, bins, n) {
	const scale = steps / (data.end - data.begin)
	const first = (from - data.begin) * scale, each = width * scale
	states.forEach((state, k) => {
		const sums = of[k]
		const before = at => {
			const s = Math.max(0, Math.min(steps, at)), whole = Math.min(steps - 1, Math.floor(s))
			return sums[whole] + (s - whole) * (sums[whole + 1] - sums[whole])
		}
		let last = before(first)
		for (let x = 0; x < n; x++) {
			const next = before(first + (x + 1) * each)
			bins[x * NSTATES + state] = (next - last) / each
			last = next
		}
	})
}
