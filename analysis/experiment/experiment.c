/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens one experiment, which may still be growing. The writer flushes maps and stacks
 * before the packets that use them. The reader opens the files in the opposite order,
 * packets first; so everything that a packet refers to is in the files opened after it.
 */
#include "analysis/base/gunzip.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/experiment/exp_spans.h"
#include "analysis/experiment/experiment_impl.h"
#include "analysis/experiment/usage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Lines like ours shrink to a tenth at most; a file that claims more would only fill the memory. */
enum { PACKED_TIMES = 100, PACKED_MORE = 1 << 20 };

bool exp_file(struct experiment *e, int dirfd, const char *name, struct file *ret)
{
	int err = file_open_plain_at(dirfd, name, ret);

	if (err == -EINVAL)
		diag_warn(&e->diag, "%s: is not a regular file: ignored", name);
	else if (err == -ELOOP)
		diag_warn(&e->diag, "%s: is a symbolic link, which is not followed: ignored", name);
	else if (err && err != -ENOENT)
		diag_errno(&e->diag, -err, "%s: cannot open", name);
	if (!err && ret->sparse)
		diag_warn(&e->diag, "%s: %zu bytes behind a hole are ignored", name, ret->sparse);
	return !err;
}

bool exp_text(struct experiment *e, int dirfd, const char *name, struct file *ret)
{
	__cleanup(freep) char *packed = xasprintf("%s.gz", name);
	int err;

	if (exp_file(e, dirfd, name, ret))
		return true;
	if (!exp_file(e, dirfd, packed, ret))
		return false;
	err = gunzip_file(ret, ret->size * PACKED_TIMES + PACKED_MORE);
	if (err == -EIO)
		diag_warn(&e->diag, "%s: is damaged: what follows the damage is ignored", packed);
	else if (err == -EFBIG)
		diag_warn(&e->diag, "%s: has more text than a recorder writes: the rest is ignored", packed);
	else if (err < 0)
		diag_errno(&e->diag, -err, "%s: cannot uncompress", packed);
	return true;
}

void exp_parse(struct experiment *e, const char *name, const struct file *f,
	       const struct xml_handler *h, void *ctx)
{
	size_t line;
	int rc = xml_parse(f->data, f->size, h, ctx, &line);

	if (rc > 0)
		diag_warn(&e->diag, "%s: line %zu: text outside of elements is ignored", name, line);
	if (rc < 0)
		diag_warn(&e->diag, "%s: line %zu is damaged: it and all after it is ignored",
			  name, line);
}

const char *exp_attr(struct experiment *e, const struct xml_element *el, const char *name)
{
	const char *value = xml_get(el, name);

	return value ? arena_strdup(&e->arena, value) : "";
}

static bool ends_in(const char *path, const char *suffix)
{
	size_t n = strlen(path), end = strlen(suffix);

	return n >= end && !strcmp(path + n - end, suffix);
}

bool is_experiment_name(const char *path)
{
	return ends_in(path, ".er");
}

bool is_group_name(const char *path)
{
	return ends_in(path, ".erg");
}

static bool is_sub_name(const char *name)
{
	return name[0] == '_' && is_experiment_name(name) && !strchr(name, '/');
}

static void notes_read(struct experiment *e, int dirfd)
{
	struct file f;

	e->notes = "";
	if (!exp_file(e, dirfd, "notes", &f))
		return;
	if (f.size)
		e->notes = memcpy(arena_alloc(&e->arena, f.size + 1), f.data, f.size);
	file_close(&f);
}

/* An experiment without an event exit ends at the latest time it contains. */
static void find_end(struct experiment *e)
{
	if (e->closed)
		return;
	if (!e->founder || e->founder->closed) /* otherwise the founder's warning says it for all */
		diag_warn(&e->diag, "experiment was not closed");
	vec_for_each(ev, &e->events)
		e->end_ns = ev->time_ns > e->end_ns ? ev->time_ns : e->end_ns;
	vec_for_each(s, &e->streams) {
		struct field_ref tstamp = stream_field(s, "TSTAMP");
		struct packet_iter it;
		struct packet p;

		packet_iter_init(&it, e, s);
		while (tstamp.offset && packet_next(&it, &p)) {
			int64_t t;

			/* The time is from another clock, or damaged: ignore it. */
			if (__builtin_sub_overflow(packet_int(&p, tstamp), e->start_ns, &t))
				continue;
			e->end_ns = t > e->end_ns ? t : e->end_ns;
		}
	}
}

