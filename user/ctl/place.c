/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/ctl/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "analysis/base/alloc.h"

/* The path of the caller's directory. False: there is none. */
static bool place_path(char ret[CTL_PLACE])
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int n;

	if (!geteuid()) {
		strcpy(ret, CTL_ROOT_PLACE);
		return true;
	}
	if (!runtime || *runtime != '/')
		return false;
	n = snprintf(ret, CTL_PLACE, "%s/er_kernel", runtime);
	return n < CTL_PLACE;
}

/* Names are no secret: any user may learn that root's recorder runs. */
static int place_make(const char *path)
{
	mode_t before = umask(022);
	int err = mkdir(path, 0755) && errno != EEXIST ? -errno : 0;

	umask(before);
	return err;
}

int ctl_place_open(bool create, char ret[CTL_PLACE])
{
	struct stat st;
	int err, fd;

	if (!place_path(ret))
		return -ENOENT;
	err = create ? place_make(ret) : 0;
	if (err)
		return err;
	fd = open(ret, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 022))
		return fd;
	close(fd);
	return -EPERM;
}

pid_t ctl_name_pid(const char *name)
{
	size_t n = strlen(name);

	if (!n || n > 9 || *name == '0' || name[strspn(name, "0123456789")])
		return 0;
	return atoi(name);
}

static int by_pid(const void *a, const void *b)
{
	pid_t x = ctl_name_pid(((const struct ctl_name *)a)->text);
	pid_t y = ctl_name_pid(((const struct ctl_name *)b)->text);

	return (x > y) - (x < y);
}

void ctl_place_list(int dirfd, ctl_names *ret)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	for (struct dirent *e; dir && (e = readdir(dir));) {
		struct ctl_name name;

		if (!ctl_name_pid(e->d_name))
			continue;
		strcpy(name.text, e->d_name);
		vec_push(ret, name);
	}
	if (dir)
		closedir(dir);
	vec_sort(ret, by_pid);
}

/* Use the directory's descriptor: its path may be too long for an address, or may change. */
static int address_of(int dirfd, const char *name, struct sockaddr_un *ret)
{
	int n;

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (dirfd < 0)
		n = snprintf(ret->sun_path, sizeof(ret->sun_path), "%s", name);
	else
		n = snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/%s", dirfd, name);
	return n < (int)sizeof(ret->sun_path) ? 0 : -ENAMETOOLONG;
}

int ctl_connect(int dirfd, const char *name)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un to;
	int err = fd < 0 ? -errno : address_of(dirfd, name, &to);

	if (!err && connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		err = -errno;
	if (!err)
		return fd;
	closep(&fd);
	return err;
}

/* The socket file's mode is the socket's mode before bind(2), minus the umask. */
int ctl_bind(int fd, int dirfd, const char *name)
{
	struct sockaddr_un to;
	int err = address_of(dirfd, name, &to);

	if (!err && (fchmod(fd, 0600) < 0 || bind(fd, (struct sockaddr *)&to, sizeof(to)) < 0))
		err = -errno;
	return err;
}
