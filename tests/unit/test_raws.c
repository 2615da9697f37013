/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copied stacks with code of a Java VM wait until the VM is known, or will never be. */
#include "tests/unit/drain_fixture.h"

#include "loaders/unwind.h"
#include "user/record/raws.h"
#include "user/record/stacks.h"
#include "user/unwind/tablesource.h"
#include "user/unwind/unwinder.h"

enum { CODE = 0x70000000, LIBRARY = 0x60000000, STACK = 0x50000000, ID = 9, NOW = 5000 };

static bool being_asked;

static bool wants(void *ctx, struct image *im)
{
	return being_asked;
}

static void map(struct fixture *f, const char *name, uint64_t addr)
{
	procmap_apply(f->procmap, &(struct proc_event){
		.kind = PROC_MMAP, .time_ns = 2200, .pid = PID, .tid = PID, .name = name, .addr = addr,
		.len = 1 << 20, .dev = 1, .ino = *name == '/' });
}

/* A leaf in generated code, as BPF copies it: with the code around the pc. Its frame pointer seems to hold. */
static void take(struct raws *r)
{
	struct {
		struct er_stack s;
		struct er_raw raw;
		uint64_t words[8];
	} stack = { .s = { .h = { .kind = ER_KIND_STACK, .time_ns = 4000 }, .id = ID, .start_time = 1990,
			   .tgid = PID, .flags = ER_STACK_RAW | ER_STACK_USER_EXACT, .end = ER_END_NO_VM },
		    .raw = { .code_at = CODE, .copied_ns = 4000, .nbytes = sizeof(stack.words) } };

	stack.raw.regs[ER_DWARF_RIP] = CODE + ER_RAW_CODE_BACK;
	stack.raw.regs[ER_DWARF_RSP] = STACK;
	stack.raw.regs[ER_DWARF_RBP] = STACK + 16;
	stack.words[2] = STACK + 32;
	stack.words[3] = CODE + 0x1000;
	raws_take(r, &stack.s);
	raws_settle(r);
}

struct parts {
	struct fixture f;
	struct unwind_maps *maps;
	struct table_source *tables;
	struct unwinder *unwinder;
	struct stacks *stacks;
	struct raws *raws;
	struct image *im;
};

static void begin_raws(struct parts *p, const char *library)
{
	begin(&p->f, FOLLOW_ALL, NULL);
	assert_int_equal(unwind_maps_open_bare(&p->maps), 0);
	p->tables = table_source_new(NULL, NULL, NULL);
	p->unwinder = unwinder_new(p->maps, p->tables);
	p->stacks = stacks_new(p->f.recording);
	p->raws = raws_new(p->stacks, p->unwinder);
	raws_want_vms(p->raws, wants, NULL);
	map(&p->f, library, LIBRARY);
	map(&p->f, "//anon", CODE);
	p->im = procmap_image(p->f.procmap, PID, 1990, 4000);
	unwinder_await_vm(p->unwinder, p->im, true);
	assert_true(p->im->ranges.awaits_vm);
	take(p->raws);
}

static void end_raws(struct parts *p)
{
	unwinder_forget(p->unwinder, p->im, NOW);
	assert_false(p->im->ranges.awaits_vm);
	raws_free(p->raws);
	stacks_free(p->stacks);
	unwinder_free(p->unwinder);
	table_source_free(p->tables);
	unwind_maps_close(p->maps);
	experiment_close(finish(&p->f));
}

/* It waits while the VM is being asked. If that fails the stack is cut, and no more are copied. */
static void test_a_stack_waits_for_its_vm(void **state)
{
	struct parts p;

	being_asked = true;
	begin_raws(&p, "/usr/lib/libjvm.so");
	for (int i = 0; i < 3; i++) {
		raws_process(p.raws, p.f.procmap, NOW + i, false);
		assert_true(raws_pending(p.raws, ID));
	}
	assert_true(p.im->ranges.awaits_vm);
	being_asked = false;
	raws_process(p.raws, p.f.procmap, NOW + 3, false);
	assert_false(raws_pending(p.raws, ID));
	assert_true(stacks_has(p.stacks, ID));
	assert_int_equal(stacks_end(p.stacks, ID, p.im), ER_END_NO_VM);
	assert_false(p.im->ranges.awaits_vm);
	end_raws(&p);
}

/* But not for long, and not at the end of the recording. */
static void test_it_waits_a_while(void **state)
{
	for (int last = 0; last <= 1; last++) {
		struct parts p;

		being_asked = true;
		begin_raws(&p, "/usr/lib/libjvm.so");
		raws_process(p.raws, p.f.procmap, NOW, false);
		raws_process(p.raws, p.f.procmap, last ? NOW : NOW + 1300000000ULL, last);
		assert_false(raws_pending(p.raws, ID));
		assert_int_equal(stacks_end(p.stacks, ID, p.im), ER_END_NO_VM);
		end_raws(&p);
	}
}

/* Other generated code keeps frame pointers. */
static void test_others_do_not_wait(void **state)
{
	struct parts p;

	being_asked = true;
	begin_raws(&p, "/usr/lib/libnode.so");
	raws_process(p.raws, p.f.procmap, NOW, false);
	assert_false(raws_pending(p.raws, ID));
	assert_int_not_equal(stacks_end(p.stacks, ID, p.im), ER_END_NO_VM);
	end_raws(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_stack_waits_for_its_vm),
		cmocka_unit_test(test_it_waits_a_while),
		cmocka_unit_test(test_others_do_not_wait),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
