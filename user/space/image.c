/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "user/space/procmap_impl.h"

const struct mapping *image_program(const struct image *im)
{
	const struct mapping *first = NULL;

	/* The kernel maps the program itself before its loader and its libraries. */
	vec_for_each(m, &im->space->maps) {
		if (*m->path == '/' && (!first || m->time_ns < first->time_ns))
			first = m;
	}
	return first;
}

const char *image_file(const struct image *im)
{
	const struct mapping *program = image_program(im);
	const char *slash = program ? strrchr(program->path, '/') : NULL;

	return slash ? slash + 1 : "";
}

struct image *image_at(const struct process *p, uint64_t time_ns)
{
	struct image *im = p ? p->image : NULL;

	while (im && im->older && im->begin_ns > time_ns)
		im = im->older;
	return im;
}

struct image *procmap_image_at(struct procmap *pm, pid_t pid, uint64_t time_ns, uint64_t *start_time)
{
	const struct process *p = newest(pm, pid);

	while (p && p->born_ns > time_ns)
		p = p->older;
	*start_time = p ? p->start_time : 0;
	return image_at(p, time_ns);
}

/*
 * A process gets its start time shortly before its fork event is written. If several processes of
 * this PID without a known start time match, it is the oldest.
 */
static bool could_be(const struct procmap *pm, const struct process *p, uint64_t start_time)
{
	if (p->start_time || (p->gone_ns && p->gone_ns < start_time))
		return false;
	return p->born_ns ? p->born_ns >= start_time : start_time <= pm->scan_ns;
}

struct process *process_known(const struct procmap *pm, pid_t pid, uint64_t start_time)
{
	struct process *found = NULL;

	for (struct process *p = newest(pm, pid); p; p = p->older) {
		if (p->start_time == start_time)
			return p;
		if (could_be(pm, p, start_time))
			found = p;
	}
	return found;
}

const struct image *procmap_known_image(const struct procmap *pm, pid_t pid, uint64_t start_time,
					uint64_t time_ns)
{
	return image_at(process_known(pm, pid, start_time), time_ns);
}
