// SPDX-License-Identifier: GPL-2.0-or-later
// Regular expressions of er_print, which are POSIX extended ones and match the whole name.

// In brackets a backslash is itself, and a bracket that comes first, too.
function bracketText(text) {
	const m = /^\[(\^?)(\]?)([^\]]*)\]/.exec(text)
	if (!m)
		return null
	const escape = s => s.replace(/\\/g, '\\\\').replace(/\[/g, '\\[').replace(/\]/g, '\\]')
	return { length: m[0].length, text: `[${m[1]}${escape(m[2])}${escape(m[3])}]` }
}

// {pattern}, or {error}: a sentence on what differs between the two kinds of expressions.
export function posixPattern(text) {
	let out = ''
	for (let i = 0; i < text.length;) {
		const c = text[i], rest = text.slice(i)
		if (/^\[[^\]]*\[[:.=]/.test(rest) || /^\\[\w<>`']/.test(rest) || /^[*+?}]\?/.test(rest) || rest.startsWith('{,') || rest.startsWith('(?') || rest === '\\')
			return { error: `the page cannot match ${rest.slice(0, 4)}: write it without classes, escaped letters and repeated operators` }
		if (c === '[') {
			const bracket = bracketText(rest)
			if (!bracket)
				return { error: 'not a regular expression: a bracket is not closed' }
			out += bracket.text
			i += bracket.length
		} else if (c === '\\') {
			out += rest.slice(0, 2)
			i += 2
		} else {
			out += c
			i++
		}
	}
	try {
		return { pattern: new RegExp(`^(?:${out})$`, 's') }
	} catch {
		return { error: 'not a regular expression' }
	}
}

// Which functions match, by any name that reports can show: a kernel function's also without its
// module. `func_names` has the names that the page does not show.
export function funcMatches(data, pattern) {
	const bare = (name, f) => data.objects[data.func_objects[f]][2] && name.includes('`') ? name.slice(name.indexOf('`') + 1) : name
	return Uint8Array.from(data.funcs, (shown, f) => [shown, ...(data.func_names[f] || [])]
		.some(name => pattern.test(name) || pattern.test(bare(name, f))) ? 1 : 0)
}

// Which load objects match, by name, path or the path's last component.
export function objectMatches(data, pattern) {
	return Uint8Array.from(data.objects, ([name, path]) =>
		[name, path, path.slice(path.lastIndexOf('/') + 1)].some(n => pattern.test(n)) ? 1 : 0)
}
