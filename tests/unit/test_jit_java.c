/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of a Java VM's code: from its memory, through the worker, into its experiment. */
#include "tests/unit/runtime_fixture.h"

#include "tests/fixtures/unwind/hotspot_vm.h"

/* Its memory, which the process shares with the test. */
static void make_vm(struct hvm *vm)
{
	uint8_t *memory = mmap((void *)HVM_BASE, HVM_BYTES, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	assert_ptr_equal(memory, (void *)HVM_BASE);
	hvm_make(vm, memory, HVM_17);
}

static void start_vm(struct runtime *r, struct hvm *vm)
{
	make_vm(vm);
	start(r, "/bin/java");
	maps(r, "/usr/lib/libjvm.so", HVM_BASE);
	maps(r, "//anon", HVM_CODE);
}

static void mention_vm(struct runtime *r, uint64_t pc)
{
	jit_names_mention(r->j, r->p, r->im, pc);
}

static void end_vm(struct runtime *r)
{
	end(r);
	munmap((void *)HVM_BASE, HVM_BYTES);
}

static void test_java(void **state)
{
	const struct exp_map *f;
	struct runtime r;
	struct hvm vm;

	start_vm(&r, &vm);
	mention_vm(&r, HVM_METHOD + HVM_HEADER + 7);
	mention_vm(&r, HVM_INTERPRETER + HVM_HEADER);
	mention_vm(&r, HVM_FREE + HVM_HEADER);
	look(&r, SECOND);
	mention_vm(&r, HVM_STUB + HVM_HEADER);
	look(&r, LATER);
	read_back(&r);
	f = the(&r, HVM_NAME);
	assert_int_equal(f->vaddr, HVM_METHOD + HVM_HEADER);
	assert_int_equal(f->size, HVM_METHOD_SEGMENTS * HVM_SEGMENT - HVM_HEADER - HVM_TAIL);
	assert_int_equal(f->time_ns, 0);
	assert_non_null(written(&r, "<interpreter>"));
	/* It may have been there before anybody asked for it. */
	assert_int_equal(the(&r, "new_instance Runtime1")->time_ns, 0);
	assert_int_equal(the(&r, "<Java>")->vaddr, HVM_FREE + HVM_HEADER);
	assert_int_equal(r.f.drops.n[DROP_JAVA], 0);
	end_vm(&r);
}

/* Code that was there is verified, and what replaces it is dated. */
static void test_java_replaced(void **state)
{
	struct runtime r;
	struct hvm vm;

	start_vm(&r, &vm);
	mention_vm(&r, HVM_METHOD + HVM_HEADER);
	look(&r, 5 * SECOND);
	memcpy(hvm_at(&vm, vm.method_name + 6), "two", 3);
	mention_vm(&r, HVM_METHOD + HVM_HEADER); /* as before */
	look(&r, 5 * SECOND + LATER);
	read_back(&r);
	assert_int_equal(the(&r, HVM_NAME)->time_ns, 0);
	assert_int_equal(the(&r, "int[] a.b.C.two(java.lang.String, long)")->time_ns,
			 5 * SECOND - 1000);
	end_vm(&r);
}

/* Code that is not complete yet has a name later. */
static void test_java_late(void **state)
{
	struct runtime r;
	struct hvm vm;

	start_vm(&r, &vm);
	hvm_put(&vm, HVM_METHOD + 8, 0, 1); /* its block is not in use yet */
	mention_vm(&r, HVM_METHOD + HVM_HEADER);
	look(&r, SECOND);
	hvm_put(&vm, HVM_METHOD + 8, 1, 1);
	look(&r, LATER);
	read_back(&r);
	assert_non_null(written(&r, HVM_NAME));
	end_vm(&r);
}

/* Stacks wait for the VM until walks can use it, which is later than its answer. */
static void test_java_awaited(void **state)
{
	struct unwind_result result;
	struct runtime r;
	struct hvm vm;

	start_vm(&r, &vm);
	assert_true(jit_names_want_vm(r.j, r.im));
	jit_names_update(r.j, SECOND, false);
	assert_true(jit_names_reading(r.j));
	while (jit_names_reading(r.j)) {
		struct pollfd p = { .fd = unwind_worker_fd(r.worker), .events = POLLIN };

		assert_int_equal(poll(&p, 1, WAIT_MS), 1);
		assert_false(unwind_worker_next(r.worker, &result));
		assert_true(jit_names_want_vm(r.j, r.im));
		jit_names_update(r.j, SECOND, false);
	}
	assert_false(jit_names_want_vm(r.j, r.im));
	read_back(&r);
	end_vm(&r);
}

/* --- scopes of a Java VM's code --- */

enum { METHOD = 1, SCOPES = 2 };

/* How many records of this type dynscopes has. */
static unsigned count(const struct runtime *r, uint32_t type)
{
	__cleanup(freep) char *path = xasprintf("%s/dynscopes", r->sub->path);
	FILE *f = fopen(path, "r");
	uint32_t head[2];
	unsigned n = 0;

	assert_non_null(f);
	for (; fread(head, sizeof(head), 1, f) == 1; fseek(f, head[1] - sizeof(head), SEEK_CUR))
		n += head[0] == type;
	fclose(f);
	return n;
}

/* Both methods and the code are written once, also if further code of it is mentioned. */
static void test_java_scopes(void **state)
{
	struct runtime r;
	struct hvm vm;

	start_vm(&r, &vm);
	hvm_scopes(&vm, HVM_17);
	mention_vm(&r, HVM_METHOD + HVM_HEADER + 7);
	mention_vm(&r, HVM_STUB + HVM_HEADER);
	look(&r, SECOND);
	mention_vm(&r, HVM_METHOD + HVM_HEADER + 8);
	look(&r, LATER);
	read_back(&r);
	assert_int_equal(count(&r, METHOD), 2);
	assert_int_equal(count(&r, SCOPES), 1);
	end_vm(&r);
}

/* Of new code at the address the scopes are written, too. What is described in one segment is so again in the next. */
static void test_java_scopes_again(void **state)
{
	struct runtime r;
	struct hvm vm;

	start_vm(&r, &vm);
	hvm_scopes(&vm, HVM_17);
	mention_vm(&r, HVM_METHOD + HVM_HEADER);
	look(&r, 5 * SECOND);
	memcpy(hvm_at(&vm, vm.method_name + 6), "two", 3);
	mention_vm(&r, HVM_METHOD + HVM_HEADER + 1);
	look(&r, 5 * SECOND + LATER);
	look(&r, 5 * SECOND + 2 * LATER);
	jit_names_restart(r.j);
	mention_vm(&r, HVM_METHOD + HVM_HEADER + 1);
	look(&r, 5 * SECOND + 3 * LATER);
	read_back(&r);
	assert_int_equal(count(&r, METHOD), 4);
	assert_int_equal(count(&r, SCOPES), 3);
	end_vm(&r);
}

static void test_java_not_understood(void **state)
{
	struct runtime r;
	struct hvm vm;

	start_vm(&r, &vm);
	hvm_put(&vm, vm.stride, 4, 8);
	mention_vm(&r, HVM_METHOD + HVM_HEADER);
	look(&r, SECOND);
	mention_vm(&r, HVM_METHOD + HVM_HEADER + 1);
	look(&r, LATER);
	read_back(&r);
	assert_int_equal(r.f.drops.n[DROP_JAVA], 1);
	assert_null(written(&r, HVM_NAME));
	end_vm(&r);
}

/* A map of the process's own is what counts. */
static void test_java_with_map(void **state)
{
	char line[64];
	struct runtime r;
	struct hvm vm;

	start_vm(&r, &vm);
	snprintf(line, sizeof(line), "%llx 1000 listed\n", HVM_METHOD + HVM_HEADER);
	put(&r, "w", line);
	mention_vm(&r, HVM_METHOD + HVM_HEADER);
	look(&r, SECOND);
	mention_vm(&r, HVM_METHOD + HVM_HEADER + 1);
	look(&r, LATER);
	read_back(&r);
	assert_non_null(written(&r, "listed"));
	assert_null(written(&r, HVM_NAME));
	end_vm(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_java),
		cmocka_unit_test(test_java_replaced),
		cmocka_unit_test(test_java_late),
		cmocka_unit_test(test_java_awaited),
		cmocka_unit_test(test_java_scopes),
		cmocka_unit_test(test_java_scopes_again),
		cmocka_unit_test(test_java_not_understood),
		cmocka_unit_test(test_java_with_map),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
