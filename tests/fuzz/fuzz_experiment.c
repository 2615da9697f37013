/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_experiment [-n count] [-s seed] [-1 number] [experiment.er]
 *
 * Damages an experiment (by default one with some of everything) `count` times
 * and has the whole engine read and report it each time. Mutation k of seed s
 * is always the same damage: -1 k does that one alone, in this process, and
 * leaves the damaged experiment behind. Children do the work in batches, so
 * that a crash names its number, and a hang or a hunger for memory is seen.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/experiment/experiment.h"
#include "analysis/views/view.h"
#include "tests/fixtures/exp_rich.h"
#include "tests/fixtures/mutate.h"
#include "tests/fixtures/tempdir.h"

enum { BATCH = 500, SECONDS_EACH = 20, MAX_RSS_KB = 1 << 20 };

struct seed_file {
	char *path; /* below the experiment */
	struct buf data;
};

struct fuzzer {
	char *dir;        /* the damaged copy, an experiment */
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

/* Copy `from`/`below`, one level of directories deep, and keep what is in it. */
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

/* Every packet, every field of it, and the stack it refers to. */
static void walk_packets(const struct experiment *e, volatile uint64_t *sink)
{
	vec_for_each(s, &e->streams) {
		struct packet_iter it;
		struct packet p;

		packet_iter_init(&it, e, s);
		while (packet_next(&it, &p)) {
			vec_for_each(fd, &s->fields) {
				struct field_ref ref = { fd->offset, fd->type };
				const char *text;

				*sink += packet_int(&p, ref);
				*sink += packet_text(&p, ref, &text);
				*sink += experiment_stack(e, packet_int(&p, ref));
			}
		}
	}
}

static void walk_stacks(const struct experiment *e, volatile uint64_t *sink)
{
	vec_for_each(s, &e->stacks) {
		for (uint32_t i = 0; i < s->npcs; i++)
			*sink += e->stack_pcs.data[s->first + i];
	}
	for (size_t i = 0; i < experiment_nusages(e); i++) {
		struct exp_usage u;

		experiment_usage(e, i, &u);
		*sink += u.user_ns;
	}
	vec_for_each(el, &e->recorder)
		*sink += element_int(el, "lost");
}

static int callers_callees(struct view_state *v, struct table *t, struct diag *d)
{
	return view_callers_callees(v, NULL, t, d);
}

static int header(struct view_state *v, struct table *t, struct diag *d)
{
	return view_header(v, NULL, t, d);
}

static int overview(struct view_state *v, struct table *t, struct diag *d)
{
	return view_overview(v, NULL, t, d);
}

static int statistics(struct view_state *v, struct table *t, struct diag *d)
{
	return view_statistics(v, NULL, t, d);
}

static int microstates(struct view_state *v, struct table *t, struct diag *d)
{
	return view_microstates(v, false, t, d);
}

static int locks(struct view_state *v, struct table *t, struct diag *d)
{
	return view_locks(v, false, t, d);
}

static int wakechain(struct view_state *v, struct table *t, struct diag *d)
{
	return view_wakechain(v, "2", t, d);
}

static int (*const views[])(struct view_state *v, struct table *t, struct diag *d) = {
	view_functions, callers_callees, view_calltree,	       header,		 overview,
	statistics,	view_objects,	 view_object_list, view_sample_list, view_experiment_list,
		view_thread_list, view_ioactivity, view_iodetail, view_describe,
	microstates,	locks,		 wakechain,	       view_waits,	 view_runqueue,
	view_wakers,
};

static void report(struct session *s, struct diag *d)
{
	struct metric_set ms;
	struct view_state v;

	metric_set_init(&ms, s);
	view_state_init(&v, s, &ms);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		struct table t = { 0 };

		views[i](&v, &t, d);
		table_free(&t);
	}
	vec_for_each(type, &v.types.all) {
		struct table t = { 0 };

		view_index(&v, type, &t, d);
		table_free(&t);
	}
	view_state_fini(&v);
	metric_set_free(&ms);
}

static void read_all(const struct fuzzer *f)
{
	struct diag d = { 0 };
	struct session *s = session_new(&d);
	volatile uint64_t sink = 0;

	if (!session_add(s, f->dir)) {
		vec_for_each(e, &s->experiments) {
			walk_packets(*e, &sink);
			walk_stacks(*e, &sink);
		}
		report(s, &d);
	}
	session_free(s);
	diag_free(&d);
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
	read_all(f);
	alarm(0);
	if (!keep)
		tempdir_write(f->dir, file->path, file->data.data, file->data.len);
}

/* Mutations [from, to) in a child. False: it did not come back well. */
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

int main(int argc, char **argv)
{
	struct fuzzer f = { .seed = 1 };
	char *base = tempdir_new();
	uint64_t count = 1000, only = 0;
	bool alone = false, good = true;
	int c;

	while ((c = getopt(argc, argv, "n:s:1:")) != -1) {
		if (c == '?')
			return 2;
		*(c == 'n' ? &count : c == 's' ? &f.seed : &only) = strtoull(optarg, NULL, 0);
		alone |= c == '1';
	}
	setup(&f, base, argv[optind]);
	read_all(&f);
	if (alone) {
		printf("%s\n", f.dir);
		fflush(stdout);
		one_mutation(&f, only, true);
		fini(&f);
		free(base);
		return 0;
	}
	for (uint64_t n = 0; n < count && good; n += BATCH)
		good = batch(&f, n, n + BATCH < count ? n + BATCH : count);
	tempdir_remove(base);
	fini(&f);
	return !good;
}
