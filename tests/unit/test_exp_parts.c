/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sub-experiments that share files: what is on disk, what our reader reads, and what gprofng reads.
 */
#include "analysis/experiment/exp_stacks.h"
#include "tests/unit/expwriter_fixture.h"

/* Their logs: clock packets with and without waits. */
static void announce(struct expwriter *founder, unsigned ptimer_us, bool waits)
{
	expwriter_parts_begin(founder, &header);
	expwriter_clock_profile(founder, ptimer_us, STATES_ALL, waits);
	expwriter_parts_end(founder);
}

static struct expwriter *new_part(struct expwriter *founder, const char *name, pid_t pid)
{
	struct exp_header h = header;
	struct expwriter *w = NULL;

	h.pid = pid;
	assert_int_equal(expwriter_create_part(founder, name, &h, NULL, &w), 0);
	return w;
}

/* Add a function, a kernel function, and a clock packet of nticks in each of them. */
static void fill_part(struct expwriter *founder, struct expwriter *w, uint32_t nticks)
{
	static const uint64_t kernel = 0xffffffff81000004, user = 0x1004;
	struct clock_packet p = { .lwp = 1, .thread = 1, .time_ns = header.start_ns + 1,
				  .nticks = nticks };

	expwriter_function(w, header.start_ns, 0x1000, 16, "work");
	expwriter_ksym(founder, 0xffffffff81000000, 0x10, "vfs_read", NULL);
	for (p.stack = 1; p.stack <= 2; p.stack++) {
		expwriter_stack(w, p.stack, p.stack == 1 ? &user : &kernel, 1);
		p.state = p.stack == 1 ? MS_USER : MS_SYSTEM;
		expwriter_clock(w, &p);
	}
	expwriter_exit(w, header.start_ns + 2000000000);
}

/* Create t.1.er with two parts, of 100 and of 20 ticks of 1 ms in each function. */
static void write_parts(const char *dir)
{
	int dirfd;
	struct expwriter *founder = new_writer(dir, "t.1.er", &dirfd);
	struct expwriter *a, *b;

	expwriter_clock_profile(founder, 1000, STATES_KERNEL, false);
	announce(founder, 1000, true);
	a = new_part(founder, "_a_PID_7.1.er", 7);
	b = new_part(founder, "_b_PID_8.1.er", 8);
	fill_part(founder, a, 100);
	fill_part(founder, b, 20);
	expwriter_exit(founder, header.start_ns + 2000000000);
	assert_int_equal(expwriter_flush(founder), 0);
	assert_int_equal(expwriter_close(a), 0);
	assert_int_equal(expwriter_close(b), 0);
	assert_int_equal(expwriter_close(founder), 0);
	close(dirfd);
}

static void assert_part(struct experiment *e, int64_t pid)
{
	assert_int_equal(e->diag.nmsgs, 0);
	assert_true(e->closed);
	assert_int_equal(e->pid, pid);
	assert_string_equal(e->process, "a");
	assert_int_equal(e->end_ns, 2000000000);
	assert_int_equal(e->stacks.len, 2);
	assert_int_equal(count_packets(e), 2);
	assert_int_equal(e->maps.len, 2); /* the kernel and the function */
}

static void parts_have_files_in_common(void **state)
{
	__cleanup(freep) char *path = xasprintf("%s/t.1.er", (char *)*state);
	__cleanup(freep) char *alone = xasprintf("%s/_b_PID_8.1.er", path);
	struct experiment *e, *part;
	struct stat a, b;

	write_parts(*state);
	for (int i = 0; i < 2; i++) {
		static const char *const files[] = { "log.xml", "kallmodsyms" };
		__cleanup(freep) char *in_a = xasprintf("%s/_a_PID_7.1.er/%s", path, files[i]);
		__cleanup(freep) char *in_b = xasprintf("%s/%s", alone, files[i]);

		assert_int_equal(stat(in_a, &a), 0);
		assert_int_equal(stat(in_b, &b), 0);
		assert_int_equal(a.st_ino, b.st_ino);
		assert_int_equal(a.st_mode & 07777, 0600);
	}
	e = experiment_open(path, NULL);
	part = experiment_open_sub(e, "_a_PID_7.1.er");
	assert_part(part, 7);
	assert_int_equal(part->ksyms.len, 0); /* its founder's */
	experiment_close(part);
	experiment_close(e);
	part = experiment_open(alone, NULL);
	assert_part(part, 8);
	assert_int_equal(part->ksyms.len, 1);
	experiment_close(part);
}

