/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes data.frameinfo. Nearly every stack is new because of the exact pc of its leaf,
 * but most of its callers have been seen before. So stacks share callers as nodes (UID
 * packets): a stack or a node is a list of pcs and a link to the node that continues
 * it.
 *
 * Many callers occur only once, and a node for them would be wasted. A tail of a stack
 * (its callers from some frame on) becomes a node if stacks branch off there, and if the node
 * saves more than it takes. Stacks are held until the next flush, so that the first of several
 * new ones shares callers, too. The set of seen tails is bounded; the parts of a recording
 * share it, because there may be a thousand. A node that was
 * forgotten is written again with the same uid and the same pcs, and readers accept
 * both.
 */
#include "analysis/experiment/expwriter_impl.h"

/*
 * The size field (tsize) has 16 bits and includes the heads. A tail must be long enough
 * to be worth a packet. It must also be short enough for readers that limit how far a
 * stack expands: exp_stacks.c allows eight pcs and links for each byte, and a stack
 * with a link takes 48 bytes.
 */
enum { FRAME_HEAD = 16, INFO_HEAD = 16, INFO_NATIVE = 1, PACKET_MAX = 65528, UID_HEAD = 16,
       FRAMES_MAX = (PACKET_MAX - FRAME_HEAD - INFO_HEAD) / 8, TAIL_MIN = 3, TAIL_MAX = 256,
       CHAIN_MAX = 64, NODE_PCS = (UID_HEAD + 8) / 8, TAILS_KNOWN = 1 << 18 /* 8 MB */ };

#define LINKED (1u << 31)
#define NODE   ((uint64_t)1 << 63) /* distinguishes uids of nodes from uids of stacks */
#define KERNEL ((uint64_t)1 << 63)
#define WRITTEN ((uint64_t)1 << 63) /* in the state of a tail: it has a node */

/* Store the pcs at p, followed by the link unless it is 0. */
static void put_pcs(unsigned char *p, const uint64_t *pcs, size_t n, uint64_t link)
{
	if (n)
		memcpy(p, pcs, n * sizeof(*pcs));
	if (link)
		put64(p + n * sizeof(*pcs), link);
}

static void put_node(struct expwriter *w, uint64_t uid, const uint64_t *pcs, size_t n,
		     uint64_t link)
{
	size_t size = UID_HEAD + (n + !!link) * sizeof(*pcs);
	unsigned char *p = buf_zero(out_buf(w, OUT_FRAMES), size);

	put16(p, size);
	put16(p + 2, ER_PKT_UID);
	put32(p + 4, link ? LINKED : 0);
	put64(p + 8, uid);
	put_pcs(p + UID_HEAD, pcs, n, link);
}

static void put_frame(struct expwriter *w, uint64_t uid, const uint64_t *pcs, size_t n,
		      uint64_t link)
{
	size_t size = FRAME_HEAD + INFO_HEAD + (n + !!link) * sizeof(*pcs);
	unsigned char *p = buf_zero(out_buf(w, OUT_FRAMES), size);
	unsigned char *info = p + FRAME_HEAD;

	put16(p, size);
	put16(p + 2, ER_PKT_FRAME);
	put32(p + 4, FRAME_HEAD);
	put64(p + 8, uid);
	put32(info, size - FRAME_HEAD);
	put32(info + 4, INFO_NATIVE | (link ? LINKED : 0));
	put64(info + 8, uid);
	put_pcs(info + INFO_HEAD, pcs, n, link);
}

/* The uids of a stack's tails as nodes: uids[i] is for pcs[i] to the end. */
static void name_tails(const uint64_t *pcs, size_t n, uint64_t *uids)
{
	uint64_t h = 0;

	for (size_t i = n; i-- > 0;) {
		h = hash64(h * 3 + pcs[i]);
		uids[i] = h | NODE;
	}
}

static struct map *tails_of(struct expwriter *w)
{
	return w->founder ? &w->founder->tails : &w->tails;
}

static uint64_t tail_key(const struct expwriter *w, uint64_t uid)
{
	return uid ^ w->tails_of;
}

/* How many stacks branch off at a tail, or WRITTEN and the number of its nodes; 0: not seen. */
static uint64_t tail_state(struct expwriter *w, uint64_t uid)
{
	const uint64_t *state = map_get(tails_of(w), tail_key(w, uid));

	return state ? *state : 0;
}

/*
 * Note a stack's tails, and where it branches off an earlier stack. Returns where the longest tail
 * begins that was seen before; n if there is none. If a tail was seen all shorter ones were, too.
 */
static size_t note_tails(struct expwriter *w, const uint64_t *uids, size_t n)
{
	uint64_t *state;
	bool fresh;

	if (tails_of(w)->len >= TAILS_KNOWN)
		map_free(tails_of(w));
	for (size_t at = 1; at + TAIL_MIN <= n; at++) {
		state = map_put(tails_of(w), tail_key(w, uids[at]), &fresh);
		*state += !(*state & WRITTEN);
		if (!fresh)
			return at;
	}
	return n;
}

/*
 * Whether a node of n pcs saves anything: it takes as much as NODE_PCS pcs, and of all stacks that
 * branch off there only one has its pcs then.
 */
static bool pays(uint64_t nbranches, size_t n)
{
	return (nbranches - 1) * n >= NODE_PCS;
}

