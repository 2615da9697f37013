// SPDX-License-Identifier: GPL-2.0-or-later
// Adds up the times of paths, by node of the call tree and by function.

// Returns the inclusive time of each node of the tree.
export function nodeTimes(data, pathUs) {
	const tree = data.tree, us = new Float64Array(tree.n)
	for (let p = 0; p < data.npaths; p++)
		us[data.pathNode[p]] += pathUs[p]
	for (let i = tree.n - 1; i > 0; i--)
		us[tree.parent[i]] += us[i]
	return us
}

// Marks each node that has no caller with the same key. Keys are by node, below n. An inclusive
// time is the sum over the outermost nodes of a key.
export function outermostOf(tree, keyOf, n) {
	const open = new Uint32Array(n), outermost = new Uint8Array(tree.n)
	const stack = [0], at = tree.first.slice(0, tree.n)
	while (stack.length) {
		const node = stack[stack.length - 1]
		if (at[node] < tree.first[node + 1]) {
			const child = tree.children[at[node]++]
			outermost[child] = open[keyOf[child]]++ ? 0 : 1
			stack.push(child)
		} else {
			stack.pop()
			if (node)
				open[keyOf[node]]--
		}
	}
	return outermost
}

// Returns the exclusive time by key, below n: of functions or of load objects.
function exclusiveBy(data, pathUs, keyOf, n) {
	const excl = new Float64Array(n)
	for (let p = 0; p < data.npaths; p++) {
		const node = data.pathNode[p]
		if (node)
			excl[keyOf[node]] += pathUs[p]
	}
	return excl
}

export function exclusiveTimes(data, pathUs) {
	return exclusiveBy(data, pathUs, data.tree.func, data.funcs.length)
}

// Returns the exclusive and inclusive time by key.
export function timesBy(data, pathUs, keyOf, outermost, n) {
	const tree = data.tree, nodeUs = nodeTimes(data, pathUs)
	const excl = exclusiveBy(data, pathUs, keyOf, n), incl = new Float64Array(n)
	for (let i = 1; i < tree.n; i++) {
		if (outermost[i])
			incl[keyOf[i]] += nodeUs[i]
	}
	return { excl, incl }
}

// Returns the exclusive and inclusive time of each function, as er_print -functions prints them.
export function functionTimes(data, pathUs) {
	return timesBy(data, pathUs, data.tree.func, data.tree.outermost, data.funcs.length)
}

// The same of each load object, as er_print -objects prints them.
export function objectTimes(data, pathUs) {
	const tree = data.tree
	if (!tree.object) {
		tree.object = Int32Array.from(tree.func, f => f < 0 ? -1 : data.func_objects[f])
		tree.outermostObject = outermostOf(tree, tree.object, data.objects.length)
	}
	return timesBy(data, pathUs, tree.object, tree.outermostObject, data.objects.length)
}

// Returns the callers and callees of a function with the time of their calls: Maps by function, -1
// is <Total>. With recursion only the call nearest the leaf counts, as in er_print -callers-callees.
export function neighbours(data, pathUs, func) {
	const tree = data.tree, callers = new Map(), callees = new Map()
	const own = new Int32Array(tree.n), via = new Int32Array(tree.n)
	let self = 0
	for (let i = 1; i < tree.n; i++) {
		const up = tree.parent[i]
		own[i] = tree.func[i] === func ? i : own[up]
		via[i] = own[i] === i ? 0 : own[i] === up && up ? i : via[up]
	}
	const add = (map, key, us) => map.set(key, (map.get(key) || 0) + us)
	for (let p = 0; p < data.npaths; p++) {
		const node = data.pathNode[p], call = own[node]
		if (!pathUs[p] || !call)
			continue
		add(callers, tree.func[tree.parent[call]], pathUs[p])
		if (via[node])
			add(callees, tree.func[via[node]], pathUs[p])
		else
			self += pathUs[p]
	}
	return { callers, callees, self }
}

