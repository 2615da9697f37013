/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/space/space.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"

enum {
	MAX_MAPPINGS = 4096,   /* of one image; a large browser has some hundred */
	MAX_OF_ALL = 1 << 20,  /* 64 MB; enough for more than 10,000 similar processes */
	MAX_GENERATED = 16,    /* of one image; runtimes reserve one area for all their code */
	GENERATED_GAP = 1 << 20,
};

struct space *space_new(size_t *total)
{
	struct space *sp = xcalloc(1, sizeof(*sp));

	sp->refs = 1;
	sp->total = total;
	return sp;
}

struct space *space_share(struct space *sp)
{
	sp->refs++;
	return sp;
}

void space_put(struct space *sp)
{
	if (--sp->refs)
		return;
	*sp->total -= sp->maps.len;
	vec_free(&sp->maps);
	vec_free(&sp->old);
	vec_free(&sp->generated);
	free(sp);
}

/* The image's own space, copied if it was shared, so that it can be changed. */
static struct space *space_own(struct image *im)
{
	struct space *shared = im->space;

	if (shared->refs == 1)
		return shared;
	im->space = space_new(shared->total);
	vec_for_each(m, &shared->maps)
		vec_push(&im->space->maps, *m);
	*im->space->total += im->space->maps.len;
	vec_for_each(o, &shared->old)
		vec_push(&im->space->old, *o);
	vec_for_each(g, &shared->generated)
		vec_push(&im->space->generated, *g);
	im->space->nold = shared->nold;
	space_put(shared);
	return im->space;
}

static void tell_changed(const struct procmap_hooks *h, struct image *im)
{
	if (!im->ranges.known || im->ranges.changed)
		return;
	im->ranges.changed = true;
	if (h->changed)
		h->changed(h->ctx, im);
}

static void tell_mapped(const struct procmap_hooks *h, struct image *im, const struct mapping *m)
{
	if (im->owner && h->mapped)
		h->mapped(h->ctx, im, m);
}

static bool same_mapping(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->len == b->len && a->pgoff == b->pgoff &&
	       a->path == b->path && a->ino == b->ino;
}

static void keep_old(struct space *sp, const struct mapping *m, uint64_t until_ns)
{
	if (sp->old.len == SPACE_OLD)
		memmove(sp->old.data, sp->old.data + 1, --sp->old.len * sizeof(*sp->old.data));
	vec_push(&sp->old, (struct old_mapping){ *m, until_ns });
	sp->nold++;
}

/* The index of the first mapping that ends behind the address. */
static size_t first_behind(const struct space *sp, uint64_t addr)
{
	size_t n = vec_upto(&sp->maps, start, addr);
	const struct mapping *m = n ? &sp->maps.data[n - 1] : NULL;

	return m && addr - m->start < m->len ? n - 1 : n;
}

/* Replace the n mappings from `at` on by others. */
static void splice(struct space *sp, size_t at, size_t n, const struct mapping *by, size_t nby)
{
	size_t behind = sp->maps.len - at - n;

	vec_reserve(&sp->maps, sp->maps.len + nby);
	memmove(sp->maps.data + at + nby, sp->maps.data + at + n, behind * sizeof(*by));
	memcpy(sp->maps.data + at, by, nby * sizeof(*by));
	sp->maps.len = at + nby + behind;
	*sp->total += nby;
	*sp->total -= n;
}

/* The parts before and after `m` of the mappings that it overlays stay mapped. Returns how many. */
static size_t rests_of(const struct mapping *first, const struct mapping *last,
		       const struct mapping *m, struct mapping ret[2])
{
	uint64_t end = last->start + last->len, mend = m->start + m->len;
	size_t n = 0;

	if (first->start < m->start) {
		ret[n] = *first;
		ret[n++].len = m->start - first->start;
	}
	if (end > mend) {
		ret[n] = *last;
		ret[n].start = mend;
		ret[n].len = end - mend;
		ret[n++].pgoff = last->pgoff + (mend - last->start);
	}
	for (size_t i = 0; i < n; i++)
		ret[i].time_ns = m->time_ns;
	return n;
}

bool space_is_full(const struct space *sp)
{
	return sp->maps.len >= MAX_MAPPINGS || *sp->total >= MAX_OF_ALL;
}

/*
 * The kernel reports new mappings but no removals. A new mapping removes those it overlays. False
 * if one was cut in two and there is no room for the second part.
 */
static bool unmap_overlaid(const struct procmap_hooks *h, struct image *im, const struct mapping *m)
{
	struct space *sp = im->space;
	size_t from = first_behind(sp, m->start), to, n;
	struct mapping rests[2];
	bool lacks;

	for (to = from; to < sp->maps.len && sp->maps.data[to].start < m->start + m->len; to++) {
		const struct mapping *old = &sp->maps.data[to];

		keep_old(sp, old, m->time_ns);
		if (im->owner && h->unmapped)
			h->unmapped(h->ctx, im, old, m->time_ns);
	}
	if (to == from)
		return true;
	n = rests_of(&sp->maps.data[from], &sp->maps.data[to - 1], m, rests);
	lacks = n > to - from && space_is_full(sp);
	n -= lacks;
	splice(sp, from, to - from, rests, n);
	for (size_t i = 0; i < n; i++)
		tell_mapped(h, im, &rests[i]);
	return !lacks;
}

