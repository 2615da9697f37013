/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of files: which are asked for, built first, and dropped when memory is full. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "loaders/unwind.h"
#include "tests/fixtures/cfi_image.h"
#include "user/space/space.h"
#include "user/unwind/store.h"
#include "user/unwind/tablesource.h"
#include "user/unwind/unwinder.h"
#include "user/unwind/words.h"
#include "user/unwind/worker.h"

enum { FILES = 4, FUNCTIONS = 40, WAIT_MS = 20000, MS = 1000000 };

#define SEC 1000000000ULL

struct fixture {
	struct unwind_maps maps;
	struct unwind_worker *worker;
	struct table_source *source;
	char dir[32];
	char paths[FILES + 1][64];
	struct mapping files[FILES + 1]; /* by number */
};

/* An ELF file with a table. Each is smaller than the one before. */
static void make_file(struct fixture *f, int number)
{
	struct cfi_image_fn fns[FUNCTIONS];
	struct buf b = { 0 };
	struct stat st;
	int fd;

	for (int i = 0; i < FUNCTIONS; i++)
		fns[i] = (struct cfi_image_fn){ i * 0x20, i * 0x20 + 0x20, "\x41\x0e\x10", 3,
						false };
	cfi_image(&b, fns, FUNCTIONS, 0xcc);
	buf_zero(&b, (FILES - number) * 4096);
	snprintf(f->paths[number], sizeof(f->paths[number]), "%s/%d", f->dir, number);
	fd = open(f->paths[number], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0 && write(fd, b.data, b.len) == (ssize_t)b.len && !fstat(fd, &st));
	close(fd);
	buf_free(&b);
	f->files[number] = (struct mapping){
		.path = f->paths[number], .file = number, .ino = st.st_ino, .start = 0x10000,
		.len = 0x10000, .dev = (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev),
	};
}

