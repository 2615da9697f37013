// SPDX-License-Identifier: GPL-2.0-or-later
// Paints the states of lanes as pixels of an image. The browser draws one image much faster than
// tens of thousands of small rectangles.
import { NSTATES } from './data.js'
import { el } from './dom.js'

// Makes a painter. begin(width, height) starts an empty image, in CSS pixels. lane(bins, y, height,
// colors) paints shares of states (laneBins) as columns of this height, from below. colors is a list
// of {state, pixel} in the order of states. show(context, x, y) draws the image.
export function makePainter() {
	const canvas = el('canvas'), c = canvas.getContext('2d')
	let image = null, pixels = null, scale = 1
	return {
		begin(width, height) {
			scale = Math.ceil(window.devicePixelRatio || 1)
			if (canvas.width !== width || canvas.height !== height * scale) {
				canvas.width = width
				canvas.height = height * scale
				image = c.createImageData(width, height * scale)
				pixels = new Uint32Array(image.data.buffer)
			}
			pixels.fill(0)
		},
		lane(bins, y, height, colors) {
			paintLane(pixels, canvas.width, bins, Math.round(y * scale), height * scale, colors)
		},
		show(context, x, y) {
			c.putImageData(image, 0, 0)
			context.imageSmoothingEnabled = false
			context.drawImage(canvas, x, y, canvas.width, canvas.height / scale)
		},
	}
}

// The pixel of a colour "#rrggbb" with an opacity. Pixels are words with red in the lowest byte.
export function pixelOf(color, opacity) {
	const [red, green, blue] = [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16))
	return (Math.round(255 * opacity) << 24 | blue << 16 | green << 8 | red) >>> 0
}

// The same pixel, less opaque.
function faded(pixel, part) {
	return (Math.round((pixel >>> 24) * part) << 24 | (pixel & 0xffffff)) >>> 0
}

function paintLane(pixels, width, bins, top, height, colors) {
	for (let x = 0; x < width; x++) {
		let total = 0
		for (let s = 0; s < NSTATES; s++)
			total += bins[x * NSTATES + s]
		if (!total)
			continue
		const scale = height / Math.max(1, total)
		let level = 0, row = 0, at = (top + height - 1) * width + x, last = 0
		for (const { state, pixel } of colors) {
			const share = bins[x * NSTATES + state]
			if (!share)
				continue
			level += share * scale
			last = pixel
			for (; row + 0.5 <= level; row++, at -= width) {
				if (at >= 0 && at < pixels.length)
					pixels[at] = pixel
			}
		}
		// Less than a half of a pixel: show it as a pale one.
		if (level > row && at >= 0 && at < pixels.length)
			pixels[at] = faded(last, level - row)
	}
}
