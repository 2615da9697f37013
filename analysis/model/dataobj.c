/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the load object at a data address, by the nearest mapping at or below it. The
 * mapping may lie below because recordings may have only the mappings of code, and
 * zero-initialized data is in no file. The mapping's file offset gives the distance by
 * which the object was moved; then its symbol table gives the variable.
 */
#include "analysis/model/dataobj.h"

#include "analysis/experiment/exp_map.h"
#include "analysis/model/model.h"
#include "analysis/symbols/datasyms.h"

/* Variables of one load object. */
struct data_file {
	bool read;
	struct datasyms *syms; /* NULL: none */
	struct map met;        /* address of a variable already asked for, to struct dataobj * */
};

struct data_objects {
	VEC(struct data_file) files; /* by object id */
	struct dataobj unknown[3];
	uint32_t n;
};

enum why { WHY_NO_ADDRESS, WHY_NO_OBJECT, WHY_NO_VARIABLE };

static struct data_objects *data_objects(struct session *s)
{
	static const char *const names[] = {
		"<Unknown> (no address of data)", "<Unknown> (in no load object)",
		"<Unknown> (no variable of that address)",
	};
	struct data_objects *d = s->impl->data;

	if (d)
		return d;
	d = s->impl->data = arena_alloc(&s->arena, sizeof(*d));
	for (d->n = 0; d->n < sizeof(names) / sizeof(names[0]); d->n++)
		d->unknown[d->n] = (struct dataobj){ .id = d->n, .name = names[d->n] };
	return d;
}

void data_objects_free(struct data_objects *d)
{
	if (!d)
		return;
	vec_for_each(f, &d->files) {
		datasyms_free(f->syms);
		map_free(&f->met);
	}
	vec_free(&d->files);
}

/*
 * Use the file with the most variables: an archive may be a symbol file, which has no
 * constants.
 */
static bool use_symbols(struct loadobj *o, int fd, void *ctx)
{
	struct datasyms *syms = datasyms_open(fd);
	struct data_file *f = ctx;

	if (f->syms && (!syms || datasyms_count(syms) <= datasyms_count(f->syms))) {
		datasyms_free(syms);
		return false;
	}
	datasyms_free(f->syms);
	f->syms = syms;
	return false;
}

static struct data_file *file_of(struct session *s, struct data_objects *d, struct loadobj *o)
{
	struct data_file *f;

	while (d->files.len <= o->id)
		vec_push(&d->files, (struct data_file){ 0 });
	f = &d->files.data[o->id];
	if (!f->read)
		object_files(s, o, use_symbols, f);
	f->read = true;
	return f;
}

/* The mapping of a file at, or nearest below, an address at a time. */
static const struct exp_map *mapping_below(const struct experiment *e, uint64_t vaddr,
					   int64_t time_ns)
{
	const struct exp_map *best = NULL;

	vec_for_each(m, &e->maps) {
		if (m->what != EXP_MAP_SEGMENT || m->vaddr > vaddr || m->name[0] != '/')
			continue;
		if (best && (m->vaddr < best->vaddr ||
			     (m->vaddr == best->vaddr && m->time_ns > time_ns)))
			continue;
		best = m;
	}
	return best;
}

static const struct dataobj *variable(struct session *s, struct data_objects *d, struct loadobj *o,
				      struct data_file *f, const struct datasym *sym)
{
	uint64_t *known = map_put(&f->met, sym->addr, NULL);
	struct dataobj *new;

	if (*known)
		return (const struct dataobj *)(uintptr_t)*known;
	new = arena_alloc(&s->arena, sizeof(*new));
	*new = (struct dataobj){ .id = d->n++, .name = sym->name, .obj = o, .addr = sym->addr,
				 .size = sym->size };
	*known = (uintptr_t)new;
	return new;
}

const struct dataobj *session_data_object(struct session *s, const struct experiment *e,
					  uint64_t vaddr, int64_t time_ns, uint64_t *offset)
{
	struct data_objects *d = data_objects(s);
	const struct exp_map *m = mapping_below(e, vaddr, time_ns);
	const struct datasym *sym;
	struct data_file *f;
	struct loadobj *o;
	uint64_t linked;

	*offset = 0;
	if (vaddr <= 255)
		return &d->unknown[WHY_NO_ADDRESS];
	if (!m)
		return &d->unknown[WHY_NO_OBJECT];
	o = object_mapped(s, e, m->name);
	f = file_of(s, d, o);
	linked = f->syms ? datasyms_vaddr(f->syms, m->foffset) : (uint64_t)-1;
	if (linked == (uint64_t)-1)
		return &d->unknown[vaddr - m->vaddr < m->size ? WHY_NO_VARIABLE : WHY_NO_OBJECT];
	sym = datasyms_find(f->syms, vaddr - m->vaddr + linked);
	if (!sym)
		return &d->unknown[vaddr - m->vaddr < m->size ? WHY_NO_VARIABLE : WHY_NO_OBJECT];
	*offset = vaddr - m->vaddr + linked - sym->addr;
	return variable(s, d, o, f, sym);
}

const char *object_data_name(struct session *s, struct loadobj *o, uint64_t addr, uint64_t *offset)
{
	const struct data_file *f = file_of(s, data_objects(s), o);
	const struct datasym *sym = f->syms ? datasyms_find(f->syms, addr) : NULL;

	if (sym)
		*offset = addr - sym->addr;
	return sym ? sym->name : NULL;
}
