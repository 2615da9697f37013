/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_app.h"

#include "analysis/base/buf.h"
#include "analysis/export/page_app.inc"
#include "analysis/export/page_pack.h"

static void put_hash(struct buf *b, const char *directive, const unsigned char *sha, size_t n)
{
	buf_printf(b, "; %s 'sha256-", directive);
	put_base64(b, sha, n);
	buf_puts(b, "'");
}

/* Workers are made from the script itself, as blobs. Nothing can be loaded or sent. */
static void put_policy(struct buf *b)
{
	buf_puts(b, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'");
	put_hash(b, "script-src", page_script_sha, sizeof(page_script_sha));
	put_hash(b, "style-src", page_style_sha, sizeof(page_style_sha));
	buf_puts(b, "; worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'\">\n");
}

void put_app(struct buf *b)
{
	buf_puts(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	put_policy(b);
	buf_puts(b, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		    "<title>Recording</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>");
	buf_add(b, page_style, sizeof(page_style));
	buf_puts(b, "</style>\n</head>\n<body>\n");
	buf_add(b, page_body, sizeof(page_body));
	buf_puts(b, "<script>");
	buf_add(b, page_script, sizeof(page_script));
	buf_puts(b, "</script>");
}
