/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/model/kernel_file.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/file.h"
#include "analysis/model/search.h"
#include "analysis/symbols/debuginfod.h"
#include "analysis/symbols/kernelid.h"
#include "analysis/symbols/unpack.h"

enum { TREE_DEPTH_MAX = 12 };

/* "6.1.0-53-amd64" from "Linux 6.1.0-53-amd64". NULL unless it is valid in a file name. */
static const char *release_of(const char *os)
{
	const char *blank = strrchr(os, ' ');
	const char *release = blank ? blank + 1 : os;

	return *release && !strchr(release, '/') && *release != '.' ? release : NULL;
}

/* "snd-hda-core.ko" is the module snd_hda_core. */
static bool is_module_file(const char *name, const char *module)
{
	for (; *module; name++, module++) {
		if (*name != *module && !(*name == '-' && *module == '_'))
			return false;
	}
	if (!strcmp(name, ".ko") || !strcmp(name, ".ko.debug"))
		return true;
	for (const char *const *e = unpack_endings; *e; e++) {
		if (!strncmp(name, ".ko", 3) && !strcmp(name + 3, *e))
			return true;
	}
	return false;
}

static void walk(struct kernel_files *kf, const char *dir, int depth)
{
	DIR *d = depth < TREE_DEPTH_MAX ? opendir(dir) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *path = e->d_name[0] == '.' ? NULL : xasprintf("%s/%s", dir, e->d_name);

		if (path && e->d_type == DT_DIR)
			walk(kf, path, depth + 1);
		if (path && is_module_file(e->d_name, kf->module))
			vec_push(&kf->paths, path);
		else
			free(path);
	}
	if (d)
		closedir(d);
}

static void add_modules(struct kernel_files *kf)
{
	static const char *const trees[] = { "/usr/lib/debug/lib/modules/", "/lib/modules/" };

	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		char *dir = xasprintf("%s%s", trees[i], kf->release);

		walk(kf, dir, 0);
		free(dir);
	}
}

static void add_vmlinux(struct kernel_files *kf)
{
	static const char *const places[][2] = {
		{ "/usr/lib/debug/boot/vmlinux-", "" },
		{ "/usr/lib/debug/lib/modules/", "/vmlinux" },
		{ "/usr/lib/debug/vmlinux-", "" },
		{ "/lib/modules/", "/vmlinux" },
		{ "/lib/modules/", "/build/vmlinux" },
		{ "/boot/vmlinux-", "" },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		vec_push(&kf->paths, xasprintf("%s%s%s", places[i][0], kf->release, places[i][1]));
}

/* Debug packages have files by build id, independent of the release. */
static void add_by_build_id(struct kernel_files *kf)
{
	if (kf->build_id)
		vec_push(&kf->paths, xasprintf("/usr/lib/debug/.build-id/%.2s/%s.debug",
					       kf->build_id, kf->build_id + 2));
}

/* If the experiment has no build id but is of the running release, use the running kernel's. */
static int from_debuginfod(struct kernel_files *kf, char **path)
{
	__cleanup(freep) char *running = NULL;
	const char *id = kf->build_id;
	struct utsname uts;
	int fd;

	if (!id && kf->release && !uname(&uts) && !strcmp(uts.release, kf->release))
		id = running = kernel_running_build_id(kf->module);
	fd = id ? debuginfod_open(id, kf->diag) : -1;
	if (fd >= 0)
		*path = xasprintf("debuginfod's file of build id %s", id);
	return fd;
}

void kernel_files_init(struct kernel_files *kf, const struct search_path *sp,
		       const struct session *s, const char *os, const char *module,
		       const char *build_id, struct diag *d)
{
	bool whole = !strcmp(module, "vmlinux");
	char *name = whole ? xstrdup(module) : xasprintf("%s.ko", module);

	*kf = (struct kernel_files){
		.module = module, .release = release_of(os), .build_id = build_id, .diag = d
	};
	kf->first = search_open(sp, s, name, &kf->first_path);
	for (const char *const *e = unpack_endings; !whole && kf->first < 0 && *e; e++) {
		char *packed = xasprintf("%s%s", name, *e);

		kf->first = search_open(sp, s, packed, &kf->first_path);
		free(packed);
	}
	free(name);
	add_by_build_id(kf);
	if (kf->release && whole)
		add_vmlinux(kf);
	else if (kf->release)
		add_modules(kf);
}

/* Whether a file is not empty; *fd becomes the uncompressed file. */
static bool usable(struct kernel_files *kf, int *fd, const char *path)
{
	if (*fd >= 0)
		*fd = unpack_open(*fd, path, kf->diag);
	return *fd >= 0;
}

int kernel_files_next(struct kernel_files *kf, char **path)
{
	char *first_path = kf->first_path;
	int fd = kf->first;

	kf->first = -1;
	kf->first_path = NULL;
	if (usable(kf, &fd, first_path)) {
		*path = first_path;
		return fd;
	}
	free(first_path);
	while (kf->next < kf->paths.len) {
		const char *p = kf->paths.data[kf->next++];

		fd = file_open_regular(p);
		if (usable(kf, &fd, p)) {
			*path = xstrdup(p);
			return fd;
		}
	}
	if (kf->asked)
		return -1;
	kf->asked = true;
	return from_debuginfod(kf, path);
}

void kernel_files_free(struct kernel_files *kf)
{
	vec_for_each (p, &kf->paths)
		free(*p);
	vec_free(&kf->paths);
	if (kf->first >= 0)
		close(kf->first);
	free(kf->first_path);
}