/* A part has copies if it cannot have links, because the original is missing. */
static void parts_can_do_without_links(void **state)
{
	__cleanup(freep) char *dir = xasprintf("%s/t.1.er/_b_PID_8.1.er", (char *)*state);
	int dirfd;
	struct expwriter *founder = new_writer(*state, "t.1.er", &dirfd), *w;

	announce(founder, 1, false);
	expwriter_close(new_part(founder, "_a_PID_7.1.er", 7));
	unlinkat(expwriter_dirfd(founder), "common.xml", 0);
	unlinkat(expwriter_dirfd(founder), "common.kallmodsyms", 0);
	w = new_part(founder, "_b_PID_8.1.er", 8);
	assert_int_equal(expwriter_close(w), 0);
	assert_has(dir, "log.xml", "<profdata fname=\"data.frameinfo\"/>");
	assert_has(dir, "kallmodsyms", " 0 t <kernel>\n");
	assert_has(dir, "map.xml", "<process pid=\"8\"");
	expwriter_close(founder);
	close(dirfd);
}

/* Whether `gprofng display text` prints this line. */
static bool gprofng_prints(const char *dir, const char *commands, const char *line)
{
	__cleanup(freep) char *cmd = xasprintf("cd '%s' && ASAN_OPTIONS= LC_ALL=C gp-display-text %s t.1.er "
					       "2>&1 | grep -qF -- '%s'", dir, commands, line);

	return !system(cmd);
}

/* Stacks that have the same callers, so that each part gets a node for them. */
static void put_stacks(struct expwriter *w, uint32_t first_uid)
{
	uint64_t pcs[9];

	for (uint32_t i = 0; i < 4; i++) {
		for (size_t k = 0; k < 9; k++)
			pcs[k] = k ? 0x1000 + k : 0x2000 + i;
		expwriter_stack(w, first_uid + i, pcs, 9);
	}
}

static void assert_stacks(struct experiment *founder, const char *name, size_t n)
{
	struct experiment *e = experiment_open_sub(founder, name);

	assert_int_equal(e->diag.nmsgs, 0);
	assert_int_equal(e->stacks.len, n);
	vec_for_each(st, &e->stacks) {
		assert_int_equal(st->npcs, 9);
		assert_int_equal(experiment_pc(e, st, 8), 0x1008);
	}
	experiment_close(e);
}

/*
 * Parts remember together which callers were written, but each has all that its stacks mention: also
 * after it has forgotten them, and after its founder has.
 */
static void each_part_has_its_callers(void **state)
{
	__cleanup(freep) char *path = xasprintf("%s/t.1.er", (char *)*state);
	int dirfd;
	struct expwriter *founder = new_writer(*state, "t.1.er", &dirfd), *a, *b;
	struct experiment *e;

	expwriter_clock_profile(founder, 1000, STATES_KERNEL, false);
	announce(founder, 1000, true);
	a = new_part(founder, "_a_PID_7.1.er", 7);
	b = new_part(founder, "_b_PID_8.1.er", 8);
	put_stacks(founder, 1);
	put_stacks(a, 11);
	put_stacks(b, 21);
	expwriter_forget(b);
	put_stacks(b, 31);
	expwriter_forget(founder);
	put_stacks(a, 41);
	expwriter_exit(a, header.start_ns + 1);
	expwriter_exit(b, header.start_ns + 1);
	assert_int_equal(expwriter_close(a), 0);
	assert_int_equal(expwriter_close(b), 0);
	assert_int_equal(expwriter_close(founder), 0);
	close(dirfd);
	e = experiment_open(path, NULL);
	assert_stacks(e, "_a_PID_7.1.er", 8);
	assert_stacks(e, "_b_PID_8.1.er", 8);
	experiment_close(e);
}

/*
 * Add a stack with a leaf of its own, `nown` callers that stacks with this `branch` share, and four
 * that all share.
 */
static void put_branch(struct expwriter *w, uint32_t uid, size_t nown, unsigned branch)
{
	uint64_t pcs[64] = { 0x100000 + uid };

	for (size_t k = 0; k < nown; k++)
		pcs[1 + k] = 0x2000 * (1 + branch) + k;
	for (size_t k = 0; k < 4; k++)
		pcs[1 + nown + k] = 0x1000 + k;
	expwriter_stack(w, uid, pcs, 1 + nown + 4);
}

/* The kinds of the packets in a part's data.frameinfo, a letter each, and its size. */
static void read_kinds(const char *dir, char *ret, size_t max, size_t *size)
{
	__cleanup(freep) char *data = tempdir_read(dir, "t.1.er/_a_PID_7.1.er/data.frameinfo", size);
	size_t n = 0;

	for (size_t at = 0; at < *size && n + 1 < max;) {
		uint16_t head[2];

		memcpy(head, data + at, sizeof(head));
		assert_in_range(head[0], 4, *size - at);
		ret[n++] = head[1] == ER_PKT_UID ? 'n' : head[1] == ER_PKT_FRAME ? 's' : 'c';
		at += head[0];
	}
	ret[n] = 0;
}

