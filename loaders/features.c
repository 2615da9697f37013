/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One row per feature, with a function that tries it. The function returns 0, or an errno that
 * gives the reason; the row has the words.
 */
#include "loaders/features.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/capability.h>

#include "analysis/base/alloc.h"
#include "loaders/cpus.h"
#include "loaders/ktypes.h"
#include "loaders/perf_event.h"
#include "loaders/pressure.h"
#include "loaders/privilege.h"
#include "loaders/stack_method.h"
#include "loaders/typed.h"

enum {
	PID_NS_INIT = 0xEFFFFFFC, /* the kernel's PROC_PID_INIT_INO */
	MMAP_PAGES = 1 + 64,
};

static int closed(int fd)
{
	if (fd < 0)
		return errno ? errno : EINVAL;
	close(fd);
	return 0;
}

static int try_file(const char *path)
{
	return closed(open(path, O_RDONLY | O_CLOEXEC));
}

static int try_btf(void)
{
	return try_file("/sys/kernel/btf/vmlinux");
}

static int first_cpu(void)
{
	struct cpu_list l;
	int cpu = 0;

	if (!cpus_online(&l) && l.n)
		cpu = l.cpus[0];
	cpus_free(&l);
	return cpu;
}

static int open_event(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
		.mmap = type == PERF_TYPE_SOFTWARE,
	};

	return syscall(SYS_perf_event_open, &attr, -1, first_cpu(), -1, PERF_FLAG_FD_CLOEXEC);
}

static int try_clock(void)
{
	int fd = perf_clock_open(first_cpu(), 10000000, true);

	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

static int try_mappings(void)
{
	__cleanup(closep) int fd = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	size_t size = MMAP_PAGES * sysconf(_SC_PAGESIZE);
	void *p;

	if (fd < 0)
		return errno;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return errno;
	munmap(p, size);
	return 0;
}

static int try_counters(void)
{
	return closed(open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES));
}

/*
 * Load "return 0" as a program of this type, attached to the kernel's type `target` (NULL:
 * none). Returns a descriptor, or -1 with errno.
 */
static int load(enum bpf_prog_type type, enum bpf_attach_type attach, const char *target,
		unsigned kind)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach);

	if (target) {
		opts.attach_btf_id = ktypes_running_id(target, kind);
		if (!opts.attach_btf_id) {
			errno = ENOENT;
			return -1;
		}
	}
	return bpf_prog_load(type, "er_probe", "GPL", insns, sizeof(insns) / sizeof(*insns), &opts);
}

static int try_perf_program(void)
{
	return closed(load(BPF_PROG_TYPE_PERF_EVENT, 0, NULL, 0));
}

static int try_tracing(void)
{
	return closed(load(BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, "btf_trace_sched_switch",
			   BTF_KIND_TYPEDEF));
}

static int try_iterator(void)
{
	return closed(load(BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, "bpf_iter_task", BTF_KIND_FUNC));
}

static int try_sched_exit(void)
{
	return closed(load(BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, STACKS_EXIT_TYPE,
			   BTF_KIND_TYPEDEF));
}

static int try_finish(void)
{
	return stack_method_allowed(STACKS_FINISH, false) ? 0 : ENOENT;
}

/* Loading is not enough: only the attachment fails under lockdown or without ftrace. */
static int try_fentry(void)
{
	__cleanup(closep) int prog =
		load(BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, "bpf_fentry_test1", BTF_KIND_FUNC);

	return prog < 0 ? errno : closed(bpf_raw_tracepoint_open(NULL, prog));
}

/* BPF finds mappings as lock_vma_under_rcu() does: bpf/vma.bpf.h. */
static int try_vma_lock(void)
{
	if (!ktypes_running_id("lock_vma_under_rcu", BTF_KIND_FUNC))
		return ENOENT;
	return ktypes_running_id("rwbase_rt", BTF_KIND_STRUCT) ? ENOTSUP : 0;
}

/* A thread walks its stack again before it returns to user mode: bpf/again.bpf.h. */
static int try_again(void)
{
	return ktypes_running_id(SCHEDULE_RESUME, BTF_KIND_FUNC) ? 0 : ENOENT;
}

