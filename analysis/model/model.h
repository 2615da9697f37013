/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the model share and nobody else sees: the intern tables
 * of a session and the way from a pc to a frame.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <regex.h>

#include "analysis/model/addrmap.h"
#include "analysis/model/intern.h"
#include "analysis/model/names.h"
#include "analysis/model/outline.h"
#include "analysis/model/search.h"
#include "analysis/model/session.h"
#include "analysis/model/source.h"

/* What stack `index` of an experiment came to while its addresses meant the same. */
struct resolution {
	struct span valid;
	uint32_t stack;
	uint32_t next; /* of the same index, + 1 */
};

/* The resolver of one experiment; made at its first question. */
struct resolver {
	struct addrmap *map;
	VEC(uint32_t) fixed;         /* by stack index: what it is at all times, + 1 */
	VEC(uint32_t) first;         /* for the others: into resolutions, + 1 */
	VEC(struct resolution) resolutions;
	struct map frame_by_pc;      /* frame + 1, of addresses that mean one thing for ever */
	bool warned;
};

struct code;
struct kernel_image;
struct lineinfo;
struct machine;
struct sym;

struct session_impl {
	struct search_path search;
	struct kernel_image *kernel; /* kernel_image.c; NULL: not asked for yet */
	VEC(struct resolver) resolvers; /* by experiment id - 1 */
	struct intern func_ids, frame_ids, stack_ids;
	struct intern object_ids;
	uint32_t unknown_stack;
	enum { DYNTEXT_UNKNOWN, DYNTEXT_NONE, DYNTEXT_SOME } dyntext; /* whether any experiment has one */
	struct data_objects *data;   /* dataobj.c; NULL: not asked for yet */
	struct names names;
	size_t names_of; /* how many experiments they are of */
	struct map by_process;       /* founder's id << 32 | pid: the last experiment's id */
	VEC(uint32_t) same_process;  /* by experiment id - 1: the one before it of that process */
	VEC(uint32_t) scratch;
	bool no_subs;         /* none are opened */
	regex_t *only_subs;   /* those that match are; NULL: all */
	bool as_recorded;     /* outlined code is called by nobody */
	bool inlined;	      /* inlined calls have frames */
	struct expansions *expansions; /* expand.c; NULL: nothing was asked for yet */
	size_t outlined;      /* how many functions are parts of others */
};

/* object.c */

/* The load object of a path, made when new. */
struct loadobj *object_get(struct session *s, const char *path);
/* One that stands for no file. */
struct loadobj *object_pseudo(struct session *s, const char *path, const char *name);
/* The function at an address of an object, by that name; made when new. */
struct func *func_get(struct session *s, struct loadobj *o, uint64_t addr, uint64_t size,
		      const char *name, unsigned flags);
/* The inlined calls of a function, by its name and the file that declares it (interned, or NULL). */
struct func *func_get_inlined(struct session *s, struct loadobj *o, const char *name,
			      const char *srcfile);
/*
 * The function that holds the byte at `offset` of the file, and where that byte
 * is in the object's own addresses. `m` bounds what is known of a file without
 * symbols. Opens the object's symbols at the first call.
 */
struct func *object_func(struct session *s, const struct mapping *m, uint64_t offset,
			 uint64_t *addr);
void object_free(struct loadobj *o);
/*
 * Hand the files of an object, open, to `use`, until one is taken: the archive, then
 * what is at the recorded path if it is the same build. Whether one was taken.
 */
bool object_files(struct session *s, struct loadobj *o,
		  bool (*use)(struct loadobj *o, int fd, void *ctx), void *ctx);
/* Open its symbols, if that was not done. */
void object_load(struct session *s, struct loadobj *o);
/* The function of one of its symbols; made when new. */
struct func *object_symbol_func(struct session *s, struct loadobj *o, const struct sym *sym);

/* kernel_image.c: vmlinux, and the running kernel. */

/* The lines of a function of the kernel; *addr becomes its address in them. NULL: none. */
struct lineinfo *kernel_lines(struct session *s, const struct func *f, uint64_t *addr);
/* Its code, likewise. */
struct code *kernel_code(struct session *s, const struct func *f, uint64_t *addr);
/* The symbol at an address of the kernel that `near` is of, and how far behind it; NULL unknown. */
const char *kernel_name_at(struct session *s, const struct func *near, uint64_t addr,
			   uint64_t *offset);
void kernel_image_free(struct kernel_image *k);

/* dyntext.c: code bytes of dynamic functions, up to n of them from an offset on. */
size_t dynamic_code(struct session *s, const struct func *f, uint64_t offset, void *to, size_t n);
/* Their lines, in offsets from the start. */
bool dynamic_srcline(struct session *s, const struct func *f, uint64_t offset, struct srcline *ret);
/* Their machine, that of the experiment; NULL when no code is known. */
const struct machine *dynamic_machine(struct session *s, const struct func *f);

/* dataobj.c */

void data_objects_free(struct data_objects *d);

/* expand.c */

/* The stack of recorded frames, with those of inlined calls and outlined code if they are shown. */
uint32_t stack_expand(struct session *s, const uint32_t *frames, size_t n);
void expansions_free(struct expansions *x);

/* resolve.c */

struct resolver *resolver_of(struct session *s, struct experiment *e);
void resolver_free(struct resolver *r);
/* Resolve all stacks anew. */
void resolver_forget(struct resolver *r);
/* A frame of no inlined call. */
uint32_t frame_get(struct session *s, struct func *f, uint64_t offset);
/* The one of these members. */
uint32_t frame_intern(struct session *s, const struct frame *f);
uint32_t stack_get(struct session *s, const uint32_t *frames, size_t n);

#endif
