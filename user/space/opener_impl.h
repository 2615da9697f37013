/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages between the two sides of opener.h. */
#ifndef USER_SPACE_OPENER_IMPL_H
#define USER_SPACE_OPENER_IMPL_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

enum opener_op {
	OPENER_MAPPED,
	OPENER_ROOT_DIR,
	OPENER_BELOW, /* comes with the directory */
	OPENER_PATH,
	OPENER_CMDLINE,
	OPENER_CODE,
	OPENER_MEMORY, /* comes with the file of units: `len` of them, at its offset `start` */
	OPENER_COUNT
};

/* Sent up to the end of the path. */
struct opener_request {
	uint32_t op;
	int32_t pid;
	uint64_t start, len, pgoff, dev, ino; /* of the mapping */
	uint64_t room;                        /* bytes that a copy may take */
	uint32_t owner;
	uint32_t any;
	char path[PATH_MAX];
};

enum { OPENER_TEXT = 32768 };

/*
 * Comes with a descriptor if err is 0, unless text was asked for. Text that is longer than
 * OPENER_TEXT is in a descriptor, too, and ntext is 0.
 */
struct opener_reply {
	int32_t err;
	uint32_t ntext;
	uint64_t size;   /* of a copy */
	uint32_t copy;   /* the descriptor is a copy; otherwise it is the file's own */
	char text[OPENER_TEXT];
};

/* A mapping in the text that answers OPENER_CODE. The path follows, with its NUL. */
struct opener_mapping {
	uint64_t start, end, pgoff, dev, ino;
	uint32_t npath; /* with the NUL */
};

/*
 * What the opener waits for, in memory that both sides see: if there is no answer, who is to
 * blame. The device is only blamed when the descriptor is certain to be a file of it.
 */
enum opener_stage { OPENER_AT_PROCESS, OPENER_AT_DEVICE };

/* On the control socket: what the recorder wants, and the answer, with a socket for a renewal. */
enum opener_wish { OPENER_RENEW, OPENER_COUNT_STUCK };

struct opener_news {
	uint32_t stuck; /* processes that were left behind and have not ended yet */
};

/* Sends a message with a descriptor, or without (-1). 0 or -errno. */
int opener_send(int sock, const void *p, size_t n, int fd);
/* Returns the message's size, 0 at the end, or -errno. *fd is -1 if there was none. */
int opener_receive(int sock, void *p, size_t n, int flags, int *fd);

/*
 * Runs in the process that is forked early; does not return. It reads wishes on
 * `control`. For a renewal it ends the process that it forked before and forks another, unless
 * OPENER_STUCK_MAX are left already.
 */
enum { OPENER_STUCK_MAX = 64 };

void opener_serve(int control, volatile uint32_t *stage) __attribute__((noreturn));

#endif
