// SPDX-License-Identifier: GPL-2.0-or-later
// Reads packs (docs/howto-page.md). These functions also run in workers, which are made from
// their text: they may use each other and nothing else.

export function base64Bytes(base64) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(base64)
	const text = atob(base64), ret = new Uint8Array(text.length)
	for (let i = 0; i < text.length; i++)
		ret[i] = text.charCodeAt(i)
	return ret
}

export const inflate = async base64 => gunzip(base64Bytes(base64))

// Decompresses a gzip stream.
export async function gunzip(bytes) {
	const stream = new DecompressionStream('gzip'), writer = stream.writable.getWriter()
	const written = writer.write(bytes).then(() => writer.close())
	const parts = [], from = stream.readable.getReader()
	let n = 0
	for (let part = await from.read(); !part.done; part = await from.read()) {
		parts.push(part.value)
		n += part.value.length
	}
	await written
	const ret = new Uint8Array(n)
	n = 0
	for (const part of parts) {
		ret.set(part, n)
		n += part.length
	}
	return ret
}

// Returns an object with the bytes of each section by its tag.
export function sections(bytes) {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
	const ret = {}
	for (let at = 0; at + 8 <= bytes.length;) {
		const tag = String.fromCharCode(...bytes.subarray(at, at + 4))
		const n = view.getUint32(at + 4, true)
		ret[tag] = bytes.subarray(at + 8, at + 8 + n)
		at += 8 + n
	}
	return ret
}

export const parseBytes = bytes => JSON.parse(new TextDecoder().decode(bytes))

// Returns the number of varints in a section.
export function countInts(bytes) {
	let n = 0
	for (let i = 0; i < bytes.length; i++)
		n += bytes[i] < 128 ? 1 : 0
	return n
}

// Reads n varints into out and returns it. Values above 2^53 lose their last digits. out is always an
// array of the same type, because a browser compiles a loop well for one type only.
export function readUints(bytes, n, out) {
	let at = 0
	for (let i = 0; i < n; i++) {
		let v = bytes[at++]
		if (v > 127) {
			let b = v, scale = 1
			for (v = 0; b > 127; b = bytes[at++]) {
				v += (b & 127) * scale
				scale *= 128
			}
			v += b * scale
		}
		out[i] = v
	}
	return out
}

// The same for signed integers.
export function readInts(bytes, n, out) {
	readUints(bytes, n, out)
	for (let i = 0; i < n; i++) {
		const v = out[i]
		out[i] = v < 2 ** 31 ? (v >>> 1) ^ -(v & 1) : v % 2 ? -(v + 1) / 2 : v / 2
	}
	return out
}

// Returns a reader of single values, for sections whose values have different types.
export function reader(bytes) {
	let at = 0
	const uint = () => {
		let b = bytes[at++], v = b & 127, scale = 128
		while (b > 127) {
			b = bytes[at++]
			v += (b & 127) * scale
			scale *= 128
		}
		return v
	}
	return {
		uint,
		int: () => { const v = uint(); return v % 2 ? -(v + 1) / 2 : v / 2 },
		byte: () => bytes[at++],
		get more() { return at < bytes.length },
	}
}