static const struct mapping *overlaid(const struct space *sp, const struct mapping *m)
{
	size_t at = first_behind(sp, m->start);
	const struct mapping *old = at < sp->maps.len ? &sp->maps.data[at] : NULL;

	return old && old->start < m->start + m->len ? old : NULL;
}

bool space_add(struct image *im, const struct mapping *m, const struct procmap_hooks *h)
{
	const struct mapping *old;
	bool fits;

	if (!m->len || m->start + m->len < m->start)
		return true;
	old = overlaid(im->space, m);
	if (old && same_mapping(old, m))
		return true;
	if (*im->space->total >= MAX_OF_ALL)
		return false;
	space_own(im);
	fits = unmap_overlaid(h, im, m);
	tell_changed(h, im);
	if (!fits || space_is_full(im->space))
		return false;
	splice(im->space, first_behind(im->space, m->start), 0, m, 1);
	tell_mapped(h, im, m);
	return true;
}

/* Names of executable memory without a file: "", "[heap]", "[anon:v8]", "//anon". */
static bool has_no_file(const char *path)
{
	return *path != '/' || !strcmp(path, "//anon");
}

/* Runtimes protect and unprotect their code in pieces, so pieces are joined. */
static void add_generated(struct image *im, const struct mapping *m)
{
	struct generated new = { m->start, m->start + m->len };
	struct space *sp = im->space;

	if (new.end <= new.start)
		return;
	vec_for_each(g, &sp->generated)
		if (new.start >= g->start && new.end <= g->end)
			return;
	sp = space_own(im);
	vec_for_each(g, &sp->generated) {
		if (new.start > g->end + GENERATED_GAP || g->start > new.end + GENERATED_GAP)
			continue;
		g->start = new.start < g->start ? new.start : g->start;
		g->end = new.end > g->end ? new.end : g->end;
		return;
	}
	if (sp->generated.len < MAX_GENERATED)
		vec_push(&sp->generated, new);
}

bool space_generated(const struct space *sp, uint64_t addr)
{
	vec_for_each(g, &sp->generated)
		if (addr >= g->start && addr < g->end)
			return true;
	return false;
}

bool space_clear(struct image *im, const struct mapping *m, const char *path,
		 const struct procmap_hooks *h)
{
	bool fits;

	if (has_no_file(path))
		add_generated(im, m);
	if (!overlaid(im->space, m))
		return true;
	space_own(im);
	fits = unmap_overlaid(h, im, m);
	tell_changed(h, im);
	return fits;
}

/* --- what was mapped at a time --- */

/* If nothing was ever removed, a mapping with too late a date does no harm. */
static bool is_mapped(const struct space *sp, const struct mapping *m, uint64_t time_ns)
{
	return m->time_ns <= time_ns || !sp->nold;
}

static bool was_mapped(const struct old_mapping *o, uint64_t time_ns)
{
	return o->m.time_ns <= time_ns && time_ns < o->until_ns;
}

const struct mapping *space_at(const struct space *sp, uint64_t addr, uint64_t time_ns)
{
	size_t at = first_behind(sp, addr);
	const struct mapping *m = at < sp->maps.len ? &sp->maps.data[at] : NULL;

	if (m && addr - m->start < m->len && is_mapped(sp, m, time_ns))
		return m;
	vec_for_each(o, &sp->old)
		if (addr - o->m.start < o->m.len && was_mapped(o, time_ns))
			return &o->m;
	return NULL;
}

static bool maps_offset(const struct mapping *m, uint32_t file, uint64_t offset)
{
	return m->file == file && offset - m->pgoff < m->len;
}

const struct mapping *space_file_at(const struct space *sp, uint32_t file, uint64_t offset,
				    uint64_t time_ns)
{
	const struct mapping *found = NULL;

	vec_for_each(m, &sp->maps)
		if (maps_offset(m, file, offset) && is_mapped(sp, m, time_ns) &&
		    (!found || m->time_ns > found->time_ns))
			found = m;
	vec_for_each(o, &sp->old)
		if (maps_offset(&o->m, file, offset) && was_mapped(o, time_ns) &&
		    (!found || o->m.time_ns > found->time_ns))
			found = &o->m;
	return found;
}

bool space_removed(const struct space *sp, uint32_t file, uint64_t offset, uint64_t time_ns)
{
	vec_for_each(o, &sp->old)
		if (maps_offset(&o->m, file, offset) && o->until_ns <= time_ns)
			return true;
	return false;
}

uint64_t space_age(const struct space *sp, uint64_t time_ns)
{
	uint64_t n = 2 * sp->nold; /* a removed mapping was added before: two changes */

	if (!n)
		return 0;
	vec_for_each(o, &sp->old)
		n -= (o->until_ns > time_ns) + (o->m.time_ns > time_ns);
	vec_for_each(m, &sp->maps)
		n += m->time_ns <= time_ns;
	return n;
}

bool space_wants(const char *path)
{
	static const char *const no_file[] = { "//anon", "/dev/", "/SYSV", "/anon_hugepage",
					       "/[aio]" };

	if (!strcmp(path, "[vdso]"))
		return true;
	for (size_t i = 0; i < sizeof(no_file) / sizeof(no_file[0]); i++) {
		if (!strncmp(path, no_file[i], strlen(no_file[i])))
			return false;
	}
	return *path == '/';
}
