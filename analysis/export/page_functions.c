/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_functions.h"

#include <inttypes.h>

#include "analysis/base/buf.h"
#include "analysis/base/json.h"
#include "analysis/export/page_tree.h"
#include "analysis/model/session.h"
#include "analysis/model/source.h"

void put_functions(struct session *s, const struct page_tree *tree, struct buf *b)
{
	buf_puts(b, "{\"command\":\"fsummary\",\"rows\":[");
	for (size_t i = 0; i < tree->funcs.len; i++) {
		const struct func *f = s->funcs.data[tree->funcs.data[i]];

		buf_printf(b, "%s[%" PRIu64 ",\"%" PRIu32 ":0x%08" PRIx64 "\",", i ? "," : "", f->size,
			   f->obj->id, f->addr);
		json_put_string(b, func_source(s, f));
		buf_puts(b, ",");
		json_put_string(b, func_aliases(s, f));
		buf_puts(b, "]");
	}
	buf_puts(b, "]}");
}
