/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the source files of the model share: the intern tables of a session, and the
 * functions that turn a pc into a frame. Only they include this.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <regex.h>

#include "analysis/base/intern.h"
#include "analysis/model/addrmap.h"
#include "analysis/model/names.h"
#include "analysis/model/outline.h"
#include "analysis/model/search.h"
#include "analysis/model/session.h"
#include "analysis/model/source.h"

/* What stack `index` of an experiment resolves to during a span of time. */
struct resolution {
	struct span valid;
	uint32_t stack;
	uint32_t next; /* next resolution of the same index, + 1 */
};

/* The frame of a pc. */
struct known_pc {
	uint32_t frame1 : 31; /* id + 1; 0: not known */
	/* the frame's function is no part of another one and not interpreted: see stack_expand */
	bool plain : 1;
};

/* The resolver of one experiment. Created by its first use. */
struct resolver {
	struct addrmap *map;
	VEC(uint32_t) fixed;         /* by stack index: the stack, if always the same, + 1 */
	VEC(uint32_t) first;         /* by index of other stacks: first resolution + 1 */
	VEC(struct resolution) resolutions;
	VEC(struct known_pc) known;  /* by number of a pc; of those whose meaning never changes */
	bool warned;
};

struct code;
struct divided;
struct kernel_image;
struct lineinfo;
struct machine;
struct spans;
struct sym;

struct session_impl {
	struct search_path search;
	struct kernel_image *kernel; /* kernel_image.c; NULL: not needed yet */
	VEC(struct resolver) resolvers; /* by experiment id - 1 */
	struct intern func_ids, frame_ids, stack_ids;
	struct intern object_ids;
	size_t nfounders, nfounders_of; /* number of founders among so many experiments */
	struct map builds;           /* hash of founder and path, to its archived build id */
	uint32_t unknown_stack;
	enum { DYNTEXT_UNKNOWN, DYNTEXT_NONE, DYNTEXT_SOME } dyntext; /* in any experiment */
	struct dynscopes *dynscopes; /* NULL: not needed yet */
	struct map dyntext_sources;  /* id of a function, to the path of its source; 0: it has none */
	struct data_objects *data;   /* dataobj.c; NULL: not needed yet */
	struct names names;
	size_t names_of; /* number of experiments that `names` covers */
	struct spans *spans; /* spans.c; NULL: not needed yet */
	size_t spans_of;     /* number of experiments that `spans` covers */
	VEC(unsigned char) at_rest;  /* atrest.c: by stack: enum at_rest + 1; 0: not looked at yet */
	VEC(unsigned char) may_rest; /* by function: 2 yes, 1 no; 0: not looked at yet */
	struct divided *divided; /* divided.c; NULL: no wait is divided, or not needed yet */
	size_t divided_of;   /* number of experiments that `divided` covers */
	struct map by_process;       /* founder id << 32 | pid, to the last experiment's id */
	VEC(uint32_t) same_process; /* by experiment id - 1: the previous one of the same process */
	VEC(uint32_t) scratch;
	bool compared;        /* as the last session_join was told */
	bool no_subs;         /* open no sub-experiments */
	regex_t *only_subs;   /* open only those that match; NULL: all */
	enum interpreted_shown interpreted;
	bool as_recorded;     /* do not show calls of outlined code */
	bool inlined;	      /* show frames of inlined calls */
	struct expansions *expansions; /* expand.c; NULL: not needed yet */
	size_t outlined;      /* number of functions that are parts of others */
};

/* object.c */

/* The load object of a path; created if new. */
struct loadobj *object_get(struct session *s, const char *path);
/*
 * The load object of a path in an experiment. Other recordings may have another build at that
 * path, which is then another object: archives tell them apart by build id.
 */
struct loadobj *object_mapped(struct session *s, const struct experiment *e, const char *path);
/* A load object without a file. */
struct loadobj *object_pseudo(struct session *s, const char *path, const char *name);
/* The function at an object's address with this name; created if new. */
struct func *func_get(struct session *s, struct loadobj *o, uint64_t addr, uint64_t size,
		      const char *name, unsigned flags);