// The same for <Total>: its callees are the functions at the roots of stacks.
export function outermostCallees(data, pathUs) {
	const tree = data.tree, us = nodeTimes(data, pathUs), callees = new Map()
	for (let k = tree.first[0]; k < tree.first[1]; k++) {
		const c = tree.children[k]
		if (us[c])
			callees.set(tree.func[c], (callees.get(tree.func[c]) || 0) + us[c])
	}
	return { callers: new Map(), callees, self: us[0] }
}

// --- trees to draw: items {func, us, depth}, whose children are made on demand ---

// Returns the children of an item that are wide enough to draw, widest first. Puts the sum and
// the number of the others into item.narrow.
export function wideOnes(item, all, least) {
	const wide = all.filter(c => c.us >= least && c.us > 0).sort((a, b) => b.us - a.us)
	const us = all.reduce((sum, c) => sum + c.us, 0) - wide.reduce((sum, c) => sum + c.us, 0)
	item.narrow = { us, n: all.length - wide.length }
	return wide
}

// The tree from its root: callees below callers.
export function topDown(data, pathUs) {
	const tree = data.tree, us = nodeTimes(data, pathUs)
	const make = (node, depth) => ({ func: tree.func[node], us: us[node], depth, node })
	return {
		root: make(0, 0),
		children(item, least) {
			const ret = []
			for (let k = tree.first[item.node]; k < tree.first[item.node + 1]; k++) {
				const c = tree.children[k]
				if (us[c] > 0)
					ret.push(make(c, item.depth + 1))
			}
			return wideOnes(item, ret, least)
		},
	}
}

// A tree in which an item combines several nodes of the call tree. item.shares has the time of
// each. move(node, us, put) calls put for each node of the next level.
function merged(data, root, move) {
	return {
		root,
		children(item, least) {
			const byFunc = new Map()
			for (let i = 0; i < item.nodes.length; i++)
				move(item.nodes[i], item.shares[i], (node, us) => {
					const func = data.tree.func[node]
					let child = byFunc.get(func)
					if (!child) {
						child = { func, us: 0, depth: item.depth + 1, nodes: [], shares: [] }
						byFunc.set(func, child)
					}
					child.us += us
					child.nodes.push(node)
					child.shares.push(us)
				})
			return wideOnes(item, [...byFunc.values()], least)
		},
	}
}

// Adds the outermost calls of the root's function to it.
function addCalls(root, data, us) {
	const tree = data.tree
	for (let i = 1; i < tree.n; i++) {
		if (tree.func[i] !== root.func || !us[i] || !tree.outermost[i])
			continue
		root.us += us[i]
		root.nodes.push(i)
		root.shares.push(us[i])
	}
}

// The tree from the leaves: callers below callees. If `func` is given, the root is that function.
export function bottomUp(data, pathUs, func = null) {
	const root = { func: -1, us: 0, depth: 0, nodes: [], shares: [] }
	const tree = data.tree
	if (func !== null) {
		root.func = func
		addCalls(root, data, nodeTimes(data, pathUs))
		return merged(data, root, (node, us, put) => tree.parent[node] && put(tree.parent[node], us))
	}
	for (let p = 0; p < data.npaths; p++) {
		if (!pathUs[p])
			continue
		root.us += pathUs[p]
		root.nodes.push(data.pathNode[p])
		root.shares.push(pathUs[p])
	}
	// The first level has the leaves themselves; each further level has their callers.
	const tree2 = merged(data, root, (node, us, put) => tree.parent[node] && put(tree.parent[node], us))
	const first = merged(data, root, (node, us, put) => node && put(node, us))
	return { root, children: (item, least) => (item === root ? first : tree2).children(item, least) }
}

// The tree of what a function calls, the sum over all its outermost calls.
export function calleesOf(data, pathUs, func) {
	const tree = data.tree, us = nodeTimes(data, pathUs)
	const root = { func, us: 0, depth: 0, nodes: [], shares: [] }
	addCalls(root, data, us)
	return merged(data, root, (node, _, put) => {
		for (let k = tree.first[node]; k < tree.first[node + 1]; k++) {
			const c = tree.children[k]
			if (us[c])
				put(c, us[c])
		}
	})
}
