/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where source and code of functions are found: in the search path, in a vmlinux that is linked at
 * other addresses than the recorded kernel's, and in the dyntext file.
 */
#include <elf.h>
#include <fcntl.h>

#include "analysis/model/search.h"
#include "analysis/model/source.h"
#include "analysis/symbols/disasm.h"
#include "tests/fixtures/tempdir.h"
#include "tests/unit/session_fixture.h"

static void shell(const char *dir, const char *command)
{
	__cleanup(freep) char *line = xasprintf("cd '%s' && %s", dir, command);

	assert_int_equal(system(line), 0);
}

/* --- the search path --- */

static void check_found(const struct search_path *sp, const char *path, const char *where)
{
	char *found = NULL;
	int fd = search_open(sp, NULL, path, &found);

	if (!where) {
		assert_int_equal(fd, -1);
		return;
	}
	assert_true(fd >= 0);
	assert_string_equal(found, where);
	free(found);
	close(fd);
}

static void sources_are_looked_for_in_order(void **state)
{
	struct search_path sp = { 0 };
	struct diag d = { 0 };
	struct buf b = { 0 };
	char *dir = tempdir_new();
	__cleanup(freep) char *one = xasprintf("%s/one", dir), *two = xasprintf("%s/two", dir);
	__cleanup(freep) char *both = xasprintf("%s:%s", one, two);
	__cleanup(freep) char *flat = xasprintf("%s/x.c", one), *deep = xasprintf("%s/y/x.c", two);
	__cleanup(freep) char *mapped = xasprintf("%s/moved/z.c", dir);
	__cleanup(freep) char *moved = xasprintf("%s/moved", dir);

	shell(dir, "mkdir -p one two/y moved fifo && touch one/x.c two/y/x.c moved/z.c && mkfifo "
		   "fifo/w.c");
	search_init(&sp);
	search_print(&sp, &b);
	assert_string_equal(b.data, "$expts:.");
	check_found(&sp, "/nowhere/x.c", NULL);
	check_found(&sp, "", NULL);
	search_set(&sp, both);
	check_found(&sp, "/nowhere/x.c", flat);
	search_set(&sp, two);
	check_found(&sp, "/y/x.c", deep); /* as in a tree */
	check_found(&sp, "/build/reproducible/y/x.c", deep);
	check_found(&sp, "debian/build/y/x.c", deep);
	check_found(&sp, "/nowhere/x.c", NULL);
	assert_int_equal(search_map(&sp, "/src", one, &d), 0); /* the first existing one is used */
	assert_int_equal(search_map(&sp, "/src", moved, &d), 0);
	check_found(&sp, "/src/z.c", mapped);
	check_found(&sp, "/srcs/z.c", NULL); /* no prefix: another name */
	assert_int_equal(search_map(&sp, "", one, &d), -1);
	search_set(&sp, "fifo"); /* not a regular file: it is skipped, without waiting for it */
	check_found(&sp, "/w.c", NULL);
	buf_free(&b);
	diag_free(&d);
	search_free(&sp);
	tempdir_remove(dir);
}

/* --- a vmlinux --- */

static const char kernel_source[] =
	"\t.file 1 \"kernel.c\"\n"
	"\t.text\n"
	"\t.macro function name, line\n"
	"\t.globl \\name\n\t.type \\name, @function\n"
	"\\name:\n\t.loc 1 \\line\n\tret\n\t.skip 255, 0x90\n\t.size \\name, . - \\name\n"
	"\t.endm\n";

/* Functions 256 bytes apart, in this order. Each has a line: 10, 20, … */
static void write_functions(const char *dir, const char *const *names, const char *command)
{
	struct buf b = { 0 };
	unsigned line = 0;

	buf_puts(&b, kernel_source);
	for (; *names; names++)
		buf_printf(&b, "\tfunction %s, %u\n", *names, line += 10);
	tempdir_write(dir, "kernel.s", b.data, b.len);
	buf_free(&b);
	shell(dir, command);
}

static void write_vmlinux(const char *dir, const char *const *names)
{
	write_functions(dir, names,
			"gcc -nostdlib -static -Wl,-Ttext=0x1000000,-e0,--build-id=none "
			"-o vmlinux kernel.s");
}

static const char recorded[] = "k:vfs_read>k:do_sys>k:entry";
static const char *const same_order[] = { "vfs_read", "do_sys", "entry", NULL };

