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

// Returns the exclusive and inclusive time of each function, as er_print -functions prints them.
export function functionTimes(data, pathUs) {
	const tree = data.tree, nodeUs = nodeTimes(data, pathUs)
	const excl = new Float64Array(data.funcs.length), incl = new Float64Array(data.funcs.length)
	for (let p = 0; p < data.npaths; p++) {
		const node = data.pathNode[p]
		if (node)
			excl[tree.func[node]] += pathUs[p]
	}
	for (let i = 1; i < tree.n; i++) {
		if (tree.outermost[i])
			incl[tree.func[i]] += nodeUs[i]
	}
	return { excl, incl }
}

// --- trees to draw: items {func, us, depth}, whose children are made on demand ---

// Returns the children of an item that are wide enough to draw, widest first. Puts the sum and
// the number of the others into item.narrow.
function wideOnes(item, all, least) {
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
