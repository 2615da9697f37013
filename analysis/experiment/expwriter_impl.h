/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the source files of the writer share. Only they include this. */
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
 * The files, in the order in which they are flushed. Referenced data comes before the
 * data that refers to it, so the experiment can be read at any moment and after any
 * crash. The log comes before the packets that it announces, and after the usage
 * records of its samples. The exit event is last: it says that everything else is
 * there.
 */
enum out_id {
	OUT_MAP,   /* in a part also the log's events */
	OUT_KSYMS, /* not used in a part: the founder has them */
	OUT_FRAMES, /* in a part also the packets */
	OUT_TEXTS, /* here, before the packets: the files of expwriter_text */
	OUT_USAGE,
	OUT_LOG,
	OUT_PACKETS, /* one for each packet file */
	OUT_EXIT,    /* end of the log; has no file of its own */
	OUT_COUNT
};

struct out {
	char *file;
	struct buf buf;
	uint64_t size;   /* bytes written to the file */
	bool packets;    /* a packet file: zeros end it for readers */
	struct packer *packer; /* of a compressed file; NULL: nothing was flushed */
	size_t slot;     /* index into the open files; valid if the slot has this ticket */
	uint64_t ticket; /* 0: not open */
};

/* A segment; its name is a copy. Unless it is written, a stack that has a pc in it writes it. */
struct held_segment {
	struct exp_segment s;
	bool written;
};

struct expwriter {
	char *name;
	int parent;  /* borrowed: the directory that has `name` */
	int dirfd;   /* -1 until expwriter_dirfd */
	int reserve; /* a founder's: see reserve_space; -1: none */
	dev_t dev;   /* identify the directory that we made */
	ino_t ino;
	uint64_t start_ns;
	struct expwriter *founder; /* borrowed; NULL: this is no part */
	struct buf common; /* a founder's: log.xml of its parts */
	bool has_common;   /* `common` is on disk */
	bool parts_have_waits; /* has_waits for the parts */
	bool for_parts;    /* profiles announced now are for the parts */
	struct out fixed[OUT_COUNT]; /* OUT_TEXTS and OUT_PACKETS are not used */
	VEC(struct out) texts, packets;
	bool has_stacks; /* data.frameinfo is not empty, or will not be after the next flush */
	VEC(uint64_t) held; /* stacks until the next flush (expwriter_stacks.c) */
	size_t nheld;       /* about the bytes that they will take */
	bool has_kernel; /* LinuxKernel is declared */
	bool has_waits;  /* packets of kind WAIT are announced */
	VEC(struct held_segment) segments; /* the first ones; later ones are written at once */
	bool strays;      /* a stack had a user pc in no segment */
	struct map ksyms; /* addresses already written */
	/*
	 * A founder's, also for its parts: a tail seen before, to how many stacks branch off there or
	 * that it was written. The key is the tail's uid with the writer's `tails_of`.
	 */
	struct map tails;
	uint64_t ntails;   /* a founder's: the last number given to a writer */
	uint64_t tails_of; /* number of this writer in `tails`; a new one forgets what it wrote */
	uint32_t nsamples;
	uint64_t bytes;
	bool (*on_full)(void *ctx); /* a founder's: see expwriter_on_full; NULL: none */
	void *full_ctx;
	int err; /* the first error; from then on all data is dropped */
};

/* Whether the error is a full disk, and space was freed: it is worth another attempt. */
bool expwriter_made_room(const struct expwriter *w, int err);

/* The buffer for a file. The log.xml of a part is shared, so a part's events go to its map.xml. */
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

/* The buffer of a file in one of the two lists; a new file is added. */
struct buf *out_find(struct expwriter *w, enum out_id list, const char *file);
/* Append ` name="sec.nnnnnnnnn"`, relative to the start of the experiment; never negative. */
void put_stamp(const struct expwriter *w, struct buf *b, const char *name, uint64_t time_ns);
/* Write what log.xml says at the start; for a part only what is its own. */
void log_header(struct expwriter *w, const struct exp_header *h);
/* Write the log.xml that all parts of the founder w share. */
void log_common(struct expwriter *w, const struct exp_header *h);
/* Put the shared files into a new part's directory, open at dirfd. 0 or -errno. */
int parts_share(struct expwriter *part, int dirfd);
/* Append the load object of kernel symbols. */
void put_kernel(const struct expwriter *w, struct buf *b);
/* Create a file with this text, replacing one of the same name. 0 or -errno. */
int write_new(int dirfd, const char *file, const char *text);
/*
 * Take space on the disk for what is written after the disk has become full: expwriter_replace
 * releases it while a file finds no room. The file has no name. A descriptor, or -1 if the file
 * system cannot do this or has no room.
 */
int reserve_space(int dirfd);
/* Write the segments that contain pcs of a stack. */
void release_segments(struct expwriter *w, const uint64_t *pcs, size_t npcs);
/* Put the stacks that are held into the buffer of data.frameinfo. */
void put_held_stacks(struct expwriter *w);
/* Write a record to data.frameinfo, which must not be empty, when there is no stack. */
void put_no_stack(struct expwriter *w);

/* Whether the file's name says that it is compressed (expwriter_pack.c). */
bool out_is_packed(const struct out *o);
/* Whether the end of the compressed file is still to be written. */
bool out_has_end(const struct out *o);
/* Replace the buffer's text by its compressed form. `last`: and end the file. */
void out_pack(struct out *o, bool last);
void packer_free(struct packer *p); /* NULL: nothing */

/* The mapped end of an open packet file. Initially all zeros. */
struct tail {
	unsigned char *map;  /* NULL: not mapped */
	uint64_t start, end; /* range of the mapping; the file is preallocated to `end`, 0: not */
	uint64_t size;       /* of the data in the file */
	unsigned nsmall;     /* small appends in a row */
	bool refused;        /* the file cannot be mapped */
};

/*
 * Append a small piece, if such pieces are frequent, to a file of `size` bytes of data. 1: done.
 * 0: the caller must write it. -errno: -ESTALE if another process cut the file.
 */
int tail_append(struct tail *t, int fd, uint64_t size, const char *data, size_t n);
/* Cut the file to the size of its data, before it is closed. 0 or -errno, as tail_append. */
int tail_close(struct tail *t, int fd);

/*
 * Files stay open between flushes in a limited number of slots (expwriter_files.c).
 * out_fd returns the file's descriptor and its tail, or -1. out_keep_open puts a file
 * into a slot and, if none is free, closes another file.
 */
int out_fd(const struct out *o, struct tail **tail);
void out_keep_open(struct out *o, int fd);
int out_close(struct out *o); /* 0 or -errno */
/*
 * Open the writer's directory below its parent. A descriptor or -errno; -ESTALE if
 * another directory has the name.
 */
int open_dir(const struct expwriter *w);

#endif
