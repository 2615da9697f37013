/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's types: an invented kernel with known types, damaged types, and the running kernel's.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <bpf/btf.h>

#include "loaders/ktypes.h"

/* A kernel's types as a file. */
struct image {
	struct btf *btf;
	int fd;
	char path[32];
	int task, other; /* two structs with the same name */
	int trace, iterator;
};

/* Enough types that finding the next ones takes more than one step. */
static void fill(struct btf *b, int integer, int n)
{
	for (int i = 0; i < n; i++) {
		int proto = btf__add_func_proto(b, 0);
		char name[32];

		btf__add_func_param(b, "task", integer);
		snprintf(name, sizeof(name), "task_filler_%d", i);
		btf__add_func(b, name, BTF_FUNC_STATIC, proto);
		btf__add_struct(b, name, 8);
		btf__add_field(b, "flags", integer, 0, 0);
		btf__add_enum(b, name, 4);
		btf__add_enum_value(b, name, i);
		btf__add_enum64(b, name, 8, false);
		btf__add_enum64_value(b, name, i);
		btf__add_var(b, name, BTF_VAR_STATIC, integer);
		btf__add_datasec(b, name, 4);
		btf__add_float(b, name, 4);
	}
}

/*
 * struct task {
 *	int pad;
 *	union { struct { const count_t flags; }; int unseen; };
 *	struct inner { int unseen, sum; } in;
 *	int low : 3, high : 5;
 *	struct task *parent;
 *	char comm[16];
 *	enum colour colour;
 * };
 */
static void add_task(struct image *im, int integer)
{
	struct btf *b = im->btf;
	int letter = btf__add_int(b, "char", 1, BTF_INT_SIGNED);
	int fixed = btf__add_const(b, btf__add_typedef(b, "count_t", integer));
	int comm = btf__add_array(b, integer, letter, 16);
	int colour = btf__add_enum(b, "colour", 4);
	int pointer = btf__add_ptr(b, integer);
	int inner = btf__add_struct(b, "inner", 8), holder, both;

	btf__add_field(b, "unseen", integer, 0, 0);
	btf__add_field(b, "sum", integer, 32, 0);
	holder = btf__add_struct(b, NULL, 4);
	btf__add_field(b, "flags", fixed, 0, 0);
	both = btf__add_union(b, NULL, 4);
	btf__add_field(b, NULL, holder, 0, 0);
	btf__add_field(b, "unseen", integer, 0, 0);
	im->task = btf__add_struct(b, "task", 64);
	btf__add_field(b, "pad", integer, 0, 0);
	btf__add_field(b, NULL, both, 64, 0);
	btf__add_field(b, "in", inner, 128, 0);
	btf__add_field(b, "low", integer, 192, 3);
	btf__add_field(b, "high", integer, 195, 5);
	btf__add_field(b, "parent", pointer, 256, 0);
	btf__add_field(b, "comm", comm, 320, 0);
	btf__add_field(b, "colour", colour, 448, 0);
}

static int write_image(struct image *im, const void *data, size_t size)
{
	return ftruncate(im->fd, 0) == 0 && pwrite(im->fd, data, size, 0) == (ssize_t)size ? 0 : -1;
}

static int setup(void **state)
{
	struct image *im = calloc(1, sizeof(*im));
	const void *data;
	uint32_t size;
	int integer;

	im->btf = btf__new_empty();
	im->fd = memfd_create("types", 0);
	snprintf(im->path, sizeof(im->path), "/proc/self/fd/%d", im->fd);
	integer = btf__add_int(im->btf, "int", 4, BTF_INT_SIGNED);
	fill(im->btf, integer, 40);
	add_task(im, integer);
	fill(im->btf, integer, 3);
	im->other = btf__add_struct(im->btf, "task", 8);
	btf__add_field(im->btf, "flags", integer, 32, 0);
	im->trace = btf__add_typedef(im->btf, "btf_trace_task", integer);
	im->iterator = btf__add_func(im->btf, "bpf_iter_task", BTF_FUNC_GLOBAL,
				     btf__add_func_proto(im->btf, 0));
	data = btf__raw_data(im->btf, &size);
	*state = im;
	return write_image(im, data, size);
}

