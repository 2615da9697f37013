/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "bpf/frame.h"
#include "user/jit/runtime.h"
#include "user/record/addresses.h"
#include "user/record/codes.h"
#include "user/record/pools.h"
#include "user/space/space.h"

enum {
	STORE_WORDS = 1 << 20, /* 8 MB in each generation; the whole recorder takes at most 100 MB */
	RAW_WORDS = 4,         /* what the id of a raw stack takes */
	ENDS = 3,              /* frames that may be added: leaf, root, marker */
	FILES_PER_WORD = 64,
};

/* A stack in the store: this header, then nkernel pcs as they are written, nuser frames. */
struct stored {
	uint64_t id;        /* shared by equal stacks */
	uint16_t flags, end;
	uint16_t nkernel, nuser;
	uint64_t kernel_id; /* of its kernel part alone */
	uint64_t pcs[];
};

struct generation {
	struct map places; /* id to an index in `words` */
	struct map raws;   /* the unique id of a raw stack to the id of its frames */
	VEC(uint64_t) words;
};

struct stacks {
	struct recording *recording;
	struct generation young, old;
	bool forgot; /* since stacks_resend */
	uint64_t n;
	uint64_t files[ER_MAX_FILES / FILES_PER_WORD]; /* a bit for each that stacks_look found */
};

struct stacks *stacks_new(struct recording *recording)
{
	struct stacks *st = xcalloc(1, sizeof(*st));

	st->recording = recording;
	return st;
}

static void generation_free(struct generation *g)
{
	map_free(&g->places);
	map_free(&g->raws);
	vec_free(&g->words);
}

void stacks_free(struct stacks *st)
{
	if (!st)
		return;
	generation_free(&st->young);
	generation_free(&st->old);
	free(st);
}

void stacks_restart(struct stacks *st)
{
	st->n = 0;
}

bool stacks_resend(struct stacks *st)
{
	bool forgot = st->forgot;

	st->forgot = false;
	return forgot;
}

static const struct stored *find_in(const struct generation *g, uint64_t id)
{
	const uint64_t *at = map_get(&g->places, id);

	return at ? (const struct stored *)&g->words.data[*at] : NULL;
}

static bool is_in(const struct generation *g, const struct stored *s)
{
	return (uintptr_t)s - (uintptr_t)g->words.data < g->words.len * sizeof(*g->words.data);
}

static const struct stored *find_frames(const struct stacks *st, uint64_t id)
{
	const struct stored *s = find_in(&st->young, id);

	return s ? s : find_in(&st->old, id);
}

/* Few stacks are raw, so their ids are looked up last. */
static const struct stored *find(const struct stacks *st, uint64_t id)
{
	const struct stored *s = find_frames(st, id);
	const uint64_t *raw = s ? NULL : map_get(&st->young.raws, id);

	if (!s && !raw)
		raw = map_get(&st->old.raws, id);
	return raw ? find_frames(st, *raw) : s;
}

static bool has_room(const struct generation *g, size_t nwords)
{
	return g->words.len + g->raws.len * RAW_WORDS + nwords <= STORE_WORDS;
}

void stacks_age(struct stacks *st)
{
	generation_free(&st->old);
	st->old = st->young;
	st->young = (struct generation){ 0 };
	st->forgot = true;
}

/* The younger generation has room for n words afterwards. */
static void make_room(struct stacks *st, size_t nwords)
{
	if (!has_room(&st->young, nwords))
		stacks_age(st);
}

/* Append a stack of n words; valid until the next one. */
static struct stored *append(struct generation *g, uint64_t id, size_t nwords)
{
	size_t at = g->words.len;

	vec_reserve(&g->words, at + nwords);
	g->words.len += nwords;
	*map_put(&g->places, id, NULL) = at;
	return (struct stored *)&g->words.data[at];
}

static size_t words_of(size_t npcs)
{
	return sizeof(struct stored) / sizeof(uint64_t) + npcs;
}

/* --- files that stacks refer to --- */

static void look(struct stacks *st, const struct generation *g)
{
	for (size_t at = 0; at < g->words.len;) {
		const struct stored *s = (const struct stored *)&g->words.data[at];

		for (size_t i = s->nkernel; i < (size_t)s->nkernel + s->nuser; i++) {
			uint32_t file = er_frame_file(s->pcs[i]);

			if (s->pcs[i] & ER_FRAME_FILE && file < ER_MAX_FILES)
				st->files[file / FILES_PER_WORD] |= 1ULL << file % FILES_PER_WORD;
		}
		at += words_of((size_t)s->nkernel + s->nuser);
	}
}

void stacks_look(struct stacks *st)
{
	memset(st->files, 0, sizeof(st->files));
	look(st, &st->young);
	look(st, &st->old);
}

