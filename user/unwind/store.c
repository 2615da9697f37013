/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/vec.h"
#include "bpf/python.h"
#include "loaders/unwind.h"
#include "user/space/mapped.h"
#include "user/space/opener.h"
#include "user/space/procmap.h"
#include "user/unwind/table.h"
#include "user/unwind/tablesource.h"
#include "user/unwind/words.h"
#include "user/unwind/worker.h"

enum {
	MAX_TRIES = 3, /* to open a file; its process may have ended, another may run it */
	TRY_NS = 100000000,
	EARLY_CHUNKS = 2, /* most recordings need more */
	UNPLACED_NS = 1000000000, /* memory for a chunk may be lacking */
	FIRST_NS = 1000000000,    /* see struct store_counts */
};

struct stored {
	int fd;             /* -1: not open */
	uint32_t first, n;  /* words of its table; n 0: none */
	uint64_t dev, ino;
	unsigned tries;
	uint64_t tried_ns;  /* the last of them */
	uint64_t needed_ns; /* by a stack, since then; 0: not */
};

/* A built table that waits for room. */
struct unplaced {
	uint32_t file;
	uint64_t since_ns;
	struct unwind_table table; /* its words are owned */
};

struct store {
	struct unwind_maps *maps;
	struct er_unwind_file *files;
	struct words words;
	VEC(struct stored) stored; /* by file number */
	VEC(struct unplaced) unplaced;
	struct store_counts counts;
	struct table_source *source;
	uint64_t now_ns;
	uint64_t first_ns; /* when a table was first needed; 0: never */
};

struct store *store_new(struct unwind_maps *maps, struct table_source *source, uint32_t limit)
{
	struct store *s = xcalloc(1, sizeof(*s));

	s->maps = maps;
	s->source = source;
	s->files = unwind_maps_files(maps);
	words_init(&s->words, limit);
	/* The kernel takes 10 to 20 ms to add a chunk. These are added before stacks wait for them. */
	for (uint32_t slot = 0; slot < EARLY_CHUNKS && slot < limit / ER_CHUNK_WORDS; slot++)
		unwind_maps_chunk(maps, slot);
	return s;
}

void store_free(struct store *s)
{
	if (!s)
		return;
	vec_for_each(f, &s->stored)
		opener_close(&f->fd);
	vec_free(&s->stored);
	vec_for_each(u, &s->unplaced)
		free(u->table.words);
	vec_free(&s->unplaced);
	words_fini(&s->words);
	free(s);
}

static struct stored *stored_at(struct store *s, uint32_t file)
{
	while (s->stored.len <= file)
		vec_push(&s->stored, (struct stored){ .fd = -1 });
	return &s->stored.data[file];
}

/* --- room --- */

static void set_state(struct store *s, uint32_t file, enum er_file_state state)
{
	__atomic_store_n(&s->files[file].state, state, __ATOMIC_SEQ_CST);
}

static void drop_table(struct store *s, uint32_t file, enum er_file_state state)
{
	struct stored *f = stored_at(s, file);

	set_state(s, file, state);
	words_give(&s->words, f->first, f->n, s->now_ns);
	s->counts.bytes -= f->n * 4ULL;
	f->n = 0;
}

/* The table that has been unused for the longest time; 0: there is none. */
static uint32_t coldest(const struct store *s)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i < s->stored.len; i++)
		if (s->stored.data[i].n && (!found || s->files[i].used < s->files[found].used))
			found = i;
	return found;
}

static bool make_chunks(struct store *s, uint32_t first, uint32_t n)
{
	for (uint32_t slot = first / ER_CHUNK_WORDS; slot <= (first + n - 1) / ER_CHUNK_WORDS; slot++)
		if (!unwind_maps_chunk(s->maps, slot))
			return false;
	return true;
}

static void copy_words(struct store *s, uint32_t first, const uint32_t *words, uint32_t n)
{
	while (n) {
		uint32_t in = first % ER_CHUNK_WORDS, part = ER_CHUNK_WORDS - in;

		part = part < n ? part : n;
		memcpy(unwind_maps_chunk(s->maps, first / ER_CHUNK_WORDS) + in, words, part * 4ULL);
		first += part;
		words += part;
		n -= part;
	}
}

/* --- publishing --- */

/* `number` 0: BPF no longer finds the file by its inode. */
static void publish_inode(struct store *s, uint32_t file, uint32_t number)
{
	const struct stored *f = stored_at(s, file);
	struct er_inode key = { .ino = f->ino, .dev = (f->dev >> 32) << 20 | (f->dev & 0xfffff) };

	if (f->ino || !f->dev)
		unwind_maps_inode(s->maps, &key, number);
}

