/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that execute another program. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/live/child.h"

static struct capture_plan states = { .interval_ns = 10 * MS, .states = true };
/* The old program runs for 60 ms and is sampled certainly; the new one, for a few ms, seldom. */
static struct capture_plan rarely = { .interval_ns = 25 * MS, .states = true };

static void *exec_here(void *arg)
{
	report->tid = gettid();
	sleep_ms(20);
	execl("/proc/self/exe", "nap", "nap", NULL); /* main() sleeps for 50 ms */
	return NULL;
}

static void exec_in_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, exec_here, NULL);
	pthread_join(t, NULL);
}

/*
 * The thread's accounting ends under its own number and continues under the leader's. The leader
 * had ended, too.
 */
static void test_exec(void)
{
	struct capture *c = begin(&states);
	pid_t pid = child(exec_in_thread);
	const struct thread_sum *old, *leader;
	uint64_t slept = 0, again = 0;
	int status;

	waitpid(pid, &status, 0);
	end(c);
	old = thread_sum(pid, report->tid);
	leader = thread_sum(pid, pid);
	/* Totals from two CPUs may come in any order. */
	for (size_t i = 0; i < totals.len; i++) {
		const struct er_total *t = &totals.data[i];

		if (t->task.tid != (uint32_t)pid)
			continue;
		slept += t->off_ns[ER_OFF_SLEEP];
		again = t->begin_ns > again ? t->begin_ns : again;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) || !report->tid) {
		printf("skip exec in a thread: it did not\n");
	} else {
		result("exec in a thread",
		       old->ntotals == 1 && leader->ntotals == 2 &&
			       slept >= 45 * MS,
		       "%u totals under its own number, %u under the leader's; slept %.1f ms",
		       old->ntotals, leader->ntotals, ms(slept));
		/*
		 * In the meantime the distance between the two clocks may change by about a
		 * microsecond.
		 */
		result("exec in a thread, begins where it ended",
		       near(again, old->total.end_ns, 0, (emulated ? 20 : 1) * MS), "%.3f ms later",
		       ((double)again - (double)old->total.end_ns) / MS);
		check_exact("exec in a thread, sums");
	}
	capture_close(c);
}

static void spin_and_exec(void)
{
	spin_ms(60);
	execl("/proc/self/exe", "nap", "nap", NULL);
}

/*
 * Time of the new program is not attributed to the stack of the old program's last sample. The new
 * program runs for about a millisecond, so it may also be sampled itself.
 */
static void test_exec_forgets(void)
{
	uint64_t weight = 0, unsampled = 0;

	for (int i = 0; i < 8 && !unsampled; i++) {
		struct capture *c = begin(&rarely);
		pid_t pid = child(spin_and_exec);

		waitpid(pid, NULL, 0);
		end(c);
		weight = thread_sum(pid, pid)->cpu_weight;
		unsampled = thread_sum(pid, pid)->unsampled_weight;
		capture_close(c);
	}
	if (emulated && !unsampled)
		printf("skip exec forgets the last sample: the program was sampled each time\n");
	else
		result("exec forgets the last sample",
		       unsampled && unsampled < weight && weight > 55 * MS,
		       "%.3f ms of %.3f are of no sample's stack", ms(unsampled), ms(weight));
}

int main(int argc, char **argv)
{
	static const struct selftest cases[] = {
		{ "exec", test_exec },
		{ "exec", test_exec_forgets },
	};

	if (argc > 1 && !strcmp(argv[1], "nap")) {
		sleep_ms(50);
		return 0;
	}
	child_init();
	return selftest_main(argc, argv, cases, sizeof(cases) / sizeof(*cases));
}
