/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that opens files for the recorder: what it hands over, and how long it is waited for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "loaders/privilege.h"
#include "user/space/copies.h"
#include "user/space/mapped.h"
#include "user/space/opener.h"
#include "user/space/patience.h"
#include "user/space/procfs.h"
#include "user/space/procmap.h"

#define SECOND 1000000000LL

/* --- patience --- */

static void half_of_what_is_left(void **state)
{
	struct patience p = { 0 };

	assert_int_equal(patience_limit(&p, SECOND, false), SECOND);
	patience_spend(&p, SECOND);
	assert_int_equal(patience_limit(&p, SECOND, false), SECOND / 2);
	patience_spend(&p, SECOND);
	assert_int_equal(patience_limit(&p, SECOND, false), 0);
	/* Devices that answered before are waited for until the debt is as large. */
	assert_int_equal(patience_limit(&p, SECOND, true), PATIENCE_SHORT_NS);
	patience_spend(&p, 2 * SECOND);
	assert_int_equal(patience_limit(&p, SECOND, true), 0);
	patience_free(&p);
}

static void a_share_of_the_time(void **state)
{
	struct patience p = { 0 };

	patience_limit(&p, SECOND, false);
	patience_spend(&p, 2 * SECOND);
	assert_int_equal(patience_limit(&p, 21 * SECOND, false), SECOND / 2);
	assert_int_equal(patience_limit(&p, 1000 * SECOND, false), SECOND); /* no more than at first */
	patience_spend(&p, 50000);
	assert_int_equal(patience_limit(&p, 1000 * SECOND, false), SECOND); /* the usual answer is free */
	patience_free(&p);
}

static void refused_for_ever(void **state)
{
	struct patience p = { 0 };

	assert_false(patience_refuses(&p, 7));
	patience_refuse(&p, 7);
	patience_trust(&p, 8);
	assert_true(patience_refuses(&p, 7) && !patience_refuses(&p, 8));
	assert_true(patience_trusts(&p, 8) && !patience_trusts(&p, 7));
	for (int i = 0; i < PATIENCE_USER; i++) {
		assert_false(patience_refuses_user(&p, 1000));
		patience_blame_user(&p, 1000);
		patience_blame_user(&p, 0);
	}
	assert_true(patience_refuses_user(&p, 1000));
	assert_false(patience_refuses_user(&p, 1001));
	assert_false(patience_refuses_user(&p, 0));
	patience_free(&p);
}

/* --- copies --- */

static void copies_are_shared_and_counted(void **state)
{
	struct copies c = { 0 };
	int first = copies_add(&c, memfd_create("a", MFD_CLOEXEC), 1, 2, 100), second, other;
	struct stat a, b;

	assert_true(first >= 0);
	assert_int_equal(copies_find(&c, 1, 3), -ENOENT);
	second = copies_find(&c, 1, 2);
	assert_int_equal(fstat(first, &a) | fstat(second, &b), 0);
	assert_true(a.st_ino == b.st_ino && first != second);
	other = copies_add(&c, memfd_create("b", MFD_CLOEXEC), 0, 0, 11);
	assert_int_equal(copies_find(&c, 0, 0), -ENOENT);
	assert_int_equal(c.bytes, 111);
	copies_close(&c, first);
	assert_int_equal(c.bytes, 111);
	copies_close(&c, second);
	assert_int_equal(c.bytes, 11);
	assert_int_equal(copies_find(&c, 1, 2), -ENOENT);
	copies_close(&c, open("/dev/null", O_RDONLY)); /* is no copy */
	assert_int_equal(c.bytes, 11);
	copies_close(&c, other);
	assert_int_equal(c.bytes, 0);
	copies_free(&c);
}

/* --- the process --- */

static int start(void **state)
{
	struct diag d = { 0 };
	int err = privilege_begin(&d);

	err = err ? err : opener_start(&d);

	diag_free(&d);
	return err;
}

static int stop(void **state)
{
	opener_stop();
	return 0;
}

/* A mapping of this program's code. */
static bool own_code(void *ctx, const struct maps_line *l)
{
	struct mapping *m = ctx;

	if (!l->ino)
		return true;
	*m = (struct mapping){ .start = l->start, .len = l->end - l->start, .pgoff = l->pgoff,
			       .dev = l->dev, .ino = l->ino, .path = xstrdup(l->path) };
	return false;
}