/* Its functions will not be in stacks. */
static void note_python(struct store *s, uint32_t release)
{
	uint32_t *to = s->counts.strange_pythons;

	if (!release || python_is_known(release))
		return;
	for (int i = 0; i < STORE_PYTHONS && to[i] != release; i++) {
		if (to[i])
			continue;
		to[i] = release;
		break;
	}
}

/* Its goroutines will have no numbers. */
static void note_go(struct store *s, const struct er_go_places *go)
{
	uint16_t *to = s->counts.strange_gos;

	if (!go->maker || go->g)
		return;
	for (int i = 0; i < STORE_GOS && to[i] != go->maker; i++) {
		if (to[i])
			continue;
		to[i] = go->maker;
		break;
	}
}

/* What BPF knows of the runtime of the file's program. */
static void put_runtime(struct store *s, struct er_unwind_file *to, const struct er_unwind_file *from)
{
	note_python(s, from->python);
	to->python = from->python;
	if (!from->python) {
		note_go(s, &from->go);
		to->go = from->go;
		return;
	}
	to->python_runtime = from->python_runtime;
	to->python_code = from->python_code;
	to->python_key = from->python_key;
	to->python_places = from->python_places;
}

/* Returns false if there is no room for it now. */
static bool put_table(struct store *s, uint32_t file, const struct unwind_table *t)
{
	struct stored *f = stored_at(s, file);
	struct er_unwind_file *to = &s->files[file];
	uint32_t first;

	if (!words_take(&s->words, t->nwords, ER_RULE_WORDS, s->now_ns, &first))
		return false;
	if (!make_chunks(s, first, t->nwords)) {
		words_give(&s->words, first, t->nwords, s->now_ns);
		return false;
	}
	copy_words(s, first, t->words, t->nwords);
	to->first = t->file.first;
	to->blocks = t->file.blocks;
	to->nrows = t->file.nrows;
	to->nrules = t->file.nrules;
	to->index = first + t->file.index;
	to->rows = first + t->file.rows;
	to->rules = first + t->file.rules;
	put_runtime(s, to, &t->file);
	to->used = s->now_ns / 1000000000;
	to->generation++;
	f->first = first;
	f->n = t->nwords;
	s->counts.bytes += f->n * 4ULL;
	s->counts.built++;
	set_state(s, file, ER_FILE_READY);
	return true;
}

static void count_delay(struct store *s, uint32_t file)
{
	struct stored *f = stored_at(s, file);
	uint64_t since = f->needed_ns, delay = s->now_ns > since ? s->now_ns - since : 0;
	bool first = since < s->first_ns + FIRST_NS;
	struct store_delays *d = first ? &s->counts.first : &s->counts.later;

	f->needed_ns = 0;
	if (!since)
		return;
	d->n++;
	d->sum_ns += delay;
	d->slow += delay > STORE_PROMPT_NS;
	if (delay > d->longest_ns)
		d->longest_ns = delay;
}

static bool place_table(struct store *s, uint32_t file, const struct unwind_table *t)
{
	if (!put_table(s, file, t))
		return false;
	publish_inode(s, file, file);
	count_delay(s, file);
	return true;
}

/* Drop the coldest tables until there is room for n words, at once or soon. False: too many. */
static bool make_room(struct store *s, uint32_t n)
{
	while (!words_will_fit(&s->words, n, ER_RULE_WORDS)) {
		uint32_t cold = coldest(s);

		if (!cold)
			return false;
		drop_table(s, cold, ER_FILE_EVICTED);
		s->counts.evicted++;
	}
	return true;
}

static void refuse(struct store *s, uint32_t file)
{
	s->counts.refused++;
	set_state(s, file, ER_FILE_EVICTED);
}

static void take_table(struct store *s, uint32_t file, const struct unwind_table *t)
{
	struct unplaced u = { .file = file, .since_ns = s->now_ns, .table = *t };

	if (s->unplaced.len == 0 && place_table(s, file, t))
		return;
	if (!make_room(s, t->nwords)) {
		refuse(s, file);
		return;
	}
	u.table.words = xmalloc(t->nwords * sizeof(*t->words));
	memcpy(u.table.words, t->words, t->nwords * sizeof(*t->words));
	vec_push(&s->unplaced, u);
}

/* In the order in which they came, so that none waits forever. */
static void place_waiting(struct store *s)
{
	size_t done = 0;

	vec_for_each(u, &s->unplaced) {
		if (!make_room(s, u->table.nwords) || !place_table(s, u->file, &u->table)) {
			if (u->since_ns + UNPLACED_NS > s->now_ns)
				break;
			refuse(s, u->file);
		}
		free(u->table.words);
		done++;
	}
	if (!done)
		return;
	s->unplaced.len -= done;
	memmove(s->unplaced.data, s->unplaced.data + done,
		s->unplaced.len * sizeof(*s->unplaced.data));
}

