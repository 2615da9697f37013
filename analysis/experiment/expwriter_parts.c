/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of a recording have in common: hundreds of processes each have an
 * experiment, and to make a file costs more than to fill it. What their log.xml says
 * is the same in all, and so is the range of the kernel's code; both are made once, in
 * the founder's directory, and linked into the others. What is a part's own stands in
 * its map.xml: log.xml and map.xml have one grammar and are read one after the other.
 *
 * Kernel functions are in the founder's kallmodsyms alone. gprofng has one load object
 * for all of them, but wants a file that says which addresses are the kernel's: two
 * functions without size.
 */
#include "analysis/experiment/expwriter_impl.h"

#include <errno.h>
#include <unistd.h>

/* The names that the founder has them by. */
#define COMMON_LOG   "common.xml"
#define COMMON_KSYMS "common.kallmodsyms"

#ifdef __x86_64__
/* Above the direct map; what a walk without frame pointers takes for pcs is mostly not in there. */
#define KERNEL_BEGIN "ffffffff80000000"
#define KERNEL_END   "ffffffffff000000"
#else
#define KERNEL_BEGIN "ffff800000000000"
#define KERNEL_END   "fffffffffffff000"
#endif

static const char kernel_range[] = KERNEL_BEGIN " 0 t <kernel>\n" KERNEL_END " 0 t <kernel>\n";

/* 0 or -errno. */
static int make_common(struct expwriter *w)
{
	int err = w->has_common ? 0 : write_new(w->dirfd, COMMON_LOG, w->common.data);

	if (!err && !w->has_common)
		err = write_new(w->dirfd, COMMON_KSYMS, kernel_range);
	if (err || w->has_common)
		return err;
	w->has_common = true;
	w->bytes += w->common.len + sizeof(kernel_range) - 1;
	return 0;
}

/* A link; a copy where there can be none, or no more of them. 0 or -errno. */
static int share(struct expwriter *part, int dirfd, const char *common, const char *file,
		 const char *text)
{
	if (!linkat(part->founder->dirfd, common, dirfd, file, 0))
		return 0;
	part->bytes += strlen(text);
	return write_new(dirfd, file, text);
}

int parts_share(struct expwriter *part, int dirfd)
{
	struct expwriter *founder = part->founder;
	int err = make_common(founder);

	part->has_waits = founder->parts_have_waits;
	if (!err)
		err = share(part, dirfd, COMMON_LOG, "log.xml", founder->common.data);
	if (!err)
		err = share(part, dirfd, COMMON_KSYMS, "kallmodsyms", kernel_range);
	return err;
}
