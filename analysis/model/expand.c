/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes the frames of a stack for display. The view mode hides the interpreter's frames or the
 * interpreted program's. Two kinds of frames are added, because no recorder sees them: calls that the
 * compiler inlined, and functions whose code it split off.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model.h"

enum { INLINED_MAX = 64 };

/*
 * The inlined calls at a recorded frame: frames ids[first] to ids[first + n - 1],
 * innermost first.
 */
struct inlined_frames {
	uint32_t first, n;
	bool known;
};

struct expansions {
	VEC(struct inlined_frames) by_frame; /* by frame id */
	VEC(uint32_t) ids;
	VEC(uint32_t) stack; /* being expanded */
	VEC(uint32_t) chosen;
};

void expansions_free(struct expansions *x)
{
	if (!x)
		return;
	vec_free(&x->by_frame);
	vec_free(&x->ids);
	vec_free(&x->stack);
	vec_free(&x->chosen);
	free(x);
}

static struct expansions *expansions_of(struct session *s)
{
	if (!s->impl->expansions)
		s->impl->expansions = xcalloc(1, sizeof(*s->impl->expansions));
	return s->impl->expansions;
}

/* --- inlined calls --- */

/* A kernel function's name includes its module: "vmlinux`mix". */
static struct func *inlined_func(struct session *s, const struct func *body,
				 const struct inlined_at *call)
{
	const char *name = call->symbol ? call->symbol : call->name ? call->name : "?";
	const char *tick = body->obj->kernel ? strchr(body->mangled, '`') : NULL;
	__cleanup(freep) char *with = NULL;

	if (tick)
		with = xasprintf("%.*s%s", (int)(tick + 1 - body->mangled), body->mangled, name);
	return func_get_inlined(s, body->obj, with ? with : name, call->declared);
}

static struct inlined_frames find_inlined(struct session *s, struct expansions *x,
					  struct frame at)
{
	struct inlined_frames ret = { .first = x->ids.len, .known = true };
	struct inlined_at calls[INLINED_MAX];
	size_t n = func_inlined(s, at.body, at.offset, calls, INLINED_MAX);

	for (ret.n = n; n > 0; n--) {
		at.func = inlined_func(s, at.body, &calls[n - 1]);
		at.depth = n;
		vec_push(&x->ids, frame_intern(s, &at));
	}
	return ret;
}

static const struct inlined_frames *inlined_at_frame(struct session *s, struct expansions *x,
						     uint32_t frame)
{
	while (x->by_frame.len <= frame)
		vec_push(&x->by_frame, (struct inlined_frames){ 0 });
	if (!x->by_frame.data[frame].known) {
		struct inlined_frames found = find_inlined(s, x, frame_at(s, frame));

		x->by_frame.data[frame] = found;
	}
	return &x->by_frame.data[frame];
}

static void push_inlined(struct session *s, struct expansions *x, uint32_t frame)
{
	const struct inlined_frames *at = inlined_at_frame(s, x, frame);

	for (uint32_t i = 0; i < at->n; i++)
		vec_push(&x->stack, x->ids.data[at->first + i]);
}

/* --- outlined code --- */

/*
 * Whether the caller's recorded frame is the part's call. Cold code is jumped to, never
 * called; other parts may be called by their own function.
 */
static bool made_the_call(const struct func *parent, const struct func *part,
			  const struct func *caller)
{
	size_t len = outlined_from(part->mangled);

	return caller == parent && strcmp(part->mangled + len, ".cold");
}

/*
 * Add a frame for each function that f was split off. A part may have been split off
 * another part, so this continues until a function is no part.
 */
static void push_parents(struct session *s, struct expansions *x, struct func *f,
			 const struct func *caller)
{
	struct func *parent;

	for (; (parent = func_parent(s, f)) && !made_the_call(parent, f, caller); f = parent)
		vec_push(&x->stack, frame_get(s, parent, FRAME_OUTLINED));
}

static bool has_parts(const struct session *s, const uint32_t *frames, size_t n)
{
	if (!s->impl->outlined || s->impl->as_recorded)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (frame_func(s, frames[i])->outline)
			return true;
	}
	return false;
}

/* Add the frames of calls. */
static uint32_t expand_calls(struct session *s, const uint32_t *frames, size_t n)
{
	bool parts = has_parts(s, frames, n);
	struct expansions *x;

	if (!parts && !s->impl->inlined)
		return stack_get(s, frames, n);
	x = expansions_of(s);
	x->stack.len = 0;
	for (size_t i = 0; i < n; i++) {
		struct func *f = frame_func(s, frames[i]);
		struct func *caller = i + 1 < n ? frame_func(s, frames[i + 1]) : NULL;

		if (s->impl->inlined)
			push_inlined(s, x, frames[i]);
		vec_push(&x->stack, frames[i]);
		if (parts)
			push_parents(s, x, f, caller);
	}
	return stack_get(s, x->stack.data, x->stack.len);
}

/* --- interpreted functions --- */

static bool is_interpreted(const struct session *s, uint32_t frame)
{
	return frame_func(s, frame)->flags & FUNC_INTERPRETED;
}

/* Whether the frame runs the interpreted function that follows. */
static bool runs_next(const struct session *s, const uint32_t *frames, size_t n, size_t i)
{
	return i + 1 < n && !is_interpreted(s, frames[i]) && is_interpreted(s, frames[i + 1]);
}

/*
 * An interpreted function is called by a function of the interpreter, and is recorded as that one's
 * caller. `object` is the interpreter's object. NULL: its code was generated, so it belongs to the
 * object that all code without a file has. Each frame of such code runs one function.
 */
struct interpreter {
	const struct loadobj *object;
	bool found; /* the stack has an interpreted function */
};

static struct interpreter interpreter_of(const struct session *s, const uint32_t *frames, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct loadobj *o = frame_func(s, frames[i])->obj;

		if (runs_next(s, frames, n, i))
			return (struct interpreter){ o == frame_func(s, frames[i + 1])->obj ? NULL : o, true };
	}
	return (struct interpreter){ 0 };
}

/* Store in x->chosen the frames to show. False: all are shown. */
static bool choose(struct session *s, struct expansions *x, const uint32_t *frames, size_t n)
{
	struct interpreter by = interpreter_of(s, frames, n);
	bool machine = s->impl->interpreted == INTERPRETED_HIDDEN;

	if (!by.found || s->impl->interpreted == INTERPRETED_AND_MACHINE)
		return false;
	x->chosen.len = 0;
	for (size_t i = 0; i < n; i++) {
		bool of_it = by.object ? frame_func(s, frames[i])->obj == by.object :
					 runs_next(s, frames, n, i);

		if (machine ? !is_interpreted(s, frames[i]) : !of_it)
			vec_push(&x->chosen, frames[i]);
	}
	return true;
}

bool frame_is_plain(const struct func *f)
{
	return !f->outline && !(f->flags & FUNC_INTERPRETED);
}

uint32_t stack_expand(struct session *s, const uint32_t *frames, size_t n, bool plain)
{
	struct expansions *x = expansions_of(s);

	if (plain && !s->impl->inlined)
		return stack_get(s, frames, n);
	if (choose(s, x, frames, n)) {
		frames = x->chosen.data;
		n = x->chosen.len;
	}
	return expand_calls(s, frames, n);
}
