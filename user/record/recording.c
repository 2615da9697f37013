/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "user/record/counter_log.h"
#include "user/record/ksymtab.h"
#include "user/record/schedule.h"
#include "user/space/procfs.h"

enum {
	MAX_SUBS = 4096,
	RELIEF_NS = 4 * 1000 * 1000,
	/* Of all experiments; beyond: forgotten, and written again. With callers 200 bytes each. */
	MAX_STACKS_KNOWN = 1 << 18,
	/*
	 * Pseudo functions lie below the lowest address that a program may map
	 * (vm.mmap_min_addr), one byte each: an output has room for 61,440.
	 */
	PSEUDO_BASE = 0x1000,
	PSEUDO_END = 0x10000,
	MAX_PSEUDO = PSEUDO_END - PSEUDO_BASE,
	LITTLE = 8192, /* bytes: not worth opening five files for, if more may come */
	PTIMER_US = 1,
};

#define OTHERS "<other processes>"

struct output {
	struct expwriter *w;
	struct map stacks;        /* written: id to uid */
	struct map shown;         /* pcs of pseudo functions that are written */
	struct strtab pseudo;     /* names of this output alone; ids give addresses */
	uint64_t bytes;           /* that the recording has counted */
	bool dirty;
	bool waited;              /* a flush went by while it had little */
};

struct recording {
	struct exp_header header;
	struct output founder;
	struct output *others; /* NULL: not needed so far */
	bool no_others;      /* it could not be made */
	VEC(struct output *) dirty;
	VEC(struct output *) open;
	size_t nsubs, nknown; /* nknown: stacks that outputs know */
	uint32_t last_uid;    /* of stacks: none twice, since packets refer to those of other outputs */
	struct strtab stems;  /* of names in use; ids index `used` */
	VEC(unsigned) used;   /* the highest number */
	uint64_t bytes, limit;
	const counter_list *counters;
	bool clock;           /* there are clock packets at all */
	bool waits;           /* sub-experiments have packets of times off a CPU */
	struct ksymtab *ksyms; /* NULL: nothing is profiled */
	struct map callers;   /* in the kernel, of stacks whose functions are written; no values */
	bool fresh_ksyms;     /* of those the founder has some that are not on disk */
	struct drops *drops;
	int error; /* of a flush that failed */
	void (*relief)(void *ctx); /* NULL: none */
	void *relief_ctx;
	uint64_t relieved_ns;      /* when it was last called */
};

void recording_set_relief(struct recording *b, void (*fn)(void *ctx), void *ctx)
{
	b->relief = fn;
	b->relief_ctx = ctx;
}

void recording_relieve(struct recording *b)
{
	uint64_t t = b->relief ? now_ns() : 0;

	if (t < b->relieved_ns + RELIEF_NS)
		return;
	b->relieved_ns = t;
	b->relief(b->relief_ctx);
}

/* Which packets the founder has, or its parts; waits never in a founder. */
static void announce(struct recording *b, enum er_stateset states)
{
	struct expwriter *w = b->founder.w;

	if (b->clock)
		expwriter_clock_profile(w, PTIMER_US, states, b->waits && states == STATES_ALL);
	counters_announce(b->counters, w);
}

/* The founder lists the CPUs; on some machines there are hundreds. */
static void announce_parts(struct recording *b)
{
	struct exp_header h = b->header;

	h.ncpus = 0;
	expwriter_parts_begin(b->founder.w, &h);
	announce(b, STATES_ALL);
	expwriter_parts_end(b->founder.w);
}

int recording_open(int dirfd, const char *name, const struct exp_header *h, const struct plan *plan,
	      struct drops *drops, struct diag *d, struct recording **ret)
{
	struct recording *b = xcalloc(1, sizeof(*b));
	int err;

	b->header = *h;
	b->drops = drops;
	b->limit = plan->limit_bytes;
	b->waits = plan->states;
	b->clock = plan->interval_ns;
	b->counters = &plan->counters;
	b->ksyms = plan_profiles(plan) ? ksymtab_open(plan->kallsyms, d) : NULL;
	if (plan_profiles(plan) && !b->ksyms) {
		free(b);
		return -EPERM;
	}
	err = expwriter_create(dirfd, name, h, d, &b->founder.w);
	if (err) {
		ksymtab_close(b->ksyms);
		free(b);
		return err;
	}
	announce(b, STATES_KERNEL);
	announce_parts(b);
	for (size_t i = 0; i < plan->ncomments; i++)
		expwriter_text(b->founder.w, "notes", plan->comments[i]);
	*ret = b;
	return 0;
}

