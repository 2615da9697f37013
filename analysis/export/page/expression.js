// SPDX-License-Identifier: GPL-2.0-or-later
// Filter expressions of er_print that are typed. Parses those parts of the language that the page
// can evaluate with the same result; for others there is an error that names them. A value that is
// not known is neither equal nor unequal to anything: logic has three values.
import { coarseAround, namesAt } from './data.js'
import { objectType } from './objects.js'
import { funcMatches, objectMatches, posixPattern } from './pattern.js'

const NO = 0, YES = 1, UNKNOWN = 2
const DEPTH_MOST = 100

class ExpressionError extends Error {
	constructor(at, text) {
		super(text)
		this.at = at
	}
}

// --- conditions: {by, mask} over threads, classes or paths; or {test(event)} ---

// `by` is what the mask is indexed by: "thread", "cls", "path"; "call", a call of a span + 1; "spans", a set of calls.
const table = (by, mask) => ({ by, mask, test: e => mask[e[by]] })
// The same, unless the property has a key(event) of its own.
const tableOf = ({ key }, by, mask) => key ? { test: e => mask[key(e)] } : table(by, mask)
const constant = value => ({ test: () => value })
const opposite = v => v === UNKNOWN ? UNKNOWN : 1 - v
const both = (a, b) => a === NO || b === NO ? NO : a === YES && b === YES ? YES : UNKNOWN
const either = (a, b) => opposite(both(opposite(a), opposite(b)))

function negate(c) {
	return c.by ? { ...table(c.by, c.mask.map(opposite)), by: c.by } : { test: e => opposite(c.test(e)) }
}

function combine(a, b, logic) {
	if (a.by && a.by === b.by)
		return table(a.by, a.mask.map((v, i) => logic(v, b.mask[i])))
	return { test: e => logic(a.test(e), b.test(e)) }
}

const bool = b => b ? YES : NO

// As er_print: the expression must be true for one of the calls of spans that contain the event, or without any.
function ofOneCall({ spanSets }, c) {
	const some = (set, e) => bool(set.some(call => c.test({ ...e, call }) === YES))
	return c.by === 'call' ? table('spans', Uint8Array.from(spanSets, set => some(set, {}))) : { test: e => some(spanSets[e.spans], e) }
}

// --- names ---

// The value of each call of a span; null: there is no call.
const ofCalls = (data, value) => [null, ...data.spanCalls.map(value)]

// Values by number. `of` tells by which table and what the value of each entry is; null: unknown.
const numbers = {
	PID: { of: data => ['thread', data.threads.map(t => t.pid)] },
	TID: { of: data => ['thread', data.threads.map(t => t.tid)] },
	STATE: { of: data => ['cls', data.classes.map(c => c.state)], names: data => data.states.map(s => s.name) },
	MSTATE: { of: data => ['cls', data.classes.map(c => c.state)], names: data => data.states.map(s => s.name) },
	REASON: { of: data => ['cls', data.classes.map(c => c.reason)], names: data => data.reasons.map(r => r ? r.name : '') },
	CPUID: { event: e => e.cpu },
	SPANDUR: { of: data => ['call', ofCalls(data, c => c.end - c.begin)] },
	SPANPCT: { of: data => ['call', ofCalls(data, c => c.pct)] },
}

const texts = {
	COMM: {},
	CGROUP: { of: data => data.threads.map(t => t.cgroup) },
	SPAN: { by: 'call', of: data => ofCalls(data, c => data.spans.names[c.name]) },
}

const compare = {
	'==': (a, b) => a === b, '!=': (a, b) => a !== b, '<': (a, b) => a < b, '<=': (a, b) => a <= b,
	'>': (a, b) => a > b, '>=': (a, b) => a >= b,
}

// --- parsing ---

