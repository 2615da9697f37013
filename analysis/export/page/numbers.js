// SPDX-License-Identifier: GPL-2.0-or-later
// What many modules do with numbers and lists.

export const totalOf = values => values.reduce((a, b) => a + b, 0)

// Returns the first number from lo on for which test(number) is true; hi: there is none below it. After one that passes, all
// others pass.
export function firstWhere(lo, hi, test) {
	while (lo < hi) {
		const mid = (lo + hi) >> 1
		if (test(mid))
			hi = mid
		else
			lo = mid + 1
	}
	return lo
}

// Adds a value to the list that a map has for a key.
export function addToList(map, key, value) {
	const list = map.get(key)
	list ? list.push(value) : map.set(key, [value])
}
