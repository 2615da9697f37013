/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_rm removes experiments, and groups: first their experiments, then the group file. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/experiment/exp_group.h"
#include "analysis/experiment/experiment.h"
#include "analysis/files/cmdline.h"
#include "analysis/files/operand.h"
#include "analysis/files/tool.h"
#include "analysis/base/tree.h"

struct settings {
	bool force;
	bool outside; /* also remove members outside the group's directory */
	int group;    /* directory of the group whose members are removed; -1: no group */
};

static int set_force(void *settings, const char *arg, struct diag *d)
{
	((struct settings *)settings)->force = true;
	return 0;
}

static int set_outside(void *settings, const char *arg, struct diag *d)
{
	((struct settings *)settings)->outside = true;
	return 0;
}

/* Another user may have written the group, so it must not name experiments elsewhere. */
static int check_inside(const struct settings *s, const struct operand *p, struct diag *d)
{
	if (s->group < 0 || s->outside || operand_inside(p->dir, s->group))
		return 0;
	return diag_error(d, "experiment '%s': lies outside the directory of its group: remove it by "
			  "itself, or use -a", p->path);
}

static int remove_open(const struct operand *p, int fd, bool force, struct diag *d)
{
	__cleanup(freep) char *recorder = force ? NULL : experiment_recorder(fd);

	if (recorder)
		return diag_error(d, "experiment '%s': is still being recorded by %s: end that "
				  "first, or use -f", p->path, recorder);
	return tree_remove(p->dir, p->name, p->path, d);
}

static int remove_experiment(const char *path, const struct settings *s, struct diag *d)
{
	struct operand p;
	__cleanup(closep) int fd = -1;
	int err = operand_init(&p, path, d) || check_inside(s, &p, d) ? -1 : 0;

	if (!err)
		fd = operand_open_experiment(&p, d);
	err = fd < 0 ? -1 : remove_open(&p, fd, s->force, d);
	operand_free(&p);
	return err;
}

/* If a member no longer exists, the group file is still removed. */
static int remove_member(const struct settings *s, const char *path, struct diag *d)
{
	struct stat st;

	if (lstat(path, &st) == 0 || errno != ENOENT)
		return remove_experiment(path, s, d);
	diag_warn(d, "experiment '%s': is not there any more", path);
	return 0;
}

/*
 * Check that a member may be removed, before any is. A member whose directory no longer exists
 * passes.
 */
static int check_member(const struct settings *s, const char *path, struct diag *d)
{
	struct operand p;
	int err = operand_init(&p, path, NULL) ? 0 : check_inside(s, &p, d);

	operand_free(&p);
	return err;
}

static int remove_members(const char *path, struct settings *s, struct diag *d)
{
	struct operand group;
	str_vec members = { 0 };
	int err = operand_init(&group, path, d) || group_read(path, &members, d) ? -1 : 0;
	bool refused;

	s->group = group.dir;
	vec_for_each(m, &members)
		err |= check_member(s, *m, d);
	refused = err;
	vec_for_each(m, &members) {
		if (!refused)
			err |= remove_member(s, *m, d);
		free(*m);
	}
	vec_free(&members);
	operand_free(&group);
	return err;
}

static int remove_group(const char *path, struct settings *s, struct diag *d)
{
	int err = remove_members(path, s, d);

	s->group = -1;
	if (!err && unlink(path) < 0)
		err = diag_errno(d, errno, "group '%s': cannot remove", path);
	return err;
}

int remove_main(int argc, char **argv)
{
	static const char *const synopses[] = { "[-af] experiment.er|group.erg...", NULL };
	static const struct tool_option options[] = {
		{ 'a', NULL, "all members of a group, also those outside the group's directory",
		  set_outside },
		{ 'f', NULL, "also remove experiments being recorded; no messages, always status 0",
		  set_force },
	};
	const struct tool t = { .name = "er_rm", .synopses = synopses, .options = options,
				.noptions = sizeof(options) / sizeof(options[0]),
				.min_operands = 1 };
	struct diag d = { .prefix = t.name }, silent = { 0 };
	struct settings s = { .group = -1 };
	struct operands o;
	int status = tool_parse(&t, argc, argv, &s, &o, &d), err = 0;

	if (status != TOOL_RUN)
		return status;
	for (size_t i = 0; i < o.n; i++) {
		struct diag *to = s.force ? &silent : &d;

		err |= is_group_name(o.v[i]) ? remove_group(o.v[i], &s, to) :
					       remove_experiment(o.v[i], &s, to);
	}
	diag_free(&silent);
	return err && !s.force ? 1 : 0;
}
