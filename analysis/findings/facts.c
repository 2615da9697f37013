/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/findings/facts.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/mstate.h"
#include "analysis/findings/rules.h"
#include "analysis/metrics/hit.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

/* The number of packets of a thread, to see whether the filter kept all of them. */
struct fact_thread {
	uint32_t program; /* of its first packet */
	uint32_t current; /* of its last packet */
	const char *name; /* of `current` */
	struct kind_memo memo;
	uint64_t kept, all;
};

static const char recorder[] = "<Recording>";

static uint32_t program_of(struct facts *f, const char *name, bool kernel)
{
	uint32_t key = wait_text_key(&f->w, name);
	bool fresh;
	uint64_t *index = map_put(&f->by_name, key, &fresh);

	if (fresh) {
		*index = f->programs.len;
		vec_push(&f->programs, (struct program){ .name = wait_key_text(&f->w, key),
							 .kernel = kernel });
	}
	return *index;
}

static const char *program_name(const struct facts *f, const struct hit *h, struct kind_memo *m)
{
	int64_t pid = hit_pid(h), tid = hit_thread(h), time = hit_time(h);

	if (!kind_memo_holds(m, h->e, pid, tid, time))
		kind_memo_ask(m, f->w.names, h->e, pid, tid, time);
	return m->kind.process ? m->kind.process : m->kind.comm ? m->kind.comm : "(unknown)";
}

static void add_pid(struct program *p, int64_t pid)
{
	for (size_t i = 0; i < p->npids && i < PROGRAM_PIDS; i++) {
		if (p->pids[i] == pid)
			return;
	}
	if (p->npids < PROGRAM_PIDS)
		p->pids[p->npids] = pid;
	p->npids += p->npids <= PROGRAM_PIDS;
}

static uint64_t thread_key(const struct hit *h)
{
	return (uint64_t)hit_origin(h)->id << 32 | (uint32_t)hit_thread(h);
}

/* The program of a packet's thread; counts the packet. */
static uint32_t count_packet(struct facts *f, const struct hit *h)
{
	struct fact_thread *th;
	const char *name;
	bool fresh;
	uint64_t *index = map_put(&f->by_thread, thread_key(h), &fresh);

	if (fresh) {
		*index = f->threads.len;
		vec_push(&f->threads, (struct fact_thread){ 0 });
	}
	th = &f->threads.data[*index];
	name = program_name(f, h, &th->memo);
	/* The session keeps names, so a thread's program has changed only if the pointer has. */
	if (th->name != name)
		th->current = program_of(f, th->name = name, !hit_pid(h));
	if (fresh) {
		th->program = th->current;
		add_pid(&f->programs.data[th->program], hit_pid(h));
	}
	th->kept++;
	return th->current;
}

/* With a filter: what the packets say that it removes. */
static void add_unfiltered(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct facts *f = ctx;
	const uint64_t *index = map_get(&f->by_thread, thread_key(h));

	if (index && hit_state(h) >= 0)
		f->threads.data[*index].all++;
	if (f->messages.len)
		timelines_add(&f->lines, h);
}

enum holdup facts_holdup(struct facts *f, const struct hit *h)
{
	enum holdup holdup = holdup_of(hit_state(h), hit_reason(h));
	uint32_t path;

	/* A kernel thread waits because its work requires it, so nothing holds it up. */
	if (!hit_pid(h) && holdup > HOLDUP_STOLEN)
		return HOLDUP_NONE;
	if (holdup != HOLDUP_LOCK)
		return holdup;
	path = wait_path(&f->w.paths, h->stack);
	if (lock_set_known(&f->locks, lock_set_id(&f->locks, h)))
		return HOLDUP_LOCK;
	switch (wait_path_role(&f->w.paths, path)) {
	case LOCK_LOCK: return HOLDUP_LOCK;
	case LOCK_EVENT: return HOLDUP_NONE;
	default: return wait_holder(h) ? HOLDUP_LOCK : HOLDUP_NONE;
	}
}

static void add_run(struct facts *f, uint32_t program, const struct hit *h)
{
	struct program *all = &f->programs.data[0], *p = &f->programs.data[program];
	int64_t ns = hit_weight(h);
	double square = (double)ns * (double)ns;

	while (f->stacks.len <= h->stack)
		vec_push(&f->stacks, (struct stack_time){ 0 });
	add_to(&f->stacks.data[h->stack].ns, ns);
	f->stacks.data[h->stack].squares += square;
	f->run_squares += square;
	add_to(&p->run_ns, ns);
	add_to(&all->run_ns, ns);
}

static void add_to_sum(struct facts *f, const struct hit *h, enum holdup holdup, uint32_t program, enum fact_by by,
		       uint32_t value)
{
	uint32_t key[WAIT_KEYS] = { [FACT_HOLDUP] = holdup, [FACT_PROGRAM] = program, [FACT_BY] = by,
				    [FACT_VALUE] = value };

	wait_stat_add(wait_bag_at(&f->w.bag, key), h, (struct wait_count){ 0 });
}

