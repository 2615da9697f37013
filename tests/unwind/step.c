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
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/vec.h"
#include "user/unwind/walk.h"

enum { MAPS = 512, WINDOW = 16384, FRAMES = 1024, SHOWN = 10 };

struct image {
	char path[256];
	struct unwind_table t;
	bool ok;
};

struct map {
	uint64_t start, end, pgoff;
	struct image *image;
	char path[256];
};

struct entry {
	uint64_t pc, at; /* the return address, and where it lies */
};

static struct {
	pid_t pid;
	int mem;
	struct map maps[MAPS];
	size_t nmaps;
	struct user_regs_struct regs;
	unsigned char window[WINDOW];
	uint64_t window_at;
	size_t window_len;
	VEC(struct entry) shadow;
	VEC(struct image *) images;
	size_t steps, wrong, by_end[ER_END_COUNT], fp, signals;
} g;

static const char *const end_names[ER_END_COUNT] = {
	[ER_END_PROVEN] = "proven", [ER_END_FP_ZERO] = "frame pointer 0",
	[ER_END_NO_MAPPING] = "no mapping", [ER_END_NO_TABLE] = "no table",
	[ER_END_NO_CFI] = "no CFI", [ER_END_BAD_RULE] = "bad rule",
	[ER_END_REGISTER] = "register", [ER_END_FAULT] = "fault",
	[ER_END_NOT_RISING] = "not rising", [ER_END_RA_ZERO] = "return address 0",
	[ER_END_DEPTH] = "depth",
};

/* --- mappings and tables --- */

static void build(struct image *im, const void *data, size_t size)
{
	struct unwind_input in = { .elf = data, .elf_size = size };

	im->ok = !unwind_table_build(&in, &im->t);
}

static void build_file(struct image *im)
{
	int fd = open(im->path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size) {
		close(fd);
		return;
	}
	p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	build(im, p, st.st_size);
	munmap(p, st.st_size);
	close(fd);
}

static void build_vdso(struct image *im, uint64_t start, uint64_t end)
{
	char *data = xmalloc(end - start);

	if (pread(g.mem, data, end - start, start) == (ssize_t)(end - start))
		build(im, data, end - start);
	free(data);
}

static struct image *image_of(const struct map *m)
{
	vec_for_each(im, &g.images)
		if (!strcmp((*im)->path, m->path))
			return *im;
	struct image *im = xcalloc(1, sizeof(*im));

	snprintf(im->path, sizeof(im->path), "%s", m->path);
	if (m->path[0] == '/')
		build_file(im);
	else
		build_vdso(im, m->start, m->end);
	vec_push(&g.images, im);
	return im;
}

static void read_maps(void)
{
	__cleanup(freep) char *path = xasprintf("/proc/%d/maps", g.pid);
	__cleanup(fclosep) FILE *f = fopen(path, "r");
	char line[PATH_MAX + 128], exec;

	g.nmaps = 0;
	while (f && fgets(line, sizeof(line), f) && g.nmaps < MAPS) {
		struct map *m = &g.maps[g.nmaps];

		*m = (struct map){ 0 };
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*2c%c%*c %" SCNx64 " %*s %*s %255s",
			   &m->start, &m->end, &exec, &m->pgoff, m->path) < 4 || exec != 'x')
			continue;
		if (m->path[0] == '/' || !strcmp(m->path, "[vdso]"))
			m->image = image_of(m);
		g.nmaps++;
	}
}

static const struct map *find_map(uint64_t pc)
{
	for (size_t i = 0; i < g.nmaps; i++)
		if (pc - g.maps[i].start < g.maps[i].end - g.maps[i].start)
			return &g.maps[i];
	return NULL;
}

/* --- what a walk asks for --- */

static bool read_memory(void *ctx, uint64_t at, uint64_t *value)
{
	uint64_t in = at - g.window_at;

	if (in < g.window_len && g.window_len - in >= sizeof(*value)) {
		memcpy(value, g.window + in, sizeof(*value));
		return true;
	}
	return pread(g.mem, value, sizeof(*value), at) == sizeof(*value);
}

static enum er_end find_place(void *ctx, uint64_t pc, struct unwind_place *ret)
{
	const struct map *m = find_map(pc);

	if (!m || !m->image)
		return ER_END_NO_MAPPING;
	*ret = (struct unwind_place){ m->image->ok ? &m->image->t : NULL,
				      pc - m->start + m->pgoff };
	return ER_END_NOT;
}

static bool leaf_reg(void *ctx, unsigned reg, uint64_t *value)
{
	const struct user_regs_struct *r = &g.regs;
	const unsigned long long regs[] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
					    r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
					    r->r12, r->r13, r->r14, r->r15 };

	*value = regs[reg & 15];
	return true;
}

