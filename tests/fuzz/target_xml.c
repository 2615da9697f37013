/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The XML dialect: the parser alone, and the files log.xml, map.xml, recorder.xml and
 * threads.xml of an experiment.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "analysis/base/diag.h"
#include "analysis/experiment/experiment.h"
#include "analysis/experiment/xml.h"
#include "tests/fuzz/pack.h"
#include "tests/fuzz/report.h"

static char *dir;
static volatile uint64_t sink;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	dir = pack_path();
	report_quietly();
	return 0;
}

static void on_start(void *ctx, const struct xml_element *e)
{
	for (size_t i = 0; i < e->nattrs; i++) {
		const char *name = e->attrs[i].name;

		sink += xml_get_int(e, name, 1) + xml_get_hex(e, name, 2) + xml_get_time(e, name, 3);
		sink += strlen(e->attrs[i].value);
	}
}

static void on_text(void *ctx, const char *text)
{
	sink += strlen(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "log.xml", "map.xml", "recorder.xml", "threads.xml" };
	const struct xml_handler handler = { .start = on_start, .text = on_text, .end = on_text };
	struct diag d = { 0 };
	struct experiment *e;
	struct buf b = { 0 };
	size_t line;

	xml_parse(data, size, &handler, NULL, &line);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		pack_add(&b, names[i], data, size);
	pack_write(dir, b.data, b.len);
	e = experiment_open(dir, &d);
	experiment_close(e);
	diag_free(&d);
	buf_free(&b);
	return 0;
}
