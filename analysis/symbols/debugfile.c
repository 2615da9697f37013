/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/debugfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gelf.h>
#include <lzma.h>
#include <zlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/file.h"
#include "analysis/symbols/elfsyms.h"

enum {
	UNPACKED_MAX = 64 * 1024 * 1024,
	UNPACK_RATIO_MAX = 256, /* bounds a hostile file: symbols compress to a tenth */
	UNPACK_MEMORY = 128 * 1024 * 1024,
	CRC_CHUNK = 256 * 1024,
	CRC_SIZE_MAX = 1 << 30, /* a second; larger files have a build id */
};

/*
 * A hostile program may have thousands of names, and each of them this debug file. So there is a
 * limit for the whole process, too.
 */
#define CRC_TOTAL_MAX (4ULL << 30)

static atomic_ullong crc_total;

/* 1: the file has this build id. 0: it has another one. -1: it has none. */
static int same_build_id(int fd, const char *id)
{
	__cleanup(freep) char *got = elf_file_build_id(fd);

	return got && id ? !strcmp(got, id) : -1;
}

/* How and for whom to look for files. */
struct search {
	int (*open)(const char *path);
	struct diag *d;
	char **found; /* the path */
};

static int open_by_build_id(const char *root, const char *id, const struct search *s)
{
	__cleanup(freep) char *path = NULL;
	int fd;

	if (!id || strlen(id) < 3)
		return -1;
	path = xasprintf("%s/.build-id/%.2s/%s.debug", root, id, id + 2);
	fd = s->open(path);
	if (fd < 0)
		return -1;
	if (same_build_id(fd, id) != 1) {
		diag_warn(s->d, "%s: not used: its build id is another one", path);
		close(fd);
		return -1;
	}
	*s->found = path;
	path = NULL;
	return fd;
}

static bool crc_matches(int fd, GElf_Word want)
{
	__cleanup(freep) unsigned char *chunk = xmalloc(CRC_CHUNK);
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0 || st.st_size > CRC_SIZE_MAX ||
	    atomic_fetch_add(&crc_total, st.st_size) + st.st_size > CRC_TOTAL_MAX)
		return false;
	while ((n = pread(fd, chunk, CRC_CHUNK, at)) > 0) {
		crc = crc32(crc, chunk, n);
		at += n;
	}
	return n == 0 && crc == want;
}

static int open_candidate(char *path, const char *id, GElf_Word crc, const struct search *s)
{
	__cleanup(freep) char *owned = path;
	int fd = s->open(path), same;

	if (fd < 0)
		return -1;
	same = same_build_id(fd, id);
	if (same == 1 || (same < 0 && crc_matches(fd, crc))) {
		*s->found = owned;
		owned = NULL;
		return fd;
	}
	diag_warn(s->d, "%s: not used: it is the debug file of another build", path);
	close(fd);
	return -1;
}

/*
 * The name in .gnu_debuglink and that file's checksum; NULL: none. libdw could read it,
 * too, but loading libdw takes 0.4 ms and the recorder needs it for nothing else.
 */
static const char *debuglink(Elf *elf, GElf_Word *crc)
{
	Elf_Scn *scn = elf_section(elf, ".gnu_debuglink");
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	const char *name = data ? data->d_buf : NULL;
	Elf_Data from = { .d_size = sizeof(*crc), .d_type = ELF_T_WORD, .d_version = EV_CURRENT };
	Elf_Data to = from;
	size_t behind;

	if (!name)
		return NULL;
	behind = (strnlen(name, data->d_size) + sizeof(*crc)) / sizeof(*crc) * sizeof(*crc);
	if (behind + sizeof(*crc) > data->d_size)
		return NULL;
	from.d_buf = (char *)name + behind;
	to.d_buf = crc;
	return gelf_xlatetom(elf, &to, &from, elf_getident(elf, NULL)[EI_DATA]) ? name : NULL;
}

static int open_by_debuglink(Elf *elf, const char *root, const char *path, const char *id,
			     const struct search *s)
{
	GElf_Word crc;
	const char *link = debuglink(elf, &crc), *slash;
	int dirlen, fd;

	slash = path ? strrchr(path, '/') : NULL;
	if (!link || !*link || strchr(link, '/') || !slash)
		return -1;
	dirlen = slash - path;
	/* A debuglink equal to the binary's own name would find the binary itself. */
	fd = strcmp(link, slash + 1)
		     ? open_candidate(xasprintf("%.*s/%s", dirlen, path, link), id, crc, s)
		     : -1;
	if (fd < 0)
		fd = open_candidate(xasprintf("%.*s/.debug/%s", dirlen, path, link), id, crc, s);
	if (fd < 0)
		fd = open_candidate(xasprintf("%s%.*s/%s", root, dirlen, path, link), id, crc, s);
	return fd;
}

int debugfile_open(Elf *elf, const char *root, const char *path, const char *id,
		   int (*open)(const char *path), struct diag *d, char **found)
{
	const struct search s = { open ? open : file_open_regular, d, found };
	int fd = open_by_build_id(root, id, &s);

	return fd >= 0 ? fd : open_by_debuglink(elf, root, path, id, &s);
}

int debugfile_open_alt(const char *root, const char *dir, const char *name, const char *id,
		       struct diag *d, char **found)
{
	__cleanup(freep) char *path = NULL;
	const struct search s = { file_open_regular, d, found };
	int fd = open_by_build_id(root, id, &s);
	struct stat st;

	if (fd >= 0 || !*name)
		return fd;
	path = *name == '/' ? xstrdup(name) : xasprintf("%s/%s", dir, name);
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return -EINVAL;
	fd = file_open_regular(path);
	if (fd < 0)
		return -1;
	if (same_build_id(fd, id) != 1) {
		diag_warn(d, "%s: not used: it is the dwz file of another build", path);
		close(fd);
		return -1;
	}
	*found = path;
	path = NULL;
	return fd;
}

static lzma_ret unpack(lzma_stream *s, const Elf_Data *in, struct buf *out)
{
	size_t max = in->d_size < UNPACKED_MAX / UNPACK_RATIO_MAX ? in->d_size * UNPACK_RATIO_MAX
								  : UNPACKED_MAX;
	lzma_ret r = lzma_stream_decoder(s, UNPACK_MEMORY, 0);

	s->next_in = in->d_buf;
	s->avail_in = in->d_size;
	while (r == LZMA_OK && out->len < max) {
		size_t before = out->len, step = max - before < 65536 ? max - before : 65536;

		s->next_out = buf_zero(out, step);
		s->avail_out = step;
		r = lzma_code(s, LZMA_FINISH);
		out->len = before + step - s->avail_out;
	}
	return r;
}

void *debugdata_unpack(Elf *elf, size_t *size, struct diag *d)
{
	Elf_Scn *scn = elf_section(elf, ".gnu_debugdata");
	GElf_Shdr sh;
	Elf_Data *in = scn && gelf_getshdr(scn, &sh) && sh.sh_size <= UNPACKED_MAX
			       ? elf_rawdata(scn, NULL)
			       : NULL;
	lzma_stream s = LZMA_STREAM_INIT;
	struct buf out = { 0 };
	lzma_ret r;

	if (!in || !in->d_buf)
		return NULL;
	r = unpack(&s, in, &out);
	lzma_end(&s);
	if (r != LZMA_STREAM_END) {
		diag_warn(d, ".gnu_debugdata: not used: its uncompressed size is implausible");
		buf_free(&out);
		return NULL;
	}
	*size = out.len;
	return out.data;
}
