/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "user/record/collector_server.h"
#include "user/record/heap_server.h"
#include "user/record/load_env.h"

enum {
	STATUS_CANNOT_RUN = 126,
	STATUS_NOT_FOUND = 127,
	STATUS_SIGNAL = 128,
};

static bool runnable(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* The caller frees it; NULL: there is none. */
static char *in_path(const char *name)
{
	const char *dirs = getenv("PATH");

	for (const char *p = dirs ? dirs : "/bin:/usr/bin", *end; p; p = *end ? end + 1 : NULL) {
		char *file;

		end = strchrnul(p, ':');
		/* An empty entry of PATH means the current directory. */
		file = end == p ? xasprintf("./%s", name) :
				  xasprintf("%.*s/%s", (int)(end - p), p, name);
		if (runnable(file))
			return file;
		free(file);
	}
	return NULL;
}

char *load_path(char *const *argv)
{
	if (!strchr(argv[0], '/'))
		return in_path(argv[0]);
	return runnable(argv[0]) ? xstrdup(argv[0]) : NULL;
}

int load_check(char *const *argv, struct diag *d)
{
	__cleanup(freep) char *path = load_path(argv);
	bool there = strchr(argv[0], '/') && !access(argv[0], F_OK);

	if (path)
		return 0;
	if (there)
		diag_error(d, "load '%s': it is no program that you may run: see ls -ld, and chmod", argv[0]);
	else
		diag_error(d, "load '%s': there is no such command, or it may not be run: check the name", argv[0]);
	return there ? -EACCES : -ENOENT;
}

/* Drop what the recorder's capabilities or set-user-id bit granted: the load must not have it. */
static int become_caller(void)
{
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (setresgid(getgid(), getgid(), getgid()) < 0)
		return -1;
	return setresuid(getuid(), getuid(), getuid());
}

/* Returns a descriptor of the recorder's own standard error, which the load must not inherit. */
static int take_outputs(const int fds[2])
{
	int own = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (fds[0])
		dup2(fds[0], STDOUT_FILENO);
	if (fds[1])
		dup2(fds[1], STDERR_FILENO);
	return own;
}

static void child(int gate, const struct load_start *s)
{
	char *const *argv = s->argv;
	char go;
	int err, own;

	/* If there will be no recording the other end is closed without writing. */
	if (read(gate, &go, 1) != 1)
		_exit(STATUS_CANNOT_RUN);
	sigprocmask(SIG_SETMASK, s->mask, NULL);
	if (become_caller() < 0 || (s->how & LOAD_JIT && load_env_jit() < 0) ||
	    (s->heap && heap_server_environment(s->heap) < 0) ||
	    (s->locks && heap_server_environment(s->locks) < 0) ||
	    (s->collector && collector_server_environment(s->collector) < 0) ||
	    ((s->how & LOAD_STOP || s->trapped) && ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)) {
		diag_say(stderr, "%s: load '%s': cannot be prepared: %s", s->recorder, argv[0],
			 strerror(errno));
		_exit(STATUS_CANNOT_RUN);
	}
	own = take_outputs(s->fds);
	execvp(argv[0], argv);
	err = errno;
	if (own >= 0)
		dup2(own, STDERR_FILENO);
	diag_say(stderr, "%s: load '%s': cannot be run: %s", s->recorder, argv[0], strerror(err));
	_exit(err == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN);
}

int load_prepare(struct load *l, const struct load_start *s, struct diag *d)
{
	char *const *argv = s->argv;
	int ends[2];

	*l = (struct load){ .pidfd = -1, .gate = -1, .how = s->how, .recorder = s->recorder,
			    .trapped = s->trapped, .ctx = s->ctx };
	if (pipe2(ends, O_CLOEXEC) < 0)
		return diag_errno(d, errno, "load '%s': cannot be prepared", argv[0]);
	l->pid = fork();
	if (!l->pid) {
		close(ends[1]);
		child(ends[0], s);
	}
	close(ends[0]);
	if (l->pid < 0) {
		int err = errno;

		close(ends[1]);
		l->pid = 0;
		return diag_errno(d, err, "load '%s': cannot be prepared", argv[0]);
	}
	l->gate = ends[1];
	l->pidfd = syscall(SYS_pidfd_open, l->pid, 0);
	if (l->pidfd < 0)
		return diag_errno(d, errno, "load '%s': cannot be watched", argv[0]);
	return 0;
}

int load_attach(struct load *l, pid_t pid, struct diag *d)
{
	*l = (struct load){ .pidfd = syscall(SYS_pidfd_open, pid, 0), .gate = -1 };
	return l->pidfd < 0 ? diag_errno(d, errno, "process %d: cannot be watched", pid) : 0;
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return t->tv_sec * 1000000000ULL + t->tv_usec * 1000;
}

static void set_status(struct load *l, int status)
{
	l->ended = true;
	l->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	l->status = WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Wait until the load has stopped. False: it has ended, or cannot be waited for. */
static bool await_stop(struct load *l)
{
	int status;

	if (waitpid(l->pid, &status, WUNTRACED) != l->pid)
		return false;
	if (!WIFSTOPPED(status))
		set_status(l, status);
	return WIFSTOPPED(status);
}

/* Detach from the load with a stop signal pending. The load stops when it gets a CPU. */
static void leave_stopped(struct load *l)
{
	ptrace(PTRACE_DETACH, l->pid, NULL, (void *)(long)SIGSTOP);
	if (!await_stop(l))
		return;
	fprintf(stderr, "%s: the load is process %d, stopped: attach a debugger, or kill -CONT %d\n",
		l->recorder, l->pid, l->pid);
}

/* The exec traps. */
static void take_trap(struct load *l)
{
	if (!await_stop(l))
		return;
	if (l->trapped)
		l->trapped(l->ctx);
	if (l->how & LOAD_STOP)
		leave_stopped(l);
	else
		ptrace(PTRACE_DETACH, l->pid, NULL, NULL);
}

int load_go(struct load *l, struct diag *d)
{
	bool ok = write(l->gate, "", 1) == 1;

	close(l->gate);
	l->gate = -1;
	if (!ok)
		return diag_error(d, "load: ended before it could be started");
	if (l->how & LOAD_STOP || l->trapped)
		take_trap(l);
	return 0;
}

void load_reap(struct load *l, bool wait)
{
	struct rusage ru;
	int status;

	if (!l->pid || l->ended || wait4(l->pid, &status, wait ? 0 : WNOHANG, &ru) != l->pid)
		return;
	set_status(l, status);
	l->cpu_ns = timeval_ns(&ru.ru_utime) + timeval_ns(&ru.ru_stime);
}

void load_fini(struct load *l)
{
	bool never = l->gate >= 0;

	if (never)
		close(l->gate);
	if (l->pid)
		load_reap(l, never);
	if (l->pidfd >= 0)
		close(l->pidfd);
	*l = (struct load){ .pidfd = -1, .gate = -1 };
}
