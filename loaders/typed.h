/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads BPF programs that depend on the kernel's types: programs with typed arguments (SEC
 * "tp_btf/", "iter/", "iter.s/"), programs with relocated fields (CO-RE), and calls of kernel
 * functions. libbpf would search the kernel's types for each of them; here one pass finds all
 * (ktypes.h), and libbpf gets the results. Order: typed_open, open the object, typed_look, load it, typed_loaded.
 */
#ifndef LOADERS_TYPED_H
#define LOADERS_TYPED_H

#include <stdbool.h>

/* The kernel's function that calls a program when a thread returns to user mode (from 6.18 on). */
#define SCHEDULE_RESUME "bpf_task_work_schedule_resume_impl"

struct bpf_link;
struct bpf_object;
struct bpf_program;
struct typed;

/*
 * Call it before opening the object. Returns 0, or -errno. Only one may be open until
 * typed_loaded. Release *ret with typed_close.
 */
int typed_open(struct typed **ret);
/* The path for bpf_object_open_opts.btf_custom_path; the file is empty until typed_look. */
const char *typed_path(const struct typed *t);
/*
 * Call it before loading the object: search the kernel's types for what the object needs, and
 * for the type `also` (NULL: none). Returns 0, or -errno.
 */
int typed_look(struct typed *t, const struct bpf_object *obj, const char *also);
/*
 * Whether the kernel has a type of this name and kind (BTF_KIND_…), which must be among those
 * searched for. Valid until typed_loaded.
 */
bool typed_has(const struct typed *t, const char *name, unsigned kind);
/* Whether the kernel has SCHEDULE_RESUME. Valid as above. */
bool typed_can_schedule(const struct typed *t);
/* Call it after the load, failed or not: releases the types. */
void typed_loaded(struct typed *t);
/* NULL is allowed. */
void typed_close(struct typed *t);

/* Like bpf_program__attach, for any program but iterators. */
struct bpf_link *typed_attach(const struct bpf_program *prog);

#endif
