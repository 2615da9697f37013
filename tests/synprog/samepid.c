/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * samepid COMMAND…: runs the commands, each a line for sh, one after the other, all as processes
 * with the same PID, which clone3(2) sets. Prints "pid", a tab and the PID. Needs root in the
 * initial PID namespace.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* pid 0: the kernel chooses. */
static pid_t start(pid_t pid, const char *command)
{
	struct clone_args args = { .exit_signal = SIGCHLD, .set_tid = pid ? (uintptr_t)&pid : 0,
				   .set_tid_size = pid ? 1 : 0 };
	char *exec = NULL;
	pid_t child = syscall(SYS_clone3, &args, sizeof(args));

	if (child)
		return child;
	if (asprintf(&exec, "exec %s", command) > 0)
		execl("/bin/sh", "sh", "-c", exec, (char *)NULL);
	_exit(127);
}

int main(int argc, char **argv)
{
	pid_t pid = 0;

	for (int i = 1; i < argc; i++) {
		pid_t child = start(pid, argv[i]);
		int status;

		if (child < 0) {
			fprintf(stderr, "samepid: cannot create process %d: %s\n", pid,
				strerror(errno));
			return 1;
		}
		pid = child;
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	printf("pid\t%d\n", pid);
	return 0;
}
