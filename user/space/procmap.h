/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is who, and what is mapped where. A process is an incarnation of a PID; an
 * image is what a process runs from one exec to the next, and has an address
 * space. Filled from /proc at the start and from sideband events; bounded.
 * Knows nothing of experiments: whoever keeps something per image hangs it on
 * `owner` and takes it off when told that the image is forgotten.
 */
#ifndef USER_PROCMAP_H
#define USER_PROCMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/base/vec.h"
#include "user/space/sideband.h"

/* An executable mapping of a file, or of "[vdso]". */
struct mapping {
	uint64_t start, len, pgoff;
	uint64_t time_ns; /* when it came; 0: before we looked */
	uint64_t dev, ino;
	const char *path; /* interned; " (deleted)" is taken off */
	bool deleted;
	uint32_t file;    /* its number (user/space/files.h), 0 none */
};

struct space {
	unsigned refs; /* after a fork the child's image shares it until either changes it */
	size_t *total; /* mappings of all spaces, which are bounded together */
	VEC(struct mapping) maps;
};

struct process;

/* What BPF knows of an image: user/unwind/publish.h. */
struct image_ranges {
	uint64_t start_time;  /* with exec_id the image's key there */
	uint32_t exec_id;
	uint32_t first, room; /* its place among all ranges; room 0: none */
	bool known;           /* the key is known, and published */
	bool changed;         /* mappings have come or gone since */
};

struct image {
	pid_t pid, ppid;
	uint64_t begin_ns, end_ns; /* end 0: still runs */
	char comm[16];
	struct space *space;
	void *owner;
	struct process *process;
	struct image *older;       /* what the process ran before */
	struct image_ranges ranges;
	unsigned program;          /* the recorder's number of its program; 0: none yet */
};

struct procmap;

struct procmap_hooks {
	/* A mapping of the image came, or went (at time_ns). */
	void (*mapped)(void *ctx, struct image *im, const struct mapping *m);
	void (*unmapped)(void *ctx, struct image *im, const struct mapping *m, uint64_t time_ns);
	/* So did one of an image that has no owner, too: ranges.changed has just become true. */
	void (*changed)(void *ctx, struct image *im);
	/* The image is about to be freed. */
	void (*forget)(void *ctx, struct image *im);
	void *ctx;
};

struct procmap_counts {
	uint64_t processes;  /* not kept because the table was full */
	uint64_t mappings;   /* not kept, likewise */
	uint64_t late;       /* processes that no record announced, looked up in /proc */
};

struct procmap *procmap_new(const struct procmap_hooks *hooks);
/* Frees without telling: what hangs on the images has its own end. */
void procmap_free(struct procmap *pm);
/* Take in the processes that exist; now_ns is the moment from which events come. */
void procmap_scan(struct procmap *pm, uint64_t now_ns);
/*
 * Since then some events did not come: take from /proc what the processes that are known
 * have become. One that ended meanwhile stays as it was.
 */
void procmap_catch_up(struct procmap *pm, uint64_t since_ns);
/* A proc_event_fn. */
void procmap_apply(void *pm, const struct proc_event *e);

/*
 * The image that the process (pid, start_time as BPF sees it) ran at time_ns;
 * NULL when the table is full.
 */
struct image *procmap_image(struct procmap *pm, pid_t pid, uint64_t start_time, uint64_t time_ns);
/* Forget the images that ended before then. */
void procmap_expire(struct procmap *pm, uint64_t before_ns);

/* The numbers of mapped files. */
const struct files *procmap_files(const struct procmap *pm);
size_t procmap_nimages(const struct procmap *pm);
struct procmap_counts procmap_counts(const struct procmap *pm);
/* Base name of the file that the image runs, or "" when not known. */
const char *image_file(const struct image *im);

#endif
