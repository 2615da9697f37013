/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/files/owner.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/file.h"

enum { MAX_GROUPS = 1024, NOGROUP = 65534, PASSWD_TEXT = 16384 };

struct identity {
	uid_t uid;
	gid_t gid;
	gid_t groups[MAX_GROUPS];
	int ngroups;
};

/* A user without an account has no groups. */
static void identity_of(uid_t uid, struct identity *id)
{
	__cleanup(freep) char *text = xmalloc(PASSWD_TEXT);
	struct passwd pw, *found = NULL;

	*id = (struct identity){ .uid = uid, .gid = NOGROUP };
	if (getpwuid_r(uid, &pw, text, PASSWD_TEXT, &found) || !found)
		return;
	id->gid = pw.pw_gid;
	id->ngroups = MAX_GROUPS;
	if (getgrouplist(pw.pw_name, pw.pw_gid, id->groups, &id->ngroups) < 0)
		id->ngroups = 0;
}

/*
 * Take on an identity for access to files, in this thread only. A direct system call, because
 * glibc's setgroups changes all threads.
 */
static bool take(const struct identity *id)
{
	if (syscall(SYS_setgroups, id->ngroups, id->groups) < 0)
		return false;
	setfsgid(id->gid);
	setfsuid(id->uid);
	return (gid_t)setfsgid(-1) == id->gid && (uid_t)setfsuid(-1) == id->uid;
}

static bool same_file(const struct stat *st, int fd)
{
	struct stat open;

	return !fstat(fd, &open) && st->st_dev == open.st_dev && st->st_ino == open.st_ino;
}

/*
 * As root, try to open the file as this user. Returning to root's identity cannot fail; if it
 * did, the program must not go on.
 */
static bool opens_as(uid_t owner, int fd, const char *path)
{
	struct identity *theirs = xcalloc(1, sizeof(*theirs)), *ours = xcalloc(1, sizeof(*ours));
	__cleanup(closep) int theirs_fd = -1;
	struct stat st;

	ours->uid = geteuid();
	ours->gid = getegid();
	ours->ngroups = getgroups(MAX_GROUPS, ours->groups);
	identity_of(owner, theirs);
	if (ours->ngroups >= 0) {
		if (take(theirs))
			theirs_fd = file_open_regular(path);
		if (!take(ours))
			abort();
	}
	free(theirs);
	free(ours);
	return theirs_fd >= 0 && !fstat(theirs_fd, &st) && same_file(&st, fd);
}

static bool allows(const struct stat *st, uid_t user, mode_t bit)
{
	return st->st_mode & (st->st_uid == user ? bit << 6 : bit);
}

static bool modes_allow(uid_t owner, int fd, const char *path)
{
	__cleanup(freep) char *dir = realpath(path, NULL);
	struct stat st;
	bool allowed = dir && !stat(dir, &st) && same_file(&st, fd) && allows(&st, owner, S_IROTH);

	for (char *slash; allowed && (slash = strrchr(dir, '/'));) {
		*slash = '\0';
		allowed = !stat(*dir ? dir : "/", &st) && allows(&st, owner, S_IXOTH);
	}
	return allowed;
}

bool owner_may_read(uid_t owner, int fd, const char *path)
{
	uid_t caller = geteuid();

	return owner == caller ||
	       (caller == 0 ? opens_as(owner, fd, path) : modes_allow(owner, fd, path));
}