/* The function for inlined calls of a name that srcfile declares (interned, or NULL). */
struct func *func_get_inlined(struct session *s, struct loadobj *o, const char *name,
			      const char *srcfile);
/*
 * The function that contains the byte at `offset` of the mapped file. *addr is the
 * byte's address in the object's own address space. `m` bounds the function if the file
 * has no symbols. The first call reads the object's symbols.
 */
struct func *object_func(struct session *s, const struct mapping *m, uint64_t offset,
			 uint64_t *addr);
void object_free(struct loadobj *o);
/*
 * Call `use` with each file of an object, open, until it accepts one: first the
 * archive, then the file at the recorded path if it is the same build. True: one was
 * accepted.
 */
bool object_files(struct session *s, struct loadobj *o,
		  bool (*use)(struct loadobj *o, int fd, void *ctx), void *ctx);
/* Read the object's symbols unless that was tried before. */
void object_load(struct session *s, struct loadobj *o);
/* The function of one of an object's symbols; created if new. */
struct func *object_symbol_func(struct session *s, struct loadobj *o, const struct sym *sym);

/* kernel_image.c: vmlinux, and the running kernel. */

/* The line table with a kernel function; *addr becomes the function's address in it. NULL: none. */
struct lineinfo *kernel_lines(struct session *s, const struct func *f, uint64_t *addr);
/* The code with a kernel function; *addr as in kernel_lines. */
struct code *kernel_code(struct session *s, const struct func *f, uint64_t *addr);
/*
 * The symbol at an address of the kernel that `near` belongs to; *offset is the
 * distance from its start. NULL: unknown.
 */
const char *kernel_name_at(struct session *s, const struct func *near, uint64_t addr,
			   uint64_t *offset);
/* The other names of a kernel function, if the running kernel has it there; NULL: none are known. */
const char *kernel_aliases(struct session *s, const struct func *f);
void kernel_image_free(struct kernel_image *k);

/* dyntext.c: code bytes of a dynamic function, up to n from an offset on. Returns how many. */
size_t dynamic_code(struct session *s, const struct func *f, uint64_t offset, void *to, size_t n);
/* The line at an offset into a dynamic function. False: unknown. */
bool dynamic_srcline(struct session *s, const struct func *f, uint64_t offset, struct srcline *ret);
/* The path of its source, interned; NULL: unknown. */
const char *dynamic_source(struct session *s, const struct func *f);
/* Append its lines, by offset (source.h). */
void dynamic_lines(struct session *s, const struct func *f, line_code_vec *ret);
/* The machine of a dynamic function, taken from the experiment; NULL: no code was recorded. */
const struct machine *dynamic_machine(struct session *s, const struct func *f);

/* dataobj.c */

void data_objects_free(struct data_objects *d);

/* expand.c */

/*
 * Intern a stack of recorded frames, after adding frames of inlined calls and outlined
 * code if these are shown. `plain`: no frame needs that or hides others, except inlined calls.
 */
uint32_t stack_expand(struct session *s, const uint32_t *frames, size_t n, bool plain);
/* Whether a frame of the function is plain in this sense. */
bool frame_is_plain(const struct func *f);
void expansions_free(struct expansions *x);

/* resolve.c */

struct resolver *resolver_of(struct session *s, struct experiment *e);
void resolver_free(struct resolver *r);
/* Forget all resolutions, so that stacks are resolved again. */
void resolver_forget(struct resolver *r);
/* The frame of a function's own code. */
uint32_t frame_get(struct session *s, struct func *f, uint64_t offset);
/* The frame with these members; created if new. */
uint32_t frame_intern(struct session *s, const struct frame *f);
uint32_t stack_get(struct session *s, const uint32_t *frames, size_t n);

#endif