const tokens = /\s*(?:(0x[0-9a-f]+|\d+(?:\.\d+)?(?:ns|us|ms|s)?)\b|([A-Za-z_]\w*)|("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(\|\||&&|==|!=|<<|>>|<=|>=|[-<>!~()|^&+*/%?:,]))/giy

function tokenize(text) {
	const ret = []
	tokens.lastIndex = 0
	while (text.slice(tokens.lastIndex).trim()) {
		const from = tokens.lastIndex, m = tokens.exec(text)
		if (!m)
			throw new ExpressionError(from + text.slice(from).search(/\S/), /^\s*["']/.test(text.slice(from)) ? 'the closing quote is missing' :
				/^\s*=/.test(text.slice(from)) ? 'an operator is expected here: == compares' : 'this character has no meaning here')
		const at = m.index + m[0].length - m[0].trimStart().length
		const kind = m[1] ? 'number' : m[2] ? 'name' : m[3] ? 'text' : 'sign'
		ret.push({ kind, at, text: m[1] || m[2] || m[3] || m[4] })
	}
	ret.push({ kind: 'end', at: text.length, text: '' })
	return ret
}

function refuse(token, text) {
	throw new ExpressionError(token.at, text)
}

// er_print does not know every name either.
const beyond = token => refuse(token, `the page cannot evaluate ${token.text}: ${token.kind === 'name' ? 'if er_print -describe lists it, ' : ''}use er_print -filters and write a page of what passes`)

class Parser {
	constructor(data, text) {
		this.data = data
		this.list = tokenize(text)
		this.at = 0
		this.depth = 0
	}

	get token() { return this.list[this.at] }

	next() { return this.list[this.at++] }

	// Takes the next token if it is this sign, or this word in any letters.
	accept(text) {
		if (this.token.kind === 'text' || this.token.text.toUpperCase() !== text)
			return false
		this.at++
		return true
	}

	expect(text) {
		if (!this.accept(text))
			refuse(this.token, `${text} is missing`)
	}

	any() {
		let c = this.every()
		while (this.accept('||'))
			c = combine(c, this.every(), either)
		return c
	}

	every() {
		let c = this.unary()
		while (this.accept('&&'))
			c = combine(c, this.unary(), both)
		return c
	}

	unary() {
		if (++this.depth > DEPTH_MOST)
			refuse(this.token, 'too deeply nested')
		const c = this.accept('!') ? this.negation() : this.accept('(') ? this.inParens() : this.condition()
		this.depth--
		return c
	}

	// In er_print ! takes one operand: "!PID == 1" compares !PID.
	negation() {
		if (!['(', '!', 'TRUE', 'FALSE', 'HAS_PROP'].includes(this.token.text.toUpperCase()))
			refuse(this.token, 'write parentheses after !')
		return negate(this.unary())
	}

	inParens() {
		const c = this.any()
		this.expect(')')
		return c
	}

	condition() {
		const token = this.next(), name = token.text.toUpperCase()
		if (token.kind === 'end')
			refuse(token, 'the expression ends where a condition is expected')
		if (name === 'HAS_PROP')
			return this.hasSpan()
		if (name.startsWith('SPAN'))
			this.needSpans(token)
		if (name === 'TRUE' || name === 'FALSE')
			return constant(bool(name === 'TRUE'))
		if (token.kind === 'name' && name in numbers)
			return this.comparison(token, numbers[name])
		if (token.kind === 'name' && name in texts)
			return this.textMatch(token, texts[name])
		const type = token.kind === 'name' && objectType(this.data, name)
		if (type)
			return type[3] ? this.textMatch(token, this.objects(token, type)) : this.comparison(token, this.objects(token, type))
		if (name === 'SYSCALL')
			return this.call(token)
		if (name === 'TSTAMP')
			return this.time()
		if (name === 'FNAME' || name === 'LNAME')
			return this.inStack(token)
		if (name === 'LEAF')
			return this.leaf()
		return beyond(token)
	}

	needSpans(token) {
		const { spanSets, spans, reports } = this.data
		if (!spanSets)
			spans || reports.spans ? beyond(token) : refuse(token, 'this page has no spans')
		this.ofSpans = true
	}

	// The objects of a type. Until they are read, no event has one.
	objects(token, type) {
		const { data } = this, read = data.typed.get(), { values, at } = read ? read.of(type[0], !!data.stated) : { values: [], at: () => 0 }
		this.unread = this.unread || !read
		if (!type[2] || values.some(v => typeof v === 'number' && !Number.isSafeInteger(v)))
			beyond(token)
		return { key: e => at(e.row), of: () => ['', [null, ...values]] }
	}

	// Whether a call of a span contains the event.
	hasSpan() {
		this.expect('(')
		const token = this.token
		if (!this.accept('SPAN'))
			beyond(token)
		this.needSpans(token)
		this.expect(')')
		return table('call', Uint8Array.from(ofCalls(this.data, () => YES)))
	}

	// A number, a time in nanoseconds, or one of these names.
	value(names) {
		const token = this.next()
		const minus = token.text === '-' ? -1 : 1, word = minus < 0 ? this.next() : token
		if (word.kind === 'number')
			return minus * numberOf(word)
		if (word.kind === 'end')
			refuse(word, 'the expression ends where a value is expected')
		const index = names && ['name', 'text'].includes(word.kind) ? names.findIndex(n => n.toUpperCase() === word.text.replace(/^["']|["']$/g, '').toUpperCase()) : -1
		if (index < 0)
			refuse(word, names ? 'the operand on the left has no value of this name; er_print -describe lists them' : 'a number is expected here')
		return index
	}

	values(names) {
		const ret = [], parens = this.accept('(')
		do
			ret.push(this.value(names))
		while (parens && this.accept(','))
		if (parens)
			this.expect(')')
		return ret
	}

	comparison(token, property) {
		const names = property.names && property.names(this.data), op = this.next()
		let test
		if (op.text.toUpperCase() === 'IN') {
			const set = new Set(this.values(names))
			test = v => set.has(v)
		} else if (Object.prototype.hasOwnProperty.call(compare, op.text)) {
			const value = this.value(names)
			test = v => compare[op.text](v, value)
		} else {
			op.kind === 'end' ? refuse(op, 'a comparison is missing') : beyond(op)
		}
		if (['+', '-', '*', '/', '%', '&', '|', '^', '<<', '>>', '?'].includes(this.token.text))
			beyond(this.token)
		if (property.event)
			return { test: e => bool(test(property.event(e))) }
		const [by, values] = property.of(this.data)
		return tableOf(property, by, Uint8Array.from(values, v => v === null ? UNKNOWN : bool(test(v))))
	}

	patterns(names) {
		const ret = [], parens = this.accept('(')
		do
			ret.push(this.pattern(names))
		while (parens && this.accept(','))
		if (parens)
			this.expect(')')
		return ret
	}

	// With names, one of them must match.
	pattern(names) {
		const token = this.next()
		if (token.kind !== 'text')
			refuse(token, 'a regular expression in quotes is missing')
		const quote = token.text[0], text = token.text.slice(1, -1).split('\\' + quote).join(quote)
		const made = posixPattern(text)
		if (made.error)
			refuse(token, made.error)
		if (names && !names.some(n => made.pattern.test(n)))
			refuse(token, `no span has this name; there are ${names.join(', ')}`)
		return made.pattern
	}

	textMatch(token, property) {
		const op = this.next(), sign = op.text.toUpperCase()
		if (sign !== '==' && sign !== '!=' && sign !== 'IN')
			refuse(op, 'text is compared by ==, != or IN')
		if (token.text.toUpperCase() === 'CGROUP' && this.data.redacted)
			refuse(token, 'the file was written with --redact: it has no cgroups')
		const all = this.patterns(property.by && (this.data.spans || { names: [] }).names)
		const of = v => v === null || v === undefined ? UNKNOWN : bool(all.some(p => p.test(v)) === (sign !== '!='))
		if (property === texts.COMM)
			return this.comm(token, of)
		return tableOf(property, property.by || 'thread', Uint8Array.from(property.key ? property.of()[1] : property.of(this.data), of))
	}

	// The name of the thread at the time of the event, or else of its process.
	comm(token, of) {
		const { data } = this, renamed = data.threads.filter(t => t.n && t.kinds), at = namesAt(data, (comm, process) => of(comm === null ? process : comm))
		if (renamed.some(t => t.kinds.some(([from], k) => k && at(t.index, from) !== at(t.index, from - 1) && coarseAround(data, from))))
			refuse(token, 'the timeline is coarse where a thread got or lost this name: write a larger page with --page-size')
		return renamed.length ? { test: e => at(e.thread, e.time) } : table('thread', Uint8Array.from(data.threads, (_, i) => at(i, 0)))
	}

	// Which call CPU time was in is not known here, so only waits in a call can be chosen.
	call(token) {
		const op = this.next(), { data } = this
		const sign = op.text.toUpperCase()
		if (sign !== '==' && sign !== 'IN')
			refuse(op, 'the page knows the system calls of waits only: choose them by == or IN')
		const names = [...new Set((data.stated || data.classes).map(c => c.call).filter(Boolean))], wanted = new Set()
		const parens = this.accept('(')
		do {
			const word = this.next()
			if (word.kind !== 'name' || !names.some(n => n.toUpperCase() === word.text.toUpperCase()))
				refuse(word, `no wait of this page was in this call; there are ${names.sort().join(', ') || 'none'}`)
			wanted.add(word.text.toLowerCase())
		} while (parens && this.accept(','))
		if (parens)
			this.expect(')')
		return table('cls', Uint8Array.from(data.classes, c => c.state === null ? UNKNOWN : bool(c.call && wanted.has(c.call.toLowerCase()))))
	}

	// Events have whole microseconds, so only these comparisons are exact.
	time() {
		const op = this.next(), at = this.token
		if (op.text !== '<' && op.text !== '>=')
			refuse(op, 'the page compares TSTAMP by >= and < only')
		const ns = this.value(null)
		if (ns % 1000)
			refuse(at, 'the page has whole microseconds: round this time')
		if (coarseAround(this.data, ns / 1000))
			refuse(at, 'the timeline is coarse here: write a larger page with --page-size, or choose an edge of this range')
		return { test: e => bool(op.text === '<' ? e.time < ns / 1000 : e.time >= ns / 1000) }
	}

	// FNAME("…") or LNAME("…"), after the name: a function mask.
	functions(token) {
		const { data } = this
		this.expect('(')
		const pattern = this.pattern()
		this.expect(')')
		if (token.text.toUpperCase() === 'FNAME')
			return funcMatches(data, pattern)
		if (data.redacted)
			refuse(token, 'the file was written with --redact: it has no paths of load objects')
		const objects = objectMatches(data, pattern)
		return Uint8Array.from(data.func_objects, o => objects[o])
	}

	inStack(token) {
		const matches = this.functions(token), { tree } = this.data, inside = new Uint8Array(tree.n)
		if (!this.accept('SOME') || !this.accept('IN') || !this.accept('STACK'))
			refuse(this.token, 'SOME IN STACK is expected after this')
		for (let i = 1; i < tree.n; i++)
			inside[i] = matches[tree.func[i]] | inside[tree.parent[i]]
		return table('path', Uint8Array.from(this.data.pathNode, n => inside[n]))
	}

	leaf() {
		const { data } = this
		this.expect('IN')
		const token = this.next()
		if (!['FNAME', 'LNAME'].includes(token.text.toUpperCase()))
			beyond(token)
		const matches = this.functions(token)
		return table('path', Uint8Array.from(data.pathNode, n => n ? matches[data.tree.func[n]] : NO))
	}
}

const timeUnits = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 }

function numberOf(token) {
	const m = /^(\d+(?:\.\d+)?)(ns|us|ms|s)$/.exec(token.text.toLowerCase())
	if (!m && token.text.includes('.'))
		refuse(token, 'a time has the unit s, ms, us or ns')
	const value = m ? Math.round(m[1] * timeUnits[m[2]]) : Number(token.text)
	if (!Number.isSafeInteger(value))
		value < 2 ** (m ? 63 : 64) ? beyond(token) : refuse(token, 'not a number that can be represented')
	return value
}

// The condition of an expression: {test(event)}, and {by, mask} if it depends on one thing only; unread: objects that it needs
// are still being read.
// An event is what eventFacts returns. Or {error, at}: a sentence and its place.
export function parseExpression(data, text) {
	if (data.parsed && data.parsed.text === text)
		return data.parsed.made
	let made
	try {
		const p = new Parser(data, text), c = p.any()
		if (p.token.kind !== 'end')
			p.token.kind === 'sign' && p.token.text !== ')' && p.token.text !== '(' ? beyond(p.token) : refuse(p.token, 'the expression should end here')
		made = { ...p.ofSpans ? ofOneCall(data, c) : c, unread: p.unread }
	} catch (e) {
		if (!(e instanceof ExpressionError))
			throw e
		made = { error: `Column ${e.at + 1}: ${e.message}.`, at: e.at }
	}
	data.parsed = made.unread ? null : { text, made }
	return made
}
