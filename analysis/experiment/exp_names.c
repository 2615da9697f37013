/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names.xml: the names of threads, and since when each was in use. */
#include "analysis/experiment/exp_threads.h"
#include "analysis/experiment/experiment_impl.h"

struct reading {
	struct experiment *e;
	uint64_t nwrong;
};

static void read_name(void *ctx, const struct xml_element *el)
{
	struct reading *r = ctx;
	struct exp_name n = {
		.pid = xml_get_int(el, "pid", -1), .tid = xml_get_int(el, "tid", -1),
		.at_ns = xml_get_int(el, "at", -1), .start = xml_get_int(el, "start", 0),
	};

	if (strcmp(el->name, "name"))
		return;
	if (!exp_is_id(n.pid) || !exp_is_id(n.tid) || n.at_ns < 0) {
		r->nwrong++;
		return;
	}
	n.comm = exp_attr(r->e, el, "comm");
	vec_push(&r->e->names, n);
}

void names_read(struct experiment *e, int dirfd)
{
	static const struct xml_handler handler = { .start = read_name };
	struct reading r = { .e = e };
	struct file f;

	if (!exp_text(e, dirfd, "names.xml", &f))
		return;
	exp_parse(e, "names.xml", &f, &handler, &r);
	file_close(&f);
	if (r.nwrong)
		diag_warn(&e->diag, "names.xml: %llu name%s with an impossible number",
			  (unsigned long long)r.nwrong, r.nwrong == 1 ? "" : "s");
}
