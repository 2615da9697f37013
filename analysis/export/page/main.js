// SPDX-License-Identifier: GPL-2.0-or-later
// Puts the page together: data, store, views. Each view is a file, and a row of `views`.
import { byId, el, onFrame, when } from './dom.js'
import { addChunks, eventDecoder, readIndex, watchPacks } from './data.js'
import { addSnapshots, hasSnapshots } from './snapshots.js'
import { filterKeys, makeStore, parseState, defaults, stateText } from './store.js'
import { aggregate } from './aggregate.js'
import { makeMetricChoice, metricWithEvents } from './metrics.js'
import { clockless } from './lanes.js'
import { checkedState, wholeRanges } from './filter.js'
import { makeVerdict } from './view_verdict.js'
import { makeFilterBar } from './view_filter.js'
import { makeNote } from './view_note.js'
import { makeTimelineChoice, markNames } from './timeline_choice.js'
import { makeTimeline } from './view_timeline.js'
import { makeDetails } from './view_details.js'
import { findingsView } from './view_findings.js'
import { flameView } from './view_flame.js'
import { functionsView, objectsView } from './view_functions.js'
import { callersView } from './view_callers.js'
import { calltreeView } from './view_calltree.js'
import { compareView } from './view_compare.js'
import { cgroupsView, cpusView, processesView, threadsView } from './view_threads.js'
import { runqueueView, wakersView } from './view_wakers.js'
import { experimentsView, makeReports } from './view_reports.js'
import { spansView } from './view_span.js'
import { countersView } from './view_counts.js'
import { memoryView } from './view_heap.js'
import { locksView } from './view_locks.js'
import { linesView } from './view_lines.js'
import { makePlaces } from './places.js'
import { makeHeap } from './heap.js'
import { makeObjects } from './objects.js'
import { memoryObjectsView } from './view_objects.js'
import { indexView } from './view_index.js'
import { sourceView } from './view_source.js'
import { waitsView } from './view_waits.js'
import { aboutView } from './view_about.js'
import { makeMenu } from './choice.js'
import { makeFind } from './find.js'
import { makeHelp } from './help.js'

const views = [findingsView, flameView, functionsView, callersView, calltreeView, linesView, sourceView, objectsView, compareView, threadsView, processesView,
	cgroupsView, cpusView, indexView, waitsView, runqueueView, locksView, wakersView, spansView, countersView, memoryObjectsView, memoryView, experimentsView, aboutView]

const page = { data: null, state: null, sums: null, store: null, event: null, reports: null, places: null, heap: null, objects: null }

// The first failure is the cause of others.
function fail(text) {
	if (page.failed)
		return
	page.failed = true
	byId('status').textContent = text
	byId('status').className = 'bad'
}

// --- starting ---

// What .er.rc files say of tabs and the timeline is what the page opens with.
function setDefaults(data) {
	const { tabs = [], ...rest } = data.display, shown = views.filter(v => tabs.includes(v.id))
	Object.assign(defaults, rest)
	if (clockless(data))
		Object.assign(defaults, data.counts ? { metric: metricWithEvents(data), marks: markNames(data), view: 'functions' } : { view: data.reports.spans ? 'spans' : 'experiments' })
	if (shown.length)
		Object.assign(defaults, { view: shown[0].id, hidden: views.filter(v => !shown.includes(v)).map(v => v.id) })
}