static int output_close(struct output *p)
{
	int err = expwriter_close(p->w);

	map_free(&p->stacks);
	map_free(&p->shown);
	strtab_free(&p->pseudo);
	return err;
}

static void recording_free(struct recording *b)
{
	vec_free(&b->dirty);
	vec_free(&b->open);
	strtab_free(&b->stems);
	vec_free(&b->used);
	map_free(&b->callers);
	ksymtab_close(b->ksyms);
	free(b);
}

int recording_close(struct recording *b, uint64_t time_ns)
{
	int err, err_founder;

	while (b->open.len)
		recording_end(b, b->open.data[b->open.len - 1], time_ns);
	expwriter_exit(b->founder.w, time_ns);
	err_founder = output_close(&b->founder);
	err = b->error ? b->error : err_founder;
	recording_free(b);
	return err;
}

/* Only files: nothing has been recorded yet, so there is no sub-experiment. */
static void remove_files(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	for (struct dirent *e; dir && (e = readdir(dir));)
		unlinkat(fd, e->d_name, 0);
	if (dir)
		closedir(dir);
	unlinkat(dirfd, name, AT_REMOVEDIR);
}

void recording_discard(struct recording *b, int dirfd, const char *name)
{
	output_close(&b->founder);
	recording_free(b);
	remove_files(dirfd, name);
}

struct output *recording_founder(struct recording *b)
{
	return &b->founder;
}

struct expwriter *output_writer(struct output *p)
{
	return p->w;
}

static void touch(struct recording *b, struct output *p)
{
	if (p->dirty)
		return;
	p->dirty = true;
	vec_push(&b->dirty, p);
}

/* --- sub-experiments --- */

/* Nobody else makes names in there: the next number of a stem need not be searched for. */
static void next_name(struct recording *b, const char *stem, char *ret, size_t size)
{
	uint32_t id = strtab_id(&b->stems, stem);

	if (id == b->used.len)
		vec_push(&b->used, 0);
	snprintf(ret, size, "%s.%u.er", stem, ++b->used.data[id]);
}

static int create(struct recording *b, const struct image *im, const char *name, struct output *p)
{
	struct exp_header h = b->header;
	struct diag quiet = { 0 };
	struct buf command = { 0 };
	int err;

	/* What runs under the PID now is the image, or has taken its place. */
	if (!im->end_ns)
		procfs_cmdline(im->pid, &command);
	h.command = command.len ? command.data : im->comm;
	h.pid = im->pid;
	h.ppid = im->ppid;
	h.pgrp = h.sid = 0;
	h.cwd = "";
	err = expwriter_create_part(b->founder.w, name, &h, &quiet, &p->w);
	buf_free(&command);
	diag_free(&quiet);
	return err;
}

struct output *recording_others(struct recording *b)
{
	static const struct image nobody = { .end_ns = 1, .comm = "others" };
	struct output *p;

	if (b->others || b->no_others)
		return b->others ? b->others : &b->founder;
	p = xcalloc(1, sizeof(*p));
	if (b->error || create(b, &nobody, "_others_PID_0.1.er", p) < 0) {
		b->no_others = true;
		free(p);
		return &b->founder;
	}
	vec_push(&b->open, p);
	touch(b, p);
	return b->others = p;
}

struct output *recording_add(struct recording *b, const struct image *im, struct binaries *binaries,
		      const char *stem)
{
	struct output *p = NULL;
	char name[96];

	if (b->nsubs < MAX_SUBS && !b->error) {
		p = xcalloc(1, sizeof(*p));
		next_name(b, stem, name, sizeof(name));
		if (create(b, im, name, p) < 0) {
			free(p);
			p = NULL;
		}
	}
	if (!p) {
		b->drops->n[DROP_EXPERIMENT]++;
		return NULL;
	}
	b->nsubs++;
	vec_push(&b->open, p);
	vec_for_each(m, &im->space->maps)
		output_map(b, p, binaries, im->pid, m);
	touch(b, p);
	recording_relieve(b);
	return p;
}

