// SPDX-License-Identifier: GPL-2.0-or-later
// Makes elements. Text is set as text, never as HTML, because names in recordings may be hostile.

// Why something is not shown that is not read.
export const unread = page => page.cut ? 'The file is incomplete: this part of it is missing.' : 'This part of the file is still being read.'

// Makes an element. `what` is "tag.class"; children are nodes or texts, and null is left out.
export function el(what, props, ...children) {
	const [tag, ...classes] = what.split('.')
	const e = document.createElement(tag)
	if (tag === 'button')
		e.type = 'button'
	if (classes.length)
		e.className = classes.join(' ')
	for (const [name, value] of Object.entries(props || {})) {
		if (name.startsWith('on'))
			when(e, name.slice(2), value)
		else if (name in e && name !== 'list')
			e[name] = value
		else
			e.setAttribute(name, value)
	}
	e.append(...children.flat().filter(c => c !== null && c !== undefined && c !== false))
	return e
}

export const hint = text => el('span.hint', {}, text)

// Replaces what is in an element.
export function fill(e, ...children) {
	e.replaceChildren(...children)
}

export function when(target, event, fn, options) {
	target.addEventListener(event, fn, options)
}

// A square of a colour before a name.
export function dot(color) {
	const e = el('i.dot')
	e.style.background = color
	return e
}

export function byId(id) {
	return document.getElementById(id)
}

// Sizes a canvas in device pixels, for the given size in CSS pixels. Returns its context, whose
// unit is one CSS pixel.
export function fitCanvas(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1
	const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio))
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w
		canvas.height = h
		canvas.style.width = width + 'px'
		canvas.style.height = height + 'px'
	}
	const c = canvas.getContext('2d', { alpha: false })
	c.setTransform(ratio, 0, 0, ratio, 0, 0)
	return c
}

// Returns a function that has fn called before the next frame, once however often it is called.
export function onFrame(fn) {
	let asked = false
	return () => {
		if (asked)
			return
		asked = true
		requestAnimationFrame(() => { asked = false; fn() })
	}
}

export function copyText(text) {
	if (navigator.clipboard && window.isSecureContext)
		return navigator.clipboard.writeText(text).catch(() => copyBySelection(text))
	return copyBySelection(text)
}

function copyBySelection(text) {
	const area = el('textarea', { value: text, className: 'offscreen' })
	document.querySelector('main').append(area)
	area.select()
	document.execCommand('copy')
	area.remove()
}
