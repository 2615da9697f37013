/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug files found by build id: of the kernel and of a stripped program, from a server that the
 * user named. libdebuginfod is replaced by a library made here, with the same name, that looks into
 * a directory.
 */
#include <dlfcn.h>
#include <fcntl.h>

#include "analysis/model/source.h"
#include "analysis/symbols/archive.h"
#include "analysis/symbols/debuginfod.h"
#include "analysis/symbols/lineinfo.h"
#include "analysis/symbols/symtab.h"
#include "tests/fixtures/tempdir.h"
#include "tests/unit/session_fixture.h"

static const char client_source[] =
	"#include <errno.h>\n#include <fcntl.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
	"void *debuginfod_begin(void) { return malloc(1); }\n"
	"void debuginfod_end(void *c) { free(c); }\n"
	"int debuginfod_find_debuginfo(void *c, const unsigned char *id, int len, char **path)\n"
	"{ char name[4096]; int fd;\n"
	"  snprintf(name, sizeof(name), \"%s/%s\", getenv(\"DEBUGINFOD_URLS\"), (const char *)id);\n"
	"  fd = len ? -EINVAL : open(name, O_RDONLY); return fd < 0 ? -errno : fd; }\n"
	"int debuginfod_find_executable(void *c, const unsigned char *id, int len, char **path)\n"
	"{ return debuginfod_find_debuginfo(c, id, len, path); }\n";

static const char program[] =
	"\t.file 1 \"served.c\"\n\t.text\n\t.globl vfs_read\n\t.type vfs_read, @function\n"
	"vfs_read:\n\t.cfi_startproc\n\t.loc 1 42\n\tret\n\t.skip 255, 0x90\n\t.cfi_endproc\n"
	"\t.size vfs_read, 256\n";

static void shell(const char *dir, const char *command)
{
	__cleanup(freep) char *line = xasprintf("cd '%s' && %s", dir, command);

	assert_int_equal(system(line), 0);
}

/* Create in dir: the client library, a program, a stripped copy of it, and the server's files. */
static void serve(const char *dir)
{
	__cleanup(freep) char *client = xasprintf("%s/client.so", dir);

	tempdir_write(dir, "client.c", client_source, strlen(client_source));
	tempdir_write(dir, "served.s", program, strlen(program));
	shell(dir, "gcc -shared -fPIC -Wl,-soname,libdebuginfod.so.1 -o client.so client.c");
	shell(dir, "gcc -nostdlib -static -Wl,-Ttext=0x1000000,-e0,--build-id=0x0123456789abcdef "
		   "-o 0123456789abcdef served.s && "
		   "strip -o stripped 0123456789abcdef");
	assert_non_null(dlopen(client, RTLD_NOW)); /* later calls find it by its name */
	setenv("DEBUGINFOD_URLS", dir, 1);
}

static void lines_of_a_stripped_program(void **state)
{
	char *dir = tempdir_new();
	__cleanup(freep) char *path = xasprintf("%s/stripped", dir);
	__cleanup(closep) int fd = -1;
	struct symtab_opts opts = { .path = path, .ask = debuginfod_open };
	struct diag d = { 0 };
	struct lineinfo *l;
	struct line_at at;

	serve(dir);
	fd = open(path, O_RDONLY);
	l = lineinfo_open(fd, &opts, &d);
	assert_non_null(l);
	assert_true(lineinfo_find(l, 0x1000000, &at));
	assert_int_equal(at.line, 42);
	lineinfo_free(l);
	setenv("DEBUGINFOD_URLS", "", 1); /* then no server is asked */
	assert_null(lineinfo_open(fd, &opts, &d));
	assert_int_equal(d.nmsgs, 0);
	diag_free(&d);
	tempdir_remove(dir);
}