bool stacks_has_file(const struct stacks *st, uint32_t file)
{
	return file < ER_MAX_FILES &&
	       st->files[file / FILES_PER_WORD] >> file % FILES_PER_WORD & 1;
}

/* A stack that is used moves to the younger generation, unless that is about to be the older one. */
static const struct stored *use(struct stacks *st, uint64_t id)
{
	const struct stored *s = find(st, id);
	size_t nwords = s ? words_of((size_t)s->nkernel + s->nuser) : 0;

	if (!s || is_in(&st->young, s) || !has_room(&st->young, nwords))
		return s;
	return memcpy(append(&st->young, s->id, nwords), s, nwords * sizeof(uint64_t));
}

bool stacks_has(const struct stacks *st, uint64_t id)
{
	return find(st, id);
}

/*
 * Whether frames may be wrong: they were found by frame pointers, which the code of a Java VM does not
 * keep. The walk cannot know that: it may come sooner than the news that the VM is mapped.
 */
static bool is_guessed(const struct stored *s, const struct image *im)
{
	return s->flags & ER_STACK_GUESSED && runtime_java(im);
}

enum er_end stacks_end(const struct stacks *st, uint64_t id, const struct image *im)
{
	const struct stored *s = find(st, id);

	if (!s)
		return ER_END_NOT;
	return is_guessed(s, im) ? ER_END_NO_VM : s->end;
}

bool stacks_has_user(const struct stacks *st, uint64_t id)
{
	const struct stored *s = find(st, id);

	return s && s->nuser;
}

/* Callers may be the mistakes of a walk that failed. */
bool stacks_in_no_file(const struct stacks *st, uint64_t id)
{
	const struct stored *s = find(st, id);
	unsigned n = !s ? 0 : s->end == ER_END_PROVEN ? s->nuser : s->nuser > 0;

	if (!s || !(s->flags & ER_STACK_USER_EXACT))
		return false;
	for (unsigned i = 0; i < n; i++) {
		if (!(s->pcs[s->nkernel + i] & ER_FRAME_FILE))
			return true;
	}
	return false;
}

const uint64_t *stacks_kernel(const struct stacks *st, uint64_t id, size_t *n)
{
	const struct stored *s = find(st, id);

	*n = s ? s->nkernel : 0;
	return s ? s->pcs : NULL;
}

uint64_t stacks_count(const struct stacks *st)
{
	return st->n;
}

/*
 * The leaf's pc is exact. A caller's pc is a return address; 1 is subtracted, because the byte
 * before it is inside the call instruction.
 */
static void convert(struct stored *st, const struct er_stack *s)
{
	bool exact = s->flags & ER_STACK_USER_EXACT;

	for (unsigned i = 0; i < s->nkernel; i++)
		st->pcs[i] = s->pcs[i] - (i > 0);
	for (unsigned i = s->nkernel; i < (unsigned)s->nkernel + s->nuser; i++)
		st->pcs[i] = s->pcs[i] - (i > s->nkernel || !exact);
}

static bool has_address(const struct er_stack *s)
{
	for (unsigned i = s->nkernel; i < (unsigned)s->nkernel + s->nuser; i++)
		if (!(s->pcs[i] & ER_FRAME_FILE))
			return true;
	return false;
}

void stacks_keep_equal(struct stacks *st, struct er_stack *s)
{
	uint64_t raw = s->id;

	s->id = hash64(hash_words((const uint64_t *)s->pcs, (size_t)s->nkernel + s->nuser) ^
		       ((uint64_t)s->end << 48 | (uint64_t)s->flags << 32 | s->nkernel));
	if (has_address(s))
		s->id = hash64(s->id ^ s->start_time ^ (uint64_t)s->tgid << 32 ^ s->exec_id);
	make_room(st, RAW_WORDS + words_of((size_t)s->nkernel + s->nuser));
	stacks_keep(st, s);
	*map_put(&st->young.raws, raw, NULL) = s->id;
}

void stacks_keep(struct stacks *st, const struct er_stack *s)
{
	size_t nwords = words_of((size_t)s->nkernel + s->nuser);
	struct stored *new;

	st->n++;
	if (find_in(&st->young, s->id))
		return;
	make_room(st, nwords);
	new = append(&st->young, s->id, nwords);
	*new = (struct stored){ .id = s->id, .flags = s->flags, .end = s->end,
				.nkernel = s->nkernel, .nuser = s->nuser };
	convert(new, s);
	new->kernel_id = hash64(hash_words(new->pcs, s->nkernel) ^
				(s->flags & (ER_STACK_KERNEL_TRUNCATED | ER_STACK_KERNEL_FAILED)));
}

/*
 * The walk stopped below the thread's first frame. A frame pointer of 0 does not prove that the
 * first frame was reached, but then no caller is known to be missing. A stack that was cut at
 * ER_END_DEPTH has a flag of its own.
 */
