/* SPDX-License-Identifier: GPL-2.0-or-later */
/* processes.xml: the programs that followed processes ran, since when, and how they ended. */
#include "analysis/experiment/exp_threads.h"
#include "analysis/experiment/experiment_impl.h"

struct reading {
	struct experiment *e;
	uint64_t nwrong;
};

static bool is_possible(int64_t pid, int64_t time_ns)
{
	return pid > 0 && pid <= INT32_MAX && time_ns >= 0;
}

static void read_process(struct reading *r, const struct xml_element *el)
{
	bool fresh;
	uint64_t *begin;
	struct exp_process p = {
		.pid = xml_get_int(el, "pid", -1), .begin_ns = xml_get_int(el, "begin", 0),
		.ppid = xml_get_int(el, "ppid", 0), .start = xml_get_int(el, "start", 0),
	};

	if (!is_possible(p.pid, p.begin_ns)) {
		r->nwrong++;
		return;
	}
	p.command = exp_attr(r->e, el, "command");
	p.name = exp_program_name(r->e, p.command);
	if (!*p.name)
		p.name = p.command = exp_attr(r->e, el, "comm");
	vec_push(&r->e->processes, p);
	if (xml_get_int(el, "named", 0) == 1)
		vec_push(&r->e->names, ((struct exp_name){ .pid = p.pid, .tid = p.pid, .start = p.start,
			.at_ns = p.begin_ns, .comm = exp_attr(r->e, el, "comm") }));
	begin = map_put(&r->e->process_begins, (uint64_t)p.pid, &fresh);
	if (fresh || p.begin_ns < (int64_t)*begin)
		*begin = (uint64_t)p.begin_ns;
}

static void read_exit(struct reading *r, const struct xml_element *el)
{
	struct exp_exit x = {
		.pid = xml_get_int(el, "pid", -1), .at_ns = xml_get_int(el, "at", -1),
		.status = xml_get_int(el, "status", 0), .start = xml_get_int(el, "start", 0),
	};

	if (!is_possible(x.pid, x.at_ns)) {
		r->nwrong++;
		return;
	}
	x.cgroup = exp_attr(r->e, el, "cgroup");
	vec_push(&r->e->exits, x);
}

static void read_element(void *ctx, const struct xml_element *el)
{
	if (!strcmp(el->name, "process"))
		read_process(ctx, el);
	else if (!strcmp(el->name, "exit"))
		read_exit(ctx, el);
}

void processes_read(struct experiment *e, int dirfd)
{
	static const struct xml_handler handler = { .start = read_element };
	struct reading r = { .e = e };
	struct file f;

	if (!exp_text(e, dirfd, "processes.xml", &f))
		return;
	exp_parse(e, "processes.xml", &f, &handler, &r);
	file_close(&f);
	if (r.nwrong)
		diag_warn(&e->diag, "processes.xml: %llu process%s with an impossible number",
			  (unsigned long long)r.nwrong, r.nwrong == 1 ? "" : "es");
}
