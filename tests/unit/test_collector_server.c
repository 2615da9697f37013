/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder's side of the collector API: what counts as a call, of the load and of attached
 * processes, who gets an answer and when, and the bound.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/diag.h"
#include "user/record/collector_server.h"

struct fixture {
	struct collector_server *server;
	struct sockaddr_un at;
	socklen_t size;
	struct collector_call call; /* a good one */
	int ops[COLLECTOR_OPS];     /* that were carried out */
	char text[COLLECTOR_TEXT];  /* of the last one */
};

static bool carry_out(void *ctx, enum collector_op op, const char *text)
{
	struct fixture *f = ctx;

	f->ops[op]++;
	strcpy(f->text, text);
	return op != COLLECTOR_TERMINATE;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct diag d = { 0 };
	const char *value;

	f->server = collector_server_open(&d);
	assert_non_null(f->server);
	assert_int_equal(collector_server_environment(f->server), 0);
	value = getenv(COLLECTOR_VARIABLE);
	f->at.sun_family = AF_UNIX;
	f->size = offsetof(struct sockaddr_un, sun_path) + 1 + (strchr(value, ' ') - value);
	memcpy(f->at.sun_path + 1, value, strchr(value, ' ') - value);
	f->call = (struct collector_call){ .version = COLLECTOR_VERSION, .op = COLLECTOR_SAMPLE,
					   .text = "label" };
	memcpy(f->call.token, strchr(value, ' ') + 1, COLLECTOR_TOKEN);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	collector_server_close(f->server);
	free(f);
	return 0;
}

/* A socket of a program; `path` NULL: with a name and no file, as the library has. */
static int caller(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	if (path)
		strcpy(at.sun_path, path);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, path ? sizeof(at) : sizeof(at.sun_family)), 0);
	return fd;
}

static void send_to(const struct fixture *f, int fd, const void *p, size_t n)
{
	assert_int_equal(sendto(fd, p, n, 0, (const struct sockaddr *)&f->at, f->size), n);
}

static bool is_answered(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) == 1;
}

/* Send the bytes and return whether they were carried out as a sample and answered. */
static bool counts(struct fixture *f, const void *p, size_t n)
{
	int fd = caller(NULL), before = f->ops[COLLECTOR_SAMPLE];
	bool answered;

	send_to(f, fd, p, n);
	collector_server_serve(f->server, carry_out, f);
	answered = is_answered(fd);
	close(fd);
	assert_int_equal(answered, f->ops[COLLECTOR_SAMPLE] - before);
	return answered;
}

static void calls_are_carried_out_and_answered(void **state)
{
	struct fixture *f = *state;

	assert_true(counts(f, &f->call, sizeof(f->call)));
	assert_string_equal(f->text, "label");
}

static void others_are_dropped(void **state)
{
	struct fixture *f = *state;
	struct collector_call bad;
	char large[2 * sizeof(bad)] = { 0 };

	memcpy(large, &f->call, sizeof(f->call));
	assert_false(counts(f, large, sizeof(large)));
	assert_false(counts(f, &f->call, sizeof(f->call) - 1));
	assert_false(counts(f, "", 0));
	for (size_t i = 0; i < COLLECTOR_TOKEN; i++) {
		bad = f->call;
		bad.token[i] ^= 1;
		assert_false(counts(f, &bad, sizeof(bad)));
	}
	bad = f->call;
	bad.version++;
	assert_false(counts(f, &bad, sizeof(bad)));
	bad = f->call;
	bad.op = COLLECTOR_OPS;
	assert_false(counts(f, &bad, sizeof(bad)));
	bad = f->call;
	memset(bad.text, 'x', sizeof(bad.text));
	assert_false(counts(f, &bad, sizeof(bad)));
	assert_true(counts(f, &f->call, sizeof(f->call)));
}

static void no_file_gets_an_answer(void **state)
{
	struct fixture *f = *state;
	char path[] = "/tmp/test_collector_XXXXXX", *dir = mkdtemp(path), name[64];
	int fd;

	snprintf(name, sizeof(name), "%s/socket", dir);
	fd = caller(name);
	send_to(f, fd, &f->call, sizeof(f->call));
	collector_server_serve(f->server, carry_out, f);
	assert_int_equal(f->ops[COLLECTOR_SAMPLE], 1);
	assert_false(is_answered(fd));
	close(fd);
	unlink(name);
	rmdir(dir);
}

static void the_end_is_answered_when_it_has_come(void **state)
{
	struct fixture *f = *state;
	int fd = caller(NULL);

	f->call.op = COLLECTOR_TERMINATE;
	send_to(f, fd, &f->call, sizeof(f->call));
	collector_server_serve(f->server, carry_out, f);
	assert_int_equal(f->ops[COLLECTOR_TERMINATE], 1);
	assert_false(is_answered(fd));
	collector_server_stop(f->server);
	assert_true(is_answered(fd));
	assert_int_equal(sendto(fd, "", 1, 0, (struct sockaddr *)&f->at, f->size), -1);
	assert_int_equal(errno, ECONNREFUSED);
	collector_server_serve(f->server, carry_out, f);
	close(fd);
}