/* A recording and a vmlinux with these functions, for the tests to look up. */
static struct func *open_beside_vmlinux(struct opened *o, const char *const *names)
{
	fixture_new(o);
	exp_builder_profile(o->builder, 1, recorded, MS_SYSTEM, 1);
	write_vmlinux(o->dir, names);
	fixture_open(o);
	return the_func(o, "do_sys");
}

/* A module is a relocatable file. Its name in the list of modules has no hyphen. */
static void lines_of_a_module_come_from_its_file(void **state)
{
	static const char *const names[] = { "mod_init", "mod_read", NULL };
	struct srcline at;
	struct opened o;
	unsigned char code;
	struct func *f;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "k:entry>k:my_mod`mod_init>k:my_mod`mod_read", MS_SYSTEM,
			    1);
	write_functions(o.dir, names, "gcc -c -o my_mod.ko kernel.s");
	fixture_open(&o);
	search_set(session_search(o.session), o.dir);
	f = the_func(&o, "mod_read");
	assert_true(func_srcline(o.session, f, 16, &at));
	assert_int_equal(at.line, 20);
	assert_int_equal(func_code(o.session, f, 0, &code, 1), 1);
	assert_int_equal(code, 0xc3);
	assert_false(func_srcline(o.session, the_func(&o, "entry"), 16, &at));
	fixture_free(&o);
}

/* Modules compressed as distributions do it. A damaged one causes a warning and is not used. */
static void compressed_modules_are_unpacked(void **state)
{
	static const char *const names[] = { "mod_init", "mod_read", NULL };
	static const struct {
		const char *there, *pack;
		bool good;
	} packs[] = {
		{ "command -v xz >/dev/null", "xz my_mod.ko", true },
		{ "command -v gzip >/dev/null", "gzip my_mod.ko", true },
		{ "command -v zstd >/dev/null", "zstd -q --rm my_mod.ko", true },
		{ "command -v xz >/dev/null", "xz my_mod.ko && truncate -s -40 my_mod.ko.xz", false },
		{ "command -v gzip >/dev/null", "gzip my_mod.ko && truncate -s -40 my_mod.ko.gz", false },
		{ "command -v zstd >/dev/null", "zstd -q --rm my_mod.ko && truncate -s -40 my_mod.ko.zst", false },
	};

	for (size_t i = 0; i < sizeof(packs) / sizeof(packs[0]); i++) {
		__cleanup(freep) char *make = xasprintf("gcc -c -o my_mod.ko kernel.s && %s",
							packs[i].pack);
		unsigned char code;
		struct opened o;
		struct srcline at;
		struct func *f;

		if (system(packs[i].there)) /* Debian has no zstd by itself */
			continue;
		fixture_new(&o);
		exp_builder_profile(o.builder, 1, "k:my_mod`mod_init>k:my_mod`mod_read", MS_SYSTEM,
				    1);
		write_functions(o.dir, names, make);
		fixture_open(&o);
		search_set(session_search(o.session), o.dir);
		f = the_func(&o, "mod_read");
		assert_int_equal(func_srcline(o.session, f, 16, &at), packs[i].good);
		assert_int_equal(func_code(o.session, f, 0, &code, 1), packs[i].good);
		assert_int_equal(f->obj->diag.nwarnings, !packs[i].good);
		fixture_free(&o);
	}
}

static void kernel_lines_and_code_come_from_its_vmlinux(void **state)
{
	const struct machine *m;
	struct srcline at;
	struct opened o;
	unsigned char code;
	struct func *f = open_beside_vmlinux(&o, same_order);

	search_set(session_search(o.session), o.dir);
	assert_true(func_srcline(o.session, f, 16, &at));
	assert_int_equal(at.line, 20);
	assert_string_equal(base_name(at.file), "kernel.c");
	assert_int_equal(func_code(o.session, f, 0, &code, 1), 1);
	assert_int_equal(code, 0xc3);
	m = func_machine(o.session, f);
	assert_non_null(m);
	assert_int_equal(m->elf_machine, EM_X86_64);
	fixture_free(&o);
}

/* Each experiment has the symbols of its own stacks only. The kernel is the same for all. */
static void functions_that_only_a_sub_experiment_mentions_count(void **state)
{
	static const char *const names[] = { "mod_init", "mod_read", NULL };
	struct exp_builder *sub;
	struct srcline at;
	struct opened o;

	fixture_new_kernel(&o);
	exp_builder_profile(o.builder, 1, "k:entry", MS_KERNEL_CPU, 1);
	sub = exp_builder_sub(o.builder, "_p_PID_9.1.er", "p", 9);
	exp_builder_profile(sub, 1, "k:entry>k:my_mod`mod_init>k:my_mod`mod_read", MS_SYSTEM, 1);
	exp_builder_close(sub);
	write_functions(o.dir, names, "gcc -c -o my_mod.ko kernel.s");
	fixture_open(&o);
	search_set(session_search(o.session), o.dir);
	assert_true(func_srcline(o.session, the_func(&o, "mod_read"), 16, &at));
	assert_int_equal(at.line, 20);
	fixture_free(&o);
}

