/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libbpf calls our handlers for these sections instead of its own. We register the programs as
 * raw tracepoints, because libbpf searches no types for those. Just before the load our handler
 * sets the real program type and the kernel type that it attaches to. It also replaces calls of
 * kernel functions, for which libbpf would search, too.
 */
#include "loaders/typed.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "analysis/base/alloc.h"
#include "bpf/er_event.h"
#include "loaders/ktypes.h"

static const struct section {
	const char *name;   /* the section's prefix: "tp_btf/" in "tp_btf/sched_switch" */
	const char *prefix; /* NULL: it attaches to no type; the type's prefix: "btf_trace_" in "btf_trace_sched_switch" */
	unsigned kind;
	enum bpf_attach_type attach;
	uint32_t flags;
} sections[] = {
	{ "perf_event", NULL, 0, 0, 0 }, /* attaches to no type */
	{ "tp_btf/", "btf_trace_", BTF_KIND_TYPEDEF, BPF_TRACE_RAW_TP, 0 },
	{ "iter/", "bpf_iter_", BTF_KIND_FUNC, BPF_TRACE_ITER, 0 },
	{ "iter.s/", "bpf_iter_", BTF_KIND_FUNC, BPF_TRACE_ITER, BPF_F_SLEEPABLE },
};

enum { NSECTIONS = sizeof(sections) / sizeof(*sections) };

struct typed {
	struct ktypes *types; /* NULL after the load */
	int excerpt;          /* a memfd */
	char path[32];
};

static struct typed *loading; /* the one whose programs the handlers prepare */

static const struct section *section_of(const struct bpf_program *prog)
{
	const char *name = bpf_program__section_name(prog);

	for (int i = 0; i < NSECTIONS; i++)
		if (!strncmp(name, sections[i].name, strlen(sections[i].name)))
			return &sections[i];
	return NULL;
}

/* The name of the kernel type that a program attaches to; malloc'ed; NULL: none. */
static char *target_of(const struct bpf_program *prog)
{
	const struct section *s = section_of(prog);

	return s && s->prefix ? xasprintf("%s%s", s->prefix, bpf_program__section_name(prog) + strlen(s->name)) :
		   NULL;
}

static uint32_t target_id(const struct typed *t, const struct bpf_program *prog)
{
	__cleanup(freep) char *target = target_of(prog);

	return target ? ktypes_id(t->types, target, section_of(prog)->kind) : 0;
}

bool typed_has(const struct typed *t, const char *name, unsigned kind)
{
	return ktypes_id(t->types, name, kind);
}

bool typed_can_schedule(const struct typed *t)
{
	return typed_has(t, SCHEDULE_RESUME, BTF_KIND_FUNC);
}

/* Without the function the calls stay as they are; the program must not reach them. */
static void replace_calls(struct bpf_program *prog)
{
	struct bpf_insn *insns = (struct bpf_insn *)bpf_program__insns(prog);
	uint32_t id = ktypes_id(loading->types, SCHEDULE_RESUME, BTF_KIND_FUNC);

	for (size_t i = 0; id && i < bpf_program__insn_cnt(prog); i++) {
		if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg ||
		    insns[i].imm != ER_CALL_SCHEDULE_RESUME)
			continue;
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		insns[i].imm = id;
	}
}

/* Called by libbpf just before it loads the program. */
static int prepare(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	replace_calls(prog);
	if (!section_of(prog)->prefix)
		return 0;
	opts->attach_btf_id = target_id(loading, prog);
	opts->prog_flags |= section_of(prog)->flags;
	return opts->attach_btf_id ? bpf_program__set_type(prog, BPF_PROG_TYPE_TRACING) : -ESRCH;
}

/*
 * Register once and never unregister: libbpf 1.1 frees its list of handlers with the last one
 * and then uses it again.
 */
static int add_handlers(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = prepare);
	static int added;

	for (; added < NSECTIONS; added++) {
		const struct section *s = &sections[added];
		int id = libbpf_register_prog_handler(s->name, s->prefix ? BPF_PROG_TYPE_RAW_TRACEPOINT :
									   BPF_PROG_TYPE_PERF_EVENT,
						      s->attach, &opts);

		if (id < 0)
			return id;
	}
	return 0;
}

int typed_open(struct typed **ret)
{
	struct typed *t = xcalloc(1, sizeof(*t));
	int err;

	t->excerpt = memfd_create("er_types", MFD_CLOEXEC);
	err = t->excerpt < 0 ? -errno : ktypes_open(NULL, &t->types);
	err = err ? err : add_handlers();
	if (err) {
		typed_close(t);
		return err;
	}
	snprintf(t->path, sizeof(t->path), "/proc/self/fd/%d", t->excerpt);
	loading = *ret = t;
	return 0;
}

const char *typed_path(const struct typed *t)
{
	return t->path;
}

static int write_excerpt(const struct typed *t, const struct btf *local)
{
	struct btf *excerpt = ktypes_excerpt(t->types, local);
	const void *data;
	__u32 size;
	int err = 0;

	if (!excerpt)
		return -errno;
	data = btf__raw_data(excerpt, &size);
	if (!data || write(t->excerpt, data, size) != size)
		err = errno ? -errno : -EIO;
	btf__free(excerpt);
	return err;
}

int typed_look(struct typed *t, const struct bpf_object *obj, const char *also)
{
	const struct btf *local = bpf_object__btf(obj);
	struct bpf_program *prog;
	int err;

	bpf_object__for_each_program(prog, obj) {
		__cleanup(freep) char *target = target_of(prog);

		if (target)
			ktypes_want(t->types, target);
	}
	if (also)
		ktypes_want(t->types, also);
	ktypes_want(t->types, SCHEDULE_RESUME);
	ktypes_want_types(t->types, local);
	err = ktypes_look(t->types);
	return err ? err : write_excerpt(t, local);
}

void typed_loaded(struct typed *t)
{
	ktypes_close(t->types);
	closep(&t->excerpt);
	t->types = NULL;
	t->excerpt = -1;
	if (loading == t)
		loading = NULL;
}

void typed_close(struct typed *t)
{
	if (!t)
		return;
	typed_loaded(t);
	free(t);
}

struct bpf_link *typed_attach(const struct bpf_program *prog)
{
	return section_of(prog) ? bpf_program__attach_trace(prog) : bpf_program__attach(prog);
}
