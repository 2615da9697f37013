// SPDX-License-Identifier: GPL-2.0-or-later
// The choice of what is compared: for each of A and B its experiments and its range of time.
import { el } from './dom.js'
import { sidesOf } from './compare.js'
import { chosenRange } from './filter.js'
import { hasRange } from './store.js'

export const sideLetters = ['A', 'B']

function rangeText({ from, to }) {
	const moment = us => us === null ? 'the end' : (us / 1e6).toFixed(6)
	return from === null && to === null ? '' : `${moment(from || 0)} to ${moment(to)} s`
}

// The side in words: "after.er, 0.200000 to 0.500000 s".
export function sideText(data, side) {
	const group = side.group === null ? '' : data.groups[side.group - 1]
	return [group, rangeText(side)].filter(Boolean).join(', ') || 'everything'
}

// The controls of side i. update(side) shows what it is.
export function makeSideControls(page, i) {
	const { data, store } = page, letter = sideLetters[i], key = letter.toLowerCase()
	const groups = data.groups || [], group = () => sidesOf(data, page.state)[i].group || 0
	const pick = el('select', { ariaLabel: letter + ' is', onchange: e =>
		store.set({ [key]: [Number(e.target.value), ...page.state[key].slice(1)] }) },
		el('option', { value: 0 }, 'everything'),
		...groups.map((name, g) => el('option', { value: g + 1 }, name)))
	const take = el('button', { value: key, onclick: () =>
		store.set({ [key]: [group(), ...chosenRange(page)] }),
		title: 'Compare the chosen range, also after another one is chosen' }, `Range to ${letter}`)
	const drop = el('button', { ariaLabel: `${letter} without its own range`,
		onclick: () => store.set({ [key]: groups.length ? [group()] : [] }) }, '×')
	const text = el('span')
	return {
		root: el('span.side', {}, el('b', {}, letter), groups.length ? pick : null, text, take, drop),
		update(side) {
			pick.value = side.group || 0
			text.textContent = groups.length ? rangeText(side) : sideText(data, side)
			take.disabled = !hasRange(page.state)
			drop.hidden = !side.own
		},
	}
}
