// SPDX-License-Identifier: GPL-2.0-or-later
// Colours. States have the same hues in the light and the dark theme; the colour-blind can tell
// them apart.

const byState = {
	USER: '#2f7fd0', SYSTEM: '#e0662b', TRAP: '#d48ac6', LINUX_CPU: '#4aa3a3', KERNEL_CPU: '#e0662b',
	WAIT_CPU: '#efd23b', USER_LOCK: '#9b3260', TFAULT: '#3f9f7f', DFAULT: '#1f7a4d', KFAULT: '#8f9a2e',
	STOPPED: '#6f6a66', SLEEP: '#b9bec6',
}

const dark = matchMedia('(prefers-color-scheme: dark)')

export const isDark = () => dark.matches

export function onTheme(fn) {
	dark.addEventListener('change', fn)
}

export function stateColor(name) {
	return name === 'SLEEP' ? (isDark() ? '#4b525c' : '#c9ced6') : byState[name] || '#888888'
}

// The colours of page.css, for drawing on a canvas.
export function themeColors() {
	const style = getComputedStyle(document.documentElement)
	const get = name => style.getPropertyValue(name).trim()
	return { back: get('--back'), panel: get('--panel'), text: get('--text'), faint: get('--faint'),
		line: get('--line'), accent: get('--accent'), hover: get('--hover'), bad: get('--bad'),
		more: get('--more'), less: get('--less') }
}

function hash(text) {
	let h = 2166136261
	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 16777619)
	return h >>> 0
}

// What was searched for, and the selected function in the timeline.
export const FOUND = '#d94fc0'

// A function's colour. Kernel functions are orange; others have the hue of their load object.
function makeFuncColor(data, func) {
	const object = data.objects[data.func_objects[func]], dark = isDark()
	const shade = hash(data.funcs[func]) % 12
	if (object[2])
		return `hsl(${22 + shade} ${dark ? 52 : 78}% ${dark ? 40 + shade / 2 : 72 + shade / 2}%)`
	const hue = 165 + hash(object[0]) % 110
	return `hsl(${hue} ${dark ? 34 : 52}% ${dark ? 38 + shade / 2 : 74 + shade / 2}%)`
}

// The colours that were made, by data: of each function in the light and in the dark theme. A flame graph
// draws tens of thousands of boxes of a few thousand functions.
const funcColors = new WeakMap()

export function funcColor(data, func) {
	if (func < 0)
		return isDark() ? '#3a414b' : '#dfe3e8'
	if (!funcColors.has(data))
		funcColors.set(data, [])
	return funcColors.get(data)[func * 2 + isDark()] ??= makeFuncColor(data, func)
}
