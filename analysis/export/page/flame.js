// SPDX-License-Identifier: GPL-2.0-or-later
// A flame graph on a canvas: layout, drawing, mouse and keys. What the boxes are, their colours and
// their texts is the caller's.
import { el, fill, fitCanvas, onFrame, when } from './dom.js'
import { onTheme, themeColors } from './colors.js'

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
		boxes.push({ x: at, w: item.narrow.us * scale, row: row + step,
			item: { func: -1, us: item.narrow.us, n: item.narrow.n, up: item } })
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

function layoutTree(tree, zoom, width) {
	const items = descend(tree, zoom), boxes = []
	items.slice(0, -1).forEach((item, row) => boxes.push({ x: 0, w: width, row, item, above: true }))
	const top = items[items.length - 1]
	if (top.us)
		place(boxes, tree, top, 0, width, items.length - 1, 1, width / top.us)
	return boxes
}

// Callers grow upwards from the function, callees downwards.
function layoutSandwich({ callers, callees }, width) {
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

function layout(f) {
	f.width = f.scroll.clientWidth
	if (!f.model || !f.width)
		return
	f.boxes = f.model.root ? layoutTree(f.model, f.zoom, f.width) : layoutSandwich(f.model, f.width)
	const rows = f.boxes.reduce((a, b) => Math.max(a, b.row + 1), 1)
	f.rows = Array.from({ length: rows }, () => [])
	f.boxes.forEach(b => f.rows[b.row].push(b))
	f.rows.forEach(r => r.sort((a, b) => a.x - b.x))
	f.height = rows * FRAME + 2
}

// --- the graph ---

// Adds a flame graph to root. on: {paint(box) -> {fill, dim, ink}; name(item); tip(item) -> nodes;
// selected(item); click(item); leave(): Escape was pressed; zoomed(): after each click and key;
// label(): the accessible name}.
// show(model) shows a tree (tree.js), or {callers, callees} of one function. `zoom` is the path of
// functions to the outermost box that is shown; it may be set before show.
export function makeFlame(root, on) {
	const canvas = el('canvas', { tabIndex: 0, role: 'img' })
	const scroll = el('div.scroll', {}, canvas), tip = el('div.tip', { hidden: true })
	root.append(scroll, tip)
	const f = { on, canvas, scroll, tip, zoom: [], boxes: [], hover: null, model: null }
	f.draw = onFrame(() => draw(f))
	f.redo = () => { layout(f); f.draw() }
	f.show = model => { f.model = model; f.redo() }
	new ResizeObserver(f.redo).observe(scroll)
	onTheme(f.draw)
	when(canvas, 'mousemove', e => hover(f, e))
	when(canvas, 'mouseleave', () => { f.hover = null; tip.hidden = true; f.draw() })
	when(canvas, 'click', e => click(f, e))
	when(canvas, 'keydown', e => key(f, e))
	return f
}

function draw(f) {
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
		drawBox(c, f, b, colors)
	f.canvas.setAttribute('aria-label', f.on.label())
}

function drawBox(c, f, b, colors) {
	const y = b.row * FRAME, gap = b.w > 3 ? 1 : 0, paint = f.on.paint(b)
	c.globalAlpha = paint.dim ? 0.42 : 1
	c.fillStyle = paint.fill
	c.fillRect(b.x, y, Math.max(b.w - gap, 0.5), FRAME - 1)
	c.globalAlpha = 1
	if (b === f.hover || f.on.selected(b.item)) {
		c.strokeStyle = colors.text
		c.lineWidth = b === f.hover ? 2 : 1
		c.strokeRect(b.x + 1, y + 1, Math.max(b.w - gap - 2, 1), FRAME - 3)
	}
	if (b.w < 28)
		return
	c.fillStyle = paint.dim ? colors.faint : paint.ink || colors.text
	const room = Math.floor((b.w - 8) / 6.2), name = f.on.name(b.item)
	const text = name.length > room ? name.slice(0, Math.max(1, room - 1)) + '…' : name
	c.fillText(text, b.x + 4, y + FRAME / 2, b.w - 6)
}

// --- mouse and keys ---

function boxAt(f, e) {
	const row = f.rows && f.rows[Math.floor(e.offsetY / FRAME)]
	return row ? row.find(b => e.offsetX >= b.x && e.offsetX < b.x + Math.max(b.w, 1)) || null : null
}

function hover(f, e) {
	const b = boxAt(f, e)
	if (b !== f.hover) {
		f.hover = b
		f.draw()
	}
	f.tip.hidden = !b
	if (!b)
		return
	fill(f.tip, ...f.on.tip(b.item))
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
	if (f.model.root)
		f.zoom = pathOf(b.item.n ? b.item.up : b.item)
	f.on.click(b.item)
	f.redo()
	f.on.zoomed()
}

function key(f, e) {
	if (e.key === 'Escape' || e.key === '0') {
		f.zoom = []
		f.on.leave()
	} else if (e.key === 'Backspace') {
		f.zoom = f.zoom.slice(0, -1)
	} else {
		return
	}
	e.preventDefault()
	f.redo()
	f.on.zoomed()
}
