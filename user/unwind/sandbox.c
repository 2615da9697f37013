/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The filters list the allowed system calls; any other ends the process. Calls that take a
 * protection may not ask for PROT_EXEC. Both filters hold in the worker, so the supervisor's
 * must allow all that the worker's does.
 */
#include "user/unwind/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	NOBODY = 65534,
	OPEN_FILES = 16,
#ifdef __SANITIZE_ADDRESS__ /* reserves terabytes */
	MEMORY = RLIM_INFINITY,
#else
	MEMORY = 1 << 28, /* 200 MB of code need 100 MB */
#endif
	FILTER_MAX = 128,
	X32 = 0x40000000, /* the bit of system calls of the x32 ABI */
};

/* A system call, and whether its third argument is a protection. */
struct allowed {
	int nr;
	bool has_prot;
};

static const struct allowed worker_calls[] = {
	{ SYS_recvmsg, false }, { SYS_sendmsg, false },	  { SYS_sendto, false },
	{ SYS_close, false },	{ SYS_fstat, false },	  { SYS_newfstatat, false },
	{ SYS_mmap, true },	{ SYS_mprotect, true },	  { SYS_munmap, false },
	{ SYS_mremap, false },	{ SYS_madvise, false },	  { SYS_brk, false },
	{ SYS_write, false },	{ SYS_alarm, false },	  { SYS_setitimer, false },
	{ SYS_futex, false },	{ SYS_clock_gettime, false }, { SYS_rt_sigreturn, false },
	{ SYS_exit, false },	{ SYS_exit_group, false }, { SYS_restart_syscall, false },
	{ SYS_pread64, false },
};

static const struct allowed supervisor_calls[] = {
	{ SYS_clone, false },	{ SYS_wait4, false },	      { SYS_pidfd_open, false },
	{ SYS_poll, false },	{ SYS_kill, false },	      { SYS_recvfrom, false },
	{ SYS_prctl, false },	{ SYS_seccomp, false },	      { SYS_set_robust_list, false },
	{ SYS_rseq, false },	{ SYS_rt_sigprocmask, false }, { SYS_gettid, false },
	{ SYS_getpid, false },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct filter {
	struct sock_filter code[FILTER_MAX];
	unsigned short n;
};

static void add(struct filter *f, unsigned short code, unsigned char yes, unsigned char no,
		unsigned k)
{
	f->code[f->n++] = (struct sock_filter){ code, yes, no, k };
}

static void add_load(struct filter *f, unsigned at)
{
	add(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, at);
}

static void add_return(struct filter *f, unsigned what)
{
	add(f, BPF_RET | BPF_K, 0, 0, what);
}

/* The system call's number is loaded both before and after this. */
static void add_calls(struct filter *f, const struct allowed *calls, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!calls[i].has_prot) {
			add(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, calls[i].nr);
			add_return(f, SECCOMP_RET_ALLOW);
			continue;
		}
		add(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, calls[i].nr);
		add_load(f, offsetof(struct seccomp_data, args[2]));
		add(f, BPF_JMP | BPF_JSET | BPF_K, 0, 1, PROT_EXEC);
		add_return(f, SECCOMP_RET_KILL_PROCESS);
		add_return(f, SECCOMP_RET_ALLOW);
	}
}

static int limit_calls(bool supervisor)
{
	struct filter f = { 0 };
	struct sock_fprog prog = { .filter = f.code };

	add_load(&f, offsetof(struct seccomp_data, arch));
	add(&f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AUDIT_ARCH_X86_64);
	add_return(&f, SECCOMP_RET_KILL_PROCESS);
	add_load(&f, offsetof(struct seccomp_data, nr));
	add(&f, BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32);
	add_return(&f, SECCOMP_RET_KILL_PROCESS);
	add_calls(&f, worker_calls, COUNT(worker_calls));
	if (supervisor)
		add_calls(&f, supervisor_calls, COUNT(supervisor_calls));
	add_return(&f, SECCOMP_RET_KILL_PROCESS);
	prog.len = f.n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) ? -errno : 0;
}

static int keep_only(const int keep[SANDBOX_FDS])
{
	int null = open("/dev/null", O_RDWR), high[SANDBOX_FDS];

	if (null < 0)
		return -errno;
	/* Move all away first, because each may occupy another's target number. */
	for (int i = 0; i < SANDBOX_FDS; i++)
		if ((high[i] = fcntl(keep[i], F_DUPFD, SANDBOX_FD + SANDBOX_FDS)) < 0)
			return -errno;
	for (int fd = 0; fd < SANDBOX_FD; fd++)
		if (dup2(null, fd) < 0)
			return -errno;
	for (int i = 0; i < SANDBOX_FDS; i++)
		if (dup2(high[i], SANDBOX_FD + i) < 0)
			return -errno;
	return syscall(SYS_close_range, SANDBOX_FD + SANDBOX_FDS, ~0U, 0) ? -errno : 0;
}

static int drop_user(void)
{
	if (geteuid())
		return 0;
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return -errno;
	return 0;
}

/* Needs CAP_SETPCAP, which is lost with the user. Without it, no_new_privs must do. */
static void drop_bounding_set(void)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		prctl(PR_CAPBSET_DROP, cap);
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &h, none) ? -errno : 0;
}

static int limit_resources(void)
{
	const struct rlimit none = { 0 }, files = { OPEN_FILES, OPEN_FILES };
	const struct rlimit data = { MEMORY, MEMORY };

	if (setrlimit(RLIMIT_CORE, &none) || setrlimit(RLIMIT_FSIZE, &none) ||
	    setrlimit(RLIMIT_NOFILE, &files) || setrlimit(RLIMIT_DATA, &data))
		return -errno;
	return 0;
}

int sandbox_supervisor(const int keep[SANDBOX_FDS])
{
	int err;

	/* The recorder handles signals of the terminal, and then ends this process. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGALRM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	err = keep_only(keep);
	drop_bounding_set();
	if (!err)
		err = drop_user();
	if (!err)
		err = drop_capabilities();
	if (!err)
		err = limit_resources();
	if (!err && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0) ||
		     prctl(PR_SET_PDEATHSIG, SIGKILL)))
		err = -errno;
	return err ? err : limit_calls(true);
}

int sandbox_worker(void)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		return -errno;
	return limit_calls(false);
}
