/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/space/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/copy.h"

/*
 * Magic numbers that <linux/magic.h> of Debian 12 lacks, and those of file systems that are not in
 * the kernel's sources.
 */
enum {
	BCACHEFS = (int)0xca451a4e, EXT2_TO_4 = 0xef53, FAT = 0x4d44, EXFAT = 0x2011bab0, NTFS3 = 0x7366746e,
	UDF = 0x15013346, ISO9660 = 0x9660, JFS = 0x3153464a, ZFS = 0x2fc12fc1, HUGETLBFS = (int)0x958458f6,
	CIFS = (int)0xff534d42, SMB2 = (int)0xfe534d42, CEPH = 0x00c36400, LUSTRE = 0x0bd00bd0, GPFS = 0x47504653,
	OCFS2 = 0x7461636f, GFS2 = 0x01161970, BEEGFS = 0x19830326,
};

/* Those that only root mounts, and those in memory. Network servers are the administrator's. */
static bool is_roots(int magic)
{
	static const int known[] = {
		EXT2_TO_4, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC, RAMFS_MAGIC,
		SQUASHFS_MAGIC, EROFS_SUPER_MAGIC_V1, F2FS_SUPER_MAGIC, BCACHEFS, FAT, EXFAT,
		NTFS3, UDF, ISO9660, JFS, ZFS, HUGETLBFS, REISERFS_SUPER_MAGIC,
		NILFS_SUPER_MAGIC, NFS_SUPER_MAGIC, CIFS, SMB2, CEPH, V9FS_MAGIC,
		AFS_FS_MAGIC, LUSTRE, GPFS, OCFS2, GFS2, BEEGFS,
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i] == magic)
			return true;
	}
	return false;
}

/* --- overlays --- */

struct mount {
	int id;
	char dev[32]; /* "MAJOR:MINOR" of its super block */
};

/* Parses a line of mountinfo: "36 35 98:0 /root /mnt2 rw,noatime master:1 - ext3 /dev/root rw". */
static bool parse_mount(const char *line, struct mount *ret, bool *overlay)
{
	const char *kind = strstr(line, " - ");

	*overlay = kind && !strncmp(kind + 3, "overlay ", 8);
	return kind && sscanf(line, "%d %*d %31s", &ret->id, ret->dev) == 2;
}

/*
 * Completes a mount in the mount namespace of a process: its device if the id is known, else (id
 * -1) whether an overlay of this device is mounted there.
 */
static bool find_mount(const char *mountinfo, struct mount *m)
{
	__cleanup(fclosep) FILE *f = fopen(mountinfo, "re");
	__cleanup(freep) char *line = NULL;
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0) {
		struct mount at;
		bool overlay;

		if (!parse_mount(line, &at, &overlay) || !overlay)
			continue;
		if (m->id >= 0 ? m->id == at.id : !strcmp(m->dev, at.dev)) {
			memcpy(m->dev, at.dev, sizeof(m->dev));
			return true;
		}
	}
	return false;
}

/*
 * Whether the mount with this id, of the process's namespace, is an overlay that is also mounted in
 * ours. Users cannot choose these two columns.
 */
static bool is_our_overlay(int mount_id, pid_t pid)
{
	struct mount m = { .id = mount_id };
	char path[48] = "/proc/self/mountinfo";

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	if (!find_mount(path, &m))
		return false;
	m.id = -1;
	return find_mount("/proc/self/mountinfo", &m);
}

/*
 * The mounts of containers' files. While a file of one is open its id belongs to no other mount, so
 * the answer stays true.
 */
enum { KNOWN = 64 };

static struct {
	int id, fd;
} known[KNOWN];
static unsigned nknown;

static bool is_known(int mount_id)
{
	for (unsigned i = 0; i < nknown && i < KNOWN; i++) {
		if (known[i].id == mount_id)
			return true;
	}
	return false;
}

static void know(int mount_id, int fd)
{
	unsigned i = nknown % KNOWN;
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (own < 0)
		return;
	if (nknown++ >= KNOWN)
		close(known[i].fd);
	known[i].id = mount_id;
	known[i].fd = own;
}

static bool is_roots_overlay(int fd, pid_t pid)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) || !(st.stx_mask & STATX_MNT_ID))
		return false;
	if (is_known(st.stx_mnt_id))
		return true;
	if (!is_our_overlay(st.stx_mnt_id, pid))
		return false;
	know(st.stx_mnt_id, fd);
	return true;
}

/* --- copies --- */

/* The file may grow meanwhile. */
static int copy_file(int in, uint64_t room, uint64_t *size)
{
	enum { SEALS = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };
	const uint64_t most = room;
	const struct copy_order order = { .room = &room };
	__cleanup(closep) int out = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct stat st;
	int err;

	if (out < 0 || fstat(in, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size > most)
		return -EFBIG;
	err = fd_copy(in, out, &order);
	if (err)
		return err;
	if (fcntl(out, F_ADD_SEALS, SEALS) < 0 || fstat(out, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size > most)
		return -EFBIG;
	*size = st.st_size;
	return fcntl(out, F_DUPFD_CLOEXEC, 0);
}

int handover_file(int fd, pid_t pid, uint64_t room, bool *copy, uint64_t *size)
{
	struct statfs fs;
	int given = fd;

	*copy = false;
	if (fstatfs(fd, &fs) < 0)
		given = -errno;
	else if (!is_roots(fs.f_type) &&
		 ((int)fs.f_type != OVERLAYFS_SUPER_MAGIC || !is_roots_overlay(fd, pid)))
		*copy = true;
	if (*copy)
		given = copy_file(fd, room, size);
	if (given != fd)
		close(fd);
	return given;
}