static int teardown(void **state)
{
	struct image *im = *state;

	btf__free(im->btf);
	close(im->fd);
	free(im);
	return 0;
}

static void test_numbers(void **state)
{
	const struct image *im = *state;
	struct ktypes *k;
	size_t n;

	assert_int_equal(ktypes_open(im->path, &k), 0);
	ktypes_want(k, "task");
	ktypes_want(k, "btf_trace_task");
	ktypes_want(k, "bpf_iter_task");
	ktypes_want(k, "t");
	ktypes_want(k, "missing");
	assert_int_equal(ktypes_look(k), 0);
	assert_int_equal(ktypes_id(k, "task", BTF_KIND_STRUCT), im->task);
	assert_int_equal(ktypes_id(k, "task", BTF_KIND_UNION), 0);
	assert_int_equal(ktypes_id(k, "btf_trace_task", BTF_KIND_TYPEDEF), im->trace);
	assert_int_equal(ktypes_id(k, "bpf_iter_task", BTF_KIND_FUNC), im->iterator);
	assert_int_equal(ktypes_id(k, "missing", BTF_KIND_STRUCT), 0);
	assert_int_equal(ktypes_id(k, "t", BTF_KIND_STRUCT), 0);
	assert_int_equal(ktypes_id(k, "inner", BTF_KIND_STRUCT), 0); /* it was not requested */
	assert_non_null(ktypes_found(k, &n));
	assert_int_equal(n, 4);
	for (uint32_t id = 1; id < btf__type_cnt(im->btf); id++)
		assert_memory_equal(ktypes_type(k, id), btf__type_by_id(im->btf, id),
				    sizeof(struct btf_type));
	assert_null(ktypes_type(k, 0));
	assert_null(ktypes_type(k, btf__type_cnt(im->btf)));
	assert_string_equal(ktypes_string(k, UINT32_MAX), "");
	ktypes_close(k);
}

/*
 * "name@bit offset:bits" of all members in order. Members of an unnamed member are listed in its
 * place.
 */
static void describe(const struct btf *b, int id, char *ret, size_t size)
{
	const struct btf_type *t = btf__type_by_id(b, id);

	while (btf_is_mod(t) || btf_is_typedef(t))
		t = btf__type_by_id(b, t->type);
	for (int i = 0; btf_is_composite(t) && i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		size_t len = strlen(ret);

		snprintf(ret + len, size - len, " %s@%u:%u", btf__name_by_offset(b, m->name_off),
			 btf_member_bit_offset(t, i), btf_member_bitfield_size(t, i));
		describe(b, m->type, ret, size);
	}
}

/* The types of the programs: another view of task, and a type that only they have. */
static struct btf *local_types(void)
{
	static const char *const members[] = { "flags", "in", "high", "parent", "comm", "colour" };
	struct btf *b = btf__new_empty();
	int integer = btf__add_int(b, "int", 4, BTF_INT_SIGNED);

	btf__add_struct(b, "task___view", 4 * sizeof(members) / sizeof(*members));
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		btf__add_field(b, members[i], integer, 32 * i, 0);
	btf__add_struct(b, "own", 4);
	btf__add_field(b, "sum", integer, 0, 0);
	return b;
}

static void test_excerpt(void **state)
{
	static const char *const expected[] = {
		" @64:0 @0:0 flags@0:0 in@128:0 sum@32:0 high@195:5 parent@256:0 comm@320:0 colour@448:0",
		" flags@32:0",
	};
	const struct image *im = *state;
	struct btf *local = local_types(), *got;
	struct ktypes *k;
	size_t n = 0;

	assert_int_equal(ktypes_open(im->path, &k), 0);
	ktypes_want_types(k, local);
	assert_int_equal(ktypes_look(k), 0);
	got = ktypes_excerpt(k, local);
	assert_non_null(got);
	for (uint32_t id = 1; id < btf__type_cnt(got); id++) {
		const struct btf_type *t = btf__type_by_id(got, id);
		char text[256] = "";

		assert_string_not_equal(btf__name_by_offset(got, t->name_off), "task_filler_0");
		if (strcmp(btf__name_by_offset(got, t->name_off), "task"))
			continue;
		describe(got, id, text, sizeof(text));
		assert_string_equal(text, expected[n]);
		assert_int_equal(t->size, n ? 8 : 64);
		n++;
	}
	assert_int_equal(n, 2);
	btf__free(got);
	btf__free(local);
	ktypes_close(k);
}

