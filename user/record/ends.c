/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/ends.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/experiment/xml.h"
#include "user/space/procmap.h"

enum { MAX_PROGRAMS = 512 }; /* more are counted together */

#define OTHERS "<other programs>"

struct ends_sum {
	uint64_t stacks, ns;
};

struct program {
	struct ends_sum sums[ENDS_KINDS][ER_END_COUNT];
};

struct ends {
	struct strtab names; /* ids index `programs` */
	VEC(struct program *) programs;
};

/* The names that reports show. */
static const char *const words[ER_END_COUNT] = {
	[ER_END_PROVEN] = "complete",
	[ER_END_FP_ZERO] = "frame pointer 0, probably complete",
	[ER_END_NO_MAPPING] = "address in no mapping",
	[ER_END_BUSY] = "mapping could not be looked up at that moment",
	[ER_END_NO_TABLE] = "no unwind table yet",
	[ER_END_EVICTED] = "unwind table dropped for lack of memory",
	[ER_END_NO_CFI] = "code without unwind information",
	[ER_END_BAD_RULE] = "unwind information that makes no sense",
	[ER_END_REGISTER] = "caller's frame in a register that is not known",
	[ER_END_FAULT] = "stack could not be read",
	[ER_END_NOT_RISING] = "caller's frame below its callee's",
	[ER_END_RA_ZERO] = "return address 0",
	[ER_END_DEPTH] = "deeper than 512 frames",
	[ER_END_SHORT] = "deeper than what was copied of it",
	[ER_END_NO_VM] = "Java VM not known yet",
};

static const char *const kinds[ENDS_KINDS] = { [ENDS_CPU] = "cpu", [ENDS_WAITS] = "waits" };

struct ends *ends_new(void)
{
	return xcalloc(1, sizeof(struct ends));
}

void ends_free(struct ends *e)
{
	if (!e)
		return;
	vec_for_each(p, &e->programs)
		free(*p);
	vec_free(&e->programs);
	strtab_free(&e->names);
	free(e);
}

/* Numbers count from 1. */
static unsigned number_of(struct ends *e, const struct image *im)
{
	const char *name = *image_file(im) ? image_file(im) : im->comm;
	uint32_t id = strtab_id(&e->names, e->names.len < MAX_PROGRAMS ? name : OTHERS);

	while (e->programs.len <= id)
		vec_push(&e->programs, xcalloc(1, sizeof(struct program)));
	return id + 1;
}

void ends_count(struct ends *e, struct image *im, enum ends_kind kind, enum er_end end,
		uint64_t weight_ns)
{
	struct ends_sum *sum;

	if (end == ER_END_NOT || end >= ER_END_COUNT)
		return;
	if (!im->program)
		im->program = number_of(e, im);
	sum = &e->programs.data[im->program - 1]->sums[kind][end];
	sum->stacks++;
	sum->ns += weight_ns;
}

void ends_clear(struct ends *e)
{
	vec_for_each(p, &e->programs)
		**p = (struct program){ 0 };
}

static void write_sum(struct buf *b, const char *program, enum ends_kind kind, enum er_end end,
		      const struct ends_sum *sum)
{
	if (!sum->stacks)
		return;
	buf_puts(b, "<walk");
	xml_attr(b, "program", program);
	xml_attr(b, "of", kinds[kind]);
	xml_attr(b, "end", words[end]);
	buf_printf(b, " complete=\"%d\" stacks=\"%" PRIu64 "\" ns=\"%" PRIu64 "\"/>\n",
		   end == ER_END_PROVEN, sum->stacks, sum->ns);
}

void ends_write(const struct ends *e, struct buf *b)
{
	for (size_t i = 0; i < e->programs.len; i++)
		for (int kind = 0; kind < ENDS_KINDS; kind++)
			for (int end = 1; end < ER_END_COUNT; end++)
				write_sum(b, e->names.strings[i], kind, end,
					  &e->programs.data[i]->sums[kind][end]);
}
