/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/unwinder.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "loaders/unwind.h"
#include "user/jit/runtime.h"
#include "user/space/space.h"
#include "user/unwind/publish.h"
#include "user/unwind/tablesource.h"
#include "user/unwind/vmmemory.h"

/* In bytes. The table of a file with more code is built only when a walk needs it. */
enum { LARGE_TEXT = 16 << 20 };
enum { MEMORIES_MAX = 4 }; /* each has up to 2 MiB */

struct unwinder {
	struct unwind_maps *maps;
	struct publisher *publisher;
	struct store *store;
	struct table_source *source;
	uint64_t nwalked; /* raw stacks */
	struct map vms;   /* by image: struct known_vm * */
	unsigned nmemories;
};

/* An image's Java VM. */
struct known_vm {
	struct er_hotspot vm;
	struct vm_memory *memory; /* NULL: nothing is read yet */
};

struct unwinder *unwinder_new(struct unwind_maps *maps, struct table_source *source)
{
	struct unwinder *u = xcalloc(1, sizeof(*u));

	u->maps = maps;
	u->source = source;
	u->publisher = publisher_new(maps);
	u->store = store_new(maps, source, UNWIND_MAX_CHUNKS * ER_CHUNK_WORDS);
	return u;
}

static void forget_memory(struct unwinder *u, struct known_vm *known)
{
	u->nmemories -= known->memory != NULL;
	vm_memory_free(known->memory);
	known->memory = NULL;
}

static void forget_memories(struct unwinder *u)
{
	if (!u->nmemories)
		return;
	map_for_each(s, &u->vms)
		forget_memory(u, (struct known_vm *)(uintptr_t)s->value);
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	publisher_free(u->publisher);
	store_free(u->store);
	forget_memories(u);
	map_for_each(s, &u->vms)
		free((void *)(uintptr_t)s->value);
	map_free(&u->vms);
	free(u);
}

static void want_soon(struct unwinder *u, const struct image *im, const struct mapping *m)
{
	if (m->len <= LARGE_TEXT && !store_is_half_full(u->store))
		store_want(u->store, im->pid, m, 0);
}

static void want_all(struct unwinder *u, const struct image *im)
{
	vec_for_each(m, &im->space->maps)
		want_soon(u, im, m);
}

/*
 * Request the tables of the files that the walk may come to: its return addresses are among the
 * copied words. Otherwise walks would request tables one after the other. A program may map a
 * hundred libraries and run code of ten, so the others get no table. A process with generated code
 * has stacks whose copies do not show all files, see was_walked.
 */
static void want_callers(struct unwinder *u, const struct image *im, const struct er_raw *raw,
			 uint64_t time_ns)
{
	const struct mapping *m = NULL;

	if (im->space->generated.len) {
		want_all(u, im);
		return;
	}
	for (size_t i = 0; i < raw->nbytes / sizeof(*raw->bytes); i++) {
		if (m && raw->bytes[i] - m->start < m->len)
			continue;
		m = space_at(im->space, raw->bytes[i], time_ns);
		if (m)
			want_soon(u, im, m);
	}
}

/* Other stacks that lack the same table are not searched: what they lack further shows later. */
static void want_lacking(struct unwinder *u, const struct image *im, const struct mapping *lacking,
			 const struct er_raw *raw, uint64_t time_ns)
{
	bool asked = unwinder_builds(u, lacking->file);

	/* Also for a stack that waits no longer: others will need the table. */
	store_want(u->store, im->pid, lacking, raw->copied_ns);
	if (!asked)
		want_callers(u, im, raw, time_ns);
}

void unwinder_meet(struct unwinder *u, struct image *im, uint64_t start_time, uint32_t exec_id)
{
	if (im->ranges.known)
		return;
	publisher_add(u->publisher, im, start_time, exec_id);
}

void unwinder_changed(struct unwinder *u, struct image *im)
{
	publisher_changed(u->publisher, im);
}

static struct known_vm *vm_of(const struct unwinder *u, const struct image *im)
{
	const uint64_t *vm = map_get(&u->vms, (uintptr_t)im);

	return vm ? (struct known_vm *)(uintptr_t)*vm : NULL;
}

void unwinder_await_vm(struct unwinder *u, struct image *im, bool on)
{
	if (im->ranges.awaits_vm != on && !unwind_maps_await(u->maps, im->pid, on))
		im->ranges.awaits_vm = on;
}

void unwinder_know_vm(struct unwinder *u, const struct image *im, const struct er_hotspot *vm)
{
	struct known_vm *known = vm_of(u, im);

	if (!known) {
		known = xcalloc(1, sizeof(*known));
		*map_put(&u->vms, (uintptr_t)im, NULL) = (uintptr_t)known;
	}
	forget_memory(u, known);
	known->vm = *vm;
}

/* NULL: the image has no Java VM, or it is not known. */
static struct vm_memory *memory_of(struct unwinder *u, const struct image *im)
{
	struct known_vm *known = im->end_ns ? NULL : vm_of(u, im);

	if (!known || known->memory)
		return known ? known->memory : NULL;
	if (u->nmemories == MEMORIES_MAX)
		forget_memories(u);
	u->nmemories++;
	return known->memory = vm_memory_new(im->pid, runtime_java(im), &known->vm);
}

void unwinder_forget(struct unwinder *u, struct image *im, uint64_t now_ns)
{
	struct known_vm *known = vm_of(u, im);

	if (known)
		forget_memory(u, known);
	free(known);
	map_remove(&u->vms, (uintptr_t)im);
	unwinder_await_vm(u, im, false);
	publisher_forget(u->publisher, im, now_ns);
}