static int begin(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct diag d = { 0 };

	*state = f;
	f->maps = (struct unwind_maps){ .spaces_fd = -1, .inodes_fd = -1, .chunks_fd = -1 };
	f->maps.files = xcalloc(ER_MAX_FILES, sizeof(*f->maps.files));
	f->maps.ranges = xcalloc(ER_MAX_RANGES, sizeof(*f->maps.ranges));
	f->maps.chunks[0] = xcalloc(ER_CHUNK_WORDS, sizeof(uint32_t));
	strcpy(f->dir, "/tmp/test_store.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	for (int i = 1; i <= FILES; i++)
		make_file(f, i);
	f->worker = unwind_worker_start(&d);
	f->source = table_source_new(f->worker, NULL, NULL);
	diag_free(&d);
	return f->worker ? 0 : -1;
}

static int end(void **state)
{
	struct fixture *f = *state;

	table_source_free(f->source);
	unwind_worker_stop(f->worker);
	for (int i = 1; i <= FILES; i++)
		unlink(f->paths[i]);
	rmdir(f->dir);
	free(f->maps.files);
	free(f->maps.ranges);
	free(f->maps.chunks[0]);
	free(f);
	return 0;
}

static enum er_file_state state_of(const struct fixture *f, int file)
{
	return f->maps.files[file].state;
}

/* Wait until the worker has nothing to do, and take its results at that time. */
static void await(struct fixture *f, struct store *s, uint64_t now_ns)
{
	while (unwind_worker_waiting(f->worker)) {
		struct pollfd p = { .fd = unwind_worker_fd(f->worker), .events = POLLIN };

		assert_true(poll(&p, 1, WAIT_MS) == 1);
		store_poll(s, now_ns);
	}
}

static uint32_t words_of_one(struct fixture *f)
{
	struct store *s = store_new(&f->maps, f->source, ER_CHUNK_WORDS);
	struct store_counts c;

	store_want(s, getpid(), &f->files[1], 0);
	await(f, s, SEC);
	store_counts(s, &c);
	store_free(s);
	memset(f->maps.files, 0, sizeof(*f->maps.files) * (FILES + 1));
	assert_true(c.built == 1 && c.bytes > 100);
	return c.bytes / 4;
}

/* One table makes room for one, and no other is dropped while the room may still be read. */
static void drops_only_what_it_must(void **state)
{
	struct fixture *f = *state;
	struct store *s = store_new(&f->maps, f->source, 3 * (words_of_one(f) + ER_RULE_WORDS));
	struct store_counts c;

	for (int i = 1; i <= 3; i++) {
		store_want(s, getpid(), &f->files[i], 0);
		await(f, s, 10 * SEC);
		f->maps.files[i].used = 100 + (i == 2 ? -50 : i);
	}
	store_want(s, getpid(), &f->files[4], 0);
	await(f, s, 100 * SEC);
	assert_int_equal(state_of(f, 1), ER_FILE_READY);
	assert_int_equal(state_of(f, 2), ER_FILE_EVICTED);
	assert_int_equal(state_of(f, 3), ER_FILE_READY);
	assert_int_equal(state_of(f, 4), ER_FILE_PENDING);
	assert_true(store_waits(s));
	store_poll(s, 100 * SEC + WORDS_GRACE_NS);
	assert_int_equal(state_of(f, 4), ER_FILE_READY);
	assert_false(store_waits(s));
	store_counts(s, &c);
	assert_int_equal(c.evicted, 1);
	assert_int_equal(c.refused, 0);
	/* What was dropped comes back when it is needed. */
	f->maps.files[4].used = f->maps.files[3].used = 200;
	store_want(s, getpid(), &f->files[2], 0);
	await(f, s, 200 * SEC);
	store_poll(s, 201 * SEC);
	assert_int_equal(state_of(f, 2), ER_FILE_READY);
	assert_int_equal(state_of(f, 1), ER_FILE_EVICTED);
	store_free(s);
}

/* A file that no process maps gives its room and its descriptor back; its number starts anew. */
static void forgets_unmapped_files(void **state)
{
	struct fixture *f = *state;
	struct store *s = store_new(&f->maps, f->source, ER_CHUNK_WORDS);
	struct store_counts c;
	uint32_t generation;
	uint64_t word;

	store_want(s, getpid(), &f->files[1], 0);
	assert_int_equal(state_of(f, 1), ER_FILE_PENDING);
	generation = f->maps.files[0].generation;
	assert_false(store_forget(s, 1));
	await(f, s, SEC);
	assert_true(store_code(s, 1, 0, &word));
	assert_int_equal(f->maps.files[0].generation, generation);
	assert_true(store_forget(s, 1));
	assert_int_equal(f->maps.files[0].generation, generation + 1);
	assert_int_equal(state_of(f, 1), ER_FILE_UNKNOWN);
	assert_false(store_code(s, 1, 0, &word));
	assert_true(store_forget(s, 4)); /* never asked for */
	store_counts(s, &c);
	assert_int_equal(c.bytes, 0);
	assert_int_equal(c.evicted, 0);
	/* Another file has this number. */
	f->files[2].file = 1;
	store_want(s, getpid(), &f->files[2], 0);
	await(f, s, 2 * SEC);
	f->files[2].file = 2;
	assert_int_equal(state_of(f, 1), ER_FILE_READY);
	store_restart_counts(s);
	store_counts(s, &c);
	assert_true(c.bytes > 0);
	assert_int_equal(c.built, 0);
	store_free(s);
}

static void refuses_what_never_fits(void **state)
{
	struct fixture *f = *state;
	struct store *s = store_new(&f->maps, f->source, words_of_one(f) / 2);
	struct store_counts c;

	store_want(s, getpid(), &f->files[1], 0);
	await(f, s, SEC);
	store_counts(s, &c);
	assert_int_equal(c.refused, 1);
	assert_int_equal(state_of(f, 1), ER_FILE_EVICTED);
	assert_false(store_waits(s));
	store_free(s);
}

static void counts_what_is_slow(void **state)
{
	struct fixture *f = *state;
	struct store *s = store_new(&f->maps, f->source, ER_CHUNK_WORDS);
	struct store_counts c;

	store_want(s, getpid(), &f->files[1], 10 * SEC);
	await(f, s, 10 * SEC + 20 * MS);
	store_want(s, getpid(), &f->files[2], 0);
	store_want(s, getpid(), &f->files[2], 20 * SEC); /* while it is being built */
	await(f, s, 20 * SEC + 70 * MS);
	store_want(s, getpid(), &f->files[3], 0);
	await(f, s, 30 * SEC);
	store_counts(s, &c);
	store_want(s, getpid(), &f->files[4], 30 * SEC);
	await(f, s, 30 * SEC + 5 * MS);
	store_counts(s, &c);
	assert_int_equal(c.first.n, 1);
	assert_int_equal(c.first.slow, 0);
	assert_int_equal(c.first.sum_ns, 20 * MS);
	assert_int_equal(c.first.longest_ns, 20 * MS);
	assert_int_equal(c.later.n, 2);
	assert_int_equal(c.later.slow, 1);
	assert_int_equal(c.later.sum_ns, 75 * MS);
	assert_int_equal(c.later.longest_ns, 70 * MS);
	store_free(s);
}

/* A process that has ended cannot open its file; the next one that runs it may. */
static void tries_again_later(void **state)
{
	struct fixture *f = *state;
	struct store *s = store_new(&f->maps, f->source, ER_CHUNK_WORDS);
	struct mapping gone = f->files[1];

	gone.path = "/nowhere";
	store_poll(s, SEC);
	for (int i = 0; i < 10; i++)
		store_want(s, getpid(), &gone, SEC);
	assert_int_equal(state_of(f, 1), ER_FILE_UNKNOWN);
	store_poll(s, 2 * SEC);
	store_want(s, getpid(), &f->files[1], SEC);
	await(f, s, 2 * SEC);
	assert_int_equal(state_of(f, 1), ER_FILE_READY);
	gone.file = 2;
	for (int i = 0; i < 3; i++) {
		store_poll(s, (3 + i) * SEC);
		store_want(s, getpid(), &gone, SEC);
	}
	assert_int_equal(state_of(f, 2), ER_FILE_NO_CFI);
	store_free(s);
}

/* An image that maps files 1, 2 and 3, and a copy of a stack with two words. */
struct copied {
	size_t total;
	struct image im;
	struct {
		struct er_raw raw;
		uint64_t stack[2];
	} copy;
};

enum { APART = 0x80000 };

static void copied_init(struct copied *c, const struct fixture *f, uint64_t pc, uint64_t word)
{
	*c = (struct copied){ .im = { .pid = getpid() } };
	c->im.space = space_new(&c->total);
	for (int i = 0; i < 3; i++) {
		vec_push(&c->im.space->maps, f->files[1 + i]);
		c->im.space->maps.data[i].start = 0x10000 + i * APART;
	}
	c->copy.raw = (struct er_raw){ .regs = { [ER_DWARF_RIP] = pc }, .nbytes = sizeof(c->copy.stack) };
	c->copy.stack[0] = 7;
	c->copy.stack[1] = word;
}

/*
 * A walk asks for the tables of the files that its copied stack refers to, and for no others. A stack
 * that can wait no longer does so, too: others will need them.
 */
static void asks_for_callers(void **state)
{
	struct fixture *f = *state;
	struct unwinder *u = unwinder_new(&f->maps, f->source);
	struct copied c;
	struct walk w;

	copied_init(&c, f, 0x10000 + CFI_IMAGE_TEXT, 0x10000 + APART + CFI_IMAGE_TEXT);
	assert_true(unwinder_walk(u, &c.im, &c.copy.raw, SEC, true, &w));
	assert_int_equal(w.end, ER_END_NO_TABLE);
	assert_int_equal(state_of(f, 1), ER_FILE_PENDING);
	assert_int_equal(state_of(f, 2), ER_FILE_PENDING);
	assert_int_equal(state_of(f, 3), ER_FILE_UNKNOWN);
	while (unwind_worker_waiting(f->worker) && unwinder_wait(u, WAIT_MS, false))
		unwinder_relieve(u, SEC);
	assert_int_equal(state_of(f, 1), ER_FILE_READY);
	assert_int_equal(state_of(f, 2), ER_FILE_READY);
	unwinder_free(u);
	space_put(c.im.space);
}

/* Stacks of a process with generated code may refer to its files where no copy shows it. */
static void asks_for_all_beside_generated_code(void **state)
{
	struct fixture *f = *state;
	struct unwinder *u = unwinder_new(&f->maps, f->source);
	struct copied c;
	struct walk w;

	copied_init(&c, f, 0x10000 + CFI_IMAGE_TEXT, 7);
	vec_push(&c.im.space->generated,
		 (struct generated){ .start = 0x10000 + 4 * APART, .end = 0x10000 + 5 * APART });
	assert_false(unwinder_walk(u, &c.im, &c.copy.raw, SEC, false, &w));
	for (int i = 1; i <= 3; i++)
		assert_int_equal(state_of(f, i), ER_FILE_PENDING);
	unwinder_free(u);
	space_put(c.im.space);
}

/*
 * The leaf is in code that cannot be walked from a copy, as compiled Java is. So the copy does not show which
 * files the walk in the kernel came to: all get tables. A sleeping thread's stack was not walked there.
 */
static void asks_for_all_beyond_a_copy(void **state)
{
	struct fixture *f = *state;
	struct unwinder *u = unwinder_new(&f->maps, f->source);
	struct copied c;
	struct walk w;

	copied_init(&c, f, 0x10000 + 4 * APART, 7);
	assert_true(unwinder_walk(u, &c.im, &c.copy.raw, SEC, false, &w));
	assert_null(w.lacking);
	for (int i = 1; i <= 3; i++)
		assert_int_equal(state_of(f, i), ER_FILE_UNKNOWN);
	c.copy.raw.code_at = 0x10000 + 4 * APART - ER_RAW_CODE_BACK;
	assert_true(unwinder_walk(u, &c.im, &c.copy.raw, SEC, false, &w));
	for (int i = 1; i <= 3; i++)
		assert_int_equal(state_of(f, i), ER_FILE_PENDING);
	unwinder_free(u);
	space_put(c.im.space);
}

/* A new stack asks for its tables before it is walked to its end, and only for those. */
static void asks_before_the_walk(void **state)
{
	struct fixture *f = *state;
	struct unwinder *u = unwinder_new(&f->maps, f->source);
	struct copied c;
	struct walk w;

	copied_init(&c, f, 0x10000 + CFI_IMAGE_TEXT, 0x10000 + APART + CFI_IMAGE_TEXT);
	unwinder_ask(u, &c.im, &c.copy.raw, SEC, &w);
	assert_int_equal(state_of(f, 1), ER_FILE_PENDING);
	assert_int_equal(state_of(f, 2), ER_FILE_PENDING);
	assert_int_equal(state_of(f, 3), ER_FILE_UNKNOWN);
	unwinder_free(u);
	space_put(c.im.space);
}

/*
 * Those that stacks need come first: some are sent at once, the others smaller ones before larger
 * ones.
 */
static void hurried_go_first(void **state)
{
	/*
	 * Keys by file. The first two are sent at once, and 21 to 26 as soon as they are hurried. Files
	 * 1 to 4 become smaller.
	 */
	static const struct { uint64_t key; int file; } jobs[] = {
		{ 1, 1 }, { 2, 2 }, { 11, 3 }, { 12, 4 }, { 3, 1 }, { 4, 2 },
		{ 21, 3 }, { 22, 3 }, { 23, 3 }, { 24, 3 }, { 25, 3 }, { 26, 3 },
	};
	static const uint64_t order[] = { 1, 2, 21, 22, 23, 24, 25, 26, 4, 3, 11, 12 };
	enum { JOBS = sizeof(jobs) / sizeof(jobs[0]) };
	struct fixture *f = *state;
	struct unwind_worker *w = f->worker;
	struct unwind_result r;

	for (int i = 0; i < JOBS; i++) {
		int fd = open(f->paths[jobs[i].file], O_RDONLY | O_CLOEXEC);

		assert_int_equal(unwind_worker_submit(w, jobs[i].key, fd, -1), 0);
		close(fd);
	}
	for (int key = 21; key <= 26; key++)
		unwind_worker_hurry(w, key);
	unwind_worker_hurry(w, 3);
	unwind_worker_hurry(w, 4);
	unwind_worker_hurry(w, 1);
	unwind_worker_hurry(w, 77);
	for (int i = 0; i < JOBS; i++) {
		struct pollfd p = { .fd = unwind_worker_fd(w), .events = POLLIN };

		while (!unwind_worker_next(w, &r))
			assert_true(poll(&p, 1, WAIT_MS) == 1);
		assert_int_equal(r.err, 0);
		assert_int_equal(r.key, order[i]);
	}
}

struct order {
	unsigned tables, before_names;
};

static void names_came(void *ctx, const struct unwind_names *names)
{
	struct order *o = ctx;

	assert_int_equal(names->err, -EBADMSG);
	o->before_names = o->tables;
}

/* Questions about a Java VM go before tables that nothing waits for. */
static void questions_go_first(void **state)
{
	struct fixture *f = *state;
	struct unwind_worker *w = f->worker;
	int fd = open(f->paths[1], O_RDONLY | O_CLOEXEC), empty = memfd_create("question", MFD_CLOEXEC);
	struct order o = { 0 };
	struct unwind_result r;

	unwind_worker_on_names(w, names_came, &o);
	for (int key = 1; key <= 4; key++)
		assert_int_equal(unwind_worker_submit(w, key, fd, -1), 0);
	assert_int_equal(unwind_worker_submit_names(w, 5, empty, JIT_HOTSPOT, 0), 0);
	close(fd);
	close(empty);
	while (unwind_worker_waiting(w)) {
		struct pollfd p = { .fd = unwind_worker_fd(w), .events = POLLIN };

		assert_true(poll(&p, 1, WAIT_MS) == 1);
		while (unwind_worker_next(w, &r))
			o.tables++;
	}
	assert_int_equal(o.tables, 4);
	assert_int_equal(o.before_names, 2);
	unwind_worker_on_names(w, NULL, NULL);
}

static void room_to_come(void **state)
{
	struct words w;
	uint32_t at[4], c;

	words_init(&w, 100);
	for (int i = 0; i < 4; i++)
		assert_true(words_take(&w, 24, 4, SEC, &at[i]));
	assert_true(words_will_fit(&w, 4, 4));
	assert_false(words_will_fit(&w, 5, 4));
	words_give(&w, at[1], 24, SEC);
	words_give(&w, at[2], 24, SEC + 5);
	assert_true(words_will_fit(&w, 48, 4));
	assert_false(words_will_fit(&w, 49, 4));
	assert_false(words_take(&w, 48, 4, SEC + 9, &c));
	words_fini(&w);
}

/* Without BPF nothing is refused, and no descriptor is touched. */
static void without_bpf(void **state)
{
	const struct er_space_key key = { 0 };
	const struct er_hotspot vm = { 0 };
	struct unwind_maps *m;

	assert_int_equal(unwind_maps_open_bare(&m), 0);
	assert_int_equal(unwind_maps_hotspot(m, &key, &vm), 0);
	assert_int_equal(unwind_maps_space(m, &key, NULL), 0);
	assert_non_null(unwind_maps_chunk(m, 0));
	unwind_maps_close(m);
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILES(drops_only_what_it_must), WITH_FILES(refuses_what_never_fits),
		WITH_FILES(counts_what_is_slow),     WITH_FILES(tries_again_later),
		WITH_FILES(asks_for_callers),        WITH_FILES(asks_for_all_beside_generated_code),
		WITH_FILES(asks_for_all_beyond_a_copy),
		WITH_FILES(asks_before_the_walk),    WITH_FILES(questions_go_first),
		WITH_FILES(hurried_go_first),
		WITH_FILES(forgets_unmapped_files),
		cmocka_unit_test(room_to_come),      cmocka_unit_test(without_bpf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
