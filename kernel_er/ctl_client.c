/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel_er/ctl_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "user/ctl/place.h"
#include "user/ctl/server.h"

enum {
	MAX_REPLY = 16 << 10,
	PATIENCE_MS = 30000, /* a recorder that writes to a slow disk answers late */
	DUMP_PATIENCE_MS = 600000, /* a dump may be large */
	RETRY_MS = 50,
};

/* --- one recorder --- */

/* Like ctl_connect, but waits while the recorder has its maximum of connections. */
static int reach(int dirfd, const char *name)
{
	const struct timespec moment = { .tv_nsec = RETRY_MS * 1000000 };
	int fd = ctl_connect(dirfd, name);

	for (int ms = 0; fd == -EAGAIN && ms < PATIENCE_MS; ms += RETRY_MS) {
		nanosleep(&moment, NULL);
		fd = ctl_connect(dirfd, name);
	}
	return fd;
}

/*
 * Wait so long for the reply. Returns the reply without its first byte, which is stored in *ok. NULL: no
 * reply came.
 */
static char *receive(int fd, int patience_ms, bool *ok)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	char text[MAX_REPLY + 1];
	ssize_t n;

	if (poll(&ready, 1, patience_ms) <= 0)
		return NULL;
	n = recv(fd, text, MAX_REPLY, MSG_DONTWAIT);
	/*
	 * The recorder refused without reading the request. Its reply can still be read after this
	 * error.
	 */
	if (n < 0 && errno == ECONNRESET)
		n = recv(fd, text, MAX_REPLY, MSG_DONTWAIT);
	if (n <= 0)
		return NULL;
	text[n] = '\0';
	*ok = *text == CTL_OK;
	return xstrdup(text + 1);
}

/* A recorder of another user refuses before it receives the request, so sending fails. */
static char *ask(int fd, const char *request, bool *ok)
{
	(void)!send(fd, request, strlen(request), MSG_NOSIGNAL);
	return receive(fd, strcmp(request, "dump") ? PATIENCE_MS : DUMP_PATIENCE_MS, ok);
}

/* Print line by line, because a newline inside a line would be escaped. */
static void print(FILE *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		diag_say(out, "%.*s", (int)n, text);
		text += n + (text[n] == '\n');
	}
}

/* The recorder closes its side when it has written everything. */
static void await_end(int fd)
{
	char byte;

	fcntl(fd, F_SETFL, 0);
	while (recv(fd, &byte, 1, 0) < 0 && errno == EINTR)
		continue;
}

/* Send the request to the socket `name` (see ctl_connect), and print the reply. */
static int carry_out(int dirfd, const char *name, const char *request, FILE *out, struct diag *d)
{
	int fd = reach(dirfd, name), status = 1;
	bool ok = false;
	char *text;

	if (fd == -EACCES || fd == -EPERM)
		return diag_error(d, "recorder '%s': only its user and root may control it", name), 1;
	if (fd < 0)
		return diag_errno(d, -fd, "recorder '%s': cannot be reached", name), 1;
	text = ask(fd, request, &ok);
	if (!text) {
		diag_error(d, "recorder '%s': does not answer: try again; if it is stopped, kill -CONT continues "
			      "it", name);
	} else if (!ok) {
		diag_error(d, "recorder '%s': %s", name, text);
	} else {
		print(out, text);
		if (!strcmp(request, "stop"))
			await_end(fd);
		status = 0;
	}
	free(text);
	close(fd);
	return status;
}

/* --- which recorder --- */

/*
 * Remove the sockets of recorders that were killed from the list. True: all others belong to
 * another user.
 */
static bool keep_living(int dirfd, ctl_names *names)
{
	bool foreign = false;
	size_t n = 0;

	vec_for_each(name, names) {
		int fd = ctl_connect(dirfd, name->text);

		if (fd >= 0)
			close(fd);
		foreign |= fd == -EACCES || fd == -EPERM;
		if (fd >= 0 || fd == -EAGAIN)
			names->data[n++] = *name;
	}
	names->len = n;
	return foreign;
}

