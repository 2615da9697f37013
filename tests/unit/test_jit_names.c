/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of generated code: from a process's perf map, through the worker, into its experiment. */
#include "tests/unit/drain_fixture.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "analysis/experiment/exp_map.h"
#include "tests/fixtures/unwind/hotspot_vm.h"
#include "user/record/jit_names.h"
#include "user/unwind/worker.h"

#define CODE 0x7f0000000000ULL /* where the process has generated code */
#define SECOND 1000000000ULL

enum { CODE_BYTES = 1 << 20, WAIT_MS = 20000 };

/* A process with generated code, which is recorded. */
struct runtime {
	struct fixture f;
	struct unwind_worker *worker;
	struct jit_names *j;
	struct image *im;
	struct output *p;
	pid_t pid;
	char path[64]; /* of its map */
	struct experiment *e, *sub; /* after read_back */
};

static void happens(struct runtime *r, enum proc_event_kind kind, uint64_t t, const char *name)
{
	procmap_apply(r->f.procmap, &(struct proc_event){
		.kind = kind, .time_ns = t, .pid = r->pid, .tid = r->pid, .ppid = 1, .name = name });
}

static void maps(struct runtime *r, const char *name, uint64_t addr)
{
	procmap_apply(r->f.procmap, &(struct proc_event){
		.kind = PROC_MMAP, .time_ns = 2200, .pid = r->pid, .tid = r->pid, .name = name,
		.addr = addr, .len = CODE_BYTES, .dev = 1, .ino = *name == '/' });
}

static void start(struct runtime *r, const char *program)
{
	*r = (struct runtime){ .pid = fork() };
	if (!r->pid) {
		pause();
		_exit(0);
	}
	snprintf(r->path, sizeof(r->path), "/tmp/perf-%d.map", r->pid);
	r->worker = unwind_worker_start(&r->f.diag);
	assert_non_null(r->worker);
	begin(&r->f, FOLLOW_SHARED, NULL);
	r->j = jit_names_new(r->f.recording, r->worker, NULL, &r->f.drops);
	happens(r, PROC_FORK, 2000, NULL);
	happens(r, PROC_EXEC, 2100, "prog");
	maps(r, program, 0x400000);
	maps(r, "//anon", CODE);
	r->im = procmap_image(r->f.procmap, r->pid, 1990, 3000);
	r->p = recording_add(r->f.recording, r->im, r->f.binaries, "_prog", "prog");
	assert_non_null(r->p);
}

