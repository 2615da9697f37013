// SPDX-License-Identifier: GPL-2.0-or-later
// Memory under the page's filter, as er_print lists it: leaks, allocations and the peak by stack, memory in use over time,
// and numbers of allocations by size.
import { el, fill, hint } from './dom.js'
import { secondsOfNs } from './format.js'
import { allocationSums, allocationVariances, heldAtPeak, highestPeak, memoryOverTime, passingCalls, temporaryCalls } from './heap.js'
import { placeSums } from './places.js'
import { eachEvent } from './walk.js'
import { panelNode } from './samples.js'
import { reportsView } from './view_reports.js'
import { ioChoices, made, numberLine, rangeLines, rangeOf, showRows, showUnread, sortedBy, valueColumns } from './view_counts.js'
import { totalOf } from './numbers.js'
import { isFiltered } from './filter.js'

// Nothing at all is no estimate.
const marked = v => (Number(v) ? '~' : '') + v

const HEAP_ESTIMATE = '~ marks an estimate: only a sample of the allocations was recorded.'

// --- leaks and allocations by stack ---

const stackMetrics = { leaks: ['Leak', 'heapleakcnt', 'heapleakbytes'], allocs: ['Allocation', 'heapalloccnt', 'heapallocbytes'] }

// A frame of inlined code has no address of its own.
function frameName({ funcs }, { funcOf, place, pcs }, v) {
	const name = funcs[funcOf[place[v]]], pc = pcs.names[pcs.keyOf[v]]
	return name + (pc.startsWith(name + ' + 0x') ? pc.slice(name.length).match(/^ \+ 0x[0-9A-F]+/)[0] : '')
}

// Columns of numbers and bytes. Bytes of a sampled heap are estimates, which have errors.
function stackColumns({ state, heap: { sampled } }, n, bytes, title) {
	const error = { id: 'error', title: title + ' Std. Error', width: '10.5em', value: r => r.values ? r.error : -Infinity, text: r => r.values ? String(Math.round(r.error)) : '' }
	return [n, sampled ? { ...bytes, text: r => r.values ? marked(bytes.text(r)) : '' } : bytes, ...sampled && state.errors ? [error] : [],
		{ id: 'name', title: 'Name', left: true, text: r => r.name }]
}

// A row for each stack {v, values, error}, and below it one for each of its frames.
function stackRows({ data }, places, found, label) {
	return found.flatMap(({ v, values, error }, i) => {
		const ret = [{ values, error, name: `${label} #${i + 1}`, mark: 'begins' }]
		for (; v; v = places.tree.parent[v])
			ret.push({ values: null, name: '  ' + frameName(data, places, v) })
		return ret.map((r, n) => ({ ...r, key: `${i} ${n}`, first: found.length - i }))
	})
}

// The standard error of the bytes of each stack; nothing if all allocations were recorded.
function stackErrors({ data, state, heap }, { base, npaths }, command) {
	const keyOf = (chunk, i) => base[data.pathNode[chunk.path[i]]] + chunk.variant[i]
	const all = heap.sampled && allocationVariances(data, state, heap.get(), npaths, keyOf), variances = all && all[command === 'leaks' ? 'leaked' : 'allocated']
	return all ? v => Math.sqrt(v < 0 ? totalOf(variances) : variances[v]) : () => 0
}


const byBytes = found => sortedBy(sortedBy(found, r => r.values[0]), r => r.values[1])
const totalRow = (values, error) => ({ key: -1, name: '<Total>', values, error, first: Infinity })

function showStacks(page, part, command) {
	const { data, heap } = page, places = page.places.get(), [label, ...ids] = stackMetrics[command]
	if (!places || heap.sampled && !heap.get())
		return showUnread(page, part)
	const { sums } = placeSums(page, places), of = ids.map(id => sums.ofCount('n.' + id)), errorOf = stackErrors(page, places, command), found = []
	for (let v = 0; v < places.npaths; v++) {
		if (of[0][v] || of[1][v])
			found.push({ v, values: of.map(s => s[v]), error: errorOf(v) })
	}
	const [n, bytes] = valueColumns(page, ids.map(id => data.metrics.find(m => m.id === id)))
	showRows(page, part, command, stackColumns(page, n, bytes, bytes.title), [totalRow(of.map(totalOf), errorOf(-1)), ...stackRows(page, places, byBytes(found), label)])
	if (heap.sampled)
		part.notes.append(hint(HEAP_ESTIMATE + ' Counts are those of the sample.'))
}

// --- in use at the peak, by stack ---

// By variant: {v, values: [blocks, bytes], variance}.
function heldByStack({ data, state }, places, blocks) {
	const held = new Map(blocks.map(b => [b.call + 1, b])), ret = new Map()
	eachEvent(data.counts, state, (chunk, i) => {
		const block = chunk.heap && held.get(chunk.heap[i])
		if (!block)
			return
		const v = places.base[data.pathNode[chunk.path[i]]] + chunk.variant[i], s = ret.get(v) || { v, values: [0, 0], variance: 0 }
		s.values[0]++
		s.values[1] += block.left
		s.variance += block.variance
		ret.set(v, s)
	})
	return [...ret.values()]
}

