// SPDX-License-Identifier: GPL-2.0-or-later
// The metrics: "cpu", "wait", "total", and "s" with the number of a state. Tables show the chosen
// one, and those of state.columns beside it.
import { el } from './dom.js'
import { makeMenu } from './choice.js'
import { seconds } from './format.js'

const sumNames = { cpu: 'CPU time', wait: 'Waits', total: 'Thread time' }

// All metrics of the recording: {id, name}.
export function metricsOf(data) {
	return [...Object.entries(sumNames).map(([id, name]) => ({ id, name })),
		...data.states_met.map(s => ({ id: 's' + s, name: data.states[s].uname }))]
}

export function metricName(data, id) {
	const m = metricsOf(data).find(k => k.id === id)
	return m ? m.name : ''
}

// The time of each path by a metric.
export function pathTimes(sums, metric) {
	if (metric === 'cpu')
		return sums.cpu
	if (metric === 'wait')
		return sums.wait
	if (metric !== 'total')
		sums = sums.ofState(Number(metric.slice(1)))
	return sums.cpu.map((us, i) => us + sums.wait[i])
}

export function metricTotal(sums, metric) {
	if (metric === 'cpu')
		return sums.totalCpu
	if (metric === 'wait')
		return sums.totalWait
	return metric === 'total' ? sums.total : sums.ofState(Number(metric.slice(1))).total
}

// The metrics that are shown beside the chosen one.
export function extraMetrics(page) {
	return metricsOf(page.data).filter(m => page.state.columns.includes(m.id))
}

// Columns for these: rows have `extra`, by metric an object with these members.
export function extraColumns(page, members) {
	return extraMetrics(page).flatMap(m => Object.entries(members).map(([member, title]) => ({
		id: m.id + member, title: `${title}${m.name}`, width: '10.5em',
		value: r => r.extra[m.id][member], text: r => seconds(r.extra[m.id][member]),
	})))
}

// The choice of the metric, and of metrics in columns beside it.
export function makeMetricChoice(page) {
	const { store, data } = page, all = metricsOf(data)
	const metric = el('select', { id: 'metric', onchange: e => store.set({ metric: e.target.value }) },
		...all.map(m => el('option', { value: m.id }, m.name)))
	const boxes = all.map(m => el('input', { type: 'checkbox', value: m.id, onchange: () =>
		store.set({ columns: boxes.filter(b => b.checked).map(b => b.value) }) }))
	const errors = el('input', { type: 'checkbox', onchange: () => store.set({ errors: errors.checked }) })
	const more = makeMenu('details.choice', 'Columns', ...all.map((m, i) => el('label', {}, boxes[i], ' ' + m.name)))
	return {
		nodes: [more, el('label', { title: 'Of what was sampled, where it is known' }, errors, ' Standard errors'), el('label', {}, 'Metric ', metric)],
		update() {
			errors.checked = page.state.errors
			metric.value = page.state.metric
			boxes.forEach(b => { b.checked = page.state.columns.includes(b.value) })
		},
	}
}
