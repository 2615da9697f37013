/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/json.h"

#include <string.h>

#include "analysis/base/buf.h"

void json_put_escaped(struct buf *b, const char *s)
{
	for (size_t n; *s; s += n) {
		n = strcspn(s, "\"\\\n");
		buf_add(b, s, n);
		if (s[n])
			buf_printf(b, "\\%c", s[n] == '\n' ? 'n' : s[n]);
		n += s[n] != '\0';
	}
}

void json_put_string(struct buf *b, const char *s)
{
	struct buf text = { 0 };

	buf_put_printable(&text, s ? s : "");
	buf_puts(b, "\"");
	json_put_escaped(b, text.data ? text.data : "");
	buf_puts(b, "\"");
	buf_free(&text);
}
