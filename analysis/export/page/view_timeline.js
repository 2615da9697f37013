// SPDX-License-Identifier: GPL-2.0-or-later
// The timeline: a lane for each CPU and each thread. The wheel scrolls, with Ctrl it zooms. A
// drag chooses a range, a click selects an interval.
import { el, fill, fitCanvas, onFrame, when } from './dom.js'
import { FLAG, NSTATES, coarseAround, pathFuncs } from './data.js'
import { eachOfCpu, eachOfThread, eventNear, laneEventBefore, laneEventNear, makeLanes, sampleOfLane } from './lanes.js'
import { aboutLane, laneBins } from './bins.js'
import { makePainter, pixelOf } from './paint.js'
import { duration, moment } from './format.js'
import { FOUND, funcColor, onTheme, stateColor, themeColors } from './colors.js'
import { pathMask } from './filter.js'
import { drawLosses, drawSamples, drawSides, lossesOf, lostAt, sampleNear } from './marks.js'
import { sidesOf } from './compare.js'
import { drawSpans, spanNear } from './spans.js'
import { spanFacts, spanLength } from './view_span.js'
import { markedClasses } from './timeline_choice.js'

const LANE = 18, LABEL = 230, AXIS = 22 // pixels

export function makeTimeline(root, page) {
	const canvas = el('canvas', { tabIndex: 0, role: 'application',
		ariaLabel: 'Timeline. Arrow keys move, plus and minus zoom, Space selects an interval, ' +
			'Enter makes the shown range the filter, Escape removes it.' })
	const space = el('div.space'), scroll = el('div.lanes', {}, canvas, space)
	const tip = el('div.tip', { hidden: true })
	root.append(scroll, tip)
	const t = { page, canvas, space, scroll, tip, closed: new Set(), lanes: [], cursor: -1, drag: null,
		cache: new Map(), painter: makePainter() }
	t.draw = onFrame(() => drawTimeline(t))
	when(scroll, 'scroll', t.draw)
	new ResizeObserver(t.draw).observe(scroll)
	onTheme(t.draw)
	listen(t)
	return {
		update() {
			setLanes(t)
			// What a lane shows does not depend on the filter.
			if (t.cachedFor !== page.data.whole)
				t.cache.clear()
			t.cachedFor = page.data.whole
			t.draw()
		},
		draw: t.draw,
		zoom: (from, to) => setView(t, from, to),
		reveal: thread => reveal(t, thread),
		// Returns the number of a thread's event at a time, or null.
		eventAt(thread, time) {
			const near = eventNear(page.data, thread, time)
			return near ? near.chunk.first + near.i : null
		},
	}
}

// The lanes of the state. The cursor stays on its lane, wherever that is now.
function setLanes(t) {
	const { page, lanes, cursor } = t, old = lanes[cursor], id = lane => [lane.kind, lane.cpu, lane.thread, lane.kind === 'group' && lane.key].join()
	t.lanes = makeLanes(page.data, page.state, t.closed, page.sums)
	t.cursor = old ? t.lanes.findIndex(lane => id(lane) === id(old)) : cursor
}

function range(t) {
	const { data, state } = t.page
	const { viewFrom: from, viewTo: to } = state
	return [from === null ? data.begin : from, to === null ? data.end : to]
}

function setView(t, from, to) {
	const { data, store } = t.page
	const span = Math.round(Math.max(20, Math.min(to - from, data.end - data.begin)))
	from = Math.round(Math.max(data.begin, Math.min(from, data.end - span)))
	const all = from <= data.begin && from + span >= data.end
	store.set({ viewFrom: all ? null : from, viewTo: all ? null : from + span })
}

function zoomAt(t, x, factor) {
	const [from, to] = range(t), at = timeAt(t, x)
	setView(t, at - (at - from) * factor, at + (to - at) * factor)
}

function timeAt(t, x) {
	const [from, to] = range(t)
	return from + (x - LABEL) / Math.max(1, t.width - LABEL) * (to - from)
}

function xAt(t, time) {
	const [from, to] = range(t)
	return LABEL + (time - from) / (to - from) * (t.width - LABEL)
}

// Where marks.js draws.
function placeAt(t, y, height) {
	return { xOf: time => xAt(t, time), left: LABEL, right: t.width, y, height }
}

function laneAt(t, y) {
	return y < AXIS ? null : t.lanes[Math.floor((y - AXIS + t.scroll.scrollTop) / LANE)] || null
}

