// SPDX-License-Identifier: GPL-2.0-or-later
// The filter: masks by thread, class of event, path and CPU; and the same filter as a command of
// er_print.
import { coarseAround } from './data.js'
import { duration } from './format.js'
import { parseExpression } from './expression.js'
import { metricsOf } from './metrics.js'
import { defaults, filterKeys, hasRange } from './store.js'

// The range that the filter has, within the recording.
export function chosenRange({ data, state }) {
	return [state.from === null ? data.begin : state.from, state.to === null ? data.end : state.to]
}

// Makes the filter of a state. In a mask, 1 passes and 0 does not. If everything passes, the
// mask is null.
export function makeFilter(data, state) {
	const made = madeOf(data, state), byThread = !!made && made.by === 'thread'
	return {
		from: state.from === null ? -Infinity : state.from,
		to: state.to === null ? Infinity : state.to,
		thread: threadMask(data, state, byThread ? made.mask : null),
		cls: classMask(data, state),
		path: state.func === null ? null : pathMask(data, state.func),
		cpus: state.cpus.length ? new Set(state.cpus) : null,
		other: made && !byThread ? e => made.test(e) === 1 : null,
		unread: !!made && made.unread,
	}
}

// The condition of the expression; null: there is none, or one with an error, which filters nothing.
function madeOf(data, { expr }) {
	const made = expr && parseExpression(data, expr)
	return made && !made.error ? made : null
}

// Whether anything is filtered.
export function isFiltered(data, state) {
	return filterKeys.some(key => key !== 'expr' && String(state[key]) !== String(defaults[key])) || !!madeOf(data, state)
}

// Whether it filters by more than a range and threads. An expression that tests only threads chooses threads.
export function isFilteredByKind(data, state) {
	return state.states.length > 0 || dividesStates(data, state)
}

// Whether it leaves only a part of a thread's time in a state. Such a part is sampled; the whole is exact.
export function dividesStates(data, state) {
	const made = madeOf(data, state)
	return ['reasons', 'cpus'].some(key => state[key].length) || state.func !== null || !!made && made.by !== 'thread'
}

// Whether it leaves a part of the threads' time, whose total is sampled. That of threads is exact.
export function dividesThreads(data, state) {
	return hasRange(state) || isFilteredByKind(data, state)
}

// Returns what an expression may depend on.
function eventFacts(chunk, i) {
	return { thread: chunk.thread[i], cls: chunk.cls[i], path: chunk.path[i], cpu: chunk.cpu[i], time: chunk.base + chunk.time[i],
		row: chunk.first + i, spans: chunk.spans ? chunk.spans[i] : 0 }
}

// A filter but its range, as a loop over events asks it: masks that are always there, and rest(chunk, i) or null. Were the
// masks sometimes null, the first filter would run code that the browser has to compile anew.
export function eventMasks(data, { cls, thread, path, cpus, other }) {
	const all = n => new Uint8Array(n).fill(1)
	return { classOk: cls || all(data.classes.length), threadOk: thread || all(data.nthreads), pathOk: path || all(data.npaths),
		rest: cpus || other ? (chunk, i) => (!cpus || cpus.has(chunk.cpu[i])) && (!other || other(eventFacts(chunk, i))) : null }
}

// `also`: the mask of an expression, or null.
function threadMask(data, state, also) {
	if (!state.processes.length && !state.threads.length && !state.cgroups.length && state.group === null && !also)
		return null
	const keys = new Set(state.processes), ids = new Set(state.threads), cgroups = new Set(state.cgroups)
	const exps = new Set(data.experiments.filter(e => state.group === null || e.group === state.group).map(e => e.id))
	return Uint8Array.from(data.threads, (t, i) => (!keys.size || keys.has(t.key)) && (!ids.size || ids.has(i)) &&
		(!cgroups.size || cgroups.has(t.cgroup)) && exps.has(t.exp) && (!also || also[i] === 1) ? 1 : 0)
}

function classMask(data, state) {
	if (!state.states.length && !state.reasons.length)
		return null
	const states = new Set(state.states), reasons = new Set(state.reasons)
	return Uint8Array.from(data.classes, c => {
		// Packets of counters, I/O and memory have no state.
		const isWait = c.state !== null && !data.states[c.state].cpu
		return (!states.size || states.has(c.state)) &&
			(!reasons.size || (isWait && reasons.has(c.reason))) ? 1 : 0
	})
}

