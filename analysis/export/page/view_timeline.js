// SPDX-License-Identifier: GPL-2.0-or-later
// The timeline: a lane for each CPU and each thread. The wheel scrolls, with Ctrl it zooms. A
// drag chooses a range, a click selects an interval.
import { el, fitCanvas, onFrame } from './dom.js'
import { NSTATES } from './data.js'
import { binCpu, binThread, cpuEventNear, eachOfThread, eventNear, makeLanes } from './lanes.js'
import { duration, moment } from './format.js'
import { onTheme, stateColor, themeColors } from './colors.js'

const LANE = 18, LABEL = 230, AXIS = 22 // pixels

export function makeTimeline(root, page) {
	const canvas = el('canvas', { tabIndex: 0, role: 'application',
		ariaLabel: 'Timeline. Arrow keys move, plus and minus zoom, Enter makes the shown range the filter, Escape removes it.' })
	const space = el('div.space'), scroll = el('div.lanes', {}, canvas, space), tip = el('div.tip', { hidden: true })
	root.append(scroll, tip)
	const t = { page, canvas, space, scroll, tip, closed: new Set(), lanes: [], drag: null, cache: new Map(), mouse: null }
	t.draw = onFrame(() => drawTimeline(t))
	scroll.addEventListener('scroll', t.draw)
	new ResizeObserver(t.draw).observe(scroll)
	onTheme(t.draw)
	listen(t)
	return {
		update() {
			t.lanes = makeLanes(page.data, page.state, t.closed, page.sums)
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

function range(t) {
	const { data, state } = t.page
	return [state.viewFrom === null ? data.begin : state.viewFrom, state.viewTo === null ? data.end : state.viewTo]
}

function setView(t, from, to) {
	const { data, store } = t.page
	const span = Math.max(20, Math.min(to - from, data.end - data.begin))
	from = Math.max(data.begin, Math.min(from, data.end - span))
	const all = from <= data.begin && from + span >= data.end
	store.set({ viewFrom: all ? null : Math.floor(from), viewTo: all ? null : Math.ceil(from + span) })
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

function laneAt(t, y) {
	return y < AXIS ? null : t.lanes[Math.floor((y - AXIS + t.scroll.scrollTop) / LANE)] || null
}

function reveal(t, thread) {
	let i = t.lanes.findIndex(l => l.thread === thread)
	if (i < 0) {
		t.closed.delete(t.page.data.threads[thread].key)
		t.lanes = makeLanes(t.page.data, t.page.state, t.closed, t.page.sums)
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
	c.fillStyle = colors.panel
	c.fillRect(0, 0, t.width, height)
	c.font = '12px system-ui, sans-serif'
	c.textBaseline = 'middle'
	const top = t.scroll.scrollTop, first = Math.floor(top / LANE)
	for (let i = first; i < t.lanes.length && i * LANE - top + AXIS < height; i++)
		drawLane(t, c, colors, t.lanes[i], i * LANE - top + AXIS)
	drawRange(t, c, colors, height)
	drawAxis(t, c, colors)
}

function drawLane(t, c, colors, lane, y) {
	c.fillStyle = lane.kind === 'group' ? colors.back : colors.panel
	c.fillRect(0, y, t.width, LANE)
	c.fillStyle = colors.line
	c.fillRect(0, y + LANE - 1, t.width, 1)
	if (lane.kind === 'group') {
		c.fillStyle = colors.text
		c.font = '600 12px system-ui, sans-serif'
		c.fillText(`${t.closed.has(lane.key) ? '▸' : '▾'} ${lane.name}`, 6, y + LANE / 2)
		const w = c.measureText(`▾ ${lane.name}`).width
		c.font = '12px system-ui, sans-serif'
		c.fillStyle = colors.faint
		c.fillText(`${lane.count} ${lane.threads ? (lane.count === 1 ? 'thread' : 'threads') : ''}`, 14 + w, y + LANE / 2)
		return
	}
	const { data } = t.page, [from, to] = range(t)
	drawBins(t, c, binsOf(t, lane, from, to), y, lane.kind === 'cpu' || data.complete ? 1 : 0.5)
	if (lane.kind === 'thread')
		drawRecorded(t, c, lane, from, to, y)
	c.fillStyle = colors.panel
	c.fillRect(0, y, LABEL, LANE - 1)
	const { state } = t.page
	c.fillStyle = lane.kind === 'cpu' ? (state.cpus.includes(lane.cpu) ? colors.accent : colors.text) :
		state.threads.includes(lane.thread) ? colors.accent : colors.text
	c.save()
	c.beginPath()
	c.rect(0, y, LABEL - 6, LANE)
	c.clip()
	c.fillText(lane.name, 20, y + LANE / 2)
	c.restore()
}

// Returns the shares of states in each pixel. They come from the events, or from the index while
// events are not decoded.
function binsOf(t, lane, from, to) {
	const { data } = t.page
	const n = Math.max(1, Math.floor(t.width - LABEL))
	const key = `${lane.kind} ${lane.kind === 'cpu' ? lane.cpu : lane.thread}`
	const old = t.cache.get(key)
	if (old && old.from === from && old.to === to && old.n === n)
		return old
	let bins
	if (lane.kind === 'cpu')
		bins = binCpu(data, lane.cpu, from, to, n)
	else if (data.whole)
		bins = binThread(data, lane.thread, from, to, n)
	else
		bins = stretchMips(data, data.mips[lane.thread], from, to, n)
	const made = { from, to, n, bins }
	if (t.cache.size > 400)
		t.cache.clear()
	t.cache.set(key, made)
	return made
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

// Each pixel is a column of the states in it, in their order, from below. Estimated waits are
// pale.
function drawBins(t, c, { bins, n }, y, waitAlpha) {
	const { data } = t.page, height = LANE - 3
	const level = new Float32Array(n), total = new Float32Array(n)
	for (let x = 0; x < n; x++) {
		for (let s = 0; s < NSTATES; s++)
			total[x] += bins[x * NSTATES + s]
	}
	for (const s of [11, ...data.state_order]) {
		c.fillStyle = stateColor(data.states[s].name)
		c.globalAlpha = data.states[s].cpu ? 1 : waitAlpha
		for (let x = 0; x < n; x++) {
			const share = bins[x * NSTATES + s] / Math.max(1, total[x])
			if (!share)
				continue
			let run = 1
			while (x + run < n && bins[(x + run) * NSTATES + s] / Math.max(1, total[x + run]) === share &&
			       level[x + run] === level[x])
				run++
			const h = share * height
			c.fillRect(LABEL + x, y + 1 + height - (level[x] + share) * height, run, h)
			for (let k = 0; k < run; k++)
				level[x + k] += share
			x += run - 1
		}
	}
	c.globalAlpha = 1
}

// A line above each wait that was recorded with its own beginning and end, where there is room.
function drawRecorded(t, c, lane, from, to, y) {
	const { data } = t.page
	const perPixel = (to - from) / (t.width - LABEL)
	let n = 0
	eachOfThread(data, lane.thread, from, (chunk, i) => {
		const end = chunk.base + chunk.time[i], begin = end - chunk.length[i]
		if (begin > to || n > 50000)
			return true
		n++
		const cls = data.classes[chunk.cls[i]]
		if (!data.isWait[chunk.cls[i]] || cls.flags & 32 || end - begin < perPixel * 2)
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
	const a = from === null ? LABEL : Math.max(LABEL, xAt(t, from)), b = to === null ? t.width : xAt(t, to)
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
		c.fillText((k * step / 1e6).toFixed(digits) + ' s', x + 4, AXIS / 2)
	}
	c.fillStyle = colors.back
	c.fillRect(0, 0, LABEL, AXIS - 1)
	c.fillStyle = colors.faint
	c.fillText(`shown: ${duration(to - from)}`, 6, AXIS / 2)
}

// --- mouse and keyboard ---

function listen(t) {
	const at = e => {
		const box = t.canvas.getBoundingClientRect()
		return [e.clientX - box.left, e.clientY - box.top]
	}
	t.canvas.addEventListener('wheel', e => {
		if (!e.ctrlKey && !e.metaKey && !e.shiftKey)
			return
		e.preventDefault()
		const [from, to] = range(t)
		if (e.shiftKey)
			setView(t, from + (e.deltaY || e.deltaX) / t.width * (to - from), to + (e.deltaY || e.deltaX) / t.width * (to - from))
		else
			zoomAt(t, at(e)[0], e.deltaY > 0 ? 1.25 : 0.8)
	}, { passive: false })
	t.canvas.addEventListener('pointerdown', e => {
		const [x, y] = at(e)
		t.canvas.setPointerCapture(e.pointerId)
		t.drag = { x, y, from: timeAt(t, x), to: timeAt(t, x), moved: false, label: x < LABEL }
	})
	t.canvas.addEventListener('pointermove', e => onMove(t, ...at(e)))
	t.canvas.addEventListener('pointerup', e => onUp(t, ...at(e), e))
	t.canvas.addEventListener('pointerleave', () => { t.tip.hidden = true })
	t.canvas.addEventListener('dblclick', e => {
		const event = t.page.event
		if (event && at(e)[0] > LABEL)
			setView(t, event.begin - (event.end - event.begin) * 0.5, event.end + (event.end - event.begin) * 0.5)
	})
	t.canvas.addEventListener('keydown', e => onKeyDown(t, e))
}

function onMove(t, x, y) {
	if (t.drag) {
		t.drag.moved = t.drag.moved || Math.abs(x - t.drag.x) > 4
		t.drag.to = timeAt(t, Math.max(LABEL, x))
		t.draw()
		return
	}
	showTip(t, x, y)
}

function showTip(t, x, y) {
	const { data } = t.page, lane = laneAt(t, y)
	t.tip.hidden = !lane || lane.kind === 'group' || x < LABEL
	if (t.tip.hidden)
		return
	const near = lane.kind === 'cpu' ? cpuEventNear(data, lane.cpu, timeAt(t, x)) : eventNear(data, lane.thread, timeAt(t, x))
	const c = near && data.classes[near.chunk.cls[near.i]]
	const thread = lane.kind === 'cpu' ? near && near.chunk.thread[near.i] : lane.thread
	t.tip.replaceChildren(el('b', {}, thread === null ? lane.name : data.threads[thread].name), el('div', {}, moment(timeAt(t, x)) + ' s'),
		c ? el('div', {}, data.states[c.state].uname + (data.isWait[near.chunk.cls[near.i]] && data.reasons[c.reason] ?
			', ' + data.reasons[c.reason].uname : '') + ', ' + duration(near.chunk.length[near.i])) : '')
	t.tip.style.left = Math.min(x + 14, t.width - 330) + 'px'
	t.tip.style.top = Math.min(y + 18, t.scroll.clientHeight - 64) + 'px'
}

function onUp(t, x, y, e) {
	const drag = t.drag, { store, data } = t.page
	t.drag = null
	if (!drag)
		return
	if (drag.moved && !drag.label) {
		const [from, to] = [drag.from, drag.to].sort((a, b) => a - b)
		store.set({ from: Math.max(data.begin, Math.floor(from)), to: Math.min(data.end, Math.ceil(to)) })
		return
	}
	const lane = laneAt(t, y)
	if (lane)
		clickLane(t, lane, x, e)
}

function toggled(list, value) {
	return list.includes(value) ? list.filter(v => v !== value) : [...list, value]
}

function clickLane(t, lane, x, e) {
	const { store, data, state } = t.page
	if (lane.kind === 'group' && x < 22 || lane.key === 'cpus') {
		t.closed.has(lane.key) ? t.closed.delete(lane.key) : t.closed.add(lane.key)
		t.lanes = makeLanes(data, state, t.closed, t.page.sums)
		t.draw()
	} else if (lane.kind === 'group') {
		store.set({ processes: e.ctrlKey ? toggled(state.processes, lane.key) : state.processes.includes(lane.key) ? [] : [lane.key] })
	} else if (x < LABEL && lane.kind === 'thread') {
		store.set({ threads: e.ctrlKey ? toggled(state.threads, lane.thread) : state.threads.includes(lane.thread) ? [] : [lane.thread] })
	} else if (lane.kind === 'thread') {
		const near = eventNear(data, lane.thread, timeAt(t, x))
		store.set({ event: near ? near.chunk.first + near.i : null })
	} else if (lane.kind === 'cpu' && x < LABEL) {
		store.set({ cpus: toggled(state.cpus, lane.cpu) })
	} else if (lane.kind === 'cpu') {
		const near = cpuEventNear(data, lane.cpu, timeAt(t, x))
		store.set({ event: near ? near.chunk.first + near.i : null })
	}
}

function onKeyDown(t, e) {
	const [from, to] = range(t), step = (to - from) / 5, middle = (LABEL + t.width) / 2
	const acts = {
		ArrowLeft: () => setView(t, from - step, to - step), ArrowRight: () => setView(t, from + step, to + step),
		a: () => setView(t, from - step, to - step), d: () => setView(t, from + step, to + step),
		'+': () => zoomAt(t, middle, 0.6), w: () => zoomAt(t, middle, 0.6), '=': () => zoomAt(t, middle, 0.6),
		'-': () => zoomAt(t, middle, 1.6), s: () => zoomAt(t, middle, 1.6),
		0: () => setView(t, -Infinity, Infinity),
		ArrowDown: () => { t.scroll.scrollTop += LANE * 3 }, ArrowUp: () => { t.scroll.scrollTop -= LANE * 3 },
		PageDown: () => { t.scroll.scrollTop += t.scroll.clientHeight - 60 },
		PageUp: () => { t.scroll.scrollTop -= t.scroll.clientHeight - 60 },
		Enter: () => t.page.store.set({ from: Math.floor(from), to: Math.ceil(to) }),
		Escape: () => t.page.store.set({ from: null, to: null, event: null }),
	}
	if (!(e.key in acts) || e.ctrlKey || e.metaKey)
		return
	e.preventDefault()
	acts[e.key]()
}
