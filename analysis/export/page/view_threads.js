// SPDX-License-Identifier: GPL-2.0-or-later
// Threads, processes and CPUs with their time in each state, as er_print -microstates shows it.
import { makeGroupChoice } from './choice.js'
import { stateColor } from './colors.js'
import { NSTATES } from './data.js'
import { el } from './dom.js'
import { makeTable } from './table.js'
import { seconds } from './format.js'
import { clockless, cpuNumbers } from './lanes.js'
import { cpuStates } from './walk.js'
import { totalOf } from './numbers.js'

// KERNEL_CPU counts as SYSTEM.
function merged11(us) {
	us[1] += us[11]
	us[11] = 0
	return us
}

// A time as text; with the largest one of the column also as a bar before it.
function timeCell(us, most, color) {
	if (!(us > 0 && most))
		return seconds(us)
	const bar = el('span.meter', {}, '')
	bar.style.width = us / most * 100 + '%'
	bar.style.background = color
	return [bar, el('span', {}, seconds(us))]
}

// A table of rows {key, name, us by state}, whose times can be shown as bars. pick(row) is called for
// one that is selected, open(row) for one that is opened.
export function statesTable(page, id, label, name, open, pick) {
	const { data, store } = page, form = makeGroupChoice(page, 'form', 'Form', [{ value: 'text', text: 'Text' }, { value: 'graph', text: 'Graphical' }])
	let most = null // by column, without <Total>; null: no bars
	const time = (title, width, color, us, unit) => ({ title, unit, width, value: us, text: r => seconds(us(r)),
		cell: r => timeCell(us(r), most && !r.first && most.get(us), color()) })
	const times = [time('Total', '6em', () => 'var(--accent)', r => r.total, 'sec.'),
		...data.states_met.map(s => time(data.states[s].uname, '6.5em', () => stateColor(data.states[s].name), r => r.us[s]))]
	const table = makeTable(label, [...times, { title: name, left: true, text: r => r.name }],
		{ open, pick, sort: sort => store.setIn('sort', id, sort) })
	return {
		form: form.root, root: table.root,
		show(rows, sort) {
			for (const r of rows) {
				merged11(r.us)
				r.total = totalOf(r.us)
			}
			const graph = page.state.by.form === 'graph', counted = rows.filter(r => !r.first)
			form.update(graph ? 'graph' : 'text')
			most = graph ? new Map(times.map(c => [c.value, counted.reduce((max, r) => Math.max(max, c.value(r)), 0)])) : null
			table.show(rows, { sort: sort || [1, true] })
		},
	}
}

// A view of such rows; the row <Total> is added.
function statesView(id, title, key, name, makeRows, open, has = () => true) {
	return {
		id, title, key, has: page => !clockless(page.data) && has(page),
		make(root, page) {
			const table = statesTable(page, id, title, name, r => r.key !== -1 && page.store.set(open(page, r)))
			root.append(table.form, table.root)
			return {
				update({ data, state, sums }) {
					const total = { key: -1, first: 1, name: '<Total>', us: sums.states.slice() }
					table.show([total, ...makeRows(data, state, sums)], state.sort[id])
				},
			}
		},
	}
}

const statesOf = (sums, t) => sums.threadStates.slice(t * NSTATES, (t + 1) * NSTATES)

function threadRows(data, state, sums) {
	return data.threads.filter((_, t) => sums.threads[t]).map(t => ({ key: t.index, name: t.name, us: statesOf(sums, t.index) }))
}

// Kernel threads are no process: each has a row.
function processRows(data, state, sums) {
	const rows = new Map()
	for (const t of data.threads) {
		const key = t.pid ? t.key : t.index
		if (!sums.threads[t.index])
			continue
		if (!rows.has(key))
			rows.set(key, { key, name: t.process, us: new Float64Array(NSTATES) })
		statesOf(sums, t.index).forEach((us, s) => { rows.get(key).us[s] += us })
	}
	return [...rows.values()]
}

function cpuRows(data, state) {
	return [...cpuStates(data, state)].map(([cpu, us]) => ({ key: 'cpu' + cpu, cpu, name: cpu < 0 ? '<Unknown>' : 'CPU ' + cpu, us }))
}

export const threadsView = statesView('threads', 'Threads', '3', 'Thread', threadRows,
	(page, r) => ({ threads: [r.key] }))

export const processesView = statesView('processes', 'Processes', '', 'Process', processRows,
	(page, r) => typeof r.key === 'string' ? { processes: [r.key] } : { threads: [r.key] })

function cgroupRows(data, state, sums) {
	const rows = new Map()
	for (const t of data.threads.filter((_, i) => sums.threads[i])) {
		if (!rows.has(t.cgroup))
			rows.set(t.cgroup, { key: 'cgroup' + t.cgroup, cgroup: t.cgroup, name: t.cgroup || '<Unknown>', us: new Float64Array(NSTATES) })
		statesOf(sums, t.index).forEach((us, s) => { rows.get(t.cgroup).us[s] += us })
	}
	return [...rows.values()]
}

export const cgroupsView = statesView('cgroups', 'Cgroups', '', 'Cgroup', cgroupRows,
	(page, r) => r.cgroup ? { cgroups: [r.cgroup] } : {}, ({ data }) => data.threads.some(t => t.cgroup))

export const cpusView = statesView('cpus', 'CPUs', '', 'CPU', cpuRows,
	(page, r) => r.cpu < 0 ? {} : { cpus: [r.cpu] }, ({ data }) => !data.whole || cpuNumbers(data).length > 0)
