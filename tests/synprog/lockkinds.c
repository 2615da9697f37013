/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lockkinds: main waits once, for about a fifth of a second, for each kind of lock that POSIX threads
 * have, and for the end of the thread that it always waits for.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t a_mutex = PTHREAD_MUTEX_INITIALIZER, other_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t a_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t a_condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t a_barrier, has_mutex, has_rwlock;
static sem_t a_semaphore;
static int ready;

static void pass_time(void)
{
	usleep(200000);
}

static void *thread(void *unused)
{
	pthread_mutex_lock(&a_mutex);
	pthread_barrier_wait(&has_mutex);
	pass_time();
	pthread_mutex_unlock(&a_mutex);
	pthread_rwlock_wrlock(&a_rwlock);
	pthread_barrier_wait(&has_rwlock);
	pass_time();
	pthread_rwlock_unlock(&a_rwlock);
	pass_time();
	sem_post(&a_semaphore);
	pass_time();
	pthread_mutex_lock(&other_mutex);
	ready = 1;
	pthread_mutex_unlock(&other_mutex);
	pthread_cond_signal(&a_condition);
	pass_time();
	pthread_barrier_wait(&a_barrier);
	pass_time();
	return unused;
}

int main(void)
{
	pthread_t t;

	sem_init(&a_semaphore, 0, 0);
	pthread_barrier_init(&a_barrier, NULL, 2);
	pthread_barrier_init(&has_mutex, NULL, 2);
	pthread_barrier_init(&has_rwlock, NULL, 2);
	if (pthread_create(&t, NULL, thread, NULL))
		return 1;
	pthread_barrier_wait(&has_mutex);
	pthread_mutex_lock(&a_mutex);
	pthread_mutex_unlock(&a_mutex);
	pthread_barrier_wait(&has_rwlock);
	pthread_rwlock_rdlock(&a_rwlock);
	pthread_rwlock_unlock(&a_rwlock);
	sem_wait(&a_semaphore);
	pthread_mutex_lock(&other_mutex);
	while (!ready)
		pthread_cond_wait(&a_condition, &other_mutex);
	pthread_mutex_unlock(&other_mutex);
	pthread_barrier_wait(&a_barrier);
	return pthread_join(t, NULL);
}
