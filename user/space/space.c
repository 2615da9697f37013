/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/space/space.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"

enum {
	MAX_MAPPINGS = 16384,  /* of one image */
	MAX_OF_ALL = 1 << 20,  /* 64 MB; enough for more than 10,000 similar processes */
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
	free(sp);
}

static void push(struct space *sp, const struct mapping *m)
{
	vec_push(&sp->maps, *m);
	++*sp->total;
}

/* The image's own space, copied if it was shared, so that it can be changed. */
static struct space *space_own(struct image *im)
{
	struct space *shared = im->space;

	if (shared->refs == 1)
		return shared;
	im->space = space_new(shared->total);
	vec_for_each(m, &shared->maps)
		push(im->space, m);
	vec_for_each(o, &shared->old)
		vec_push(&im->space->old, *o);
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

/* The parts of `old` before and after a new mapping stay mapped. */
static void keep_rest(const struct procmap_hooks *h, struct image *im, const struct mapping *old,
		      const struct mapping *m)
{
	uint64_t end = old->start + old->len, mend = m->start + m->len;
	struct mapping rest = *old;

	rest.time_ns = m->time_ns;
	if (old->start < m->start) {
		rest.len = m->start - old->start;
		push(im->space, &rest);
		tell_mapped(h, im, &rest);
	}
	if (end > mend) {
		rest.start = mend;
		rest.len = end - mend;
		rest.pgoff = old->pgoff + (mend - old->start);
		push(im->space, &rest);
		tell_mapped(h, im, &rest);
	}
}

static void keep_old(struct space *sp, const struct mapping *m, uint64_t until_ns)
{
	if (sp->old.len == SPACE_OLD)
		memmove(sp->old.data, sp->old.data + 1, --sp->old.len * sizeof(*sp->old.data));
	vec_push(&sp->old, (struct old_mapping){ *m, until_ns });
	sp->nold++;
}

/* The kernel reports new mappings but no removals. A new mapping removes those it overlays. */
static void unmap_overlaid(const struct procmap_hooks *h, struct image *im, const struct mapping *m)
{
	struct space *sp = im->space;

	for (size_t i = 0; i < sp->maps.len;) {
		struct mapping old = sp->maps.data[i];

		if (old.start >= m->start + m->len || m->start >= old.start + old.len) {
			i++;
			continue;
		}
		sp->maps.data[i] = sp->maps.data[--sp->maps.len];
		--*sp->total;
		keep_old(sp, &old, m->time_ns);
		if (im->owner && h->unmapped)
			h->unmapped(h->ctx, im, &old, m->time_ns);
		/* The remaining parts do not overlap m, so visiting them again is harmless. */
		keep_rest(h, im, &old, m);
	}
}

bool space_add(struct image *im, const struct mapping *m, const struct procmap_hooks *h)
{
	if (!m->len || m->start + m->len < m->start)
		return true;
	vec_for_each(old, &im->space->maps) {
		if (same_mapping(old, m))
			return true;
	}
	if (*im->space->total >= MAX_OF_ALL)
		return false;
	space_own(im);
	unmap_overlaid(h, im, m);
	tell_changed(h, im);
	if (im->space->maps.len >= MAX_MAPPINGS)
		return false;
	push(im->space, m);
	tell_mapped(h, im, m);
	return true;
}

void space_clear(struct image *im, const struct mapping *m, const struct procmap_hooks *h)
{
	vec_for_each(old, &im->space->maps) {
		if (old->start < m->start + m->len && m->start < old->start + old->len) {
			space_own(im);
			unmap_overlaid(h, im, m);
			tell_changed(h, im);
			return;
		}
	}
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
	vec_for_each(m, &sp->maps)
		if (addr - m->start < m->len && is_mapped(sp, m, time_ns))
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
