/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that are traced as I/O, by their numbers on x86-64. gprofng traces the functions
 * of the C library with these names; calls that only ask about a file (stat) are no I/O for either.
 */
#ifndef IO_CALLS_BPF_H
#define IO_CALLS_BPF_H

#include "bpf/er_event.h"

enum io_how {
	IO_NOT,
	IO_USES, /* argument `fd` is the descriptor, IO_NO_FD: there is none */
	IO_GETS, /* returns a descriptor of a file; `path`: the argument with its path, + 1 */
	IO_COPIES, /* returns a copy of descriptor `fd` */
	IO_FCNTL,  /* may do that */
	IO_PAIR, /* stores two descriptors where argument `fd` points to */
};

enum { IO_NO_FD = 0xff };

/* Internal errors of calls that a signal interrupts: 512, 513, 514, 516. */
enum { IO_RESTART_FIRST = 512, IO_RESTART_LAST = 516 };

static __always_inline bool io_was_interrupted(__s64 ret)
{
	return ret <= -IO_RESTART_FIRST && ret >= -IO_RESTART_LAST && ret != -515;
}

struct io_call {
	__u8 how;  /* enum io_how */
	__u8 type; /* enum er_io_type */
	__u8 fd, path;
};

#define USES(kind, arg) { IO_USES, ER_IO_##kind, arg, 0 }
#define OTHER { IO_USES, ER_IO_OTHER, IO_NO_FD, 0 }
#define GETS(path) { IO_GETS, ER_IO_OPEN, IO_NO_FD, path }
#define COPIES { IO_COPIES, ER_IO_OPEN, 0, 0 }

static const struct io_call io_calls[ER_MAX_SYSCALLS] = {
	[0] = USES(READ, 0),     /* read */
	[1] = USES(WRITE, 0),    /* write */
	[2] = GETS(1),           /* open */
	[3] = USES(CLOSE, 0),    /* close */
	[8] = USES(OTHER, 0),    /* lseek */
	[17] = USES(READ, 0),    /* pread64 */
	[18] = USES(WRITE, 0),   /* pwrite64 */
	[19] = USES(READ, 0),    /* readv */
	[20] = USES(WRITE, 0),   /* writev */
	[21] = OTHER,            /* access */
	[22] = { IO_PAIR, ER_IO_OPEN, 0, 0 }, /* pipe */
	[32] = COPIES,           /* dup */
	[33] = COPIES,           /* dup2 */
	[40] = USES(WRITE, 0),   /* sendfile: what it reads is not counted */
	[41] = GETS(0),          /* socket */
	[42] = USES(OTHER, 0),   /* connect */
	[43] = GETS(0),          /* accept */
	[44] = USES(WRITE, 0),   /* sendto */
	[45] = USES(READ, 0),    /* recvfrom */
	[46] = USES(WRITE, 0),   /* sendmsg */
	[47] = USES(READ, 0),    /* recvmsg */
	[48] = USES(OTHER, 0),   /* shutdown */
	[53] = { IO_PAIR, ER_IO_OPEN, 3, 0 }, /* socketpair */
	[72] = { IO_FCNTL, ER_IO_OPEN, 0, 0 }, /* fcntl */
	[74] = USES(OTHER, 0),   /* fsync */
	[75] = USES(OTHER, 0),   /* fdatasync */
	[76] = OTHER,            /* truncate */
	[77] = USES(OTHER, 0),   /* ftruncate */
	[78] = USES(OTHER, 0),   /* getdents */
	[80] = OTHER,            /* chdir */
	[81] = USES(OTHER, 0),   /* fchdir */
	[82] = OTHER,            /* rename */
	[83] = OTHER,            /* mkdir */
	[84] = OTHER,            /* rmdir */
	[85] = GETS(1),          /* creat */
	[86] = OTHER,            /* link */
	[87] = OTHER,            /* unlink */
	[88] = OTHER,            /* symlink */
	[90] = OTHER,            /* chmod */
	[91] = USES(OTHER, 0),   /* fchmod */
	[137] = OTHER,           /* statfs */
	[138] = USES(OTHER, 0),  /* fstatfs */
	[162] = OTHER,           /* sync */
	[165] = OTHER,           /* mount */
	[166] = OTHER,           /* umount2 */
	[187] = USES(OTHER, 0),  /* readahead */
	[209] = OTHER,           /* io_submit: what it submits is not traced */
	[213] = GETS(0),         /* epoll_create */
	[217] = USES(OTHER, 0),  /* getdents64 */
	[253] = GETS(0),         /* inotify_init */
	[257] = GETS(2),         /* openat */
	[258] = OTHER,           /* mkdirat */
	[263] = OTHER,           /* unlinkat */
	[264] = OTHER,           /* renameat */
	[265] = OTHER,           /* linkat */
	[266] = OTHER,           /* symlinkat */
	[268] = OTHER,           /* fchmodat */
	[269] = OTHER,           /* faccessat */
	[275] = USES(WRITE, 2),  /* splice: what it reads is not counted */
	[276] = USES(WRITE, 1),  /* tee */
	[277] = USES(OTHER, 0),  /* sync_file_range */
	[278] = USES(WRITE, 0),  /* vmsplice */
	[282] = GETS(0),         /* signalfd */
	[283] = GETS(0),         /* timerfd_create */
	[284] = GETS(0),         /* eventfd */
	[285] = USES(OTHER, 0),  /* fallocate */
	[288] = GETS(0),         /* accept4 */
	[289] = GETS(0),         /* signalfd4 */
	[290] = GETS(0),         /* eventfd2 */
	[291] = GETS(0),         /* epoll_create1 */
	[292] = COPIES,          /* dup3 */
	[293] = { IO_PAIR, ER_IO_OPEN, 0, 0 }, /* pipe2 */
	[294] = GETS(0),         /* inotify_init1 */
	[295] = USES(READ, 0),   /* preadv */
	[296] = USES(WRITE, 0),  /* pwritev */
	[299] = USES(OTHER, 0),  /* recvmmsg: returns messages, not bytes */
	[306] = USES(OTHER, 0),  /* syncfs */
	[307] = USES(OTHER, 0),  /* sendmmsg: likewise */
	[316] = OTHER,           /* renameat2 */
	[319] = GETS(0),         /* memfd_create */
	[326] = USES(WRITE, 2),  /* copy_file_range: what it reads is not counted */
	[327] = USES(READ, 0),   /* preadv2 */
	[328] = USES(WRITE, 0),  /* pwritev2 */
	[426] = USES(OTHER, 0),  /* io_uring_enter: what it submits is not traced */
	[436] = OTHER,           /* close_range */
	[437] = GETS(2),         /* openat2 */
	[439] = OTHER,           /* faccessat2 */
};

#undef USES
#undef OTHER
#undef GETS
#undef COPIES

static __always_inline const struct io_call *io_call_of(long nr)
{
	__u64 i = nr;

	barrier_var(i); /* bound the very value that is the index */
	return i < ER_MAX_SYSCALLS && io_calls[i].how ? &io_calls[i] : NULL;
}

/* The arguments of the call that a thread is in, or returns from: user space cannot change them. */
static __always_inline __u64 io_argument(const struct pt_regs *regs, __u32 arg)
{
	switch (arg) {
	case 0: return regs->di;
	case 1: return regs->si;
	case 2: return regs->dx;
	}
	return regs->r10;
}

#endif
