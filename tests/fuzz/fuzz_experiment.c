/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_experiment [-n count] [-s seed] [-1 number] [experiment.er]
 *
 * Damages an experiment (by default one with some of everything) `count` times. Each time the
 * whole engine reads and reports it (report.c). Mutation k of seed s is always the same damage:
 * -1 k does only that one, in this process, and keeps the damaged experiment. Children process
 * batches on all CPUs, so that crashes, hangs and excessive memory are detected, and a crash or
 * hang names its mutation.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/vec.h"
#include "tests/fixtures/exp_rich.h"
#include "tests/fixtures/mutate.h"
#include "tests/fixtures/tempdir.h"
#include "tests/fuzz/report.h"

enum { BATCH = 500, SECONDS_EACH = 20, MAX_RSS_KB = 1 << 20 };

struct seed_file {
	char *path; /* below the experiment */
	struct buf data;
};

struct fuzzer {
	char *dir;        /* the damaged copy of the experiment */
	VEC(struct seed_file) files;
	uint64_t seed;
	volatile uint64_t *current; /* shared with the children */
};

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void load_file(struct fuzzer *f, const char *from, const char *path)
{
	struct seed_file file = { .path = xstrdup(path) };
	size_t size;
	char *data = tempdir_read(from, path, &size);

	buf_add(&file.data, data, size);
	free(data);
	tempdir_write(f->dir, path, file.data.data, size);
	vec_push(&f->files, file);
}

/* Copy `from`/`below`, one level of directories deep, and keep its files in memory. */
static void load_dir(struct fuzzer *f, const char *from, const char *below)
{
	__cleanup(freep) char *source = xasprintf("%s/%s", from, below);
	__cleanup(freep) char *target = xasprintf("%s/%s", f->dir, below);
	struct dirent **names;
	int n = scandir(source, &names, NULL, alphasort);

	if (n < 0 || (mkdir(target, 0700) < 0 && errno != EEXIST))
		die(source);
	for (int i = 0; i < n; i++) {
		__cleanup(freep) char *path = xasprintf("%s%s", below, names[i]->d_name);

		if (names[i]->d_type == DT_REG)
			load_file(f, from, path);
		else if (names[i]->d_type == DT_DIR && names[i]->d_name[0] == '_' && !below[0]) {
			__cleanup(freep) char *sub = xasprintf("%s/", path);

			load_dir(f, from, sub);
		}
		free(names[i]);
	}
	free(names);
}

static void one_mutation(const struct fuzzer *f, uint64_t number, bool keep)
{
	struct random r = { .state = f->seed * 1000003 + number };
	const struct seed_file *file = &f->files.data[random_below(&r, f->files.len)];
	const struct seed_file *other = &f->files.data[random_below(&r, f->files.len)];
	struct buf b = { 0 };

	buf_add(&b, file->data.data, file->data.len);
	for (size_t n = 1 + random_below(&r, 3); n; n--)
		mutate(&r, &b, &other->data);
	tempdir_write(f->dir, file->path, b.data, b.len);
	buf_free(&b);
	alarm(SECONDS_EACH);
	report_experiment(f->dir);
	alarm(0);
	if (!keep)
		tempdir_write(f->dir, file->path, file->data.data, file->data.len);
}

/* Run mutations [from, to) in a child. False: one failed. */
static bool batch(const struct fuzzer *f, uint64_t from, uint64_t to)
{
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		for (*f->current = from; *f->current < to; ++*f->current)
			one_mutation(f, *f->current, false);
		exit(0);
	}
	if (wait4(pid, &status, 0, &usage) < 0)
		die("wait4");
	if (status) {
		printf("mutation %llu of seed %llu: %s (status %#x)\n",
		       (unsigned long long)*f->current, (unsigned long long)f->seed,
		       WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "hangs" : "crashes",
		       status);
		return false;
	}
	if (usage.ru_maxrss > MAX_RSS_KB) {
		printf("one of mutations %llu to %llu of seed %llu takes %ld KB\n",
		       (unsigned long long)from, (unsigned long long)to - 1,
		       (unsigned long long)f->seed, usage.ru_maxrss);
		return false;
	}
	return true;
}

static void setup(struct fuzzer *f, const char *base, const char *experiment)
{
	__cleanup(freep) char *source = xasprintf("%s/%s", base, experiment ? "" : "seed.er");

	f->dir = xasprintf("%s/fuzz.er", base);
	if (!experiment)
		exp_rich_write(base, "seed.er");
	load_dir(f, experiment ? experiment : source, "");
	f->current = mmap(NULL, sizeof(*f->current), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (f->current == MAP_FAILED)
		die("mmap");
}

static void fini(struct fuzzer *f)
{
	vec_for_each(file, &f->files) {
		free(file->path);
		buf_free(&file->data);
	}
	vec_free(&f->files);
	free(f->dir);
}

/* Run one mutation in this process and keep the damaged experiment. */
static void alone(struct fuzzer *f, const char *experiment, uint64_t number)
{
	char *base = tempdir_new();

	setup(f, base, experiment);
	printf("%s\n", f->dir);
	fflush(stdout);
	report_quietly();
	one_mutation(f, number, true);
	fini(f);
	free(base);
}

/* Run mutations [from, to) in a new directory. False: one failed. */
static bool share(struct fuzzer *f, const char *experiment, uint64_t from, uint64_t to)
{
	char *base = tempdir_new();
	bool good = true;

	setup(f, base, experiment);
	report_quietly();
	report_experiment(f->dir);
	for (uint64_t n = from; n < to && good; n += BATCH)
		good = batch(f, n, n + BATCH < to ? n + BATCH : to);
	tempdir_remove(base);
	fini(f);
	return good;
}

/* Run all mutations, divided among the CPUs. */
static bool all(struct fuzzer *f, const char *experiment, uint64_t count)
{
	long ncpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t n = ncpus > 0 ? ncpus : 1;
	bool good = true;
	int status;

	for (uint64_t i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			exit(!share(f, experiment, count * i / n, count * (i + 1) / n));
	}
	while (wait(&status) > 0)
		good = good && !status;
	return good;
}

int main(int argc, char **argv)
{
	struct fuzzer f = { .seed = 1 };
	uint64_t count = 1000, only = 0;
	bool is_alone = false;
	int c;

	while ((c = getopt(argc, argv, "n:s:1:")) != -1) {
		if (c == '?')
			return 2;
		*(c == 'n' ? &count : c == 's' ? &f.seed : &only) = strtoull(optarg, NULL, 0);
		is_alone |= c == '1';
	}
	if (!is_alone)
		return !all(&f, argv[optind], count);
	alone(&f, argv[optind], only);
	return 0;
}