// Returns a mask of the paths that contain the function.
export function pathMask(data, func) {
	const tree = data.tree, has = new Uint8Array(tree.n)
	for (let i = 1; i < tree.n; i++)
		has[i] = tree.func[i] === func || has[tree.parent[i]] ? 1 : 0
	return Uint8Array.from(data.pathNode, node => has[node])
}

// --- as text ---

const quote = text => "'" + text.replace(/'/g, "'\\''") + "'"

// Returns a regular expression for er_print that matches only this text, for use in double
// quotes. There a backslash only protects a quote.
export function literal(text) {
	return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/"/g, '\\"')
}

// Returns the name of a function that tells it from most others: the mangled one if it has one.
function exactName(data, func) {
	const others = data.func_names[func]
	return others ? others[others.length - 1] : data.funcs[func]
}

function anyOf(name, values) {
	return values.length === 1 ? `${name} == ${values[0]}` : `${name} IN (${values.join(',')})`
}

// Returns the expression that stacks contain a function.
export function stackClause(data, func) {
	return `FNAME("${literal(exactName(data, func))}") SOME IN STACK`
}

// Returns the expression for er_print -filters, without the times; '' if nothing is filtered.
export function filterExpression(data, state) {
	const parts = []
	const several = data.experiments.length > 1
	if (state.processes.length) {
		const all = state.processes.map(key => data.processes.find(p => p.key === key)).filter(Boolean)
		const exprs = all.map(p => several ? `(PID == ${p.pid} && EXPGRID == ${data.experiments.find(e => e.id === p.exp).group})` : String(p.pid))
		parts.push(several ? exprs.join(' || ') : anyOf('PID', exprs))
	}
	if (state.threads.length) {
		const all = state.threads.map(i => data.threads[i]).filter(Boolean)
		parts.push(anyOf('TID', all.map(t => t.tid)))
	}
	if (state.cpus.length)
		parts.push(anyOf('CPUID', state.cpus))
	if (state.states.length)
		parts.push(anyOf('STATE', state.states.map(s => data.states[s].name)))
	if (state.reasons.length)
		parts.push(anyOf('REASON', state.reasons.map(r => data.reasons[r] ? data.reasons[r].name : r)))
	if (state.cgroups.length)
		parts.push(`CGROUP IN (${state.cgroups.map(c => `"${literal(c)}"`).join(',')})`)
	if (state.group !== null)
		parts.push(`EXPGRID == ${state.group}`)
	if (madeOf(data, state))
		parts.push(state.expr)
	if (state.func !== null)
		parts.push(stackClause(data, state.func))
	return parts.length > 1 ? parts.map(p => p.includes(' || ') || p === state.expr ? `(${p})` : p).join(' && ') :
		parts.join('')
}

// Returns the options that make er_print show the same numbers.
export function filterCommand(data, state) {
	const words = []
	const expr = filterExpression(data, state)
	if (state.from !== null)
		words.push('-from', state.from + 'us')
	if (state.to !== null)
		words.push('-to', state.to + 'us')
	if (expr)
		words.push('-filters', quote(expr))
	return words.join(' ')
}

// "worker (app, PID 12, TID 13)": what tells a thread from the others of its process comes first, because the end may be cut.
function ownNameFirst({ name, comm }) {
	const own = ` (${comm})`
	return name.endsWith(own) ? `${comm} (${name.slice(0, -own.length)})` : name
}

// Returns the parts of the filter but the typed expression, for display: [text, change of the state that removes the
// part].
export function filterParts(data, state) {
	const parts = []
	if (hasRange(state)) {
		const [from, to] = chosenRange({ data, state })
		parts.push([`${(from / 1e6).toFixed(6)} to ${(to / 1e6).toFixed(6)} s (${duration(to - from)})`,
			{ from: null, to: null }])
	}
	for (const key of state.processes) {
		const p = data.processes.find(q => q.key === key)
		parts.push([p ? p.name : key, { processes: state.processes.filter(k => k !== key) }])
	}
	for (const i of state.threads)
		parts.push([data.threads[i] ? ownNameFirst(data.threads[i]) : 'thread', { threads: state.threads.filter(k => k !== i) }])
	for (const c of state.cpus)
		parts.push(['CPU ' + c, { cpus: state.cpus.filter(k => k !== c) }])
	const others = data.states_met.filter(s => !state.states.includes(s)).map(s => data.states[s].uname)
	if (state.states.length > 3)
		parts.push([others.length < state.states.length ? 'not ' + others.join(', ') : `${state.states.length} states`, { states: [] }])
	for (const s of state.states.length > 3 ? [] : state.states)
		parts.push([data.states[s] ? data.states[s].uname : 'state', { states: state.states.filter(k => k !== s) }])
	for (const r of state.reasons)
		parts.push([data.reasons[r] ? data.reasons[r].uname : 'reason', { reasons: state.reasons.filter(k => k !== r) }])
	for (const c of state.cgroups)
		parts.push(['cgroup ' + c, { cgroups: state.cgroups.filter(k => k !== c) }])
	if (state.group !== null)
		parts.push([data.groups[state.group - 1], { group: null }])
	if (state.func !== null)
		parts.push(['in the stack: ' + data.funcs[state.func], { func: null }])
	return parts
}

// Returns the change with a range that has the whole of each coarse range that it touches, because
// only then the sums are exact.
export function wholeRanges(data, patch) {
	const ret = { ...patch }
	const edge = (time, side) => (Number.isInteger(time) && coarseAround(data, time) || { [side]: time })[side]
	for (const [key, side] of [['from', 0], ['to', 1]]) {
		if (key in ret)
			ret[key] = edge(ret[key], side)
	}
	// What a comparison compares: [group, from, to].
	for (const key of ['a', 'b']) {
		if (ret[key] && ret[key].length === 3)
			ret[key] = [ret[key][0], edge(ret[key][1], 0), edge(ret[key][2], 1)]
	}
	return ret
}

// Whether a list chooses what a comparison compares: [group] or [group, from, to].
function isSide(data, [group, from, to, ...rest], ngroups) {
	const isRange = Number.isInteger(from) && Number.isInteger(to) && from >= data.begin &&
		to <= data.end && from < to
	return Number.isInteger(group) && group >= 0 && group <= ngroups && !rest.length &&
		(from === undefined || isRange)
}

// Returns the state without what this recording does not have. The address may be damaged or
// hostile, or may have been copied from the page of another recording.
export function checkedState(data, state) {
	const within = n => i => Number.isInteger(i) && i >= 0 && i < n
	const inRange = t => t !== null && t >= data.begin && t <= data.end ? t : null
	const patch = {
		...state,
		threads: state.threads.filter(within(data.nthreads)),
		processes: state.processes.filter(k => data.processes.some(p => p.key === k)),
		states: state.states.filter(within(data.states.length)),
		reasons: state.reasons.filter(within(256)),
		cpus: state.cpus.filter(within(32768)), // cpu numbers have 16 bits
		event: within(data.nrows)(state.event) ? state.event : null,
		span: within(data.spanCalls.length)(state.span) ? state.span : null,
		sample: within((data.samples || []).length)(state.sample) ? state.sample : null,
		sort: Object.fromEntries(Object.entries(state.sort).filter(([, by]) =>
			Array.isArray(by) && (within(32)(by[0]) || typeof by[0] === 'string') && typeof by[1] === 'boolean')),
		cgroups: state.cgroups.filter(c => data.threads.some(t => t.cgroup === c)),
	}
	const ngroups = (data.groups || []).length
	patch.group = ngroups && within(ngroups + 1)(state.group) && state.group > 0 ? state.group : null
	for (const side of ['a', 'b'])
		patch[side] = isSide(data, state[side], ngroups) ? state[side] : []
	if (!metricsOf(data).some(m => m.id === state.metric && !m.ratio))
		patch.metric = defaults.metric
	for (const key of ['func', 'selected'])
		patch[key] = within(data.funcs.length)(state[key]) ? state[key] : null
	for (const [from, to] of [['from', 'to'], ['viewFrom', 'viewTo']]) {
		patch[from] = inRange(state[from])
		patch[to] = inRange(state[to])
		if (patch[from] !== null && patch[to] !== null && patch[from] >= patch[to])
			patch[from] = patch[to] = null
	}
	return wholeRanges(data, patch)
}
