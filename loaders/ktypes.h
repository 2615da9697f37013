/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's type information (BTF), as far as it is asked for. It has some
 * 150,000 types; libbpf copies them twice, and goes through all of them for each type and
 * each tracepoint of a program: 15 ms of CPU time at each start, and 11 MB. Here they are
 * mapped where the kernel allows it (6.16), and gone through once.
 */
#ifndef LOADERS_KTYPES_H
#define LOADERS_KTYPES_H

#include <stddef.h>
#include <stdint.h>

struct btf;
struct btf_type;
struct ktypes;

/* `path`: NULL for the running kernel's. 0; -EINVAL when it is none; else -errno. */
int ktypes_open(const char *path, struct ktypes **ret);
void ktypes_close(struct ktypes *k); /* NULL: nothing */

/* What ktypes_look is to find, of whatever kind: the name is copied. */
void ktypes_want(struct ktypes *k, const char *name);
/*
 * Find all that is wanted; once. 0; -EOPNOTSUPP when there are types of a kind that we do
 * not know, for what lies behind them cannot be found; -EINVAL when they are damaged.
 */
int ktypes_look(struct ktypes *k);

/* The number of the first type of this wanted name and kind (BTF_KIND_…); 0: there is none. */
uint32_t ktypes_id(const struct ktypes *k, const char *name, unsigned kind);
/* That of one name of the running kernel, at the price of a pass; 0: there is none. */
uint32_t ktypes_running_id(const char *name, unsigned kind);

/*
 * An excerpt: of each struct and union that `local` has as well, all that bear the name,
 * with those members whose names occur in `local`. It is what libbpf needs to relocate fields
 * (also to ask whether they exist) of programs that were compiled with `local`; not to
 * relocate values of enumerations. ktypes_want_types, then ktypes_look, come before it.
 */
void ktypes_want_types(struct ktypes *k, const struct btf *local);
/* To be released with btf__free; NULL, and errno, when it cannot be made. */
struct btf *ktypes_excerpt(const struct ktypes *k, const struct btf *local);

/* For the excerpt: all that was found, type by number, name by offset. */
struct ktypes_found {
	uint32_t id;
	const char *name;
};

const struct ktypes_found *ktypes_found(const struct ktypes *k, size_t *n);
const struct btf_type *ktypes_type(const struct ktypes *k, uint32_t id);
const char *ktypes_string(const struct ktypes *k, uint32_t offset);

#endif
