/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of inlined calls: nested ones, in code that was split off a function, in themselves, of
 * functions that share a name, and in the kernel. The compiler may order code in any way, so stacks
 * are made of addresses that the DWARF assigns to the calls.
 */
#include <fcntl.h>

#include "analysis/model/search.h"
#include "analysis/model/source.h"
#include "analysis/symbols/lineinfo.h"
#include "analysis/symbols/symtab.h"
#include "analysis/views/view_state.h"
#include "tests/unit/session_fixture.h"

enum { LINKED = 0x2000, OFFSET = 0x1000, SIZE = 0x4000, INLINED = 8 };

#define RAN 0x7f0000001000ULL

static const char header[] = "static inline __attribute__((always_inline)) void same(int x)\n"
			     "{ sink = x; sink = x * 5; }\n";

static const char source[] =
	"static volatile int sink;\n"
	"#include \"a.h\"\n"
	"#define INLINE static inline __attribute__((always_inline))\n"
	"namespace app {\n"
	"inline __attribute__((always_inline)) int leaf(int x) { sink = x; sink = x * 3; return "
	"sink; } }\n"
	"INLINE int middle(int x) {\n"
	"	sink = x + 1;\n"
	"	return app::leaf(x) + 2; }\n"
	"INLINE void complain(int x) { sink = x; sink = x * 7; sink = x ^ 3; }\n"
	"extern \"C\" { void fail(int) __attribute__((cold, noinline)); int outer(int); }\n"
	"void fail(int x) { sink = x; }\n"
	"__attribute__((noinline)) int outer(int x) {\n"
	"	sink = x;\n"
	"	if (__builtin_expect(x == 77, 0)) {\n"
	"		fail(x); complain(x); }\n"
	"	same(x);\n"
	"	return middle(x) * 5; }\n";

enum { LINE_LEAF = 5, LINE_IN_MIDDLE = 8, LINE_IN_OUTER = 17 };

static const char other[] = "static volatile int sink;\n#include \"b.h\"\n"
			    "__attribute__((noinline)) void second(int x) { same(x); }\n";

struct library {
	struct opened o;
	struct symtab *syms;
	struct lineinfo *lines;
};

static void shell(const char *dir, const char *command)
{
	__cleanup(freep) char *here = getcwd(NULL, 0);
	__cleanup(freep) char *line =
		xasprintf("cd '%s' && SRC='%s/tests/fixtures/source' && %s", dir, here, command);

	assert_int_equal(system(line), 0);
}

static void put(struct library *l, const char *name, const char *text)
{
	__cleanup(freep) char *path = xasprintf("%s/%s", l->o.dir, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Build lib.so in the experiment's directory, and open the experiment. */
static void library_new(struct library *l, const char *command)
{
	__cleanup(freep) char *path = NULL, *build = NULL;
	__cleanup(closep) int fd = -1;
	struct symtab_opts opts = { .debug_root = "" };

	fixture_new(&l->o);
	put(l, "a.h", header);
	put(l, "b.h", header);
	put(l, "a.cc", source);
	put(l, "b.c", other);
	build = xasprintf("%s && touch -d @1600000000 lib.so", command);
	shell(l->o.dir, build);
	path = xasprintf("%s/lib.so", l->o.dir);
	exp_builder_segment(l->o.builder, path, RAN, SIZE, OFFSET);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	l->syms = symtab_open(fd, &opts, NULL);
	l->lines = lineinfo_open(fd, &opts, NULL);
	assert_non_null(l->syms);
	assert_non_null(l->lines);
}

#define LINK " -shared -nostdlib -Wl,-z,noseparate-code,-Ttext=0x2000,--build-id=none -o lib.so "

static void compiled_library(struct library *l)
{
	library_new(l, "gcc -O2 -g -fPIC -fno-ipa-icf" LINK "a.cc b.c");
}

static void library_free(struct library *l)
{
	lineinfo_free(l->lines);
	symtab_free(l->syms);
	fixture_free(&l->o);
}

/* The address in the function with exactly these inlined calls, outermost first. */
static uint64_t pc_in(struct library *l, const char *func, const char *chain)
{
	size_t n;
	const struct sym *s = symtab_syms(l->syms, &n);

	while (n && strcmp(s->name, func))
		s++, n--;
	assert_int_not_equal(n, 0);
	for (uint64_t at = s->addr; at < s->addr + s->size; at++) {
		struct inlined calls[INLINED];
		size_t depth = lineinfo_inlined(l->lines, at, calls, INLINED);
		struct buf b = { 0 };
		bool found;

		buf_puts(&b, "");
		for (size_t i = 0; i < depth && i < INLINED; i++)
			buf_printf(&b, "%s%s", i ? ">" : "", calls[i].name);
		found = !strcmp(b.data, chain);
		buf_free(&b);
		if (found)
			return RAN + at - LINKED;
	}
	fail_msg("%s has no code of %s", func, chain);
	return 0;
}

static void met(struct library *l, uint32_t ticks, uint64_t caller, uint64_t leaf)
{
	char text[64];

	if (caller)
		snprintf(text, sizeof(text), "0x%llx>0x%llx", (unsigned long long)caller,
			 (unsigned long long)leaf);
	else
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)leaf);
	exp_builder_profile(l->o.builder, 1, text, MS_USER, ticks);
}

