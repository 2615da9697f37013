/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seeds DIR: writes the fuzzers' first inputs. DIR/experiment/, xml/, elf/ and unwind/ get
 * files from the fixtures; run.sh writes the text inputs.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/file.h"
#include "tests/fixtures/cfi_image.h"
#include "tests/fixtures/elf_image.h"
#include "tests/fixtures/exp_rich.h"
#include "tests/fixtures/go_program.h"
#include "tests/fixtures/tempdir.h"
#include "tests/fuzz/pack.h"

static void put(const char *dir, const char *kind, const char *name, const void *data, size_t size)
{
	char *sub = xasprintf("%s/%s", dir, kind);

	mkdir(sub, 0700);
	tempdir_write(sub, name, data, size);
	free(sub);
}

static bool is_xml(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && !strcmp(dot, ".xml");
}

/* Add every file in the directory `below` of the experiment at `path`. */
static void add_files(const char *dir, const char *path, const char *below, struct buf *all)
{
	char *from = xasprintf("%s/%s", path, below);
	DIR *d = opendir(from);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		char *name = xasprintf("%s%s", below, entry->d_name);
		struct file f;

		if (entry->d_type == DT_REG && !file_open_at(dirfd(d), entry->d_name, &f)) {
			pack_add(all, name, f.data, f.size);
			if (!*below && is_xml(entry->d_name))
				put(dir, "xml", entry->d_name, f.data, f.size);
			file_close(&f);
		}
		free(name);
	}
	if (d)
		closedir(d);
	free(from);
}

static void experiment_seeds(const char *dir)
{
	char *base = tempdir_new(), *path = xasprintf("%s/rich.er", base);
	struct buf all = { 0 };

	exp_rich_write(base, "rich.er");
	add_files(dir, path, "", &all);
	add_files(dir, path, PACK_SUB "/", &all);
	put(dir, "experiment", "rich", all.data, all.len);
	buf_free(&all);
	free(path);
	tempdir_remove(base);
}

/* Takes ownership of fd. */
static void elf_seed(const char *dir, const char *kind, const char *name, int fd)
{
	struct file f;

	if (file_open_fd(fd, &f))
		abort();
	put(dir, kind, name, f.data, f.size);
	file_close(&f);
}

static void elf_seeds(const char *dir)
{
	static const struct image_sym syms[] = {
		{ "first", IMAGE_TEXT, 0x40, 1, 2 },
		{ "_ZN3app4workEi", IMAGE_TEXT + 0x40, 0x40, 0, 2 },
		{ "sizeless", IMAGE_TEXT + 0x300, 0, 1, 2 },
	};
	enum { N = sizeof(syms) / sizeof(syms[0]), ELF32 = 1, BIG = 2 };

	elf_seed(dir, "elf", "plain", elf_image(&(struct image){ .syms = syms, .nsyms = N }));
	elf_seed(dir, "elf", "small", elf_image(&(struct image){ .class = ELF32, .syms = syms, .nsyms = N }));
	elf_seed(dir, "elf", "big", elf_image(&(struct image){ .data = BIG, .syms = syms, .nsyms = N,
					      .build_id = "\x12\xab", .debuglink = "x.debug" }));
	elf_seed(dir, "elf", "go1_2", go_program(&(struct go_program){ .magic = GO_1_2 }));
	elf_seed(dir, "elf", "go1_16", go_program(&(struct go_program){ .magic = GO_1_16 }));
	elf_seed(dir, "elf", "go1_18", go_program(&(struct go_program){ .magic = GO_1_18, .pie = true }));
	elf_seed(dir, "elf", "go1_20", go_program(&(struct go_program){ .magic = GO_1_20 }));
}

/* Frames of several kinds, including a signal frame. */
static void unwind_seeds(const char *dir)
{
	static const struct cfi_image_fn fns[] = {
		CFI_FN(0, 0x80, "\x41\x0e\x10\x86\x02\x43\x0d\x06\x0a\x60\x0c\x07\x08\x41\x0b"),
		CFI_FN(0x80, 0x200, "\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00\x44\x09\x10\x05"),
		CFI_FN(0x200, 0x210, "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
		{ 0x300, 0x400, "\x0f\x04\x77\xa0\x01\x06\x10\x10\x03\x77\xa8\x01", 12, true },
	};
	struct buf b = { 0 };

	cfi_image(&b, fns, sizeof(fns) / sizeof(fns[0]), 0x90);
	put(dir, "unwind", "frames", b.data, b.len);
	buf_free(&b);
	elf_seed(dir, "unwind", "go", go_program(&(struct go_program){ .magic = GO_1_20 }));
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: seeds DIR\n", stderr);
		return 2;
	}
	experiment_seeds(argv[1]);
	elf_seeds(argv[1]);
	unwind_seeds(argv[1]);
	return 0;
}
