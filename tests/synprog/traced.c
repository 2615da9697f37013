/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * traced DIR
 *
 * Does some of everything that gprofng's collector records: CPU time in several threads, waits
 * for a mutex, memory that is freed and memory that is not, files, pipes and calls that fail, a
 * child that does the same, and a program that the child starts. Creates files in DIR.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NTHREADS = 3, ROUNDS = 5, BLOCK = 4096 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sink;
static void *volatile kept[64];
static size_t nkept;

static void burn(unsigned long n)
{
	for (unsigned long i = 0; i < n * 100000; i++)
		sink += i * i;
}

static void *hold_lock(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		burn(20);
		usleep(5000);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void lock_in_threads(void)
{
	pthread_t threads[NTHREADS];

	for (int i = 0; i < NTHREADS; i++)
		pthread_create(&threads[i], NULL, hold_lock, NULL);
	for (int i = 0; i < NTHREADS; i++)
		pthread_join(threads[i], NULL);
}

static void keep(size_t size)
{
	kept[nkept++ % 64] = malloc(size);
}

static void use_memory(void)
{
	static const size_t sizes[] = { 1, 100, 1024, 5000, 40000, 200000, 3000000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		void *volatile p = calloc(1, sizes[i]);

		keep(sizes[i] + 1);
		free(p);
	}
}

static void use_files(const char *dir)
{
	char path[4096], block[BLOCK];
	int fd, copy;

	memset(block, 'x', sizeof(block));
	snprintf(path, sizeof(path), "%s/data", dir);
	fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
	for (int i = 0; i < 20; i++)
		sink += write(fd, block, i < 10 ? BLOCK : 100);
	copy = dup(fd);
	sink += lseek(copy, 0, SEEK_SET);
	for (int i = 0; i < 10; i++)
		sink += read(copy, block, 1000);
	close(fd);
	close(copy);
	fd = open("/nonexistent/file", O_RDONLY);
	sink += read(fd, block, sizeof(block));
}

static void use_pipe(void)
{
	char text[100] = "";
	int fds[2];

	if (pipe(fds))
		return;
	sink += write(fds[1], text, sizeof(text));
	sink += read(fds[0], text, sizeof(text));
	close(fds[0]);
	close(fds[1]);
}

static void all(const char *dir)
{
	burn(500);
	lock_in_threads();
	use_memory();
	use_files(dir);
	use_pipe();
}

int main(int argc, char **argv)
{
	const char *dir = argc > 1 ? argv[1] : "/tmp";
	pid_t child;

	all(dir);
	if (argc > 2)
		return 0;
	child = fork();
	if (!child) {
		all(dir);
		execl(argv[0], argv[0], dir, "last", NULL);
		_exit(1);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	return 0;
}
