// SPDX-License-Identifier: GPL-2.0-or-later
// Index objects: the time of each second, sample or state, as er_print -seconds, -samples and -states
// show it, and of objects of the user's types, under the page's filter.
import { makeGroupChoice } from './choice.js'
import { objectFilter, objectTypes } from './objects.js'
import { statesBy } from './walk.js'
import { clockless } from './lanes.js'
import { statesTable } from './view_threads.js'
import { sampleAt, samplesOf } from './samples.js'

// The kinds of objects: `of` makes the function that gives the key of an event, `name` names a key,
// `open` is the change of the filter to only this key; null: it cannot be filtered.
const kinds = {
	seconds: { title: 'Seconds', of: () => (chunk, i) => Math.trunc((chunk.base + chunk.time[i]) / 1e6),
		name: (data, key) => `Second of execution ${key}`,
		open: (data, key) => ({ from: Math.max(data.begin, key * 1e6), to: Math.min(data.end, (key + 1) * 1e6) }) },
	samples: { title: 'Samples', of: data => (chunk, i) => sampleAt(data, data.threads[chunk.thread[i]].exp, chunk.base + chunk.time[i]),
		name: sampleName,
		open: (data, key) => sampleRange(data, key) },
	states: { title: 'States', of: data => (chunk, i) => data.classes[chunk.cls[i]].state,
		name: (data, key) => data.states[key].name,
		open: (data, key) => ({ states: [key] }) },
}

// The same for a type that the user defined; null while it is read.
function userKind(page, type) {
	const objects = page.objects.get(), { names, values, keyOf } = objects ? objects.of(type, false) : {}
	return objects ? { of: () => keyOf, name: (data, key) => names[key - 1], open: (data, key) => objectFilter(page, type, values[key - 1]) } : null
}

// With the times and labels of both ends, unless there are several recordings.
function sampleName(data, key) {
	const s = data.experiments.length === 1 && samplesOf(data).find(s => s.number === key && s.begin !== null)
	const sec = us => ((us + 0.5) / 1e6).toFixed(3) // us are cut, not rounded
	return key < 0 ? '<Unknown>' : `Sample ${key}` +
		(s ? `, ${sec(s.begin)} to ${sec(s.end)} sec., ${s.from || '(none)'} to ${s.label || '(none)'}` : '')
}

// Of several recordings, each has its own times.
function sampleRange(data, key) {
	const all = samplesOf(data).filter(s => s.number === key && s.begin !== null)
	return all.length === 1 ? { from: all[0].begin, to: all[0].end } : null
}

function pickSample(page, number) {
	const at = samplesOf(page.data).findIndex(s => s.number === number)
	page.store.set({ sample: at < 0 ? null : at })
}

export const indexView = {
	id: 'index', title: 'Index', has: page => !clockless(page.data),
	make(root, page) {
		const { data, store } = page
		const shown = Object.keys(kinds).filter(k => k !== 'samples' || samplesOf(data).length)
		const types = objectTypes(data, false), titles = [...shown.map(k => ({ value: k, text: kinds[k].title })), ...types.map(value => ({ value, text: value }))]
		const idOf = state => titles.some(k => k.value === state.by.index) ? state.by.index : 'seconds'
		const kindOf = id => types.includes(id) ? userKind(page, id) : kinds[id], choice = makeGroupChoice(page, 'index', 'Kind of object', titles)
		const open = r => r.key !== -2 && kindOf(idOf(page.state)).open(data, r.key)
		const table = statesTable(page, 'index', 'Index objects', 'Name', r => open(r) && store.set(open(r)),
			r => idOf(page.state) === 'samples' && pickSample(page, r.key))
		choice.root.append(table.form)
		root.append(choice.root, table.root)
		return {
			update({ state, sums }) {
				const kind = kindOf(idOf(state))
				choice.update(idOf(state))
				const rows = !kind ? [] : [...statesBy(data, state, kind.of(data))].map(([key, us]) => ({ key, name: kind.name(data, key), us }))
				table.show([{ key: -2, first: 1, name: '<Total>', us: sums.states.slice() }, ...rows], state.sort.index)
			},
		}
	},
}
