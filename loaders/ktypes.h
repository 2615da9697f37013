/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the kernel's type information (BTF) that the recorder needs. A kernel has some
 * 150,000 types. libbpf copies them twice and searches all of them for each type and each
 * tracepoint of a program, which costs 15 ms of CPU time and 11 MB at each start. Here they are
 * mapped, if the kernel allows it (6.16), and searched once for all names. Order: open, want,
 * look, then ask.
 */
#ifndef LOADERS_KTYPES_H
#define LOADERS_KTYPES_H

#include <stddef.h>
#include <stdint.h>

struct btf;
struct btf_type;
struct ktypes;

/*
 * path NULL: the running kernel's types. Returns 0; -EINVAL if the file is not BTF; otherwise
 * -errno. Release *ret with ktypes_close.
 */
int ktypes_open(const char *path, struct ktypes **ret);
void ktypes_close(struct ktypes *k); /* NULL is allowed */

/* Make ktypes_look search for types with this name, of any kind. The name is copied. */
void ktypes_want(struct ktypes *k, const char *name);
/*
 * Search all types for the wanted names. Call it once. Returns 0; -EOPNOTSUPP if a type has an
 * unknown kind, because its size is unknown and nothing after it can be read; -EINVAL if the
 * types are damaged.
 */
int ktypes_look(struct ktypes *k);

/* The id of the first type with this wanted name and kind (BTF_KIND_…); 0: none. */
uint32_t ktypes_id(const struct ktypes *k, const char *name, unsigned kind);
/* The same for one name of the running kernel; searches all types at each call. */
uint32_t ktypes_running_id(const char *name, unsigned kind);

/*
 * An excerpt of the kernel's types. It has every kernel struct and union that shares its name
 * with one in `local`. Of their members it has those whose names occur anywhere in `local`.
 * That is enough for libbpf to relocate fields, or test that they exist, in programs compiled
 * with `local`; enumeration values cannot be relocated with it. First call ktypes_want_types,
 * then ktypes_look.
 */
void ktypes_want_types(struct ktypes *k, const struct btf *local);
/* Returns NULL and sets errno on failure. Release it with btf__free. */
struct btf *ktypes_excerpt(const struct ktypes *k, const struct btf *local);

/*
 * For ktypes_excerpt.c: the types found, a type by its id (NULL: no such id), a string by its
 * offset ("" if out of range).
 */
struct ktypes_found {
	uint32_t id;
	const char *name;
};

const struct ktypes_found *ktypes_found(const struct ktypes *k, size_t *n);
const struct btf_type *ktypes_type(const struct ktypes *k, uint32_t id);
const char *ktypes_string(const struct ktypes *k, uint32_t offset);

#endif
