// SPDX-License-Identifier: GPL-2.0-or-later
// The flame graph: callees below callers, or callers below callees ("leaf up"). With a function
// chosen for the sandwich, its callers are above it and its callees below.
import { el, fitCanvas, onFrame } from './dom.js'
import { bottomUp, calleesOf, nodeTimes, topDown } from './tree.js'
import { metricName, metricTotal, pathTimes } from './metrics.js'
import { percent, seconds } from './format.js'
import { funcColor, onTheme, themeColors } from './colors.js'

const FRAME = 19, LEAST = 0.7 // pixels

// --- layout: boxes {x, w, row, item}, in pixels ---

function place(boxes, tree, item, x, w, row, step, scale) {
	boxes.push({ x, w, row, item })
	let at = x
	for (const child of tree.children(item, LEAST / scale)) {
		child.up = item
		place(boxes, tree, child, at, child.us * scale, row + step, step, scale)
		at += child.us * scale
	}
	if (item.narrow.us * scale > 3)
		boxes.push({ x: at, w: item.narrow.us * scale, row: row + step, item: { func: -1, us: item.narrow.us, n: item.narrow.n, up: item } })
}

// Returns the item at the end of a path of functions, or the last one that exists.
function descend(tree, path) {
	let item = tree.root
	const items = [item]
	for (const func of path) {
		const child = tree.children(item, 0).find(c => c.func === func)
		if (!child)
			break
		child.up = item
		items.push(item = child)
	}
	return items
}

export function layoutFlame(tree, zoom, width) {
	const items = descend(tree, zoom), boxes = []
	items.slice(0, -1).forEach((item, row) => boxes.push({ x: 0, w: width, row, item, above: true }))
	const top = items[items.length - 1]
	if (top.us)
		place(boxes, tree, top, 0, width, items.length - 1, 1, width / top.us)
	return boxes
}

// Callers grow upwards from the function, callees downwards.
export function layoutSandwich(callers, callees, width) {
	const boxes = []
	if (!callees.root.us)
		return boxes
	const scale = width / callees.root.us
	place(boxes, callees, callees.root, 0, width, 0, 1, scale)
	place(boxes, callers, callers.root, 0, width, 0, -1, scale)
	const top = boxes.reduce((a, b) => Math.min(a, b.row), 0)
	boxes.forEach(b => { b.row -= top })
	return boxes
}

// --- search ---

export function makePattern(text) {
	if (!text)
		return null
	try {
		return new RegExp(text, 'i')
	} catch {
		return new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'i')
	}
}

// Returns the time of stacks that contain a matching function.
export function matchedTime(data, pathUs, pattern) {
	const matches = data.funcs.map(name => pattern.test(name))
	const tree = data.tree, us = nodeTimes(data, pathUs), inside = new Uint8Array(tree.n)
	let sum = 0
	for (let i = 1; i < tree.n; i++) {
		inside[i] = inside[tree.parent[i]]
		if (!inside[i] && matches[tree.func[i]]) {
			inside[i] = 1
			sum += us[i]
		}
	}
	return { sum, matches }
}

// --- the view ---

export const flameView = {
	id: 'flame', title: 'Flame graph', key: '1',
	make(root, page) {
		const canvas = el('canvas', { tabIndex: 0, role: 'img' })
		const scroll = el('div.scroll', {}, canvas)
		const tip = el('div.tip', { hidden: true })
		const path = el('div.crumbs')
		root.append(path, scroll, tip)
		const f = { page, canvas, scroll, tip, path, zoom: [], boxes: [], hover: null, matched: null, sandwich: null }
		const draw = onFrame(() => drawFlame(f))
		new ResizeObserver(() => { layout(f); draw() }).observe(scroll)
		onTheme(draw)
		canvas.addEventListener('mousemove', e => hover(f, e, draw))
		canvas.addEventListener('mouseleave', () => { f.hover = null; tip.hidden = true; draw() })
		canvas.addEventListener('click', e => click(f, e))
		canvas.addEventListener('keydown', e => key(f, e, draw))
		f.redo = () => { build(f); layout(f); draw() }
		return {
			update({ state }) {
				f.matched = null
				if (f.leafUp !== state.leafUp)
					f.zoom = []
				f.leafUp = state.leafUp
				f.redo()
			},
		}
	},
}

function build(f) {
	const { data, state, sums } = f.page
	const us = pathTimes(sums, state.metric)
	f.whole = metricTotal(sums, state.metric)
	f.tree = f.sandwich === null ? (state.leafUp ? bottomUp(data, us) : topDown(data, us)) : null
	f.callers = f.sandwich === null ? null : bottomUp(data, us, f.sandwich)
	f.callees = f.sandwich === null ? null : calleesOf(data, us, f.sandwich)
	const pattern = makePattern(state.search)
	f.matched = pattern && matchedTime(data, us, pattern)
	showCrumbs(f)
}

function layout(f) {
	f.width = f.scroll.clientWidth
	if (!f.page.sums || !f.width)
		return
	f.boxes = f.tree ? layoutFlame(f.tree, f.zoom, f.width) : layoutSandwich(f.callers, f.callees, f.width)
	const rows = f.boxes.reduce((a, b) => Math.max(a, b.row + 1), 1)
	f.rows = Array.from({ length: rows }, () => [])
	f.boxes.forEach(b => f.rows[b.row].push(b))
	f.rows.forEach(r => r.sort((a, b) => a.x - b.x))
	f.height = rows * FRAME + 2
}

export function itemName(data, item) {
	if (item.n)
		return `${item.n} narrow functions`
	return item.func < 0 ? '<Total>' : data.funcs[item.func]
}

