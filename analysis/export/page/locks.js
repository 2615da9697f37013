// SPDX-License-Identifier: GPL-2.0-or-later
// User locks that threads waited for under the page's filter, as er_print -locks lists them: who waited, who had
// the lock, who let go. Locks of one program that were waited for with a common stack are one row.
import { FLAG } from './data.js'
import { TIMEOUT, hasNames, kindNames, wakerName } from './blame.js'
import { atRest } from './range.js'
import { addWait, finishWaits, mergeWaits, noWaits } from './waits.js'
import { eachEvent } from './walk.js'
import { addToList } from './numbers.js'

// Sums {lock, waiter, stack, holder, waker, wakerStack}; and the time of idle waits, which belong to no lock.
function gather(data, state, places) {
	const { locks, lock: lockOf } = places, counting = data.coarse.length ? null : places
	const sums = new Map(), names = kindNames(data), ret = { sums: null, idle: 0 }
	const classes = Uint8Array.from(data.classes, c => data.states[c.state].name === 'USER_LOCK' ? 1 : 0)
	eachEvent(data, state, (chunk, i, row) => {
		const c = data.classes[chunk.cls[i]], holder = data.threads[chunk.holder[row] - 1], time = chunk.base + chunk.time[i]
		if (atRest(data, c)) {
			ret.idle += chunk.weight[i]
			return
		}
		const s = noWaits({ lock: lockOf[chunk.first + i] - 1, waiter: names(chunk.thread[i], time), stack: locks.of[chunk.path[i]],
			holder: holder && (holder.comm !== null || !hasNames(data, holder.exp)) ? names(holder.index, time) : '',
			waker: wakerName(data, names, chunk, i, row, c), wakerStack: 0 })
		if (chunk.waker[row] && !(c.flags & (FLAG.openEnd | FLAG.rest | FLAG.irq)) && chunk.wakerPath[row])
			s.wakerStack = locks.of[chunk.wakerPath[row] - 1]
		const key = Object.values(s).join('\n')
		if (!sums.has(key))
			sums.set(key, s)
		addWait(sums.get(key), data, counting, chunk, i)
	}, classes)
	ret.sums = [...sums.values()]
	return ret
}

// Gives each sum the lock that it is listed under. Returns the locks that are listed under each.
function join(sums, all) {
	const leaders = new Map(sums.map(s => [s.lock, s.lock])), byPlace = new Map(), unknown = new Map()
	const place = s => all[s.lock][0] + '\n' + s.stack, leader = l => leaders.get(l) === l ? l : leader(leaders.get(l))
	for (const s of sums.filter(s => all[s.lock][2])) {
		if (byPlace.has(place(s)))
			leaders.set(leader(s.lock), leader(byPlace.get(place(s))))
		else
			byPlace.set(place(s), s.lock)
	}
	for (const s of sums) {
		const [process, , address] = all[s.lock]
		if (!address && !byPlace.has(place(s)) && !unknown.has(process))
			unknown.set(process, s.lock)
		s.listed = leader(address ? s.lock : byPlace.has(place(s)) ? byPlace.get(place(s)) : unknown.get(process))
	}
	const ret = new Map()
	for (const l of leaders.keys())
		addToList(ret, leader(l), l)
	return ret
}

// The one value that all have which have any.
function common(values, several) {
	const known = new Set(values.filter(Boolean))
	return known.size > 1 ? several : [...known][0]
}

function heading({ locks, stacks }, sums, members) {
	const [process, pid, address, first, known] = locks[sums[0].listed]
	const taken = common(sums.map(s => stacks[s.stack][1]), 'several functions') || 'a function that no stack shows'
	const kind = common(sums.map(s => stacks[s.stack][2]), 'lock') || 'lock'
	const name = members.every(l => locks[l][3] === first) ? first : '', lock = known ? first : `${kind} ${first}`
	const npids = new Set(members.map(l => locks[l][1])).size
	if (!address)
		return `${process}: locks that are not known`
	if (name)
		return npids > 1 ? `${process}: ${lock} in ${npids} processes, taken in ${taken}` : `${process}, PID ${pid}: ${lock}, taken in ${taken}`
	if (members.length === 1)
		return `${process}, PID ${pid}: ${kind} at ${address}, taken in ${taken}`
	return npids > 1 ? `${process}: ${members.length} locks in ${npids} processes, taken at the same places, in ${taken}` :
		`${process}, PID ${pid}: ${members.length} locks taken at the same places, in ${taken}`
}

const byTime = rows => rows.sort((a, b) => b.us - a.us)

function partRows(sums, text) {
	const rows = new Map()
	for (const s of sums) {
		const key = text(s)
		rows.set(key, mergeWaits(rows.get(key) || noWaits({ text: '  ' + key }), s))
	}
	return byTime([...rows.values()])
}

// Rows {text, us, n, error, waits, counted, longest, estimate, first} and the idle time. Rows of one lock have the same `first`.
export function lockRows(data, state, places) {
	const { locks } = places, { sums, idle } = gather(data, state, places), members = join(sums, locks.locks), groups = new Map()
	const stack = i => locks.stacks[i][0]
	const texts = [s => `${s.waiter} waited: ${stack(s.stack)}`, s => s.holder ? `${s.holder} had it` : '(holder unknown)',
		s => s.waker === TIMEOUT ? 'gave up after a timeout' : s.waker[0] === '<' ? s.waker : `${s.waker} let go: ${stack(s.wakerStack)}`]
	for (const s of sums)
		addToList(groups, s.listed, s)
	const all = byTime([...groups.values()].map(list => list.reduce(mergeWaits, noWaits({ list }))))
	const rows = all.flatMap((g, i) => {
		const parts = texts.map(text => partRows(g.list, text))
		if (g.list.every(s => !s.holder))
			parts[1] = []
		return [{ ...g, text: heading(locks, g.list, members.get(g.list[0].listed)), mark: 'begins' }, ...parts.flat()]
			.map(r => ({ ...r, first: all.length - i }))
	})
	rows.unshift(sums.reduce(mergeWaits, noWaits({ text: '<Total>', whole: 1, first: all.length + 1 })))
	rows.forEach((r, key) => Object.assign(finishWaits(r, places), { key }))
	return { rows, idle }
}
