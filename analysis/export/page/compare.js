// SPDX-License-Identifier: GPL-2.0-or-later
// Compares two sides, A and B: two experiments, or two ranges of time. Functions are matched by
// their names and those of their files, and errors are computed, as er_print -diff does it
// (analysis/views/diff.c): CPU time is a sample of an exact total, and waits come at random. The total of a range
// is sampled, too.
import { functionTimes, nodeTimes, wideOnes } from './tree.js'
import { dividesThreads } from './filter.js'
import { isCount } from './metrics.js'
import { PARTS, gatherCounts, gatherVariances, varianceByChance } from './variance.js'
import { totalOf } from './numbers.js'

const CHANCE = 0.01 // that two equal sides seem to differ in any function

// --- sides ---

// The sides that the state chooses: {group, from, to, seconds}; null is everything. state.a and
// state.b are [], [group] or [group, from, to]; group 0 is all. A side without a range of its own
// has that of the filter.
export function sidesOf(data, state) {
	const several = (data.groups || []).length > 1
	return [[state.a, 1], [state.b, 2]].map(([chosen, first]) => {
		const group = chosen.length ? chosen[0] || null : several ? first : null
		const own = chosen.length === 3
		const side = { group, own, from: own ? chosen[1] : state.from, to: own ? chosen[2] : state.to }
		return { ...side, seconds: recordedTime(data, side) / 1e6 }
	})
}

// The filter of one side.
export function sideFilter(state, { group, from, to }) {
	return { ...state, group: group === null ? state.group : group, from, to }
}

export function sameSides([a, b]) {
	return a.group === b.group && a.from === b.from && a.to === b.to
}

// The recorded time, the sum over the experiments of the side.
function recordedTime(data, { group, from, to }) {
	const all = data.experiments.filter(e => group === null || e.group === group)
	return all.reduce((sum, e) => sum + Math.max(0,
		Math.min(e.end, to === null ? e.end : to) - Math.max(e.begin, from === null ? e.begin : from)), 0)
}

// --- names ---

// Numbers the functions: those of one name in files of one name have the same number. Returns
// {of: by function, first: by number a function, names: by number}.
export function functionKeys(data) {
	if (data.functionKeys)
		return data.functionKeys
	const known = new Map(), keys = { of: new Uint32Array(data.funcs.length), first: [], names: [] }
	data.funcs.forEach((name, f) => {
		const [object, path, kernel] = data.objects[data.func_objects[f]]
		const own = kernel || name.startsWith('<')
		// Functions of processes that were not followed have a PID in their names.
		const shown = name.startsWith('<') ? name.replace(/_PID_.*/, '>') : name
		const text = own ? shown : `${shown} [${path.replace(/.*\//, '') || object}]`
		if (!known.has(text)) {
			known.set(text, keys.first.length)
			keys.first.push(f)
			keys.names.push(shown)
		}
		keys.of[f] = known.get(text)
	})
	return data.functionKeys = keys
}

// --- sums ---

function summed(values, of, n) {
	const ret = new Float64Array(n)
	for (let i = 0; i < values.length; i++)
		ret[of[i]] += values[i]
	return ret
}

// The exclusive and inclusive sums of each name.
function sumsByKey(data, sums) {
	const keys = functionKeys(data), n = keys.first.length, ret = { excl: {}, incl: {} }
	for (const part of PARTS) {
		const times = functionTimes(data, sums[part])
		ret.excl[part] = summed(times.excl, keys.of, n)
		ret.incl[part] = summed(times.incl, keys.of, n)
	}
	return ret
}

const at = (values, i) => ({ cpu: values.cpu[i], wait: values.wait[i], squares: values.squares[i] })
const hasTime = v => v.cpu !== 0 || v.wait !== 0

// --- errors ---

// The probability that a normal variable exceeds z, at least 3 (a continued fraction).
function upperTail(z) {
	let f = z
	for (let k = 60; k > 0; k--)
		f = z + k / f
	return Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI) / f
}

// The number of standard errors that one of n equal pairs exceeds with this probability at most
// (Bonferroni); at least 3.
export function errorsFor(chance, n) {
	let low = 3, high = 40
	for (let i = 0; i < 60; i++) {
		const z = (low + high) / 2
		if (upperTail(z) > chance / Math.max(1, n))
			low = z
		else
			high = z
	}
	return low
}

// The threshold as er_print writes it.
export const thresholdText = data => +(100 * data.threshold).toPrecision(4) + ' %'

