/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel_er/privilege.h"

#include <errno.h>
#include <string.h>
#include <sys/capability.h>

#include "analysis/base/diag.h"

/* Debian 12's libcap knows all of these. */
static const cap_value_t kept[] = {
	CAP_SYS_PTRACE,         /* /proc/PID/maps, root and map_files of others */
	CAP_DAC_READ_SEARCH,    /* binaries that only their owner may read */
	CAP_CHECKPOINT_RESTORE, /* /proc/PID/map_files */
};

enum { NKEPT = sizeof(kept) / sizeof(kept[0]) };

void privilege_drop(struct diag *d)
{
	cap_t held = cap_get_proc(), keep = cap_init();
	int err = held && keep ? 0 : errno;

	for (int i = 0; !err && i < NKEPT; i++) {
		cap_flag_value_t v;

		if (cap_get_flag(held, kept[i], CAP_PERMITTED, &v) < 0 || v != CAP_SET)
			continue;
		if (cap_set_flag(keep, CAP_PERMITTED, 1, &kept[i], CAP_SET) < 0 ||
		    cap_set_flag(keep, CAP_EFFECTIVE, 1, &kept[i], CAP_SET) < 0)
			err = errno;
	}
	if (!err && cap_set_proc(keep) < 0)
		err = errno;
	if (err)
		diag_warn(d, "capabilities: cannot be given up: %s", strerror(err));
	cap_free(held);
	cap_free(keep);
}
