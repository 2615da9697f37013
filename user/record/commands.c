/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/commands.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"

struct command {
	uint64_t start_time, time_ns;
	pid_t pid;
	uint32_t older; /* index + 1 of the process's command before; it may belong to another by now */
	bool whole;
	char *text;
};

struct commands {
	struct command all[COMMANDS_MAX]; /* a new one replaces the oldest */
	uint32_t next;
	struct map newest; /* hash of a process to index + 1 */
};

struct commands *commands_new(void)
{
	return xcalloc(1, sizeof(struct commands));
}

void commands_free(struct commands *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < COMMANDS_MAX; i++)
		free(c->all[i].text);
	map_free(&c->newest);
	free(c);
}

static uint64_t key_of(pid_t pid, uint64_t start_time)
{
	return hash64(start_time ^ hash64(pid));
}

static char *text_of(const struct er_command *r)
{
	size_t n = r->n;
	char *text;

	while (n && !r->text[n - 1])
		n--;
	text = xmalloc(n + 1);
	for (size_t i = 0; i < n; i++)
		text[i] = r->text[i] ? r->text[i] : ' ';
	text[n] = 0;
	return text;
}

static void forget(struct commands *c, uint32_t index)
{
	const struct command *old = &c->all[index];
	uint64_t key = key_of(old->pid, old->start_time);
	const uint64_t *newest = old->text ? map_get(&c->newest, key) : NULL;

	if (newest && *newest == index + 1ULL)
		map_remove(&c->newest, key);
	free(old->text);
}

void commands_take(struct commands *c, const struct er_command *r)
{
	uint32_t index = c->next++ % COMMANDS_MAX;
	uint64_t *newest;

	forget(c, index);
	newest = map_put(&c->newest, key_of(r->tgid, r->start_time), NULL);
	c->all[index] = (struct command){ .start_time = r->start_time, .time_ns = r->h.time_ns, .pid = r->tgid,
					  .older = *newest, .whole = r->whole, .text = text_of(r) };
	*newest = index + 1;
}

/* The command at `older`, if it is one of the same process, from before. */
static const struct command *before(const struct commands *c, const struct command *now)
{
	const struct command *old = now->older ? &c->all[now->older - 1] : NULL;

	return old && old->text && old->pid == now->pid && old->start_time == now->start_time &&
	       old->time_ns < now->time_ns ? old : NULL;
}

const char *commands_find(const struct commands *c, pid_t pid, uint64_t start_time, uint64_t begin_ns,
			  uint64_t end_ns, bool *whole)
{
	const uint64_t *newest = map_get(&c->newest, key_of(pid, start_time));
	const struct command *found = NULL;

	for (const struct command *at = newest ? &c->all[*newest - 1] : NULL; at; at = before(c, at)) {
		if (at->pid != pid || at->start_time != start_time || at->time_ns < begin_ns)
			break;
		if (!end_ns || at->time_ns < end_ns)
			found = at;
	}
	if (found)
		*whole = found->whole;
	return found ? found->text : NULL;
}
