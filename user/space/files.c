/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/space/files.h"

#include <string.h>

#include <linux/types.h>

#include "bpf/frame.h"
#include "user/space/procmap.h"

void files_free(struct files *f)
{
	map_free(&f->by_inode);
	vec_free(&f->numbers);
	vec_free(&f->gone);
	vec_free(&f->free);
}

static struct file_number *at(const struct files *f, uint32_t number)
{
	return &f->numbers.data[number - 1];
}

const struct file_number *files_at(const struct files *f, uint32_t number)
{
	return at(f, number);
}

size_t files_in_use(const struct files *f)
{
	return f->numbers.len - f->gone.len - f->free.len;
}

static uint64_t hash_of(uint64_t dev, uint64_t ino)
{
	return hash64(dev ^ hash64(ino));
}

static bool is_file(const struct file_number *n, const struct mapping *m)
{
	return n->dev == m->dev && n->ino == m->ino && (m->ino || n->path == m->path);
}

/* A number for a new file; 0: there is none. */
static uint32_t take_number(struct files *f)
{
	if (f->free.len)
		return f->free.data[--f->free.len];
	if (f->numbers.len + 1 >= ER_MAX_FILES)
		return 0;
	vec_push(&f->numbers, (struct file_number){ 0 });
	return f->numbers.len;
}

uint32_t files_number(struct files *f, const struct mapping *m)
{
	uint64_t key = hash_of(m->dev, m->ino), *first = map_get(&f->by_inode, key);
	uint32_t number;

	for (number = first ? *first : 0; number; number = at(f, number)->next)
		if (is_file(at(f, number), m))
			return number;
	number = take_number(f);
	if (!number)
		return 0;
	*at(f, number) = (struct file_number){ .dev = m->dev, .ino = m->ino, .path = m->path,
					       .next = first ? *first : 0, .seen = f->looks };
	*map_put(&f->by_inode, key, NULL) = number;
	return number;
}

/* --- letting go --- */

bool files_grew(const struct files *f)
{
	/* Numbers that are let go come back only with the next segment. */
	if (!f->free.len && f->numbers.len > ER_MAX_FILES / 2)
		return false;
	return files_in_use(f) >= f->nkept + FILES_MORE;
}

void files_look(struct files *f)
{
	f->looks++;
}

void files_see(struct files *f, uint32_t number)
{
	if (number)
		at(f, number)->seen = f->looks;
}

/* The file's inode belongs to no number any more. */
static void unlink_number(struct files *f, uint32_t number)
{
	struct file_number *n = at(f, number);
	uint64_t key = hash_of(n->dev, n->ino), *first = map_get(&f->by_inode, key);
	uint32_t before;

	if (*first != number) {
		for (before = *first; at(f, before)->next != number;)
			before = at(f, before)->next;
		at(f, before)->next = n->next;
	} else if (n->next) {
		*first = n->next;
	} else {
		map_remove(&f->by_inode, key);
	}
}

struct unmapped {
	uint64_t seen;
	uint32_t number;
};

static int by_seen(const void *pa, const void *pb)
{
	const struct unmapped *a = pa, *b = pb;

	if (a->seen != b->seen)
		return a->seen < b->seen ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

void files_trim(struct files *f, bool (*fn)(void *ctx, uint32_t number), void *ctx)
{
	VEC(struct unmapped) unmapped = { 0 };

	for (uint32_t i = 1; i <= f->numbers.len; i++) {
		const struct file_number *n = at(f, i);

		if (n->path && !n->gone && n->seen != f->looks)
			vec_push(&unmapped, (struct unmapped){ n->seen, i });
	}
	vec_sort(&unmapped, by_seen);
	for (size_t i = 0; i + FILES_UNMAPPED < unmapped.len; i++) {
		uint32_t number = unmapped.data[i].number;

		if (!fn(ctx, number))
			continue;
		unlink_number(f, number);
		at(f, number)->gone = true;
		vec_push(&f->gone, number);
	}
	vec_free(&unmapped);
	f->nkept = files_in_use(f);
}

size_t files_reuse(struct files *f, bool (*fn)(void *ctx, uint32_t number), void *ctx)
{
	size_t n = 0;

	for (size_t i = 0; i < f->gone.len; i++) {
		uint32_t number = f->gone.data[i];

		if (fn && !fn(ctx, number)) {
			f->gone.data[n++] = number;
			continue;
		}
		*at(f, number) = (struct file_number){ 0 };
		vec_push(&f->free, number);
	}
	return f->gone.len = n;
}
