/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the writer share; nobody else includes this. */
#ifndef EXPERIMENT_EXPWRITER_IMPL_H
#define EXPERIMENT_EXPWRITER_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/experiment/expwriter.h"

/*
 * The files in the order in which they are flushed: what is referred to before
 * what refers to it, so that the experiment can be read at any moment and after
 * any crash. The log announces packets and samples, hence stands between; its
 * last line, the exit event, says that everything else is there.
 */
enum out_id {
	OUT_MAP,   /* of a part its events, too */
	OUT_KSYMS, /* of a part not used: its founder's */
	OUT_FRAMES, /* of a part its packets, too */
	OUT_TEXTS, /* this and all before packets: whatever expwriter_text was given */
	OUT_USAGE,
	OUT_LOG,
	OUT_PACKETS, /* one for each file that packets are kept in */
	OUT_EXIT,    /* goes to the end of the log; no file of its own */
	OUT_COUNT
};

struct out {
	char *file;
	struct buf buf;
	uint64_t size;   /* of the file: what was written into it */
	bool packets;    /* readers take a zero for its end */
	size_t slot;     /* among the open files, if the ticket is still the place's */
	uint64_t ticket; /* 0: not open */
};

/* A segment, its name our own: written, or to be written when a stack mentions it. */
struct held_segment {
	struct exp_segment s;
	bool written;
};

struct expwriter {
	char *name;
	int parent;  /* borrowed: the directory that `name` is in */
	int dirfd;   /* -1 until somebody asks for it */
	dev_t dev;   /* the directory we made, and no other of that name */
	ino_t ino;
	uint64_t start_ns;
	struct expwriter *founder; /* of a part; borrowed */
	struct buf common; /* log.xml of the parts of this one */
	bool has_common;   /* it is on disk */
	bool parts_have_waits; /* has_waits of the parts */
	bool for_parts;    /* what is announced is theirs */
	struct out fixed[OUT_COUNT]; /* OUT_TEXTS and OUT_PACKETS: not used */
	VEC(struct out) texts, packets;
	bool has_stacks; /* data.frameinfo is not empty */
	bool has_kernel; /* LinuxKernel is declared */
	bool has_waits;  /* packets of kind WAIT are announced */
	VEC(struct held_segment) segments; /* the first ones; all others are written at once */
	bool strays;      /* a stack had user pcs in none of them */
	struct map ksyms; /* addresses written */
	struct map tails; /* of stacks, that came before: 0, or how many nodes it takes to tell them */
	uint32_t nsamples;
	uint64_t bytes;
	int err; /* the first failure; from then on everything is dropped */
};

/* The buffer of what goes to a file; the log.xml of a part is not its own. */
static inline struct buf *out_buf(struct expwriter *w, enum out_id id)
{
	if (w->for_parts && id == OUT_LOG)
		return &w->common;
	return &w->fixed[w->founder && id == OUT_LOG ? OUT_MAP : id].buf;
}

static inline void put16(unsigned char *p, uint16_t v)
{
	memcpy(p, &v, sizeof(v));
}

static inline void put32(unsigned char *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

static inline void put64(unsigned char *p, uint64_t v)
{
	memcpy(p, &v, sizeof(v));
}

/* The buffer of a file in a list of them, added when it is new. */
struct buf *out_find(struct expwriter *w, enum out_id list, const char *file);
/* ` name="sec.nnnnnnnnn"`, relative to the start of the experiment; never negative. */
void put_stamp(const struct expwriter *w, struct buf *b, const char *name, uint64_t time_ns);
/* What log.xml says that is known at the start; of a part what concerns it alone. */
void log_header(struct expwriter *w, const struct exp_header *h);
/* What all parts of the founder w have in common. */
void log_common(struct expwriter *w, const struct exp_header *h);
/* Give a new part, its directory open at dirfd, the files that it shares. 0 or -errno. */
int parts_share(struct expwriter *part, int dirfd);
/* The load object of kernel symbols, into the buffer. */
void put_kernel(const struct expwriter *w, struct buf *b);
/* Make a file and write it, in place of what has its name. 0 or -errno. */
int write_new(int dirfd, const char *file, const char *text);
/* Write the segments that these pcs of a stack lie in. */
void release_segments(struct expwriter *w, const uint64_t *pcs, size_t npcs);
/* Something to be in data.frameinfo when no stack is. */
void put_no_stack(struct expwriter *w);

/* The mapped end of an open file of packets; all zeros to begin with. */
struct tail {
	unsigned char *map;  /* NULL: not mapped */
	uint64_t start, end; /* of the mapping; the file is preallocated up to `end`, 0 if not */
	uint64_t size;       /* of its data */
	unsigned nsmall;     /* pieces in turn */
	bool refused;        /* it cannot be mapped */
};

/*
 * Append what is small and comes often. 1; 0: it is to be written; -errno, -ESTALE when
 * somebody else has cut the file.
 */
int tail_append(struct tail *t, int fd, const char *data, size_t n);
/* Before the file is closed: its size is that of its data again. 0 or -errno, likewise. */
int tail_close(struct tail *t, int fd);

/*
 * Files stay open between flushes, as many as there are places (expwriter_files.c):
 * the file's descriptor and tail, or -1; give it one, which closes another file's if it must.
 */
int out_fd(const struct out *o, struct tail **tail);
void out_keep_open(struct out *o, int fd);
int out_close(struct out *o); /* 0 or -errno */
/* Open the directory below its parent; a descriptor or -errno. */
int open_dir(const struct expwriter *w);

#endif
