/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data.frameinfo. The exact pc of the leaf makes nearly every stack a new one,
 * while its callers have often been there before. So callers are nodes (UID
 * packets) that stacks share, and a stack is its leaf and a link:
 *
 *	kernel leaf -> kernel callers, user leaf -> user callers
 *	                         user leaf (sample in user mode) -> the same
 *
 * Many callers never come again, and a node for them would be lost: callers are
 * made a node when they come for the second time. What came is remembered up to
 * a bound; a node that was forgotten is written again, with the same uid for the
 * same pcs, and readers take either.
 */
#include "analysis/experiment/expwriter_impl.h"

/*
 * tsize has 16 bits and counts the heads, too. A tail must be worth its packet,
 * and short enough for readers that limit what a stack may expand to
 * (exp_stacks.c: eight pcs for a byte; a stack with a link has 48 bytes).
 */
enum { FRAME_HEAD = 16, INFO_HEAD = 16, INFO_NATIVE = 1, PACKET_MAX = 65528, UID_HEAD = 16,
       FRAMES_MAX = (PACKET_MAX - FRAME_HEAD - INFO_HEAD) / 8, TAIL_MIN = 4, TAIL_MAX = 256,
       TAILS_KNOWN = 1 << 16, TAIL_WRITTEN = 1 };

#define LINKED    (1u << 31)
#define NODE_SEED ((uint64_t)0x6e6f6465206f6620) /* keeps uids of nodes apart from those of stacks */
#define KERNEL    ((uint64_t)1 << 63)

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

/* A stack on its way to the file: pcs up to n, then the link. */
struct part {
	const uint64_t *pcs;
	size_t n, total;
	uint64_t link;
};

/* Replace the pcs from `at` on by a link to a node, if they have come before; have they? */
static bool share_tail(struct expwriter *w, struct part *s, size_t at)
{
	uint64_t uid, *state;
	bool fresh;

	if (at >= s->n || s->n - at + !!s->link < TAIL_MIN)
		return false;
	uid = hash64(hash_words(s->pcs + at, s->total - at) ^ NODE_SEED);
	uid = uid ? uid : NODE_SEED;
	state = map_put(&w->tails, uid, &fresh);
	if (fresh)
		return false;
	if (*state != TAIL_WRITTEN)
		put_node(w, uid, s->pcs + at, s->n - at, s->link);
	*state = TAIL_WRITTEN;
	s->n = at;
	s->link = uid;
	return true;
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
	struct part s = { .pcs = pcs, .n = npcs, .total = npcs };
	size_t user = 0;
	bool known = false;

	while (user < npcs && pcs[user] & KERNEL)
		user++;
	if (w->tails.len >= TAILS_KNOWN)
		map_free(&w->tails);
	if (npcs <= TAIL_MAX) {
		known = share_tail(w, &s, user + 1);
		if (user)
			share_tail(w, &s, 1);
	}
	/* The segments of callers that came before are written. */
	release_segments(w, pcs + user, known ? 1 : npcs - user);
	if (npcs > FRAMES_MAX)
		put_truncated(w, uid, pcs);
	else
		put_frame(w, uid, pcs, s.n, s.link);
}

/* Readers pass over an experiment whose stacks are an empty file: put something there. */
void put_no_stack(struct expwriter *w)
{
	unsigned char *p = buf_zero(out_buf(w, OUT_FRAMES), FRAME_HEAD);

	put16(p, FRAME_HEAD);
	put16(p + 2, ER_PKT_EMPTY);
	w->has_stacks = true;
}
