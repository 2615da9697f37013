/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/waitpath.h"

#include <string.h>

#include "analysis/base/map.h"
#include "analysis/metrics/tally.h"
#include "analysis/metrics/waitroles.h"
#include "analysis/model/session.h"

/*
 * Kernel functions that tell nothing about a wait: the path into the scheduler and the
 * entry into the kernel. The frames <SLEEPING> and <STALLED> of recordings of chosen
 * threads repeat the report's headings. A trailing '*' matches any ending.
 */
/*
 * do_nanosleep is one of the scheduler's functions (.sched.text), which the kernel leaves out of the stack of a
 * sleeping task, as a wait that is still open has it.
 */
static const char *const dull_names[] = {
	"do_nanosleep", "__schedule", "schedule", "schedule_timeout", "schedule_idle", "preempt_schedule*",
	"__cond_resched", "schedule_hrtimeout_range*", "schedule_preempt_disabled",
	"finish_task_switch*", "sched_exit*", "__traceiter_*", "bpf_trace_run*", "bpf_prog_*",
	"bpf_get_stack*", "get_perf_callchain", "kprobe_ftrace_handler", "ftrace_*",
	"entry_SYSCALL*", "do_syscall_64", "x64_sys_call", "do_int80*", "entry_INT80*",
	"asm_exc_page_fault", "asm_sysvec_*", "asm_common_interrupt", "irqentry_exit*",
	"exit_to_user_mode*", "syscall_exit_to_user_mode*", "ret_from_fork*",
	"__futex_wait", "do_futex", "try_to_wake_up", "wake_up_q", "wake_up_process",
	"wake_up_state", "ttwu_*", "__wake_up*", "default_wake_function",
	"autoremove_wake_function", "swake_up*",
	"el0t_64_sync*", "el0_svc*", "do_el0_svc*", "invoke_syscall*", "el0_interrupt",
};

static bool is_dull_name(const char *name)
{
	for (size_t i = 0; i < sizeof(dull_names) / sizeof(dull_names[0]); i++) {
		size_t n = strlen(dull_names[i]);

		if (dull_names[i][n - 1] == '*' ? !strncmp(name, dull_names[i], n - 1) :
						  !strcmp(name, dull_names[i]))
			return true;
	}
	return false;
}

/*
 * Stacks of processes that were not followed end in a frame like "<bash_PID_12>". All
 * processes of a program are one function here: that of its first process.
 */
static uint32_t same_program(struct wait_paths *wp, const struct func *f)
{
	const char *pid = strstr(f->name, "_PID_");
	char *program;
	uint64_t *first;

	if (f->name[0] != '<' || !pid)
		return f->id;
	program = xstrndup(f->name, pid - f->name);
	first = map_put(&wp->programs, strtab_id(&wp->program_names, program), NULL);
	free(program);
	if (!*first)
		*first = f->id + 1;
	return *first - 1;
}

static bool is_dull(struct wait_paths *wp, const struct func *f)
{
	const char *tick;
	unsigned char *known;

	while (wp->dull.len <= f->id)
		vec_push(&wp->dull, 0);
	known = &wp->dull.data[f->id];
	if (!*known) {
		tick = f->obj->kernel ? strchr(f->name, '`') : NULL;
		*known = (tick && is_dull_name(tick + 1)) || !strcmp(f->name, "<SLEEPING>") ||
			 !strcmp(f->name, "<STALLED>") ? 2 : 1;
	}
	return *known == 2;
}

void wait_paths_init(struct wait_paths *wp, struct session *s, bool all_frames)
{
	*wp = (struct wait_paths){ .session = s, .all_frames = all_frames };
	vec_push(&wp->first, 0);
}

void wait_paths_free(struct wait_paths *wp)
{
	intern_free(&wp->ids);
	vec_free(&wp->first);
	vec_free(&wp->funcs);
	vec_free(&wp->by_stack);
	vec_free(&wp->dull);
	vec_free(&wp->path_roles);
	vec_free(&wp->path_kinds);
	vec_free(&wp->roles);
	vec_free(&wp->kinds);
	map_free(&wp->programs);
	strtab_free(&wp->program_names);
}

