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
#include "user/space/opener.h"
#include "user/space/opener_impl.h"
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

static volatile uint32_t *stage;

void mapped_set_stage(volatile uint32_t *to)
{
	stage = to;
}

/* A link to the mapped file led here, and no path. */
static void at_device(void)
{
	if (stage)
		*stage = OPENER_AT_DEVICE;
}

static int check_owner(int fd, uid_t owner)
{
	struct stat st;

	if (owner == OPENER_ANYONE)
		return 0;
	if (fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) && st.st_uid != owner ? -EACCES : 0;
}

/* Which file is wanted. */
struct want {
	const struct mapping *m;
	bool any;    /* also if it is not an ELF file */
	uid_t owner; /* OPENER_ANYONE: any */
};

/* Takes ownership of the O_PATH descriptor `place`, or passes on its error. */
static int take(int place, const struct want *w)
{
	__cleanup(closep) int owned = place;
	bool same, perhaps;
	int fd;

	if (place < 0)
		return place;
	same = same_numbers(place, w->m);
	perhaps = !same && has_two_numbers(place);
	if (!same && !perhaps)
		return -ESTALE;
	fd = check_owner(place, w->owner);
	fd = fd ? fd : file_open_place(place);
	if (fd < 0)
		return fd;
	if ((same || shown_alike(fd, w->m)) && (w->any || elf_file(fd)))
		return fd;
	close(fd);
	return same ? -ENOEXEC : -ESTALE;
}

/* /proc/PID/map_files leads to the mapped file itself, even if another file now has its name. */
static int open_map_file(pid_t pid, const struct want *w)
{
	char path[96];
	int place, fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid,
		 (unsigned long long)w->m->start, (unsigned long long)(w->m->start + w->m->len));
	place = open(path, O_PATH | O_CLOEXEC);
	if (place < 0)
		return -errno;
	at_device();
	fd = take(place, w);
	if (stage)
		*stage = OPENER_AT_PROCESS;
	return fd;
}

/* Open a place below a directory, without following a link. */
static int place_below(int dir, const char *name, int flags)
{
	const struct open_how how = { .flags = O_PATH | O_CLOEXEC | O_NOFOLLOW | flags,
				      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
						 RESOLVE_NO_MAGICLINKS };
	int place = syscall(SYS_openat2, dir, name, &how, sizeof(how));

	return place < 0 ? -errno : place;
}

/* Open by its path below the directory `root`. The kernel shows paths without links. */
static int open_below(const char *root, const struct want *w)
{
	__cleanup(closep) int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 ? -errno : take(place_below(dir, w->m->path + strspn(w->m->path, "/"), 0), w);
}

int mapped_open_here(pid_t pid, const struct mapping *m, bool any, uid_t owner)
{
	const struct want w = { m, any, owner };
	char root[32];
	int fd = -EPERM;

	/* Only for root: map_files bypasses the permissions of directories. */
	if (privilege_root())
		fd = open_map_file(pid, &w);
	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	if (fd < 0)
		fd = open_below(root, &w);
	return fd < 0 ? open_below("/", &w) : fd;
}

int mapped_root_dir_here(pid_t pid, const char *name)
{
	__cleanup(closep) int root = -1;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? -errno : place_below(root, name, O_DIRECTORY);
}

int mapped_below_here(int dir, const char *name, uid_t owner)
{
	__cleanup(closep) int place = place_below(dir, name, 0);
	int err = place < 0 ? place : check_owner(place, owner);

	return err ? err : file_open_place(place);
}

int mapped_open(pid_t pid, const struct mapping *m)
{
	return *m->path == '[' ? open_vdso() : opener_mapped(pid, m, false, OPENER_ANYONE);
}
