// SPDX-License-Identifier: GPL-2.0-or-later
// The filter in words: what is on, how to remove it, an expression that can be typed, and the
// command for the same in er_print.
import { copyText, el, fill, hint, when } from './dom.js'
import { clearedFilter } from './store.js'
import { filterCommand, filterParts, isFiltered, stackClause } from './filter.js'
import { parseExpression } from './expression.js'

// A name with numbers and ranges, such as "CPUID 1-3,5", is short for an expression.
export function expandRanges(text) {
	const [, name, list] = /^([A-Z]+) +([0-9, -]+)$/.exec(text) || []
	return !name ? text : list.split(',').map(part => {
		const [from, to = from] = part.trim().split('-')
		return from === to ? `${name} == ${from}` : `${name} >= ${from} && ${name} <= ${to}`
	}).join(' || ')
}

// The field for an expression, and the sentence about its error.
function makeExpression(page) {
	const error = el('span.bad.expression', { id: 'expression-error', role: 'alert', hidden: true })
	const field = el('input', { type: 'search', id: 'expression', ariaLabel: 'Filter expression of er_print', spellcheck: false,
		placeholder: 'STATE == USER_LOCK && COMM == "worker.*"' })
	field.setAttribute('aria-describedby', error.id)
	const show = text => {
		const made = text ? parseExpression(page.data, text) : {}
		const { expr } = page.state, inForce = text !== expr && expr && !parseExpression(page.data, expr).error
		error.textContent = !made.error ? '' : `${made.error} ${inForce ? `Still in force: ${expr}` : 'It filters nothing.'}`
		error.hidden = !made.error
		field.setAttribute('aria-invalid', String(!!made.error))
		return made
	}
	when(field, 'change', () => {
		const text = expandRanges(field.value.trim()), made = show(text)
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

// Buttons that put a clause for the selected function into the expression.
function makeCompose(page) {
	const button = (text, title, join) => el('button', { title, onclick: () => {
		const { data, state, store } = page
		store.set({ expr: join(state.expr, stackClause(data, state.selected)) })
	} }, text)
	const joined = sign => (old, clause) => old ? `(${old}) ${sign} ${clause}` : clause
	const root = el('div.crumbs', { role: 'group', ariaLabel: 'Filter by the selected function' },
		button('Set', 'Only what has the selected function in its stack', (old, clause) => clause),
		button('AND', 'Of what passes, only what has it', joined('&&')), button('OR', 'Also what has it', joined('||')))
	return { root, update({ state }) { root.hidden = state.selected === null } }
}

// A button that copies what textOf() returns.
export function copyButton(textOf) {
	const button = el('button', { onclick: () => {
		copyText(textOf())
		button.textContent = 'Copied'
		setTimeout(() => { button.textContent = 'Copy' }, 1200)
	} }, 'Copy')
	return button
}

export function makeFilterBar(root, page) {
	const chips = el('div.chips'), expression = makeExpression(page), compose = makeCompose(page)
	const command = el('code.command', { tabIndex: 0 })
	const copy = copyButton(() => command.textContent)
	root.append(...expression.nodes, compose.root, chips, command, copy)
	return {
		update({ data, state }) {
			const parts = filterParts(data, state)
			fill(chips, ...parts.map(([text, patch]) =>
				el('button.chip', { title: text + '\nA click removes this filter.', ariaLabel: 'Remove filter ' + text,
					onclick: () => page.store.set(patch) }, el('span', {}, text), ' ×')))
			if (!isFiltered(data, state))
				chips.append(hint('Everything is shown. Drag over the timeline for a range; click a name or a state to look at it.'))
			if (parts.length + (state.expr ? 1 : 0) > 1)
				chips.append(el('button.chip.clear', { onclick: () => page.store.set(clearedFilter()) }, 'Clear all'))
			expression.update(page)
			compose.update(page)
			command.textContent = 'er_print ' + filterCommand(data, state)
			command.title = command.textContent + '\nshows the same numbers.'
			command.hidden = copy.hidden = !isFiltered(data, state)
		},
	}
}
