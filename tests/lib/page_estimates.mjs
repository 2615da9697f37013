// SPDX-License-Identifier: GPL-2.0-or-later
// page_estimates.mjs MODULES PAGE: takes two seconds of a page as one, estimates how its times divide between them, and
// compares that with what is known exactly. Prints "compared N", "within N" two standard errors, the same of
// sums over all threads ("sums N", "sums_within N"), and how far these are off.
import { readFileSync } from 'fs'

const [app, file] = process.argv.slice(2)
const [{ readIndex, addChunks }, { base64Bytes }, { decodeEvents }, { addSnapshots, addSeconds, NKINDS, NSUMMED, KINDS }, { makePart, addEventsToParts, divideTimes }] =
	await Promise.all(['data.js', 'pack.js', 'decode.js', 'snapshots.js', 'estimate.js'].map(name => import(app + name)))
const packs = { snaps: [] }
for (const [, kind, text] of readFileSync(file, 'utf8').matchAll(/data-pack="(\w+)">([^<]*)/g))
	packs[kind] = [...packs[kind] || [], text]
const data = await readIndex(packs.index[0])
const about = { nthreads: data.nthreads, npaths: data.npaths, nclasses: data.classes.length, isWait: data.isWait, coarse: data.coarse, nsets: 0 }
for (const pack of packs.events)
	addChunks(data, await decodeEvents(base64Bytes(pack), about))
for (const pack of packs.snaps)
	await addSnapshots(data, pack)

const e = data.snaps.exps[0]
let compared = 0, within = 0, nsums = 0, sumsWithin = 0

// The times of each owner in some seconds, in microseconds.
function secondsOf(from, to) {
	const sums = new Float64Array(data.snaps.own.length * NKINDS)
	addSeconds(e, from, to, sums)
	return o => sums.slice(o * NKINDS, o * NKINDS + NSUMMED).map(ns => ns / 1000)
}

for (let k = 1; k + 2 < e.n; k++) {
	const both = secondsOf(k, k + 2), first = secondsOf(k, k + 1), us = ns => ns / 1000
	const part = makePart(data, us(e.edges[k]), us(e.edges[k + 2]), us(e.edges[k]), us(e.edges[k + 1]))
	const sums = KINDS.slice(0, NSUMMED).map(name => ({ name, estimate: 0, exact: 0, error: 0 }))
	addEventsToParts(data, data.threads.map(() => [part]))
	data.snaps.own.forEach((own, o) => {
		const all = both(o), want = first(o), total = all.reduce((a, b) => a + b, 0), whole = part.end - part.begin
		if (!total)
			return
		const life = Math.abs(total - whole) < 1000 ? (part.to - part.from) * total / whole : null
		const got = divideTimes(part, own - 1, all, life)
		got.us.forEach((v, kind) => {
			Object.assign(sums[kind], { estimate: sums[kind].estimate + v, exact: sums[kind].exact + want[kind], error: sums[kind].error + Math.sqrt(Math.max(0, got.variance[kind])) })
			if (all[kind] < 1000)
				return
			compared++
			within += Math.abs(v - want[kind]) <= 2 * Math.sqrt(got.variance[kind]) + e.took / 1000
		})
	})
	for (const s of sums.filter(s => s.exact > 1000)) {
		nsums++
		sumsWithin += Math.abs(s.estimate - s.exact) <= 2 * s.error + e.took / 1000
		console.log(`second ${k} ${s.name}: ${s.estimate.toFixed(0)} ±${s.error.toFixed(0)} us, exactly ${s.exact.toFixed(0)}`)
	}
}
console.log(`compared ${compared}\nwithin ${within}\nsums ${nsums}\nsums_within ${sumsWithin}`)