/* The path stored in funcs from `from` on: an existing equal path, or a new one. */
static uint32_t path_id(struct wait_paths *wp, size_t from)
{
	size_t n = wp->funcs.len - from;
	const uint32_t *funcs = &wp->funcs.data[from];
	uint64_t hash = hash_bytes(funcs, n * sizeof(*funcs));
	struct intern_probe probe = intern_probe(hash);
	uint32_t id1;

	while ((id1 = intern_next(&wp->ids, &probe))) {
		const uint32_t *have;

		if (wait_path_funcs(wp, id1 - 1, &have) == n &&
		    !memcmp(have, funcs, n * sizeof(*funcs))) {
			wp->funcs.len = from;
			return id1 - 1;
		}
	}
	vec_push(&wp->first, wp->funcs.len);
	return intern_add(&wp->ids, hash);
}

/* The most functions that call each other in a cycle. */
enum { CYCLE_MAX = 16 };

/*
 * Append a function. If the path then ends in the same functions twice, drop one of the two: a
 * function that calls itself appears once, and so does a cycle of several, unless all frames are
 * wanted.
 */
static void put_func(struct wait_paths *wp, size_t from, const struct func *f)
{
	size_t most = wp->all_frames ? 1 : CYCLE_MAX;
	const uint32_t *end;

	vec_push(&wp->funcs, same_program(wp, f));
	end = &wp->funcs.data[wp->funcs.len];
	for (size_t n = 1; n <= most && 2 * n <= wp->funcs.len - from; n++) {
		if (end[-1] != end[-1 - (ptrdiff_t)n] || memcmp(end - n, end - 2 * n, n * sizeof(*end)))
			continue;
		wp->funcs.len -= n;
		return;
	}
}

/*
 * By name: "__x64_sys_read" is a system call, whether or not the stack also has the
 * kernel entry.
 */
static bool is_syscall(const struct func *f)
{
	static const char *const prefixes[] = { "__x64_sys_", "__ia32_sys_", "__ia32_compat_sys_",
						"__x64_compat_sys_", "__arm64_sys_", "__se_sys_" };
	const char *tick = f->obj->kernel ? strchr(f->name, '`') : NULL;

	for (size_t i = 0; tick && i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (!strncmp(tick + 1, prefixes[i], strlen(prefixes[i])))
			return true;
	}
	return false;
}

/* "do_syscall_64": its callee is a system call, whatever its name. */
static bool is_entry(const struct func *f)
{
	static const char *const names[] = { "do_syscall_64", "x64_sys_call", "do_int80_emulation",
					     "invoke_syscall" };
	const char *tick = f->obj->kernel ? strchr(f->name, '`') : NULL;

	for (size_t i = 0; tick && i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(tick + 1, names[i]))
			return true;
	}
	return false;
}

/*
 * Fold what is between the leaf and the system call, in the path stored from `from` on,
 * leaf first.
 */
static void fold_kernel(struct wait_paths *wp, size_t from, bool entered)
{
	const struct session *s = wp->session;
	uint32_t *funcs = &wp->funcs.data[from];
	size_t n = wp->funcs.len - from, nkernel = 0;

	while (nkernel < n && s->funcs.data[funcs[nkernel]]->obj->kernel)
		nkernel++;
	if (nkernel < 4 || (!entered && !is_syscall(s->funcs.data[funcs[nkernel - 1]])))
		return;
	funcs[1] = WAIT_PATH_FOLDED;
	memmove(&funcs[2], &funcs[nkernel - 1], (n - nkernel + 1) * sizeof(*funcs));
	wp->funcs.len -= nkernel - 3;
}

/* Append functions from the root, as shown_func requires, then reverse them. */
static void put_funcs(struct wait_paths *wp, uint32_t stack)
{
	struct session *s = wp->session;
	const struct stack st = s->stacks.data[stack];
	size_t from = wp->funcs.len;
	struct func *caller = NULL;
	bool entered = false;

	for (uint32_t i = st.n; i > 0; i--) {
		uint32_t frame = s->stack_frames.data[st.first + i - 1];
		struct func *f = shown_func(s, frame_func(s, frame), caller);

		entered |= is_dull(wp, f) && is_entry(f);
		if ((f->obj->show == SHOW_ALL || f != caller) && !is_dull(wp, f))
			put_func(wp, from, f);
		caller = f;
	}
	if (wp->funcs.len == from && caller)
		put_func(wp, from, caller);
	for (size_t a = from, b = wp->funcs.len; a + 1 < b; a++, b--) {
		uint32_t t = wp->funcs.data[a];

		wp->funcs.data[a] = wp->funcs.data[b - 1];
		wp->funcs.data[b - 1] = t;
	}
	if (!wp->all_frames)
		fold_kernel(wp, from, entered);
}

