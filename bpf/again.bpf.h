/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks that are repeated. A page of the stack, or of generated code, may not be in memory: after a
 * fork the child has no pages of files yet, and a page of the stack is copied at the first write.
 * Where stacks are walked nothing can wait for a page. From 6.18 on the kernel can call a program
 * when the thread is about to return to user mode. Its user stack is then still the same, and
 * reading may wait. So a stack whose walk missed a page is sent as it is, with ER_STACK_UNREAD; the
 * thread walks again before it runs on and sends its user frames with ER_STACK_AGAIN under the
 * same id. User space waits for them for a moment.
 */
#ifndef AGAIN_BPF_H
#define AGAIN_BPF_H

#include "bpf/send.bpf.h"
#include "bpf/walk.bpf.h"

enum {
	AGAIN_WALKS = 8, /* that may be outstanding; further stacks stay as they are */
	AGAIN_PAGES = 8, /* fetched for one walk */
};

/* The kernel finds it in a map's value by this name. */
struct bpf_task_work {
	__u64 opaque;
} __attribute__((aligned(8)));

struct again {
	struct bpf_task_work work;
	__u64 ip, sp; /* of the thread in user mode */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, AGAIN_WALKS);
	__type(key, __u32);
	__type(value, struct again);
} er_agains SEC(".maps");

/* For the entries of er_agains: the walk, and the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, AGAIN_WALKS);
	__type(key, __u32);
	__type(value, struct unwind_env);
} er_again_walks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, AGAIN_WALKS);
	__type(key, __u32);
	__type(value, union stack_scratch);
} er_again_stacks SEC(".maps");

/*
 * bpf_task_work_schedule_resume_impl(); the loader replaces the number (loaders/typed.c). Called only
 * where er_again is true: the kernel has the function.
 */
static long (*const again_schedule)(struct task_struct *p, struct bpf_task_work *work, void *map,
				    int (*callback)(void *map, void *key, void *value),
				    void *unused) = (void *)ER_CALL_SCHEDULE_RESUME;

/*
 * Whether what the walk could not read may be fetched, so that another one finds more. Only pages that the kernel
 * alone brings: the thread must not wait for another program, which may never answer. Nor for code that it does not
 * run: beside a function's first byte is the page before. The thread needs the page of a frame's pc to go on.
 * A function of its own: the verifier follows each round of the loop that calls it.
 */
__noinline int er_again_wants(const struct unwind_env *env)
{
	__u64 at;

	if (!env || !walk_is_unread(env))
		return false;
	at = env->missed & ~7ULL;
	return vma_may_be_read(bpf_get_current_task_btf(), at, 0, at >> PAGE_BITS == env->r.ip >> PAGE_BITS);
}

/* False: another walk would find no more. */
static __always_inline bool again_walk(union stack_scratch *st, struct unwind_env *env)
{
	__u64 word;

	er_walk_begin(st, env);
	env->untabled = true;
	er_walk_user(st, env, 0);
	return er_again_wants(env) && !bpf_copy_from_user(&word, sizeof(word), (void *)(env->missed & ~7ULL));
}

/* Send the user frames that were walked. */
static __always_inline void again_send(union stack_scratch *st, const struct unwind_env *env,
				       struct er_cpu *c, __u32 tid)
{
	st->s.nkernel = 0;
	st->s.nuser = env->n;
	st->s.end = env->end;
	st->s.flags = ER_STACK_AGAIN;
	if (env->end == ER_END_DEPTH)
		st->s.flags |= ER_STACK_USER_TRUNCATED;
	if (env->guessed)
		st->s.flags |= ER_STACK_GUESSED;
	send_stack(st, c, tid, NULL);
}

/* Called by the kernel in the thread. */
static int again_called(void *map, __u32 *slot, struct again *a)
{
	struct task_struct *p = bpf_get_current_task_btf();
	const struct pt_regs *regs = arch_user_regs(p);
	struct er_cpu *c = er_this_cpu();
	__u32 key = *slot;
	struct unwind_env *env = bpf_map_lookup_elem(&er_again_walks, &key);
	union stack_scratch *st = bpf_map_lookup_elem(&er_again_stacks, &key);

	if (!env || !st || !c || !BPF_CORE_READ(p, mm) || regs->ip != a->ip || regs->sp != a->sp)
		return 0;
	/* Not bpf_loop(): calls are nested as deep as the verifier allows. */
	for (int i = 0; i < AGAIN_PAGES; i++)
		if (!again_walk(st, env))
			break;
	again_send(st, env, c, p->pid);
	return 0;
}

/*
 * The kernel lets one call at a time have an entry. The thread that runs this is the one that is
 * called, so the entry is filled in before.
 */
static __always_inline bool again_ask(const union stack_scratch *from)
{
	struct task_struct *p = bpf_get_current_task_btf();
	const struct pt_regs *regs = arch_user_regs(p);

	for (__u32 i = 0; i < AGAIN_WALKS; i++) {
		__u32 key = i;
		struct again *a = bpf_map_lookup_elem(&er_agains, &key);
		union stack_scratch *st = bpf_map_lookup_elem(&er_again_stacks, &key);

		if (!a || !st || again_schedule(p, &a->work, &er_agains, (void *)again_called, NULL))
			continue;
		a->ip = regs->ip;
		a->sp = regs->sp;
		st->s = from->s;
		return true;
	}
	return false;
}

#endif