/* If there is no room for the VM, copying every stack would cost too much. */
bool unwinder_hotspot(struct unwinder *u, struct image *im, const struct er_hotspot *vm)
{
	bool done = publisher_hotspot(u->publisher, im, vm);

	if (im->ranges.known)
		unwinder_await_vm(u, im, false);
	return done;
}

bool unwinder_forget_file(struct unwinder *u, uint32_t file)
{
	return store_forget(u->store, file);
}

void unwinder_update(struct unwinder *u, uint64_t now_ns)
{
	forget_memories(u);
	publisher_update(u->publisher, now_ns);
	store_poll(u->store, now_ns);
}

void unwinder_relieve(struct unwinder *u, uint64_t now_ns)
{
	store_poll(u->store, now_ns);
}

bool unwinder_builds(const struct unwinder *u, uint32_t file)
{
	return unwind_maps_files(u->maps)[file].state == ER_FILE_PENDING;
}

bool unwinder_wait(struct unwinder *u, int timeout_ms, bool names)
{
	struct pollfd fds[TABLE_SOURCE_WORKERS];

	if (!names && !store_waits(u->store))
		return false;
	table_source_poll(u->source, fds);
	poll(fds, TABLE_SOURCE_WORKERS, timeout_ms);
	return true;
}

/*
 * Whether a walk in the kernel lacked a table. If the copy does not show which, it is too short, or
 * its walk ends in generated code such as a Java VM's. A sleeping thread's stack is copied in any
 * case, without the code around the pc.
 */
static bool was_walked(const struct er_raw *raw)
{
	return raw->code_at;
}

static struct walk_source source_of(const struct unwinder *u, const struct image *im, uint64_t time_ns)
{
	return (struct walk_source){
		.maps = u->maps, .space = im->space, .time_ns = time_ns, .code = store_code,
		.ctx = u->store,
	};
}

void unwinder_ask(struct unwinder *u, const struct image *im, const struct er_raw *raw,
		  uint64_t time_ns, struct walk *room)
{
	const struct walk_source src = source_of(u, im, time_ns);

	walk_raw(&src, raw, false, room);
	if (room->lacking)
		want_lacking(u, im, room->lacking, raw, time_ns);
}

bool unwinder_walk(struct unwinder *u, const struct image *im, const struct er_raw *raw,
		   uint64_t time_ns, bool last, struct walk *ret)
{
	struct walk_source src = source_of(u, im, time_ns);
	const struct mapping *asked = NULL;

	src.vm = memory_of(u, im);
	for (;;) {
		walk_raw(&src, raw, last, ret);
		if (!ret->lacking || ret->lacking == asked)
			break;
		asked = ret->lacking;
		want_lacking(u, im, asked, raw, time_ns);
		if (last)
			break;
	}
	if (ret->lacking && !last)
		return false;
	if (!last && !ret->lacking && ret->end != ER_END_PROVEN && was_walked(raw))
		want_all(u, im);
	u->nwalked++;
	return true;
}

void unwinder_restart_counts(struct unwinder *u)
{
	store_restart_counts(u->store);
	publisher_restart_counts(u->publisher);
	u->nwalked = 0;
}

static void write_pythons(const struct store_counts *c, struct buf *b)
{
	for (int i = 0; i < STORE_PYTHONS && c->strange_pythons[i]; i++)
		buf_printf(b, "<python major=\"%u\" minor=\"%u\" build=\"%u\"/>\n",
			   c->strange_pythons[i] >> 24, c->strange_pythons[i] >> 16 & 0xff,
			   c->strange_pythons[i] & PYTHON_STRANGE);
}

static void write_gos(const struct store_counts *c, struct buf *b)
{
	for (int i = 0; i < STORE_GOS && c->strange_gos[i]; i++)
		buf_printf(b, "<go major=\"%u\" minor=\"%u\"/>\n",
			   c->strange_gos[i] == GO_UNKNOWN_MAKER ? 0 : c->strange_gos[i] >> 8,
			   c->strange_gos[i] == GO_UNKNOWN_MAKER ? 0 : c->strange_gos[i] & 0xff);
}

static void write_delays(const char *prefix, const struct store_delays *d, struct buf *b)
{
	buf_printf(b, " %sneeded=\"%" PRIu64 "\" %sslow=\"%" PRIu64 "\" %sdelay_ns=\"%" PRIu64
		   "\" %slongest_ns=\"%" PRIu64 "\"",
		   prefix, d->n, prefix, d->slow, prefix, d->sum_ns, prefix, d->longest_ns);
}

void unwinder_write(const struct unwinder *u, struct buf *b)
{
	struct store_counts c;

	store_counts(u->store, &c);
	buf_printf(b, "<tables built=\"%" PRIu64 "\" kept=\"%" PRIu64 "\" failed=\"%" PRIu64 "\" evicted=\"%" PRIu64
		   "\" refused=\"%" PRIu64 "\" bytes=\"%" PRIu64 "\" spaces_full=\"%" PRIu64
		   "\" walked=\"%" PRIu64 "\"",
		   c.built, c.kept, c.failed, c.evicted, c.refused, c.bytes, publisher_full(u->publisher),
		   u->nwalked);
	write_delays("first_", &c.first, b);
	write_delays("", &c.later, b);
	buf_puts(b, "/>\n");
	write_pythons(&c, b);
	write_gos(&c, b);
}
