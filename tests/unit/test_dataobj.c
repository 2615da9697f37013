/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the variable at an address of data, with this program's own symbols. */
#include "analysis/model/dataobj.h"
#include "analysis/model/knownlock.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <limits.h>
#include <sys/mman.h>

#include "analysis/symbols/archive.h"
#include "analysis/symbols/datasyms.h"
#include "analysis/symbols/symfile.h"
#include "analysis/symbols/symtab.h"
#include "analysis/views/table.h"
#include "tests/unit/session_fixture.h"

static char initialized[100] = "not zero";
static long zeroed[64];
static const char constant[] = "a constant";
static const char *const relocated[] = { constant, initialized };

static int own_fd(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* The distance by which this program was moved from its linked address. */
static uint64_t own_bias(void)
{
	Dl_info info;
	struct link_map *map;

	assert_true(dladdr1(initialized, &info, (void **)&map, RTLD_DL_LINKMAP));
	return map->l_addr;
}

/* A sanitizer may put unused bytes behind variables, and count them. */
static void assert_size(uint64_t got, uint64_t size)
{
#ifdef __SANITIZE_ADDRESS__
	assert_true(got >= size && got <= 2 * size);
#else
	assert_int_equal(got, size);
#endif
}

static void test_symbols(void **state)
{
	__cleanup(closep) int fd = own_fd();
	struct datasyms *d = datasyms_open(fd);
	const struct datasym *s;

	assert_non_null(d);
	s = datasyms_find(d, (uintptr_t)initialized + 99 - own_bias());
	assert_non_null(s);
	assert_string_equal(s->name, "initialized");
	assert_size(s->size, 100);
	s = datasyms_find(d, (uintptr_t)&zeroed[3] - own_bias());
	assert_string_equal(s->name, "zeroed");
	assert_null(datasyms_find(d, 0));
	assert_null(datasyms_find(d, UINT64_MAX));
	datasyms_free(d);
	datasyms_free(NULL);
}

static const struct datasym *find_in(const struct datasyms *d, const volatile void *p)
{
	return datasyms_find(d, (uintptr_t)p - own_bias());
}

/* A symbol file has no code and no constants, but has the variables that may be locks. */
static void test_symbol_file(void **state)
{
	const struct symtab_opts opts = { .path = "/proc/self/exe" };
	__cleanup(closep) int fd = own_fd();
	__cleanup(closep) int archived = memfd_create("archived", MFD_CLOEXEC);
	struct datasyms *d;
	struct diag diag = { 0 };

	assert_int_equal(symfile_write(fd, archived, &opts, &diag), 0);
	d = datasyms_open(archived);
	assert_non_null(d);
	assert_string_equal(find_in(d, &zeroed[3])->name, "zeroed");
	assert_size(find_in(d, &zeroed[3])->size, sizeof(zeroed));
	assert_string_equal(find_in(d, initialized)->name, "initialized");
	assert_null(find_in(d, constant));
	assert_null(find_in(d, relocated));
	datasyms_free(d);
	d = datasyms_open(fd);
	assert_string_equal(find_in(d, constant)->name, "constant");
	assert_string_equal(find_in(d, relocated)->name, "relocated");
	datasyms_free(d);
}

static void test_no_elf(void **state)
{
	__cleanup(closep) int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_null(datasyms_open(fd));
}

/* An experiment of this program, its code mapped at BASE; the file is in the archive. */
enum { BASE = 0x5000000 };

static void open_own(struct opened *o, const char *path)
{
	__cleanup(closep) int fd = own_fd(), dir = -1;
	char *exp;

	fixture_new(o);
	exp_builder_segment(o->builder, path, BASE, 0x1000, 0);
	exp_builder_profile(o->builder, 1, "0x5000010", MS_USER, 1);
	exp_builder_close(o->builder);
	exp = xasprintf("%s/t.1.er", o->dir);
	dir = open(exp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(exp);
	assert_int_equal(archive_add(dir, fd, path, ARCHIVE_COPY, &o->diag), 0);
	fixture_open_built(o);
}

static const struct dataobj *at(struct opened *o, uint64_t vaddr, uint64_t *offset)
{
	return session_data_object(o->session, o->session->experiments.data[0], vaddr, 0, offset);
}

static void test_objects(void **state)
{
	uint64_t data = (uintptr_t)initialized - own_bias(), offset;
	const struct dataobj *d;
	struct opened o;

	open_own(&o, "/nowhere/program");
	d = at(&o, BASE + data + 7, &offset);
	assert_string_equal(d->name, "initialized");
	assert_int_equal(offset, 7);
	assert_size(d->size, 100);
	assert_string_equal(d->obj->path, "/nowhere/program");
	assert_ptr_equal(at(&o, BASE + data, &offset), d);
	d = at(&o, BASE + (uintptr_t)&zeroed[2] - own_bias(), &offset);
	assert_string_equal(d->name, "zeroed");
	assert_int_equal(offset, 2 * sizeof(long));
	assert_null(at(&o, 12, &offset)->obj);
	assert_string_equal(at(&o, 12, &offset)->name, "<Unknown> (no address of data)");
	assert_string_equal(at(&o, 0x7fff00000000, &offset)->name, "<Unknown> (in no load object)");
	assert_string_equal(at(&o, BASE, &offset)->name, "<Unknown> (no variable of that address)");
	assert_string_equal(at(&o, 0x1000, &offset)->name, "<Unknown> (in no load object)");
	fixture_free(&o);
}

/*
 * A lock in a global variable has the variable's name. If the archive has no variables,
 * the file itself is read.
 */
static void test_lock_names(void **state)
{
	static const char *const wanted[] = { "`initialized+0x7: main", "`zeroed: main" };
	uint64_t locks[] = { (uintptr_t)initialized + 7 - own_bias() + BASE,
			     (uintptr_t)zeroed - own_bias() + BASE };
	char path[PATH_MAX] = "";
	__cleanup(closep) int fd = own_fd(), dir = -1;
	struct table t = { 0 };
	struct opened o;
	char *exp;

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	fixture_new(&o);
	exp_builder_segment(o.builder, path, BASE, 0x1000, 0);
	exp_builder_profile(o.builder, 1, "0x5000010", MS_USER, 1);
	for (size_t i = 0; i < 2; i++)
		exp_builder_wait(o.builder, 1, "main", MS_USER_LOCK, 1 + i, &(struct wait_info){
			.reason = REASON_USER_LOCK, .syscall = -1, .object = locks[i],
			.length_ns = 1000000 });
	exp_builder_close(o.builder);
	exp = xasprintf("%s/t.1.er", o.dir);
	dir = open(exp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(exp);
	assert_int_equal(archive_add(dir, fd, path, ARCHIVE_SYMBOLS, &o.diag), 0);
	fixture_open_built(&o);
	assert_int_equal(view_waits(&o.view, &t, &o.diag), 0);
	for (size_t i = 0; i < 2; i++) {
		bool found = false;

		vec_for_each(r, &t.rows)
			found |= strstr(r->cells[t.columns.len - 1].s, wanted[i]) != NULL;
		assert_true(found);
	}
	table_free(&t);
	assert_int_equal(view_locks(&o.view, true, &t, &o.diag), 0);
	assert_non_null(strstr(t.rows.data[1].cells[t.columns.len - 1].s,
			       ": lock test_dataobj`zeroed, taken in main"));
	table_free(&t);
	fixture_free(&o);
}

/* Only the words of the lock, in the release's own file. */
static void test_known_locks(void **state)
{
	struct loadobj python = { .path = "/usr/bin/python3.11" }, library = { .path = "/opt/libpython3.11.so.1.0" },
		       other = { .path = "/usr/bin/python3.12" };
	const struct dataobj none = { .name = "<Unknown> (in no load object)" };
	struct dataobj o = { .name = "_PyRuntime", .obj = &python };
	uint64_t begin = 0;

	assert_non_null(strstr(known_lock(&o, 0x1b0, &begin), "(GIL)"));
	assert_int_equal(begin, 0x168);
	assert_non_null(known_lock(&o, 0x168, &begin));
	assert_null(known_lock(&o, 0x167, &begin));
	assert_non_null(known_lock(&o, 0x168 + 207, &begin));
	assert_null(known_lock(&o, 0x168 + 208, &begin));
	o.obj = &library;
	assert_non_null(known_lock(&o, 0x1b0, &begin));
	o.obj = &other;
	assert_null(known_lock(&o, 0x1b0, &begin));
	o = (struct dataobj){ .name = "_Py_NoneStruct", .obj = &python };
	assert_null(known_lock(&o, 0x1b0, &begin));
	assert_null(known_lock(&none, 0x1b0, &begin));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_symbol_file),
		cmocka_unit_test(test_no_elf),
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_lock_names),
		cmocka_unit_test(test_known_locks),
	};

	zeroed[0] = initialized[0];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
