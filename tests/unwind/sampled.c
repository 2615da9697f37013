/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stop a program at random instants and compare its stack by the unwind tables with
 * libdw's, which is what eu-stack prints:
 *
 *	sampled COUNT COMMAND...	run it, again and again if it ends, up to COUNT samples
 *	sampled COUNT -p PID		attach to the main thread of a process
 *
 * A stack is wrong if one of its frames differs from libdw's, if it claims to be complete
 * and libdw's is longer, or if it is longer than libdw's complete one. A stack that ends
 * early and says so is cut. libdw does not know the dynamic loader's first instructions:
 * it reports an error behind a last frame that we call complete, and the frames count.
 * Where code has no entry (.init and .fini) libdw follows rbp, also if that is the caller's,
 * and so skips a frame: such stacks are counted apart (`libdw guessed`). unwind_step.sh
 * proves ours there.
 *
 * Prints how many samples were equal, cut and wrong. The status is 1 if one was wrong.
 */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/vec.h"
#include "tests/fixtures/unwind/tracee.h"

enum { SHOWN = 10, PAUSE_US = 3000, IDLE_RUNS = 50 };

struct stack {
	uint64_t pcs[TRACEE_FRAMES];
	size_t n;
	bool complete;
	const char *end;
};

enum verdict { EQUAL, CUT, LIBDW_CUT, BOTH_CUT, GUESSED, WRONG, VERDICTS };

static const char *const verdict_names[VERDICTS] = {
	"equal", "cut", "libdw cut", "both cut", "libdw guessed", "wrong",
};

static struct {
	struct tracee t;
	Dwfl *dwfl;
	uint64_t maps; /* hash of the mappings that dwfl knows */
	size_t samples, wanted, by_verdict[VERDICTS];
} g = { .t.mem = -1 };

/* --- libdw's stack --- */

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
};

static uint64_t hash_maps(void)
{
	uint64_t h = g.t.pid;

	vec_for_each(m, &g.t.maps)
		h = (h ^ m->start ^ m->end << 20 ^ m->pgoff << 40) * 0x9e3779b97f4a7c15ULL;
	return h;
}

/* Tell libdw the present mappings. False: it cannot read them. */
static bool report(void)
{
	if (g.dwfl)
		dwfl_end(g.dwfl);
	g.dwfl = dwfl_begin(&callbacks);
	return g.dwfl && !dwfl_linux_proc_report(g.dwfl, g.t.pid) &&
	       !dwfl_report_end(g.dwfl, NULL, NULL) &&
	       !dwfl_linux_proc_attach(g.dwfl, g.t.pid, true);
}

static int add_frame(Dwfl_Frame *frame, void *arg)
{
	struct stack *s = arg;
	Dwarf_Addr pc;
	bool exact;

	if (!dwfl_frame_pc(frame, &pc, &exact) || s->n == TRACEE_FRAMES)
		return DWARF_CB_ABORT;
	s->pcs[s->n++] = pc;
	return DWARF_CB_OK;
}

static bool libdw_stack(struct stack *s)
{
	uint64_t maps = hash_maps();

	if (maps != g.maps && !report())
		return false;
	g.maps = maps;
	s->n = 0;
	s->complete = !dwfl_getthread_frames(g.dwfl, g.t.pid, add_frame, s);
	s->end = s->complete ? "complete" : dwfl_errmsg(-1);
	return s->n;
}

/* --- the comparison --- */

/* Whether libdw knows how to step from the frame by something other than rbp. */
static bool libdw_knows(const struct stack *s, size_t frame)
{
	Dwarf_Addr pc = s->pcs[frame] - (frame > 0), bias;
	Dwfl_Module *m = dwfl_addrmodule(g.dwfl, pc);
	Dwarf_CFI *cfi = m ? dwfl_module_eh_cfi(m, &bias) : NULL;
	Dwarf_Frame *rules = NULL;
	bool known = cfi && !dwarf_cfi_addrframe(cfi, pc - bias, &rules);

	free(rules);
	return known;
}

static enum verdict compare(const struct stack *ours, const struct stack *libdw)
{
	size_t n = 0;

	while (n < ours->n && n < libdw->n && ours->pcs[n] == libdw->pcs[n])
		n++;
	if (n < ours->n && n < libdw->n)
		return libdw_knows(libdw, n - 1) ? WRONG : GUESSED;
	if (ours->complete && ours->n < libdw->n)
		return WRONG;
	if (libdw->complete && libdw->n < ours->n)
		return WRONG;
	if (ours->complete)
		return ours->n == libdw->n ? EQUAL : LIBDW_CUT;
	return libdw->complete ? CUT : BOTH_CUT;
}

