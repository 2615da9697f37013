// SPDX-License-Identifier: GPL-2.0-or-later
// What the timeline shows: which lanes, and whether samples have the colours of states or functions.
import { el } from './dom.js'
import { makeMenu } from './choice.js'

const laneChoices = [['', 'CPUs and threads'], ['cpus', 'CPUs'], ['threads', 'Threads']]
const depthChoices = [['', 'One function'], ...[2, 3, 4, 5].map(n => [String(n), n + ' functions'])]
const colorChoices = [['', 'States'], ['leaf', 'Functions: leaf of the stack'], ['root', 'Functions: root of the stack']]

// Packets that lanes can have marks of: name of er.rc's tldata, text, kinds of packets.
const markChoices = [['hwc', 'counters', [3, 7]], ['synctrace', 'locks', [2, 72]], ['heaptrace', 'memory', [5]], ['iotrace', 'I/O', [19]], ['probe', 'probes', [71]]]

// Which classes of the second stream of events are marked.
export function markedClasses({ data, state }) {
	const kinds = markChoices.filter(m => state.marks.includes(m[0])).flatMap(m => m[2])
	return data.counts && kinds.length ? data.counts.classes.map(c => kinds.includes(c.kind)) : null
}

// The kinds that the recording has, as rows of markChoices.
const marksOf = data => markChoices.filter(m => data.metrics.some(k => m[2].includes(k.kind)))
export const markNames = data => marksOf(data).map(m => m[0])

function chooseMarks(page) {
	return marksOf(page.data).map(([name, text]) => {
		const box = el('input', { type: 'checkbox', onchange: () => {
			const others = page.state.marks.filter(m => m !== name)
			page.store.set({ marks: box.checked ? [...others, name] : others })
		} })
		const show = () => { box.checked = page.state.marks.includes(name) }
		page.store.listen(show)
		show()
		return el('label', {}, box, ` Marks of ${text}`)
	})
}

function choose(page, key, label, choices) {
	const pick = el('select', { ariaLabel: label, onchange: e => page.store.set({ [key]: e.target.value }) },
		...choices.map(([value, text]) => el('option', { value }, text)))
	const show = () => { pick.value = choices.some(c => c[0] === page.state[key]) ? page.state[key] : '' }
	page.store.listen(show)
	show()
	return el('label', {}, label + ' ', pick)
}

export function makeTimelineChoice(page) {
	return makeMenu('details.option', 'Timeline', choose(page, 'lanes', 'Lanes', laneChoices), choose(page, 'color', 'Colours', colorChoices), choose(page, 'depth', 'Of each stack', depthChoices), ...chooseMarks(page))
}