/* A separate section is loaded elsewhere than the rest. The name identifies the function. */
static void sections_of_a_module_move_each_for_itself(void **state)
{
	static const char *const names[] = { "mod_a", "mod_b", "mod_c", NULL };
	struct srcline at;
	struct opened o;

	fixture_new(&o);
	/* The recorded order is that of this stack: mod_late comes first here … */
	exp_builder_profile(o.builder, 1,
			    "k:my_mod`mod_late>k:my_mod`mod_a>k:my_mod`mod_b>k:my_mod`mod_c",
			    MS_SYSTEM, 1);
	for (const char *const *n = (const char *const[]){ "d", "e", "f", "g", "h", "i", "j", NULL };
	     *n; n++) {
		__cleanup(freep) char *f = xasprintf("k:my_mod`mod_%s", *n);

		exp_builder_profile(o.builder, 1, f, MS_SYSTEM, 1);
	}
	write_functions(o.dir, names,
			"for n in d e f g h i j; do echo \"function mod_$n, 99\"; done >>kernel.s; "
			"echo '.section .text.late,\"ax\"' >>kernel.s; " /* … and the last there */
			"echo 'function mod_late, 77' >>kernel.s; gcc -c -o my_mod.ko kernel.s");
	fixture_open(&o);
	search_set(session_search(o.session), o.dir);
	assert_true(func_srcline(o.session, the_func(&o, "mod_late"), 16, &at));
	assert_int_equal(at.line, 77);
	assert_true(func_srcline(o.session, the_func(&o, "mod_b"), 16, &at));
	assert_int_equal(at.line, 20);
	fixture_free(&o);
}

/* A function that is defined in another file has a name, but is not a function of this one. */
static void a_module_s_calls_to_the_kernel_have_names(void **state)
{
	static const char *const names[] = { "mod_read", NULL };
	struct opened o;
	uint64_t offset;
	unsigned char code[5];
	int32_t distance;
	struct func *f;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "k:my_mod`mod_call", MS_SYSTEM, 1);
	write_functions(o.dir, names,
			"echo 'mod_call: call elsewhere\n.type mod_call, @function\n"
			".size mod_call, 256\n.skip 251' >>kernel.s; gcc -c -o my_mod.ko kernel.s");
	fixture_open(&o);
	search_set(session_search(o.session), o.dir);
	f = the_func(&o, "mod_call");
	assert_int_equal(func_code(o.session, f, 0, code, 5), 5);
	assert_int_equal(code[0], 0xe8);
	memcpy(&distance, code + 1, sizeof(distance));
	assert_string_equal(func_name_at(o.session, f, f->addr + 5 + distance, &offset), "elsewhere");
	assert_int_equal(offset, 0);
	fixture_free(&o);
}

/* What was not found is searched for again. It is found as soon as the path leads there. */
static void a_new_search_path_is_tried(void **state)
{
	struct srcline at;
	struct opened o;
	struct func *f = open_beside_vmlinux(&o, same_order);

	assert_false(func_srcline(o.session, f, 16, &at));
	search_set(session_search(o.session), o.dir);
	assert_true(func_srcline(o.session, f, 16, &at));
	fixture_free(&o);
}

/* With a build id a single common function is enough. Without one, even all of them are not. */
static void the_recorded_build_id_decides(void **state)
{
	static const char right[] = "0123456789abcdef", wrong[] = "0123456789abcdee";
	struct srcline at;
	struct opened o;

	for (int i = 0; i < 3; i++) {
		__cleanup(freep) char *text = xasprintf(
			"<kernel module=\"vmlinux\" build_id=\"%s\"/>\n",
			i == 0 ? right : i == 1 ? wrong : "../../../../tmp/vmlinux");

		fixture_new(&o);
		exp_builder_profile(o.builder, 1, i ? recorded : "k:vfs_read",
				    MS_SYSTEM, 1);
		expwriter_replace(exp_builder_writer(o.builder), "recorder.xml", text);
		write_functions(o.dir, same_order,
				"gcc -nostdlib -static -Wl,-Ttext=0x1000000,-e0,"
				"--build-id=0x0123456789abcdef -o vmlinux kernel.s");
		fixture_open(&o);
		search_set(session_search(o.session), o.dir);
		/* An invalid build id counts as none. */
		assert_int_equal(func_srcline(o.session, the_func(&o, "vfs_read"), 16, &at), i != 1);
		fixture_free(&o);
	}
}