static void show(enum verdict v, const struct stack *ours, const struct stack *libdw)
{
	printf("# %s: sample %zu: ours %zu frames, %s; libdw's %zu, %s\n", verdict_names[v],
	       g.samples, ours->n, ours->end, libdw->n, libdw->end);
	tracee_show(&g.t, "ours ", ours->pcs, ours->n);
	tracee_show(&g.t, "libdw", libdw->pcs, libdw->n);
}

static void sample(void)
{
	static struct stack ours, libdw;
	struct unwind_walked w;
	enum verdict v;

	ptrace(PTRACE_GETREGS, g.t.pid, NULL, &g.t.regs);
	tracee_read_maps(&g.t);
	w = tracee_walk(&g.t, ours.pcs);
	ours.n = w.n;
	ours.complete = w.end == ER_END_PROVEN;
	ours.end = tracee_end_name(w.end);
	if (!libdw_stack(&libdw))
		return;
	v = compare(&ours, &libdw);
	g.samples++;
	if (v != EQUAL && g.by_verdict[v]++ < SHOWN)
		show(v, &ours, &libdw);
	else if (v == EQUAL)
		g.by_verdict[v]++;
}

/* --- stopping the program --- */

/* Its memory. An exec replaces it. */
static bool begin(pid_t pid)
{
	tracee_close(&g.t);
	return tracee_open(&g.t, pid);
}

/* Stop the program. Signals that come first are delivered. False: it ended. */
static bool stop(void)
{
	int status;

	ptrace(PTRACE_INTERRUPT, g.t.pid, NULL, NULL);
	while (waitpid(g.t.pid, &status, __WALL) == g.t.pid && WIFSTOPPED(status)) {
		int event = status >> 16;

		if (event == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP)
			return true;
		if (event == PTRACE_EVENT_EXEC)
			begin(g.t.pid);
		ptrace(PTRACE_CONT, g.t.pid, NULL, event ? 0 : WSTOPSIG(status));
	}
	return false;
}

/* Take samples until the program ends or there are enough. */
static void sample_process(pid_t pid)
{
	bool running = begin(pid);

	while (running && g.samples < g.wanted) {
		usleep(rand() % PAUSE_US);
		running = stop();
		if (!running)
			break;
		sample();
		ptrace(PTRACE_CONT, pid, NULL, 0);
	}
	if (running && stop())
		ptrace(PTRACE_DETACH, pid, NULL, 0);
	tracee_close(&g.t);
}

/* Fork the command's process. It waits for a byte from *go before it begins. */
static pid_t start(char **command, int *go)
{
	int fds[2];
	pid_t pid;
	char byte;

	if (pipe(fds))
		exit(2);
	pid = fork();
	if (!pid) {
		close(fds[1]);
		if (read(fds[0], &byte, 1) == 1)
			execvp(command[0], command);
		_exit(127);
	}
	close(fds[0]);
	*go = fds[1];
	return pid;
}

static bool run(char **command)
{
	int go;
	pid_t pid = start(command, &go);
	bool traced = !ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC);

	if (traced && write(go, "", 1) == 1)
		sample_process(pid);
	close(go);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
	return traced;
}

/* Run the command repeatedly. Give up if it often ends before the first sample. */
static void run_all(char **command)
{
	int idle = 0;

	while (g.samples < g.wanted && idle < IDLE_RUNS) {
		size_t before = g.samples;

		if (!run(command))
			break;
		idle = g.samples == before ? idle + 1 : 0;
	}
}

static void attach(pid_t pid)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, 0))
		perror("sampled: cannot attach");
	else
		sample_process(pid);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: sampled COUNT COMMAND... | sampled COUNT -p PID\n");
		return 2;
	}
	unsetenv("DEBUGINFOD_URLS");
	srand(getpid());
	g.wanted = strtoull(argv[1], NULL, 0);
	if (!strcmp(argv[2], "-p") && argc == 4)
		attach(atoi(argv[3]));
	else
		run_all(argv + 2);
	printf("%s: samples %zu", argv[argc > 3 && argv[2][0] == '-' ? 3 : 2], g.samples);
	for (int v = 0; v < VERDICTS; v++)
		printf(", %s %zu", verdict_names[v], g.by_verdict[v]);
	printf("\n");
	return g.by_verdict[WRONG] || !g.samples;
}
