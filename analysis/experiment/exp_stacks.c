/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data.frameinfo. A stack is a list of pcs, or the leaf end of one and a link to the
 * node that has the rest. Nodes are the lists of other stacks and of UID packets. A
 * link may come before its node, so the file is read in two passes: collect the nodes,
 * then assemble the stacks.
 *
 * With links a small file can describe very much: a long chain shared by a million
 * stacks, or a loop. So the links and pcs of all stacks together are limited in
 * proportion to the file's size. A stack that exceeds the limit is cut.
 */
#include "analysis/experiment/exp_stacks.h"

#include "analysis/experiment/experiment_impl.h"

#include "analysis/base/cursor.h"
#include "analysis/experiment/exp_packets.h"

enum { KIND_NATIVE = 1, KIND_JAVA = 2, COMPRESSED = 1u << 31, INFO_HEAD = 16, UID_HEAD = 16,
       BUDGET_PER_BYTE = 8, BUDGET_MIN = 1 << 20, LEAF_CHECK = -1 };

struct node {
	const unsigned char *pcs;
	uint32_t npcs;
	bool linked;
	uint64_t link;
};

struct reader {
	struct experiment *e;
	unsigned pcsize;
	VEC(struct node) nodes;
	struct map by_uid;     /* uid to index into nodes */
	VEC(uint32_t) of_stack; /* the node of each stack in e->stacks, or NO_NODE */
	uint64_t budget;
	uint64_t nbad, nbroken, ncut;
};

#define NO_NODE UINT32_MAX

/* A node is a list of pcs, followed by the uid of the next node if it is linked. */
static bool parse_node(struct reader *r, struct cursor *c, bool linked, struct node *ret)
{
	size_t n = cursor_left(c);
	struct cursor tail;

	*ret = (struct node){ .linked = linked };
	if (linked && n < 8)
		return false;
	if (linked) {
		n -= 8;
		tail = (struct cursor){ .p = c->p + n, .end = c->end, .swap = c->swap };
		ret->link = cursor_u64(&tail);
	}
	ret->pcs = c->p;
	ret->npcs = n / r->pcsize;
	return true;
}

/* Add a node. If a uid comes twice the first one is found by links. Returns the node's index. */
static uint32_t add_node(struct reader *r, uint64_t uid, const struct node *node)
{
	bool fresh;
	uint64_t *index = map_put(&r->by_uid, uid, &fresh);

	if (fresh)
		*index = r->nodes.len;
	vec_push(&r->nodes, *node);
	return r->nodes.len - 1;
}

/* Read one info record. *ret is the index of its node if it is a native stack. False: damaged. */
static bool parse_info(struct reader *r, struct cursor *c, uint32_t *ret)
{
	struct cursor info = *c;
	uint32_t hsize = cursor_u32(&info), kind = cursor_u32(&info);
	uint64_t uid = cursor_u64(&info);
	struct node node;

	if (hsize < INFO_HEAD || hsize > cursor_left(c))
		return false;
	info.end = c->p + hsize;
	cursor_bytes(c, hsize);
	r->e->njava += (kind & ~COMPRESSED) == KIND_JAVA;
	if ((kind & ~COMPRESSED) != KIND_NATIVE)
		return true;
	if (hsize == INFO_HEAD) {
		/* The record has no list: the stack is the node with this uid. */
		vec_push(&r->nodes, (struct node){ .linked = true, .link = uid });
		*ret = r->nodes.len - 1;
		return true;
	}
	if (!parse_node(r, &info, kind & COMPRESSED, &node))
		return false;
	*ret = add_node(r, uid, &node);
	return true;
}

static void parse_frame(struct reader *r, const struct packet *p)
{
	struct cursor c = { .p = p->p + 4, .end = p->p + p->size, .swap = p->swap };
	uint32_t hsize = cursor_u32(&c), node = NO_NODE;
	uint64_t uid = cursor_u64(&c);
	struct experiment *e = r->e;
	bool fresh;
	uint64_t *index;

	if (c.bad || hsize < 16 || hsize > p->size) {
		r->nbad++;
		return;
	}
	c.p = p->p + hsize;
	while (cursor_left(&c) >= INFO_HEAD) {
		if (!parse_info(r, &c, &node)) {
			r->nbad++;
			break;
		}
	}
	index = map_put(&e->stack_by_uid, uid, &fresh);
	if (!fresh)
		return;
	*index = e->stacks.len;
	vec_push(&e->stacks, (struct exp_stack){ .uid = uid });
	vec_push(&r->of_stack, node);
}

