// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the times above the timeline with er_print -exact_states.
const NAMES = { CPU: 'CPU', 'Wait CPU': 'Wait CPU', 'User Lock': 'User Lock', 'Text Fault': 'Text Page Fault',
	'Data Fault': 'Data Page Fault', 'Kernel Fault': 'Kernel Page Fault', Stopped: 'Stopped', Sleep: 'Sleep' }

// The times that the page shows, by name, as texts.
function shownTimes(page) {
	return page.evaluate(() => {
		const ret = {}
		for (const e of document.querySelectorAll('.cpusum, .state:not(.none)'))
			ret[[...e.childNodes].filter(n => n.nodeType === 3).map(n => n.textContent).join('')] = e.querySelector('b').textContent
		return ret
	})
}

// The total of each state by er_print -exact_states, as texts.
function exactTimes(t, args) {
	const [heading, total] = t.erPrintText(['-printmode', 'csv', '-limit', '1', ...args]).trim().split('\n').map(t.fields)
	const ret = {}
	heading.forEach((name, i) => {
		if (name.endsWith(' (sec.)'))
			ret[name.slice(0, -7)] = total[i]
	})
	return ret
}

// What of er_print's figures the page shows otherwise; '' if nothing.
async function differences(t, page, args) {
	const want = exactTimes(t, args), got = await shownTimes(page), wrong = []
	let compared = 0
	for (const [theirs, ours] of Object.entries(NAMES)) {
		const time = want[theirs] || '0.'
		if (time === '0.' && !got[ours])
			continue
		compared++
		if (got[ours] !== time)
			wrong.push(`${ours}: page ${got[ours]}, er_print ${time}`)
	}
	return compared > 1 ? wrong.join('\n') : `nothing to compare: ${JSON.stringify(want)} ${JSON.stringify(got)}`
}

const said = page => page.innerText('.what')

module.exports = { differences, exactTimes, said, shownTimes }
