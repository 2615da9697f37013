/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/jit_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "bpf/er_event.h"
#include "user/jit/runtime.h"
#include "user/record/jit_names_impl.h"
#include "user/record/recording.h"
#include "user/space/space.h"
#include "user/unwind/unwinder.h"
#include "user/unwind/worker.h"

enum {
	LOOK_NS = 500000000,
	MAX_CODES = 512,          /* two descriptors each */
	MAX_FUNCTIONS = 1 << 19,  /* of one process */
	MAX_BYTES = 64 << 20,     /* of all functions and their names */
	MAX_PCS = 1 << 16,        /* of one process */
	MAX_CODE = 1 << 16,       /* bytes of one function */
};

static void take_names(void *ctx, const struct unwind_names *names);

struct jit_names *jit_names_new(struct recording *recording, struct unwind_worker *worker,
				struct unwinder *unwinder, struct drops *drops)
{
	struct jit_names *j = xcalloc(1, sizeof(*j));

	j->recording = recording;
	j->worker = worker;
	j->unwinder = unwinder;
	j->drops = drops;
	unwind_worker_on_names(worker, take_names, j);
	return j;
}

static void code_free(struct jit_names *j, struct code *c)
{
	j->bytes -= c->table.bytes;
	jit_file_close(&c->file);
	jit_memory_free(&c->memory);
	jit_table_free(&c->table);
	vec_for_each(p, &c->pieces)
		jit_piece_free(p);
	vec_free(&c->pieces);
	map_free(&c->pcs);
	vec_free(&c->sorted);
	free(c);
}

void jit_names_free(struct jit_names *j)
{
	if (!j)
		return;
	map_for_each(s, &j->by_key)
		code_free(j, (struct code *)(uintptr_t)s->value);
	map_free(&j->by_key);
	map_free(&j->by_image);
	unwind_worker_on_names(j->worker, NULL, NULL);
	free(j);
}

static struct code *find(const struct map *m, uint64_t key)
{
	const uint64_t *at = map_get(m, key);

	return at ? (struct code *)(uintptr_t)*at : NULL;
}

/* NULL: there are too many. */
static struct code *code_of(struct jit_names *j, struct image *im)
{
	struct code *c = find(&j->by_image, (uintptr_t)im);

	if (c || j->by_key.len >= MAX_CODES)
		return c;
	c = xcalloc(1, sizeof(*c));
	c->image = im;
	c->key = ++j->keys;
	jit_file_open(&c->file, im->pid);
	jit_memory_init(&c->memory);
	*map_put(&j->by_image, (uintptr_t)im, NULL) = (uintptr_t)c;
	*map_put(&j->by_key, c->key, NULL) = (uintptr_t)c;
	j->nprocesses++;
	return c;
}

/* --- writing --- */

/* The lines for the writer; free them. NULL: there are none. */
static struct exp_line *lines_of(const struct jit_function *f)
{
	struct exp_line *ret = f->nlines ? xcalloc(f->nlines, sizeof(*ret)) : NULL;

	for (size_t i = 0; i < f->nlines; i++)
		ret[i] = (struct exp_line){ f->lines[i].offset, f->lines[i].line };
	return ret;
}

/* In an experiment, angle brackets mark a pseudo function. A map must not seem to have one. */
static void write_function(struct jit_names *j, struct code *c, struct jit_function *f)
{
	bool misleads = *f->name == '<' && !f->pseudo;
	__cleanup(freep) char *plain = misleads ? xasprintf("jit:%s", f->name) : NULL;
	__cleanup(freep) struct exp_line *lines = NULL;
	char code[MAX_CODE];
	struct exp_code to = { .time_ns = f->from_ns, .vaddr = f->start, .size = f->size,
			       .name = plain ? plain : f->name, .alias = f->alias, .source = f->source,
			       .nlines = f->nlines, .code = code };

	if (f->written || !c->output)
		return;
	f->written = true;
	j->nwritten++;
	to.lines = lines = lines_of(f);
	if (f->code_at && f->size <= MAX_CODE && jit_file_code(&c->file, f->code_at, code, f->size))
		to.ncode = f->size;
	output_dynamic(j->recording, c->output, &to);
	if (f->gone_ns)
		output_function_gone(j->recording, c->output, f->gone_ns, f->start);
}

/* Functions that were written before their removal was read. */
static void write_removed(struct jit_names *j, struct code *c)
{
	vec_for_each(f, &c->table.removed) {
		if (c->output)
			output_function_gone(j->recording, c->output, f->gone_ns, f->start);
	}
	c->table.removed.len = 0;
}

static bool contains(const struct jit_function *f, uint64_t pc)
{
	return f->name && pc - f->start < f->size;
}

/* Write all functions that were at the address. They are in the order of their dates. */
static void write_at(struct jit_names *j, struct code *c, uint64_t pc)
{
	struct jit_function *now = jit_table_find(&c->table, pc);

	for (unsigned i = 0; i < JIT_REPLACED; i++) {
		struct jit_function *f = &c->table.replaced[(c->table.nreplaced + i) % JIT_REPLACED];

		if (contains(f, pc))
			write_function(j, c, f);
	}
	if (now)
		write_function(j, c, now);
}

