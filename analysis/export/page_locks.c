/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_locks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/buf.h"
#include "analysis/base/json.h"
#include "analysis/export/page_events.h"
#include "analysis/export/page_pack.h"
#include "analysis/metrics/waitcount.h"
#include "analysis/model/names.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"
#include "analysis/views/waitrows.h"

/* Elements: process, PID, address (empty: unknown; "-": of locks with a known taker), name, whether it is a runtime's lock. */
static void put_lock_list(struct view_state *v, struct page_events *events, struct buf *b)
{
	const struct names *names = session_names(v->session);
	struct lock_set *set = &events->locks;

	for (size_t i = 0; i < set->all.len; i++) {
		const struct user_lock *l = &set->all.data[i];
		const char *process = names_process(names, l->e, l->pid);

		buf_puts(b, i ? ",[" : "[");
		json_put_string(b, process ? process : "(unknown)");
		buf_printf(b, ",%" PRId64 ",\"", l->pid);
		if (l->address)
			buf_printf(b, "0x%" PRIx64, l->address);
		else if (l->taker)
			buf_puts(b, "-");
		buf_puts(b, "\",");
		json_put_string(b, lock_set_name(set, i));
		buf_printf(b, ",%d]", lock_set_known(set, i));
	}
}

/* Elements of factors: the members of struct wait_factors. Elements of usual: for each thread, those of its states. */
static void put_factors(const struct page_events *events, struct pack *p)
{
	struct buf *b = &p->bytes;

	pack_begin(p, "fctr");
	buf_puts(b, "{\"factors\":[");
	for (size_t i = 0; i < events->factors.len; i++) {
		struct wait_factors f = wait_factors_at(events->wait_counts, events->factors.data[i]);

		buf_printf(b, "%s[%.17g,%.17g,%.17g,%.17g,%" PRIu32 ",%d,%d]", i ? "," : "", f.waits, f.ratios,
			   f.all_waits, f.all_ns, f.estimates, f.unscaled, f.unseen);
	}
	buf_puts(b, "],\"usual\":[");
	for (size_t i = 0; i < events->threads.len * MS_COUNT; i++)
		buf_printf(b, "%s%" PRIu32, i ? "," : "", events->threads.data[i / MS_COUNT].factor[i % MS_COUNT]);
	buf_puts(b, "]}");
	pack_end(p);
}

/* Elements: text, function that took the lock (empty: unknown), kind of lock. */
static void put_stack(struct wait_report *w, uint32_t path, struct buf *b)
{
	const struct func *taker = wait_path_taker(&w->paths, path);
	enum er_lock kind = wait_path_lock_kind(&w->paths, path);

	buf_puts(b, path ? ",[" : "[");
	json_put_string(b, wait_path_text(w, path));
	buf_puts(b, ",");
	json_put_string(b, taker ? func_name(w->v, taker) : "");
	buf_puts(b, ",");
	json_put_string(b, kind ? lock_descs[kind].uname : "");
	buf_puts(b, "]");
}

void put_locks(struct view_state *v, struct page_events *events, struct pack *ret)
{
	struct table t = { 0 };
	struct wait_report w;
	uint32_t nstacks;
	size_t n = 0;

	put_factors(events, ret);
	wait_report_init(&w, v, &t);
	if (events->locks.all.len) {
		pack_begin(ret, "lock");
		buf_puts(&ret->bytes, "{\"locks\":[");
		put_lock_list(v, events, &ret->bytes);
		/* That of no stack is the first. */
		nstacks = 1 + wait_path(&w.paths, session_no_stack(v->session));
		buf_puts(&ret->bytes, "],\"of\":{");
		for (size_t i = 0; i < events->paths.len; i++) {
			const struct page_path *of = &events->paths.data[i];
			uint32_t path = of->of_lock ? wait_path(&w.paths, of->stack) : 0;

			if (of->of_lock)
				buf_printf(&ret->bytes, "%s\"%zu\":%" PRIu32, n++ ? "," : "", i,
					   path);
			nstacks = path >= nstacks ? path + 1 : nstacks;
		}
		buf_puts(&ret->bytes, "},\"stacks\":[");
		for (uint32_t path = 0; path < nstacks; path++)
			put_stack(&w, path, &ret->bytes);
		buf_puts(&ret->bytes, "]}");
		pack_end(ret);
	}
	wait_report_end(&w);
	table_free(&t);
}