/* For a caller other than root: whether root has recorders. */
static bool root_records(void)
{
	int dirfd = open(CTL_ROOT_PLACE, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ctl_names names = { 0 };
	bool records;

	if (dirfd < 0)
		return false;
	ctl_place_list(dirfd, &names);
	records = keep_living(dirfd, &names);
	vec_free(&names);
	close(dirfd);
	return records;
}

/* The last component of a line of a status, such as "experiment"; NULL: there is no such line. */
static char *line_of(const char *status, const char *word)
{
	__cleanup(freep) char *begin = xasprintf("\n%s:", word);
	__cleanup(freep) char *line = NULL;
	const char *at = strstr(status, begin), *slash;

	if (!at)
		return NULL;
	at += strlen(begin);
	at += strspn(at, " ");
	line = xstrndup(at, strcspn(at, "\n"));
	slash = strrchr(line, '/');
	return xstrdup(slash ? slash + 1 : line);
}

/* The caller frees it. NULL: there is no answer. */
static char *status_of(int dirfd, const char *name)
{
	int fd = reach(dirfd, name);
	bool ok = false;
	char *status = fd < 0 ? NULL : ask(fd, "status", &ok);

	closep(&fd);
	return status;
}

/* By its name, or by the name of the experiment that it writes now. */
static bool is_called(int dirfd, const char *name, const char *which)
{
	static const char *const words[] = { "name", "experiment" };
	__cleanup(freep) char *status = NULL;
	bool same = false;

	if (ctl_name_pid(which))
		return !strcmp(name, which);
	status = status_of(dirfd, name);
	for (size_t i = 0; status && i < sizeof(words) / sizeof(words[0]); i++) {
		__cleanup(freep) char *value = line_of(status, words[i]);

		same |= value && !strcmp(value, which);
	}
	return same;
}

/* Remove the recorders that `which` does not name. */
static void keep_called(int dirfd, ctl_names *names, const char *which)
{
	size_t n = 0;

	vec_for_each(name, names) {
		if (is_called(dirfd, name->text, which))
			names->data[n++] = *name;
	}
	names->len = n;
}

static int refuse_none(const char *which, struct diag *d)
{
	if (geteuid() && root_records())
		diag_error(d, "no recorder of yours runs%s; root's may be controlled by root only",
			   which ? " under this name" : "");
	else if (which)
		diag_error(d, "--pid '%s': no recorder of yours has this process ID or experiment: "
			      "er_kernel --ctl status lists them", which);
	else
		diag_error(d, "no recorder of yours runs, or it has no control socket: its option -v "
			      "says why");
	return 1;
}

static int refuse_many(int dirfd, const ctl_names *names, struct diag *d)
{
	struct buf list = { 0 };

	vec_for_each(name, names) {
		__cleanup(freep) char *status = status_of(dirfd, name->text);
		__cleanup(freep) char *called = status ? line_of(status, "name") : NULL;

		buf_printf(&list, "%s%s (%s)", list.len ? ", " : "", name->text,
			   called ? called : "no answer");
	}
	diag_error(d, "several recorders run: %s: choose one with --pid", list.data);
	buf_free(&list);
	return 1;
}

static int ask_all(int dirfd, const ctl_names *names, FILE *out, struct diag *d)
{
	int status = 0;

	vec_for_each(name, names) {
		if (name != names->data)
			putc('\n', out);
		status |= carry_out(dirfd, name->text, "status", out, d);
	}
	return status;
}

/* A status prints the path of an experiment; others are paths of sockets. */
static bool is_experiment_path(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && !strcmp(dot, ".er");
}

int ctl_client(const char *request, const char *which, FILE *out, struct diag *d)
{
	const char *slash = which ? strrchr(which, '/') : NULL;
	ctl_names names = { 0 };
	char place[CTL_PLACE];
	int dirfd, status;

	if (slash && !is_experiment_path(which))
		return carry_out(-1, which, request, out, d);
	which = slash ? slash + 1 : which;
	dirfd = ctl_place_open(false, place);
	if (dirfd >= 0) {
		ctl_place_list(dirfd, &names);
		keep_living(dirfd, &names);
	}
	if (which)
		keep_called(dirfd, &names, which);
	if (!names.len)
		status = refuse_none(which, d);
	else if (names.len == 1)
		status = carry_out(dirfd, names.data->text, request, out, d);
	else if (!strcmp(request, "status"))
		status = ask_all(dirfd, &names, out, d);
	else
		status = refuse_many(dirfd, &names, d);
	vec_free(&names);
	closep(&dirfd);
	return status;
}
