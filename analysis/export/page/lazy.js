// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of the file that are decoded when a view first asks for them, because they take much time or memory.

// Returns {add(base64, kind), get()} of a part that may have several packs. has(texts) tells whether all packs were added: their
// texts by kind. read(texts) promises the value. get returns it; or undefined while it is read, and loaded() is called afterwards.
export function lazyPart(has, read, loaded, failed) {
	let texts = {}, value, asked = false
	const get = () => {
		asked = true
		if (texts && has(texts)) {
			read(texts).then(made => {
				value = made
				loaded()
			}).catch(failed)
			texts = null
		}
		return value
	}
	return {
		get,
		add(base64, kind) {
			texts[kind] = [...texts[kind] || [], base64]
			if (asked)
				get()
		},
	}
}
