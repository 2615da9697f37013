/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/probe/tracepoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/experiment/syscalls.h"
#include "loaders/tracefs.h"

enum { FORMAT_MAX = 64 << 10 };

static int read_file(int dir, const char *path, struct buf *ret)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	char chunk[4096];
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, chunk, sizeof(chunk))) > 0 && ret->len < FORMAT_MAX)
		buf_add(ret, chunk, n);
	close(fd);
	return n < 0 ? -errno : 0;
}

/* --- fields --- */

/* The number behind "offset:" or the like in a line; -1: none. */
static long number_behind(const char *line, const char *end, const char *key)
{
	const char *p = strstr(line, key);

	return p && p < end ? strtol(p + strlen(key), NULL, 10) : -1;
}

static int field_place(const char *line, const char *end, struct er_place *ret)
{
	const char *semicolon = memchr(line, ';', end - line);
	long offset = number_behind(line, end, "offset:"), size = number_behind(line, end, "size:");
	__cleanup(freep) char *type = semicolon ? xstrndup(line, semicolon - line) : NULL;

	if (!type || offset < 0 || offset > UINT16_MAX)
		return -EINVAL;
	*ret = (struct er_place){ .kind = ER_PLACE_FIELD, .value = offset, .size = size,
				  .is_signed = number_behind(line, end, "signed:") == 1 };
	if (strstr(type, "char") && (strstr(type, "__data_loc") || strchr(type, '['))) {
		ret->kind = strstr(type, "__data_loc") ? ER_PLACE_LOCATED : ER_PLACE_TEXT;
		ret->size = 1;
		return 0;
	}
	if (strchr(type, '[') || (size != 1 && size != 2 && size != 4 && size != 8))
		return -EINVAL;
	return 0;
}

int tracepoint_field(const char *format, unsigned first, unsigned number, struct er_place *ret)
{
	unsigned n = 0;

	for (const char *p = format; (p = strstr(p, "\tfield:"));) {
		const char *end = strchrnul(p, '\n'), *common = strstr(p, " common_");

		if (!common || common > end)
			n++;
		if (n == first + number)
			return field_place(p + 7, end, ret);
		p = end;
	}
	return -ENOENT;
}

/* `user`: addresses in the record are of user memory. */
static int set_places(const struct probe_spec *s, const char *format, bool user, struct diag *d,
		      struct probe_sites *ret)
{
	for (size_t i = 0; i < s->nvalues; i++) {
		const struct probe_value *v = &s->values[i];
		struct er_place *p = &ret->places[i];
		int err = tracepoint_field(format, user ? 1 : 0, v->number, p);
		bool text;

		if (err == -ENOENT)
			return diag_error(d, "%s '%s': the tracepoint has no argument %u", probe_option(s),
					  s->text, v->number);
		text = p->kind == ER_PLACE_TEXT || p->kind == ER_PLACE_LOCATED;
		if (err || (text && !v->is_string) || (!text && v->is_string && !user))
			return diag_error(d, "%s '%s': argument %u of the tracepoint is %s: %s", probe_option(s),
					  s->text, v->number, text ? "text" : err ? "no integer" : "no text",
					  text ? "give it the type str" : "give it another type, or leave it out");
		p->is_string = v->is_string;
		if (v->size && !v->is_string) {
			p->size = v->size < p->size ? v->size : p->size;
			p->is_signed = v->is_signed;
		}
	}
	return 0;
}

/* --- tracepoints --- */

static bool plain_name(const char *s)
{
	return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == strlen(s);
}

static int no_tracefs(const struct probe_spec *s, int err, struct diag *d)
{
	diag_errno(d, err, "%s '%s': cannot read the kernel's list of tracepoints: record as root, or mount "
			   "tracefs on /sys/kernel/tracing", probe_option(s), s->text);
	return -1;
}

static int no_tracepoint(const struct probe_spec *s, const char *group, const char *name, struct diag *d)
{
	return diag_error(d, "%s '%s': this kernel has no tracepoint %s:%s: `perf list tracepoint` lists those "
			     "it has", probe_option(s), s->text, group, name);
}

static int find(const struct probe_spec *s, const char *group, const char *name, bool user,
		struct diag *d, struct probe_sites *ret)
{
	int dir = tracefs_open(), err;
	__cleanup(freep) char *id_path = xasprintf("events/%s/%s/id", group, name);
	__cleanup(freep) char *format_path = xasprintf("events/%s/%s/format", group, name);
	struct buf id = { 0 }, format = { 0 };

	if (dir < 0)
		return no_tracefs(s, -dir, d);
	err = plain_name(group) && plain_name(name) ? read_file(dir, id_path, &id) : -ENOENT;
	err = err ? err : read_file(dir, format_path, &format);
	close(dir);
	if (!err && id.len && format.len) {
		ret->tracepoint = strtol(id.data, NULL, 10);
		err = set_places(s, format.data, user, d, ret);
	} else {
		err = err == -ENOENT || !err ? no_tracepoint(s, group, name, d) : no_tracefs(s, -err, d);
	}
	buf_free(&id);
	buf_free(&format);
	return err;
}

int tracepoint_find(const struct probe_spec *s, struct diag *d, struct probe_sites *ret)
{
	return find(s, s->group, s->first, !strcmp(s->group, "syscalls"), d, ret);
}

/* The registers of a system call's arguments, as words of struct pt_regs. */
static int syscall_places(const struct probe_spec *s, struct diag *d, struct probe_sites *ret)
{
	static const uint8_t words[] = { 14, 13, 12, 7, 9, 8 };

	for (size_t i = 0; i < s->nvalues; i++) {
		const struct probe_value *v = &s->values[i];

		if (v->number > sizeof(words))
			return diag_error(d, "%s '%s': a system call has at most %zu arguments", probe_option(s),
					  s->text, sizeof(words));
		ret->places[i] = (struct er_place){
			.kind = ER_PLACE_REGISTER,
			.base = v->number == PROBE_RETURNED ? 10 : words[v->number - 1],
			.size = v->size ? v->size : 8,
			.is_signed = v->is_signed,
			.is_string = v->is_string,
		};
	}
	return 0;
}

int syscall_find(const struct probe_spec *s, struct diag *d, struct probe_sites *ret)
{
	__cleanup(freep) char *entry = xasprintf("sys_enter_%s", s->first);

	ret->syscall = syscall_number("x86_64", s->first);
	if (ret->syscall < 0)
		return diag_error(d, "%s '%s': no system call has the name '%s': see syscalls(2)",
				  probe_option(s), s->text, s->first);
	return s->use == PROBE_FOR_SPAN ? syscall_places(s, d, ret) :
					  find(s, "syscalls", entry, true, d, ret);
}