function start(data) {
	page.data = data
	setDefaults(data)
	page.store = makeStore(location.hash, patch => wholeRanges(data, patch))
	page.state = page.store.state
	Object.assign(page.state, checkedState(data, page.state))
	if (data.compare && parseState(location.hash).view === undefined)
		page.state.view = 'compare'
	document.title = data.experiments.map(e => e.name).join(', ') + ': er_kernel'
	byId('title').textContent = [...new Set(data.experiments.map(e => e.command || e.name))].join(', ')
	byId('title').title = data.about.join('\n')
	showTroubles(data)
	byId('host').textContent = [...new Set(data.experiments.map(e => e.host))].join(', ')
	page.objects = data.typed = makeObjects(data, refresh, fail)
	if (data.counts)
		data.counts.typed = data.typed
	page.sums = aggregate(data, page.state)
	page.verdict = makeVerdict(byId('verdict'), page)
	page.filterBar = makeFilterBar(byId('filter'), page)
	page.note = makeNote(byId('note'), page)
	page.timeline = makeTimeline(byId('timeline'), page)
	page.details = makeDetails(byId('details'), page)
	page.goTo = goTo
	const loaded = () => {
		page.details.update(page)
		shownView().update(page)
	}
	page.reports = makeReports(data.reports, loaded, fail)
	page.places = makePlaces(data, () => { loaded(); document.body.classList.add('placed') }, fail)
	page.heap = makeHeap(data, loaded, fail)
	makeTabs()
	makeHelp(page, views)
	page.store.listen(changed)
	when(window, 'hashchange', () => {
		if (stateText(page.state) === location.hash)
			return
		page.following = true
		page.store.set(checkedState(data, { ...defaults, ...parseState(location.hash) }))
		page.following = false
	})
	updateAll()
	document.body.classList.add('ready')
	performance.mark('er-first-paint')
}

// Shows a note if something was lost, or if a recording was not closed.
function showTroubles(data) {
	const lines = data.about.filter(l => /\b(lost|not closed|lacks?|coarse)\b/i.test(l) && !/^Nothing was lost/.test(l))
	byId('troubles').hidden = !lines.length
	byId('troubles').textContent = lines.length === 1 ? lines[0].trim() : `${lines.length} notes on losses`
	byId('troubles').title = lines.join('\n')
	when(byId('troubles'), 'click', () => page.store.set({ view: 'about' }))
}

// Chooses the tabs to show.
function makeTabChoice() {
	const box = v => el('input', { type: 'checkbox', onchange: e => {
		const others = page.state.hidden.filter(id => id !== v.id)
		page.store.set({ hidden: e.target.checked ? others : [...others, v.id] })
	} })
	page.tabBoxes = new Map(views.map(v => [v.id, box(v)]))
	return makeMenu('details.choice', 'Tabs', ...views.map(v => el('label', {}, page.tabBoxes.get(v.id), ' ' + v.title)))
}

function makeTabs() {
	page.views = {}
	byId('tabs').append(...views.map(v => el('button', { role: 'tab', id: 'tab-' + v.id,
		title: v.key ? `Key ${v.key}` : '', onclick: () => page.store.set({ view: v.id }) }, v.title)))
	page.choice = makeMetricChoice(page)
	byId('tools').append(...page.choice.nodes, makeTabChoice())
	byId('help').before(...makeFind(page), makeTimelineChoice(page))
}

// Shows the chosen view and hides the others, and tabs for which there are no data. A view is made when
// it is first shown. Without events there are no stacks.
function shownView() {
	const empty = !page.data.nevents && !page.data.counts, lacks = w => w.has && !w.has(page) || empty && ![spansView, experimentsView, aboutView].includes(w)
	const v = views.find(w => w.id === page.state.view) || views[0]
	for (const w of views) {
		const on = w === v, tab = byId('tab-' + w.id)
		tab.setAttribute('aria-selected', String(on))
		page.tabBoxes.get(w.id).checked = !page.state.hidden.includes(w.id)
		tab.hidden = !on && (page.state.hidden.includes(w.id) || lacks(w))
		if (page.views[w.id])
			page.views[w.id].root.hidden = !on
	}
	if (!page.views[v.id]) {
		const root = el('section.view', { id: 'view-' + v.id, role: 'tabpanel', ariaLabel: v.title })
		byId('views').append(root)
		page.views[v.id] = Object.assign(v.make(root, page), { root })
	}
	return page.views[v.id]
}

// --- changes ---

function updateAll() {
	page.choice.update()
	page.details.update(page)
	page.verdict.update(page)
	page.filterBar.update(page)
	page.note.update(page)
	page.timeline.update(page)
	shownView().update(page)
}

const drawTimelineOnly = ['viewFrom', 'viewTo']
// The browser's back button takes back a change of these. Others, such as a selection that moves from row to row, belong
// to the address at which they were made.
const steps = [...filterKeys, 'view', 'metric', 'by', 'leafUp', 'a', 'b']
let addressTimer = 0

