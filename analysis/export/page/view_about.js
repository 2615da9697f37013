// SPDX-License-Identifier: GPL-2.0-or-later
// What was recorded, what was lost, what is exact, and what the file gives away.
import { el, fill } from './dom.js'
import { count } from './format.js'
import { IO, MHWC } from './view_counts.js'

// What a file may hold that somebody may not want to hand on: whether this one does, in how many words, and its name in a
// list of what is not there. The index tells it, so it is right before the rest of the file is read.
function holdings({ reports, redacted, filter, threads, samples, spans, spanCalls, metrics, objtypes }) {
	const all = !redacted, some = name => reports[name] > 0, about = kind => some('subjects') && metrics.some(m => m.kind === kind)
	return [
		[true, 'Names of functions, load objects, threads, processes, user locks and counters. What each thread did and when, its PID and TID.'],
		[spans, 'Names of spans.'],
		[some('code'), `Source text and instructions of ${count(reports.code)} functions, which --no-source leaves out.`, 'source text and instructions'],
		[some('lifetimes'), `Command lines and cgroups of ${count(reports.lifetimes)} processes that ran meanwhile, also of other users.`, 'command lines of processes'],
		[about(IO) || some('ioactivity') || some('iodetail'), 'Names of files that were opened, and how much was read and written.', 'names of opened files'],
		[all, 'The recorder\'s command line, working directory, messages and notes, such as those of er_kernel -C; the host, the kernel, the date.',
			'the recorder\'s command, directory and notes, host, date'],
		[threads.some(t => t.cgroup), 'Cgroups of threads.', 'cgroups of threads'],
		[all, 'Paths of experiments, load objects and source files; addresses of functions, also of the kernel.', 'paths and addresses of functions'],
		[some('locks'), 'Addresses of user locks.', 'addresses of locks'],
		[about(MHWC) || some('data_objects') || (objtypes || []).some(t => t[1]), 'Names of variables, and addresses of data that counters saw.', 'names and addresses of data'],
		[['heap', 'leaks', 'allocs', 'heappeak'].some(some), 'Sizes of memory blocks, their addresses, and what allocated them.', 'addresses of memory blocks'],
		[spanCalls.some(c => c.args.length), 'Arguments of the calls of spans.', 'arguments of calls'],
		[all && samples && samples.some(s => s[3]), 'Labels of samples.'],
		[(objtypes || []).some(t => !t[1]), 'The types of objects that .er.rc files define, and the values that they had.'],
		[filter, 'The filter of er_print with which the file was written.'],
	]
}

function givesAway(data) {
	const list = holdings(data), missing = list.filter(([has, , name]) => !has && name).map(h => h[2])
	return [el('ul', {}, ...list.filter(h => h[0]).map(h => el('li', {}, h[1]))),
		el('p', {}, `It has nothing else of the contents of memory, files or network packets.${missing.length ? ` Not in this file${data.redacted ? ', which was written with --redact' : ''}: ${missing.join('; ')}.` : ''}`)]
}

export const aboutView = {
	id: 'about', title: 'About', key: '9',
	make(root) {
		const body = el('div.text', { tabIndex: 0 })
		root.append(body)
		return {
			update({ data }) {
				fill(body,
					el('h2', {}, 'The recording'),
					...data.about.map(line => el('p.pre', {}, line)),
					el('h2', {}, 'What is exact'),
					el('p', {}, data.complete ? 'Every wait was recorded: all times are exact to the microsecond.' :
						'Sums of states are exact over the whole recording, and between two usage samples if the recorder took snapshots (er_print -exact_states). Which waits have stacks is a sample, in proportion to length: times by function, reason or range are estimates.'),
					el('p', {}, 'In the timeline waits in full colour with a dark line on top were recorded. Pale waits are estimates, and so is CPU time: samples, each spread over the time that it represents. Of white time nothing was recorded.'),
					el('p', {}, `The page has ${count(data.nevents)} events of ${count(data.nthreads)} threads.`),
					el('h2', {}, 'What this file gives away'),
					...givesAway(data))
			},
		}
	},
}
