// SPDX-License-Identifier: GPL-2.0-or-later
// Objects of types that the user defined, and memory objects: which object each event belongs to. The expressions of
// types were evaluated when the file was written.
import { countInts, inflate, parseBytes, readUints, reader, sections } from './pack.js'
import { lazyPart } from './lazy.js'
import { literal } from './filter.js'

const MINUS = 2 // as in page_objects.h

// The names of the types of index objects, or of memory objects.
export const objectTypes = (data, memory) => (data.objtypes || []).filter(t => !!t[1] === memory).map(t => t[0])

export const makeObjects = (data, loaded, failed) => lazyPart(({ objects }) => objects, ({ objects }) => readObjects(data, objects[0]), loaded, failed)

// of(name, counts) returns {names, values, keyOf(chunk, i), at(row)} of a type: the key of an event, an index into names and
// values + 1; 0: the type does not apply to it. A value is a number, a text, or null: unknown. counts: for events of data.counts.
async function readObjects(data, base64) {
	const s = sections(await inflate(base64)), names = parseBytes(s.json), width = names.length, value = reader(s.vals)
	const uints = bytes => readUints(bytes, countInts(bytes), new Uint32Array(countInts(bytes)))
	const tuples = uints(s.tupl), all = uints(s.alle), counted = uints(s.cnte)
	const values = names.map((list, t) => list.map(name => valueOf(data.objtypes[t], name, value.int())))
	return {
		of(name, counts) {
			const t = data.objtypes.findIndex(o => o[0] === name), tupleOf = counts ? counted : all
			const at = row => tupleOf[row] ? tuples[(tupleOf[row] - 1) * width + t] : 0
			return { names: names[t], values: values[t], at, keyOf: (chunk, i) => at(chunk.first + i) }
		},
	}
}

// As er_print's filters see it. MINUS: -1 is a value.
function valueOf([, , filter, isText], name, number) {
	return number === -1 && filter !== MINUS ? null : !isText ? number : number ? name : ''
}

// The type that an expression names, [name, memory, filter, text]; undefined: none.
export const objectType = (data, name) => (data.objtypes || []).find(t => t[0].toUpperCase() === name)

// The change of the filter to one object; null: it has no value. It takes the place of another object.
export function objectFilter({ data, state }, name, value) {
	const type = objectType(data, name.toUpperCase())
	if (value === null || !type[2])
		return null
	const clause = `${name} == ${type[3] ? `"${literal(value)}"` : value}`, old = /^(\w+) == (-?\d+|"[^"]*")$/.exec(state.expr)
	return { expr: state.expr && !(old && objectType(data, old[1].toUpperCase())) ? `(${state.expr}) && ${clause}` : clause }
}
