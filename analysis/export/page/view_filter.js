// SPDX-License-Identifier: GPL-2.0-or-later
// The filter in words: what is on, how to remove it, an expression that can be typed, and the
// command for the same in er_print.
import { copyText, el } from './dom.js'
import { clearedFilter, isFiltered } from './store.js'
import { filterCommand, filterParts } from './filter.js'
import { parseExpression } from './expression.js'

// The field for an expression, and the sentence about its error.
function makeExpression(page) {
	const error = el('span.bad.expression', { id: 'expression-error', role: 'alert', hidden: true })
	const field = el('input', { type: 'search', id: 'expression', ariaLabel: 'Filter expression of er_print', spellcheck: false,
		placeholder: 'STATE == USER_LOCK && COMM == "worker.*"' })
	field.setAttribute('aria-describedby', error.id)
	const show = text => {
		const made = text ? parseExpression(page.data, text) : {}
		error.textContent = made.error || ''
		error.hidden = !made.error
		field.setAttribute('aria-invalid', String(!!made.error))
		return made
	}
	field.addEventListener('change', () => {
		const text = field.value.trim(), made = show(text)
		if (made.error)
			field.setSelectionRange(made.at, made.at + 1)
		else
			page.store.set({ expr: text })
	})
	return {
		nodes: [field, error],
		update({ state }) {
			if (document.activeElement === field && !error.hidden)
				return
			field.value = state.expr
			show(state.expr)
		},
	}
}

export function makeFilterBar(root, page) {
	const chips = el('div.chips'), expression = makeExpression(page)
	const command = el('code.command', { tabIndex: 0, title: 'The same numbers in er_print' })
	const copy = el('button', { onclick: () => {
		copyText(command.textContent)
		copy.textContent = 'Copied'
		setTimeout(() => { copy.textContent = 'Copy' }, 1200)
	} }, 'Copy')
	root.append(...expression.nodes, chips, command, copy)
	return {
		update({ data, state }) {
			const parts = filterParts(data, state)
			chips.replaceChildren(...parts.map(([text, patch]) =>
				el('button.chip', { title: 'Remove this filter', ariaLabel: 'Remove filter ' + text,
					onclick: () => page.store.set(patch) }, el('span', {}, text), ' ×')))
			if (!isFiltered(state))
				chips.append(el('span.hint', {}, 'Everything is shown. Drag over the timeline for a range; click a name or a state to look at it.'))
			if (parts.length + (state.expr ? 1 : 0) > 1)
				chips.append(el('button.chip.clear', { onclick: () => page.store.set(clearedFilter()) }, 'Clear all'))
			expression.update(page)
			command.textContent = 'er_print ' + filterCommand(data, state)
			command.hidden = copy.hidden = !isFiltered(state)
		},
	}
}