static bool has_generated(const struct er_stack *s)
{
	for (size_t i = s->nkernel; i < (size_t)s->nkernel + s->nuser; i++)
		if (!(s->pcs[i] & ER_FRAME_FILE))
			return true;
	return false;
}

void jit_names_met(struct jit_names *j, const struct er_stack *s)
{
	if (has_generated(s))
		j->met[s->tgid % MET] = (struct met){ .start_time = s->start_time, .time_ns = s->h.time_ns,
						      .tgid = s->tgid, .exec_id = s->exec_id };
}

void jit_names_mention(struct jit_names *j, struct output *p, struct image *im, uint64_t pc)
{
	struct code *c = space_generated(im->space, pc) ? code_of(j, im) : NULL;
	bool fresh;

	if (!c)
		return;
	c->output = p;
	if (c->pcs.len >= MAX_PCS)
		c->all = true;
	if (c->all)
		return;
	map_put(&c->pcs, pc, &fresh);
	jit_memory_mention(&c->memory, pc, fresh);
	if (!fresh)
		return;
	vec_push(&c->sorted, pc);
	c->unsorted = true;
	write_at(j, c, pc);
}

bool jit_names_want_vm(struct jit_names *j, struct image *im)
{
	struct code *c = code_of(j, im);

	if (!c || c->known || c->memory.err || c->memory.failed || im->end_ns)
		return false;
	c->memory.wants_vm = true;
	return true;
}

static int by_value(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

static bool is_mentioned(struct code *c, const struct jit_function *f)
{
	size_t lo = 0, hi = c->sorted.len;

	if (c->unsorted)
		vec_sort(&c->sorted, by_value);
	c->unsorted = false;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->sorted.data[mid] < f->start)
			lo = mid + 1;
		else
			hi = mid;
	}
	return c->all || (lo < c->sorted.len && c->sorted.data[lo] - f->start < f->size);
}

/* --- reading --- */

static bool has_room(const struct jit_names *j, const struct code *c, const struct jit_piece *p)
{
	size_t more = p->n * sizeof(struct jit_function) + p->nnames;

	return c->table.functions.len + p->n <= MAX_FUNCTIONS && j->bytes + more <= MAX_BYTES;
}

/* The map is not read any more. Functions that are known already stay. */
static void refuse(struct jit_names *j, struct code *c, int err)
{
	jit_file_give_up(&c->file, err);
	j->drops->n[DROP_NAMES]++;
	j->nrefused++;
}

static void add_piece(struct jit_names *j, struct code *c, const struct jit_piece *p)
{
	struct jit_function *new;
	size_t n;

	if (!has_room(j, c, p)) {
		if (!c->file.err)
			refuse(j, c, -ENOSPC);
		return;
	}
	new = xcalloc(p->n, sizeof(*new));
	n = jit_piece_functions(p, &c->table, &c->gone_ns, new);
	j->nread += n;
	for (size_t i = 0; i < n; i++) {
		if (!new[i].gone && is_mentioned(c, &new[i]))
			write_function(j, c, &new[i]);
	}
	j->bytes -= c->table.bytes;
	jit_table_add(&c->table, new, n);
	j->bytes += c->table.bytes;
	write_removed(j, c);
	free(new);
}

static void add_pieces(struct jit_names *j, struct code *c)
{
	vec_for_each(p, &c->pieces) {
		add_piece(j, c, p);
		jit_names_add_scopes(j, c, p);
		jit_piece_free(p);
	}
	c->pieces.len = 0;
}

static void submit(struct jit_names *j, struct code *c)
{
	int err = unwind_worker_submit_names(j->worker, c->key, c->file.fd, c->file.format,
					     c->file.offset);

	if (err)
		refuse(j, c, err);
	c->reading = !err;
}

static void ask_memory(struct jit_names *j, struct code *c)
{
	c->reading = !unwind_worker_submit_names(j->worker, c->key, c->memory.fd, JIT_HOTSPOT, 0);
}

static void keep_piece(struct code *c, const struct unwind_names *names)
{
	vec_push(&c->pieces, jit_piece_copy(names, c->from_ns, c->memory.fd >= 0));
}

static void take_memory(struct jit_names *j, struct code *c, const struct unwind_names *names)
{
	enum jit_answer answer = jit_memory_take(&c->memory, c->image, names);

	if (answer == JIT_ASK_AGAIN)
		ask_memory(j, c);
	else if (answer == JIT_ANSWERED)
		keep_piece(c, names);
	else if (c->memory.err == -ENOTSUP)
		j->drops->n[DROP_JAVA]++;
}

