// SPDX-License-Identifier: GPL-2.0-or-later
// A table of any number of rows. Only visible rows have elements. A click on a heading sorts by
// that column. Keys: up, down, page up, page down, home, end, Enter; left and right fold and unfold
// the rows of a tree.
import { el, fill, onFrame, when } from './dom.js'

const ROW = 22 // pixels; as in page.css

let ntables = 0

// columns: [{id, title, unit, width, text(row), value(row), help, left, cell(row)}]; cell gives what is
// shown in place of the text, a node or several. The last column takes the
// remaining width. The order of the table names a column by its id, or by its index if it has none.
// on: {pick(row), open(row), unfold(row, open), sort([column, descending])}; sort must call show.
// Each row has a key. Rows of a tree also have a depth, and `open` unless they are leaves. Rows with
// the largest `first` come first. Returns {root,
// setColumns(columns), show(rows, options), pick(index), reveal(index)}; root.table is the table.
export function makeTable(name, columns, on) {
	const head = el('div.thead', { role: 'row' })
	const body = el('div.tbody', { role: 'rowgroup' })
	const root = el('div.table', { tabIndex: 0, role: on.unfold ? 'treegrid' : 'grid', ariaLabel: name }, head, body)
	const t = { id: ++ntables, root, head, body, on, rows: [], at: -1, sort: [0, true], live: new Map() }
	t.setColumns = list => setColumns(t, list)
	t.setColumns(columns)
	const draw = onFrame(() => drawRows(t))
	when(root, 'scroll', draw)
	new ResizeObserver(draw).observe(root)
	when(root, 'keydown', e => onTableKey(t, e))
	t.show = (rows, options = {}) => show(t, rows, options)
	t.pick = i => pick(t, i, true)
	root.table = t
	t.reveal = i => { root.scrollTop = Math.max(0, i * ROW - root.clientHeight / 2) }
	return t
}

function setColumns(t, columns) {
	const names = columns.map(c => `${c.title} ${c.unit}`).join()
	if (names === t.names)
		return
	t.names = names
	t.columns = columns
	t.template = columns.map((c, i) => i === columns.length - 1 ? 'minmax(12em, 1fr)' : c.width).join(' ')
	t.head.style.gridTemplateColumns = t.template
	fill(t.head, ...columns.map((c, i) => headCell(t, c, i)))
}

const columnId = (c, i) => c.id === undefined ? i : c.id

function headCell(t, c, i) {
	const id = columnId(c, i)
	const sort = () => {
		t.sort = t.sort[0] === id ? [id, !t.sort[1]] : [id, !c.left]
		t.on.sort(t.sort)
	}
	return el('div.th' + (c.left ? '.left' : ''), { role: 'columnheader' },
		el('button', { title: [[c.title, c.unit].filter(Boolean).join(' '), c.help].filter(Boolean).join(': '), onclick: sort }, c.title, c.unit ? el('span.unit', {}, ' ' + c.unit) : null))
}

