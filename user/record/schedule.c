/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/schedule.h"

#include <time.h>

#define SEC_NS  1000000000ULL
#define TICK_NS 120000000ULL /* a killed recorder loses this and a round of work: 200 ms are promised */
#define STATUS_NS (5 * SEC_NS)
#define YOUNG_NS (10 * SEC_NS)
#define OLD_XML_NS (5 * SEC_NS)
#define IDLE_FILES_NS (10 * SEC_NS)
#define NEVER   UINT64_MAX

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SEC_NS + ts.tv_nsec;
}

void schedule_init(struct schedule *s, const struct plan *p, uint64_t start_ns)
{
	*s = (struct schedule){
		.at = {
			[DUE_BEGIN] = p->begin_ns ? start_ns + p->begin_ns : NEVER,
			[DUE_LOAD] = p->load ? start_ns + p->quiet_ns : NEVER,
			[DUE_SAMPLE] = p->sample_s ? start_ns + p->sample_s * SEC_NS : NEVER,
			[DUE_RECORDER_XML] = start_ns + SEC_NS,
			[DUE_ROLL] = p->roll_ns ? start_ns + p->roll_ns : NEVER,
			[DUE_TICK] = start_ns + TICK_NS,
			[DUE_STATUS] = p->status ? start_ns : NEVER,
			[DUE_IDLE_FILES] = start_ns + IDLE_FILES_NS,
			[DUE_END] = p->end_ns ? start_ns + p->end_ns : NEVER,
		},
		.every = {
			[DUE_SAMPLE] = p->sample_s * SEC_NS,
			[DUE_RECORDER_XML] = SEC_NS,
			[DUE_ROLL] = p->roll_ns,
			[DUE_TICK] = TICK_NS,
			[DUE_STATUS] = STATUS_NS,
			[DUE_IDLE_FILES] = IDLE_FILES_NS,
		},
		.old = { [DUE_RECORDER_XML] = OLD_XML_NS },
		.old_ns = start_ns + YOUNG_NS,
	};
}

bool schedule_due(struct schedule *s, enum due what, uint64_t t)
{
	uint64_t every = t >= s->old_ns && s->old[what] ? s->old[what] : s->every[what];

	if (t < s->at[what])
		return false;
	/* Usage samples keep their period. Missed ticks are not made up for. */
	if (!every)
		s->at[what] = NEVER;
	else
		s->at[what] = (what == DUE_SAMPLE ? s->at[what] : t) + every;
	return true;
}

void schedule_cancel(struct schedule *s, enum due what)
{
	s->at[what] = NEVER;
}

void schedule_by(struct schedule *s, enum due what, uint64_t t)
{
	if (t < s->at[what])
		s->at[what] = t;
}

int schedule_wait_ms(const struct schedule *s, uint64_t t)
{
	uint64_t next = NEVER;

	for (int i = 0; i < DUE_COUNT; i++)
		next = s->at[i] < next ? s->at[i] : next;
	/* Round up: waking too early would make the loop spin. */
	return next <= t ? 0 : (next - t + 999999) / 1000000;
}
