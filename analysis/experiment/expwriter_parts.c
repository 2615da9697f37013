/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that the parts of a recording share. Hundreds of processes each have an
 * experiment, and creating a file costs more than filling it. All parts have the same
 * log.xml and the same range of kernel code. Both files are made once, in the founder's
 * directory, and linked into the parts. The data of one part is in its map.xml: log.xml
 * and map.xml have the same grammar and are read in that order.
 *
 * Kernel functions are only in the founder's kallmodsyms. gprofng has one load object
 * for all of them, but needs a file in each experiment that gives the range of the
 * kernel: two functions without size.
 */
#include "analysis/experiment/expwriter_impl.h"

#include <errno.h>
#include <unistd.h>

/* The names of the shared files in the founder's directory. */
#define COMMON_LOG   "common.xml"
#define COMMON_KSYMS "common.kallmodsyms"

#ifdef __x86_64__
/*
 * Above the direct map. Words that a walk without frame pointers mistakes for pcs are
 * mostly below.
 */
#define KERNEL_BEGIN "ffffffff80000000"
#define KERNEL_END   "ffffffffff000000"
#else
#define KERNEL_BEGIN "ffff800000000000"
#define KERNEL_END   "fffffffffffff000"
#endif

static const char kernel_range[] = KERNEL_BEGIN " 0 t <kernel>\n" KERNEL_END " 0 t <kernel>\n";

/* Create the shared files once. 0 or -errno. */
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

/* Link a file into a part; copy it if it cannot be linked (more often). 0 or -errno. */
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
