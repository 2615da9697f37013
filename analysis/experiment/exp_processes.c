/* SPDX-License-Identifier: GPL-2.0-or-later */
/* processes.xml: the programs that followed processes ran, and since when. */
#include "analysis/experiment/exp_threads.h"
#include "analysis/experiment/experiment_impl.h"

struct reading {
	struct experiment *e;
	uint64_t nwrong;
};

static void read_process(void *ctx, const struct xml_element *el)
{
	struct reading *r = ctx;
	struct exp_process p = {
		.pid = xml_get_int(el, "pid", -1), .begin_ns = xml_get_int(el, "begin", 0),
	};

	if (strcmp(el->name, "process"))
		return;
	if (p.pid <= 0 || p.pid > INT32_MAX || p.begin_ns < 0) {
		r->nwrong++;
		return;
	}
	p.name = exp_program_name(r->e, exp_attr(r->e, el, "command"));
	if (!*p.name)
		p.name = exp_attr(r->e, el, "comm");
	vec_push(&r->e->processes, p);
}

void processes_read(struct experiment *e, int dirfd)
{
	static const struct xml_handler handler = { .start = read_process };
	struct reading r = { .e = e };
	struct file f;

	if (!exp_file(e, dirfd, "processes.xml", &f))
		return;
	exp_parse(e, "processes.xml", &f, &handler, &r);
	file_close(&f);
	if (r.nwrong)
		diag_warn(&e->diag, "processes.xml: %llu process%s with an impossible number",
			  (unsigned long long)r.nwrong, r.nwrong == 1 ? "" : "es");
}
