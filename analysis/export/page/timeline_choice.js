// SPDX-License-Identifier: GPL-2.0-or-later
// What the timeline shows: which lanes, and whether samples have the colours of states or functions.
import { el } from './dom.js'
import { makeMenu } from './choice.js'

const laneChoices = [['', 'CPUs and threads'], ['cpus', 'CPUs'], ['threads', 'Threads']]
const colorChoices = [['', 'States'], ['leaf', 'Functions: leaf of the stack'], ['root', 'Functions: root of the stack']]

function choose(page, key, label, choices) {
	const pick = el('select', { ariaLabel: label, onchange: e => page.store.set({ [key]: e.target.value }) },
		...choices.map(([value, text]) => el('option', { value }, text)))
	const show = () => { pick.value = choices.some(c => c[0] === page.state[key]) ? page.state[key] : '' }
	page.store.listen(show)
	show()
	return el('label', {}, label + ' ', pick)
}

export function makeTimelineChoice(page) {
	return makeMenu('details.option', 'Timeline', choose(page, 'lanes', 'Lanes', laneChoices), choose(page, 'color', 'Colours', colorChoices))
}
