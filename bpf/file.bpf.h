/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of a descriptor of the current process, and its path. The kernel's structures are read
 * without locks. A file that another thread closes, or renames, at this moment may so get a wrong
 * name; nothing worse happens, because each read of a stale address fails or finds something else.
 */
#ifndef FILE_BPF_H
#define FILE_BPF_H

#include "bpf/er_event.h"

/* NULL: the descriptor is not open. */
static __always_inline struct file *file_of(struct task_struct *p, __s32 fd)
{
	struct fdtable *fdt = BPF_CORE_READ(p, files, fdt);
	struct file *f = NULL;

	if (!fdt || (__u32)fd >= BPF_CORE_READ(fdt, max_fds))
		return NULL;
	bpf_probe_read_kernel(&f, sizeof(f), BPF_CORE_READ(fdt, fd) + fd);
	return f;
}

/* The way from a file to the root, across mounts. */
struct file_walk {
	struct er_io *to;
	struct dentry *at, *root; /* root: of the mount */
	struct mount *mount;
};

static __always_inline struct mount *mount_of(struct vfsmount *m)
{
	return (void *)m - bpf_core_field_offset(struct mount, mnt);
}

/* Append a name of the walk. False: there is no room for another one. */
static __always_inline bool file_append(struct er_io *to, struct dentry *d)
{
	const unsigned char *name = BPF_CORE_READ(d, d_name.name);
	__u32 n = to->nname;
	long got;

	barrier_var(n);
	if (n > ER_IO_NAME_BYTES)
		return false;
	got = bpf_probe_read_kernel_str(to->name + n, ER_IO_NAME_LAST, name);
	if (got > 0)
		to->nname = n + got;
	return to->nname <= ER_IO_NAME_BYTES;
}

static long file_step(__u32 i, struct file_walk *w)
{
	struct dentry *d = w->at, *parent = BPF_CORE_READ(d, d_parent);
	struct mount *mount = w->mount, *up;

	if (d == w->root) {
		up = BPF_CORE_READ(mount, mnt_parent);
		if (up == mount || !up) {
			w->to->name_kind = ER_IO_NAME_PATH;
			return 1;
		}
		w->at = BPF_CORE_READ(mount, mnt_mountpoint);
		w->root = BPF_CORE_READ(up, mnt.mnt_root);
		w->mount = up;
		return 0;
	}
	if (!file_append(w->to, d))
		return 1;
	if (parent == d || !parent) {
		w->to->name_kind = ER_IO_NAME_PSEUDO;
		return 1;
	}
	w->at = parent;
	return 0;
}

/* Fill in the name of the file. */
static __noinline int file_name(struct er_io *to, struct file *f)
{
	struct dentry *d = BPF_CORE_READ(f, f_path.dentry);
	struct vfsmount *m = BPF_CORE_READ(f, f_path.mnt);
	struct file_walk w = { .to = to, .at = d };

	if (!d || !m)
		return 0;
	w.mount = mount_of(m);
	w.root = BPF_CORE_READ(m, mnt_root);
	to->fs = BPF_CORE_READ(d, d_sb, s_magic);
	to->name_kind = ER_IO_NAME_CUT;
	bpf_loop(ER_IO_NAME_PARTS, file_step, &w, 0);
	return 0;
}

#endif
