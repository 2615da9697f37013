/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * er_clock.so: profiles a program for a recorder that has no privileges. Each thread has a timer of
 * its own CPU time, whose signal is handled on the thread itself: the handler walks the interrupted
 * stack and writes the thread's user and system time so far. The kernel looks at such timers on its
 * ticks, so samples are not closer than a tick. The times are exact in spite of that.
 *
 * The signal is SIGURG: where it has no handler it does nothing. So a program that resets all signals
 * is not ended by it. A handler that the program itself installs for it gets all other such signals.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "user/preload/exec_calls.h"
#include "user/preload/heap_client.h"
#include "user/preload/raw_call.h"

#define EXPORT __attribute__((visibility("default")))

enum {
	CLOCK_SIGNAL = SIGURG,
	STACK_BYTES = 32 << 10, /* that the handler runs on */
	ASK_THREAD = 1,         /* RUSAGE_THREAD */
	SIGSET = 8,
};

/* Of each thread, zero at first. */
struct clock_thread {
	struct heap_thread heap;
	int timer;
	bool armed;
	char *stack; /* STACK_BYTES */
};

static __thread struct clock_thread thread __attribute__((tls_model("initial-exec")));

static struct {
	int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	int (*sigaction)(int, const struct sigaction *, struct sigaction *);
	sighandler_t (*signal)(int, sighandler_t);
	int (*dlclose)(void *);
} next;

static uint64_t interval_ns;     /* 0: nothing is profiled */
static pthread_key_t thread_end; /* its destructor sees threads end */
static struct sigaction theirs;  /* the program's own handling of the signal */

/* --- samples --- */

/* The times of this thread, or of all threads, as the kernel counts them. */
static void read_times(int whose, uint64_t *user_us, uint64_t *system_us)
{
	struct rusage ru = { 0 };

	raw_call(SYS_getrusage, whose, (long)&ru, 0, 0, 0, 0);
	*user_us = ru.ru_utime.tv_sec * 1000000ULL + ru.ru_utime.tv_usec;
	*system_us = ru.ru_stime.tv_sec * 1000000ULL + ru.ru_stime.tv_usec;
}

static void sample(const uint64_t *regs)
{
	struct heap_clock k = { .cpu = sched_getcpu(), .regs = regs };

	read_times(ASK_THREAD, &k.user_us, &k.system_us);
	heap_client_clock(&thread.heap, &k);
}

static void sample_on_stack(void *regs)
{
	sample(regs);
}

/* Call fn on another stack: that of the thread may be small. */
static void on_stack(char *top, void (*fn)(void *), void *arg)
{
	__asm__ volatile("movq %%rsp, %%rbx\n\tmovq %[top], %%rsp\n\tcall *%[fn]\n\tmovq %%rbx, %%rsp"
			 : [fn] "+r"(fn), "+D"(arg)
			 : [top] "r"(top)
			 : "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc",
			   "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
			   "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

/* By DWARF number. */
static void copy_registers(const ucontext_t *uc, uint64_t regs[HEAP_REGS])
{
	static const unsigned char numbers[HEAP_REGS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9,
		REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};

	for (int i = 0; i < HEAP_REGS; i++)
		regs[i] = uc->uc_mcontext.gregs[numbers[i]];
}

static void pass_on(int sig, siginfo_t *si, void *uc)
{
	if (theirs.sa_flags & SA_SIGINFO && theirs.sa_sigaction)
		theirs.sa_sigaction(sig, si, uc);
	else if (theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN)
		theirs.sa_handler(sig);
}

static void on_signal(int sig, siginfo_t *si, void *uc)
{
	uint64_t regs[HEAP_REGS];
	int error = errno;

	if (si->si_code != SI_TIMER || si->si_value.sival_ptr != &interval_ns) {
		pass_on(sig, si, uc);
	} else if (thread.armed) {
		copy_registers(uc, regs);
		on_stack(thread.stack + STACK_BYTES, sample_on_stack, regs);
	}
	errno = error;
}

/* --- timers --- */

static bool make_timer(int *ret)
{
	struct sigevent e = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = CLOCK_SIGNAL,
			      .sigev_value.sival_ptr = &interval_ns };
	const struct timespec t = { interval_ns / 1000000000, interval_ns % 1000000000 };
	const struct itimerspec every = { t, t };

	e._sigev_un._tid = raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
	return !raw_call(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, (long)&e, (long)ret, 0, 0, 0) &&
	       !raw_call(SYS_timer_settime, *ret, 0, (long)&every, 0, 0, 0);
}

/* The calling thread gets a timer. */
static void begin_thread(void)
{
	long at;

	if (!interval_ns)
		return;
	at = thread.stack ? (long)thread.stack :
			    raw_call(SYS_mmap, 0, STACK_BYTES, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at < 0 && at > -4096)
		return;
	thread.stack = (char *)at;
	thread.armed = true;
	thread.armed = make_timer(&thread.timer);
}

/* The calling thread ends. */
static void end_thread(void *unused)
{
	if (!thread.armed || !heap_client_is_own())
		return;
	raw_call(SYS_timer_delete, thread.timer, 0, 0, 0, 0, 0);
	thread.armed = false; /* a signal may still come */
	sample(NULL);
	raw_call(SYS_munmap, (long)thread.stack, STACK_BYTES, 0, 0, 0, 0);
	thread.stack = NULL;
}

struct start {
	void *(*fn)(void *);
	void *arg;
};

static void *run_thread(void *arg)
{
	struct start s = *(struct start *)arg;

	free(arg);
	pthread_setspecific(thread_end, &thread);
	begin_thread();
	return s.fn(s.arg);
}

/* --- processes --- */

static void take_signal(void)
{
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };

	next.sigaction(CLOCK_SIGNAL, &act, &theirs);
}

