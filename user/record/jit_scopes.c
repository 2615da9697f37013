/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From which methods compiled code comes, as the worker has read it in the memory of a Java VM. */
#include "user/record/drops.h"
#include "user/record/jit_names_impl.h"
#include "user/record/recording.h"

enum { MAX_SCOPES = 16 << 20 }; /* bytes of dynscopes of one process and segment */

static void write_method(struct jit_names *j, struct code *c, const struct jit_entry *e, const char *data)
{
	output_method(j->recording, c->output, e->start, data, e->name_len);
	jit_memory_know(&c->memory, e->start);
	c->scope_bytes += e->name_len;
}

static void write_scopes(struct jit_names *j, struct code *c, const struct jit_entry *e, const char *data)
{
	struct jit_function *f = jit_table_find(&c->table, e->start);

	if (!f || f->start != e->start || !f->written || f->scoped)
		return;
	f->scoped = true;
	if (e->name_len)
		output_scopes(j->recording, c->output, f->from_ns, f->start, data, e->name_len);
	c->scope_bytes += e->name_len;
}

/* Their data is for readers, who do not trust it either. */
void jit_names_add_scopes(struct jit_names *j, struct code *c, const struct jit_piece *p)
{
	for (size_t i = 0; p->of_memory && c->output && i < p->n; i++) {
		const struct jit_entry *e = &p->entries[i];

		if (e->name > p->nnames || e->name_len > p->nnames - e->name)
			continue;
		if (e->kind == JIT_METHOD)
			write_method(j, c, e, p->names + e->name);
		else if (e->kind == JIT_SCOPES)
			write_scopes(j, c, e, p->names + e->name);
	}
	if (c->scope_bytes > MAX_SCOPES && !c->memory.no_scopes) {
		c->memory.no_scopes = true;
		j->drops->n[DROP_NAMES]++;
	}
}
