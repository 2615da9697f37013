// SPDX-License-Identifier: GPL-2.0-or-later
// Buttons of which one is chosen, and boxes that open: what a view shows.
import { el, when } from './dom.js'

// A row of buttons; choices are {value, text, help}, and choose(value) is called by a click. Returns
// {root, update(value)}.
export function makeChoice(label, choices, choose) {
	const buttons = choices.map(c => el('button', { value: c.value, title: c.help || '', onclick: () => choose(c.value) }, c.text))
	return {
		root: el('div.crumbs', { role: 'group', ariaLabel: label }, ...buttons),
		update(value) {
			buttons.forEach(b => {
				b.classList.toggle('on', b.value === value)
				b.setAttribute('aria-pressed', String(b.value === value))
			})
		},
	}
}

// The same for state.by, which has what the tables show.
export function makeGroupChoice(page, id, label, choices) {
	return makeChoice(label, choices, value => page.store.setIn('by', id, value))
}

// A box that a button opens; Escape closes it.
export function makeMenu(what, title, ...children) {
	const menu = el(what, {}, el('summary', {}, title), el('div.choices', {}, ...children))
	when(menu, 'keydown', e => {
		if (e.key === 'Escape') {
			menu.open = false
			menu.firstChild.focus()
		}
	})
	return menu
}
