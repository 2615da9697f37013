// SPDX-License-Identifier: GPL-2.0-or-later
// Where in their functions stacks go: sums by line and by pc under the page's filter. The packs `places` and
// `later` have what this needs; they are read when a view first asks for it.
import { inflate, parseBytes, readInts, readUints, sections } from './pack.js'
import { lazyPart } from './lazy.js'
import { linkChildren } from './data.js'
import { ofOneState } from './aggregate.js'
import { countSums } from './counts.js'
import { outermostOf, timesBy } from './tree.js'
import { indexArray } from './decode.js'
import { eachEvent } from './walk.js'
import { totalOf } from './numbers.js'

const PACK_EVENTS = 2 ** 18 // as in page_columns.c

// Returns {known, add(base64, kind), get()}, as lazyPart. There is one pack of places, and one `later` for each pack of events.
export function makePlaces(data, loaded, failed) {
	const has = ({ places, later = [] }) => data.whole && places && later.length * PACK_EVENTS >= data.nrows
	return { ...lazyPart(has, texts => readPlaces(data, texts), loaded, failed), known: data.reports.places > 0 }
}

const uints = (bytes, n) => readUints(bytes, n, new Float64Array(n))

// Each index of a node is that of a variant: {tree, pathNode, npaths} have the form that tree.js adds up.
async function readPlaces(data, { places, later = [] }) {
	const s = sections(await inflate(places[0])), names = parseBytes(s.plnm)
	const perFunc = uints(s.plfn, data.funcs.length), ret = { ...readVariants(data, s, perFunc), ...await readLater(data, later) }
	const n = ret.nplaces = totalOf(perFunc), funcOf = new Uint32Array(n)
	for (let f = 0, at = 0; f < perFunc.length; at += perFunc[f++])
		funcOf.fill(f, at, at + perFunc[f])
	ret.funcOf = funcOf
	ret.locks = s.lock ? parseBytes(s.lock) : null
	Object.assign(ret, parseBytes(s.fctr))
	for (const [kind, tag] of [['lines', 'plln'], ['pcs', 'plpc']]) {
		const key = readInts(s[tag], n, new Float64Array(n)), func = new Uint32Array(names[kind].length)
		for (let p = 0; p < n; p++) {
			key[p] += p ? key[p - 1] : 0
			func[key[p]] = funcOf[p]
		}
		ret[kind] = { names: names[kind], func, ...keying(ret, key, func.length) }
	}
	return ret
}

// What tree.js adds up by: keys are by place, below n.
export function keying({ tree, place }, keys, n) {
	const keyOf = Int32Array.from(place, p => keys[p])
	return { n, keyOf, outermost: outermostOf(tree, keyOf, n) }
}

// The variants of node i are those from base[i] on.
function readVariants(data, s, perFunc) {
	const perNode = uints(s.vcnt, data.tree.n - 1), n = 1 + totalOf(perNode)
	const parents = uints(s.vpar, n - 1), places = uints(s.vplc, n - 1), firstOf = new Uint32Array(perFunc.length)
	const base = new Uint32Array(data.tree.n), parent = new Uint32Array(n), place = new Uint32Array(n)
	for (let f = 1; f < perFunc.length; f++)
		firstOf[f] = firstOf[f - 1] + perFunc[f - 1]
	for (let i = 1, v = 1; i < data.tree.n; i++) {
		base[i] = v
		for (let k = 0; k < perNode[i - 1]; k++, v++) {
			parent[v] = base[data.tree.parent[i]] + parents[v - 1]
			place[v] = firstOf[data.tree.func[i]] + places[v - 1]
		}
	}
	const tree = { n, parent }
	linkChildren(tree)
	return { tree, base, place, npaths: n, pathNode: Uint32Array.from(parent, (_, i) => i) }
}

// The variant of each event; of a wait its lock, and what tells how many waits it counts as.
async function readLater(data, packs) {
	const all = await Promise.all(packs.map(async text => sections(await inflate(text))))
	const floats = tag => {
		const values = new Float64Array(data.nrows)
		for (const s of all) {
			const [first, n] = uints(s.evts, 2)
			if (s[tag])
				readUints(s[tag], n, values.subarray(first, first + n))
		}
		return values
	}
	const column = tag => {
		const values = floats(tag)
		return indexArray(values, 1 + values.reduce((a, b) => Math.max(a, b), 0))
	}
	return { variant: column('vrnt'), lock: column('lock'), factor: column('fact'), lengthNs: column('lens'),
		others: all.some(s => s.othr) ? floats('othr') : null }
}

// What tells the variant of an event.
export function variantOf(data, { base, variant }) {
	return (chunk, i) => base[data.pathNode[chunk.path[i]]] + variant[chunk.first + i]
}

function addUp(data, state, places) {
	const ret = { cpu: new Float64Array(places.npaths), wait: new Float64Array(places.npaths) }, of = variantOf(data, places)
	eachEvent(data, state, (chunk, i) => {
		(data.isWait[chunk.cls[i]] ? ret.wait : ret.cpu)[of(chunk, i)] += chunk.weight[i]
	})
	return ret
}

// The times of each variant under the filter, as metrics.js reads them, with the tree that they belong to.
export function placeSums({ data, state, sums }, places) {
	if (!sums.places) {
		const known = new Map()
		sums.places = addUp(data, state, places)
		sums.places.ofState = s => {
			if (!known.has(s))
				known.set(s, addUp(data, ofOneState(state, s), places))
			return known.get(s)
		}
		sums.places.ofCount = countSums(data, state, places.npaths, (chunk, i) => places.base[data.pathNode[chunk.path[i]]] + chunk.variant[i])
	}
	return { data: places, sums: sums.places, n: places.npaths, keyOf: variantOf(data, places) }
}

// Exclusive and inclusive times by what keying() returned.
export const placeTimes = ({ keyOf, outermost, n }) => (data, us) => timesBy(data, us, keyOf, outermost, n)