/* --- the comparison --- */

static void show(const char *what, const uint64_t *pcs, size_t n)
{
	printf("  %s:", what);
	for (size_t i = 0; i < n && i < 12; i++) {
		const struct map *m = find_map(pcs[i]);

		printf(" %s+%#" PRIx64, m && m->path[0] ? strrchr(m->path, '/') ?: m->path : "?",
		       m ? pcs[i] - m->start + m->pgoff : pcs[i]);
	}
	printf("%s\n", n > 12 ? " ..." : "");
}

static void wrong(const uint64_t *pcs, const struct unwind_walked *w)
{
	uint64_t want[FRAMES];
	size_t n = 0;

	if (g.wrong++ >= SHOWN)
		return;
	want[n++] = g.regs.rip;
	for (size_t i = g.shadow.len; i-- > 0 && n < FRAMES;)
		want[n++] = g.shadow.data[i].pc;
	printf("wrong at step %zu, %zu frames, %s\n", g.steps, w->n, end_names[w->end]);
	show("table ", pcs, w->n);
	show("shadow", want, n);
}

static void compare(void)
{
	const struct unwind_source source = { read_memory, find_place, leaf_reg, NULL };
	const struct unwind_leaf leaf = { g.regs.rip, g.regs.rsp, g.regs.rbp };
	uint64_t pcs[FRAMES];
	struct unwind_walked w;
	ssize_t got;

	g.window_at = g.regs.rsp;
	got = pread(g.mem, g.window, WINDOW, g.window_at);
	g.window_len = got > 0 ? got : 0;
	w = unwind_walk(&source, &leaf, pcs, FRAMES);
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
		printf("# incomplete at step %zu: %s\n", g.steps, end_names[w.end]);
		show("table ", pcs, w.n);
	}
}

/* --- the shadow stack --- */

/* The length of the call instruction at the bytes; 0: another instruction. */
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

/* A handler has been entered: its frame's return address, then what it interrupted. */
static void push_signal(const struct user_regs_struct *before)
{
	uint64_t ret = 0;

	vec_push(&g.shadow, (struct entry){ before->rip, UINT64_MAX });
	pread(g.mem, &ret, sizeof(ret), g.regs.rsp);
	vec_push(&g.shadow, (struct entry){ ret, g.regs.rsp });
	g.signals++;
}

/* The handler's frame was taken down by sigreturn: what is above the interrupted pc goes too. */
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
	return waitpid(g.pid, status, 0) == g.pid && WIFSTOPPED(*status);
}

/* Step over one instruction; the signal that stopped the program is delivered. False: it ended. */
static bool step(void)
{
	struct user_regs_struct before = g.regs;
	unsigned char code[16] = { 0 };
	int status, sig = 0;
	bool is_syscall;
	size_t call;

	pread(g.mem, code, sizeof(code), before.rip);
	call = call_length(code);
	is_syscall = code[0] == 0x0f && code[1] == 0x05;
	if (ptrace(PTRACE_SINGLESTEP, g.pid, NULL, 0) || !wait_stop(&status))
		return false;
	if (WSTOPSIG(status) != SIGTRAP)
		sig = WSTOPSIG(status);
	ptrace(PTRACE_GETREGS, g.pid, NULL, &g.regs);
	if (is_syscall && before.rax == SYS_rt_sigreturn)
		pop_signal();
	else if (is_syscall)
		read_maps();
	else if (call && g.regs.rsp == before.rsp - 8)
		vec_push(&g.shadow, (struct entry){ before.rip + call, g.regs.rsp });
	else if (g.regs.rsp > before.rsp)
		drop_below(g.regs.rsp);
	if (!sig)
		return true;
	before = g.regs;
	if (ptrace(PTRACE_SINGLESTEP, g.pid, NULL, sig) || !wait_stop(&status))
		return false;
	ptrace(PTRACE_GETREGS, g.pid, NULL, &g.regs);
	if (g.regs.rip != before.rip)
		push_signal(&before);
	return true;
}

static void start(char **command)
{
	__cleanup(freep) char *path = NULL;
	int status;

	g.pid = fork();
	if (!g.pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(command[0], command);
		_exit(127);
	}
	wait_stop(&status);
	path = xasprintf("/proc/%d/mem", g.pid);
	g.mem = open(path, O_RDONLY | O_CLOEXEC);
	ptrace(PTRACE_SETOPTIONS, g.pid, NULL, PTRACE_O_EXITKILL);
	ptrace(PTRACE_GETREGS, g.pid, NULL, &g.regs);
	read_maps();
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
			printf(" %s %zu,", end_names[i], g.by_end[i]);
	printf("\n");
	kill(g.pid, SIGKILL);
	return g.wrong != 0 || !compared;
}