static void parse_uid(struct reader *r, const struct packet *p)
{
	struct cursor c = { .p = p->p + 4, .end = p->p + p->size, .swap = p->swap };
	uint32_t flags = cursor_u32(&c);
	uint64_t uid = cursor_u64(&c);
	struct node node;

	if (c.bad || !parse_node(r, &c, flags & COMPRESSED, &node))
		r->nbad++;
	else
		add_node(r, uid, &node);
}

static void put_pcs(struct reader *r, const struct node *node)
{
	struct experiment *e = r->e;
	struct cursor c = { .p = node->pcs, .end = node->pcs + (size_t)node->npcs * r->pcsize,
			    .swap = e->swap };
	size_t at = e->stack_pcs.len;

	vec_reserve(&e->stack_pcs, at + node->npcs);
	e->stack_pcs.len += node->npcs;
	if (r->pcsize == 8 && !e->swap && node->npcs) {
		memcpy(e->stack_pcs.data + at, node->pcs, (size_t)node->npcs * 8);
		return;
	}
	/* Markers are negative, so narrow pcs are sign-extended. */
	for (; at < e->stack_pcs.len; at++)
		e->stack_pcs.data[at] = r->pcsize == 8 ? cursor_u64(&c) :
				       (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
}

/* The next node; NULL at the end, or (*broken) if the link's node does not exist. */
static const struct node *follow(struct reader *r, const struct node *node, bool *broken)
{
	const uint64_t *next = node->linked ? map_get(&r->by_uid, node->link) : NULL;

	*broken = node->linked && !next;
	return next ? &r->nodes.data[*next] : NULL;
}

/* Append all pcs of a stack to stack_pcs, leaf first. */
static void resolve(struct reader *r, struct exp_stack *s, uint32_t index)
{
	struct experiment *e = r->e;
	const struct node *node = index == NO_NODE ? NULL : &r->nodes.data[index];
	bool broken = false, cut = false;

	s->first = e->stack_pcs.len;
	while (node) {
		uint64_t cost = (uint64_t)node->npcs + 1;

		cut = cost > r->budget;
		if (cut)
			break;
		r->budget -= cost;
		put_pcs(r, node);
		node = follow(r, node, &broken);
	}
	r->nbroken += broken;
	r->ncut += cut;
	if (broken || cut)
		vec_push(&e->stack_pcs, ER_PC_TRUNCATED);
	else if (e->stack_pcs.len > s->first &&
		 e->stack_pcs.data[e->stack_pcs.len - 1] == (uint64_t)LEAF_CHECK)
		e->stack_pcs.len--;
	s->npcs = e->stack_pcs.len - s->first;
}

static void report(struct reader *r, uint64_t nbad)
{
	const struct {
		uint64_t n;
		const char *what;
	} faults[] = {
		{ nbad, "places cannot be read and were skipped" },
		{ r->nbad, "records are damaged" },
		{ r->nbroken, "stacks lack their outer callers: shown as truncated" },
		{ r->ncut, "stacks were cut: they exceed what a file of this size may hold" },
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		if (faults[i].n)
			diag_warn(&r->e->diag, "data.frameinfo: %llu %s",
				  (unsigned long long)faults[i].n, faults[i].what);
	}
}

/* Indexes into stack_pcs have 32 bits, which also limits the budget. */
static uint64_t budget_of(uint64_t file_size)
{
	uint64_t budget = file_size * BUDGET_PER_BYTE + BUDGET_MIN;
	uint64_t limit = UINT32_MAX - file_size / 16;

	return file_size / 16 >= UINT32_MAX ? 0 : budget < limit ? budget : limit;
}

void stacks_read(struct experiment *e, int dirfd)
{
	struct reader r = { .e = e, .pcsize = e->wordsize / 8 };
	struct raw_iter it = { .swap = e->swap };
	struct packet p;
	unsigned type;
	struct file f;

	if (!exp_file(e, dirfd, "data.frameinfo", &f))
		return;
	it.data = f.data;
	it.size = f.size;
	while (raw_next(&it, &p, &type)) {
		if (type == ER_PKT_FRAME)
			parse_frame(&r, &p);
		else if (type == ER_PKT_UID)
			parse_uid(&r, &p);
	}
	r.budget = budget_of(f.size);
	for (size_t i = 0; i < e->stacks.len; i++)
		resolve(&r, &e->stacks.data[i], r.of_stack.data[i]);
	report(&r, it.nbad);
	vec_free(&r.nodes);
	vec_free(&r.of_stack);
	map_free(&r.by_uid);
	file_close(&f);
}