static void opens_a_mapped_file(void **state)
{
	struct mapping m = { 0 };
	struct stat own, st;
	int fd;

	procfs_code(getpid(), own_code, &m);
	fd = mapped_open(getpid(), &m);
	assert_true(fd >= 0);
	assert_int_equal(stat("/proc/self/exe", &own) | fstat(fd, &st), 0);
	assert_int_equal(own.st_ino, st.st_ino);
	opener_close(&fd);
	assert_int_equal(fd, -1);
	m.ino++;
	assert_int_equal(mapped_open(getpid(), &m), -ESTALE);
	free((char *)m.path);
}

static void opens_files_of_their_owner(void **state)
{
	char name[64], path[96];
	int dir = opener_root_dir(getpid(), "tmp"), fd;

	assert_int_equal(dir >= 0 ? 0 : dir, 0);
	snprintf(name, sizeof(name), "er-opener-%d", getpid());
	snprintf(path, sizeof(path), "/tmp/%s", name);
	assert_int_equal(opener_below(getpid(), dir, name, getuid()), -ENOENT);
	close(open(path, O_CREAT | O_EXCL | O_WRONLY, 0600));
	fd = opener_below(getpid(), dir, name, getuid());
	assert_true(fd >= 0);
	opener_close(&fd);
	assert_int_equal(opener_below(getpid(), dir, name, getuid() + 1), -EACCES);
	unlink(path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(opener_below(getpid(), dir, name, OPENER_ANYONE), -ELOOP);
	unlink(path);
	close(dir);
	assert_int_equal(opener_path("/dev/null"), -ENOENT);
	fd = opener_path("/proc/self/exe");
	assert_true(fd >= 0);
	close(fd);
}

static void reads_command_lines(void **state)
{
	struct buf direct = { 0 }, asked = { 0 };

	procfs_cmdline_here(getpid(), &direct);
	opener_cmdline(getpid(), &asked);
	assert_true(direct.len > 0);
	assert_int_equal(direct.len, asked.len);
	assert_memory_equal(direct.data, asked.data, asked.len);
	buf_free(&direct);
	buf_free(&asked);
}

/* The last child of a process; 0: none. Never to be passed to kill(2) unchecked: 0 is this group. */
static pid_t child_of(pid_t pid)
{
	char path[64];
	int child = 0, one;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	f = fopen(path, "r");
	while (f && fscanf(f, "%d", &one) == 1)
		child = one;
	if (f)
		fclose(f);
	return child;
}

/* A process that does not answer is left behind, and the next request has another one. */
static void does_not_wait_for_ever(void **state)
{
	pid_t first = child_of(opener_pid());
	uint64_t before = opener_unanswered();
	struct buf text = { 0 };
	int fd;

	assert_true(first > 0);
	kill(first, SIGSTOP);
	opener_cmdline(1, &text);
	assert_int_equal(text.len, 0);
	assert_int_equal(opener_unanswered(), before + 1);
	assert_true(child_of(opener_pid()) != first);
	fd = opener_path("/proc/self/exe");
	assert_true(fd >= 0);
	close(fd);
	/* This process is not asked about again. */
	opener_cmdline(1, &text);
	assert_int_equal(text.len, 0);
	opener_cmdline(getpid(), &text);
	assert_true(text.len > 0);
	buf_free(&text);
}

static void survives_its_death(void **state)
{
	pid_t child = child_of(opener_pid());
	int fd;

	assert_true(child > 0);
	kill(child, SIGKILL);
	while (child_of(opener_pid()) && (fd = opener_path("/proc/self/exe")) < 0)
		continue;
	fd = opener_path("/proc/self/exe");
	assert_true(fd >= 0);
	close(fd);
	/* It ends with its parent, but that may take a while. */
	child = child_of(opener_pid());
	assert_true(child > 0);
	kill(opener_pid(), SIGKILL);
	kill(child, SIGKILL);
	waitpid(opener_pid(), NULL, WNOWAIT);
	for (int i = 0; i < 3; i++) {
		fd = opener_path("/proc/self/exe"); /* perhaps the last answer */
		if (fd >= 0)
			close(fd);
	}
	assert_true(fd < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_of_what_is_left),
		cmocka_unit_test(a_share_of_the_time),
		cmocka_unit_test(refused_for_ever),
		cmocka_unit_test(copies_are_shared_and_counted),
		cmocka_unit_test_setup_teardown(opens_a_mapped_file, start, stop),
		cmocka_unit_test_setup_teardown(opens_files_of_their_owner, start, stop),
		cmocka_unit_test_setup_teardown(reads_command_lines, start, stop),
		cmocka_unit_test_setup_teardown(does_not_wait_for_ever, start, stop),
		cmocka_unit_test_setup_teardown(survives_its_death, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
