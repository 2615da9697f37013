/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * er_cp and er_mv. An experiment appears under its new name only when it is complete: it is
 * copied under a temporary name in the same directory and then renamed. The rename replaces
 * nothing (RENAME_NOREPLACE).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/copy.h"
#include "analysis/base/diag.h"
#include "analysis/experiment/exp_group.h"
#include "analysis/experiment/experiment.h"
#include "analysis/files/cmdline.h"
#include "analysis/files/operand.h"
#include "analysis/files/tool.h"
#include "analysis/base/tree.h"

/* One experiment that is copied or moved. */
struct transfer_job {
	enum transfer how;
	struct operand from, to;
	struct diag *d;
};

static const char *verb(enum transfer how)
{
	return how == TRANSFER_COPY ? "copy" : "move";
}

/* If renameat2 is not supported, check and then rename, which is not atomic. */
static int rename_noreplace(int from, const char *name, const struct operand *to)
{
	if (!renameat2(from, name, to->dir, to->name, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (operand_exists(to))
		return -EEXIST;
	return renameat(from, name, to->dir, to->name) ? -errno : 0;
}

static int rename_failed(const struct transfer_job *j, int err)
{
	if (err == -EEXIST || err == -ENOTEMPTY)
		return diag_error(j->d, "'%s': exists already: remove it or choose another name",
				  j->to.path);
	diag_errno(j->d, -err, "experiment '%s': cannot %s it to '%s'", j->from.path, verb(j->how),
		   j->to.path);
	return -1;
}

/* Copy under a temporary name, then rename. */
static int copy_over(const struct transfer_job *j)
{
	__cleanup(freep) char *temporary = xasprintf(".%ld.%s", (long)getpid(), j->from.name);
	struct tree_copy c = { .from = j->from.dir, .to = j->to.dir, .name = j->from.name,
			       .copy = temporary, .path = j->from.path,
			       .owners = j->how == TRANSFER_MOVE, .stop = &tool_stop };
	int err;

	if (strlen(temporary) > NAME_MAX)
		temporary[NAME_MAX] = '\0';
	if (tree_copy(&c, j->d))
		return -1;
	err = rename_noreplace(j->to.dir, temporary, &j->to);
	if (!err)
		return 0;
	tree_remove(j->to.dir, temporary, j->to.path, j->d);
	return rename_failed(j, err);
}

static int move_over(const struct transfer_job *j)
{
	int err = rename_noreplace(j->from.dir, j->from.name, &j->to);

	if (!err)
		return 0;
	if (err != -EXDEV)
		return rename_failed(j, err);
	if (copy_over(j))
		return -1;
	if (!tree_remove(j->from.dir, j->from.name, j->from.path, j->d))
		return 0;
	return diag_error(j->d, "experiment '%s': is complete in '%s', but cannot be removed here: "
			  "remove it", j->from.path, j->to.path);
}

/* Check for errors before anything is changed. Returns 0, or -1 after a report. */
static int check(const struct transfer_job *j, int fd)
{
	__cleanup(freep) char *recorder = experiment_recorder(fd);

	if (!is_experiment_name(j->to.name))
		return diag_error(j->d, "'%s': the name of an experiment ends in .er", j->to.path);
	if (operand_exists(&j->to))
		return rename_failed(j, -EEXIST);
	if (operand_inside(j->to.dir, fd))
		return diag_error(j->d, "'%s': lies in experiment '%s' itself", j->to.path,
				  j->from.path);
	if (recorder && j->how == TRANSFER_MOVE)
		return diag_error(j->d, "experiment '%s': is still being recorded by %s: "
				  "end that first", j->from.path, recorder);
	if (recorder)
		diag_warn(j->d, "experiment '%s': is still being recorded by %s: the copy has "
			  "what is recorded so far", j->from.path, recorder);
	return 0;
}

/* Copy or move the experiment `from` to the new name `to`. Returns 0, or -1 after a report. */
static int transfer_one(enum transfer how, const char *from, const char *to, struct diag *d)
{
	struct transfer_job j = { .how = how, .from = { .dir = -1 }, .to = { .dir = -1 }, .d = d };
	__cleanup(closep) int fd = -1;
	int err = operand_init(&j.from, from, d);

	if (!err)
		fd = operand_open_experiment(&j.from, d);
	if (fd < 0 || operand_init(&j.to, to, d) || check(&j, fd))
		err = -1;
	else
		err = how == TRANSFER_COPY ? copy_over(&j) : move_over(&j);
	operand_free(&j.from);
	operand_free(&j.to);
	return err;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Copy or move into a directory, keeping the name. */
static int transfer_into(enum transfer how, const char *from, const char *dir, struct diag *d)
{
	struct operand p;
	int err = operand_init(&p, from, d);

	if (!err) {
		__cleanup(freep) char *to = xasprintf("%s/%s", dir, p.name);

		err = transfer_one(how, p.path, to, d);
	}
	operand_free(&p);
	return err;
}

/* Create the group file `to` with this text. An existing file is an error. */
static int write_group(const char *to, const struct buf *text, struct diag *d)
{
	__cleanup(closep) int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
					0666);
	int err = fd < 0 ? -errno : fd_write(fd, text->data, text->len);

	if (!err)
		return 0;
	diag_errno(d, -err, "group '%s': cannot create", to);
	if (fd >= 0)
		unlink(to);
	return -1;
}

/*
 * Copy or move a group's experiments into a directory, and write a group file there that names
 * them.
 */
static int transfer_group(enum transfer how, const char *path, const char *dir, struct diag *d)
{
	__cleanup(freep) char *to = xasprintf("%s/%s", dir, base_of(path));
	struct buf text = { 0 };
	str_vec members = { 0 };
	struct stat st;
	int err = group_read(path, &members, d);

	if (!err && lstat(to, &st) == 0)
		err = diag_error(d, "'%s': exists already: remove it or choose another directory",
				 to);
	buf_printf(&text, "%s\n", group_first_line);
	vec_for_each(m, &members) {
		if (!err)
			err = transfer_into(how, *m, dir, d);
		buf_printf(&text, "%s\n", base_of(*m));
		free(*m);
	}
	vec_free(&members);
	if (!err)
		err = write_group(to, &text, d);
	if (!err && how == TRANSFER_MOVE && unlink(path) < 0)
		err = diag_errno(d, errno, "group '%s': cannot remove", path);
	buf_free(&text);
	return err;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !is_experiment_name(path) && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int transfer_all(enum transfer how, const struct operands *o, struct diag *d)
{
	const char *to = o->v[o->n - 1];
	bool into = is_directory(to);
	int err = 0;

	if (!into && o->n > 2)
		return diag_error(d, "'%s': is no directory: name one as the last operand, to hold "
				  "several experiments", to);
	if (!into && is_group_name(o->v[0]))
		return diag_error(d, "group '%s': goes into a directory, with its experiments: "
				  "name one instead of '%s'", o->v[0], to);
	if (!into)
		return transfer_one(how, o->v[0], to, d);
	for (size_t i = 0; i + 1 < o->n && !tool_stop; i++)
		err |= is_group_name(o->v[i]) ? transfer_group(how, o->v[i], to, d) :
						transfer_into(how, o->v[i], to, d);
	return err;
}

int transfer_main(enum transfer how, int argc, char **argv)
{
	static const char *const synopses[] = { "experiment.er new.er",
						"experiment.er|group.erg... directory", NULL };
	const struct tool t = { .name = how == TRANSFER_COPY ? "er_cp" : "er_mv",
				.synopses = synopses, .min_operands = 2 };
	struct diag d = { .prefix = t.name };
	struct operands o;
	int status = tool_parse(&t, argc, argv, NULL, &o, &d);

	if (status != TOOL_RUN)
		return status;
	tool_catch_signals();
	return transfer_all(how, &o, &d) ? 1 : 0;
}
