/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/jit_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "user/jit/runtime.h"
#include "user/jit/snapshot.h"
#include "user/jit/table.h"
#include "user/space/opener.h"
#include "user/space/procmap.h"
#include "user/unwind/worker.h"

enum {
	ASK_NS = 100000000,    /* between questions */
	RETRY_NS = 1000000000, /* after one that failed */
	VERIFY_NS = 500000000, /* between questions about functions that are known */
	COST_SHARE = 100,      /* between questions is at least so many times their CPU time, */
	WAIT_SHARE = 50,       /* and so many times what was waited for the opener: its patience is bounded */
	CREDIT_NS = 100000000, /* of these costs a VM has so much at once: it is new, and so are its methods */
	UNIT_NS = 2000,        /* to copy a unit; measured, where nothing else ran: 1500 */
	PAUSE_MAX_NS = 2000000000,
	VERIFY = HOTSPOT_PCS / 4, /* known functions in a question */
	SCOPES = HOTSPOT_PCS / 4, /* functions in a question whose scopes are asked for */
	TRIES = 3,
	UNKNOWN_MAX = 1 << 16,
};

static uint64_t clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * UINT64_C(1000000000) + t.tv_nsec;
}

void jit_memory_init(struct jit_memory *m)
{
	*m = (struct jit_memory){ .fd = -1 };
}

static void close_question(struct jit_memory *m)
{
	closep(&m->fd);
	m->fd = -1;
}

void jit_memory_free(struct jit_memory *m)
{
	close_question(m);
	vec_free(&m->unknown);
	free(m->known);
}

void jit_memory_mention(struct jit_memory *m, uint64_t pc, bool fresh)
{
	m->mentioned = true;
	if (fresh && !m->err && m->unknown.len < UNKNOWN_MAX)
		vec_push(&m->unknown, (struct jit_unknown){ .pc = pc });
}

/* --- a question --- */

/* Functions that stacks mention, in turns. */
static void add_known(struct jit_memory *m, const struct jit_table *t, struct hotspot_question *q)
{
	size_t at = vec_upto(&t->functions, start, m->verified);

	for (uint32_t n = 0; at < t->functions.len && n < VERIFY; at++) {
		if (t->functions.data[at].written) {
			q->pcs[q->npcs++] = t->functions.data[at].start;
			n++;
		}
	}
	m->verified = at < t->functions.len ? t->functions.data[at - 1].start : 0;
}

/* Addresses that are not known yet, and the first functions whose scopes are not. */
static void add_unknown(struct jit_memory *m, struct jit_table *t, struct hotspot_question *q)
{
	size_t nscopes = 0;

	for (m->nasked = 0; m->nasked < m->unknown.len && q->npcs < HOTSPOT_PCS; m->nasked++) {
		struct jit_unknown *u = &m->unknown.data[m->nasked];
		const struct jit_function *f = jit_table_find(t, u->pc);

		u->scopes = !m->no_scopes && !(f && f->scoped) && nscopes < SCOPES;
		nscopes += u->scopes;
		q->scopes[q->npcs] = u->scopes;
		q->pcs[q->npcs++] = u->pc;
	}
	if (m->known)
		memcpy(q->known, m->known, sizeof(q->known));
}

static int open_question(struct jit_memory *m, const struct hotspot_question *q)
{
	m->fd = memfd_create("memory", MFD_CLOEXEC);
	if (m->fd < 0 || pwrite(m->fd, q, sizeof(*q), 0) != sizeof(*q))
		return -errno;
	m->size = sizeof(*q);
	m->rounds = 0;
	m->cost_ns = m->waited_ns = 0;
	return 0;
}

bool jit_memory_ask(struct jit_memory *m, const struct image *im, struct jit_table *t, uint64_t now_ns,
		    bool last, bool names)
{
	__cleanup(freep) struct hotspot_question *q = NULL;
	bool due = last ? !m->failed : now_ns >= m->due_ns;

	if (!names && (m->has_vm || m->failed))
		return false;
	if (m->err || !(m->mentioned || (m->wants_vm && !m->has_vm)) || !due || im->end_ns)
		return false;
	q = xcalloc(1, sizeof(*q));
	q->layout = m->layout;
	q->library = runtime_java(im);
	if (!q->library)
		return false;
	if (names && now_ns >= m->verify_ns) {
		add_known(m, t, q);
		m->verify_ns = now_ns + VERIFY_NS;
	}
	m->nasked = 0;
	if (names)
		add_unknown(m, t, q);
	if (names && !q->npcs && (m->has_vm || !m->wants_vm))
		return false;
	m->mentioned = m->nasked < m->unknown.len;
	m->due_ns = now_ns + RETRY_NS;
	m->err = open_question(m, q);
	if (m->err)
		close_question(m);
	return !m->err;
}

/* --- its answer --- */

