/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far a file extends in memory, with headers as linkers write them and with hostile ones. */
#include "user/space/extent.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct image {
	Elf64_Ehdr h;
	Elf64_Phdr p[2];
};

/* Code at offset 0x1000, linked at 0x12000; data linked at 0x14000, 0x800 bytes. */
static struct image image_of(void)
{
	struct image im = {
		.h = { .e_ident = ELFMAG, .e_phoff = offsetof(struct image, p),
		       .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2 },
		.p = { { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = 0x1010,
			 .p_vaddr = 0x12010, .p_filesz = 0x900, .p_memsz = 0x900 },
		       { .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = 0x2000,
			 .p_vaddr = 0x14000, .p_filesz = 0x10, .p_memsz = 0x800 } },
	};

	im.h.e_ident[EI_CLASS] = ELFCLASS64;
	return im;
}

static uint64_t extent(const struct image *im, uint64_t pgoff)
{
	FILE *f = tmpfile();
	uint64_t ret;

	assert_non_null(f);
	assert_int_equal(fwrite(im, sizeof(*im), 1, f), 1);
	assert_int_equal(fflush(f), 0);
	ret = extent_of_fd(fileno(f), pgoff);
	fclose(f);
	return ret;
}

static void test_data_follows_code(void **state)
{
	struct image im = image_of();

	assert_int_equal(extent(&im, 0x1000), 0x14800 - 0x11000);
	/* If the mapping is not one of code, nothing is known. */
	assert_int_equal(extent(&im, 0x2000), 0);
	assert_int_equal(extent(&im, 0), 0);
}

static void test_impossible_headers(void **state)
{
	struct image im = image_of();

	im.p[1].p_memsz = EXTENT_MAX;
	assert_int_equal(extent(&im, 0x1000), 0);
	im = image_of();
	im.h.e_phnum = 65535;
	assert_int_equal(extent(&im, 0x1000), 0);
	im = image_of();
	im.h.e_phoff = UINT64_MAX;
	assert_int_equal(extent(&im, 0x1000), 0);
	im = image_of();
	im.h.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(extent(&im, 0x1000), 0);
	im = image_of();
	im.h.e_ident[0] = 'x';
	assert_int_equal(extent(&im, 0x1000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data_follows_code),
		cmocka_unit_test(test_impossible_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