static int flush_output(struct recording *b, struct output *p)
{
	uint64_t bytes;
	int err;

	if (p == &b->founder)
		b->fresh_ksyms = false;
	else if (b->fresh_ksyms)
		flush_output(b, &b->founder);
	err = expwriter_flush(p->w);
	bytes = expwriter_bytes(p->w);
	b->bytes += bytes - p->bytes;
	p->bytes = bytes;
	p->dirty = p->waited = false;
	if (err && !b->error)
		b->error = err;
	recording_relieve(b);
	return err;
}

void recording_end(struct recording *b, struct output *p, uint64_t time_ns)
{
	int err;

	expwriter_exit(p->w, time_ns);
	flush_output(b, p);
	for (size_t i = 0; i < b->dirty.len; i++) {
		if (b->dirty.data[i] == p)
			b->dirty.data[i--] = b->dirty.data[--b->dirty.len];
	}
	for (size_t i = 0; i < b->open.len; i++) {
		if (b->open.data[i] == p)
			b->open.data[i--] = b->open.data[--b->open.len];
	}
	b->nknown -= p->stacks.len;
	err = output_close(p);
	if (err && !b->error)
		b->error = err;
	free(p);
}

void output_map(struct recording *b, struct output *p, struct binaries *binaries, pid_t pid,
	      const struct mapping *m)
{
	struct binary *file = binaries_get(binaries, pid, m);
	uint64_t start = b->header.start_ns;

	expwriter_segment(p->w, &(struct exp_segment){
					.time_ns = m->time_ns > start ? m->time_ns : start,
					.vaddr = m->start,
					.size = m->len,
					.foffset = m->pgoff,
					.modes = 5,
					.name = file ? file->name : m->path,
					.written = file ? &file->wanted : NULL });
	touch(b, p);
}

void output_unmap(struct recording *b, struct output *p, const struct mapping *m, uint64_t time_ns)
{
	uint64_t start = b->header.start_ns;

	expwriter_unmap(p->w, time_ns > start ? time_ns : start, m->start);
	touch(b, p);
}

/* --- stacks --- */

uint32_t output_stack_uid(const struct output *p, uint64_t id)
{
	const uint64_t *uid = map_get(&p->stacks, id);

	return uid ? *uid : 0;
}

/*
 * The functions of a stack's kernel part, which the founder has for all. Its leaf is new as a
 * rule, its callers are not.
 */
static void write_ksyms(struct recording *b, const uint64_t *pcs, size_t n)
{
	bool fresh = true;

	if (n > 1)
		map_put(&b->callers, hash_words(pcs + 1, n - 1), &fresh);
	if (!fresh)
		n = 1;
	ksymtab_expect(b->ksyms, pcs, n);
	for (size_t i = 0; i < n; i++) {
		const struct ksym *s = ksymtab_find(b->ksyms, pcs[i]);

		b->fresh_ksyms |= s && expwriter_ksym(b->founder.w, s->addr, s->size, s->name,
						      s->module);
	}
}

static void forget_stacks(struct output *p)
{
	map_free(&p->stacks);
	expwriter_forget(p->w);
}

static void forget_all_stacks(struct recording *b)
{
	forget_stacks(&b->founder);
	vec_for_each(p, &b->open)
		forget_stacks(*p);
	map_free(&b->callers);
	b->nknown = 0;
}

uint32_t output_stack(struct recording *b, struct output *p, uint64_t id, const uint64_t *pcs, size_t npcs,
		    size_t nkernel)
{
	size_t pseudo = nkernel && pcs[0] < PSEUDO_END;

	if (b->nknown >= MAX_STACKS_KNOWN)
		forget_all_stacks(b);
	if (b->last_uid == UINT32_MAX)
		return 0;
	*map_put(&p->stacks, id, NULL) = ++b->last_uid;
	b->nknown++;
	if (nkernel > pseudo)
		write_ksyms(b, pcs + pseudo, nkernel - pseudo);
	expwriter_stack(p->w, b->last_uid, pcs, npcs);
	touch(b, p);
	return b->last_uid;
}

