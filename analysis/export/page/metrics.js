// SPDX-License-Identifier: GPL-2.0-or-later
// The metrics: "cpu", "wait", "total", "s" with the number of a state; "n." with the keyword of a metric of er_print
// that is no time by state (counts.js), "t." for the same as time, "r." for a ratio of two. Tables show the chosen one, and those of
// state.columns beside it.
import { el } from './dom.js'
import { makeMenu } from './choice.js'
import { fixed, percent, seconds, secondsOfNs, waitPercent } from './format.js'
import { totalOf } from './numbers.js'

const sumNames = { cpu: 'CPU time', wait: 'Waits', total: 'Thread time' }

// All metrics of the recording: {id, name}. Without clock data there are no times.
export function metricsOf(data) {
	return [...(data.nevents || !data.metrics.length ? Object.entries(sumNames) : []).map(([id, name]) => ({ id, name })),
		...data.states_met.map(s => ({ id: 's' + s, name: data.states[s].uname })),
		...data.ratios.map(m => ({ id: 'r.' + m.id, name: m.name, ratio: m })),
		...data.metrics.flatMap(m => [{ id: 'n.' + m.id, name: m.name, counter: m.counter }, ...m.mhz || m.ps ? [{ id: 't.' + m.id, name: m.name + ', time' }] : []])]
}

// The first metric that events without a state add to.
export function metricWithEvents({ metrics, counts }) {
	const added = new Set(counts.classes.flatMap(c => c.adds.filter((_, k) => k % 2 === 0)))
	return 'n.' + metrics[added.size ? Math.min(...added) : 0].id
}

export const isCount = id => id[1] === '.'

const timeForm = { unit: 'sec.', text: seconds, share: percent, words: us => seconds(us) + ' s' }

// How a metric is written: its unit, text(value), share(part, whole), and words(value) with the unit.
export function metricForm(data, id) {
	if (id[0] === 'r')
		return { text: v => v ? fixed(Math.trunc(v * 1e6) / 1e6, 3) : '0.' }
	const m = isCount(id) && data.metrics.find(k => k.id === id.slice(2)), asTime = id[0] === 't'
	if (!m)
		return timeForm
	const text = asTime ? v => secondsOfNs(Math.trunc(m.mhz ? v * 1000 / m.mhz : v * m.ps / 1000)) : m.unit === 'time' ? secondsOfNs : String
	const unit = asTime || m.unit === 'time' ? 'sec.' : m.unit === 'bytes' ? m.unit : ''
	return { unit, text, share: waitPercent, words: v => `${text(v)} ${unit}` }
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
	if (isCount(metric))
		return sums.ofCount(metric)
	if (metric !== 'total')
		sums = sums.ofState(Number(metric.slice(1)))
	return sums.cpu.map((us, i) => us + sums.wait[i])
}

export function metricTotal(sums, metric) {
	if (metric === 'cpu')
		return sums.totalCpu
	if (metric === 'wait')
		return sums.totalWait
	if (isCount(metric))
		return totalOf(sums.ofCount(metric))
	return metric === 'total' ? sums.total : sums.ofState(Number(metric.slice(1))).total
}

// The metrics that are shown beside the chosen one. Only some tables have ratios.
export function extraMetrics(page, ratios = false) {
	return metricsOf(page.data).filter(m => page.state.columns.includes(m.id) && (ratios || !m.ratio))
}

// Columns for these or other metrics: rows have `extra`, by metric an object with these members.
export function extraColumns(page, members, metrics = extraMetrics(page)) {
	return metrics.flatMap(m => Object.entries(members).map(([member, title]) => ({
		id: m.id + member, title: `${title}${m.name}`, width: '10.5em',
		value: r => r.extra[m.id][member], text: r => metricForm(page.data, m.id).text(r.extra[m.id][member]),
	})))
}

// A column of the chosen metric, and one of its shares of whole().
export function metricColumn(page, id, title, member, more = {}) {
	const form = () => metricForm(page.data, page.state.metric)
	return { id, title, unit: form().unit, width: '6em', value: r => r[member], text: r => form().text(r[member]), ...more }
}

export function shareColumn(page, id, member, whole) {
	return { id, title: '%', width: '5em', value: r => r[member], text: r => metricForm(page.data, page.state.metric).share(r[member], whole()) }
}

// The choice of the metric, and of metrics in columns beside it.
export function makeMetricChoice(page) {
	const { store, data } = page, all = metricsOf(data)
	const metric = el('select', { id: 'metric', onchange: e => store.set({ metric: e.target.value }) },
		...all.filter(m => !m.ratio).map(m => el('option', { value: m.id }, m.name)))
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