function reveal(t, thread) {
	let i = t.lanes.findIndex(l => l.thread === thread)
	if (i < 0) {
		t.closed.delete(t.page.data.threads[thread].key)
		setLanes(t)
		i = t.lanes.findIndex(l => l.thread === thread)
	}
	if (i >= 0)
		t.scroll.scrollTop = Math.max(0, i * LANE - t.scroll.clientHeight / 2)
	t.draw()
}

// --- drawing ---

function drawTimeline(t) {
	const { data } = t.page
	t.width = t.scroll.clientWidth
	const height = t.scroll.clientHeight
	if (!data || !t.width || !height)
		return
	const c = fitCanvas(t.canvas, t.width, height), colors = themeColors()
	t.space.style.height = Math.max(0, t.lanes.length * LANE + AXIS - height) + 'px'
	if (t.follow)
		showCursor(t)
	c.fillStyle = colors.panel
	c.fillRect(0, 0, t.width, height)
	c.font = '12px system-ui, sans-serif'
	c.textBaseline = 'middle'
	const top = t.scroll.scrollTop, shown = []
	for (let i = Math.floor(top / LANE); i < t.lanes.length && i * LANE - top + AXIS < height; i++)
		shown.push([t.lanes[i], i * LANE - top + AXIS])
	for (const [lane, y] of shown)
		drawBack(t, c, colors, lane, y)
	drawStates(t, c, shown, height)
	for (const [lane, y] of shown)
		drawLane(t, c, colors, lane, y)
	drawRange(t, c, colors, height)
	drawCursor(t, c, colors)
	drawAxis(t, c, colors)
}

function drawCursor(t, c, colors) {
	if (document.activeElement !== t.canvas || !t.lanes[t.cursor])
		return
	c.strokeStyle = colors.accent
	c.lineWidth = 2
	c.strokeRect(1, t.cursor * LANE - t.scroll.scrollTop + AXIS, t.width - 2, LANE - 1)
}

function drawBack(t, c, colors, lane, y) {
	c.fillStyle = lane.kind === 'group' ? colors.back : colors.panel
	c.fillRect(0, y, t.width, LANE)
	c.fillStyle = colors.line
	c.fillRect(0, y + LANE - 1, t.width, 1)
}

// Each pixel is a column of the states in it, in their order, from below.
function drawStates(t, c, shown, height) {
	const { data } = t.page, [from, to] = range(t)
	const pixels = { cpu: statePixels(data, 1), thread: statePixels(data, data.complete ? 1 : 0.5) }
	t.painter.begin(columnsOf(t), height)
	for (const [lane, y] of shown) {
		if (hasStates(lane))
			t.painter.lane(binsOf(t, lane, from, to), y + 1, LANE - 3, pixels[lane.kind])
	}
	t.painter.show(c, LABEL, 0)
}

const hasStates = lane => lane.kind === 'cpu' || lane.kind === 'thread'

// Estimated waits are pale.
function statePixels(data, waitAlpha) {
	return [11, ...data.state_order].map(state => {
		const { name, cpu } = data.states[state]
		return { state, pixel: pixelOf(stateColor(name), cpu ? 1 : waitAlpha) }
	})
}

function columnsOf(t) {
	return Math.max(1, Math.floor(t.width - LABEL))
}

function drawLane(t, c, colors, lane, y) {
	if (lane.kind === 'group') {
		c.fillStyle = colors.text
		c.font = '600 12px system-ui, sans-serif'
		c.fillText(`${t.closed.has(lane.key) ? '▸' : '▾'} ${lane.name}`, 6, y + LANE / 2)
		const w = c.measureText(`▾ ${lane.name}`).width
		c.font = '12px system-ui, sans-serif'
		c.fillStyle = colors.faint
		const what = !lane.threads ? '' : lane.count === 1 ? 'thread' : 'threads'
		c.fillText(`${lane.count} ${what}`, 14 + w, y + LANE / 2)
		return
	}
	const { data } = t.page
	if (t.page.state.color && hasStates(lane))
		drawFunctions(t, c, lane, y)
	if (lane.kind === 'spans')
		drawSpans(c, data, lane, range(t), placeAt(t, y + 1, LANE - 3), t.page.state.span, colors)
	if (lane.kind === 'thread') {
		drawRecorded(t, c, lane, ...range(t), y)
		drawLosses(c, lossesOf(data, lane.thread), placeAt(t, y + 1, LANE - 3), colors)
	}
	if (hasStates(lane))
		drawCounts(t, c, lane, ...range(t), y)
	c.fillStyle = colors.panel
	c.fillRect(0, y, LABEL, LANE - 1)
	const { state } = t.page
	const isChosen = lane.kind === 'cpu' ? state.cpus.includes(lane.cpu) :
		state.threads.includes(lane.thread) || state.processes.includes(lane.key)
	c.fillStyle = lane.kind === 'spans' ? colors.faint : isChosen ? colors.accent : colors.text
	c.save()
	c.beginPath()
	c.rect(0, y, LABEL - 6, LANE)
	c.clip()
	c.fillText(lane.name, lane.kind === 'spans' ? 34 : lane.key ? 6 : 20, y + LANE / 2)
	c.restore()
}