function peakNotes({ data, state, heap: { sampled } }, peak) {
	return (peak ? `The peak was at ${secondsOfNs(peak.peakTime)} seconds in process ${peak.pid} (experiment ${peak.id}). ` : '') +
		(peak && isFiltered(data, state) ? 'Only calls that pass the filter count. ' : '') + (sampled ? HEAP_ESTIMATE + ' Blocks are those of the sample.' : '')
}

function showPeak(page, part, command) {
	const { data, state, heap } = page, calls = heap.get(), places = page.places.get()
	if (!calls || !places)
		return showUnread(page, part)
	const { peak, blocks } = heldAtPeak(calls, passingCalls(data, state, calls).passed), error = ({ variance }) => Math.sqrt(Math.max(0, variance))
	const found = heldByStack(page, places, blocks).map(s => ({ ...s, error: error(s) })), variance = totalOf(found.map(s => s.variance))
	const [n, bytes] = ['Blocks', 'Bytes'].map((title, i) => ({ id: title, title: title + ' In Use', width: '9.5em', value: r => r.values ? r.values[i] : -Infinity, text: r => r.values ? String(r.values[i]) : '' }))
	showRows(page, part, command, stackColumns(page, n, bytes, 'Bytes'), [totalRow([0, 1].map(i => totalOf(found.map(s => s.values[i]))), error({ variance })), ...stackRows(page, places, byBytes(found), 'Stack')])
	part.notes.append(hint(peakNotes(page, peak)))
}

// --- memory in use ---

function bytesColumn(id, title, estimate) {
	return { id, title: `Bytes ${title}`, width: '9.5em', value: r => r[id], text: r => estimate ? marked(r[id]) : String(r[id]) }
}

function showMemory(page, part, command) {
	const { data, state, heap } = page, calls = heap.get(), { sampled } = heap
	if (!calls)
		return showUnread(page, part)
	const { passed } = passingCalls(data, state, calls), rows = memoryOverTime(calls, passed)
	showRows(page, part, command, [{ id: 'time', title: 'Time', unit: 'sec.', width: '7em', value: r => r.time, text: r => secondsOfNs(r.time) }, bytesColumn('bytes', 'In Use', sampled),
		...sampled && state.errors ? [bytesColumn('error', 'Std. Error')] : [], bytesColumn('highest', 'Highest', sampled), { ...bytesColumn('allocated', 'Allocated', sampled), width: null }], rows)
	part.notes.append(hint(sampled ? HEAP_ESTIMATE : `Temporary allocations: ${temporaryCalls(calls, passed)}. ` +
		'Each was freed by its thread before this thread made another one.'))
}

// --- numbers of allocations ---

function heapPanel({ sampled }, title, labels, s) {
	const [least, most, n] = labels, bytes = numberLine('Total bytes', sampled && s.bytes ? [s.bytes] : s.bytes)
	return panelNode([[title, null], ...rangeLines(s.sizes), numberLine(least, s.least), numberLine(most, s.most), numberLine(n, s.n), bytes,
		...sampled ? [numberLine('Standard error, bytes', Math.round(Math.sqrt(s.variance)))] : []])
}

function peakPanel({ sampled }, peak) {
	const bytes = peak ? peak.peak : 0
	return panelNode([['Process With Highest Peak Memory Usage', null], numberLine('Heap size bytes', sampled && bytes ? [bytes] : bytes),
		...peak ? [numberLine('Experiment Id', peak.id), numberLine('Process Id', peak.pid), ['  Time of peak (secs.)', { time: peak.peakTime }]] : []])
}

function showHeapSizes(page, part) {
	const { data, state, heap } = page, calls = heap.get()
	if (!calls)
		return showUnread(page, part)
	const passing = passingCalls(data, state, calls), sums = allocationSums(calls, passing, rangeOf)
	fill(part.notes)
	fill(part.box, el('div.text', { tabIndex: 0 }, peakPanel(heap, highestPeak(calls, passing.passed)),
		heapPanel(heap, 'Memory Allocations Statistics', ['Smallest allocation bytes', 'Largest allocation bytes', 'Total allocations'], sums.allocated),
		heapPanel(heap, 'Memory Leaks Statistics', ['Smallest leaked bytes', 'Largest leaked bytes', 'Total leaked'], sums.leaked),
		...calls.unknown ? [panelNode([['Frees of Blocks Allocated Before the Recording', null], numberLine('Total frees', calls.unknown)])] : []))
}

// --- the view ---

const hasStacks = id => ({ data, reports, places }) => !reports.knows(id) && places && places.known && data.metrics.some(m => m.id === stackMetrics[id][1])
const hasHeap = ({ heap }) => heap && heap.known
const hasPeak = page => hasHeap(page) && page.places && page.places.known

export const memoryView = reportsView('memory', 'Memory, I/O', [
	made('leaks', 'Leaks', hasStacks('leaks'), showStacks), made('allocs', 'Allocations', hasStacks('allocs'), showStacks),
	made('heappeak', 'Peak', hasPeak, showPeak), made('heapuse', 'Memory over time', hasHeap, showMemory), made('heapstat', 'Memory statistics', hasHeap, showHeapSizes), ...ioChoices])