/* The name of an entry; NULL: it is not sound. */
static const char *name_of(const struct unwind_names *names, const struct jit_entry *e)
{
	bool sound = e->name <= names->nnames && e->name_len <= names->nnames - e->name;

	return sound ? names->names + e->name : NULL;
}

/* Returns how many units are wanted. */
static size_t take_notes(struct jit_memory *m, const struct unwind_names *names, uint64_t *wanted)
{
	size_t n = 0;

	for (size_t i = 0; i < names->n; i++) {
		struct jit_entry e = names->entries[i];
		const char *name = name_of(names, &e);

		if (e.kind == JIT_LAYOUT && name)
			hotspot_layout_take(name, e.name_len, &m->layout);
		else if (e.kind == JIT_VM && name && hotspot_vm_take(name, e.name_len, &m->vm))
			m->has_vm = true;
		else if (e.kind == JIT_WANTED && n < MEMORY_UNITS_MAX)
			wanted[n++] = e.start;
	}
	return n;
}

static int copy_wanted(struct jit_memory *m, pid_t pid, const uint64_t *wanted, size_t n)
{
	off_t at = m->size;
	uint64_t from = clock_now();
	int err = memory_want(m->fd, at, wanted, n);

	if (err)
		return err;
	m->size += n * sizeof(struct memory_unit);
	err = opener_memory(pid, m->fd, at, n);
	m->cost_ns += n * UNIT_NS;
	m->waited_ns += clock_now() - from;
	return err;
}

static bool may_grow(const struct jit_memory *m, size_t n)
{
	size_t units = (m->size - sizeof(struct hotspot_question)) / sizeof(struct memory_unit);

	return n && units + n <= SNAPSHOT_UNITS && m->rounds < HOTSPOT_ROUNDS;
}

/* The addresses are asked for again a second later, unless `err` says that this is in vain. */
static enum jit_answer fail(struct jit_memory *m, const struct image *im, int err)
{
	/* Of a process that has ended nothing can be read; that is no error. */
	m->err = im->end_ns ? 0 : err;
	m->mentioned = m->failed = true;
	m->nasked = 0;
	close_question(m);
	return JIT_FAILED;
}

static bool is_forbidden(int err)
{
	return err == -EACCES || err == -EPERM;
}

enum jit_answer jit_memory_take(struct jit_memory *m, const struct image *im,
				const struct unwind_names *names)
{
	uint64_t wanted[MEMORY_UNITS_MAX];
	size_t n;
	int err = names->err;

	m->cost_ns += names->cpu_ns;
	if (err)
		return fail(m, im, err);
	n = take_notes(m, names, wanted);
	if (!may_grow(m, n))
		return JIT_ANSWERED;
	err = copy_wanted(m, im->pid, wanted, n);
	m->rounds++;
	return err ? fail(m, im, is_forbidden(err) ? err : 0) : JIT_ASK_AGAIN;
}

static uint64_t pause_ns(const struct jit_memory *m)
{
	uint64_t cost = m->cost_ns * COST_SHARE, waited = m->waited_ns * WAIT_SHARE;
	uint64_t pause = cost > waited ? cost : waited;

	if (m->spent_ns < CREDIT_NS)
		return ASK_NS;
	return pause < ASK_NS ? ASK_NS : pause < PAUSE_MAX_NS ? pause : PAUSE_MAX_NS;
}

/* Whether nothing is left to ask about the address. There was no turn yet for the scopes of some. */
static bool is_settled(const struct jit_memory *m, struct jit_table *t, struct jit_unknown *u)
{
	const struct jit_function *f = jit_table_find(t, u->pc);

	if (f && (f->scoped || m->no_scopes))
		return true;
	return (!f || u->scopes) && ++u->tries >= TRIES;
}

void jit_memory_done(struct jit_memory *m, struct jit_table *t, uint64_t now_ns)
{
	size_t kept = 0;

	m->spent_ns += m->cost_ns + m->waited_ns;
	for (size_t i = 0; i < m->unknown.len; i++) {
		struct jit_unknown *u = &m->unknown.data[i];

		if (i < m->nasked && is_settled(m, t, u))
			continue;
		m->unknown.data[kept++] = *u;
	}
	m->mentioned |= kept;
	m->unknown.len = kept;
	m->nasked = 0;
	m->failed = false;
	close_question(m);
	m->due_ns = now_ns + pause_ns(m);
}

void jit_memory_know(struct jit_memory *m, uint64_t id)
{
	uint64_t *slot;

	if (m->nknown >= HOTSPOT_KNOWN / 4 * 3)
		jit_memory_forget(m);
	if (!m->known)
		m->known = xcalloc(HOTSPOT_KNOWN, sizeof(*m->known));
	slot = (uint64_t *)hotspot_slot(m->known, id);
	m->nknown += !*slot;
	*slot = id;
}

void jit_memory_forget(struct jit_memory *m)
{
	free(m->known);
	m->known = NULL;
	m->nknown = 0;
}
