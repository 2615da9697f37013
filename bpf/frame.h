/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where user code is: the form of a user frame, and the tables with which BPF turns an address of a
 * process into that form. Compiles on both sides.
 *
 * A user frame is a 64-bit value. If ER_FRAME_FILE is set, it is a file's number and a file offset.
 * It is then equal in all processes, whatever address the file is mapped at. Otherwise it is an
 * address of the process, in code that belongs to no file known to the recorder.
 *
 * A function of an interpreted program is a file of its own, with a number from ER_CODE_FILE on.
 * Its offsets count instructions; like a return address, an offset is one more than the instruction
 * (bpf/python.h).
 *
 * BPF finds the mapping of an address in the kernel's own data (bpf/vma.bpf.h), and its file by the
 * inode. On kernels before 6.4 this works only once in an interrupt. For these kernels, and while a
 * process's mappings change, user space publishes the mappings that it knows. The executable
 * mappings of a process are ranges in one array, which all processes share. A space says which
 * ranges belong to one program run, that is, to the process (tgid, start_time) between two execs.
 * The kernel counts the execs of a thread (self_exec_id), so the ranges of one program are never
 * applied to the next one.
 */
#ifndef ER_FRAME_H
#define ER_FRAME_H

#define ER_FRAME_FILE (1ULL << 63)

enum {
	ER_FRAME_OFFSET_BITS = 40,
	ER_FRAME_FILE_BITS = 23,
	ER_MAX_FILES = 1 << 14,  /* files that BPF knows: their numbers count from 1 */
	ER_CODE_FILE = ER_MAX_FILES, /* interpreted code whose name is unknown; then known code */
	ER_MAX_CODES = (1 << 22) - ER_CODE_FILE, /* numbers of a recording */
	ER_MAX_RANGES = 1 << 17, /* of all spaces */
	ER_SPACE_RANGES = 1 << 14, /* of one space */
	ER_MAX_SPACES = 1 << 14,
};

static inline __u64 er_frame(__u32 file, __u64 offset)
{
	return ER_FRAME_FILE | (__u64)file << ER_FRAME_OFFSET_BITS | offset;
}

static inline __u32 er_frame_file(__u64 frame)
{
	return frame >> ER_FRAME_OFFSET_BITS & ((1u << ER_FRAME_FILE_BITS) - 1);
}

static inline __u64 er_frame_offset(__u64 frame)
{
	return frame & ((1ULL << ER_FRAME_OFFSET_BITS) - 1);
}

/* Whether the frame belongs to an interpreted function. */
static inline int er_frame_is_code(__u64 frame)
{
	return frame & ER_FRAME_FILE && er_frame_file(frame) >= ER_CODE_FILE;
}

/* An executable mapping. Those of a space are sorted and do not overlap. */
struct er_range {
	__u64 start, end;
	__u64 frame; /* of `start`; 0: code without a file */
};

struct er_space_key {
	__u64 start_time;
	__u32 tgid, exec_id;
};

/*
 * `tag` shows whether the element belongs to the key. A map may give an element to another key
 * while a program reads it.
 */
struct er_space {
	__u32 first, tag;
	__u32 n, pad;
};

static inline __u32 er_space_tag(const struct er_space_key *key)
{
	return key->tgid * 31 + key->exec_id + (__u32)key->start_time;
}

/*
 * A file, identified by what the kernel keeps for a mapping. The device number is in the kernel's
 * own encoding. The vdso is inode 0 of device 0.
 */
struct er_inode {
	__u64 ino;
	__u32 dev, pad;
};

_Static_assert(sizeof(struct er_range) == 24, "contract");
_Static_assert(sizeof(struct er_space_key) == 16, "contract");
_Static_assert(sizeof(struct er_inode) == 16, "contract");

#endif
