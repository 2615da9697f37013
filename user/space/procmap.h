/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Knows the processes, their images and their mappings. PIDs are reused; a process here is one
 * use of a PID. An image is the program that a process runs from one exec to the next, with its
 * address space. The table is filled from /proc at the start and from sideband events afterwards,
 * and is bounded. It knows nothing of experiments: a caller that keeps data per image stores a
 * pointer in `owner` and frees the data when the hook `forget` is called.
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
	uint64_t time_ns; /* when it was mapped; 0: before the first scan */
	uint64_t dev, ino;
	const char *path; /* interned, without " (deleted)" */
	bool deleted;
	uint32_t file;    /* the file's number (user/space/files.h); 0: none */
};

/* A mapping that a later one removed: records from before may still come. */
struct old_mapping {
	struct mapping m;
	uint64_t until_ns;
};

/* Executable memory without a file, and gaps in it: generated code. */
struct generated {
	uint64_t start, end;
};

struct space {
	unsigned refs; /* a forked child shares it with its parent until either changes it */
	size_t *total; /* mappings of all spaces; the bound applies to their sum */
	VEC(struct mapping) maps;    /* in the order of addresses; they do not overlap */
	VEC(struct old_mapping) old; /* the last SPACE_OLD that were removed, the oldest first */
	uint64_t nold;               /* how many were removed in all */
	VEC(struct generated) generated; /* that there has ever been */
	/* The last answer of runtime_java (user/jit/runtime.h), for so many mappings and removed ones. */
	struct {
		uint64_t answer, nold;
		size_t nmaps;
	} java;
};

struct process;

/* What BPF knows of an image: user/unwind/publish.h. */
struct image_ranges {
	uint64_t start_time;  /* with exec_id the image's key in BPF's map */
	uint32_t exec_id;
	uint32_t first, room; /* its slots in the array of ranges; room 0: none */
	bool known;           /* the key is known and published */
	bool changed;         /* mappings have changed since then */
	bool awaits_vm;       /* BPF copies its stacks: its Java VM is not known yet */
};

struct image {
	pid_t pid, ppid;
	uint64_t begin_ns, end_ns; /* end_ns 0: still runs */
	char comm[16];
	char *command;             /* its command line, for later segments; NULL: not kept */
	struct space *space;
	void *owner;
	struct process *process;
	struct image *older;       /* what the process ran before */
	struct image_ranges ranges;
	unsigned program;          /* the recorder's number for its program; 0: none yet */
	const char *lineage;       /* interned; "" for the founder; NULL: not of the family, or too long */
	bool executed;             /* an exec began it; else a fork, or it is older than the recording */
	bool launcher;             /* its exec begins the founder */
	unsigned nforks, nexecs;   /* of the family: what it has created so far */
	bool noted;                /* the recorder has counted it */
	uint64_t listed;           /* the recorder's mark of the last table of processes that has it; 0: none */
};

struct procmap;

struct procmap_hooks {
	/* A mapping of an image that has an owner was added, or removed (at time_ns). */
	void (*mapped)(void *ctx, struct image *im, const struct mapping *m);
	void (*unmapped)(void *ctx, struct image *im, const struct mapping *m, uint64_t time_ns);
	/* The mappings of any image changed: its ranges.changed has just become true. */
	void (*changed)(void *ctx, struct image *im);
	/* The image is about to be freed. */
	void (*forget)(void *ctx, struct image *im);
	/*
	 * No process maps the file any more, and its number is about to be let go. False: the file is
	 * needed still. Then, from procmap_reuse_files, the number is about to belong to another file.
	 * False: something refers to the number still.
	 */
	bool (*unmapped_file)(void *ctx, uint32_t file);
	bool (*forget_file)(void *ctx, uint32_t file);
	void *ctx;
	/* NULL, or: any image has mapped this. */
	void (*any)(void *ctx, struct image *im, const struct mapping *m);
	/* NULL, or: an image of the family (procmap_follow) has mapped this. */
	void (*family)(void *ctx, const struct image *im, const struct mapping *m);
	void *family_ctx;
};

struct procmap_counts {
	uint64_t processes;  /* not kept because the table was full */
	uint64_t mappings;   /* not kept because there was no room */
	uint64_t late;       /* processes that no event announced, found in /proc instead */
};

struct procmap *procmap_new(const struct procmap_hooks *hooks);
/* Frees everything without calling hooks: owners of images must be freed otherwise. */
void procmap_free(struct procmap *pm);
/* Read the existing processes from /proc. Events are delivered from now_ns on. */
void procmap_scan(struct procmap *pm, uint64_t now_ns);
/*
 * Follow the family of a process: its image is the founder or, with `launch`, the one that it
 * executes next. An image of the family that forks for the n-th time makes one whose lineage is its
 * own with "_f<n>" appended; the n-th exec appends "_x<n>". False: the process is not known.
 */
bool procmap_follow(struct procmap *pm, pid_t pid, bool launch);
/*
 * Call this when events after since_ns were lost: reads the state of the known processes from
 * /proc again. A process that has ended meanwhile is left unchanged.
 */
void procmap_catch_up(struct procmap *pm, uint64_t since_ns);
/* Read the mappings of a process again, as those of its present image from time_ns on. */
void procmap_read(struct procmap *pm, pid_t pid, uint64_t time_ns);
/* A proc_event_fn. */
void procmap_apply(void *pm, const struct proc_event *e);

/*
 * Returns the image that the process (pid, and start_time as BPF reports it) ran at time_ns. NULL
 * if the table is full.
 */
struct image *procmap_image(struct procmap *pm, pid_t pid, uint64_t start_time, uint64_t time_ns);
/*
 * The same, or NULL if no event has announced the process yet. Changes nothing. A process that is asked for with
 * procmap_image before its events are applied is looked up in /proc, and its events go to another one.
 */
const struct image *procmap_known_image(const struct procmap *pm, pid_t pid, uint64_t start_time,
					uint64_t time_ns);
/*
 * The same for a source that does not know the start time: the image of the process that had this
 * PID at time_ns. Fills in the start time; 0: not known yet. NULL: no such process is known.
 */
struct image *procmap_image_at(struct procmap *pm, pid_t pid, uint64_t time_ns, uint64_t *start_time);
/* Set the owner of every image to NULL. */
void procmap_disown(struct procmap *pm);
/* Forget the images that ended before before_ns. */
void procmap_expire(struct procmap *pm, uint64_t before_ns);
/*
 * Let go of files that no process maps (user/space/files.h), if there are many new ones or `always`: those
 * that could not be let go the last time, or were still mapped then, stay until the next.
 */
void procmap_trim_files(struct procmap *pm, bool always);
/*
 * Use the numbers of such files again, unless the hook forget_file says that something refers to
 * them. Returns how many it kept from being used.
 */
size_t procmap_reuse_files(struct procmap *pm);

/* The numbers of mapped files. */
const struct files *procmap_files(const struct procmap *pm);
size_t procmap_nimages(const struct procmap *pm);
struct procmap_counts procmap_counts(const struct procmap *pm);
/* The mapping of the file that the image runs, valid until its next change; NULL: unknown. */
const struct mapping *image_program(const struct image *im);
/* Base name of that file; "" if unknown. */
const char *image_file(const struct image *im);

#endif