/* Two kernels in one session: each function belongs to the kernel that it was recorded in. */
static void two_boots_have_their_own_files(void **state)
{
	struct srcline at;
	struct opened o;
	struct exp_builder *other;
	__cleanup(freep) char *path = NULL;
	func_vec found = { 0 };

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, recorded, MS_SYSTEM, 1);
	/* Another build: the same functions at other addresses and in another order. */
	other = exp_builder_new(o.dir, "t.2.er");
	exp_builder_profile(other, 1, "k:a>k:b>k:c>k:entry>k:vfs_read>k:do_sys", MS_SYSTEM, 1);
	exp_builder_close(other);
	write_vmlinux(o.dir, same_order);
	fixture_open(&o);
	path = xasprintf("%s/t.2.er", o.dir);
	assert_int_equal(session_add(o.session, path), 0);
	search_set(session_search(o.session), o.dir);
	session_find_funcs(o.session, "do_sys", &found);
	assert_int_equal(found.len, 2);
	/* The first kernel's file exists, the second one's does not. */
	assert_int_not_equal(func_srcline(o.session, found.data[0], 16, &at),
			     func_srcline(o.session, found.data[1], 16, &at));
	vec_free(&found);
	fixture_free(&o);
}

/* With other distances between functions it is another kernel, whatever the file's name. */
static void vmlinux_of_another_kernel_is_not_used(void **state)
{
	static const char *const names[] = { "entry", "other", "do_sys", "vfs_read", NULL };
	struct srcline at;
	struct opened o;
	struct func *f = open_beside_vmlinux(&o, names);

	search_set(session_search(o.session), o.dir);
	assert_false(func_srcline(o.session, f, 16, &at));
	assert_true(f->obj->diag.nwarnings >= 1);
	assert_non_null(strstr(f->obj->diag.msgs[0].text, "not the kernel that was recorded"));
	fixture_free(&o);
}

/* --- dyntext --- */

static void put_record(struct buf *b, uint32_t type, const void *p, uint32_t size)
{
	uint32_t head[2] = { type, size + 8 };

	buf_add(b, head, sizeof(head));
	buf_add(b, p, size);
}

static void write_dyntext(struct opened *o, uint64_t vaddr)
{
	const uint64_t header[2] = { 0, vaddr }, other[2] = { 0, vaddr + 0x100000 };
	static const unsigned char code[16] = { 0x55, 0x90, 0xc3 }, wrong[16] = { 0xcc };
	const uint32_t lines[4] = { 0, 7, 2, 9 };
	struct buf b = { 0 };

	put_record(&b, 1, other, sizeof(other));
	put_record(&b, 2, wrong, sizeof(wrong));
	put_record(&b, 1, header, sizeof(header));
	put_record(&b, 2, code, sizeof(code));
	put_record(&b, 3, lines, sizeof(lines));
	put_record(&b, 4, "/jit/script.js\0", 16);
	buf_add(&b, "\1\0\0\0\xff", 5); /* cut off */
	tempdir_write(o->dir, "t.1.er/dyntext", b.data, b.len);
	buf_free(&b);
}

static void dynamic_functions_have_the_code_that_was_recorded(void **state)
{
	unsigned char code[64];
	struct srcline at;
	struct opened o;
	struct func *f;

	fixture_new(&o);
	write_dyntext(&o, exp_builder_func(o.builder, "jitted", 16));
	exp_builder_profile(o.builder, 1, "main>jitted", MS_USER, 1);
	fixture_open(&o);
	f = the_func(&o, "jitted");
	assert_int_equal(func_code(o.session, f, 1, code, sizeof(code)), 15);
	assert_int_equal(code[0], 0x90);
	assert_int_equal(func_code(o.session, f, 99, code, sizeof(code)), 0);
	assert_true(func_srcline(o.session, f, 1, &at) && at.line == 7);
	assert_true(func_srcline(o.session, f, 2, &at) && at.line == 9);
	assert_string_equal(at.file, "/jit/script.js");
	assert_false(func_srcline(o.session, the_func(&o, "main"), 0, &at));
	assert_int_equal(func_code(o.session, the_func(&o, "main"), 0, code, 1), 0);
	fixture_free(&o);
}

