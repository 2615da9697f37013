// SPDX-License-Identifier: GPL-2.0-or-later
// What was recorded, what was lost, what is exact, and what the file gives away.
import { el } from './dom.js'
import { count } from './format.js'

export const aboutView = {
	id: 'about', title: 'About', key: '9',
	make(root) {
		const body = el('div.text', { tabIndex: 0 })
		root.append(body)
		return {
			update({ data, code }) {
				const ncode = code ? code.funcs.length : 0
				body.replaceChildren(
					el('h2', {}, 'The recording'),
					...data.about.map(line => el('p.pre', {}, line)),
					el('h2', {}, 'What is exact'),
					el('p', {}, data.complete ? 'Every wait was recorded: all times are exact to the microsecond.' :
						'Sums of states are exact over the whole recording, and between any two usage samples if the recorder took snapshots (er_print -exact_states). Which waits have stacks is a sample, in proportion to their length: times by function, reason or range are estimates.'),
					el('p', {}, 'In the timeline waits in full colour with a dark line on top were recorded with their own beginning and end. Pale waits are estimates, and so is CPU time: samples, each spread over the time that it represents. White is time of which nothing was recorded.'),
					el('p', {}, `The page has ${count(data.nevents)} events of ${count(data.nthreads)} threads.`),
					el('h2', {}, 'What this file gives away'),
					el('p', {}, (data.redacted ? 'Names of functions, load objects, threads and processes. Paths, command lines and host names were left out.' :
						'Names of functions, load objects with their paths, threads and processes; cgroups; the command line, the name of the host and of the kernel, the date.') +
						(ncode ? ` Source text and instructions of ${ncode} functions, which --no-source leaves out. Nothing else` : ' Nothing') +
						' of the contents of memory, files or packets.'))
			},
		}
	},
}