static void before_fork(void)
{
	if (interval_ns && heap_client_is_own())
		heap_client_fork();
}

/* Timers are not inherited by a forked child. */
static void after_fork(void)
{
	static long parent;

	parent = raw_call(SYS_getppid, 0, 0, 0, 0, 0, 0);
	if (interval_ns && (interval_ns = heap_client_profile(parent, true)))
		begin_thread();
}

#define RESOLVE(name) next.name = (__typeof__(next.name))dlsym(RTLD_NEXT, #name)

static __attribute__((constructor)) void begin(void)
{
	static bool begun;

	if (begun)
		return;
	begun = true;
	RESOLVE(pthread_create);
	RESOLVE(sigaction);
	RESOLVE(signal);
	RESOLVE(dlclose);
	if (!next.pthread_create || !next.sigaction || !next.signal || pthread_key_create(&thread_end, end_thread))
		return;
	interval_ns = heap_client_profile(raw_call(SYS_getppid, 0, 0, 0, 0, 0, 0), false);
	if (!interval_ns)
		return;
	exec_calls_begin(HEAP_VARIABLE);
	take_signal();
	pthread_atfork(before_fork, NULL, after_fork);
	begin_thread();
}

/* The whole process ends. Other threads still run; what they have used is in the sum. */
static __attribute__((destructor)) void end(void)
{
	uint64_t user_us, system_us;

	if (!interval_ns || !heap_client_is_own())
		return;
	end_thread(NULL);
	read_times(RUSAGE_SELF, &user_us, &system_us);
	heap_client_end(&thread.heap, user_us, system_us);
	interval_ns = 0;
}

/* --- the functions that the program calls --- */

EXPORT int pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	struct start *s;
	int err;

	begin();
	s = interval_ns ? malloc(sizeof(*s)) : NULL;
	if (!s)
		return next.pthread_create(ret, attr, fn, arg);
	*s = (struct start){ fn, arg };
	err = next.pthread_create(ret, attr, run_thread, s);
	if (err)
		free(s);
	return err;
}

EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	begin();
	if (sig != CLOCK_SIGNAL || !interval_ns)
		return next.sigaction(sig, act, old);
	if (old)
		*old = theirs;
	if (act)
		theirs = *act;
	return 0;
}

EXPORT sighandler_t signal(int sig, sighandler_t handler)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;

	begin();
	if (sig != CLOCK_SIGNAL || !interval_ns)
		return next.signal(sig, handler);
	return sigaction(sig, &act, &old) ? SIG_ERR : old.sa_handler;
}

EXPORT void _exit(int status)
{
	end();
	for (;;)
		raw_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

EXPORT void _Exit(int status)
{
	_exit(status);
}

/* Other code may be loaded at the same addresses. */
EXPORT int dlclose(void *handle)
{
	int ret = next.dlclose ? next.dlclose(handle) : 0;

	heap_walk_forget();
	return ret;
}
