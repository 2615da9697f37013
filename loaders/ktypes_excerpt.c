/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes an excerpt of the kernel's types. Members are chosen by name alone, in whatever type
 * they are. A few more than needed do no harm, because libbpf still resolves each field itself.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <bpf/btf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "loaders/ktypes.h"

enum { DEPTH_MAX = 32 }; /* of nested types; the kernel's nest five deep */

struct excerpt {
	const struct ktypes *k;
	struct btf *out;
	struct map members; /* hashes of wanted members' names */
	struct map done;    /* from a kernel type's id to its id in `out` */
	int depth;
};

/* --- choosing names --- */

/*
 * The length without the flavour suffix: "task_struct___old" is another view of "task_struct",
 * so 11.
 */
static size_t plain_len(const char *name)
{
	const char *flavour = strstr(name, "___");

	return flavour ? (size_t)(flavour - name) : strlen(name);
}

void ktypes_want_types(struct ktypes *k, const struct btf *local)
{
	for (uint32_t id = 1; id < btf__type_cnt(local); id++) {
		const struct btf_type *t = btf__type_by_id(local, id);
		const char *name = btf__name_by_offset(local, t->name_off);
		__cleanup(freep) char *plain = NULL;

		if (!btf_is_composite(t) || !name || !*name)
			continue;
		plain = xstrndup(name, plain_len(name));
		ktypes_want(k, plain);
	}
}

static void want_members(struct excerpt *x, const struct btf *local)
{
	for (uint32_t id = 1; id < btf__type_cnt(local); id++) {
		const struct btf_type *t = btf__type_by_id(local, id);

		for (int i = 0; btf_is_composite(t) && i < btf_vlen(t); i++) {
			const char *name = btf__name_by_offset(local, btf_members(t)[i].name_off);

			map_put(&x->members, hash_bytes(name, strlen(name)), NULL);
		}
	}
}

/* An anonymous member may contain wanted ones. */
static bool is_wanted(const struct excerpt *x, const char *name)
{
	return !*name || map_get(&x->members, hash_bytes(name, strlen(name)));
}

/* --- copying --- */

static int copy(struct excerpt *x, uint32_t id);

struct field {
	const struct btf_member *m;
	int type;
};

static int add_fields(struct excerpt *x, const struct btf_type *t, const struct field *f, size_t n)
{
	int err = 0;

	for (size_t i = 0; !err && i < n; i++) {
		unsigned at = f[i].m - btf_members(t);

		err = btf__add_field(x->out, ktypes_string(x->k, f[i].m->name_off), f[i].type,
				     btf_member_bit_offset(t, at), btf_member_bitfield_size(t, at));
	}
	return err;
}

/* Copy the members' types first: libbpf adds a field to the type that was added last. */
static int copy_composite(struct excerpt *x, const struct btf_type *t)
{
	const char *name = ktypes_string(x->k, t->name_off);
	VEC(struct field) fields = { 0 };
	int id = 0, err;

	for (int i = 0; id >= 0 && i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];

		if (!is_wanted(x, ktypes_string(x->k, m->name_off)))
			continue;
		id = copy(x, m->type);
		vec_push(&fields, (struct field){ m, id });
	}
	if (id >= 0)
		id = btf_is_struct(t) ? btf__add_struct(x->out, name, t->size) :
					btf__add_union(x->out, name, t->size);
	err = id < 0 ? id : add_fields(x, t, fields.data, fields.len);
	vec_free(&fields);
	return err < 0 ? err : id;
}

static int copy_array(struct excerpt *x, const struct btf_array *a)
{
	int index = copy(x, a->index_type);
	int type = index < 0 ? index : copy(x, a->type);

	return type < 0 ? type : btf__add_array(x->out, index, type, a->nelems);
}

static int copy_new(struct excerpt *x, const struct btf_type *t)
{
	const char *name = ktypes_string(x->k, t->name_off);

	switch (btf_kind(t)) {
	case BTF_KIND_INT:
		return btf__add_int(x->out, name, t->size, btf_int_encoding(t));
	case BTF_KIND_PTR:
		return btf__add_ptr(x->out, 0);
	case BTF_KIND_ENUM:
		return btf__add_enum(x->out, name, t->size);
	case BTF_KIND_ENUM64:
		return btf__add_enum64(x->out, name, t->size, btf_kflag(t));
	case BTF_KIND_ARRAY:
		return copy_array(x, btf_array(t));
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return copy_composite(x, t);
	default:
		return 0; /* no kind that a member can have */
	}
}

/*
 * Copy a type into the excerpt, without typedefs and qualifiers. Returns its id there, or
 * -errno.
 */
static int copy(struct excerpt *x, uint32_t id)
{
	const struct btf_type *t = ktypes_type(x->k, id);
	uint64_t *have;
	int ret;

	for (int i = 0; t && (btf_is_mod(t) || btf_is_typedef(t)) && i < DEPTH_MAX; i++)
		t = ktypes_type(x->k, id = t->type);
	have = map_get(&x->done, id);
	if (!t || have)
		return have ? *have : 0;
	if (x->depth == DEPTH_MAX)
		return -EINVAL;
	x->depth++;
	ret = copy_new(x, t);
	x->depth--;
	if (ret >= 0)
		*map_put(&x->done, id, NULL) = ret;
	return ret;
}

static int copy_found(struct excerpt *x)
{
	size_t n;
	const struct ktypes_found *f = ktypes_found(x->k, &n);
	int err = 0;

	for (size_t i = 0; err >= 0 && i < n; i++)
		if (btf_is_composite(ktypes_type(x->k, f[i].id)))
			err = copy(x, f[i].id);
	return err < 0 ? err : 0;
}

struct btf *ktypes_excerpt(const struct ktypes *k, const struct btf *local)
{
	struct excerpt x = { .k = k, .out = btf__new_empty() };
	int err = x.out ? 0 : -errno;

	if (!err) {
		want_members(&x, local);
		err = copy_found(&x);
	}
	map_free(&x.members);
	map_free(&x.done);
	if (!err)
		return x.out;
	btf__free(x.out);
	errno = -err;
	return NULL;
}
