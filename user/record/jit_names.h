/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of generated code, which is in no file. Many runtimes list their functions in a perf map
 * or a jitdump (user/jit/place.h). For each process with a sub-experiment of its own whose stacks
 * show generated code, that file is looked at twice a second and once more when the process has
 * ended. The worker parses what is new. Functions that stacks mention are written into the
 * sub-experiment.
 *
 * A jitdump has times and code; a perf map has neither. Then a function is dated to the last look
 * that did not find it, so it may seem to exist for half a second too long. Where it replaces
 * another one, stacks of that half second have the new name.
 *
 * A Java VM without such a file is asked in its memory (jit_memory.h). In other known runtimes, and
 * where a name is missing, generated code is one pseudo function such as <JavaScript>.
 */
#ifndef USER_RECORD_JIT_NAMES_H
#define USER_RECORD_JIT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct drops;
struct er_stack;
struct image;
struct jit_names;
struct output;
struct recording;
struct unwinder;
struct unwind_worker;

/*
 * All are borrowed. The unwinder (NULL: none) gets the Java VMs that are found. From now on the
 * worker reads names for this module.
 */
struct jit_names *jit_names_new(struct recording *recording, struct unwind_worker *worker,
				struct unwinder *unwinder, struct drops *drops);
void jit_names_free(struct jit_names *j); /* NULL: nothing */

/* A process's stack, walked, has come. Its record has the key with which BPF finds the process's Java VM. */
void jit_names_met(struct jit_names *j, const struct er_stack *s);
/* A stack that is written into the image's own output has this address, which is in no file. */
void jit_names_mention(struct jit_names *j, struct output *p, struct image *im, uint64_t pc);
/*
 * A copied stack of the image has code of its Java VM. True: the VM is not known yet, but it is being asked for, or
 * will be at the next update.
 */
bool jit_names_want_vm(struct jit_names *j, struct image *im);
/*
 * Write the functions that were read, and look at the files whose time has come; with `all` at
 * all files.
 */
void jit_names_update(struct jit_names *j, uint64_t now_ns, bool all);
/* True while something is being read. */
bool jit_names_reading(const struct jit_names *j);
/* The segment ends: code that still has no name gets its runtime's pseudo function. */
void jit_names_complete(struct jit_names *j);
/* The image is about to be forgotten. Call it before its output ends. */
void jit_names_forget(struct jit_names *j, const struct image *im);
/* All outputs are gone. What was read stays known. */
void jit_names_restart(struct jit_names *j);
/* Write the element <generated> of recorder.xml. */
void jit_names_write(const struct jit_names *j, struct buf *b);

#endif
