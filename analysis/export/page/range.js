// SPDX-License-Identifier: GPL-2.0-or-later
// What happened within a range of time. Here an event that is partly outside the range counts in
// part. In the sums of reports, by contrast, the whole event counts if it ends within the range.
import { FLAG, NSTATES } from './data.js'
import { firstAt, inPieces } from './aggregate.js'
import { chosenRange, eventFacts, makeFilter } from './filter.js'
import { countLost } from './marks.js'
import { isFilteredByKind } from './store.js'
import { eachEvent } from './walk.js'

// Returns the time in each state between state.from and state.to, and how long these threads were
// alive in it (null: not recorded); perThread has the times by thread and state, and squares the sum of the squares of
// CPU samples. If all waits were recorded, the rest of a thread's life is its CPU time: `exact`
// says so. Only how much of it was user time is an estimate.
export function clippedStates(data, state) {
	const filter = makeFilter(data, { ...state, from: null, to: null })
	const [from, to] = chosenRange({ data, state })
	const us = new Float64Array(NSTATES), per = new Float64Array(data.nthreads * NSTATES), met = new Uint8Array(data.nthreads)
	const stateOf = Int8Array.from(data.classes, c => c.flags & FLAG.rest ? -1 : c.state), addTo = { from, to, per, met, stateOf, squares: 0, cpu: Uint8Array.from(data.states, s => s.cpu ? 1 : 0) }
	for (const chunk of data.chunks)
		inPieces(firstAt(chunk, from), chunk.n, (lo, hi) => addClipped(chunk, filter, addTo, lo, hi))
	const known = data.threads.every((t, i) => !met[i] || t.end > 0)
	const exact = data.complete && known && !isFilteredByKind(state) && !countLost(data, { ...filter, from, to })
	let lives = 0, nthreads = 0
	data.threads.forEach((t, i) => {
		if (!met[i])
			return
		const mine = per.subarray(i * NSTATES, (i + 1) * NSTATES), life = Math.max(0, Math.min(to, t.end) - Math.max(from, t.begin))
		const cpu = mine.reduce((sum, v, s) => sum + (data.states[s].cpu ? v : 0), 0), waits = mine.reduce((a, b) => a + b) - cpu
		const scale = exact && cpu ? Math.max(0, life - waits) / cpu : 1
		nthreads++
		lives += life
		mine.forEach((v, s) => { us[s] += data.states[s].cpu ? v * scale : v })
	})
	us[1] += us[11]
	us[11] = 0
	return { us, nthreads, exact, lives: known ? lives : null, length: to - from, perThread: per, squares: addTo.squares }
}

function addClipped(chunk, filter, addTo, lo, hi) {
	const { from, to, per, met, stateOf } = addTo
	const { thread, cls, path, weight, length, time, cpu, base } = chunk
	for (let i = lo; i < hi; i++) {
		const c = cls[i], s = stateOf[c], w = weight[i], spread = Math.max(w, length[i])
		const end = base + time[i], begin = end - spread
		if (begin >= to || spread <= 0 || s < 0)
			continue
		if ((filter.thread && !filter.thread[thread[i]]) || (filter.cls && !filter.cls[c]) ||
		    (filter.path && !filter.path[path[i]]) || (filter.cpus && !filter.cpus.has(cpu[i])) ||
		    (filter.other && !filter.other(eventFacts(chunk, i))))
			continue
		const part = begin >= from && end <= to ? w : w * (Math.min(end, to) - Math.max(begin, from)) / spread
		per[thread[i] * NSTATES + s] += part
		addTo.squares += addTo.cpu[s] * part * part
		met[thread[i]] = 1
	}
}

// Returns the three kinds of waits (state, reason, system call) with the most time, the largest
// first. Each has the holder and the waker with the largest part of it. Idle waits are left out.
export function topWaits(data, state, sums) {
	const kinds = new Map(), key = c => `${c.state} ${c.reason} ${c.call || ''}`
	data.classes.forEach((c, i) => {
		if (!data.isWait[i] || !sums.classUs[i] || isIdle(data, c))
			return
		const kind = kinds.get(key(c)) || { class: c, us: 0, holders: null, wakers: null }
		kind.us += sums.classUs[i]
		kinds.set(key(c), kind)
	})
	const top = [...kinds.values()].sort((a, b) => b.us - a.us).slice(0, 3)
	const byClass = data.classes.map(c => top.find(k => key(k.class) === key(c)) || null)
	addBlame(data, state, byClass)
	for (const kind of top) {
		kind.holder = largest(kind.holders)
		kind.waker = largest(kind.wakers)
	}
	return top
}

// Whether a thread waits for nobody. A language runtime sleeps, and waits for work, in state USER_LOCK.
export function atRest(data, c) {
	const reason = data.reasons[c.reason]
	return !!reason && ['TIMER', 'NO_WORK', 'RUNTIME_IDLE'].includes(reason.name)
}

// Whether waits of this class do not hold a program up: a timer, or a worker without work.
export function isIdle(data, c) {
	const reason = data.reasons[c.reason]
	return atRest(data, c) || data.states[c.state].name === 'SLEEP' && (!reason || ['NONE', 'POLL', 'CHILD', 'SIGNAL'].includes(reason.name))
}

// Adds up by thread who held what these kinds of waits waited for, and who ended them.
function addBlame(data, state, byClass) {
	const byThread = () => new Float64Array(data.nthreads + 1) // [0]: no thread
	for (const kind of byClass) {
		if (kind && !kind.holders)
			Object.assign(kind, { holders: byThread(), wakers: byThread() })
	}
	eachEvent(data, state, (chunk, i, row) => {
		const cls = chunk.cls[i], kind = byClass[cls], us = chunk.weight[i]
		kind.holders[chunk.holder[row]] += us
		if (!(data.classes[cls].flags & FLAG.irq))
			kind.wakers[chunk.waker[row]] += us
	}, Uint8Array.from(byClass, kind => kind ? 1 : 0))
}

// Returns the thread with the most time; null: none has any.
function largest(us) {
	let best = 0
	for (let k = 1; k < us.length; k++) {
		if (us[k] && (!best || us[k] > us[best]))
			best = k
	}
	return best ? { thread: best - 1, us: us[best] } : null
}
