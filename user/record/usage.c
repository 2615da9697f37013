/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/usage.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/experiment/usage.h"
#include "user/record/schedule.h"

/* A line of a file under /proc: its first word, and the field for each number after it. */
struct source {
	const char *file, *word;
	unsigned column;
	size_t offset;
	unsigned scale; /* multiplier; 0: the number is in ticks of USER_HZ */
};

#define INTO(m) offsetof(struct exp_usage, m)

enum { TICKS = 0, ONE = 1, KB_BLOCKS = 2 }; /* a block is 512 bytes, as in getrusage(2) */

/*
 * Rows of one file are adjacent. Several numbers for one field are added up. Some fields have no
 * source for the whole system and stay 0 here: signals, system calls, characters. All switches
 * count as voluntary, those of idle CPUs included. recorder_xml_usage() fills in what the capture
 * counts. Times off a CPU come from the drain.
 */
static const struct source sources[] = {
	{ "/proc/stat", "cpu", 0, INTO(user_ns), TICKS },   /* user */
	{ "/proc/stat", "cpu", 1, INTO(user_ns), TICKS },   /* nice */
	{ "/proc/stat", "cpu", 2, INTO(system_ns), TICKS }, /* system */
	{ "/proc/stat", "cpu", 5, INTO(trap_ns), TICKS },   /* interrupts */
	{ "/proc/stat", "cpu", 6, INTO(trap_ns), TICKS },   /* soft interrupts */
	{ "/proc/stat", "ctxt", 0, INTO(vctx), ONE },
	{ "/proc/vmstat", "pgfault", 0, INTO(minflt), ONE }, /* major ones included */
	{ "/proc/vmstat", "pgmajfault", 0, INTO(majflt), ONE },
	{ "/proc/vmstat", "pgpgin", 0, INTO(inblock), KB_BLOCKS },
	{ "/proc/vmstat", "pgpgout", 0, INTO(oublock), KB_BLOCKS },
	{ "/proc/vmstat", "pswpout", 0, INTO(nswap), ONE },
	/* TCP segments and UDP datagrams, of our network namespace. */
	{ "/proc/net/snmp", "Tcp:", 9, INTO(msgrcv), ONE },
	{ "/proc/net/snmp", "Tcp:", 10, INTO(msgsnd), ONE },
	{ "/proc/net/snmp", "Udp:", 0, INTO(msgrcv), ONE },
	{ "/proc/net/snmp", "Udp:", 3, INTO(msgsnd), ONE },
};

enum { NSOURCES = sizeof(sources) / sizeof(sources[0]), CHUNK = 16 << 10, FILE_MAX = 1 << 20 };

/* Put the whole text into the buffer, or "" if it cannot be read. */
static void read_text(const char *path, struct buf *ret)
{
	__cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;

	buf_clear(ret);
	while (fd >= 0 && n > 0 && ret->len < FILE_MAX) {
		buf_reserve(ret, CHUNK);
		n = read(fd, ret->data + ret->len, CHUNK);
		ret->len += n > 0 ? n : 0;
	}
	buf_add(ret, "", 0);
}

/* snmp has two lines with each first word. The first of them has words instead of numbers. */
static bool has_numbers(const char *p)
{
	p += strspn(p, " ");
	return (*p >= '0' && *p <= '9') || *p == '-';
}

static uint64_t number_in(const char *text, const struct source *s)
{
	size_t len = strlen(s->word);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, s->word, len) && line[len] == ' ' && has_numbers(line + len)) {
			char *p = (char *)line + len;
			uint64_t v = 0;

			for (unsigned i = 0; i <= s->column; i++)
				v = strtoull(p, &p, 10);
			return v;
		}
	}
	return 0;
}

static uint64_t *field(struct exp_usage *u, size_t offset)
{
	return (uint64_t *)((char *)u + offset);
}

void usage_now(struct exp_usage *ret)
{
	uint64_t tick_ns = 1000000000ULL / sysconf(_SC_CLK_TCK);
	struct buf text = { 0 };
	const char *file = "";

	*ret = (struct exp_usage){ .time_ns = now_ns() };
	for (int i = 0; i < NSOURCES; i++) {
		const struct source *s = &sources[i];

		if (strcmp(file, s->file))
			read_text(s->file, &text);
		file = s->file;
		*field(ret, s->offset) += number_in(text.data, s) * (s->scale ? s->scale : tick_ns);
	}
	ret->minflt -= ret->minflt > ret->majflt ? ret->majflt : ret->minflt;
	read_text("/proc/loadavg", &text);
	if (sscanf(text.data, "%*f %*f %*f %*u/%u", &ret->nthreads) != 1)
		ret->nthreads = 0;
	buf_free(&text);
}

void usage_since(struct exp_usage *u, const struct exp_usage *base)
{
	struct exp_usage b = *base;
	uint64_t done = 0; /* one bit for each field, because several rows fill one field */

	for (int i = 0; i < NSOURCES; i++) {
		size_t offset = sources[i].offset;
		uint64_t bit = 1ULL << offset / sizeof(uint64_t);

		/* a counter may go down: network namespaces and CPUs come and go */
		if (!(done & bit))
			*field(u, offset) -= *field(u, offset) > *field(&b, offset) ?
						     *field(&b, offset) : *field(u, offset);
		done |= bit;
	}
	u->create_ns = base->time_ns;
	u->real_ns = u->time_ns - base->time_ns;
}
