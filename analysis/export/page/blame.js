// SPDX-License-Identifier: GPL-2.0-or-later
// Who ended waits and who had the CPU meanwhile, with er_print's names for what is no thread.
import { FLAG, namesAt } from './data.js'
import { defaults } from './store.js'
import { atRest, isIdle } from './range.js'
import { eachEvent } from './walk.js'
import { addWait, finishWaits, noWaits, waitCounting } from './waits.js'

export const TIMEOUT = '<timeout>'
const OPEN = '<still waiting>', REST = '<between samples>'

// "app", "app (worker)": the names of a thread without its numbers.
function kindName(comm, process, tid) {
	if (comm === null)
		return process === null ? 'TID ' + tid : process
	return process === null ? comm : process.startsWith(comm) ? process : `${process} (${comm})`
}

// These names: a function (thread, time) of all threads.
export const kindNames = data => namesAt(data, kindName)

// The reason of a wait, as reports name it.
export function causeName(data, c) {
	const reason = data.reasons[c.reason], state = data.states[c.state]
	if (c.reason > 0 && reason)
		return reason.uname
	if (c.flags & FLAG.rest)
		return state.rest
	return state.name === 'SLEEP' && data.reasons[0] ? data.reasons[0].uname : state.uname
}

// What the interrupt was that ended a wait.
function interruptName(data, c) {
	const lock = data.states[c.state].name === 'USER_LOCK', reason = data.reasons[c.reason] ? data.reasons[c.reason].name : ''
	if (c.flags & FLAG.timer)
		return lock && !atRest(data, c) ? TIMEOUT : '<timer>'
	if (['DISK', 'FAULT', 'WRITEBACK'].includes(reason))
		return '<disk>'
	if (reason === 'TIMER' || reason === 'NETWORK')
		return `<${reason.toLowerCase()}>`
	return lock || reason === 'USER_LOCK' ? TIMEOUT : '<interrupt>'
}

export function wakerName(data, names, chunk, i, row, c) {
	if (c.flags & FLAG.openEnd)
		return OPEN
	if (c.flags & FLAG.rest)
		return REST
	if (c.flags & FLAG.irq)
		return interruptName(data, c)
	return chunk.waker[row] ? names(chunk.waker[row] - 1, chunk.base + chunk.time[i]) : '<unknown>'
}

// Whether the names of the recording's threads are known.
export function hasNames(data, exp) {
	data.namedExps = data.namedExps || new Set(data.threads.filter(t => t.comm !== null).map(t => t.exp))
	return data.namedExps.has(exp)
}

// In a recording with names of threads, a thread without one was not recorded itself.
function holderName(data, names, chunk, i, row, c) {
	const holder = chunk.holder[row] - 1
	if (holder >= 0) {
		const thread = data.threads[holder]
		return thread.comm !== null || !hasNames(data, thread.exp) ? names(holder, chunk.base + chunk.time[i]) : '<not recorded>'
	}
	if (c.flags & FLAG.rest)
		return REST
	return chunk.length[i] ? '<none: it was idle>' : '<unknown>'
}

// Sums waits by what parts(...) says: rows {key, names, threads} with the threads that waited.
function sumWaits(page, wanted, parts, whole) {
	const { data, state } = page, rows = new Map(), counting = waitCounting(page)
	eachEvent(data, state, (chunk, i, row) => {
		const c = data.classes[chunk.cls[i]]
		if (!wanted(c))
			return
		const names = parts(chunk, i, row, c), key = names.join('\n')
		let sum = rows.get(key)
		if (!sum)
			rows.set(key, sum = noWaits({ key, names, whole, threads: new Set() }))
		addWait(sum, data, counting, chunk, i)
		sum.threads.add(chunk.thread[i])
	})
	return [...rows.values()].map(r => finishWaits(r, counting))
}

const isWait = (data, c) => !data.states[c.state].cpu
const isForCpu = (data, c) => data.states[c.state].name === 'WAIT_CPU'

// Waits that are not for a CPU, by waker and waiting thread; and by reason with `reasons`.
export function wakerRows(page, reasons) {
	const { data } = page, names = kindNames(data)
	return sumWaits(page, c => isWait(data, c) && !isForCpu(data, c), (chunk, i, row, c) =>
		[wakerName(data, names, chunk, i, row, c), names(chunk.thread[i], chunk.base + chunk.time[i]), reasons ? causeName(data, c) : ''])
}

// Waits for a CPU by 'reason', 'holder' or 'waiter'.
export function runqueueRows(page, by) {
	const { data } = page, names = kindNames(data)
	const part = {
		reason: (chunk, i, row, c) => causeName(data, c),
		holder: (chunk, i, row, c) => holderName(data, names, chunk, i, row, c),
		waiter: (chunk, i) => names(chunk.thread[i], chunk.base + chunk.time[i]),
	}[by]
	return sumWaits(page, c => isForCpu(data, c), (...all) => [part(...all)], by === 'waiter')
}

// --- the chain of wakings ---

const CHAIN_MOST = 6

// The time of waits, but for idle ones, by the thread that ended them: a Map of arrays by waiting thread, or of one
// array under the key null. [0] has the time that interrupts ended, [thread + 1] that of a thread.
function endedBy(data, state, apart) {
	const ret = new Map()
	eachEvent(data, state, (chunk, i, row) => {
		const key = apart ? chunk.thread[i] : null, irq = data.classes[chunk.cls[i]].flags & FLAG.irq
		if (!ret.has(key))
			ret.set(key, new Float64Array(data.nthreads + 1))
		if (irq || chunk.waker[row])
			ret.get(key)[irq ? 0 : chunk.waker[row]] += chunk.weight[i]
	}, Uint8Array.from(data.classes, c => isWait(data, c) && !isForCpu(data, c) && !isIdle(data, c) ? 1 : 0))
	return ret
}

// Who ended most of the filter's waits; who ended most of the waits of that one in the same range; and so on.
// Returns {thread, us} of each; thread -1 is an interrupt, with which the chain ends.
export function wakingChain(data, state) {
	const all = endedBy(data, { ...defaults, from: state.from, to: state.to, group: state.group }, true), chain = []
	for (let us = endedBy(data, state, false).get(null), known = new Set(); us && chain.length < CHAIN_MOST;) {
		const thread = us.indexOf(us.reduce((a, b) => Math.max(a, b))) - 1
		if (!us[thread + 1] || known.has(thread))
			break
		chain.push({ thread, us: us[thread + 1] })
		known.add(thread)
		us = all.get(thread)
	}
	return chain
}