static void add_cgroup(struct facts *f, const struct hit *h, enum holdup holdup, uint32_t program)
{
	const char *cgroup = names_cgroup_at(f->w.names, h->e, hit_thread(h), hit_time(h));

	add_to_sum(f, h, holdup, program, BY_CGROUP, wait_text_key(&f->w, cgroup ? cgroup : ""));
}

static void add_holdup(struct facts *f, uint32_t program, enum holdup holdup, const struct hit *h)
{
	uint32_t holder = wait_text_key(&f->w, "");
	struct wait_count none = { 0 };

	if (wait_holder(h) && !(hit_wait_flags(h) & WFLAG_REST))
		holder = wait_thread_key(&f->w, h, hit_holder_pid(h), wait_holder(h));
	else if (holdup == HOLDUP_CPU && hit_holder(h))
		holder = wait_text_key(&f->w, WAIT_UNSEEN);
	add_to_sum(f, h, holdup, program, BY_HOLDER, holder);
	add_to_sum(f, h, holdup, program, BY_PATH, wait_path(&f->w.paths, h->stack));
	if (holdup == HOLDUP_LOCK)
		add_to_sum(f, h, holdup, program, BY_LOCK, lock_set_id(&f->locks, h));
	if (holdup == HOLDUP_QUOTA)
		add_cgroup(f, h, holdup, program);
	wait_stat_add(&f->programs.data[program].held[holdup], h, none);
	wait_stat_add(&f->programs.data[0].held[holdup], h, none);
}

static void add_hit(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct facts *f = ctx;
	int64_t state = hit_state(h);
	enum holdup holdup;
	uint32_t program;

	if (state < 0 || state >= MS_COUNT)
		return;
	add_message_wait(&f->messages, h);
	if (!f->w.v->filter)
		timelines_add(&f->lines, h);
	program = count_packet(f, h);
	f->first_ns = hit_time(h) < f->first_ns ? hit_time(h) : f->first_ns;
	f->last_ns = hit_time(h) > f->last_ns ? hit_time(h) : f->last_ns;
	if (!strcmp(f->programs.data[program].name, recorder))
		return;
	if (mstate_descs[state].on_cpu) {
		add_run(f, program, h);
		return;
	}
	add_to(&f->programs.data[program].wait_ns, hit_weight(h));
	add_to(&f->programs.data[0].wait_ns, hit_weight(h));
	holdup = facts_holdup(f, h);
	if (holdup)
		add_holdup(f, program, holdup, h);
}

static void add_busy(struct program *p)
{
	p->busy_ns = p->run_ns;
	for (int i = 0; i < HOLDUPS; i++)
		add_to(&p->busy_ns, p->held[i].time_ns);
}

void facts_init(struct facts *f, struct view_state *v, struct table *t)
{
	*f = (struct facts){ .locks.session = v->session, .first_ns = INT64_MAX,
			      .last_ns = INT64_MIN };
	wait_report_init(&f->w, v, t);
	f->w.bag.ngroups = 0;
	f->w.bag.by_difference = false;
	vec_push(&f->programs, (struct program){ .name = "all programs" });
	pass_run(v->session, NULL, v->filter, add_hit, NULL, f);
	if (v->filter)
		pass_run(v->session, NULL, NULL, add_unfiltered, NULL, f);
	timelines_sort(&f->lines);
	wait_groups_init(&f->holdups, &f->w.bag, FACT_KEYS);
	vec_for_each(th, &f->threads) {
		if (th->all > th->kept)
			f->programs.data[th->program].cut = f->programs.data[0].cut = true;
	}
	vec_for_each(p, &f->programs)
		add_busy(p);
	f->duration_ns = f->last_ns > f->first_ns ? wrap_minus(f->last_ns, f->first_ns) : 0;
}

void facts_free(struct facts *f)
{
	wait_groups_free(&f->holdups);
	/* Without columns wait_report_end adds no notes. */
	wait_report_end(&f->w);
	lock_set_free(&f->locks);
	vec_free(&f->programs);
	map_free(&f->by_name);
	vec_free(&f->stacks);
	vec_free(&f->threads);
	vec_free(&f->messages);
	timelines_free(&f->lines);
	map_free(&f->by_thread);
}

const struct program *facts_all(const struct facts *f)
{
	return &f->programs.data[0];
}

bool program_put_pids(const struct program *p, struct buf *b)
{
	if (!p->npids || p->npids > PROGRAM_PIDS || p->kernel)
		return false;
	for (size_t i = 0; i < p->npids; i++)
		buf_printf(b, "%s%" PRId64, i ? "," : "", p->pids[i]);
	return true;
}