static int try_pressure(void)
{
	const struct pressure_limit limit = { .percent = 50, .window_ns = PRESSURE_MAX_NS };
	int fd = pressure_open(PRESSURE_CPU, &limit);

	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

static int try_kprobes(void)
{
	return try_file("/sys/bus/event_source/devices/kprobe/type");
}

static int try_ring(void)
{
	return closed(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "er_probe", 0, 0, sysconf(_SC_PAGESIZE),
				     NULL));
}

static int try_storage(void)
{
	int ok = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, NULL);

	return ok == 1 ? 0 : ok < 0 ? -ok : EPERM;
}

/*
 * Try to read a process's maps. Returns 0, an errno, or -1 if the process is no evidence: it is
 * gone or has no mappings.
 */
static int try_maps_of(const char *pid)
{
	__cleanup(freep) char *path = xasprintf("/proc/%s/maps", pid);
	__cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char c;
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? -1 : errno;
	n = read(fd, &c, 1);
	return n > 0 ? 0 : n == 0 || errno == ESRCH ? -1 : errno;
}

static void closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/*
 * One readable process of another user is enough: a security module may hide a few even from
 * root.
 */
static int try_others(void)
{
	__cleanup(closedirp) DIR *dir = opendir("/proc");
	uid_t me = geteuid();
	struct dirent *e;
	int err = 0;

	while (dir && (e = readdir(dir))) {
		struct stat st;
		int got;

		if (!isdigit((unsigned char)e->d_name[0]) ||
		    fstatat(dirfd(dir), e->d_name, &st, 0) || (me && st.st_uid == me))
			continue;
		got = try_maps_of(e->d_name);
		if (!got)
			return 0;
		err = got > 0 ? got : err;
	}
	return err;
}

/*
 * Only root's recorder may read them: privilege_begin() gives up the capabilities that override
 * file permissions.
 */
static int try_binaries(void)
{
	return privilege_root() ? 0 : EACCES;
}

static int try_pid_namespace(void)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st))
		return errno;
	return st.st_ino == PID_NS_INIT ? 0 : EXDEV;
}

static const char root_or_bpf[] = "run as root, or with the capabilities cap_bpf and cap_perfmon";
static const char root_or_ptrace[] = "run as root, or with the capability cap_sys_ptrace";
static const char root_alone[] = "run as root";
static const char linux_6_1[] = "needs Linux 6.1 or later, and the capabilities cap_bpf and "
				"cap_perfmon or root";

static const struct {
	struct feature f;
	int (*try)(void);
} rows[] = {
	{ { "kernel type information", .required = true, .cost = "nothing can be recorded",
	    .remedy = "needs a kernel with CONFIG_DEBUG_INFO_BTF" },
	  try_btf },
	{ { "clock events", .required = true, .cost = "nothing can be recorded",
	    .remedy = "run as root, or with the capabilities cap_bpf and cap_perfmon (and "
		      "cap_sys_admin where kernel.perf_event_paranoid is above 2, as on Debian)" },
	  try_clock },
	{ { "BPF ring buffers", .required = true, .cost = "nothing can be recorded",
	    .remedy = root_or_bpf },
	  try_ring },
	{ { "BPF programs on the clock", .required = true, .cost = "nothing can be recorded",
	    .remedy = root_or_bpf },
	  try_perf_program },
	{ { "BPF programs on tracepoints", .required = true,
	    .cost = "the time of threads that end would be lost", .remedy = linux_6_1 },
	  try_tracing },
	{ { "BPF storage of threads", .required = true,
	    .cost = "samples would have no exact weight", .remedy = linux_6_1 },
	  try_storage },
	{ { "BPF iterators of threads", .required = true,
	    .cost = "threads that run when recording begins or ends would have no exact time",
	    .remedy = linux_6_1 },
	  try_iterator },
	{ { "mapping events", .cost = "code that processes map during the recording may have no names",
	    .remedy = "raise kernel.perf_event_mlock_kb, or use the capability cap_ipc_lock, or root" },
	  try_mappings },
	{ { "address spaces of others", .naming = true,
	    .cost = "functions of other users' processes have no names",
	    .remedy = root_or_ptrace },
	  try_others },
	{ { "binaries that only others may read",
	    .cost = "functions of programs that you may not read have no names, and user stacks "
		    "end there unless they keep frame pointers: files are opened with your own "
		    "rights, even with cap_dac_read_search",
	    .remedy = root_alone },
	  try_binaries },
	{ { "process numbers of the host", .naming = true,
	    .cost = "recorded process numbers differ from those in this container, most functions "
		    "of processes have no names, and processes outside have no totals",
	    .remedy = "record outside the container" },
	  try_pid_namespace },
	{ { "hardware counters", .cost = "no counter profiles",
	    .remedy = "needs a machine, or a virtual machine, with a performance counter unit" },
	  try_counters },
	{ { "mappings without a lock",
	    .cost = "the first user stacks of a process are copied and walked later, and stacks "
		    "through code that a program generates may end there",
	    .remedy = "needs Linux 6.4 or later with CONFIG_PER_VMA_LOCK, without PREEMPT_RT" },
	  try_vma_lock },
	{ { "second walks of user stacks",
	    .cost = "about one in a hundred user stacks of programs that fork is incomplete: a page of it "
		    "was not in memory",
	    .remedy = "needs Linux 6.18 or later" },
	  try_again },
	{ { "tracepoint after a switch",
	    .cost = "the stacks of waits are taken by a probe after a switch, which costs more",
	    .remedy = "needs Linux 6.16 or later" },
	  try_sched_exit },
	{ { "probe after a switch",
	    .cost = "if the tracepoint is missing, too, stacks are taken when threads leave their CPU, and "
		    "only for waits predicted to be long; other waits have no stack",
	    .remedy = "needs a kernel with CONFIG_KPROBES, and kernel.kptr_restrict below 2" },
	  try_finish },
	{ { "kprobes", .cost = "no probes at kernel functions",
	    .remedy = "needs a kernel with CONFIG_KPROBES" },
	  try_kprobes },
	{ { "function entry programs", .cost = "no fast probes at kernel functions",
	    .remedy = "needs CONFIG_FUNCTION_TRACER, and no kernel lockdown" },
	  try_fentry },
	{ { "pressure limits", .cost = "--dump-on cannot dump for cpu, memory or io",
	    .remedy = pressure_remedy },
	  try_pressure },
};