// Returns the shares of states in each pixel. They come from the events, or from the index while
// events are not decoded.
function binsOf(t, lane, from, to) {
	const { data } = t.page, n = columnsOf(t)
	const key = `${lane.kind} ${lane.kind === 'cpu' ? lane.cpu : lane.thread}`
	const old = t.cache.get(key)
	if (old && old.from === from && old.to === to && old.n === n)
		return old.bins
	const bins = lane.kind === 'cpu' || data.whole ? laneBins(data, lane, from, to, n) :
		stretchMips(data, data.mips[lane.thread], from, to, n)
	if (t.cache.size > 400)
		t.cache.clear()
	t.cache.set(key, { from, to, n, bins })
	return bins
}

function stretchMips(data, mip, from, to, n) {
	const bins = new Float32Array(n * NSTATES), scale = mip.n / (data.end - data.begin)
	for (let x = 0; x < n; x++) {
		const b = Math.floor((from + (x + 0.5) / n * (to - from) - data.begin) * scale)
		for (let s = 0; s < NSTATES && b >= 0 && b < mip.n; s++)
			bins[x * NSTATES + s] = mip.bins[b * NSTATES + s] / 255
	}
	return bins
}

// The functions of a path that are shown, from its leaf or its root on.
function endFuncs(data, path, { color, depth }) {
	const funcs = pathFuncs(data, path)
	return (color === 'leaf' ? funcs.reverse() : funcs).slice(0, Number(depth) || 1)
}

// The samples of a lane in the colours of these functions, one below the other. Those with the selected function in
// their stacks stand out.
function drawFunctions(t, c, lane, y) {
	const { data, state } = t.page, chosen = state.selected === null ? null : pathMask(data, state.selected)
	for (let x = LABEL; x < t.width; x++) {
		const near = sampleOfLane(data, lane, timeAt(t, x + 0.5))
		if (!near)
			continue
		const path = near.chunk.path[near.i], funcs = endFuncs(data, path, state), room = (LANE - 3) / (Number(state.depth) || 1)
		funcs.forEach((func, k) => {
			c.fillStyle = chosen && (funcs.length < 2 ? chosen[path] : func === state.selected) ? FOUND : funcColor(data, func)
			c.fillRect(x, y + 1 + k * room, 1, room)
		})
	}
}

// A mark at the foot of the lane for each packet of a counter, of I/O and so on, as the user chose.
function drawCounts(t, c, lane, from, to, y) {
	const { counts } = t.page.data, marked = markedClasses(t.page)
	if (!marked)
		return
	let next = LABEL
	const mark = (chunk, i) => {
		const time = chunk.base + chunk.time[i], x = Math.floor(xAt(t, time))
		if (marked[chunk.cls[i]] && x >= next && time <= to) {
			c.fillRect(x, y + LANE - 6, 1, 4)
			next = x + 1
		}
		return time > to
	}
	c.fillStyle = themeColors().text
	lane.kind === 'cpu' ? eachOfCpu(counts, lane.cpu, from, mark) : eachOfThread(counts, lane.thread, from, mark)
}

