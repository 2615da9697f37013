/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes data.frameinfo. Nearly every stack is new because of the exact pc of its leaf,
 * but most of its callers have been seen before. So stacks share callers as nodes (UID
 * packets): a stack or a node is a list of pcs and a link to the node that continues
 * it.
 *
 * Many callers occur only once, and a node for them would be wasted. A tail of a stack
 * (its callers from some frame on) becomes a node when it is seen for the second time;
 * the longest such tail is used. The set of seen tails is bounded; the parts of a recording
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
       CHAIN_MAX = 64, TAILS_KNOWN = 1 << 18 /* 8 MB */ };

#define LINKED (1u << 31)
#define NODE   ((uint64_t)1 << 63) /* distinguishes uids of nodes from uids of stacks */
#define KERNEL ((uint64_t)1 << 63)

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
	w->has_stacks = true;
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

/* The length, in nodes, of a tail that was written; 0: it was not. */
static uint64_t tail_length(struct expwriter *w, uint64_t uid)
{
	const uint64_t *length = map_get(tails_of(w), tail_key(w, uid));

	return length ? *length : 0;
}

/*
 * The uid of the node for the tail that begins at `at` and was seen before. Writes the
 * node if it does not exist.
 */
static uint64_t node_of(struct expwriter *w, const uint64_t *pcs, const uint64_t *uids, size_t at,
			size_t n)
{
	uint64_t below = 0;
	size_t to = at;

	if (tail_length(w, uids[at]))
		return uids[at];
	while (!below && ++to + TAIL_MIN <= n) {
		below = tail_length(w, uids[to]);
		below = below < CHAIN_MAX ? below : 0;
	}
	to = below ? to : n;
	put_node(w, uids[at], pcs + at, to - at, below ? uids[to] : 0);
	*map_put(tails_of(w), tail_key(w, uids[at]), NULL) = below + 1;
	return uids[at];
}

/*
 * Find the longest tail of a stack that was seen before. Returns where it begins, with
 * its node in *link; n if there is none. If a tail was seen, all shorter ones were,
 * too, so only longer ones are added.
 */
static size_t share_tail(struct expwriter *w, const uint64_t *pcs, size_t n, uint64_t *link)
{
	uint64_t uids[TAIL_MAX];
	size_t at = 1;
	bool fresh = true;

	if (n > TAIL_MAX)
		return n;
	if (tails_of(w)->len >= TAILS_KNOWN)
		map_free(tails_of(w));
	name_tails(pcs, n, uids);
	for (; at + TAIL_MIN <= n; at++) {
		map_put(tails_of(w), tail_key(w, uids[at]), &fresh);
		if (!fresh)
			break;
	}
	if (fresh)
		return n;
	*link = node_of(w, pcs, uids, at, n);
	return at;
}

void expwriter_forget(struct expwriter *w)
{
	struct expwriter *all = w->founder ? w->founder : w;

	w->tails_of = hash64(++all->ntails);
	if (all == w)
		map_free(&w->tails);
}

static void put_truncated(struct expwriter *w, uint64_t uid, const uint64_t *pcs)
{
	unsigned char marker[8];

	put_frame(w, uid, pcs, FRAMES_MAX, 0);
	put64(marker, ER_PC_TRUNCATED);
	memcpy(out_buf(w, OUT_FRAMES)->data + out_buf(w, OUT_FRAMES)->len - sizeof(marker), marker,
	       sizeof(marker));
}

void expwriter_stack(struct expwriter *w, uint64_t uid, const uint64_t *pcs, size_t npcs)
{
	size_t user = 0, n;
	uint64_t link = 0;

	while (user < npcs && pcs[user] & KERNEL)
		user++;
	n = share_tail(w, pcs, npcs, &link);
	/* The segments of shared callers were written with the first stack. */
	if (n > user)
		release_segments(w, pcs + user, n - user);
	if (npcs > FRAMES_MAX)
		put_truncated(w, uid, pcs);
	else
		put_frame(w, uid, pcs, n, link);
}

/* Readers reject an experiment if data.frameinfo is empty, so write a packet without meaning. */
void put_no_stack(struct expwriter *w)
{
	unsigned char *p = buf_zero(out_buf(w, OUT_FRAMES), FRAME_HEAD);

	put16(p, FRAME_HEAD);
	put16(p + 2, ER_PKT_EMPTY);
	w->has_stacks = true;
}