static void show_inlined(struct opened *o, bool on)
{
	session_show_inlined(o->session, on);
	view_state_changed(&o->view);
}

static void check(struct opened *o, const char *func, int64_t exclusive, int64_t inclusive)
{
	assert_int_equal(excl(o, func, "user"), exclusive);
	assert_int_equal(incl(o, func, "user"), inclusive);
}

static void inlined_calls_have_frames_when_asked_for(void **state)
{
	struct library l;
	struct opened *o = &l.o;

	compiled_library(&l);
	met(&l, 1, 0, pc_in(&l, "outer", "middle>leaf"));
	met(&l, 2, 0, pc_in(&l, "outer", "middle"));
	met(&l, 4, 0, pc_in(&l, "outer", ""));
	fixture_open(o);
	check(o, "outer", 7, 7);
	show_inlined(o, true);
	check(o, "outer", 4, 7);
	check(o, "middle (inlined)", 2, 3);
	check(o, "app::leaf (inlined)", 1, 1);
	assert_int_equal(attributed(o, true, "app::leaf (inlined)", "middle (inlined)", "user"), 1);
	assert_int_equal(attributed(o, true, "middle (inlined)", "outer", "user"), 3);
	assert_int_equal(attributed(o, true, "app::leaf (inlined)", "outer", "user"), -1);
	assert_int_equal(total(o, "user"), 7);
	show_inlined(o, false);
	check(o, "outer", 7, 7);
	library_free(&l);
}

static void inlined_functions_have_the_names_of_their_symbols(void **state)
{
	struct library l;
	struct func *f;

	compiled_library(&l);
	met(&l, 1, 0, pc_in(&l, "outer", "middle>leaf"));
	fixture_open(&l.o);
	show_inlined(&l.o, true);
	f = the_func(&l.o, "_ZN3app4leafEi");
	assert_string_equal(f->name, "app::leaf (inlined)");
	assert_string_equal(f->long_name, "app::leaf(int) (inlined)");
	assert_string_equal(base_name(func_source(l.o.session, f)), "a.cc");
	library_free(&l);
}

/* Each frame is at the place where its function called the next one. */
static void frames_have_the_lines_of_their_functions(void **state)
{
	static const struct {
		const char *func;
		uint32_t line;
	} rows[] = { { "app::leaf (inlined)", LINE_LEAF },
		     { "middle (inlined)", LINE_IN_MIDDLE },
		     { "outer", LINE_IN_OUTER } };
	const struct session *s;
	const struct stack *st;
	struct library l;
	struct srcline at;

	compiled_library(&l);
	met(&l, 1, 0, pc_in(&l, "outer", "middle>leaf"));
	fixture_open(&l.o);
	show_inlined(&l.o, true);
	s = l.o.session;
	st = &s->stacks.data[session_resolve(l.o.session, s->experiments.data[0], 0, 0)];
	assert_int_equal(st->n, 3);
	for (uint32_t i = 0; i < st->n; i++) {
		struct frame f = frame_at(s, s->stack_frames.data[st->first + i]);

		assert_string_equal(f.func->name, rows[i].func);
		assert_true(frame_srcline(l.o.session, &f, &at));
		assert_int_equal(at.line, rows[i].line);
		assert_string_equal(f.body->name, "outer");
		assert_int_equal(f.depth, 2 - i);
	}
	library_free(&l);
}

/* A call from the cold part has the cold part as its caller. */
static void calls_in_cold_parts_are_below_their_function(void **state)
{
	struct library l;
	struct opened *o = &l.o;

	compiled_library(&l);
	met(&l, 1, 0, pc_in(&l, "outer.cold", "complain"));
	fixture_open(o);
	show_inlined(o, true);
	check(o, "complain (inlined)", 1, 1);
	check(o, "outer.cold", 0, 1);
	check(o, "outer", 0, 1);
	assert_int_equal(attributed(o, true, "complain (inlined)", "outer.cold", "user"), 1);
	assert_int_equal(attributed(o, true, "outer.cold", "outer", "user"), 1);
	session_show_outlined(o->session, false);
	view_state_changed(&o->view);
	check(o, "complain (inlined)", 1, 1);
	check(o, "outer", 0, 0);
	library_free(&l);
}