static void init_strings(struct experiment *e)
{
	e->version = e->collector = e->hostname = e->arch = e->os = e->cwd = e->command = "";
	e->notes = e->process = e->dversion = "";
}

/* Name the process after its command: the base name of the first word. */
const char *exp_program_name(struct experiment *e, const char *command)
{
	size_t n = strcspn(command, " \t\n");
	char *word = arena_alloc(&e->arena, n + 1);
	char *slash;

	memcpy(word, command, n);
	/* "postgres: walwriter": servers title their processes like this. */
	if (n && word[n - 1] == ':')
		word[--n] = '\0';
	slash = memrchr(word, '/', n);
	return slash ? slash + 1 : word;
}

static void set_process(struct experiment *e)
{
	e->process = strcmp(e->command, "(fork)") ? exp_program_name(e, e->command) : "";
}

static void overview_open(struct experiment *e, int dirfd)
{
	size_t rest;

	/* A followed process has none: the founder's usage is that of the whole system. */
	if (!exp_file(e, dirfd, "overview", &e->overview) && !is_sub_name(e->name))
		diag_warn(&e->diag, "overview: missing: usage and samples are unknown");
	rest = e->overview.size % usage_record_size(e->wordsize);
	if (rest)
		diag_warn(&e->diag, "overview: the last %zu byte%s %s not a whole record", rest,
			  rest == 1 ? "" : "s", rest == 1 ? "is" : "are");
}

static void read_files(struct experiment *e, int dirfd, struct file *log)
{
	struct file warnings;

	if (exp_file(e, dirfd, "warnings.xml", &warnings)) {
		log_read(e, "warnings.xml", &warnings);
		file_close(&warnings);
	}
	log_read(e, "log.xml", log);
	if (!e->opened)
		diag_warn(&e->diag, "log.xml: no event run: times are unknown");
	streams_open(e, dirfd);
	overview_open(e, dirfd);
	stacks_read(e, dirfd);
	map_read(e, dirfd);
	set_process(e);
	if (e->njava)
		diag_warn(&e->diag,
			  "Java stacks and methods (%llu) are skipped: machine stacks are shown",
			  (unsigned long long)e->njava);
	ksyms_read(e, dirfd);
	notes_read(e, dirfd);
	recorder_read(e, dirfd);
	threads_read(e, dirfd);
	names_read(e, dirfd);
	processes_read(e, dirfd);
	spans_read(e, dirfd);
	find_end(e);
}

/*
 * Whether this is a recording of the whole system. In founders recorder.xml says so. A part that is
 * opened without its founder, and a recording by Sun's er_kernel, are recognized by their clock
 * packets. (An attribute of our own in log.xml is not possible: gprofng rejects it.)
 */
static bool is_system_wide(const struct experiment *e)
{
	vec_for_each(st, &e->streams) {
		if (st->kind == ER_PKT_CLOCK && (st->numstates == STATES_KERNEL ||
						 !strcmp(st->fname, "data.frameinfo")))
			return true;
	}
	return recorder_system_wide(e);
}

/* A part inherits this from its founder. */
static void find_scope(struct experiment *e)
{
	e->system_wide = e->founder ? e->founder->system_wide : is_system_wide(e);
	/*
	 * True for the founder of the whole system, and for a part that several processes share. Only
	 * our recorders make such parts.
	 */
	e->many_processes = !e->founder ? e->system_wide :
			    !e->pid && (e->system_wide || e->founder->recorder.len);
}

/* Open the experiment in dirfd, which this closes. Its name is path's last component. */
static struct experiment *open_dirfd(int dirfd, const char *path, struct experiment *founder,
				     struct diag *d)
{
	__cleanup(closep) int fd = dirfd;
	struct experiment *e;
	struct file log;
	const char *slash;
	int err = file_open_plain_at(fd, "log.xml", &log);

	if (err == -EINVAL)
		diag_error(d, "experiment '%s': log.xml is not a regular file", path);
	else if (err == -ELOOP)
		diag_error(d, "experiment '%s': log.xml is a symbolic link, which is not followed", path);
	else if (err)
		diag_errno(d, -err, "experiment '%s': cannot read log.xml", path);
	if (err)
		return NULL;
	e = xcalloc(1, sizeof(*e));
	init_strings(e);
	e->founder = founder;
	e->origin = e->recording = founder ? founder->origin : e;
	e->path = arena_strdup(&e->arena, path);
	slash = strrchr(e->path, '/');
	e->name = slash ? slash + 1 : e->path;
	e->wordsize = 64;
	read_files(e, fd, &log);
	file_close(&log);
	find_scope(e);
	if (founder && !e->ncpus) { /* er_kernel lists the CPUs once */
		e->ncpus = founder->ncpus;
		e->mhz = founder->mhz;
	}
	return e;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

struct experiment *experiment_open(const char *path, struct diag *d)
{
	__cleanup(freep) char *trimmed = xstrdup(path);
	size_t n = strlen(trimmed);
	int fd;