/* The bytes of a stack and of a node, with a link or without. */
enum { HEADS = 32, NODE_HEAD = 16, LINK = 8, PC = 8 };

/* An experiment with one part, which is begun or closed. */
struct one_part {
	int dirfd;
	struct expwriter *founder, *a;
};

static void begin_part(const char *dir, struct one_part *p)
{
	assert_int_equal(mkdir(dir, 0700), 0);
	p->founder = new_writer(dir, "t.1.er", &p->dirfd);
	announce(p->founder, 1000, true);
	p->a = new_part(p->founder, "_a_PID_7.1.er", 7);
}

static void close_part(struct one_part *p)
{
	assert_int_equal(expwriter_close(p->a), 0);
	assert_int_equal(expwriter_close(p->founder), 0);
	close(p->dirfd);
}

/*
 * What is in a part's file after three stacks that branch off the same eight callers: the node is
 * before all of them if they come before the first flush, else before the second one. Packets come
 * after the stacks that they refer to.
 */
static void stacks_wait_for_others(void **state)
{
	static const struct {
		bool flush;
		const char *kinds;
		size_t size;
	} cases[] = {
		{ false, "nsssccc", NODE_HEAD + 8 * PC + 3 * (HEADS + PC + LINK) + 3 * 32 },
		{ true, "scnsscc", HEADS + 9 * PC + NODE_HEAD + 8 * PC + 2 * (HEADS + PC + LINK) + 3 * 32 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		__cleanup(freep) char *dir = xasprintf("%s/%zu", (char *)*state, i);
		struct clock_packet p = { .lwp = 1, .thread = 1, .nticks = 1 };
		struct one_part part;
		char kinds[32];
		size_t size;

		begin_part(dir, &part);
		for (p.stack = 1; p.stack <= 3; p.stack++) {
			put_branch(part.a, p.stack, 4, 0);
			expwriter_clock(part.a, &p);
			if (cases[i].flush && p.stack == 1)
				assert_int_equal(expwriter_flush(part.a), 0);
		}
		assert_true(expwriter_pending(part.a) >= 2 * 9 * PC);
		close_part(&part);
		read_kinds(dir, kinds, sizeof(kinds), &size);
		assert_string_equal(kinds, cases[i].kinds);
		assert_int_equal(size, cases[i].size);
	}
}

/* Two pairs of stacks that share more than all four do: that is worth a node from three pcs on. */
static void nodes_save_something(void **state)
{
	for (size_t own = 1; own <= 4; own++) {
		__cleanup(freep) char *dir = xasprintf("%s/%zu", (char *)*state, own);
		struct one_part part;
		char kinds[32];
		size_t size;

		begin_part(dir, &part);
		for (uint32_t uid = 1; uid <= 4; uid++)
			put_branch(part.a, uid, own, uid % 2);
		close_part(&part);
		read_kinds(dir, kinds, sizeof(kinds), &size);
		assert_string_equal(kinds, own < 3 ? "nssss" : "nnsnsss");
	}
}

static void gprofng_reads_parts(void **state)
{
	static const char funcs[] = "-printmode , -metrics e.total:e.user:e.system:name -functions";

	if (system("command -v gp-display-text >/dev/null"))
		skip();
	write_parts(*state);
	assert_true(gprofng_prints(*state, funcs, "\"0.240\",\"0.120\",\"0.120\",\"<Total>\""));
	assert_true(gprofng_prints(*state, funcs, "\"0.100\",\"0.100\",\"0.\",\"work\""));
	assert_true(gprofng_prints(*state, funcs, "\"0.020\",\"0.020\",\"0.\",\"work\""));
	assert_true(gprofng_prints(*state, funcs, "\"0.120\",\"0.\",\"0.120\",\"vmlinux`vfs_read\""));
	assert_true(gprofng_prints(*state, "-header", "Process pid 7, "));
	assert_true(gprofng_prints(*state, "-header", "Process pid 8, "));
	assert_false(gprofng_prints(*state, "-header", "not closed"));
	assert_false(gprofng_prints(*state, "-header", "Error"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEMPDIR_CASE(parts_have_files_in_common),
		TEMPDIR_CASE(parts_can_do_without_links),
		TEMPDIR_CASE(each_part_has_its_callers),
		TEMPDIR_CASE(stacks_wait_for_others),
		TEMPDIR_CASE(nodes_save_something),
		TEMPDIR_CASE(gprofng_reads_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
