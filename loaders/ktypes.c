/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/ktypes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"

enum {
	EVERY = 64,                /* the offset of each 64th type is kept */
	SIZE_MAX_TAKEN = 64 << 20, /* ten times the size of a present kernel's types */
};

struct ktypes {
	char *file;
	size_t size;
	bool mapped;
	const char *types, *types_end;
	const char *strings;
	size_t strings_len;
	VEC(uint32_t) places; /* offsets of the types 1 + EVERY * i in `types` */
	size_t ntypes;        /* including type 0, which is not in the file */
	struct map wanted;    /* from a name's hash to the name */
	struct arena names;
	uint64_t starts[(1 << 16) / 64]; /* bitmap of the first two characters of wanted names */
	VEC(struct ktypes_found) found;
};

/* --- the file --- */

/* sysfs returns at most 4 KB at a time. */
static int read_file(struct ktypes *k, int fd)
{
	size_t at = 0;
	ssize_t n;

	k->file = xmalloc(k->size);
	while (at < k->size && (n = read(fd, k->file + at, k->size - at)) != 0) {
		if (n < 0 && errno != EINTR)
			return -errno;
		at += n < 0 ? 0 : n;
	}
	return at == k->size ? 0 : -EINVAL;
}

static int take_file(struct ktypes *k, const char *path)
{
	__cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size < (off_t)sizeof(struct btf_header) || st.st_size > SIZE_MAX_TAKEN)
		return -EINVAL;
	k->size = st.st_size;
	p = mmap(NULL, k->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return read_file(k, fd);
	k->file = p;
	k->mapped = true;
	return 0;
}

static int find_sections(struct ktypes *k)
{
	const struct btf_header *h = (const void *)k->file;
	size_t room;

	if (h->magic != BTF_MAGIC || h->hdr_len < sizeof(*h) || h->hdr_len % 4 || h->hdr_len > k->size)
		return -EINVAL;
	room = k->size - h->hdr_len;
	if (h->type_off % 4 || h->type_off > room || h->type_len > room - h->type_off ||
	    h->str_off > room || h->str_len > room - h->str_off || !h->str_len)
		return -EINVAL;
	k->types = k->file + h->hdr_len + h->type_off;
	k->types_end = k->types + h->type_len;
	k->strings = k->file + h->hdr_len + h->str_off;
	k->strings_len = h->str_len;
	/* The last byte must be 0, so that every string ends. */
	return k->strings[0] || k->strings[k->strings_len - 1] ? -EINVAL : 0;
}

int ktypes_open(const char *path, struct ktypes **ret)
{
	struct ktypes *k = xcalloc(1, sizeof(*k));
	int err = take_file(k, path ? path : "/sys/kernel/btf/vmlinux");

	if (!err)
		err = find_sections(k);
	if (err) {
		ktypes_close(k);
		return err;
	}
	*ret = k;
	return 0;
}

void ktypes_close(struct ktypes *k)
{
	if (!k)
		return;
	if (k->mapped)
		munmap(k->file, k->size);
	else
		free(k->file);
	vec_free(&k->places);
	vec_free(&k->found);
	map_free(&k->wanted);
	arena_free(&k->names);
	free(k);
}

const char *ktypes_string(const struct ktypes *k, uint32_t offset)
{
	return offset < k->strings_len ? k->strings + offset : "";
}

/* --- searching --- */

static uint16_t start_of(const char *name)
{
	return (unsigned char)name[0] | (name[0] ? (unsigned char)name[1] : 0) << 8;
}

void ktypes_want(struct ktypes *k, const char *name)
{
	uint16_t start = start_of(name);

	*map_put(&k->wanted, hash_bytes(name, strlen(name)), NULL) =
		(uintptr_t)arena_strdup(&k->names, name);
	k->starts[start / 64] |= 1ULL << start % 64;
}

/* Our copy of the name; NULL: not wanted. The bitmap rejects most names by two characters. */
static const char *wanted(const struct ktypes *k, const char *name)
{
	uint16_t start = start_of(name);
	uint64_t *at;

	if (!(k->starts[start / 64] >> start % 64 & 1))
		return NULL;
	at = map_get(&k->wanted, hash_bytes(name, strlen(name)));
	return at && !strcmp((const char *)(uintptr_t)*at, name) ?
		       (const char *)(uintptr_t)*at : NULL;
}

/* The size of a type with its data; 0 if its kind is unknown. */
static size_t size_of(const struct btf_type *t)
{
	static const struct {
		unsigned char more, each;
	} sizes[NR_BTF_KINDS] = {
		[BTF_KIND_INT] = { .more = sizeof(uint32_t) },
		[BTF_KIND_ARRAY] = { .more = sizeof(struct btf_array) },
		[BTF_KIND_STRUCT] = { .each = sizeof(struct btf_member) },
		[BTF_KIND_UNION] = { .each = sizeof(struct btf_member) },
		[BTF_KIND_ENUM] = { .each = sizeof(struct btf_enum) },
		[BTF_KIND_FUNC_PROTO] = { .each = sizeof(struct btf_param) },
		[BTF_KIND_VAR] = { .more = sizeof(struct btf_var) },
		[BTF_KIND_DATASEC] = { .each = sizeof(struct btf_var_secinfo) },
		[BTF_KIND_DECL_TAG] = { .more = sizeof(struct btf_decl_tag) },
		[BTF_KIND_ENUM64] = { .each = sizeof(struct btf_enum64) },
	};
	unsigned kind = btf_kind(t);

	if (!kind || kind >= NR_BTF_KINDS)
		return 0;
	return sizeof(*t) + sizes[kind].more + sizes[kind].each * btf_vlen(t);
}

int ktypes_look(struct ktypes *k)
{
	const char *p = k->types;
	uint32_t id = 1;

	for (size_t size; p < k->types_end; p += size, id++) {
		const struct btf_type *t = (const void *)p;
		const char *name;

		if ((size_t)(k->types_end - p) < sizeof(*t))
			return -EINVAL;
		size = size_of(t);
		if (!size)
			return -EOPNOTSUPP;
		if (size > (size_t)(k->types_end - p))
			return -EINVAL;
		if (id % EVERY == 1)
			vec_push(&k->places, (uint32_t)(p - k->types));
		name = t->name_off ? wanted(k, ktypes_string(k, t->name_off)) : NULL;
		if (name)
			vec_push(&k->found, (struct ktypes_found){ id, name });
	}
	k->ntypes = id;
	return 0;
}

const struct ktypes_found *ktypes_found(const struct ktypes *k, size_t *n)
{
	*n = k->found.len;
	return k->found.data;
}

const struct btf_type *ktypes_type(const struct ktypes *k, uint32_t id)
{
	const char *p;

	if (!id || id >= k->ntypes)
		return NULL;
	p = k->types + k->places.data[(id - 1) / EVERY];
	for (uint32_t i = 0; i < (id - 1) % EVERY; i++)
		p += size_of((const void *)p);
	return (const void *)p;
}

uint32_t ktypes_id(const struct ktypes *k, const char *name, unsigned kind)
{
	vec_for_each(f, &k->found)
		if (!strcmp(f->name, name) && btf_kind(ktypes_type(k, f->id)) == kind)
			return f->id;
	return 0;
}

uint32_t ktypes_running_id(const char *name, unsigned kind)
{
	struct ktypes *k;
	uint32_t id = 0;

	if (ktypes_open(NULL, &k) < 0)
		return 0;
	ktypes_want(k, name);
	if (!ktypes_look(k))
		id = ktypes_id(k, name, kind);
	ktypes_close(k);
	return id;
}