uint32_t wait_path(struct wait_paths *wp, uint32_t stack)
{
	size_t from = wp->funcs.len;

	while (wp->by_stack.len <= stack)
		vec_push(&wp->by_stack, 0);
	if (!wp->by_stack.data[stack]) {
		put_funcs(wp, stack);
		wp->by_stack.data[stack] = path_id(wp, from) + 1;
	}
	return wp->by_stack.data[stack] - 1;
}

size_t wait_path_funcs(const struct wait_paths *wp, uint32_t path, const uint32_t **ret)
{
	uint32_t first = wp->first.data[path];

	*ret = &wp->funcs.data[first];
	return wp->first.data[path + 1] - first;
}

const struct func *wait_path_taker(const struct wait_paths *wp, uint32_t path)
{
	const uint32_t *funcs;
	size_t n = wait_path_funcs(wp, path, &funcs);

	return wait_taker(wp->session, funcs, n);
}

static enum er_lock kind_of(struct wait_paths *wp, uint32_t func)
{
	if (func == WAIT_PATH_FOLDED)
		return ER_LOCK_UNKNOWN;
	while (wp->kinds.len <= func)
		vec_push(&wp->kinds, 0);
	if (!wp->kinds.data[func])
		wp->kinds.data[func] = func_lock_kind(wp->session->funcs.data[func]) + 1;
	return wp->kinds.data[func] - 1;
}

static unsigned roles_of(struct wait_paths *wp, uint32_t func)
{
	if (func == WAIT_PATH_FOLDED)
		return 0;
	while (wp->roles.len <= func)
		vec_push(&wp->roles, 0);
	if (!wp->roles.data[func])
		wp->roles.data[func] = func_roles(wp->session->funcs.data[func]) + 1;
	return wp->roles.data[func] - 1;
}

/* The roles of all functions of the path. */
static unsigned path_roles(struct wait_paths *wp, uint32_t path)
{
	const uint32_t *funcs;
	size_t n = wait_path_funcs(wp, path, &funcs);
	unsigned roles = 0;

	for (size_t i = 0; i < n; i++)
		roles |= roles_of(wp, funcs[i]);
	return roles;
}

static enum er_lock path_kind(struct wait_paths *wp, uint32_t path)
{
	const uint32_t *funcs;
	size_t n = wait_path_funcs(wp, path, &funcs);

	if (path_roles(wp, path) & ROLE_TAKEN)
		return ER_LOCK_UNKNOWN;
	for (size_t i = 0; i < n; i++) {
		enum er_lock kind = kind_of(wp, funcs[i]);

		if (kind)
			return kind;
	}
	return ER_LOCK_UNKNOWN;
}

bool wait_path_own_place(struct wait_paths *wp, uint32_t path)
{
	unsigned roles = path_roles(wp, path);

	return roles & ROLE_OWN_PLACE || (roles & ROLE_OWN_EVENT && roles & ROLE_EVENT);
}

enum er_lock wait_path_lock_kind(struct wait_paths *wp, uint32_t path)
{
	while (wp->path_kinds.len <= path)
		vec_push(&wp->path_kinds, 0);
	if (!wp->path_kinds.data[path])
		wp->path_kinds.data[path] = path_kind(wp, path) + 1;
	return wp->path_kinds.data[path] - 1;
}

/* Events first: a condition variable takes its mutex again before it returns. */
static enum lock_role role_of(unsigned roles)
{
	if (roles & ROLE_TAKEN)
		return LOCK_LOCK;
	return roles & ROLE_EVENT ? LOCK_EVENT : roles & ROLE_LOCK ? LOCK_LOCK : LOCK_UNKNOWN;
}

enum lock_role wait_path_role(struct wait_paths *wp, uint32_t path)
{
	while (wp->path_roles.len <= path)
		vec_push(&wp->path_roles, 0);
	if (!wp->path_roles.data[path])
		wp->path_roles.data[path] = role_of(path_roles(wp, path)) + 1;
	return wp->path_roles.data[path] - 1;
}
