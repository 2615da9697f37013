/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/kernelid.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <elf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"

enum { NOTES_MAX = 64 * 1024 };

static char *read_build_id(const char *path)
{
	__cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	__cleanup(freep) unsigned char *p = xmalloc(NOTES_MAX);
	ssize_t n = fd < 0 ? -1 : read(fd, p, NOTES_MAX), at = 0;
	struct buf hex = { 0 };

	while (!hex.len && n - at >= (ssize_t)sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr nh;
		ssize_t name, end;

		memcpy(&nh, p + at, sizeof(nh));
		name = at + (ssize_t)sizeof(nh);
		if (nh.n_namesz > NOTES_MAX || nh.n_descsz > NOTES_MAX)
			break;
		at = name + ((nh.n_namesz + 3) & ~3U);
		end = at + nh.n_descsz;
		if (end > n)
			break;
		if (nh.n_type == NT_GNU_BUILD_ID && nh.n_namesz == 4 &&
		    !memcmp(p + name, "GNU", 4)) {
			for (; at < end; at++)
				buf_printf(&hex, "%02x", p[at]);
		}
		at = (end + 3) & ~3L;
	}
	return hex.data;
}

char *kernel_running_build_id(const char *module)
{
	__cleanup(freep) char *path = NULL;

	if (!strcmp(module, "vmlinux"))
		return read_build_id("/sys/kernel/notes");
	if (!*module || strchr(module, '/') || *module == '.')
		return NULL;
	path = xasprintf("/sys/module/%s/notes/.note.gnu.build-id", module);
	return read_build_id(path);
}
