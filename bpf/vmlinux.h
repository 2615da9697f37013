/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel types that our programs use, maintained by hand: only the fields in use. The loader
 * fills in offsets from the BTF of the running kernel (CO-RE), so names matter here, but order and
 * neighbours do not.
 */
#ifndef VMLINUX_H
#define VMLINUX_H

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

typedef unsigned char __u8;
typedef short int __s16;
typedef short unsigned int __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long int __s64;
typedef long long unsigned int __u64;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;
typedef int pid_t;
typedef _Bool bool;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

enum { false = 0, true = 1 };

/* The user API of bpf(2); its values never change. */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1 << 0,
	BPF_F_MMAPABLE = 1 << 10,
	BPF_F_USER_STACK = 1 << 8,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1 << 0,
	BPF_RB_NO_WAKEUP = 1 << 0,
	BPF_RB_FORCE_WAKEUP = 1 << 1,
	BPF_RB_AVAIL_DATA = 0,
};

typedef struct {
	long a;
} local64_t;

struct hw_perf_event {
	local64_t prev_count;
};

struct perf_event {
	struct hw_perf_event hw;
};

struct pt_regs;

/* What the context of a perf_event program really is. */
struct bpf_perf_event_data_kern {
	struct pt_regs *regs;
	struct perf_event *event;
};

struct task_struct;

struct rq {
	int cpu;
	unsigned int clock_update_flags;
	struct task_struct *curr;
	u64 clock;
	u64 clock_task;
	u64 prev_irq_time; /* CONFIG_IRQ_TIME_ACCOUNTING */
};

struct cfs_rq {
	struct rq *rq;
	int throttle_count; /* CONFIG_CFS_BANDWIDTH, this and the next */
	u64 throttled_clock_pelt_time;
};

struct sched_info {
	long unsigned int pcount; /* how often it was given a CPU */
	long long unsigned int run_delay;
	long long unsigned int last_arrival; /* when it was last given a CPU */
	long long unsigned int last_queued; /* 0: not in a run queue, or running */
};

struct kernfs_node {
	u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct sched_entity {
	u64 exec_start;
	u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq; /* CONFIG_FAIR_GROUP_SCHED */
};

struct sched_dl_entity {
	unsigned int dl_throttled : 1;
};

/* A tree of mappings: include/linux/maple_tree.h. */
struct maple_tree {
	unsigned int ma_flags;
	void *ma_root;
};

struct maple_metadata {
	unsigned char end;
};

struct maple_range_64 {
	struct maple_pnode *parent;
	long unsigned int pivot[15];
	void *slot[16];
	struct maple_metadata meta;
};

struct maple_arange_64 {
	struct maple_pnode *parent;
	long unsigned int pivot[9];
	void *slot[10];
	struct maple_metadata meta;
};

typedef struct {
	long counter;
} atomic_long_t;

struct rw_semaphore {
	atomic_long_t count, owner; /* not with PREEMPT_RT */
};

typedef struct {
	void *vdso;
} mm_context_t;

typedef struct seqcount {
	unsigned int sequence;
} seqcount_t;

/* CONFIG_UPROBES */
struct return_instance {
	long unsigned int stack; /* address of the slot */
	long unsigned int orig_ret_vaddr;
	struct return_instance *next;
};

struct uprobe_task {
	struct return_instance *return_instances;
};

struct xol_area {
	long unsigned int vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

struct mm_struct {
	struct uprobes_state uprobes_state;
	struct maple_tree mm_mt;
	struct rw_semaphore mmap_lock;
	seqcount_t mm_lock_seq; /* CONFIG_PER_VMA_LOCK, from 6.13 on */
	long unsigned int start_stack;
	long unsigned int arg_start, arg_end;
	mm_context_t context;
};

struct mm_struct___int {
	int mm_lock_seq; /* from 6.4 to 6.12 */
};

struct vm_area_struct___int {
	int vm_lock_seq; /* likewise */
};

struct super_block {
	long unsigned int s_magic;
	unsigned int s_dev;
};

struct inode {
	long unsigned int i_ino;
	struct super_block *i_sb;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	struct super_block *d_sb;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	unsigned int f_mode;
	struct path f_path;
	struct inode *f_inode;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct backing_file { /* from 6.5 on */
	struct path user_path; /* from 6.8 on */
};

struct vm_userfaultfd_ctx {
	void *ctx;
};

struct vm_area_struct {
	long unsigned int vm_start, vm_end;
	struct mm_struct *vm_mm;
	long unsigned int vm_flags;
	long unsigned int vm_pgoff;
	struct file *vm_file;
	unsigned int vm_lock_seq; /* CONFIG_PER_VMA_LOCK */
	struct vm_userfaultfd_ctx vm_userfaultfd_ctx; /* CONFIG_USERFAULTFD */
};

struct task_io_accounting {
	u64 rchar, wchar;            /* CONFIG_TASK_XACCT */
	u64 read_bytes, write_bytes; /* CONFIG_TASK_IO_ACCOUNTING */
};

typedef struct {
	unsigned int val;
} kuid_t;

struct cred {
	kuid_t uid, euid;
};

struct thread_struct {
	long unsigned int fsbase;
};

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	void *stack;
	struct sched_entity se;
	struct sched_dl_entity dl;
	unsigned int policy;
	struct sched_info sched_info;
	struct mm_struct *mm;
	pid_t pid;
	pid_t tgid;
	struct task_struct *real_parent, *group_leader;
	u64 start_time;
	u64 self_exec_id;
	long unsigned int jobctl;
	int exit_code;
	unsigned int in_iowait : 1;
	unsigned int in_execve : 1;
	u64 utime, stime;
	long unsigned int nvcsw, nivcsw;
	long unsigned int min_flt, maj_flt;
	struct task_io_accounting ioac;
	struct css_set *cgroups;
	int pagefault_disabled;
	struct uprobe_task *utask; /* CONFIG_UPROBES */
	const struct cred *cred;
	struct files_struct *files;
	struct thread_struct thread;
	char comm[16];
};

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute pop
#endif

/*
 * These layouts are fixed, too: the registers as ptrace(2) copies them, and the contexts of
 * iterators. Fields of structs and unions are looked up in the excerpt of the kernel's types that
 * loaders/ktypes.h makes. It does not contain values of enumerations.
 */
struct pt_regs {
	long unsigned int r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	long unsigned int orig_ax, ip;
	u16 cs, above_cs[3];
	long unsigned int flags, sp, ss;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

/* The context as the verifier presents it (user API): the registers in the order of ptrace(2). */
enum { ER_REG_IP = 16, ER_REG_CS = 17, ER_NREGS = 21 };

struct bpf_perf_event_data {
	__u64 regs[ER_NREGS];
	__u64 sample_period;
	__u64 addr;
};

#endif