/* --- building --- */

/* The file gets no table: its code is walked by frame pointers. */
static void give_up(struct store *s, uint32_t file)
{
	s->counts.failed++;
	set_state(s, file, ER_FILE_NO_CFI);
	publish_inode(s, file, file);
}

static void need(struct store *s, uint32_t file, uint64_t needed_ns)
{
	struct stored *f = stored_at(s, file);

	if (f->needed_ns || !needed_ns)
		return;
	f->needed_ns = needed_ns;
	if (!s->first_ns)
		s->first_ns = needed_ns;
	table_source_hurry(s->source, file);
}

/* Request the file's table. One that an earlier recording kept is published now; store_poll publishes others. */
static void request(struct store *s, uint32_t file, const char *path, uint64_t needed_ns)
{
	struct stored *f = stored_at(s, file);
	struct unwind_table t;
	int err;

	set_state(s, file, ER_FILE_PENDING);
	err = table_source_request(s->source, file, f->fd, path, &t);
	if (err && err != -EINPROGRESS) {
		give_up(s, file);
		return;
	}
	need(s, file, needed_ns);
	if (err)
		return;
	s->counts.kept++;
	take_table(s, file, &t);
	unwind_table_free(&t);
}

void store_want(struct store *s, pid_t pid, const struct mapping *m, uint64_t needed_ns)
{
	enum er_file_state state = m->file ? s->files[m->file].state : ER_FILE_NO_CFI;
	struct stored *f;

	if (state == ER_FILE_PENDING)
		need(s, m->file, needed_ns);
	if (state != ER_FILE_UNKNOWN && state != ER_FILE_EVICTED)
		return;
	f = stored_at(s, m->file);
	f->dev = m->dev;
	f->ino = m->ino;
	if (f->fd < 0) {
		if (f->tried_ns && s->now_ns < f->tried_ns + TRY_NS)
			return;
		f->fd = mapped_open(pid, m);
		f->tried_ns = s->now_ns;
	}
	if (f->fd >= 0)
		request(s, m->file, m->path, needed_ns);
	else if (++f->tries >= MAX_TRIES)
		give_up(s, m->file);
}

static bool is_unplaced(const struct store *s, uint32_t file)
{
	vec_for_each(u, &s->unplaced)
		if (u->file == file)
			return true;
	return false;
}

bool store_forget(struct store *s, uint32_t file)
{
	struct stored *f = file < s->stored.len ? &s->stored.data[file] : NULL;

	if (s->files[file].state == ER_FILE_PENDING || is_unplaced(s, file))
		return false;
	if (f && s->files[file].state != ER_FILE_UNKNOWN)
		publish_inode(s, file, 0);
	__atomic_add_fetch(&s->files[0].generation, 1, __ATOMIC_RELEASE);
	if (f && f->n)
		drop_table(s, file, ER_FILE_UNKNOWN);
	set_state(s, file, ER_FILE_UNKNOWN);
	if (!f)
		return true;
	opener_close(&f->fd);
	*f = (struct stored){ .fd = -1 };
	return true;
}

void store_poll(struct store *s, uint64_t now_ns)
{
	struct unwind_result r;

	s->now_ns = now_ns;
	place_waiting(s);
	while (table_source_next(s->source, &r)) {
		if (r.err)
			give_up(s, r.key);
		else
			take_table(s, r.key, &r.table);
	}
}

bool store_is_half_full(const struct store *s)
{
	return s->words.used > s->words.limit / 2;
}

bool store_waits(const struct store *s)
{
	return s->unplaced.len || table_source_waits(s->source);
}

bool store_code(void *self, uint32_t file, uint64_t offset, uint64_t *ret)
{
	struct store *s = self;

	return file < s->stored.len && s->stored.data[file].fd >= 0 &&
	       pread(s->stored.data[file].fd, ret, sizeof(*ret), offset) == sizeof(*ret);
}

void store_counts(const struct store *s, struct store_counts *ret)
{
	*ret = s->counts;
}

void store_restart_counts(struct store *s)
{
	struct store_counts fresh = { .bytes = s->counts.bytes };

	memcpy(fresh.strange_pythons, s->counts.strange_pythons, sizeof(fresh.strange_pythons));
	memcpy(fresh.strange_gos, s->counts.strange_gos, sizeof(fresh.strange_gos));
	s->counts = fresh;
}
