/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data.frameinfo. A stack is a list of pcs, or the leaf end of one and a link to the
 * node that has the rest. Nodes are the lists of other stacks and of UID packets. A
 * link may come before its node, so the file is read in two passes. The first collects the nodes. The
 * second finds where the pcs of each stack are. Opening does no more, because many reports need no
 * pcs. The first report that needs one has all of them numbered. In a large file several threads
 * number the pcs, each for some of the stacks. Afterwards all threads' numbers become those of the
 * first thread.
 *
 * With links a small file can describe very much: a long chain shared by a million
 * stacks, or a loop. So the links and pcs of all stacks together are limited in
 * proportion to the file's size. A stack that exceeds the limit is cut.
 */
#include "analysis/experiment/exp_stacks.h"

#include "analysis/experiment/experiment_impl.h"

#include "analysis/base/cursor.h"
#include "analysis/base/parallel.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_pcs.h"

enum { KIND_NATIVE = 1, KIND_JAVA = 2, COMPRESSED = 1u << 31, INFO_HEAD = 16, UID_HEAD = 16,
       BUDGET_PER_BYTE = 8, BUDGET_MIN = 1 << 20, LEAF_CHECK = -1 };

struct node {
	const unsigned char *pcs;
	uint32_t npcs;
	bool linked;
	uint64_t link;
};

/* Where the pcs of a stack are. */
struct source {
	uint32_t node;   /* the first node, or NO_NODE */
	uint32_t listed; /* number of pcs in the nodes; the stack may have a marker behind them */
};

/* Kept from stacks_read until the pcs are numbered. */
struct stack_reader {
	struct experiment *e;
	struct file file; /* nodes point into it */
	unsigned pcsize;
	VEC(struct node) nodes;
	struct map by_uid;     /* uid to index into nodes */
	VEC(struct source) sources; /* by stack in e->stacks */
	uint32_t npcs;         /* of all stacks */
	uint64_t budget;
	uint64_t nbad, nbroken, ncut;
};

#define NO_NODE UINT32_MAX

/* A node is a list of pcs, followed by the uid of the next node if it is linked. */
static bool parse_node(struct stack_reader *r, struct cursor *c, bool linked, struct node *ret)
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
static uint32_t add_node(struct stack_reader *r, uint64_t uid, const struct node *node)
{
	bool fresh;
	uint64_t *index = map_put(&r->by_uid, uid, &fresh);

	if (fresh)
		*index = r->nodes.len;
	vec_push(&r->nodes, *node);
	return r->nodes.len - 1;
}

/* Read one info record. *ret is the index of its node if it is a native stack. False: damaged. */
static bool parse_info(struct stack_reader *r, struct cursor *c, uint32_t *ret)
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

static void parse_frame(struct stack_reader *r, const struct packet *p)
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
	vec_push(&r->sources, (struct source){ .node = node });
}

static void parse_uid(struct stack_reader *r, const struct packet *p)
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

/* A pc of a node. Markers are negative, so narrow pcs are sign-extended. */
static uint64_t node_pc(const struct stack_reader *r, const struct node *node, uint32_t i)
{
	struct cursor c = { .p = node->pcs + (size_t)i * r->pcsize, .swap = r->e->swap };

	c.end = c.p + r->pcsize;
	return r->pcsize == 8 ? cursor_u64(&c) : (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
}

/* The next node; NULL at the end, or (*broken) if the link's node does not exist. */
static const struct node *follow(const struct stack_reader *r, const struct node *node, bool *broken)
{
	const uint64_t *next = node->linked ? map_get(&r->by_uid, node->link) : NULL;

	*broken = node->linked && !next;
	return next ? &r->nodes.data[*next] : NULL;
}

/* Find how many pcs a stack has, and where they go in stack_pcs. Returns the index behind them. */
static uint32_t measure(struct stack_reader *r, struct exp_stack *s, struct source *source, uint32_t first)
{
	const struct node *node = source->node == NO_NODE ? NULL : &r->nodes.data[source->node];
	bool broken = false, cut = false;
	uint64_t last = 0;

	while (node) {
		uint64_t cost = (uint64_t)node->npcs + 1;

		cut = cost > r->budget;
		if (cut)
			break;
		r->budget -= cost;
		source->listed += node->npcs;
		if (node->npcs)
			last = node_pc(r, node, node->npcs - 1);
		node = follow(r, node, &broken);
	}
	r->nbroken += broken;
	r->ncut += cut;
	if (!broken && !cut && source->listed && last == (uint64_t)LEAF_CHECK)
		source->listed--;
	s->first = first;
	s->npcs = source->listed + (broken || cut);
	return first + s->npcs;
}

/* --- numbering pcs --- */

enum { PARTS_MAX = 4, PART_MIN = 1 << 16, BUFFER = 512 };

/* A run of stacks, whose pcs one thread numbers. */
struct part {
	struct stack_reader *r;
	size_t from, to; /* stacks */
	struct pc_table table;
	uint32_t *renumber; /* by number of a pc in `table`: its number in e->pcs; NULL: the same */
	uint64_t pcs[BUFFER]; /* the next ones, not numbered yet */
	size_t n, at;         /* their number; where in stack_pcs the first one goes */
};

static void number_pcs(struct part *p)
{
	pc_table_number(&p->table, p->pcs, p->n, &p->r->e->stack_pcs.data[p->at]);
	p->at += p->n;
	p->n = 0;
}

static void put_pc(struct part *p, uint64_t pc)
{
	p->pcs[p->n++] = pc;
	if (p->n == BUFFER)
		number_pcs(p);
}

static void number_part(void *ctx, size_t i)
{
	struct part *p = (struct part *)ctx + i;
	const struct stack_reader *r = p->r;
	bool broken;

	for (size_t k = p->from; k < p->to; k++) {
		const struct exp_stack *s = &r->e->stacks.data[k];
		uint32_t left = r->sources.data[k].listed;
		const struct node *node = left ? &r->nodes.data[r->sources.data[k].node] : NULL;

		for (; left; node = follow(r, node, &broken)) {
			uint32_t n = node->npcs < left ? node->npcs : left;

			for (uint32_t pc = 0; pc < n; pc++)
				put_pc(p, node_pc(r, node, pc));
			left -= n;
		}
		if (s->npcs > r->sources.data[k].listed)
			put_pc(p, ER_PC_TRUNCATED);
	}
	number_pcs(p);
}

static void renumber_part(void *ctx, size_t i)
{
	const struct part *p = (const struct part *)ctx + i;
	const struct experiment *e = p->r->e;
	size_t end = p->to < e->stacks.len ? e->stacks.data[p->to].first : e->stack_pcs.len;

	if (!p->renumber || p->from == p->to)
		return;
	for (size_t at = e->stacks.data[p->from].first; at < end; at++)
		e->stack_pcs.data[at] = p->renumber[e->stack_pcs.data[at]];
}

/* Divide the stacks into n runs with about as many pcs each. */
static void divide(struct stack_reader *r, struct part *parts, size_t n)
{
	const struct experiment *e = r->e;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		parts[i] = (struct part){ .r = r, .from = k };
		parts[i].at = k < e->stacks.len ? e->stacks.data[k].first : 0;
		while (k < e->stacks.len && (i + 1 == n ||
					     e->stacks.data[k].first < e->stack_pcs.len / n * (i + 1)))
			k++;
		parts[i].to = k;
	}
}

