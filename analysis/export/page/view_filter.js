// SPDX-License-Identifier: GPL-2.0-or-later
// Shows the filter: its parts, a button to remove each, and the er_print command for the same
// filter.
import { copyText, el } from './dom.js'
import { clearedFilter, isFiltered } from './store.js'
import { filterCommand, filterParts } from './filter.js'

export function makeFilterBar(root, page) {
	const chips = el('div.chips')
	const command = el('code.command', { tabIndex: 0, title: 'The same numbers in er_print' })
	const copy = el('button', { type: 'button', onclick: () => {
		copyText(command.textContent)
		copy.textContent = 'Copied'
		setTimeout(() => { copy.textContent = 'Copy' }, 1200)
	} }, 'Copy')
	root.append(chips, command, copy)
	return {
		update({ data, state }) {
			const parts = filterParts(data, state)
			chips.replaceChildren(...parts.map(([text, patch]) =>
				el('button.chip', { type: 'button', title: 'Remove this filter', ariaLabel: 'Remove filter ' + text,
					onclick: () => page.store.set(patch) }, el('span', {}, text), ' ×')))
			if (!parts.length)
				chips.append(el('span.hint', {}, 'Everything is shown. Drag over the timeline for a range; click a name or a state to look at it.'))
			if (parts.length > 1)
				chips.append(el('button.chip.clear', { type: 'button', onclick: () => page.store.set(clearedFilter()) }, 'Clear all'))
			command.textContent = 'er_print ' + filterCommand(data, state)
			command.hidden = copy.hidden = !isFiltered(state)
		},
	}
}
