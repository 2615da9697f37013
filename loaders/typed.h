/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads programs for which the kernel's types matter: those whose arguments it has types
 * for (SEC "tp_btf/", "iter/", "iter.s/") and those whose fields are relocated (CO-RE). libbpf is
 * handed what it would look for itself, from one pass over the kernel's types (ktypes.h).
 */
#ifndef LOADERS_TYPED_H
#define LOADERS_TYPED_H

#include <stdbool.h>

struct bpf_link;
struct bpf_object;
struct bpf_program;
struct typed;

/* Before the object is opened. 0 or -errno. One at a time: until typed_loaded. */
int typed_open(struct typed **ret);
/* For bpf_object_open_opts.btf_custom_path; empty until typed_look. */
const char *typed_path(const struct typed *t);
/* Before the object is loaded: the pass, for what it needs and for one name more (NULL: none). 0 or -errno. */
int typed_look(struct typed *t, const struct bpf_object *obj, const char *also);
/* Until it is loaded: has the kernel a type of a name that was looked for (BTF_KIND_…)? */
bool typed_has(const struct typed *t, const char *name, unsigned kind);
/* After it is loaded: what took memory goes. */
void typed_loaded(struct typed *t);
/* NULL: nothing. */
void typed_close(struct typed *t);

/* As bpf_program__attach: any program but iterators. */
struct bpf_link *typed_attach(const struct bpf_program *prog);

#endif
