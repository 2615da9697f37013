/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lockhold FILE RULES: holds the lock of its own address space for ever, by a file system of
 * tests/synprog/fuse.c with these rules, and burns CPU time. One thread waits for a page that is never
 * read. Another one maps the file past the page cache, for which the kernel waits for that page.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void rule(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	if (write(fd, text, strlen(text)) < 0)
		perror("lockhold");
	close(fd);
}

static void *wait_for_page(void *page)
{
	return (void *)(long)*(volatile char *)page;
}

static void *map(void *fd)
{
	return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, *(int *)fd, 0);
}

int main(int argc, char **argv)
{
	pthread_t waits, holds;
	int cached, direct;
	void *page;

	if (argc != 3)
		return 2;
	cached = open(argv[1], O_RDONLY);
	rule(argv[2], "direct");
	direct = open(argv[1], O_RDONLY);
	rule(argv[2], "READ");
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, cached, 0);
	if (page == MAP_FAILED || direct < 0)
		return 1;
	pthread_create(&waits, NULL, wait_for_page, page);
	usleep(200000);
	pthread_create(&holds, NULL, map, &direct);
	/* Nothing from here on may need the lock, as malloc does. */
	if (write(STDOUT_FILENO, "held\n", 5) < 0)
		return 1;
	for (;;)
		;
}
