// SPDX-License-Identifier: GPL-2.0-or-later
// A table of any number of rows. Only visible rows have elements. A click on a heading sorts by
// that column. Keys: up, down, page up, page down, home, end, Enter.
import { el, onFrame } from './dom.js'

const ROW = 22 // pixels; as in page.css

// columns: [{title, unit, width, text(row), value(row), help, left}]. The last column takes the
// remaining width.
// on: {pick(row), open(row), sort(column, descending)}. Returns {root, show(rows, options)}.
export function makeTable(name, columns, on) {
	const head = el('div.thead', { role: 'row' })
	const body = el('div.tbody', {})
	const root = el('div.table', { tabIndex: 0, role: 'grid', ariaLabel: name }, head, body)
	const t = { root, head, body, columns, on, rows: [], at: -1, sort: [0, true], live: new Map() }
	const template = columns.map((c, i) => i === columns.length - 1 ? 'minmax(12em, 1fr)' : c.width).join(' ')
	t.template = template
	head.style.gridTemplateColumns = template
	columns.forEach((c, i) => head.append(headCell(t, c, i)))
	const draw = onFrame(() => drawRows(t))
	root.addEventListener('scroll', draw)
	new ResizeObserver(draw).observe(root)
	root.addEventListener('keydown', e => onKey(t, e))
	t.show = (rows, options = {}) => show(t, rows, options)
	return t
}

function headCell(t, c, i) {
	const cell = el('button.th' + (c.left ? '.left' : ''), { type: 'button', title: c.help || '', role: 'columnheader',
		onclick: () => {
			t.sort = t.sort[0] === i ? [i, !t.sort[1]] : [i, !c.left]
			if (t.on.sort)
				t.on.sort(t.sort)
			show(t, t.rows, {})
		} }, c.title, c.unit ? el('span.unit', {}, ' ' + c.unit) : null)
	return cell
}

function show(t, rows, options) {
	const [column, descending] = options.sort || t.sort
	const picked = t.at >= 0 && t.rows[t.at]
	t.sort = [column, descending]
	const c = t.columns[column] || t.columns[0]
	const by = c.left ? (a, b) => c.text(a) < c.text(b) ? -1 : c.text(a) > c.text(b) ? 1 : 0 :
		(a, b) => c.value(a) - c.value(b)
	const sign = descending ? -1 : 1
	t.rows = rows.slice().sort((a, b) => (b.first || 0) - (a.first || 0) || sign * by(a, b))
	t.at = picked ? t.rows.findIndex(r => r.key === picked.key) : -1
	if (options.picked !== undefined)
		t.at = t.rows.findIndex(r => r.key === options.picked)
	t.body.style.height = t.rows.length * ROW + 'px'
	t.root.setAttribute('aria-rowcount', t.rows.length)
	;[...t.head.children].forEach((h, i) => {
		h.classList.toggle('sorted', i === column)
		h.setAttribute('aria-sort', i !== column ? 'none' : descending ? 'descending' : 'ascending')
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
}

function makeRow(t, i) {
	const data = t.rows[i]
	const row = el('div.tr', { role: 'row', onclick: () => pick(t, i, false), ondblclick: () => t.on.open && t.on.open(data) })
	row.setAttribute('aria-rowindex', i + 1)
	row.style.top = i * ROW + 'px'
	row.style.gridTemplateColumns = t.template
	for (const c of t.columns) {
		const cell = el('div.td' + (c.left ? '.left' : ''), { role: 'gridcell' })
		const content = c.cell ? c.cell(data) : c.text(data)
		if (c.left && typeof content === 'string')
			cell.title = content
		if (content === '0.')
			cell.classList.add('zero')
		cell.append(content)
		row.append(cell)
	}
	return row
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

function onKey(t, e) {
	const page = Math.max(1, Math.floor(t.root.clientHeight / ROW) - 2)
	const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }
	let to = null
	if (e.key in steps)
		to = Math.min(t.rows.length - 1, Math.max(0, t.at + steps[e.key]))
	else if (e.key === 'Home')
		to = 0
	else if (e.key === 'End')
		to = t.rows.length - 1
	else if (e.key === 'Enter' && t.at >= 0 && t.on.open)
		t.on.open(t.rows[t.at])
	else
		return
	e.preventDefault()
	if (to !== null)
		pick(t, to, true)
}