static int look(const char *path)
{
	struct ktypes *k;
	int err = ktypes_open(path, &k);

	if (err)
		return err;
	ktypes_want(k, "task");
	err = ktypes_look(k);
	ktypes_close(k);
	return err;
}

/* Each case is damaged in one place. */
static void test_damaged(void **state)
{
	static const struct {
		const char *what;
		size_t at;
		uint32_t value;
		int err;
	} cases[] = {
		{ "magic", offsetof(struct btf_header, magic), 0, -EINVAL },
		{ "header's length", offsetof(struct btf_header, hdr_len), 8, -EINVAL },
		{ "header beyond the end", offsetof(struct btf_header, hdr_len), 1 << 30, -EINVAL },
		{ "types beyond the end", offsetof(struct btf_header, type_len), 1 << 30, -EINVAL },
		{ "types end within one", offsetof(struct btf_header, type_len), 13, -EINVAL },
		{ "odd place", offsetof(struct btf_header, type_off), 1, -EINVAL },
		{ "strings beyond the end", offsetof(struct btf_header, str_off), 1 << 30, -EINVAL },
		{ "no strings", offsetof(struct btf_header, str_len), 0, -EINVAL },
		{ "string without an end", offsetof(struct btf_header, str_len), 3, -EINVAL },
		{ "unknown kind", sizeof(struct btf_header) + offsetof(struct btf_type, info),
		  (NR_BTF_KINDS + 8) << 24, -EOPNOTSUPP },
		{ "no kind", sizeof(struct btf_header) + offsetof(struct btf_type, info), 0,
		  -EOPNOTSUPP },
		{ "name beyond the end", sizeof(struct btf_header), 1 << 30, 0 },
	};
	struct image *im = *state;
	uint32_t size;
	const char *whole = btf__raw_data(im->btf, &size);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *copy = malloc(size);

		memcpy(copy, whole, size);
		memcpy(copy + cases[i].at, &cases[i].value, sizeof(cases[i].value));
		assert_int_equal(write_image(im, copy, size), 0);
		if (look(im->path) != cases[i].err)
			fail_msg("%s: %d", cases[i].what, look(im->path));
		free(copy);
	}
	assert_int_equal(write_image(im, whole, 10), 0);
	assert_int_equal(look(im->path), -EINVAL);
	assert_int_equal(look("/proc/nonexistent"), -ENOENT);
	assert_int_equal(look("/proc/self/status"), -EINVAL);
}

/* The running kernel's types, with libbpf's ids. */
static void test_this_kernel(void **state)
{
	static const struct {
		const char *name;
		unsigned kind;
	} cases[] = {
		{ "task_struct", BTF_KIND_STRUCT },
		{ "rq", BTF_KIND_STRUCT },
		{ "btf_trace_sched_switch", BTF_KIND_TYPEDEF },
		{ "bpf_iter_task", BTF_KIND_FUNC },
		{ "no_such_thing", BTF_KIND_FUNC },
	};
	struct btf *all = btf__load_vmlinux_btf();

	if (!all) {
		print_message("skipped: no types of this kernel can be read\n");
		return;
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int id = btf__find_by_name_kind(all, cases[i].name, cases[i].kind);

		assert_int_equal(ktypes_running_id(cases[i].name, cases[i].kind), id < 0 ? 0 : id);
	}
	btf__free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_excerpt, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
		cmocka_unit_test(test_this_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
