/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The choice of waits to record, by state. A part of a wait that lasts at least er_distance is always
 * recorded, and its weight is its length. So the time and the number of long waits are exact.
 *
 * The shorter parts of a thread's waits, one after the other, are a time with sample points, er_distance
 * apart on average. A part that contains points is recorded; its weight is the sum of the distances that
 * end at its points. Long parts have no place in that time: if they had, their weights would be multiples
 * of a distance, and would represent short waits before them.
 * Distances are random, uniform between 1/2 and 3/2 of the mean: a fixed distance could fall in
 * step with the load. The time after the last point counts towards the next one, in a later wait;
 * if each wait started anew short ones would never be chosen. A point's weight is at most the time
 * that has passed, so weights never exceed the time. For short-lived threads the first point comes
 * after a random part of a quarter of the mean, and the second after half of the mean.
 */
#ifndef POINTS_BPF_H
#define POINTS_BPF_H

enum {
	POINTS_STATES = 8, /* ER_OFF_STATES, rounded up to a power of two for the verifier */
	POINTS_WALK = 6,   /* more than a part below er_distance can contain */
};

/* A thread's points, by state. */
struct er_points {
	__u32 left[POINTS_STATES]; /* ns to the next point */
	__u32 gap[POINTS_STATES];  /* the distance that ends at this point */
};

__u64 er_distance = 10000000; /* user space may change it at any time; below 2^31 */

static __always_inline __u32 points_random(__u32 below)
{
	return (__u64)bpf_get_prandom_u32() * below >> 32;
}

/* The distance that follows the distance `last`, where the mean is `d`. */
static __always_inline __u32 points_gap(__u32 last, __u32 d)
{
	if (last <= d / 4)
		d /= 2;
	return d / 2 + points_random(d);
}

/*
 * A part of `len` ns, below er_distance, has reached the next point, which was `left` ns ahead. Sets the
 * following points. Returns the sum of the distances that ended.
 */
__u64 er_points_lay(struct er_points *t, __u32 state, __u64 len);
__noinline __u64 er_points_lay(struct er_points *t, __u32 state, __u64 len)
{
	__u64 weight = 0, over;
	__u32 gap, d = er_distance;

	if (!t)
		return 0;
	state &= POINTS_STATES - 1;
	gap = t->gap[state];
	over = len - t->left[state];
	if (!gap) {
		gap = 1 + points_random(d / 4);
		over = len - gap;
		if (len < gap) {
			t->gap[state] = gap;
			t->left[state] = gap - len;
			return 0;
		}
	}
	for (int i = 0; i < POINTS_WALK; i++) {
		weight += gap;
		gap = points_gap(gap, d);
		if (over < gap)
			break;
		over -= gap;
	}
	if (over >= gap) /* er_distance has just become much smaller; the remainder has this time */
		over = 0;
	t->gap[state] = gap;
	t->left[state] = gap - over;
	return weight;
}

/* The weight of a part of a wait; 0: do not record it. */
static __always_inline __u64 points_weigh(struct er_points *t, __u32 state, __u64 len)
{
	__u32 left;

	if (len >= er_distance)
		return len;
	state &= POINTS_STATES - 1;
	left = t->left[state];
	if (len < left) {
		t->left[state] = left - len;
		return 0;
	}
	return len ? er_points_lay(t, state, len) : 0;
}

#endif
