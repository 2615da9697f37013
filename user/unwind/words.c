/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/words.h"

#include <string.h>

void words_init(struct words *w, uint32_t limit)
{
	*w = (struct words){ .limit = limit };
	vec_push(&w->free, (struct words_run){ 0, limit, 0 });
}

void words_fini(struct words *w)
{
	vec_free(&w->free);
}

static void insert(struct words *w, size_t at, struct words_run run)
{
	if (!run.n)
		return;
	vec_push(&w->free, run);
	memmove(w->free.data + at + 1, w->free.data + at,
		(w->free.len - 1 - at) * sizeof(*w->free.data));
	w->free.data[at] = run;
}

static void erase(struct words *w, size_t at)
{
	w->free.len--;
	memmove(w->free.data + at, w->free.data + at + 1,
		(w->free.len - at) * sizeof(*w->free.data));
}

static bool may_be_read(const struct words_run *r, uint64_t now_ns)
{
	return r->since_ns && r->since_ns + WORDS_GRACE_NS > now_ns;
}

/* Merge adjacent free runs. */
static void join(struct words *w, uint64_t now_ns)
{
	for (size_t i = 0; i + 1 < w->free.len;) {
		struct words_run *a = &w->free.data[i], *b = a + 1;

		if (a->first + a->n != b->first || may_be_read(a, now_ns) || may_be_read(b, now_ns)) {
			i++;
			continue;
		}
		a->n += b->n;
		a->since_ns = 0;
		erase(w, i + 1);
	}
}

bool words_take(struct words *w, uint32_t n, uint32_t align, uint64_t now_ns, uint32_t *first)
{
	join(w, now_ns);
	for (size_t i = 0; i < w->free.len; i++) {
		struct words_run r = w->free.data[i];
		uint32_t at = (r.first + align - 1) & ~(align - 1), skip = at - r.first;

		if (may_be_read(&r, now_ns) || r.n < skip || r.n - skip < n)
			continue;
		erase(w, i);
		insert(w, i, (struct words_run){ at + n, r.n - skip - n, r.since_ns });
		insert(w, i, (struct words_run){ r.first, skip, r.since_ns });
		w->used += n;
		*first = at;
		return true;
	}
	return false;
}

bool words_will_fit(const struct words *w, uint32_t n, uint32_t align)
{
	for (size_t i = 0; i < w->free.len;) {
		uint32_t first = w->free.data[i].first, end = first;

		while (i < w->free.len && w->free.data[i].first == end)
			end += w->free.data[i++].n;
		first = (first + align - 1) & ~(align - 1);
		if (end >= first && end - first >= n)
			return true;
	}
	return false;
}

void words_give(struct words *w, uint32_t first, uint32_t n, uint64_t now_ns)
{
	size_t at = vec_upto(&w->free, first, first);

	w->used -= n;
	insert(w, at, (struct words_run){ first, n, now_ns });
}