/* Make f->at the socket of an attached process, and the call one without a token, as the library does. */
static void attach(struct fixture *f, pid_t pid)
{
	int n;

	assert_int_equal(collector_server_attach(f->server, pid), 0);
	n = sprintf(f->at.sun_path + 1, COLLECTOR_ATTACHED, (int)pid);
	f->size = offsetof(struct sockaddr_un, sun_path) + 1 + n;
	memset(f->call.token, 0, sizeof(f->call.token));
}

/* This process has a socket; a forked child sends to it, too. */
static void an_attached_process_calls_and_no_other(void **state)
{
	struct fixture *f = *state;
	pid_t child;
	int fd;

	attach(f, getpid());
	assert_true(counts(f, &f->call, sizeof(f->call)));
	assert_false(counts(f, &f->call, sizeof(f->call) - 1));
	fd = caller(NULL);
	child = fork();
	if (!child) {
		send_to(f, fd, &f->call, sizeof(f->call));
		_exit(0);
	}
	waitpid(child, NULL, 0);
	collector_server_serve(f->server, carry_out, f);
	assert_int_equal(f->ops[COLLECTOR_SAMPLE], 1);
	assert_false(is_answered(fd));
	/* As the library: connected, so that only this server can answer. */
	assert_int_equal(connect(fd, (struct sockaddr *)&f->at, f->size), 0);
	f->call.op = COLLECTOR_TERMINATE;
	assert_int_equal(send(fd, &f->call, sizeof(f->call), 0), sizeof(f->call));
	collector_server_serve(f->server, carry_out, f);
	assert_int_equal(f->ops[COLLECTOR_TERMINATE], 1);
	collector_server_stop(f->server);
	assert_true(is_answered(fd));
	close(fd);
}

/* What a process has sent does not count once it has ended: its number may be another one's by then. */
static void an_ended_process_does_not_call(void **state)
{
	struct fixture *f = *state;
	int fd = caller(NULL), gate[2];
	pid_t child;
	char go;

	assert_int_equal(pipe(gate), 0);
	child = fork();
	if (!child) {
		close(gate[1]);
		for (int i = 0; i < 2; i++) {
			(void)!read(gate[0], &go, 1);
			f->size = offsetof(struct sockaddr_un, sun_path) + 1 +
				  sprintf(f->at.sun_path + 1, COLLECTOR_ATTACHED, (int)getpid());
			memset(f->call.token, 0, sizeof(f->call.token));
			sendto(fd, &f->call, sizeof(f->call), 0, (struct sockaddr *)&f->at, f->size);
		}
		_exit(0);
	}
	attach(f, child);
	assert_int_equal(write(gate[1], "", 1), 1);
	while (!f->ops[COLLECTOR_SAMPLE])
		collector_server_serve(f->server, carry_out, f);
	assert_int_equal(write(gate[1], "", 1), 1);
	waitpid(child, NULL, 0);
	collector_server_serve(f->server, carry_out, f);
	assert_int_equal(f->ops[COLLECTOR_SAMPLE], 1);
	close(gate[0]);
	close(gate[1]);
	close(fd);
}

static void a_process_has_one_recorder(void **state)
{
	struct fixture *f = *state;
	struct diag d = { 0 };
	struct collector_server *other = collector_server_open(&d);

	attach(f, getpid());
	assert_int_equal(collector_server_attach(other, getpid()), -EADDRINUSE);
	assert_int_equal(collector_server_attach(other, 0x7fffffff), -ESRCH);
	collector_server_stop(f->server);
	assert_int_equal(collector_server_attach(other, getpid()), 0);
	collector_server_close(other);
	diag_free(&d);
}

/* Beyond the bound a program cannot do anything but end the recording. It does not have to wait. */
static void calls_are_bounded(void **state)
{
	struct fixture *f = *state;
	int fd = caller(NULL), answers = 0;

	for (int i = 0; i < COLLECTOR_CALLS_MAX + 5; i++) {
		send_to(f, fd, &f->call, sizeof(f->call));
		collector_server_serve(f->server, carry_out, f);
		answers += is_answered(fd);
	}
	assert_int_equal(answers, COLLECTOR_CALLS_MAX + 5);
	assert_int_equal(f->ops[COLLECTOR_SAMPLE], COLLECTOR_CALLS_MAX);
	assert_int_equal(collector_server_refused(f->server), 5);
	f->call.op = COLLECTOR_TERMINATE;
	send_to(f, fd, &f->call, sizeof(f->call));
	collector_server_serve(f->server, carry_out, f);
	assert_int_equal(f->ops[COLLECTOR_TERMINATE], 1);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_are_carried_out_and_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(others_are_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(no_file_gets_an_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(the_end_is_answered_when_it_has_come, setup, teardown),
		cmocka_unit_test_setup_teardown(an_attached_process_calls_and_no_other, setup, teardown),
		cmocka_unit_test_setup_teardown(an_ended_process_does_not_call, setup, teardown),
		cmocka_unit_test_setup_teardown(a_process_has_one_recorder, setup, teardown),
		cmocka_unit_test_setup_teardown(calls_are_bounded, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
