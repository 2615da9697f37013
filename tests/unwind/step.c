/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Single-step a program, and at each instruction compare the stack that the unwind
 * tables give with the one that its calls and returns made:
 *
 *	step FIRST LAST COMMAND...	from the FIRST instruction after exec up to the LAST
 *
 * The shadow stack. A call pushes the return address and where it lies; a return pops
 * it. A signal handler's frame is pushed with the interrupted pc. Whenever sp rises
 * above where an entry lies, the entry is gone: a return, longjmp, or exec.
 *
 * Prints how many stacks were compared, how many were wrong, and how they ended.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/vec.h"
#include "tests/fixtures/unwind/tracee.h"

enum { SHOWN = 10 };

struct entry {
	uint64_t pc, at; /* the return address, and its place on the stack */
};

static struct {
	struct tracee t;
	VEC(struct entry) shadow;
	size_t steps, wrong, by_end[ER_END_COUNT], fp, signals;
} g;

/* --- the comparison --- */

static void wrong(const uint64_t *pcs, const struct unwind_walked *w)
{
	uint64_t want[TRACEE_FRAMES];
	size_t n = 0;

	if (g.wrong++ >= SHOWN)
		return;
	want[n++] = g.t.regs.rip;
	for (size_t i = g.shadow.len; i-- > 0 && n < TRACEE_FRAMES;)
		want[n++] = g.shadow.data[i].pc;
	printf("wrong at step %zu, %zu frames, %s\n", g.steps, w->n, tracee_end_name(w->end));
	tracee_show(&g.t, "table ", pcs, w->n);
	tracee_show(&g.t, "shadow", want, n);
}

static void compare(void)
{
	uint64_t pcs[TRACEE_FRAMES];
	struct unwind_walked w = tracee_walk(&g.t, pcs);

	g.by_end[w.end]++;
	g.fp += w.frame_pointers;
	if (w.end == ER_END_PROVEN && w.n != g.shadow.len + 1) {
		wrong(pcs, &w);
		return;
	}
	for (size_t i = 1; i < w.n; i++)
		if (i > g.shadow.len || pcs[i] != g.shadow.data[g.shadow.len - i].pc) {
			wrong(pcs, &w);
			return;
		}
	if (w.end != ER_END_PROVEN && g.by_end[w.end] <= 3) {
		printf("# incomplete at step %zu: %s\n", g.steps, tracee_end_name(w.end));
		tracee_show(&g.t, "table ", pcs, w.n);
	}
}

/* --- the shadow stack --- */

/* The length of the call instruction at the bytes; 0: it is another instruction. */
static size_t call_length(const unsigned char *p)
{
	size_t rex = (p[0] & 0xf0) == 0x40 || p[0] == 0x3e || p[0] == 0xf2 ||
		     p[0] == 0x67 ? 1 : 0;
	unsigned mod, rm;

	rex += rex && (p[1] & 0xf0) == 0x40;
	p += rex;
	if (p[0] == 0xe8)
		return rex + 5;
	if (p[0] != 0xff || (p[1] >> 3 & 7) != 2)
		return 0;
	mod = p[1] >> 6;
	rm = p[1] & 7;
	if (mod == 3)
		return rex + 2;
	rex += rm == 4;
	if (mod == 1)
		return rex + 3;
	if (mod == 2 || (!mod && rm == 5) || (!mod && rm == 4 && (p[2] & 7) == 5))
		return rex + 6;
	return rex + 2;
}

static void drop_below(uint64_t sp)
{
	while (g.shadow.len && g.shadow.data[g.shadow.len - 1].at < sp)
		g.shadow.len--;
}

/* A handler has been entered. Push the interrupted pc, then the return address of its frame. */
static void push_signal(const struct user_regs_struct *before)
{
	uint64_t ret = 0;

	vec_push(&g.shadow, (struct entry){ before->rip, UINT64_MAX });
	pread(g.t.mem, &ret, sizeof(ret), g.t.regs.rsp);
	vec_push(&g.shadow, (struct entry){ ret, g.t.regs.rsp });
	g.signals++;
}

/* sigreturn removed the handler's frame. Entries above the interrupted pc are removed, too. */
static void pop_signal(void)
{
	while (g.shadow.len && g.shadow.data[g.shadow.len - 1].at != UINT64_MAX)
		g.shadow.len--;
	if (g.shadow.len)
		g.shadow.len--;
}

/* --- stepping --- */

static bool wait_stop(int *status)
{
	return waitpid(g.t.pid, status, 0) == g.t.pid && WIFSTOPPED(*status);
}

/* Step over one instruction and deliver the signal that stopped the program. False: it ended. */
static bool step(void)
{
	struct user_regs_struct before = g.t.regs;
	unsigned char code[16] = { 0 };
	int status, sig = 0;
	bool is_syscall;
	size_t call;

	pread(g.t.mem, code, sizeof(code), before.rip);
	call = call_length(code);
	is_syscall = code[0] == 0x0f && code[1] == 0x05;
	if (ptrace(PTRACE_SINGLESTEP, g.t.pid, NULL, 0) || !wait_stop(&status))
		return false;
	if (WSTOPSIG(status) != SIGTRAP)
		sig = WSTOPSIG(status);
	ptrace(PTRACE_GETREGS, g.t.pid, NULL, &g.t.regs);
	if (is_syscall && before.rax == SYS_rt_sigreturn)
		pop_signal();
	else if (is_syscall)
		tracee_read_maps(&g.t);
	else if (call && g.t.regs.rsp == before.rsp - 8)
		vec_push(&g.shadow, (struct entry){ before.rip + call, g.t.regs.rsp });
	else if (g.t.regs.rsp > before.rsp)
		drop_below(g.t.regs.rsp);
	if (!sig)
		return true;
	before = g.t.regs;
	if (ptrace(PTRACE_SINGLESTEP, g.t.pid, NULL, sig) || !wait_stop(&status))
		return false;
	ptrace(PTRACE_GETREGS, g.t.pid, NULL, &g.t.regs);
	if (g.t.regs.rip != before.rip)
		push_signal(&before);
	return true;
}

static void start(char **command)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(command[0], command);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	tracee_open(&g.t, pid);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_EXITKILL);
	ptrace(PTRACE_GETREGS, pid, NULL, &g.t.regs);
}

int main(int argc, char **argv)
{
	size_t first, last, compared = 0;

	if (argc < 4) {
		fprintf(stderr, "usage: step FIRST LAST COMMAND...\n");
		return 2;
	}
	first = strtoull(argv[1], NULL, 0);
	last = strtoull(argv[2], NULL, 0);
	start(argv + 3);
	do {
		if (g.steps < first)
			continue;
		compare();
		compared++;
	} while (++g.steps < last && step());
	printf("%s: compared %zu, wrong %zu, signals %zu, with frame pointers %zu;", argv[3], compared,
	       g.wrong, g.signals, g.fp);
	for (int i = 0; i < ER_END_COUNT; i++)
		if (g.by_end[i])
			printf(" %s %zu,", tracee_end_name(i), g.by_end[i]);
	printf("\n");
	kill(g.t.pid, SIGKILL);
	return g.wrong != 0 || !compared;
}