// A line above each wait that was recorded with its own beginning and end, where there is room.
function drawRecorded(t, c, lane, from, to, y) {
	const { data } = t.page
	const perPixel = (to - from) / (t.width - LABEL)
	let n = 0
	if (aboutLane(data, lane).longestWait < perPixel * 2)
		return
	eachOfThread(data, lane.thread, from, (chunk, i) => {
		const end = chunk.base + chunk.time[i], begin = end - chunk.length[i]
		if (begin > to || n > 50000)
			return true
		n++
		const cls = data.classes[chunk.cls[i]]
		if (!data.isWait[chunk.cls[i]] || cls.flags & FLAG.rest || chunk.merged && chunk.merged[i] ||
		    end - begin < perPixel * 2)
			return false
		const a = Math.max(LABEL, xAt(t, begin)), b = Math.min(t.width, xAt(t, end))
		c.fillStyle = stateColor(data.states[cls.state].name)
		c.fillRect(a, y + 1, Math.max(1, b - a - 0.5), LANE - 3)
		c.fillStyle = 'rgba(0,0,0,.45)'
		c.fillRect(a, y + 1, Math.max(1, b - a - 0.5), 1.5)
		if (t.page.state.event === chunk.first + i) {
			c.strokeStyle = themeColors().text
			c.lineWidth = 2
			c.strokeRect(a + 1, y + 1, Math.max(2, b - a - 2), LANE - 4)
		}
		return false
	})
}

function drawRange(t, c, colors, height) {
	const { state } = t.page
	const drag = t.drag && t.drag.moved ? [t.drag.from, t.drag.to].sort((a, b) => a - b) : null
	const [from, to] = drag || [state.from, state.to]
	if (from === null && to === null)
		return
	const a = from === null ? LABEL : Math.max(LABEL, xAt(t, from))
	const b = to === null ? t.width : xAt(t, to)
	c.fillStyle = colors.back
	c.globalAlpha = 0.6
	c.fillRect(LABEL, AXIS, Math.max(0, a - LABEL), height)
	c.fillRect(Math.max(LABEL, b), AXIS, Math.max(0, t.width - b), height)
	c.globalAlpha = 1
	c.fillStyle = colors.accent
	for (const x of [a, b]) {
		if (x >= LABEL && x <= t.width)
			c.fillRect(x - 0.5, AXIS, 1, height)
	}
}

function tickStep(span, room) {
	const least = span / Math.max(1, room / 110)
	const power = 10 ** Math.floor(Math.log10(least))
	return [1, 2, 5, 10].map(k => k * power).find(step => step >= least)
}

function drawAxis(t, c, colors) {
	const [from, to] = range(t), step = tickStep(to - from, t.width - LABEL)
	c.fillStyle = colors.back
	c.fillRect(0, 0, t.width, AXIS)
	c.fillStyle = colors.line
	c.fillRect(0, AXIS - 1, t.width, 1)
	const digits = Math.max(0, Math.min(6, 6 - Math.floor(Math.log10(step))))
	for (let k = Math.ceil(from / step); k * step <= to; k++) {
		const x = xAt(t, k * step)
		c.fillStyle = colors.line
		c.fillRect(x, AXIS - 6, 1, 6)
		c.fillStyle = colors.faint
		const label = (k * step / 1e6).toFixed(digits) + ' s'
		if (x + 4 + c.measureText(label).width < t.width)
			c.fillText(label, x + 4, AXIS / 2)
	}
	drawLosses(c, lossesOf(t.page.data, null), placeAt(t, AXIS - 6, 5), colors)
	drawSides(c, sidesOf(t.page.data, t.page.state), placeAt(t, 1, AXIS - 3), colors)
	drawSamples(c, t.page.data, t.page.state.sample, placeAt(t, 0, AXIS), colors)
	drawCoarse(t, c, colors)
	c.fillStyle = colors.back
	c.fillRect(0, 0, LABEL, AXIS - 1)
	c.fillStyle = colors.faint
	c.fillText(`shown: ${duration(to - from)}`, 6, AXIS / 2)
}

// A band below the axis where the timeline is coarse. Each range ends in a gap.
function drawCoarse(t, c, colors) {
	const [from, to] = range(t)
	c.fillStyle = colors.accent
	for (const [begin, end] of t.page.data.coarse) {
		if (end <= from || begin >= to)
			continue
		const a = Math.max(LABEL, xAt(t, begin)), b = Math.min(t.width, xAt(t, end))
		c.fillRect(a, AXIS - 4, Math.max(1, b - a - 1), 3)
	}
}

// --- mouse and keyboard ---

