/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a tool has open: experiments, and the nouns they share. Load objects,
 * functions and frames are made once for all experiments, so that the same
 * libc function in fifty processes is one function. Ids are dense and start at
 * 0, for arrays beside them.
 */
#ifndef MODEL_SESSION_H
#define MODEL_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/experiment/experiment.h"

/* Whether an object's functions are shown one by one, as one line, or not below its entries. */
enum show { SHOW_ALL, SHOW_HIDE, SHOW_API };

struct loadobj {
	uint32_t id;
	const char *path; /* as recorded; pseudo objects: "<Total>", "<Unknown>", "LinuxKernel", … */
	const char *name; /* as lists show it: "<libc.so.6>", or the pseudo name */
	bool pseudo;
	bool kernel;
	enum show show;
	struct func *hidden;  /* the line that stands for a hidden object; made when asked for */
	struct symtab *symtab;
	struct lineinfo *lines; /* source.h */
	struct code *code;
	bool lines_tried, code_tried;
	const char *opened_as; /* the file whose symbols are in use, NULL none */
	struct diag diag;      /* warnings about it, shown by `objects` */
	bool tried;             /* to open it */
	size_t nsyms;
	struct map by_name; /* outline.c: of names, hashed, index of the symbol + 1 */
};

enum func_flags {
	FUNC_PSEUDO = 1 << 0, /* stands for no code: <Total>, <Unknown>, <Truncated-stack>, … */
	FUNC_STATIC = 1 << 1, /* <static>@0x…: code without a symbol */
	FUNC_INLINED = 1 << 2, /* its calls that were inlined: it has no code of its own */
};

/* What is known of a part that was split off another function; made by outline.h. */
struct outline {
	struct func *parent; /* NULL: not known */
	const char *names[2]; /* short, long; NULL: not asked for yet */
	bool known;	      /* the parent was looked for */
};

struct func {
	uint32_t id;
	struct loadobj *obj;
	const char *name;       /* as shown by `name short`: demangled, without parameters */
	const char *long_name;  /* demangled in full */
	const char *mangled;
	const char *aliases;    /* NULL none */
	const char *srcfile;    /* where an inlined one is declared; NULL unknown */
	uint64_t addr, size;    /* in the object's own address space */
	unsigned flags;
	struct outline *outline; /* NULL: it is no part of another function */
};

/* The call of outlined code, which no instruction made: the offset of no code. */
static const uint64_t FRAME_OUTLINED = UINT64_MAX;

/*
 * A place in code: what a stack is made of. Interned: the same place has one frame. Where
 * calls were inlined one place has several frames, if they are shown: of the function whose
 * code it is, its body, and of each inlined call that the place lies in.
 */
struct frame {
	struct func *func;
	struct func *body; /* whose code it is: func itself, or a function with FUNC_INLINED's body */
	uint64_t offset;   /* from the start of body, or FRAME_OUTLINED */
	uint32_t depth;	   /* 0: func's own; of an inlined call: 1 if body's code has it, 2 … */
};

/* A resolved stack, interned over all experiments: frames leaf first, root last. */
struct stack {
	uint32_t first; /* into session.stack_frames, of frame ids */
	uint32_t n;
};

struct session {
	VEC(struct experiment *) experiments; /* founders and subs, by id; each owned */
	VEC(const char *) groups; /* names: each session_add makes one, to compare with others */
	VEC(struct loadobj *) objects;
	VEC(struct func *) funcs;
	VEC(struct frame) frames;
	VEC(struct stack) stacks;
	VEC(uint32_t) stack_frames;
	struct func *total, *unknown, *truncated, *unwind_failed;
	struct strtab names;
	struct arena arena;
	struct diag *diag;            /* the tool's own; borrowed */
	struct session_impl *impl;    /* intern tables, search path */
};

struct session *session_new(struct diag *d);
void session_free(struct session *s);

/*
 * Which sub-experiments session_add opens from now on (P-110): "on" all, "off"
 * none, "=regex" those whose name without its suffix, the lineage, or whose
 * program's name it matches. 0, or -1 after reporting.
 */
int session_descendants(struct session *s, const char *which, struct diag *d);
/*
 * Open an experiment (with its sub-experiments) or a group file. 0, or -1
 * after reporting; what was opened before stays.
 */
int session_add(struct session *s, const char *path);

/*
 * The resolved stack of stack `index` of e as it stood at time_ns (relative):
 * an id into s->stacks. Each distinct stack is resolved once for each state of
 * the address map it was seen under. Index -1 gives the stack <Unknown>.
 */
uint32_t session_resolve(struct session *s, struct experiment *e, int64_t index, int64_t time_ns);

/* What session_resolve gives for no stack: of one frame, <Unknown>. */
uint32_t session_no_stack(const struct session *s);
/*
 * The resolved stack that another process' packet refers to: looked for in the
 * experiments of process pid of the same recording, then in the one of all that
 * were not followed, then in the founder. time_ns is absolute. <Unknown> when
 * nobody has it, or for uid 0.
 */
uint32_t session_resolve_in_process(struct session *s, const struct experiment *founder, int64_t pid,
				    uint64_t uid, int64_t time_ns);

/*
 * The functions of that name (short, long or mangled), in id order, of all
 * stacks recorded; freed with vec_free.
 */
typedef VEC(struct func *) func_vec;
void session_find_funcs(struct session *s, const char *name, func_vec *ret);
/* The object by path or by name, with or without its brackets, or NULL. */
struct loadobj *session_find_object(struct session *s, const char *name);
/* Make all load objects that the maps name known, not only those with samples. */
void session_load_objects(struct session *s);
/*
 * The file of that path, as it was recorded: -1 with *why ("no such file") when
 * it cannot be had or was changed since the last of the experiments ended.
 */
int session_open_recorded(const struct session *s, const char *path, const char **why);
/* An object that no experiment names, with all its functions. What is wrong is in its diag. */
struct loadobj *session_add_object(struct session *s, const char *path);
/* Where source files are looked for (search.h). */
struct search_path *session_search(struct session *s);
/*
 * Whether stacks show outlined code as called by the function that it was split off, under a
 * name that says so (outline.h), which is so from the start; or as recorded. Tallies made
 * before no longer hold.
 */
void session_show_outlined(struct session *s, bool on);
bool session_shows_outlined(const struct session *s);
/*
 * Whether stacks have frames of inlined calls; not so from the start. It needs the DWARF of
 * all objects in stacks, which may have to be fetched. Tallies made before no longer hold.
 */
void session_show_inlined(struct session *s, bool on);
bool session_shows_inlined(const struct session *s);
/* The line that stands for a hidden object. */
struct func *session_hidden_func(struct session *s, struct loadobj *o);

#endif
