/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data.frameinfo. The exact pc of the leaf makes nearly every stack a new one,
 * while most of its callers have been there before. So callers are nodes (UID
 * packets) that stacks share: a stack, or a node, is some pcs and a link to the
 * node where it goes on.
 *
 * Many callers never come again, and a node for them would be lost: a tail of a
 * stack is made a node when it comes for the second time, and the longest one that has
 * come is taken. What came is remembered up to
 * a bound; a node that was forgotten is written again, with the same uid for the
 * same pcs, and readers take either.
 */
#include "analysis/experiment/expwriter_impl.h"

/*
 * tsize has 16 bits and counts the heads, too. A tail must be worth its packet,
 * and short enough for readers that limit what a stack may expand to
 * (exp_stacks.c: eight pcs and links for a byte; a stack with a link has 48 bytes).
 */
enum { FRAME_HEAD = 16, INFO_HEAD = 16, INFO_NATIVE = 1, PACKET_MAX = 65528, UID_HEAD = 16,
       FRAMES_MAX = (PACKET_MAX - FRAME_HEAD - INFO_HEAD) / 8, TAIL_MIN = 3, TAIL_MAX = 256,
       CHAIN_MAX = 64, TAILS_KNOWN = 1 << 16 };

#define LINKED (1u << 31)
#define NODE   ((uint64_t)1 << 63) /* keeps uids of nodes apart from those of stacks */
#define KERNEL ((uint64_t)1 << 63)

/* The pcs at p, and the link behind them when there is one (0: none). */
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

/* The uids that the tails of a stack have as nodes: of pcs[i] and all behind it uids[i]. */
static void name_tails(const uint64_t *pcs, size_t n, uint64_t *uids)
{
	uint64_t h = 0;

	for (size_t i = n; i-- > 0;) {
		h = hash64(h * 3 + pcs[i]);
		uids[i] = h | NODE;
	}
}

/* The uid of the node for the tail at `at`, which has come before; written if it is not there. */
static uint64_t node_of(struct expwriter *w, const uint64_t *pcs, const uint64_t *uids, size_t at,
			size_t n)
{
	uint64_t *links = map_get(&w->tails, uids[at]), below = 0;
	size_t to = at;

	if (*links)
		return uids[at];
	while (!below && ++to + TAIL_MIN <= n) {
		below = *map_get(&w->tails, uids[to]);
		below = below < CHAIN_MAX ? below : 0;
	}
	to = below ? to : n;
	put_node(w, uids[at], pcs + at, to - at, below ? uids[to] : 0);
	*links = below + 1;
	return uids[at];
}

/*
 * Where the longest tail of a stack begins that has come before, and its node in *link; n: there
 * is none. A tail that has come has all shorter ones with it.
 */
static size_t share_tail(struct expwriter *w, const uint64_t *pcs, size_t n, uint64_t *link)
{
	uint64_t uids[TAIL_MAX];
	size_t at = n;
	bool fresh = false;

	if (n > TAIL_MAX)
		return n;
	if (w->tails.len >= TAILS_KNOWN)
		expwriter_forget(w);
	name_tails(pcs, n, uids);
	for (size_t i = n < TAIL_MIN ? 0 : n - TAIL_MIN; i > 0; i--) {
		map_put(&w->tails, uids[i], &fresh);
		at = fresh ? at : i;
	}
	if (at < n)
		*link = node_of(w, pcs, uids, at, n);
	return at;
}

void expwriter_forget(struct expwriter *w)
{
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
	/* The segments of callers that came before are written. */
	if (n > user)
		release_segments(w, pcs + user, n - user);
	if (npcs > FRAMES_MAX)
		put_truncated(w, uid, pcs);
	else
		put_frame(w, uid, pcs, n, link);
}

/* Readers pass over an experiment whose stacks are an empty file: put something there. */
void put_no_stack(struct expwriter *w)
{
	unsigned char *p = buf_zero(out_buf(w, OUT_FRAMES), FRAME_HEAD);

	put16(p, FRAME_HEAD);
	put16(p + 2, ER_PKT_EMPTY);
	w->has_stacks = true;
}
