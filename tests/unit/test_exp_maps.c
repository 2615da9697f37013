/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which segments the writer puts into map.xml, and when. */
#include "tests/unit/expwriter_fixture.h"

/* The present map.xml; "" if there is none. */
static char *map_of(struct expwriter *w, const char *dir)
{
	struct stat st;

	assert_int_equal(expwriter_flush(w), 0);
	return fstatat(expwriter_dirfd(w), "map.xml", &st, 0) < 0 ? xstrdup("") :
								   tempdir_read(dir, "map.xml", NULL);
}

static void assert_maps(struct expwriter *w, const char *dir, const char *names)
{
	__cleanup(freep) char *map = map_of(w, dir);
	char got[64] = "";

	for (const char *p = map; (p = strstr(p, "name=\"/"));) {
		p += strlen("name=\"/");
		strncat(got, p, 1);
	}
	assert_string_equal(got, names);
}

static bool written[8]; /* of segment "/a" + i */

static void add_segment(struct expwriter *w, uint64_t vaddr, const char *name)
{
	expwriter_segment(w, &(struct exp_segment){ .vaddr = vaddr, .size = 0x1000, .modes = 5,
						    .name = name, .written = &written[name[1] - 'a'] });
}

/* The segments that are reported as written are those on disk. */
static void assert_written(const char *names)
{
	for (size_t i = 0; i < sizeof(written) / sizeof(*written); i++)
		assert_int_equal(written[i], !!strchr(names, 'a' + (int)i));
}

static void segments_are_written_when_mentioned(void **state)
{
	__cleanup(freep) char *dir = xasprintf("%s/t.1.er", (char *)*state);
	uint64_t in_b[] = { (uint64_t)-4096, 0x2fff }, stray = 0x9000;
	struct expwriter *w;
	int dirfd;

	w = new_writer(*state, "t.1.er", &dirfd);
	add_segment(w, 0x1000, "/a");
	add_segment(w, 0x2000, "/b");
	add_segment(w, 0x3000, "/c");
	add_segment(w, 0x4000, "/d");
	assert_maps(w, dir, "");
	expwriter_stack(w, 1, in_b, 2);
	expwriter_stack(w, 2, in_b, 2);
	assert_maps(w, dir, "b");
	assert_written("b");
	/* A segment replaces another, and one is removed. */
	add_segment(w, 0x3800, "/e");
	assert_maps(w, dir, "bcde");
	expwriter_unmap(w, 1, 0x1000);
	assert_maps(w, dir, "bcdea");
	/* The stack may be used again once something is mapped there. */
	add_segment(w, 0x5000, "/f");
	expwriter_stack(w, 3, &stray, 1);
	add_segment(w, 0x9000, "/g");
	assert_maps(w, dir, "bcdeag");
	assert_written("bcdeag");
	assert_int_equal(expwriter_close(w), 0);
	close(dirfd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEMPDIR_CASE(segments_are_written_when_mentioned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
