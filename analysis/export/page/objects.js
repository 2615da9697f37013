// SPDX-License-Identifier: GPL-2.0-or-later
// Objects of types that the user defined, and memory objects: which object each event belongs to. The expressions of
// types were evaluated when the file was written.
import { countInts, inflate, parseBytes, readUints, sections } from './pack.js'
import { lazyPart } from './lazy.js'

// The names of the types of index objects, or of memory objects.
export const objectTypes = (data, memory) => (data.objtypes || []).filter(t => !!t[1] === memory).map(t => t[0])

export const makeObjects = (data, loaded, failed) => lazyPart(({ objects }) => objects, ({ objects }) => readObjects(data, objects[0]), loaded, failed)

// of(name, counts) returns {names, keyOf(chunk, i)} of a type: the key of an event, an index into names + 1; 0: the type
// does not apply to it. counts: for events of data.counts.
async function readObjects(data, base64) {
	const s = sections(await inflate(base64)), names = parseBytes(s.json), width = names.length
	const uints = bytes => readUints(bytes, countInts(bytes), new Uint32Array(countInts(bytes)))
	const tuples = uints(s.tupl), all = uints(s.alle), counted = uints(s.cnte)
	return {
		of(name, counts) {
			const t = data.objtypes.findIndex(o => o[0] === name), tupleOf = counts ? counted : all
			return { names: names[t], keyOf: (chunk, i) => {
				const tuple = tupleOf[chunk.first + i]
				return tuple ? tuples[(tuple - 1) * width + t] : 0
			} }
		},
	}
}
