/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/holdup.h"

#include "analysis/experiment/mstate.h"
#include "analysis/experiment/packet.h"

/* By reason, for waits whose state alone does not decide. */
static const enum holdup by_reason[REASON_COUNT] = {
	[REASON_DISK] = HOLDUP_DISK,
	[REASON_WRITEBACK] = HOLDUP_DISK,
	[REASON_FAULT] = HOLDUP_FAULT,
	[REASON_KERNEL_LOCK] = HOLDUP_KERNEL_LOCK,
	[REASON_FILE_LOCK] = HOLDUP_FILE_LOCK,
	[REASON_RECLAIM] = HOLDUP_MEMORY,
	[REASON_THROTTLED] = HOLDUP_QUOTA,
	[REASON_STOLEN] = HOLDUP_STOLEN,
	[REASON_STOLEN_IRQ] = HOLDUP_STOLEN,
};

static const char *const filters[HOLDUPS] = {
	[HOLDUP_CPU] = "STATE == WAIT_CPU",
	[HOLDUP_QUOTA] = "REASON == THROTTLED",
	[HOLDUP_STOLEN] = "REASON IN (STOLEN, STOLEN_IRQ)",
	[HOLDUP_LOCK] = "STATE == USER_LOCK",
	[HOLDUP_KERNEL_LOCK] = "REASON == KERNEL_LOCK",
	[HOLDUP_FILE_LOCK] = "REASON == FILE_LOCK",
	[HOLDUP_DISK] = "REASON IN (DISK, WRITEBACK)",
	[HOLDUP_FAULT] = "STATE IN (TFAULT, DFAULT, KFAULT)",
	[HOLDUP_MEMORY] = "REASON == RECLAIM",
};

enum holdup holdup_of(int64_t state, int64_t reason)
{
	enum holdup known = reason > REASON_NONE && reason < REASON_COUNT ? by_reason[reason] :
									     HOLDUP_NONE;

	switch (state) {
	case MS_WAIT_CPU:
		return known == HOLDUP_QUOTA || known == HOLDUP_STOLEN ? known : HOLDUP_CPU;
	case MS_TFAULT:
	case MS_DFAULT:
	case MS_KFAULT:
		return known == HOLDUP_MEMORY ? known : HOLDUP_FAULT;
	case MS_USER_LOCK:
		return reason_is_rest(reason) ? HOLDUP_NONE : HOLDUP_LOCK;
	case MS_SLEEP:
		return known;
	default:
		return HOLDUP_NONE;
	}
}

const char *holdup_filter(enum holdup holdup)
{
	return filters[holdup];
}