enum { NROWS = sizeof(rows) / sizeof(*rows) };

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

static bool holds(cap_t caps, cap_value_t cap)
{
	cap_flag_value_t v;

	return caps && !cap_get_flag(caps, cap, CAP_EFFECTIVE, &v) && v == CAP_SET;
}

static bool may_trace(void)
{
	cap_t caps = cap_get_proc();
	bool may = holds(caps, CAP_SYS_ADMIN) ||
		   (holds(caps, CAP_BPF) && holds(caps, CAP_PERFMON));

	cap_free(caps);
	return may;
}

/*
 * The remedy for a failure. A caller without the capabilities for BPF and perf gets "permission
 * denied" for every feature, whatever the kernel supports. So it is told to get these first;
 * the row's own remedy may follow at the next try.
 */
static const char *remedy_of(const struct feature *f, int err)
{
	bool denied = err == EPERM || err == EACCES;

	return denied && f->remedy != root_or_ptrace && f->remedy != root_alone && !may_trace() ?
		       root_or_bpf : f->remedy;
}

static struct feature probe(int row)
{
	struct feature f = rows[row].f;
	uint64_t before = privilege_take(PRIVILEGE_CAPTURE);
	int err = rows[row].try();

	f.ok = !err;
	if (err) {
		f.remedy = remedy_of(&f, err);
		snprintf(f.why, sizeof(f.why), "%s", err == EXDEV ? "this is a container" : strerror(err));
	}
	privilege_return(before);
	return f;
}

const struct feature *features_probe(size_t *n)
{
	static struct feature found[NROWS];
	static bool done;

	if (!done) {
		libbpf_print_fn_t old = libbpf_set_print(quiet);

		for (int i = 0; i < NROWS; i++)
			found[i] = probe(i);
		libbpf_set_print(old);
		done = true;
	}
	*n = NROWS;
	return found;
}

bool features_host_numbers(void)
{
	return try_pid_namespace() != EXDEV;
}

const struct feature *features_missing(void)
{
	size_t n;
	const struct feature *f = features_probe(&n);

	for (size_t i = 0; i < n; i++)
		if (f[i].required && !f[i].ok)
			return &f[i];
	return NULL;
}

void features_naming(void (*missing)(void *ctx, const struct feature *f), void *ctx)
{
	for (int i = 0; i < NROWS; i++) {
		struct feature f;

		if (!rows[i].f.naming)
			continue;
		f = probe(i);
		if (!f.ok)
			missing(ctx, &f);
	}
}
