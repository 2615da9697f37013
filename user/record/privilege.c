/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/privilege.h"

#include <errno.h>
#include <string.h>
#include <sys/capability.h>

#include "analysis/base/diag.h"
#include "loaders/perf_event.h"

/* Debian 12's libcap knows all of these. */
static const cap_value_t kept[] = {
	CAP_SYS_PTRACE,         /* /proc/PID/maps, root and map_files of others */
	CAP_DAC_READ_SEARCH,    /* binaries that only their owner may read */
	CAP_CHECKPOINT_RESTORE, /* /proc/PID/map_files */
};

/* Not in effect but while a CPU's events are opened. */
static const cap_value_t raised[] = {
	CAP_PERFMON,
	CAP_SYS_ADMIN, /* last: only where the kernel wants it */
};

enum { NKEPT = sizeof(kept) / sizeof(kept[0]), NRAISED = sizeof(raised) / sizeof(raised[0]) };

/* Debian's and Ubuntu's kernels have levels above 2, at which CAP_PERFMON is not enough. */
static int nraised(void)
{
	return kernel_sysctl("perf_event_paranoid", 2) > 2 ? NRAISED : NRAISED - 1;
}

/* Those of the list that are held; 0 or an errno. */
static int keep_held(cap_t keep, cap_t held, const cap_value_t *caps, int n, bool effective)
{
	for (int i = 0; i < n; i++) {
		cap_flag_value_t v;

		if (cap_get_flag(held, caps[i], CAP_PERMITTED, &v) < 0 || v != CAP_SET)
			continue;
		if (cap_set_flag(keep, CAP_PERMITTED, 1, &caps[i], CAP_SET) < 0 ||
		    (effective && cap_set_flag(keep, CAP_EFFECTIVE, 1, &caps[i], CAP_SET) < 0))
			return errno;
	}
	return 0;
}

void privilege_drop(struct diag *d)
{
	cap_t held = cap_get_proc(), keep = cap_init();
	int err = held && keep ? 0 : errno;

	err = err ? err : keep_held(keep, held, kept, NKEPT, true);
	err = err ? err : keep_held(keep, held, raised, nraised(), false);
	if (!err && cap_set_proc(keep) < 0)
		err = errno;
	if (err)
		diag_warn(d, "capabilities: cannot be given up: %s", strerror(err));
	cap_free(held);
	cap_free(keep);
}

void privilege_raise(bool on)
{
	cap_t held = cap_get_proc();

	for (int i = 0; held && i < NRAISED; i++) {
		cap_flag_value_t v;

		if (!cap_get_flag(held, raised[i], CAP_PERMITTED, &v) && v == CAP_SET)
			cap_set_flag(held, CAP_EFFECTIVE, 1, &raised[i], on ? CAP_SET : CAP_CLEAR);
	}
	if (held)
		cap_set_proc(held);
	cap_free(held);
}
