/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_symbols ELF [ELF-WITH-DWARF]: the time to build and search the symbol table of a file,
 * and the same with plain libdw. Prints lines "name value unit".
 */
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <elfutils/libdwfl.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/map.h"
#include "analysis/experiment/experiment.h"
#include "analysis/experiment/expwriter.h"
#include "analysis/symbols/elfsyms.h"
#include "analysis/symbols/kallsyms.h"
#include "analysis/symbols/lineinfo.h"
#include "analysis/symbols/symtab.h"
#include "analysis/base/tree.h"

enum { ADDRESSES = 20000, DWFL_ADDRESSES = 200, ROUNDS = 20, KSYMS = 120000, KSYMS_ROUNDS = 5 };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* The same addresses in every run: pseudo-random, between the first and the last function. */
static uint64_t address(const struct sym *syms, size_t n, uint64_t i)
{
	uint64_t first = syms[0].addr, end = syms[n - 1].addr + syms[n - 1].size;

	return first + hash64(i + 1) % (end - first);
}

static void bench_table(const char *path, int fd, uint64_t *addrs)
{
	const struct symtab_opts o = { .path = path };
	struct diag d = { .prefix = "bench_symbols" };
	double t = now_ns();
	struct symtab *table = symtab_open(fd, &o, &d);
	const struct sym *syms;
	size_t n, hits = 0;

	if (!table)
		exit(1);
	printf("symtab_build %.1f ms\n", (now_ns() - t) / 1e6);
	syms = symtab_syms(table, &n);
	printf("symtab_functions %zu functions\n", n);
	if (!n)
		exit(1);
	for (size_t i = 0; i < ADDRESSES; i++)
		addrs[i] = address(syms, n, i);
	t = now_ns();
	for (int r = 0; r < ROUNDS; r++)
		for (size_t i = 0; i < ADDRESSES; i++)
			hits += symtab_find(table, addrs[i]) != NULL;
	printf("symtab_find %.1f ns/address\n", (now_ns() - t) / ROUNDS / ADDRESSES);
	printf("symtab_hits %.1f %%\n", 100.0 * hits / ROUNDS / ADDRESSES);
	symtab_free(table);
}

static void bench_dwfl(const char *path, const uint64_t *addrs)
{
	static char *no_path;
	const Dwfl_Callbacks cb = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &no_path,
	};
	double t = now_ns();
	Dwfl *dwfl = dwfl_begin(&cb);
	Dwfl_Module *m = dwfl ? dwfl_report_elf(dwfl, path, path, -1, 0, false) : NULL;
	size_t hits = 0;
	GElf_Sym s;
	GElf_Off offset;

	if (!m) {
		dwfl_end(dwfl);
		return;
	}
	dwfl_report_end(dwfl, NULL, NULL);
	dwfl_module_addrinfo(m, addrs[0], &offset, &s, NULL, NULL, NULL);
	printf("dwfl_build %.1f ms\n", (now_ns() - t) / 1e6);
	t = now_ns();
	for (size_t i = 0; i < DWFL_ADDRESSES; i++)
		hits += dwfl_module_addrinfo(m, addrs[i], &offset, &s, NULL, NULL, NULL) != NULL;
	printf("dwfl_find %.1f ns/address\n", (now_ns() - t) / DWFL_ADDRESSES);
	printf("dwfl_hits %.1f %%\n", 100.0 * hits / DWFL_ADDRESSES);
	dwfl_end(dwfl);
}

/* The time the kernel takes to produce its list, which is discarded. */
static double kernel_list_ns(void)
{
	static char text[1 << 20];
	double t = now_ns();
	__cleanup(closep) int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

	while (read(fd, text, sizeof(text)) > 0)
		;
	return now_ns() - t;
}

/*
 * Measured in turn with the kernel's own part. Other load only adds time, so the minimum of each
 * counts.
 */
static void bench_kallsyms(void)
{
	double kernel = INFINITY, all = INFINITY;

	for (int i = 0; i < KSYMS_ROUNDS; i++) {
		double t, own = kernel_list_ns();
		struct kallsyms *k;

		kernel = own < kernel ? own : kernel;
		t = now_ns();
		k = kallsyms_load(NULL, NULL);
		t = now_ns() - t;
		if (!k)
			return;
		all = t < all ? t : all;
		kallsyms_free(k);
	}
	printf("kallsyms_load %.1f ms\n", all / 1e6);
	printf("kallsyms_kernel %.1f ms\n", kernel / 1e6);
}

