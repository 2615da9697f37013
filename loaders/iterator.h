/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BPF programs that visit all threads (SEC "iter/task", "iter.s/task"). One that is made while
 * capabilities are held runs without them; since Linux 5.19 so do all that follow.
 */
#ifndef LOADERS_ITERATOR_H
#define LOADERS_ITERATOR_H

struct bpf_link;
struct bpf_program;
struct buf;

/* Attach the program, and make its first iterator: *fd. Returns 0, or -errno. */
int iterator_make(struct bpf_program *prog, struct bpf_link **link, int *fd);
/*
 * Run the iterator *fd to its end, and close it; append its output to `out`. An iterator runs once:
 * with *fd -1 another one is made. Returns 0, or -errno.
 */
int iterator_run(const struct bpf_link *link, int *fd, struct buf *out);

#endif