function writeAddress(isStep) {
	clearTimeout(addressTimer)
	addressTimer = 0
	const url = location.pathname + location.search + stateText(page.state)
	if (isStep && !page.following)
		history.pushState(null, '', url)
	else
		history.replaceState(null, '', url)
}

function changed(keys) {
	if ([...keys].every(k => drawTimelineOnly.includes(k))) {
		// Browsers limit how often the address may change, and moving changes it in each frame.
		addressTimer = addressTimer || setTimeout(writeAddress, 200, false)
		page.timeline.draw()
		return
	}
	writeAddress([...keys].some(k => steps.includes(k)))
	if ([...keys].some(k => filterKeys.includes(k)))
		refresh()
	else
		updateAll()
}

function refresh() {
	const begin = performance.now()
	page.sums = aggregate(page.data, page.state)
	updateAll()
	performance.measure('er-filter', { start: begin, end: performance.now() })
}

function goTo(thread, time) {
	const { data, state, store } = page
	const span = (state.viewTo === null ? data.end : state.viewTo) - (state.viewFrom === null ? data.begin : state.viewFrom)
	const patch = {}
	if (state.threads.length && !state.threads.includes(thread))
		patch.threads = []
	if (state.processes.length && !state.processes.includes(data.threads[thread].key))
		patch.processes = []
	store.set(patch)
	page.timeline.zoom(time - span / 2, time + span / 2)
	page.timeline.reveal(thread)
	const near = page.timeline.eventAt(thread, time)
	if (near !== null)
		store.set({ event: near })
}

// --- reading ---

const progress = onFrame(() => {
	const { data } = page
	if (page.failed)
		return
	const parts = [data, data.counts].filter(Boolean), sum = member => parts.reduce((n, d) => n + d[member], 0)
	byId('status').textContent = sum('ndecoded') === sum('nrows') ? '' : `reading ${Math.floor(sum('ndecoded') / sum('nrows') * 100)} %`
})

function run() {
	const early = []
	let take = null
	const ready = readyIndex => readyIndex.then(data => {
		start(data)
		if (data.whole)
			document.body.classList.add('decoded')
		progress()
		const decode = eventDecoder(data, chunks => {
			addChunks(data, chunks)
			progress()
			if (data.whole) {
				performance.mark('er-decoded')
				refresh()
				document.body.classList.add('decoded')
			}
		}, fail)
		const counts = data.counts && eventDecoder(data.counts, chunks => {
			addChunks(data.counts, chunks)
			progress()
			if (data.counts.whole) {
				refresh()
				document.body.classList.add('counted')
			}
		}, fail, 1)
		const seconds = base64 => addSnapshots(data, base64).then(() => {
			if (hasSnapshots(data)) {
				page.verdict.update(page)
				document.body.classList.add('seconds')
			}
		}, error => fail(String(error)))
		take = (kind, base64) => kind === 'events' ? decode(base64) : kind === 'counts' ? counts(base64) : kind === 'snaps' ? seconds(base64) :
			(kind === 'later' ? page.places : ['places', 'heap', 'objects'].includes(kind) ? page[kind] : page.reports).add(base64, kind)
		early.splice(0).forEach(pack => take(...pack))
		shownView().update(page)
	}).catch(error => fail('The page cannot be shown: ' + error.message))
	let last = ''
	watchPacks((kind, base64) => {
		last = kind
		if (kind === 'index')
			ready(readIndex(base64))
		else if (kind !== 'end')
			take ? take(kind, base64) : early.push([kind, base64])
	}, () => last === 'end' || cut(last))
}

// Views that wait for a part of the file say that it is missing.
function cut(last) {
	page.cut = true
	fail('The file is cut' + (last ? ': some views have no data.' : ': it has no data.'))
	if (page.data)
		shownView().update(page)
}

if (typeof DecompressionStream === 'undefined')
	fail('This browser is too old: it lacks DecompressionStream. Take Chromium 80, Firefox 113 or a later one.')
else
	run()
