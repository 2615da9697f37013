/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One HTML file that shows the recording in a browser, without a network. The application comes
 * first, then the index, then the events, so that the page can be used while the rest of the
 * file is still read. docs/howto-page.md describes the file.
 */
#include "analysis/export/export.h"
#include "analysis/export/outfile.h"
#include "analysis/export/page_app.h"
#include "analysis/export/page_code.h"
#include "analysis/export/page_columns.h"
#include "analysis/export/page_events.h"
#include "analysis/export/page_index.h"
#include "analysis/export/page_reports.h"

static int page_write(const struct export *x, struct outfile *out)
{
	struct page_events events;
	int rc = page_events_read(x, &events);

	if (!rc) {
		put_app(&out->buf);
		/* If a write fails, the caller reports it when it commits the file. */
		if (put_index(x, &events, out) && put_columns(&events, out) && put_reports(x, out) &&
		    put_code(x, &events.tree, out))
			buf_puts(&out->buf, "\n</body>\n</html>\n");
	}
	page_events_free(&events);
	return rc;
}

const struct exporter page_exporter = {
	.name = "page", .suffix = ".html", .write = page_write, .redacts = true,
	.help = "a page that shows everything in a web browser, without a network",
};
