/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/inlined.h"

#include "analysis/base/buf.h"

enum { INLINED_MAX = 64 };

void put_inlined(struct buf *b, struct session *s, const struct func *f, uint64_t offset)
{
	struct inlined_at calls[INLINED_MAX];
	size_t n = func_inlined(s, f, offset, calls, INLINED_MAX);
	struct srcline at;

	if (n > INLINED_MAX)
		n = INLINED_MAX;
	for (size_t i = 0; i < n; i++) {
		buf_printf(b, " <-- %s", calls[i].name ? calls[i].name : "?");
		if (i + 1 < n)
			at = calls[i + 1].call;
		else if (!func_written(s, f, offset, &at))
			return;
		if (at.file)
			buf_printf(b, " %s:%u", base_name(at.file), at.line);
	}
}