/* An unwind_names_fn. It may be called while the recording writes, so this only copies. */
static void take_names(void *ctx, const struct unwind_names *names)
{
	struct jit_names *j = ctx;
	struct code *c = find(&j->by_key, names->key);

	if (!c)
		return;
	c->reading = false;
	if (c->memory.fd >= 0) {
		take_memory(j, c, names);
		return;
	}
	if (names->err || c->file.fd < 0) {
		if (!c->file.err)
			refuse(j, c, names->err);
		return;
	}
	keep_piece(c, names);
	if (jit_file_advance(&c->file, names->used))
		submit(j, c);
}

static void look(struct jit_names *j, struct code *c, uint64_t now_ns)
{
	bool had = c->file.size, refused = c->file.err;

	c->complete = c->image->end_ns;
	jit_file_prefer_dump(&c->file, c->image);
	if (!refused && jit_file_look(&c->file)) {
		j->nmaps += !had;
		c->from_ns = had ? c->looked_ns : 0;
		submit(j, c);
	} else if (!refused && c->file.err) {
		refuse(j, c, c->file.err);
	}
	c->looked_ns = now_ns;
}

static void look_at_memory(struct jit_names *j, struct code *c, uint64_t now_ns)
{
	if (!jit_memory_ask(&c->memory, c->image, &c->table, now_ns, j->last, c->file.fd < 0))
		return;
	c->from_ns = c->asked_ns;
	c->asked_ns = now_ns;
	ask_memory(j, c);
}

/* True: its Java VM is published. Most images get their key only here: they never needed a copied stack. */
static bool publish(struct jit_names *j, const struct code *c)
{
	const struct met *met = &j->met[c->image->pid % MET];

	if (!j->unwinder || c->image->end_ns)
		return false;
	if (met->tgid == (uint32_t)c->image->pid && met->time_ns >= c->image->begin_ns)
		unwinder_meet(j->unwinder, c->image, met->start_time, met->exec_id);
	return unwinder_hotspot(j->unwinder, c->image, &c->memory.vm);
}

void jit_names_update(struct jit_names *j, uint64_t now_ns, bool all)
{
	j->last |= all;
	map_for_each(s, &j->by_key) {
		struct code *c = (struct code *)(uintptr_t)s->value;
		bool ended = c->image->end_ns && !c->complete;

		add_pieces(j, c);
		if (c->memory.has_vm && !c->published)
			c->published = publish(j, c);
		if (c->memory.has_vm && !c->known && j->unwinder)
			unwinder_know_vm(j->unwinder, c->image, &c->memory.vm);
		c->known = c->memory.has_vm;
		if (c->reading)
			continue;
		if (c->memory.fd >= 0)
			jit_memory_done(&c->memory, &c->table, now_ns);
		if (all || ended || (!c->complete && now_ns - c->looked_ns >= LOOK_NS))
			look(j, c, now_ns);
		if (!c->reading)
			look_at_memory(j, c, now_ns);
	}
}

bool jit_names_reading(const struct jit_names *j)
{
	map_for_each(s, &j->by_key) {
		const struct code *c = (const struct code *)(uintptr_t)s->value;

		if (c->reading || c->pieces.len)
			return true;
	}
	return false;
}

/* --- the ends --- */

static void label(struct jit_names *j, struct code *c)
{
	const char *name = c->output ? runtime_code(c->image) : NULL;

	if (!name)
		return;
	map_for_each(s, &c->pcs) {
		if (!s->value && !jit_table_find(&c->table, s->key))
			output_function(j->recording, c->output, 0, s->key, 1, name);
		s->value = true;
	}
}

void jit_names_complete(struct jit_names *j)
{
	j->last = false;
	map_for_each(s, &j->by_key)
		label(j, (struct code *)(uintptr_t)s->value);
}

void jit_names_forget(struct jit_names *j, const struct image *im)
{
	struct code *c = find(&j->by_image, (uintptr_t)im);

	if (!c)
		return;
	add_pieces(j, c);
	label(j, c);
	map_remove(&j->by_image, (uintptr_t)im);
	map_remove(&j->by_key, c->key);
	code_free(j, c);
}

void jit_names_restart(struct jit_names *j)
{
	map_for_each(s, &j->by_key) {
		struct code *c = (struct code *)(uintptr_t)s->value;

		vec_for_each(f, &c->table.functions)
			f->written = f->scoped = false;
		jit_memory_forget(&c->memory);
		c->scope_bytes = 0;
		c->memory.no_scopes = false;
		for (size_t i = 0; i < JIT_REPLACED; i++)
			c->table.replaced[i].written = false;
		c->output = NULL;
		map_free(&c->pcs);
		vec_free(&c->sorted);
		c->all = false;
	}
	j->nprocesses = j->by_key.len;
	j->nmaps = j->nread = j->nwritten = j->nrefused = 0;
}

void jit_names_write(const struct jit_names *j, struct buf *b)
{
	buf_printf(b, "<generated processes=\"%" PRIu64 "\" maps=\"%" PRIu64 "\" read=\"%" PRIu64
		   "\" written=\"%" PRIu64 "\" refused=\"%" PRIu64 "\"/>\n",
		   j->nprocesses, j->nmaps, j->nread, j->nwritten, j->nrefused);
}