// The rows in the order of the table's column. With keepOrder they have it already.
export function sortRows(t, rows) {
	const found = t.columns.findIndex((c, i) => columnId(c, i) === t.sort[0])
	const c = t.columns[Math.max(0, found)], sign = t.sort[1] ? -1 : 1
	const key = c.left ? c.text : c.value
	const keyed = rows.map(r => ({ r, key: key(r), first: r.first || 0 }))
	keyed.sort((a, b) => b.first - a.first || sign * (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
	return keyed.map(k => k.r)
}

// options: sort [column, descending]; picked: key of a row; keepOrder.
function show(t, rows, options) {
	const picked = t.at >= 0 && t.rows[t.at]
	t.sort = options.sort || t.sort
	t.rows = options.keepOrder ? rows : sortRows(t, rows)
	t.at = picked ? t.rows.findIndex(r => r.key === picked.key) : -1
	if (options.picked !== undefined)
		t.at = t.rows.findIndex(r => r.key === options.picked)
	t.body.style.height = t.rows.length * ROW + 'px'
	t.root.setAttribute('aria-rowcount', t.rows.length + 1)
	;[...t.head.children].forEach((h, i) => {
		const sorted = columnId(t.columns[i], i) === t.sort[0]
		h.classList.toggle('sorted', sorted)
		h.setAttribute('aria-sort', !sorted ? 'none' : t.sort[1] ? 'descending' : 'ascending')
	})
	t.live.forEach(row => row.remove())
	t.live.clear()
	drawRows(t)
}

function drawRows(t) {
	const top = t.root.scrollTop, height = t.root.clientHeight || 400
	const from = Math.max(0, Math.floor(top / ROW) - 5)
	const to = Math.min(t.rows.length, Math.ceil((top + height) / ROW) + 5)
	for (const [i, row] of t.live) {
		if (i < from || i >= to) {
			row.remove()
			t.live.delete(i)
		}
	}
	for (let i = from; i < to; i++) {
		if (!t.live.has(i)) {
			const row = makeRow(t, i)
			t.live.set(i, row)
			t.body.append(row)
		}
		t.live.get(i).classList.toggle('picked', i === t.at)
		t.live.get(i).setAttribute('aria-selected', i === t.at)
	}
	if (t.live.has(t.at))
		t.root.setAttribute('aria-activedescendant', t.live.get(t.at).id)
	else
		t.root.removeAttribute('aria-activedescendant')
}

function makeRow(t, i) {
	const data = t.rows[i]
	const row = el('div.tr' + (data.mark ? '.' + data.mark : ''), { role: 'row', onclick: () => pick(t, i, false),
		ondblclick: () => t.on.open && t.on.open(data) })
	row.id = `row-${t.id}-${i}`
	row.setAttribute('aria-rowindex', i + 2)
	row.style.top = i * ROW + 'px'
	row.style.gridTemplateColumns = t.template
	for (const c of t.columns) {
		const cell = el('div.td' + (c.left ? '.left' : ''), { role: 'gridcell' })
		const content = c.cell ? c.cell(data) : c.text(data)
		if (c.left)
			cell.title = c.text(data)
		if (content === '0.')
			cell.classList.add('zero')
		cell.append(...[content].flat())
		row.append(cell)
	}
	if (t.on.unfold)
		makeFold(t, row, i)
	return row
}

// The name in a tree: indented, after the mark that folds and unfolds it.
function makeFold(t, row, i) {
	const data = t.rows[i], leaf = data.open === undefined
	const mark = el('span.fold', { ariaHidden: 'true', onclick: e => { e.stopPropagation(); unfold(t, i, !data.open) },
		ondblclick: e => e.stopPropagation() }, leaf ? '' : data.open ? '▾' : '▸')
	row.setAttribute('aria-level', data.depth + 1)
	if (!leaf)
		row.setAttribute('aria-expanded', data.open)
	row.lastChild.style.paddingLeft = data.depth * 12 + 'px'
	row.lastChild.prepend(mark)
}

function unfold(t, i, open) {
	t.at = i
	if (t.rows[i].open !== undefined && t.rows[i].open !== open)
		t.on.unfold(t.rows[i], open)
}

function pick(t, i, scroll) {
	if (i < 0 || i >= t.rows.length)
		return
	t.at = i
	if (scroll) {
		const head = t.head.offsetHeight, top = i * ROW
		if (top < t.root.scrollTop)
			t.root.scrollTop = top
		else if (top + ROW + head > t.root.scrollTop + t.root.clientHeight)
			t.root.scrollTop = top + ROW + head - t.root.clientHeight
	}
	drawRows(t)
	if (t.on.pick)
		t.on.pick(t.rows[i])
}

// The place to which left or right move in a tree, after folding; -1: nowhere.
function foldByKey(t, right) {
	const row = t.rows[t.at]
	if (right !== !!row.open && row.open !== undefined) {
		unfold(t, t.at, right)
		return -1
	}
	if (right)
		return row.open ? t.at + 1 : -1
	for (let i = t.at - 1; i >= 0; i--) {
		if (t.rows[i].depth < row.depth)
			return i
	}
	return -1
}

function onTableKey(t, e) {
	const page = Math.max(1, Math.floor(t.root.clientHeight / ROW) - 2)
	const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }
	let to = -1
	if (e.target !== t.root)
		return
	if (e.key in steps)
		to = Math.min(t.rows.length - 1, Math.max(0, t.at + steps[e.key]))
	else if (e.key === 'Home')
		to = 0
	else if (e.key === 'End')
		to = t.rows.length - 1
	else if (e.key === 'Enter' && t.at >= 0 && t.on.open)
		t.on.open(t.rows[t.at])
	else if (t.on.unfold && t.at >= 0 && /^Arrow(Left|Right)$/.test(e.key))
		to = foldByKey(t, e.key === 'ArrowRight')
	else
		return
	e.preventDefault()
	pick(t, to, true)
}
