// SPDX-License-Identifier: GPL-2.0-or-later
// Writes numbers as er_print does. Times are whole microseconds unless a name says otherwise.

// Does what printf's %.*f does: a value exactly between two numbers is rounded to the even one.
export function fixed(d, digits) {
	const scaled = Math.abs(d) * 10 ** digits
	const text = d.toFixed(digits)
	if (Math.abs(scaled - Math.floor(scaled) - 0.5) > 1e-6)
		return text
	const exact = Math.abs(d).toFixed(60)
	const at = exact.indexOf('.') + 1 + digits
	if (!/^50*$/.test(exact.slice(at)))
		return text
	const down = exact.slice(0, at).replace(/\.$/, '')
	const even = Number(down[down.length - 1]) % 2 === 0
	return even ? (d < 0 ? '-' : '') + down : text
}

// Returns "0.123"; exactly zero is "0.".
export function seconds(us) {
	return us ? fixed(us * 1000 / 1e9, 3) : '0.'
}

export function percent(part, whole) {
	const p = percentOf(part, whole)
	return p ? fixed(p, 2) : '0.'
}

// A percentage as er_print's reports on waits have it: they divide whole numbers.
export function waitPercent(part, whole) {
	const p = whole ? 100 * (part / whole) : 0
	return p ? fixed(p, 2) : '0.'
}

// Divides seconds, as er_print does for metrics, so that the last digit is rounded the same way.
export function percentOf(part, whole) {
	return whole ? (part * 1000 / 1e9) / (whole * 1000 / 1e9) * 100 : 0
}

// The same of nanoseconds; a rate is in milliseconds. With a sign, as er_print writes differences.
export const secondsOfNs = ns => ns ? fixed(ns / 1e9, 3) : '0.'
export const msecOfNs = ns => ns ? fixed(ns / 1e6, 3) : '0.'
export const signed = (v, text) => (v < 0 ? '' : '+') + text

const units = [[1e6, 's'], [1e3, 'ms'], [1, 'µs']]

// Returns a length of time with its unit: "12.3 ms".
export function duration(us) {
	const abs = Math.abs(us)
	for (const [scale, unit] of units) {
		if (abs >= scale || scale === 1) {
			const v = us / scale
			const digits = abs / scale >= 100 ? 0 : abs / scale >= 10 ? 1 : 2
			return (scale === 1 ? String(Math.round(v)) : v.toFixed(digits)) + ' ' + unit
		}
	}
	return ''
}

// Returns a time in seconds with all its digits: "1.234567".
export function moment(us) {
	return (us / 1e6).toFixed(6)
}

export function count(n) {
	return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ' ')
}

// Shortens a long text by leaving out its middle.
export function shorten(text, max) {
	if (text.length <= max)
		return text
	const half = (max - 1) >> 1
	return text.slice(0, max - 1 - half) + '…' + text.slice(-half)
}