/* A runtime uses the memory of a function for another one. */
static void dynamic_functions_share_an_address(void **state)
{
	enum { CODE = 0x7e000000, SIZE = 20 };
	static const char old_code[SIZE] = "old code", new_code[SIZE] = "new code";
	static const struct exp_line lines[] = { { 0, 0 }, { 4, 7 }, { 9, 8 } };
	line_code_vec rows = { 0 };
	struct srcline at;
	unsigned char code[64];
	struct expwriter *w;
	struct opened o;

	fixture_new(&o);
	w = exp_builder_writer(o.builder);
	expwriter_dynamic(w, &(struct exp_code){ .time_ns = exp_builder_now(o.builder), .vaddr = CODE, .size = SIZE,
						 .name = "old", .code = old_code, .ncode = SIZE });
	exp_builder_profile(o.builder, 1, "main>0x7e000004", MS_USER, 1);
	exp_builder_sleep(o.builder, 1000);
	expwriter_dynamic(w, &(struct exp_code){ .time_ns = exp_builder_now(o.builder), .vaddr = CODE, .size = SIZE,
						 .name = "new", .alias = "newer", .source = "a.c", .lines = lines,
						 .nlines = 3, .code = new_code, .ncode = SIZE });
	exp_builder_sleep(o.builder, 1000);
	exp_builder_profile(o.builder, 1, "main>0x7e000004", MS_USER, 1);
	fixture_open(&o);
	assert_true(func_code(o.session, the_func(&o, "old"), 0, code, SIZE) == SIZE);
	assert_memory_equal(code, old_code, SIZE);
	assert_true(func_code(o.session, the_func(&o, "new"), 0, code, SIZE) == SIZE);
	assert_memory_equal(code, new_code, SIZE);
	assert_string_equal(func_aliases(o.session, the_func(&o, "new")), "newer");
	assert_null(func_aliases(o.session, the_func(&o, "old")));
	assert_string_equal(func_source(o.session, the_func(&o, "new")), "a.c");
	assert_null(func_source(o.session, the_func(&o, "old")));
	assert_false(func_srcline(o.session, the_func(&o, "new"), 3, &at));
	assert_true(func_srcline(o.session, the_func(&o, "new"), 8, &at));
	assert_true(at.line == 7 && !strcmp(at.file, "a.c"));
	func_lines(o.session, the_func(&o, "new"), &rows);
	assert_true(rows.len == 2 && rows.data[1].offset == 9 && rows.data[1].src.line == 8);
	vec_free(&rows);
	fixture_free(&o);
}

static void parts_belong_to_their_function(void **state)
{
	struct loadobj here = { .kernel = true }, there = { .kernel = true };
	struct func f = { .obj = &here, .mangled = "hot" };
	struct func cold = { .obj = &here, .mangled = "hot.cold" };
	struct func cold1 = { .obj = &here, .mangled = "hot.cold.1" };
	struct func colder = { .obj = &here, .mangled = "hot.colder" };
	struct func other = { .obj = &there, .mangled = "hot.cold" };

	assert_true(func_is_part_of(NULL, &f, &f));
	assert_true(func_is_part_of(NULL, &cold, &f));
	assert_true(func_is_part_of(NULL, &cold1, &f));
	assert_false(func_is_part_of(NULL, &colder, &f));
	assert_false(func_is_part_of(NULL, &other, &f));
	assert_false(func_is_part_of(NULL, &f, &cold));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sources_are_looked_for_in_order),
		cmocka_unit_test(kernel_lines_and_code_come_from_its_vmlinux),
		cmocka_unit_test(lines_of_a_module_come_from_its_file),
		cmocka_unit_test(compressed_modules_are_unpacked),
		cmocka_unit_test(vmlinux_of_another_kernel_is_not_used),
		cmocka_unit_test(functions_that_only_a_sub_experiment_mentions_count),
		cmocka_unit_test(sections_of_a_module_move_each_for_itself),
		cmocka_unit_test(a_module_s_calls_to_the_kernel_have_names),
		cmocka_unit_test(a_new_search_path_is_tried),
		cmocka_unit_test(the_recorded_build_id_decides),
		cmocka_unit_test(two_boots_have_their_own_files),
		cmocka_unit_test(dynamic_functions_have_the_code_that_was_recorded),
		cmocka_unit_test(dynamic_functions_share_an_address),
		cmocka_unit_test(parts_belong_to_their_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