/* At the same address in every experiment, so that readers may take them for one function. */
static const char *const everywhere[] = {
	"<IDLE>", "<Unsampled-CPU>", "<Stack-lost>", OTHERS, "<Stack-not-taken>",
	"<SLEEPING>", "<STALLED>", "<Unsampled-Text-Fault>", "<Unsampled-Data-Fault>",
	"<Unsampled-Kernel-Fault>", "<Unsampled-User-Lock>", "<Unsampled-Sleep>",
	"<Unsampled-Wait-CPU>", "<Unsampled-Stopped>",
};

enum { NEVERYWHERE = sizeof(everywhere) / sizeof(everywhere[0]) };

/* A pseudo function by its number in the output. The number and the name belong together. */
struct pseudo {
	unsigned number;
	const char *name;
};

/*
 * Most outputs have no pseudo functions of their own. Without room for one more, a name that
 * is there already keeps its function, and all others share that of OTHERS.
 */
static struct pseudo pseudo_find(struct recording *b, struct output *p, const char *name)
{
	bool full = p->pseudo.len + NEVERYWHERE >= MAX_PSEUDO;

	for (unsigned i = 0; i < NEVERYWHERE; i++) {
		if (!strcmp(name, everywhere[i]))
			return (struct pseudo){ i, everywhere[i] };
	}
	if (!full || strtab_has(&p->pseudo, name))
		return (struct pseudo){ NEVERYWHERE + strtab_id(&p->pseudo, name), name };
	b->drops->n[DROP_PSEUDO]++;
	return pseudo_find(b, p, OTHERS);
}

uint64_t output_pseudo_pc(struct recording *b, struct output *p, const char *name)
{
	struct pseudo f = pseudo_find(b, p, name);
	uint64_t pc = PSEUDO_BASE + f.number;
	bool fresh;

	map_put(&p->shown, pc, &fresh);
	if (fresh)
		expwriter_function(p->w, b->header.start_ns, pc, 1, f.name);
	return pc;
}

uint32_t output_pseudo(struct recording *b, struct output *p, const char *name)
{
	uint64_t pc = output_pseudo_pc(b, p, name), id = hash64(pc);
	uint32_t uid = output_stack_uid(p, id);

	return uid ? uid : output_stack(b, p, id, &pc, 1, 0);
}

void output_packet(struct recording *b, struct output *p, enum er_packet kind, const int64_t *values)
{
	expwriter_packet(p->w, kind, values, NULL);
	touch(b, p);
}

void output_clock(struct recording *b, struct output *p, const struct clock_packet *c)
{
	expwriter_clock(p->w, c);
	touch(b, p);
}

/* Most processes are short, and done with by the second flush: one in place of two. */
static bool can_wait(struct output *p)
{
	if (p->waited || expwriter_pending(p->w) > LITTLE)
		return false;
	p->waited = true;
	return true;
}

int recording_flush(struct recording *b)
{
	size_t n = 0;

	flush_output(b, &b->founder);
	/* Pages refer to nothing in each other: any order will do. */
	vec_for_each(p, &b->dirty) {
		if (*p == &b->founder)
			continue;
		if (can_wait(*p))
			b->dirty.data[n++] = *p;
		else
			flush_output(b, *p);
	}
	b->dirty.len = n;
	return b->error;
}

const struct ksymtab *recording_ksyms(const struct recording *b)
{
	return b->ksyms;
}

const char *recording_ksym_name(struct recording *b, uint64_t pc)
{
	const struct ksym *s = ksymtab_find(b->ksyms, pc);

	return s ? s->name : NULL;
}

void recording_thread(struct recording *b, const char *line)
{
	expwriter_text(b->founder.w, "threads.xml", line);
}

void recording_name(struct recording *b, const char *line)
{
	expwriter_text(b->founder.w, "names.xml", line);
}

uint64_t recording_start(const struct recording *b)
{
	return b->header.start_ns;
}

uint64_t recording_bytes(const struct recording *b)
{
	return b->bytes;
}

size_t recording_nsubs(const struct recording *b)
{
	return b->nsubs;
}

bool recording_full(const struct recording *b)
{
	return b->limit && b->bytes >= b->limit;
}