// Compares a value of A with one of B. Returns {a, b, by, error} in nanoseconds or in the metric's unit, for each second
// of recording if c.rate; and the verdict, for which the threshold is a share of A, or of its total if A is 0.
function judge(c, values) {
	const cpu = c.totals[0].cpu + c.totals[1].cpu
	const p = cpu ? Math.min(1, (values[0].cpu + values[1].cpu) / cpu) : 0
	const value = values.map((v, g) => (v.cpu + v.wait) * c.scale / c.per[g])
	const variance = values.map((v, g) =>
		(c.totals[g].cpuSquares * p * (c.sampled[g] ? 1 : 1 - p) + v.squares) * c.scale ** 2 / c.per[g] ** 2)
	const by = value[1] - value[0], error = Math.sqrt(variance[0] + variance[1])
	const a = Math.round(value[0]), b = Math.round(value[1])
	const least = c.data.threshold * (value[0] > 0 ? value[0] : (c.totals[0].cpu + c.totals[0].wait) * c.scale / c.per[0])
	const sure = Math.abs(by) - c.z * error > least && Math.max(...value) >= c.z * c.z * c.sample
	const verdict = !by || !sure ? 'same' : by > 0 ? (value[0] > 0 ? 'slower' : 'new') :
		value[1] > 0 ? 'faster' : 'gone'
	return { a, b, by: b - a, error: Math.round(error), verdict,
		percent: value[0] > 0 ? 100 * by / value[0] : null }
}

// A mean sample of a side, weighted by time.
function sampleOf(c, t, per) {
	return hasTime(t) ? (t.cpuSquares + t.squares) / (t.cpu + t.wait) * c.scale / per : 0
}

// Adds up both sides, each with its filter, by the metric. With rate, values are for each second of
// recording. c.scale makes nanoseconds of microseconds.
export function makeComparison(data, filters, sides, metric, rate) {
	const sums = filters.map(state => isCount(metric) ? gatherCounts(data, state, metric) : gatherVariances(data, state, metric, varianceByChance))
	const c = { data, sums, rate, scale: isCount(metric) ? 1 : 1000, sampled: filters.map(f => dividesThreads(data, f)), per: sides.map(s => rate ? s.seconds || 1 : 1) }
	c.totals = sums.map(s => ({ cpu: totalOf(s.cpu), wait: totalOf(s.wait), squares: totalOf(s.squares),
		cpuSquares: s.cpuSquares }))
	c.byKey = sums.map(s => sumsByKey(data, s))
	// With fewer than z squared samples nothing differs from 0 by z standard errors.
	c.sample = Math.max(...c.totals.map((t, g) => sampleOf(c, t, c.per[g])))
	c.z = errorsFor(CHANCE, countComparisons(c))
	return c
}

// How many comparisons are made: each may be wrong.
function countComparisons(c) {
	let n = 0
	for (const flavor of ['excl', 'incl']) {
		for (let key = 0; key < functionKeys(c.data).first.length; key++)
			n += c.byKey.some(side => hasTime(at(side[flavor], key))) ? 1 : 0
	}
	return n
}

// Rows {key, name, excl, incl}; the first one is the total.
export function comparedRows(c) {
	const keys = functionKeys(c.data), whole = judge(c, c.totals)
	const rows = [{ key: -1, name: '<Total>', excl: whole, incl: whole }]
	keys.names.forEach((name, key) => {
		const incl = c.byKey.map(side => at(side.incl, key))
		const excl = c.byKey.map(side => at(side.excl, key))
		if (incl.some(hasTime))
			rows.push({ key, name, incl: judge(c, incl), excl: judge(c, excl) })
	})
	return rows
}

// --- the tree of both sides ---

// Merges nodes whose functions have the same names. Returns for each node of the call tree its
// number, and the parent and the name of each number.
function mergedNodes(data) {
	const { tree } = data, keys = functionKeys(data), known = new Map()
	const of = new Uint32Array(tree.n), parent = [0], key = [-1]
	for (let i = 1; i < tree.n; i++) {
		const up = of[tree.parent[i]], k = keys.of[tree.func[i]], id = up * keys.first.length + k
		if (!known.has(id)) {
			known.set(id, parent.length)
			parent.push(up)
			key.push(k)
		}
		of[i] = known.get(id)
	}
	return { of, parent, key, n: parent.length }
}

// The call tree of both sides for a flame graph: items {func, us, pair}, and the largest difference.
// An item is as wide as the mean of both, so what vanished and what is new are in one picture.
export function comparedTree(c) {
	const keys = functionKeys(c.data), merged = mergedNodes(c.data)
	const sums = c.sums.map(s => Object.fromEntries(PARTS.map(part =>
		[part, summed(nodeTimes(c.data, s[part]), merged.of, merged.n)])))
	const below = Array.from({ length: merged.n }, () => [])
	for (let i = 1; i < merged.n; i++)
		below[merged.parent[i]].push(i)
	const value = (g, i) => (sums[g].cpu[i] + sums[g].wait[i]) * c.scale / c.per[g]
	const width = i => (value(0, i) + value(1, i)) / 2
	const item = (i, depth) => ({ node: i, depth, us: width(i), func: i ? keys.first[merged.key[i]] :
		-1, pair: judge(c, sums.map(s => at(s, i))) })
	return {
		root: item(0, 0),
		largest: merged.key.reduce((most, _, i) =>
			Math.max(most, Math.abs(value(1, i) - value(0, i))), 0),
		children: (of, least) => wideOnes(of, below[of.node].filter(i => width(i) > 0)
			.map(i => item(i, of.depth + 1)), least),
	}
}
