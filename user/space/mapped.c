/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/space/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/file.h"
#include "analysis/symbols/elfsyms.h"
#include "loaders/privilege.h"
#include "user/space/procfs.h"

enum { BCACHEFS_MAGIC = (int)0xca451a4e };

/* What the kernel shows for our own mapping at this address. */
static bool own_mapping(uint64_t start, struct maps_line *ret)
{
	struct buf maps = { 0 };
	bool found = false;

	procfs_read(getpid(), "maps", &maps);
	for (char *line = maps.data, *next; line && *line && !found; line = next) {
		next = strchr(line, '\n');
		next = next ? next + 1 : line + strlen(line);
		found = procfs_maps_line(line, ret) && ret->start == start;
	}
	ret->path = "";
	buf_free(&maps);
	return found;
}

/* The vdso is the same in every process, so use our own. */
static int open_vdso(void)
{
	uint64_t base = getauxval(AT_SYSINFO_EHDR);
	struct maps_line l;
	int fd;

	if (!base || !own_mapping(base, &l))
		return -ENOENT;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, (void *)(uintptr_t)base, l.end - l.start) < 0)
		closep(&fd);
	return fd < 0 ? -EIO : fd;
}

/* True if device and inode from stat(2) are those of the mapping. */
static bool same_numbers(int fd, const struct mapping *m)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_ino == m->ino &&
	       ((uint64_t)major(st.st_dev) << 32 | minor(st.st_dev)) == m->dev;
}

/* On these file systems stat(2) may give other numbers than the kernel shows for mappings. */
static bool has_two_numbers(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && (fs.f_type == OVERLAYFS_SUPER_MAGIC ||
				     fs.f_type == BTRFS_SUPER_MAGIC || (int)fs.f_type == BCACHEFS_MAGIC);
}

/* To learn what the kernel shows for a mapping of this file, map it. */
static bool shown_alike(int fd, const struct mapping *m)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	struct maps_line l;
	bool alike;

	if (p == MAP_FAILED)
		return false;
	alike = own_mapping((uintptr_t)p, &l) && l.dev == m->dev && l.ino == m->ino;
	munmap(p, page);
	return alike;
}

/* Takes ownership of the O_PATH descriptor `place`, or passes on its error. */
static int take(int place, const struct mapping *m)
{
	__cleanup(closep) int owned = place;
	bool same, perhaps;
	int fd;

	if (place < 0)
		return place;
	same = same_numbers(place, m);
	perhaps = !same && has_two_numbers(place);
	if (!same && !perhaps)
		return -ESTALE;
	fd = file_open_place(place);
	if (fd < 0)
		return fd;
	if ((same || shown_alike(fd, m)) && elf_file(fd))
		return fd;
	close(fd);
	return same ? -ENOEXEC : -ESTALE;
}

/* /proc/PID/map_files leads to the mapped file itself, even if another file now has its name. */
static int open_map_file(pid_t pid, const struct mapping *m)
{
	char path[96];
	int place;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid,
		 (unsigned long long)m->start, (unsigned long long)(m->start + m->len));
	place = open(path, O_PATH | O_CLOEXEC);
	return take(place < 0 ? -errno : place, m);
}

/* Open by its path below the directory `root`. The kernel shows paths without links. */
static int open_below(const char *root, const struct mapping *m)
{
	const struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
						 RESOLVE_NO_MAGICLINKS };
	__cleanup(closep) int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int place;

	if (dir < 0)
		return -errno;
	place = syscall(SYS_openat2, dir, m->path + strspn(m->path, "/"), &how, sizeof(how));
	return take(place < 0 ? -errno : place, m);
}

int mapped_open(pid_t pid, const struct mapping *m)
{
	char root[32];
	int fd = -EPERM;

	if (*m->path == '[')
		return open_vdso();
	/* Only for root: map_files bypasses the permissions of directories. */
	if (privilege_root())
		fd = open_map_file(pid, m);
	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	if (fd < 0)
		fd = open_below(root, m);
	return fd < 0 ? open_below("/", m) : fd;
}
