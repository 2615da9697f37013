/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of the libraries that the recorder has loaded into the program (user/preload), which are
 * none of the program's I/O. Two kinds:
 *
 * The library asks the recorder for its ring. It leaves a mark, which only it and the recorder know, in the two
 * argument registers that such a call does not use.
 *
 * The dynamic loader opens the library's file by the path in LD_PRELOAD, reads the descriptor and closes it. It
 * does so once in each program, before the program's own code runs. A later open of the same path by the same
 * program is the program's own.
 */
#ifndef IO_OWN_BPF_H
#define IO_OWN_BPF_H

#include "bpf/io.h"
#include "bpf/io_calls.bpf.h"

enum { IO_CLOSE = 3, IO_OPENAT = 257 };

/* The loader's way through the files of libraries, of a thread. */
struct io_own {
	__u64 exec_id;  /* of the program that `opened` is about */
	__u32 opened;   /* a bit for each library that was opened */
	__u32 fd;       /* + 1: the library's, which is open; 0: none is */
};

const volatile __u32 er_io_nlibraries;
const volatile __u32 er_io_paths; /* a bit for each that has a path */
const volatile struct er_io_library er_io_libraries[ER_IO_LIBRARIES];

/* Whether the library itself makes this call. */
static __always_inline bool io_is_marked(const struct pt_regs *regs)
{
#pragma unroll
	for (__u32 i = 0; i < ER_IO_LIBRARIES; i++) {
		if (i < er_io_nlibraries && regs->r8 == er_io_libraries[i].mark[0] &&
		    regs->r9 == er_io_libraries[i].mark[1])
			return true;
	}
	return false;
}

/* Whether the call is about the library's file, which the loader has opened. */
static __always_inline bool io_uses_own(const struct io_own *own, const struct pt_regs *regs, long nr)
{
	const struct io_call *call = io_call_of(nr);

	return own->fd && call && call->how == IO_USES && !call->fd && (__u32)regs->di + 1 == own->fd;
}

/* Which library has this path; -1: none. `path` has room for ER_IO_LIBRARY_PATH bytes. */
static __always_inline int io_library_of(const struct pt_regs *regs, char *path)
{
	long n = bpf_probe_read_user_str(path, ER_IO_LIBRARY_PATH, (void *)regs->si);

#pragma unroll
	for (__u32 i = 0; i < ER_IO_LIBRARIES; i++) {
		if (n > 1 && i < er_io_nlibraries &&
		    !bpf_strncmp(path, ER_IO_LIBRARY_PATH, (const char *)er_io_libraries[i].path))
			return i;
	}
	return -1;
}

/*
 * A call returns that the library itself does not make. Returns whether it is the loader's, for a library.
 * `path` is scratch space.
 */
static __always_inline bool io_own_returns(struct io_own *own, const struct pt_regs *regs, long nr, __s64 ret,
					   __u64 exec_id, char *path)
{
	int library;

	if (own->exec_id != exec_id) {
		own->exec_id = exec_id;
		own->opened = own->fd = 0;
	}
	if (io_uses_own(own, regs, nr)) {
		own->fd = nr == IO_CLOSE ? 0 : own->fd;
		return true;
	}
	if (nr != IO_OPENAT || io_was_interrupted(ret) || own->opened == er_io_paths)
		return false;
	library = io_library_of(regs, path);
	if (library < 0 || own->opened >> library & 1)
		return false;
	own->opened |= 1U << library;
	own->fd = ret >= 0 ? ret + 1 : 0;
	return true;
}

#endif