static bool lacks_callers(const struct stored *s)
{
	return s->end != ER_END_NOT && s->end != ER_END_PROVEN && s->end != ER_END_FP_ZERO &&
	       s->end != ER_END_DEPTH;
}

/*
 * Write the addresses of the user frames behind the `n` kernel frames. Returns the number of all
 * frames. At a wrong frame this stops and sets *lacking.
 */
static size_t add_user(struct stacks *st, struct output *p, const struct stored *s,
		       uint64_t time_ns, uint64_t *pcs, bool *lacking)
{
	const struct image *im = output_image(p);
	bool guessed = im && is_guessed(s, im);
	size_t n = s->nkernel;

	*lacking = guessed || lacks_callers(s);
	for (; n < (size_t)s->nkernel + s->nuser; n++) {
		if (im && address_is_stale(im, s->pcs[n], time_ns)) {
			*lacking = true;
			break;
		}
		pcs[n] = output_address(st->recording, p, s->pcs[n], time_ns);
		if (guessed && !(s->pcs[n] & ER_FRAME_FILE))
			return n + 1;
	}
	return n;
}

/* Only some of the kernel frames are wanted. Nothing is missing then: the others do not call these. */
static bool is_part(const struct stored *s, const struct stack_shape *shape)
{
	return shape->nkernel && shape->nkernel < s->nkernel;
}

static size_t kernel_frames(const struct stored *s, const struct stack_shape *shape)
{
	return is_part(s, shape) ? shape->nkernel : s->nkernel;
}

/*
 * A marker for missing frames may only be at the root. If the kernel part was truncated, user
 * frames would be shown as direct callers of the wrong kernel frame, so they are left out.
 */
static size_t compose(struct stacks *st, struct output *p, const struct stored *s,
		      const struct stack_shape *shape, uint64_t root, uint64_t *pcs)
{
	uint32_t cut = ER_STACK_KERNEL_TRUNCATED, failed = ER_STACK_KERNEL_FAILED;
	bool lacking = false;
	size_t n = kernel_frames(s, shape);

	memcpy(pcs, s->pcs, n * sizeof(*pcs));
	if (is_part(s, shape))
		return n;
	if (shape->with_user && !(s->flags & (cut | failed))) {
		n = add_user(st, p, s, shape->time_ns, pcs, &lacking);
		cut |= ER_STACK_USER_TRUNCATED;
		failed |= ER_STACK_USER_FAILED;
	}
	if (s->flags & cut)
		pcs[n++] = ER_PC_TRUNCATED;
	else if (s->flags & failed || lacking || (!n && !root))
		pcs[n++] = ER_PC_UNWIND_FAILED;
	else if (root)
		pcs[n++] = root;
	return n;
}

/* The pc of a pseudo function; 0 if there is no name. A new function is written first. */
static uint64_t pseudo_pc(struct stacks *st, struct output *p, const char *name)
{
	return name ? output_pseudo_pc(st->recording, p, name) : 0;
}

/* Whether all interpreted functions of the stack have come. */
static bool has_codes(const struct stacks *st, const struct stored *s)
{
	const struct codes *codes = recording_codes(st->recording);

	for (size_t i = s->nkernel; i < (size_t)s->nkernel + s->nuser; i++)
		if (er_frame_is_code(s->pcs[i]) && !codes_has(codes, s->pcs[i]))
			return false;
	return true;
}

/* Equal for stacks that are shown alike. The stack `id` is s, or unknown. */
static uint64_t shown_id(uint64_t id, const struct stored *s, const struct output *p,
			 const struct stack_shape *shape)
{
	uint64_t whole = s ? s->id : id;

	if (s && is_part(s, shape))
		return hash64(hash_words(s->pcs, shape->nkernel));
	if (s && !shape->with_user)
		return s->kernel_id;
	return output_image(p) ? whole ^ space_age(output_image(p)->space, shape->time_ns) << 40 : whole;
}

uint32_t stacks_write(struct stacks *st, struct output *p, uint64_t id,
		      const struct stack_shape *shape)
{
	const struct stored *s = use(st, id);
	uint64_t pcs[ER_MAX_FRAMES + ENDS], whole = shown_id(id, s, p, shape);
	uint64_t leaf = pseudo_pc(st, p, shape->leaf), root = pseudo_pc(st, p, shape->root);
	uint32_t uid;
	size_t n;

	if (leaf || root)
		whole = hash64(whole ^ leaf << 32 ^ root);
	uid = output_stack_uid(p, whole);
	if (uid || !s || (shape->with_user && !has_codes(st, s)))
		return uid;
	pcs[0] = leaf;
	n = !!leaf;
	n += compose(st, p, s, shape, root, pcs + n);
	return output_stack(st->recording, p, whole, pcs, n, kernel_frames(s, shape) + !!leaf);
}
