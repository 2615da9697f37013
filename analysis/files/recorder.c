/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether something still records into an experiment. er_kernel writes its state and its process ID
 * into recorder.xml. gprofng's collector is a library in the recorded process. A process ID alone
 * proves nothing, because another process may have it by now.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/file.h"
#include "analysis/experiment/xml.h"
#include "analysis/files/operand.h"

struct signs {
	bool elsewhere, closed; /* log.xml: from another machine; has the exit event */
	int64_t target;         /* log.xml: the process that was recorded */
	int64_t recorder;       /* recorder.xml: er_kernel's process; 0: it has ended */
};

static void on_log(void *ctx, const struct xml_element *el)
{
	struct signs *s = ctx;
	const char *kind = xml_get(el, "kind"), *host = xml_get(el, "hostname");
	struct utsname here;

	if (!strcmp(el->name, "event") && kind && !strcmp(kind, "exit"))
		s->closed = true;
	if (!strcmp(el->name, "process") && xml_get(el, "pid"))
		s->target = xml_get_int(el, "pid", 0);
	if (!strcmp(el->name, "system") && host && !uname(&here))
		s->elsewhere = strcmp(host, here.nodename) != 0;
}

static void on_recorder(void *ctx, const struct xml_element *el)
{
	struct signs *s = ctx;
	const char *state = xml_get(el, "state");

	if (!strcmp(el->name, "recorder") && state && !strcmp(state, "running"))
		s->recorder = xml_get_int(el, "pid", 0);
}

/*
 * Parse a file. Returns when it was last written, in seconds since the epoch; 0: there is no
 * such file.
 */
static int64_t parse(int dir, const char *name, struct signs *s,
		     void (*start)(void *ctx, const struct xml_element *el))
{
	const struct xml_handler handler = { .start = start };
	struct file f;
	size_t line;
	int64_t written;

	if (file_open_plain_at(dir, name, &f))
		return 0;
	xml_parse(f.data, f.size, &handler, s, &line);
	written = f.mtime_ns / 1000000000;
	file_close(&f);
	return written;
}

/*
 * The rest of the first line of a file in /proc that begins with `word`; NULL: none. The caller
 * frees it.
 */
static char *proc_line(const char *path, const char *word)
{
	__cleanup(fclosep) FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0, n = strlen(word);

	while (f && getline(&line, &cap, f) > 0) {
		if (!strncmp(line, word, n)) {
			memmove(line, line + n, strlen(line + n) + 1);
			return line;
		}
	}
	free(line);
	return NULL;
}

/* When the process started, in seconds since the epoch; -1: there is no such process. */
static int64_t process_start(int64_t pid)
{
	enum { STARTTIME = 22, STATE = 3 }; /* fields of /proc/PID/stat, proc(5) */
	__cleanup(freep) char *path = xasprintf("/proc/%" PRId64 "/stat", pid);
	__cleanup(freep) char *stat = proc_line(path, "");
	__cleanup(freep) char *boot = proc_line("/proc/stat", "btime ");
	/* The second field is a name in parentheses that may contain any characters. */
	char *at = stat ? strrchr(stat, ')') : NULL;

	for (int field = STATE; at && field <= STARTTIME; field++)
		at = strchr(at + 1, ' ');
	return at && boot ? atoll(boot) + atoll(at) / sysconf(_SC_CLK_TCK) : -1;
}

static bool has_collector(int64_t pid)
{
	__cleanup(freep) char *path = xasprintf("/proc/%" PRId64 "/maps", pid);
	__cleanup(fclosep) FILE *f = fopen(path, "re");
	__cleanup(freep) char *line = NULL;
	size_t cap = 0;

	while (f && getline(&line, &cap, f) > 0) {
		if (strstr(line, "/libgp-collector.so"))
			return true;
	}
	return false;
}

char *experiment_recorder(int fd)
{
	struct signs s = { 0 };
	int64_t written, start;

	parse(fd, "log.xml", &s, on_log);
	written = parse(fd, "recorder.xml", &s, on_recorder);
	if (s.closed || s.elsewhere)
		return NULL;
	start = s.recorder > 0 ? process_start(s.recorder) : -1;
	if (start >= 0 && start <= written)
		return xasprintf("er_kernel (process %" PRId64 ")", s.recorder);
	if (s.target > 0 && has_collector(s.target))
		return xasprintf("the collector in process %" PRId64, s.target);
	return NULL;
}
