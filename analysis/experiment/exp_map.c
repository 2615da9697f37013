/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map.xml and kallmodsyms: which code was mapped where, and when. */
#include "analysis/experiment/exp_map.h"

#include "analysis/experiment/experiment_impl.h"

#include <stdlib.h>

#include "analysis/base/ksymline.h"

static uint64_t get_size(const struct xml_element *el)
{
	int64_t size = xml_get_int(el, "size", 0);

	return size > 0 ? size : 0;
}

static void on_segment(struct experiment *e, const struct xml_element *el, struct exp_map *m)
{
	m->what = EXP_MAP_SEGMENT;
	m->foffset = xml_get_int(el, "foffset", 0);
	m->modes = xml_get_hex(el, "modes", 0);
}

static void on_function(struct experiment *e, const struct xml_element *el, struct exp_map *m)
{
	m->what = EXP_MAP_FUNCTION;
	m->interpreted = xml_get(el, "language");
	m->alias = exp_attr(e, el, "alias");
}

static void on_dynfunc(struct experiment *e, const struct xml_element *el, struct exp_map *m)
{
	m->what = EXP_MAP_DYNFUNC;
	m->module = m->name;
	m->name = exp_attr(e, el, "funcname");
}

/* Java methods (jcm) are only counted; unknown objects are ignored. */
static const struct map_object {
	const char *name;
	void (*fill)(struct experiment *e, const struct xml_element *el, struct exp_map *m);
} objects[] = {
	{ "segment", on_segment },
	{ "function", on_function },
	{ "dynfunc", on_dynfunc },
};

static const struct map_object *find_object(const char *name)
{
	for (size_t i = 0; name && i < sizeof(objects) / sizeof(objects[0]); i++) {
		if (!strcmp(objects[i].name, name))
			return &objects[i];
	}
	return NULL;
}

bool map_event(struct experiment *e, const struct xml_element *el)
{
	const char *kind = xml_get(el, "kind");
	const struct map_object *object = find_object(xml_get(el, "object"));
	struct exp_map m = { .time_ns = xml_get_time(el, "tstamp", 0),
			     .vaddr = xml_get_hex(el, "vaddr", 0), .size = get_size(el) };

	if (!kind || (strcmp(kind, "map") && strcmp(kind, "unmap")))
		return false;
	if (xml_get(el, "object") && !strcmp(xml_get(el, "object"), "jcm"))
		e->njava++;
	m.name = exp_attr(e, el, "name");
	if (!strcmp(kind, "unmap"))
		m.what = EXP_MAP_UNMAP;
	else if (object)
		object->fill(e, el, &m);
	else
		return true;
	vec_push(&e->maps, m);
	return true;
}

void map_read(struct experiment *e, int dirfd)
{
	struct file f;

	if (!exp_file(e, dirfd, "map.xml", &f)) {
		diag_warn(&e->diag, "map.xml: missing: functions of programs have no names");
		return;
	}
	log_read(e, "map.xml", &f);
	file_close(&f);
}

static char *copy_word(struct experiment *e, const char *s, size_t n)
{
	return memcpy(arena_alloc(&e->arena, n + 1), s, n);
}

/*
 * The kernel's own name of a function. The writer replaces each dot by a middle dot,
 * and puts one in front of names that gprofng would ignore (docs/format.md).
 */
static char *kernel_name(struct experiment *e, const char *s, size_t n)
{
	static const char dot[] = "\xc2\xb7"; /* U+00B7 */
	const size_t len = sizeof(dot) - 1;
	const char *end = s + n;
	char *name = arena_alloc(&e->arena, n + 1), *to = name;

	if (n >= len && !memcmp(s, dot, len))
		s += len;
	while (s < end) {
		bool is_dot = (size_t)(end - s) >= len && !memcmp(s, dot, len);

		*to++ = is_dot ? '.' : *s;
		s += is_dot ? len : 1;
	}
	*to = '\0';
	return name;
}

/* Neighbouring symbols are mostly of one module: they share one copy of its name. */
static const char *module_name(struct experiment *e, const struct ksym_line *l)
{
	const char *last = e->ksyms.len ? e->ksyms.data[e->ksyms.len - 1].module : "vmlinux";

	if (!l->module)
		return "vmlinux";
	if (strlen(last) == l->module_len && !memcmp(last, l->module, l->module_len))
		return last;
	return copy_word(e, l->module, l->module_len);
}

/* Lines have a size here, unlike in /proc/kallsyms. False: the line is no symbol. */
static bool add_ksym(struct experiment *e, const char *p, const char *end)
{
	struct ksym_line l;
	struct exp_ksym k;

	if (!ksym_line_parse(p, end, &l) || !l.sized)
		return false;
	/*
	 * Symbols without a size only give the range of the kernel; the founder has its
	 * functions.
	 */
	if ((l.type != 't' && l.type != 'T') || !l.size)
		return true;
	k = (struct exp_ksym){ .addr = l.addr, .size = l.size, .module = module_name(e, &l),
			       .name = kernel_name(e, l.name, l.name_len) };
	vec_push(&e->ksyms, k);
	return true;
}

static int by_addr(const void *pa, const void *pb)
{
	const struct exp_ksym *a = pa, *b = pb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* They are usually in order already, so check before sorting. */
static void sort_ksyms(struct experiment *e)
{
	for (size_t i = 1; i < e->ksyms.len; i++) {
		if (e->ksyms.data[i - 1].addr <= e->ksyms.data[i].addr)
			continue;
		vec_sort(&e->ksyms, by_addr);
		return;
	}
}

static void read_list(struct experiment *e, int dirfd, const char *name)
{
	size_t nbad = 0;
	struct file f;

	if (!exp_file(e, dirfd, name, &f))
		return;
	for (const char *p = (const char *)f.data, *end = p + f.size; p < end;) {
		const char *nl = memchr(p, '\n', end - p);
		const char *stop = nl ? nl : end;

		nbad += stop > p && !add_ksym(e, p, stop);
		p = nl ? nl + 1 : end;
	}
	if (nbad)
		diag_warn(&e->diag, "kallmodsyms: %zu lines cannot be read", nbad);
	sort_ksyms(e);
	file_close(&f);
}

/* The kernel functions of a sub-experiment are in its founder, even when it is opened alone. */
void ksyms_read(struct experiment *e, int dirfd)
{
	read_list(e, dirfd, "kallmodsyms");
	if (!e->ksyms.len && !e->founder && e->name[0] == '_')
		read_list(e, dirfd, "../kallmodsyms");
}