/* The server is asked only if the reader wants that and a symbol is missing. */
static void names_of_a_stripped_program(void **state)
{
	char *dir = tempdir_new();
	__cleanup(freep) char *path = xasprintf("%s/stripped", dir);
	__cleanup(closep) int fd = -1;
	struct symtab_opts opts = { .path = path };
	struct diag d = { 0 };
	struct symtab *t;

	serve(dir);
	fd = open(path, O_RDONLY);
	t = symtab_open(fd, &opts, &d);
	assert_null(symtab_find(t, 0x1000000));
	symtab_free(t);
	opts.ask = debuginfod_open;
	t = symtab_open(fd, &opts, &d);
	assert_non_null(symtab_find(t, 0x1000000));
	assert_string_equal(symtab_find(t, 0x1000000)->name, "vfs_read");
	assert_string_equal(symtab_source(t), "debuginfod");
	symtab_free(t);
	/* No debug file is needed for a program that has symbols. */
	close(fd);
	free(path);
	path = xasprintf("%s/0123456789abcdef", dir);
	fd = open(path, O_RDONLY);
	t = symtab_open(fd, &opts, &d);
	assert_string_equal(symtab_source(t), "symtab");
	symtab_free(t);
	setenv("DEBUGINFOD_URLS", "", 1);
	assert_int_equal(d.nmsgs, 0);
	diag_free(&d);
	tempdir_remove(dir);
}

/* Its symbols are archived, and the file itself no longer exists. */
static void code_of_a_program_that_is_gone(void **state)
{
	__cleanup(freep) char *path = NULL, *expdir = NULL;
	struct opened o;
	unsigned char code;
	int dir, fd;

	fixture_new(&o);
	serve(o.dir);
	path = xasprintf("%s/gone", o.dir);
	shell(o.dir, "cp 0123456789abcdef gone");
	exp_builder_segment(o.builder, path, 0x1000000, 0x1000, 0x1000);
	exp_builder_profile(o.builder, 1, "0x1000000", MS_USER, 1);
	exp_builder_close(o.builder);
	expdir = xasprintf("%s/t.1.er", o.dir);
	dir = open(expdir, O_RDONLY | O_DIRECTORY);
	fd = open(path, O_RDONLY);
	assert_int_equal(archive_add(dir, fd, path, ARCHIVE_SYMBOLS, &o.diag), 0);
	close(fd);
	close(dir);
	shell(o.dir, "rm gone");
	fixture_open_built(&o);
	assert_int_equal(func_code(o.session, the_func(&o, "vfs_read"), 0, &code, 1), 1);
	assert_int_equal(code, 0xc3);
	fixture_free(&o);
}

/* A kernel that does not run here is found by its recorded build id. */
static void lines_and_code_of_the_recorded_kernel(void **state)
{
	static const char id[] = "<kernel module=\"vmlinux\" build_id=\"0123456789abcdef\"/>\n";
	struct srcline at;
	struct opened o;
	unsigned char code;
	struct func *f;

	fixture_new(&o);
	serve(o.dir);
	exp_builder_profile(o.builder, 1, "k:vfs_read", MS_SYSTEM, 1);
	expwriter_replace(exp_builder_writer(o.builder), "recorder.xml", id);
	fixture_open(&o);
	f = the_func(&o, "vfs_read");
	assert_true(func_srcline(o.session, f, 16, &at));
	assert_int_equal(at.line, 42);
	assert_int_equal(func_code(o.session, f, 0, &code, 1), 1);
	assert_int_equal(code, 0xc3);
	fixture_free(&o);
}

static void without_a_build_id_nothing_is_served(void **state)
{
	struct srcline at;
	struct opened o;

	fixture_new(&o);
	serve(o.dir);
	exp_builder_profile(o.builder, 1, "k:vfs_read", MS_SYSTEM, 1);
	fixture_open(&o);
	assert_false(func_srcline(o.session, the_func(&o, "vfs_read"), 16, &at));
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_of_a_program_that_is_gone),
		cmocka_unit_test(lines_of_a_stripped_program),
		cmocka_unit_test(names_of_a_stripped_program),
		cmocka_unit_test(lines_and_code_of_the_recorded_kernel),
		cmocka_unit_test(without_a_build_id_nothing_is_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
