// SPDX-License-Identifier: GPL-2.0-or-later
// Where the time went: the states as a bar, and their sums.
import { el } from './dom.js'
import { percent, seconds } from './format.js'
import { stateColor } from './colors.js'

export function makeVerdict(root, page) {
	const bar = el('div.bar', { role: 'img' })
	const legend = el('div.legend')
	const what = el('div.what')
	root.append(what, bar, legend)
	return {
		update({ data, state, sums }) {
			const us = sums.states.slice()
			us[1] += us[11]
			us[11] = 0
			const shown = data.states_met
			const name = s => data.states[s].uname
			bar.replaceChildren(...shown.map(s => {
				const part = el('span', { title: `${name(s)}: ${seconds(us[s])} s, ${percent(us[s], sums.total)} %` })
				part.style.flexGrow = us[s]
				part.style.background = stateColor(data.states[s].name)
				return part
			}))
			bar.setAttribute('aria-label', shown.map(s => `${name(s)} ${percent(us[s], sums.total)} percent`).join(', '))
			legend.replaceChildren(...shown.map(s => {
				const dot = el('i.dot')
				dot.style.background = stateColor(data.states[s].name)
				const on = state.states.includes(s)
				return el('button.state' + (on ? '.on' : '') + (us[s] ? '' : '.none'), { type: 'button', title: 'Show only this state',
					ariaPressed: String(on),
					onclick: () => page.store.set({ states: on ? state.states.filter(k => k !== s) : [...state.states, s] }),
				}, dot, name(s), el('b', {}, seconds(us[s])), el('small', {}, percent(us[s], sums.total) + ' %'))
			}))
			const nthreads = sums.threads.reduce((a, b) => a + (b ? 1 : 0), 0)
			what.replaceChildren(el('b', {}, seconds(sums.total) + ' s'), ' of time in ',
				el('b', {}, String(nthreads)), nthreads === 1 ? ' thread' : ' threads',
				sums.partial ? ' (still being read)' : '')
		},
	}
}