function drawFlame(f) {
	const { data, state } = f.page
	if (!f.rows)
		return
	const c = fitCanvas(f.canvas, f.width, Math.max(f.height, 40)), colors = themeColors()
	c.fillStyle = colors.panel
	c.fillRect(0, 0, f.width, f.height + 40)
	c.font = '12px system-ui, sans-serif'
	c.textBaseline = 'middle'
	if (!f.boxes.length) {
		c.fillStyle = colors.faint
		c.fillText('No time passes the filter.', 12, 20)
	}
	for (const b of f.boxes)
		drawBox(c, f, b, data, state, colors)
	f.canvas.setAttribute('aria-label', `Flame graph of ${seconds(f.whole)} seconds`)
}

function drawBox(c, f, b, data, state, colors) {
	const y = b.row * FRAME, gap = b.w > 3 ? 1 : 0
	const dim = b.above || (f.matched && b.item.func >= 0 && !f.matched.matches[b.item.func])
	c.globalAlpha = dim ? 0.42 : 1
	c.fillStyle = f.matched && !dim && b.item.func >= 0 ? '#d94fc0' : funcColor(data, b.item.func)
	c.fillRect(b.x, y, Math.max(b.w - gap, 0.5), FRAME - 1)
	c.globalAlpha = 1
	if (b === f.hover || (state.selected !== null && b.item.func === state.selected)) {
		c.strokeStyle = colors.text
		c.lineWidth = b === f.hover ? 2 : 1
		c.strokeRect(b.x + 1, y + 1, Math.max(b.w - gap - 2, 1), FRAME - 3)
	}
	if (b.w < 28)
		return
	c.fillStyle = dim ? colors.faint : f.matched && b.item.func >= 0 ? '#fff' : colors.text
	const room = Math.floor((b.w - 8) / 6.2), name = itemName(data, b.item)
	const text = name.length > room ? name.slice(0, Math.max(1, room - 1)) + '…' : name
	c.fillText(text, b.x + 4, y + FRAME / 2, b.w - 6)
}

function boxAt(f, e) {
	const row = f.rows && f.rows[Math.floor(e.offsetY / FRAME)]
	return row ? row.find(b => e.offsetX >= b.x && e.offsetX < b.x + Math.max(b.w, 1)) || null : null
}

function hover(f, e, draw) {
	const b = boxAt(f, e)
	if (b !== f.hover) {
		f.hover = b
		draw()
	}
	f.tip.hidden = !b
	if (!b)
		return
	const { data, state } = f.page
	const object = b.item.func < 0 ? '' : data.objects[data.func_objects[b.item.func]][0]
	f.tip.replaceChildren(el('b', {}, itemName(data, b.item)), el('div', {}, object),
		el('div', {}, `${seconds(b.item.us)} s, ${percent(b.item.us, f.whole)} % of ${metricName(data, state.metric)}`))
	const box = f.scroll.parentElement.getBoundingClientRect()
	f.tip.style.left = Math.min(e.clientX - box.left + 14, box.width - 330) + 'px'
	f.tip.style.top = Math.min(e.clientY - box.top + 18, box.height - 70) + 'px'
}

function pathOf(item) {
	const path = []
	for (; item.up; item = item.up)
		path.unshift(item.func)
	return path
}

function click(f, e) {
	const b = boxAt(f, e)
	if (!b)
		return
	if (f.tree)
		f.zoom = pathOf(b.item.n ? b.item.up : b.item)
	f.page.store.set({ selected: b.item.func >= 0 ? b.item.func : null })
	f.redo()
}

function key(f, e, draw) {
	if (e.key === 'Escape' || e.key === '0') {
		f.zoom = []
		f.sandwich = null
		f.redo()
	} else if (e.key === 'Backspace') {
		f.zoom = f.zoom.slice(0, -1)
		f.redo()
	} else {
		return
	}
	e.preventDefault()
	draw()
}

// The line above the graph: what it shows, and buttons to change that.
function showCrumbs(f) {
	const { data, state, store } = f.page
	const button = (text, on, act, help) => el('button' + (on ? '.on' : ''), { type: 'button', ariaPressed: String(!!on), title: help || '',
		onclick: act }, text)
	const search = el('input', { type: 'search', placeholder: 'Search: regular expression', value: state.search,
		ariaLabel: 'Search functions' })
	search.id = 'search'
	search.addEventListener('change', () => store.set({ search: search.value }))
	const had = document.activeElement && document.activeElement.id === 'search'
	f.path.replaceChildren(...[
		button('Root on top', !state.leafUp && f.sandwich === null, () => { f.sandwich = null; store.set({ leafUp: false }); f.redo() },
			'Callees below callers'),
		button('Leaf on top', state.leafUp && f.sandwich === null, () => { f.sandwich = null; store.set({ leafUp: true }); f.redo() },
			'Callers below callees'),
		button('Sandwich', f.sandwich !== null, () => { f.sandwich = state.selected; f.redo() },
			'Callers above the selected function, callees below'),
		search,
		el('span.hint', {}, f.matched ? `${percent(f.matched.sum, f.whole)} % match, ${seconds(f.matched.sum)} s` : ''),
		f.zoom.length && f.tree ? button('Whole graph', false, () => { f.zoom = []; f.redo() }) : null,
	].filter(Boolean))
	if (f.sandwich === null && state.selected === null)
		f.path.children[2].disabled = true
	if (had)
		search.focus()
	if (f.sandwich !== null)
		f.path.append(el('span.hint', {}, 'of ' + data.funcs[f.sandwich]))
}