function listen(t) {
	const at = e => {
		const box = t.canvas.getBoundingClientRect()
		return [e.clientX - box.left, e.clientY - box.top]
	}
	when(t.canvas, 'wheel', e => {
		if (!e.ctrlKey && !e.metaKey && !e.shiftKey)
			return
		e.preventDefault()
		const [from, to] = range(t)
		const step = (e.deltaY || e.deltaX) / t.width * (to - from)
		if (e.shiftKey)
			setView(t, from + step, to + step)
		else
			zoomAt(t, at(e)[0], e.deltaY > 0 ? 1.25 : 0.8)
	}, { passive: false })
	when(t.canvas, 'pointerdown', e => {
		const [x, y] = at(e)
		t.canvas.setPointerCapture(e.pointerId)
		t.drag = { x, y, from: timeAt(t, x), to: timeAt(t, x), moved: false, label: x < LABEL }
	})
	when(t.canvas, 'pointermove', e => onMove(t, ...at(e)))
	when(t.canvas, 'pointerup', e => onUp(t, ...at(e), e))
	when(t.canvas, 'pointerleave', () => { t.tip.hidden = true })
	when(t.canvas, 'dblclick', e => {
		const event = t.page.event, half = event && (event.end - event.begin) / 2
		if (event && at(e)[0] > LABEL)
			setView(t, event.begin - half, event.end + half)
	})
	when(t.canvas, 'keydown', e => onKeyDown(t, e))
	when(t.canvas, 'focus', t.draw)
	when(t.canvas, 'blur', t.draw)
}

function onMove(t, x, y) {
	if (t.drag) {
		t.drag.moved = t.drag.moved || Math.abs(x - t.drag.x) > 4
		t.drag.to = timeAt(t, Math.max(LABEL, x))
		t.tip.hidden = true
		t.draw()
		return
	}
	showTip(t, x, y)
}

function showTip(t, x, y) {
	const { data, state } = t.page, lane = laneAt(t, y)
	t.tip.hidden = !lane || lane.kind === 'group' || x < LABEL
	if (t.tip.hidden)
		return
	if (lane.kind === 'spans') {
		showSpanTip(t, lane, x, y)
		return
	}
	const near = laneEventNear(data, lane, timeAt(t, x))
	const c = near && data.classes[near.chunk.cls[near.i]]
	const thread = lane.kind === 'cpu' ? near && near.chunk.thread[near.i] : lane.thread
	const coarse = coarseAround(data, timeAt(t, x))
	const reason = c && !data.states[c.state].cpu && data.reasons[c.reason]
	const lost = lane.kind === 'thread' ? lostAt(data, thread, timeAt(t, x)) : 0
	fill(t.tip, el('b', {}, thread === null ? lane.name : data.threads[thread].name),
		el('div', {}, moment(timeAt(t, x)) + ' s'),
		coarse ? el('div', {}, `coarse: ${moment(coarse[0])} to ${moment(coarse[1])} s`) : '',
		c ? el('div', {}, [data.states[c.state].uname, reason ? reason.uname : '',
			duration(near.chunk.length[near.i])].filter(Boolean).join(', ')) : '',
		...near && state.color ? endFuncs(data, near.chunk.path[near.i], state).map(f => el('div', {}, data.funcs[f])) : [],
		lost ? el('div.bad', {}, `${lost} lost ${lost === 1 ? 'record' : 'records'} about here`) : '')
	placeTip(t, x, y)
}

function placeTip(t, x, y) {
	t.tip.style.left = Math.min(x + 14, t.width - 330) + 'px'
	t.tip.style.top = Math.min(y + 18, t.scroll.clientHeight - 64) + 'px'
}

// The call of a span under the pointer, or a few pixels away.
function spanAt(t, lane, x) {
	const [from, to] = range(t)
	return spanNear(t.page.data, lane.thread, timeAt(t, x), (to - from) / (t.width - LABEL) * 3)
}

function showSpanTip(t, lane, x, y) {
	const { data } = t.page, call = spanAt(t, lane, x)
	t.tip.hidden = !call
	if (!call)
		return
	fill(t.tip, el('b', {}, data.spans.names[call.name]), el('div', {}, spanLength(call)),
		...spanFacts(call).map(text => el('div', {}, text)))
	placeTip(t, x, y)
}

function onUp(t, x, y, e) {
	const drag = t.drag, { store, data } = t.page
	t.drag = null
	if (!drag)
		return
	if (drag.moved && !drag.label) {
		const [from, to] = [drag.from, drag.to].sort((a, b) => a - b)
		store.set({ from: Math.max(data.begin, Math.floor(from)),
			to: Math.min(data.end, Math.ceil(to)) })
		return
	}
	const lane = laneAt(t, y)
	if (lane)
		clickLane(t, lane, x, e)
	else if (y < AXIS)
		store.set({ sample: sampleNear(data, x, time => xAt(t, time)) })
}