	while (n > 1 && trimmed[n - 1] == '/')
		trimmed[--n] = '\0';
	if (!is_experiment_name(trimmed)) {
		diag_error(d, "experiment '%s': the name does not end in .er%s", path,
			   is_directory(trimmed) ? ": name an experiment (.er) or a group (.erg) in this directory" : "");
		return NULL;
	}
	fd = open(trimmed, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		diag_errno(d, errno, "experiment '%s': cannot open%s", path,
			   errno == ENOENT ? ": check the name and its directory" : "");
		return NULL;
	}
	return open_dirfd(fd, trimmed, NULL, d);
}

struct experiment *experiment_open_sub(struct experiment *founder, const char *name)
{
	__cleanup(freep) char *path = xasprintf("%s/%s", founder->path, name);
	int fd;

	if (!is_sub_name(name)) {
		diag_error(&founder->diag, "sub-experiment '%s': not a sub-experiment's name", name);
		return NULL;
	}
	/* The name has no slash, so O_NOFOLLOW covers the whole path. */
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		diag_errno(&founder->diag, errno, "sub-experiment '%s': cannot open", name);
		return NULL;
	}
	return open_dirfd(fd, path, founder, &founder->diag);
}

void experiment_close(struct experiment *e)
{
	if (!e)
		return;
	vec_for_each(s, &e->streams) {
		vec_free(&s->fields);
		vec_free(&s->counters);
		file_close(&s->file);
	}
	vec_free(&e->streams);
	vec_free(&e->events);
	vec_free(&e->pauses);
	vec_free(&e->maps);
	vec_free(&e->ksyms);
	vec_free(&e->stacks);
	stack_reader_free(e->stack_reader);
	vec_free(&e->pcs);
	vec_free(&e->stack_pcs);
	vec_free(&e->recorder);
	vec_free(&e->threads);
	vec_free(&e->folds);
	vec_free(&e->fold_numbers);
	vec_free(&e->names);
	vec_free(&e->processes);
	vec_free(&e->spans);
	map_free(&e->span_texts);
	vec_free(&e->exits);
	map_free(&e->stack_by_uid);
	map_free(&e->io_by_packet);
	map_free(&e->thread_numbers);
	map_free(&e->process_begins);
	map_free(&e->lwp_numbers);
	vec_free(&e->io_files);
	file_close(&e->overview);
	diag_free(&e->diag);
	arena_free(&e->arena);
	free(e);
}

static const char digits[] = "0123456789";

/* Compare two runs of digits by value; leading zeros do not count. */
static int compare_numbers(const char *a, const char *b)
{
	size_t na, nb;

	a += strspn(a, "0");
	b += strspn(b, "0");
	na = strspn(a, digits);
	nb = strspn(b, digits);
	return na != nb ? (na < nb ? -1 : 1) : memcmp(a, b, na);
}

/*
 * By name; numbers in it compare by value: _x_PID_999 before _x_PID_1000. gprofng has
 * the same order, so EXPID means the same experiment in both.
 */
static int by_name(const void *pa, const void *pb)
{
	const char *a = *(char *const *)pa, *b = *(char *const *)pb;
	size_t at = 0, number;
	int cmp = 0;

	while (a[at] && a[at] == b[at])
		at++;
	for (number = at; number && strchr(digits, a[number - 1]); number--)
		;
	if (strspn(a + number, digits) && strspn(b + number, digits))
		cmp = compare_numbers(a + number, b + number);
	return cmp ? cmp : strcmp(a + at, b + at);
}

void experiment_subs(const struct experiment *e, str_vec *ret)
{
	DIR *dir = opendir(e->path);
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		struct stat st;

		if (!is_sub_name(entry->d_name))
			continue;
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISDIR(st.st_mode))
			continue;
		vec_push(ret, xstrdup(entry->d_name));
	}
	closedir(dir);
	vec_sort(ret, by_name);
}

size_t experiment_nusages(const struct experiment *e)
{
	return e->overview.size / usage_record_size(e->wordsize);
}

void experiment_usage(const struct experiment *e, size_t i, struct exp_usage *ret)
{
	size_t size = usage_record_size(e->wordsize);

	usage_decode(e->overview.data + i * size, e->wordsize, e->swap, ret);
}
