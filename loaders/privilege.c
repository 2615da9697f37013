/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/privilege.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/base/diag.h"
#include "loaders/perf_event.h"

#define CAP(name) (1ULL << CAP_##name)

/*
 * The granted capabilities that an ordinary caller's recorder may use. None of them changes
 * which files it may read or write.
 */
static const uint64_t of_capture = CAP(BPF) | CAP(PERFMON) | CAP(SYS_ADMIN) | CAP(IPC_LOCK) |
				   CAP(SYS_RESOURCE) | CAP(SYS_NICE);
static const uint64_t of_proc = CAP(SYS_PTRACE);
static const uint64_t of_maps = CAP(BPF);
/*
 * Kept by root's recorder, for binaries that only their owner may read and for
 * /proc/PID/map_files.
 */
static const uint64_t of_root = CAP(SYS_PTRACE) | CAP(DAC_READ_SEARCH) | CAP(CHECKPOINT_RESTORE);

static struct {
	bool begun, root;
	uint64_t permitted, effective;
} now;

/* Debian's and Ubuntu's kernels have levels above 2, where CAP_PERFMON is not enough. */
static uint64_t of_cpu(void)
{
	return kernel_sysctl("perf_event_paranoid", 2) > 2 ? CAP(PERFMON) | CAP(SYS_ADMIN) :
							     CAP(PERFMON);
}

/* Sets this thread's capabilities. The recorder has only one thread. */
static int set(uint64_t permitted, uint64_t effective)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct v[_LINUX_CAPABILITY_U32S_3] = {
		{ .permitted = permitted, .effective = effective },
		{ .permitted = permitted >> 32, .effective = effective >> 32 },
	};

	if (syscall(SYS_capset, &h, v) < 0)
		return -errno;
	now.permitted = permitted;
	now.effective = effective;
	return 0;
}

static int held(uint64_t *permitted, uint64_t *effective)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct v[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &h, v) < 0)
		return -errno;
	*permitted = v[0].permitted | (uint64_t)v[1].permitted << 32;
	*effective = v[0].effective | (uint64_t)v[1].effective << 32;
	return 0;
}

/* A set-user-id or set-group-id program takes on its caller's IDs and keeps its capabilities. */
static int become_caller(void)
{
	if (getuid() == geteuid() && getgid() == getegid())
		return 0;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setresgid(getgid(), getgid(), getgid()) < 0 ||
	    setresuid(getuid(), getuid(), getuid()) < 0 || prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

int privilege_begin(struct diag *d)
{
	uint64_t permitted = 0, effective = 0;
	int err = become_caller();

	err = err ? err : held(&permitted, &effective);
	now.begun = true;
	now.root = getuid() == 0;
	if (!err && now.root) {
		now.permitted = permitted;
		now.effective = effective;
	} else if (!err) {
		/*
		 * No core file, which would have memory of recorded programs. The kernel sees to
		 * that only if fs.suid_dumpable is 0 and the starting program had less rights.
		 */
		if (permitted & (of_capture | of_proc))
			prctl(PR_SET_DUMPABLE, 0);
		err = set(permitted & (of_capture | of_proc), 0);
	}
	return err ? diag_errno(d, -err, "capabilities: cannot be set aside") : 0;
}

void privilege_drop(struct diag *d)
{
	uint64_t keep = now.root ? of_root : of_proc;
	int err = set(now.permitted & (keep | of_cpu() | of_maps), now.root ? now.effective & keep : 0);

	if (err)
		diag_warn(d, "capabilities: cannot be given up: %s", strerror(-err));
}

bool privilege_captures(void)
{
	uint64_t both = CAP(BPF) | CAP(PERFMON);

	return now.permitted & CAP(SYS_ADMIN) || (now.permitted & both) == both;
}

bool privilege_root(void)
{
	return now.root;
}

/* Called for each file of /proc, so it reads the level for PRIVILEGE_CPU only. */
static uint64_t capabilities_of(enum privilege p)
{
	switch (p) {
	case PRIVILEGE_CAPTURE:
		return of_capture | of_proc;
	case PRIVILEGE_PROC:
		return of_proc;
	case PRIVILEGE_CPU:
		return of_cpu();
	case PRIVILEGE_MAPS:
		return of_maps;
	}
	return 0;
}

uint64_t privilege_take(enum privilege p)
{
	uint64_t before = now.effective, more = capabilities_of(p) & now.permitted & ~before;

	if (now.begun && more)
		set(now.permitted, before | more);
	return before;
}

void privilege_return(uint64_t before)
{
	if (now.begun && now.effective != before)
		set(now.permitted, before);
}