/*
 * Write the nodes that the stack may share and that do not exist. Returns where the longest tail
 * begins that has a node, with its uid in *link; n if there is none.
 */
static size_t share_tails(struct expwriter *w, const uint64_t *pcs, const uint64_t *uids, size_t n,
			  uint64_t *link)
{
	size_t branches[TAIL_MAX], nbranches = 0, to = n;
	uint64_t length = 0;

	for (size_t at = 1; at + TAIL_MIN <= n && to == n; at++) {
		uint64_t state = tail_state(w, uids[at]);

		length = state & WRITTEN ? state & ~WRITTEN : 0;
		/* New nodes must not make the chain too long. */
		if (length && (length < CHAIN_MAX || !nbranches))
			to = at;
		else if (!length && state > 1)
			branches[nbranches++] = at;
	}
	length = to < n ? length : 0;
	while (nbranches-- && length < CHAIN_MAX) {
		size_t at = branches[nbranches];

		if (!pays(tail_state(w, uids[at]), to - at))
			continue;
		put_node(w, uids[at], pcs + at, to - at, to < n ? uids[to] : 0);
		*map_put(tails_of(w), tail_key(w, uids[at]), NULL) = WRITTEN | ++length;
		to = at;
	}
	*link = to < n ? uids[to] : 0;
	return to;
}

static void put_truncated(struct expwriter *w, uint64_t uid, const uint64_t *pcs)
{
	unsigned char marker[8];

	put_frame(w, uid, pcs, FRAMES_MAX, 0);
	put64(marker, ER_PC_TRUNCATED);
	memcpy(out_buf(w, OUT_FRAMES)->data + out_buf(w, OUT_FRAMES)->len - sizeof(marker), marker,
	       sizeof(marker));
}

/* --- stacks that wait for the next flush --- */

/* In the list of held stacks: this, the pcs, and the uids of the tails if they can be shared. */
struct held_stack {
	uint64_t uid, npcs, nuids;
};

enum { HELD_WORDS = sizeof(struct held_stack) / sizeof(uint64_t) };

/* Returns the room for the uids, valid until the next stack. */
static uint64_t *hold(struct expwriter *w, uint64_t uid, const uint64_t *pcs, size_t npcs)
{
	const struct held_stack s = { .uid = uid, .npcs = npcs, .nuids = npcs > TAIL_MAX ? 0 : npcs };
	size_t at = w->held.len;

	vec_reserve(&w->held, at + HELD_WORDS + npcs + s.nuids);
	w->held.len += HELD_WORDS + npcs + s.nuids;
	w->nheld += sizeof(s) + npcs * sizeof(*pcs);
	memcpy(&w->held.data[at], &s, sizeof(s));
	memcpy(&w->held.data[at + HELD_WORDS], pcs, npcs * sizeof(*pcs));
	return &w->held.data[at + HELD_WORDS + npcs];
}

static void put_stack(struct expwriter *w, const struct held_stack *s, const uint64_t *pcs)
{
	uint64_t link = 0;
	size_t n = s->nuids ? share_tails(w, pcs, pcs + s->npcs, s->npcs, &link) : s->npcs;

	if (s->npcs > FRAMES_MAX)
		put_truncated(w, s->uid, pcs);
	else
		put_frame(w, s->uid, pcs, n, link);
}

void put_held_stacks(struct expwriter *w)
{
	struct buf *out = out_buf(w, OUT_FRAMES), packets = *out;

	if (!w->held.len)
		return;
	/* Stacks come before the packets of a part that refer to them. */
	*out = (struct buf){ 0 };
	for (size_t at = 0; at < w->held.len;) {
		const struct held_stack *s = (const struct held_stack *)&w->held.data[at];

		put_stack(w, s, &w->held.data[at + HELD_WORDS]);
		at += HELD_WORDS + s->npcs + s->nuids;
	}
	vec_free(&w->held); /* there may be a thousand writers, most of them idle */
	w->nheld = 0;
	if (packets.len)
		buf_add(out, packets.data, packets.len);
	buf_free(&packets);
}

void expwriter_stack(struct expwriter *w, uint64_t uid, const uint64_t *pcs, size_t npcs)
{
	uint64_t *uids = hold(w, uid, pcs, npcs);
	size_t user = 0, n = npcs;

	while (user < npcs && pcs[user] & KERNEL)
		user++;
	if (npcs <= TAIL_MAX) {
		name_tails(pcs, npcs, uids);
		n = note_tails(w, uids, npcs);
	}
	/* The segments of shared callers were written with the first stack. */
	if (n > user)
		release_segments(w, pcs + user, n - user);
	w->has_stacks = true;
}

void expwriter_forget(struct expwriter *w)
{
	struct expwriter *all = w->founder ? w->founder : w;

	put_held_stacks(w);
	w->tails_of = hash64(++all->ntails);
	if (all == w)
		map_free(&w->tails);
}

/* Readers reject an experiment if data.frameinfo is empty, so write a packet without meaning. */
void put_no_stack(struct expwriter *w)
{
	unsigned char *p = buf_zero(out_buf(w, OUT_FRAMES), FRAME_HEAD);

	put16(p, FRAME_HEAD);
	put16(p + 2, ER_PKT_EMPTY);
	w->has_stacks = true;
}