/* A function that calls itself through inlined calls counts once in its inclusive value. */
static void recursion_counts_once(void **state)
{
	struct library l;
	struct opened *o = &l.o;
	uint64_t pc;

	compiled_library(&l);
	pc = pc_in(&l, "outer", "middle>leaf");
	met(&l, 1, pc, pc);
	fixture_open(o);
	show_inlined(o, true);
	check(o, "app::leaf (inlined)", 1, 1);
	check(o, "middle (inlined)", 0, 1);
	check(o, "outer", 0, 1);
	assert_int_equal(attributed(o, true, "outer", "app::leaf (inlined)", "user"), 1);
	library_free(&l);
}

/* A function inlined into itself has a frame for each call: mix's code becomes twice's. */
static void a_call_inlined_into_itself_has_two_frames(void **state)
{
	const struct session *s;
	const struct stack *st;
	struct srcline at[3];
	struct library l;

	library_new(&l, "sed '/^\t.long\t0x1fd/{N;s/0x1fd\\(\\n.*LBB2[25]\\)/0x1e1\\1/}' "
			"\"$SRC/work.s\" >work.s && gcc" LINK "work.s");
	met(&l, 1, 0, pc_in(&l, "hot", "twice>twice"));
	fixture_open(&l.o);
	show_inlined(&l.o, true);
	check(&l.o, "twice", 1, 1);
	check(&l.o, "hot", 0, 1);
	s = l.o.session;
	st = &s->stacks.data[session_resolve(l.o.session, s->experiments.data[0], 0, 0)];
	assert_int_equal(st->n, 3);
	for (uint32_t i = 0; i < st->n; i++) {
		struct frame f = frame_at(s, s->stack_frames.data[st->first + i]);

		assert_true(frame_srcline(l.o.session, &f, &at[i]));
	}
	assert_string_equal(base_name(at[0].file), "mix.h");
	assert_string_equal(base_name(at[1].file), "work.c");
	assert_int_equal(at[1].line, 9);
	assert_int_equal(at[2].line, 17);
	library_free(&l);
}

/* Static functions with the same name in different files are different functions. */
static void namesakes_stay_apart(void **state)
{
	const char *name = "same (inlined)";
	func_vec found = { 0 };
	struct library l;

	compiled_library(&l);
	met(&l, 1, 0, pc_in(&l, "outer", "same"));
	met(&l, 2, 0, pc_in(&l, "second", "same"));
	fixture_open(&l.o);
	show_inlined(&l.o, true);
	session_find_funcs(l.o.session, name, &found);
	assert_int_equal(found.len, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(tally_excl(view_tally(&l.o.view),
					    found.data[i]->id)[metric_id(&l.o, "user")] /
					 BUILDER_TICK_NS,
				 i + 1);
	found.len = 0;
	show_inlined(&l.o, false);
	session_find_funcs(l.o.session, name, &found);
	assert_int_equal(found.len, 0);
	vec_free(&found);
	library_free(&l);
}

/* Functions 256 bytes apart, like the fixture's. The pcs lie in inlined calls. */
static const char kernel[] = "#define AT __attribute__((aligned(256), noinline))\n"
			     "static inline __attribute__((always_inline)) void helper(void)\n"
			     "{ __asm__ volatile(\".skip 200, 0x90\"); }\n"
			     "AT void vfs_read(void) { helper(); }\n"
			     "AT void do_sys(void) { __asm__ volatile(\".skip 200, 0x90\"); }\n"
			     "AT void entry(void) { __asm__ volatile(\".skip 200, 0x90\"); }\n";

static void the_kernel_s_have_its_module_in_their_names(void **state)
{
	struct library l;
	struct opened *o = &l.o;

	fixture_new(o);
	put(&l, "kernel.c", kernel);
	shell(o->dir, "gcc -g -O2 -fno-toplevel-reorder -nostdlib -static "
		      "-Wl,-Ttext=0x1000000,-e0,--build-id=none -o vmlinux kernel.c");
	exp_builder_profile(o->builder, 1, "k:vfs_read>k:do_sys>k:entry", MS_SYSTEM, 1);
	exp_builder_profile(o->builder, 1, "k:entry>k:do_sys>k:vfs_read", MS_SYSTEM, 2);
	fixture_open(o);
	search_set(session_search(o->session), o->dir);
	show_inlined(o, true);
	assert_int_equal(excl(o, "vmlinux`helper (inlined)", "system"), 2);
	assert_int_equal(incl(o, "helper", "system"), 3);
	assert_int_equal(excl(o, "vfs_read", "system"), 0);
	assert_int_equal(attributed(o, true, "helper", "vfs_read", "system"), 3);
	fixture_free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inlined_calls_have_frames_when_asked_for),
		cmocka_unit_test(inlined_functions_have_the_names_of_their_symbols),
		cmocka_unit_test(frames_have_the_lines_of_their_functions),
		cmocka_unit_test(calls_in_cold_parts_are_below_their_function),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(a_call_inlined_into_itself_has_two_frames),
		cmocka_unit_test(namesakes_stay_apart),
		cmocka_unit_test(the_kernel_s_have_its_module_in_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
