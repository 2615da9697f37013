/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_subjects.h"

#include <inttypes.h>

#include "analysis/base/buf.h"
#include "analysis/base/json.h"
#include "analysis/experiment/exp_io.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/property.h"
#include "analysis/model/dataobj.h"
#include "analysis/views/index.h"

static struct subject find(const struct hit *h)
{
	struct subject ret = { 0 };
	uint64_t offset;

	if (h->stream->kind == ER_PKT_MHWC) {
		ret.data = hit_data_object(h, &offset);
		ret.part = ret.data && ret.data->obj ? (int64_t)offset : -1;
	} else if (h->stream->kind == ER_PKT_IO) {
		ret.files = h->e;
		ret.part = experiment_io_file(h->e, h->packet);
	}
	return ret;
}

uint32_t subject_of(struct subjects *s, const struct hit *h)
{
	struct subject wanted = find(h);
	uint64_t hash = hash64((uintptr_t)wanted.data ^
			       hash64((uintptr_t)wanted.files + (uint64_t)wanted.part));
	struct intern_probe probe = intern_probe(hash);
	uint32_t id1;

	if (!wanted.data && !wanted.files)
		return 0;
	while ((id1 = intern_next(&s->ids, &probe))) {
		const struct subject *k = &s->all.data[id1 - 1];

		if (k->data == wanted.data && k->files == wanted.files && k->part == wanted.part)
			return id1;
	}
	vec_push(&s->all, wanted);
	return 1 + intern_add(&s->ids, hash);
}

void put_subjects(const struct subjects *s, struct buf *b)
{
	struct buf name = { 0 };

	buf_puts(b, "[");
	for (size_t i = 0; i < s->all.len; i++) {
		const struct subject *k = &s->all.data[i];

		buf_puts(b, i ? ",[" : "[");
		buf_clear(&name);
		if (k->data) {
			data_put_label(k->data, &name);
			json_put_string(b, name.data);
			buf_printf(b, ",%" PRId64 ",%" PRIu32 "]", k->part, k->data->id);
			continue;
		}
		file_put_label(k->files, k->part, &name);
		json_put_string(b, k->files->io_files.data[k->part].name);
		buf_puts(b, ",");
		json_put_string(b, name.data);
		buf_puts(b, "]");
	}
	buf_puts(b, "]");
	buf_free(&name);
}

void subjects_free(struct subjects *s)
{
	vec_free(&s->all);
	intern_free(&s->ids);
}