static void number_stacks(struct stack_reader *r)
{
	struct experiment *e = r->e;
	size_t n = parallel_parts(), npcs = r->npcs, most = npcs / PART_MIN + 1;
	struct part parts[PARTS_MAX];

	n = n < PARTS_MAX ? n : PARTS_MAX;
	n = n < most ? n : most;
	vec_reserve(&e->stack_pcs, npcs);
	e->stack_pcs.len = npcs;
	divide(r, parts, n);
	parallel_run(number_part, parts, n);
	for (size_t i = 1; i < n; i++) {
		struct pc_table *t = &parts[i].table;

		intern_free(&t->ids);
		parts[i].renumber = xmalloc(t->pcs.len * sizeof(uint32_t));
		pc_table_number(&parts[0].table, t->pcs.data, t->pcs.len, parts[i].renumber);
		pc_table_free(t);
	}
	intern_free(&parts[0].table.ids);
	parallel_run(renumber_part, parts, n);
	for (size_t i = 1; i < n; i++)
		free(parts[i].renumber);
	e->pcs.data = parts[0].table.pcs.data;
	e->pcs.len = parts[0].table.pcs.len;
	e->pcs.cap = parts[0].table.pcs.cap;
}

static void report(struct stack_reader *r, uint64_t nbad)
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

static void read_nodes(struct stack_reader *r)
{
	struct raw_iter it = { .data = r->file.data, .size = r->file.size, .swap = r->e->swap };
	struct packet p;
	unsigned type;

	while (raw_next(&it, &p, &type)) {
		if (type == ER_PKT_FRAME)
			parse_frame(r, &p);
		else if (type == ER_PKT_UID)
			parse_uid(r, &p);
	}
	r->budget = budget_of(r->file.size);
	for (size_t i = 0; i < r->e->stacks.len; i++)
		r->npcs = measure(r, &r->e->stacks.data[i], &r->sources.data[i], r->npcs);
	report(r, it.nbad);
}

void stacks_read(struct experiment *e, int dirfd)
{
	struct stack_reader *r;
	struct file f;

	if (!exp_file(e, dirfd, "data.frameinfo", &f))
		return;
	r = xcalloc(1, sizeof(*r));
	*r = (struct stack_reader){ .e = e, .file = f, .pcsize = e->wordsize / 8 };
	e->stack_reader = r;
	read_nodes(r);
}

void stack_reader_free(struct stack_reader *r)
{
	if (!r)
		return;
	vec_free(&r->nodes);
	vec_free(&r->sources);
	map_free(&r->by_uid);
	file_close(&r->file);
	free(r);
}

void experiment_number_pcs(struct experiment *e)
{
	if (!e->stack_reader)
		return;
	number_stacks(e->stack_reader);
	stack_reader_free(e->stack_reader);
	e->stack_reader = NULL;
}

uint64_t experiment_pc(struct experiment *e, const struct exp_stack *s, uint32_t i)
{
	experiment_number_pcs(e);
	return e->pcs.data[e->stack_pcs.data[s->first + i]];
}

void experiment_pcs(struct experiment *e, const struct exp_stack *s, uint64_t *ret, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ret[i] = experiment_pc(e, s, i);
}