static void put(struct runtime *r, const char *mode, const char *text)
{
	FILE *f = fopen(r->path, mode);

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void mention(struct runtime *r, uint64_t offset)
{
	jit_names_mention(r->j, r->p, r->im, CODE + offset);
}

/* Look at the map at this time, and wait until it is read. */
static void look(struct runtime *r, uint64_t now_ns)
{
	struct unwind_result result;

	jit_names_update(r->j, now_ns, false);
	while (jit_names_reading(r->j)) {
		struct pollfd p = { .fd = unwind_worker_fd(r->worker), .events = POLLIN };

		assert_false(unwind_worker_next(r->worker, &result));
		jit_names_update(r->j, now_ns, false);
		if (jit_names_reading(r->j) && poll(&p, 1, WAIT_MS) < 1)
			fail_msg("no names");
	}
}

static void read_back(struct runtime *r)
{
	jit_names_complete(r->j);
	jit_names_free(r->j);
	r->e = finish(&r->f);
	r->sub = open_sub(r->e, "_prog.1.er");
	unwind_worker_stop(r->worker);
	unlink(r->path);
	kill(r->pid, SIGKILL);
	waitpid(r->pid, NULL, 0);
}

static void end(struct runtime *r)
{
	experiment_close(r->sub);
	experiment_close(r->e);
	diag_free(&r->f.diag);
}

/* The function's record; NULL: none. There is at most one. */
static const struct exp_map *written(const struct runtime *r, const char *name)
{
	const struct exp_map *found = NULL;

	vec_for_each(m, &r->sub->maps) {
		if (m->what != EXP_MAP_FUNCTION || strcmp(m->name, name))
			continue;
		assert_null(found);
		found = m;
	}
	return found;
}

/* The same, which must be there. */
static const struct exp_map *the(const struct runtime *r, const char *name)
{
	const struct exp_map *found = written(r, name);

	if (!found)
		fail_msg("no function '%s' is written", name);
	return found;
}

static void test_mentioned_are_written(void **state)
{
	const struct exp_map *f;
	struct runtime r;

	start(&r, "/bin/none");
	put(&r, "w", "7f0000001000 100 before\n7f0000002000 100 never\n7f0000003000 40 after\n"
		     "7f0000100000 100 elsewhere\n");
	mention(&r, 0x10ff);
	mention(&r, 0x2100);
	mention(&r, CODE_BYTES + 1); /* not generated code */
	look(&r, SECOND);
	mention(&r, 0x3000);
	mention(&r, 0x303f);
	look(&r, 2 * SECOND);
	read_back(&r);
	f = the(&r, "before");
	assert_int_equal(f->vaddr, CODE + 0x1000);
	assert_int_equal(f->size, 0x100);
	assert_int_equal(f->time_ns, 0);
	assert_non_null(written(&r, "after"));
	assert_null(written(&r, "never"));
	assert_null(written(&r, "elsewhere"));
	assert_int_equal(r.f.drops.n[DROP_NAMES], 0);
	end(&r);
}

/* What a look did not find is younger than that look. */
static void test_dates(void **state)
{
	struct runtime r;

	start(&r, "/bin/none");
	put(&r, "w", "7f0000001000 100 old\n");
	mention(&r, 0x1000);
	mention(&r, 0x2000);
	look(&r, 5 * SECOND);
	put(&r, "a", "7f0000001080 100 new\n7f00000020");
	look(&r, 5 * SECOND + 1); /* too early */
	put(&r, "a", "00 1 half\n");
	mention(&r, 0x1080);
	look(&r, 6 * SECOND);
	mention(&r, 0x1010); /* a late record of the old function */
	read_back(&r);
	assert_int_equal(the(&r, "old")->time_ns, 0);
	assert_int_equal(the(&r, "new")->time_ns, 5 * SECOND - 1000);
	assert_int_equal(the(&r, "half")->time_ns, 5 * SECOND - 1000);
	end(&r);
}

/* When the function at this address was removed, since the experiment began; 0: never. Once at most. */
static int64_t removed(const struct runtime *r, uint64_t vaddr)
{
	int64_t found = 0;

	vec_for_each(m, &r->sub->maps) {
		if (m->what != EXP_MAP_UNMAP || m->vaddr != vaddr)
			continue;
		assert_int_equal(found, 0);
		found = m->time_ns;
	}
	return found;
}

/* Functions that the collector API removes, before and after they are written, and those in their place. */
static void test_removed(void **state)
{
	struct runtime r;

	start(&r, "/bin/none");
	put(&r, "w", "7f0000001000 100 written\n7f0000002000 100 unwritten\n7f0000003000 100 stays\n"
		     "7f0000004000 100 again\n");
	mention(&r, 0x1000);
	mention(&r, 0x4000);
	look(&r, 5 * SECOND);
	put(&r, "a", "7f0000001000 131794000\n7f0000002000 13c8e0c00\n7f0000001000 80 new\n"
		     "7f0000004000 147d357ff\n7f0000004000 100 again\n7f0000005000 100 short\n"
		     "7f0000005000 ffffffffffffff00\n7f0000003010 147d357ff\n");
	mention(&r, 0x5000);
	look(&r, 6 * SECOND);
	mention(&r, 0x1000);
	mention(&r, 0x2000); /* late records of an old function */
	mention(&r, 0x3000);
	read_back(&r);
	assert_int_equal(removed(&r, CODE + 0x1000), 0x131794000 - 1000);
	assert_int_equal(removed(&r, CODE + 0x2000), 0x13c8e0c00 - 1000);
	assert_int_equal(the(&r, "new")->time_ns, 0x13c8e0c00 - 1000 + 1);
	assert_int_equal(the(&r, "short")->time_ns, 0x147d357ff - 1000 + 1);
	assert_int_equal(removed(&r, CODE + 0x4000), 0x147d357ff - 1000);
	assert_true(removed(&r, CODE + 0x5000) > 5 * (int64_t)SECOND); /* no time that is yet to come */
	assert_int_equal(removed(&r, CODE + 0x3010) + removed(&r, CODE + 0x3000), 0);
	assert_non_null(written(&r, "unwritten"));
	end(&r);
}

/* A function that was replaced before a stack with it was written. */
static void test_replaced(void **state)
{
	struct runtime r;

	start(&r, "/bin/none");
	put(&r, "w", "7f0000001000 100 old\n");
	mention(&r, 0x5000);
	look(&r, SECOND);
	put(&r, "a", "7f0000001000 100 new\n");
	look(&r, 2 * SECOND);
	mention(&r, 0x1010);
	read_back(&r);
	assert_int_equal(the(&r, "old")->time_ns, 0);
	assert_int_equal(the(&r, "new")->time_ns, SECOND - 1000);
	end(&r);
}

/* jcmd writes the whole map again: what is the same keeps its date. */
static void test_rewritten(void **state)
{
	struct runtime r;

	start(&r, "/bin/none");
	put(&r, "w", "7f0000001000 100 same\n");
	mention(&r, 0x1000);
	look(&r, SECOND);
	put(&r, "w", "7f0000004000 100 more\n7f0000001000 100 same\n");
	mention(&r, 0x4000);
	look(&r, 2 * SECOND);
	read_back(&r);
	assert_int_equal(the(&r, "same")->time_ns, 0);
	assert_int_equal(the(&r, "more")->time_ns, SECOND - 1000);
	end(&r);
}

/* The process ends, its map is complete only then, and /proc has nothing more of it. */
static void test_after_the_end(void **state)
{
	struct runtime r;

	start(&r, "/bin/none");
	mention(&r, 0x1000);
	put(&r, "w", "7f0000001000 100 last\n");
	kill(r.pid, SIGKILL);
	waitpid(r.pid, NULL, 0);
	happens(&r, PROC_EXIT, SECOND, NULL);
	look(&r, 1); /* long before the next look is due */
	jit_names_forget(r.j, r.im);
	read_back(&r);
	assert_non_null(written(&r, "last"));
	end(&r);
}

/* --- a Java VM --- */

/* A look that waited long for a CPU delays the next one, but never as long as this. */
#define LATER (5 * SECOND)

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

static void test_pseudo_names_are_ours(void **state)
{
	struct runtime r;

	start(&r, "/bin/none");
	put(&r, "w", "7f0000001000 100 <IDLE>\n7f0000002000 100 \x1b[2J\xff\n");
	mention(&r, 0x1000);
	mention(&r, 0x2000);
	look(&r, SECOND);
	read_back(&r);
	assert_null(written(&r, "<IDLE>"));
	assert_non_null(written(&r, "jit:<IDLE>"));
	assert_non_null(written(&r, "\x1b[2J\xff"));
	end(&r);
}

/* Without a map, or beside it, the runtime's code has one name; unknown code has none. */
static void test_runtime(void **state)
{
	const struct exp_map *f;
	struct runtime r;

	start(&r, "/usr/bin/node");
	put(&r, "w", "7f0000001000 100 known\n");
	mention(&r, 0x1000);
	mention(&r, 0x2000);
	look(&r, SECOND);
	read_back(&r);
	f = the(&r, "<JavaScript>");
	assert_int_equal(f->vaddr, CODE + 0x2000);
	assert_int_equal(f->size, 1);
	assert_non_null(written(&r, "known"));
	end(&r);

	start(&r, "/usr/bin/nodes");
	mention(&r, 0x1000);
	look(&r, SECOND);
	read_back(&r);
	assert_null(written(&r, "<JavaScript>"));
	end(&r);

	start(&r, "/usr/lib/libjvm.so");
	mention(&r, 0x1000);
	look(&r, SECOND);
	read_back(&r);
	assert_non_null(written(&r, "<Java>"));
	end(&r);
}

/* A map that must not be read is counted once. */
static void test_refused(void **state)
{
	struct runtime r;

	start(&r, "/bin/none");
	assert_int_equal(symlink("/etc/passwd", r.path), 0);
	mention(&r, 0x1000);
	look(&r, SECOND);
	look(&r, LATER);
	read_back(&r);
	assert_int_equal(r.f.drops.n[DROP_NAMES], 1);
	end(&r);
}

/* 50,000 functions are many pieces. In the next segment all are written that are mentioned there. */
static void test_many(void **state)
{
	enum { FUNCTIONS = 50000, STEP = 16 };
	struct buf b = { 0 };
	struct runtime r;

	start(&r, "/bin/none");
	for (int i = 0; i < FUNCTIONS; i++)
		buf_printf(&b, "%llx %x Lorg/example/application/Class%d;::method\n", CODE + i * STEP,
			   STEP, i);
	put(&r, "w", b.data);
	buf_free(&b);
	mention(&r, 0);
	mention(&r, (FUNCTIONS - 1) * STEP);
	look(&r, SECOND);
	jit_names_restart(r.j);
	mention(&r, FUNCTIONS / 2 * STEP);
	look(&r, LATER);
	read_back(&r);
	the(&r, "Lorg/example/application/Class0;::method");
	the(&r, "Lorg/example/application/Class49999;::method");
	the(&r, "Lorg/example/application/Class25000;::method");
	assert_null(written(&r, "Lorg/example/application/Class1;::method"));
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mentioned_are_written),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_removed),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_rewritten),
		cmocka_unit_test(test_after_the_end),
		cmocka_unit_test(test_pseudo_names_are_ours),
		cmocka_unit_test(test_runtime),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_java),
		cmocka_unit_test(test_java_replaced),
		cmocka_unit_test(test_java_late),
		cmocka_unit_test(test_java_scopes),
		cmocka_unit_test(test_java_scopes_again),
		cmocka_unit_test(test_java_not_understood),
		cmocka_unit_test(test_java_with_map),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