function toggled(list, value) {
	return list.includes(value) ? list.filter(v => v !== value) : [...list, value]
}

// The list after a click on the name of a value: with Ctrl, several can be chosen.
function chosen(list, value, e) {
	return e.ctrlKey ? toggled(list, value) : list.includes(value) ? [] : [value]
}

function clickLane(t, lane, x, e) {
	const { store, data, state } = t.page
	if (lane.kind === 'spans') {
		const call = spanAt(t, lane, x < LABEL ? t.width : x)
		store.set({ span: call && call.index })
	} else if (lane.kind === 'group' && x < 22 || lane.key === 'cpus') {
		t.closed.has(lane.key) ? t.closed.delete(lane.key) : t.closed.add(lane.key)
		setLanes(t)
		t.draw()
	} else if (lane.key && (lane.kind === 'group' || x < LABEL)) {
		store.set({ processes: chosen(state.processes, lane.key, e) })
	} else if (x < LABEL && lane.kind === 'thread') {
		store.set({ threads: chosen(state.threads, lane.thread, e) })
	} else if (lane.kind === 'cpu' && x < LABEL) {
		store.set({ cpus: toggled(state.cpus, lane.cpu) })
	} else {
		chooseEvent(t, laneEventNear(data, lane, timeAt(t, x)))
	}
}

function chooseEvent(t, near) {
	t.page.store.set({ event: near ? near.chunk.first + near.i : null })
}

// --- the lane that keys act on ---

function moveCursor(t, step) {
	t.cursor = Math.max(0, Math.min(t.lanes.length - 1, t.cursor + step))
	showCursor(t)
	t.draw()
}

function showCursor(t) {
	const top = Math.max(0, t.cursor) * LANE, room = t.scroll.clientHeight - AXIS - LANE
	t.scroll.scrollTop = Math.min(top, Math.max(t.scroll.scrollTop, top - room))
	t.follow = false
}

// What a click on the name of the lane does; on its heading, or in the middle of the shown range.
function actOnCursor(t, onName, e) {
	const lane = t.lanes[t.cursor]
	if (lane)
		clickLane(t, lane, onName ? LABEL / 2 : lane.kind === 'group' ? 0 : (LABEL + t.width) / 2, e)
	t.follow = true
}

// Selects the event before or after the selected one, in its lane, and moves the view to it.
function stepEvent(t, forward) {
	const { data, event } = t.page, lane = t.lanes[t.cursor], [from, to] = range(t)
	if (!lane || !hasStates(lane))
		return
	const after = event ? event.end + (lane.kind === 'cpu' ? 1 : 0) : from
	const near = forward ? laneEventNear(data, lane, after) :
		laneEventBefore(data, lane, event ? event.end - 1 : to)
	if (!near)
		return
	chooseEvent(t, near)
	const end = near.chunk.base + near.chunk.time[near.i]
	if (end < from || end > to)
		setView(t, end - (to - from) / 2, end + (to - from) / 2)
}

function onKeyDown(t, e) {
	const [from, to] = range(t), step = (to - from) / 5, middle = (LABEL + t.width) / 2
	const acts = {
		ArrowLeft: () => setView(t, from - step, to - step),
		ArrowRight: () => setView(t, from + step, to + step),
		a: () => setView(t, from - step, to - step), d: () => setView(t, from + step, to + step),
		'+': () => zoomAt(t, middle, 0.6), w: () => zoomAt(t, middle, 0.6),
		'=': () => zoomAt(t, middle, 0.6),
		'-': () => zoomAt(t, middle, 1.6), s: () => zoomAt(t, middle, 1.6),
		0: () => setView(t, -Infinity, Infinity),
		ArrowDown: () => moveCursor(t, 1), ArrowUp: () => moveCursor(t, -1),
		' ': () => actOnCursor(t, false, e), t: () => actOnCursor(t, true, e),
		'.': () => stepEvent(t, true), ',': () => stepEvent(t, false),
		PageDown: () => { t.scroll.scrollTop += t.scroll.clientHeight - 60 },
		PageUp: () => { t.scroll.scrollTop -= t.scroll.clientHeight - 60 },
		Enter: () => t.page.store.set({ from: Math.floor(from), to: Math.ceil(to) }),
		Escape: () => t.page.store.set({ from: null, to: null, event: null, sample: null }),
	}
	if (!(e.key in acts) || e.ctrlKey || e.metaKey)
		return
	e.preventDefault()
	acts[e.key]()
}