/* Write an experiment with n kernel symbols, whose names are about as long as a kernel's. */
static bool write_ksyms(int dirfd, const char *name, size_t n)
{
	struct diag d = { .prefix = "bench_symbols" };
	struct exp_header h = { .collector = "bench_symbols", .hostname = "bench", .arch = "x86_64",
				.os = "Linux", .pagesize = 4096, .npages = 1, .pid = 1, .cwd = "/",
				.command = "bench", .wordsize = 64 };
	struct expwriter *w;

	if (expwriter_create(dirfd, name, &h, &d, &w) < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		char symbol[64];

		snprintf(symbol, sizeof(symbol), "a_function_of_it_%zu", i);
		expwriter_ksym(w, 0xffffffff81000000 + i * 128, 128, symbol,
			       i > n / 2 ? "a_module" : NULL);
	}
	return expwriter_close(w) == 0;
}

/*
 * The time to open such an experiment, which is mostly reading the symbols. Uses the current
 * directory.
 */
static void bench_experiment_ksyms(void)
{
	static const char name[] = "ksyms.1.er";
	struct diag d = { .prefix = "bench_symbols" };
	__cleanup(closep) int dirfd = open(".", O_RDONLY | O_CLOEXEC);
	double least = INFINITY;

	if (dirfd < 0 || !write_ksyms(dirfd, name, KSYMS))
		return;
	for (int i = 0; i < KSYMS_ROUNDS; i++) {
		double t = now_ns();
		struct experiment *e = experiment_open(name, &d);

		t = now_ns() - t;
		least = e && e->ksyms.len == KSYMS && t < least ? t : least;
		experiment_close(e);
	}
	printf("ksyms_open %.1f ms\n", least / 1e6);
	tree_remove(dirfd, name, name, &d);
}

/* The uncompressed size of .debug_info; 0: none. */
static size_t debug_info_size(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Elf_Scn *s = elf ? elf_section(elf, ".debug_info") : NULL;
	size_t size = 0;
	GElf_Shdr sh;
	GElf_Chdr ch;

	if (s && gelf_getshdr(s, &sh))
		size = gelf_getchdr(s, &ch) ? ch.ch_size : sh.sh_size;
	elf_end(elf);
	return size;
}

/* Look up lines and inlined calls every 64 bytes in all functions of a file with DWARF. */
static void bench_lines(const char *path)
{
	__cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct symtab_opts opts = { .path = path };
	struct symtab *symbols = symtab_open(fd, &opts, NULL);
	double t = now_ns(), built, asked;
	struct lineinfo *l = lineinfo_open(fd, &opts, NULL);
	size_t n = 0, queries = 0, calls = 0, size = debug_info_size(fd);
	const struct sym *syms = symbols ? symtab_syms(symbols, &n) : NULL;
	struct inlined inlined[16];
	struct line_at at;

	if (l) {
		lineinfo_read_all(l);
		built = now_ns() - t;
		t = now_ns();
		for (size_t i = 0; i < n; i++) {
			for (uint64_t a = syms[i].addr; a < syms[i].addr + syms[i].size; a += 64) {
				queries++;
				calls += lineinfo_find(l, a, &at) + lineinfo_inlined(l, a, inlined, 16);
			}
		}
		asked = now_ns() - t;
		printf("lines_size %.1f MB\n", size / 1e6);
		printf("lines_build %.1f MB/s\n", size / (built / 1e3));
		printf("lines_find %.1f ns/address\n", asked / (queries ? queries : 1));
		printf("lines_answers %zu\n", calls);
	}
	lineinfo_free(l);
	symtab_free(symbols);
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "/proc/self/exe";
	__cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t *addrs = xcalloc(ADDRESSES, sizeof(*addrs));
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		fprintf(stderr, "bench_symbols: %s: cannot open: %m\n", path);
		return 1;
	}
	printf("file_size %.1f MB\n", st.st_size / 1e6);
	bench_table(path, fd, addrs);
	bench_dwfl(path, addrs);
	bench_kallsyms();
	bench_experiment_ksyms();
	if (argc > 2)
		bench_lines(argv[2]);
	free(addrs);
	return 0;
}
