/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one line that a terminal shows while we record; nothing anywhere else. */
#ifndef KERNEL_ER_LIVE_H
#define KERNEL_ER_LIVE_H

#include <stdbool.h>
#include <stdint.h>

struct live {
	bool on;
	uint64_t drawn_ns; /* when it was last drawn; 0: it is not on the screen */
};

struct live_state {
	uint64_t now_ns, elapsed_ns, samples, lost, bytes;
	bool paused;
};

void live_init(struct live *l);
/* Draw, if it is time to. */
void live_draw(struct live *l, const struct live_state *s);
/* Take the line off the screen. */
void live_clear(struct live *l);
/* "12.3 MB" */
void live_format_bytes(uint64_t bytes, char *ret, unsigned size);

#endif
