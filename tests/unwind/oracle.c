/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the unwind tables of the files named on standard input and compares every row with
 * libdw's. Prints a line for each file that differs, and the sums.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/fixtures/unwind/cfi_oracle.h"

struct sums {
	size_t files, differ, no_libdw;
	struct unwind_counts counts;
	struct cfi_comparison cmp;
	size_t rows, rules, bytes;
	uint64_t text, ns, slowest_ns;
	double slowest;
	char slowest_name[PATH_MAX];
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * UINT64_C(1000000000) + t.tv_nsec;
}

static void add(struct sums *s, const struct unwind_table *t, const struct cfi_comparison *c)
{
	s->counts.functions += t->counts.functions;
	s->counts.bad_entries += t->counts.bad_entries;
	s->counts.outside += t->counts.outside;
	s->counts.cfi_rows += t->counts.cfi_rows;
	s->counts.bad_rows += t->counts.bad_rows;
	s->counts.text += t->counts.text;
	s->rows += t->file.nrows;
	s->rules += t->file.nrules;
	s->bytes += t->nwords * 4;
	s->cmp.rows += c->rows;
	s->cmp.wrong += c->wrong;
	s->cmp.refused += c->refused;
	s->cmp.bad_rows += c->bad_rows;
	s->cmp.bad_bytes += c->bad_bytes;
	s->cmp.covered += c->covered;
	for (int i = 0; i < ER_CFA_COUNT; i++)
		s->cmp.by_cfa[i] += c->by_cfa[i];
}

static void file(const char *name, const void *data, size_t size, struct sums *s, bool compare)
{
	struct unwind_input in = { .elf = data, .elf_size = size };
	struct cfi_comparison c = { 0 };
	struct unwind_table t;
	uint64_t t0 = now(), ns;
	double per_mb;
	int err = unwind_table_build(&in, &t);

	ns = now() - t0;
	if (err)
		return;
	s->ns += ns;
	per_mb = ns / 1e6 / (t.counts.text / 1e6 + 0.1);
	if (per_mb > s->slowest) {
		s->slowest = per_mb;
		snprintf(s->slowest_name, sizeof(s->slowest_name), "%s", name);
	}
	s->files++;
	if (compare && cfi_compare(&in, &t, &c))
		s->no_libdw++;
	add(s, &t, &c);
	if (c.wrong) {
		s->differ++;
		printf("differs %s: %zu of %zu rows, %s\n", name, c.wrong, c.rows, c.first);
	}
	if (c.bad_rows)
		printf("# bad %s: %zu rows, %s\n", name, c.bad_rows, c.first_bad);
	unwind_table_free(&t);
}

int main(int argc, char **argv)
{
	bool compare = argc < 2 || strcmp(argv[1], "--build");
	struct sums s = { 0 };
	char name[PATH_MAX];

	while (fgets(name, sizeof(name), stdin)) {
		struct stat st;
		void *data;
		int fd;

		name[strcspn(name, "\n")] = 0;
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < 64) {
			close(fd);
			continue;
		}
		data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data != MAP_FAILED) {
			file(name, data, st.st_size, &s, compare);
			munmap(data, st.st_size);
		}
		close(fd);
	}
	printf("files %zu, differ %zu, without libdw's CFI %zu\n", s.files, s.differ, s.no_libdw);
	printf("libdw rows %zu, wrong %zu, bad %zu (%" PRIu64 " bytes of %" PRIu64 "), refused %zu\n",
	       s.cmp.rows, s.cmp.wrong, s.cmp.bad_rows, s.cmp.bad_bytes, s.cmp.covered,
	       s.cmp.refused);
	printf("functions %zu, CFI rows %zu, table rows %zu, bytes %zu: %.2f a CFI row, %.2f a table row\n",
	       s.counts.functions, s.counts.cfi_rows, s.rows, s.bytes,
	       (double)s.bytes / s.counts.cfi_rows, (double)s.bytes / s.rows);
	printf("text %.1f MB, covered %.1f MB, %.1f KB a MB of text, %.2f ms a MB; slowest %.1f %s\n",
	       s.counts.text / 1e6, s.cmp.covered / 1e6, s.bytes / 1e3 / (s.counts.text / 1e6),
	       s.ns / 1e6 / (s.counts.text / 1e6), s.slowest, s.slowest_name);
	for (int i = 0; i < ER_CFA_COUNT; i++)
		printf("cfa %d: %.4f %%\n", i, 100.0 * s.cmp.by_cfa[i] / (s.cmp.covered + !s.cmp.covered));
	return s.differ != 0;
}
