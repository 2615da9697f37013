/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text in JSON (RFC 8259). */
#ifndef BASE_JSON_H
#define BASE_JSON_H

struct buf;

/* Append printable text, which may have newlines, without the quotes around it. */
void json_put_escaped(struct buf *b, const char *s);
/* Append any text, made printable (buf_put_printable), as a string with its quotes. NULL is "". */
void json_put_string(struct buf *b, const char *s);

#endif
