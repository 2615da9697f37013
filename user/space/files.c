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
}

static bool is_file(const struct file_number *n, const struct mapping *m)
{
	return n->dev == m->dev && n->ino == m->ino && (m->ino || n->path == m->path);
}

uint32_t files_number(struct files *f, const struct mapping *m)
{
	uint64_t key = hash64(m->dev ^ hash64(m->ino)), *first = map_get(&f->by_inode, key);

	for (uint32_t at = first ? *first : 0; at; at = f->numbers.data[at - 1].next)
		if (is_file(&f->numbers.data[at - 1], m))
			return at;
	if (f->numbers.len + 1 >= ER_MAX_FILES)
		return 0;
	vec_push(&f->numbers, (struct file_number){ .dev = m->dev, .ino = m->ino, .path = m->path,
						    .next = first ? *first : 0 });
	*map_put(&f->by_inode, key, NULL) = f->numbers.len;
	return f->numbers.len;
}

const struct file_number *files_at(const struct files *f, uint32_t number)
{
	return &f->numbers.data[number - 1];
}
