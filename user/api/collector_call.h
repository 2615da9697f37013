/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a program's calls of the collector API reach its recorder. The recorder listens at an abstract
 * datagram socket. Its name and a token are in the environment of the load. A call is one datagram
 * from an abstract socket, and one byte is the answer, when the call has been carried out.
 *
 * A process that the recorder attaches to has no such environment. For it the recorder listens at a
 * socket with the process's number in its name, and then raises the semaphore of the library's USDT
 * probe er:collector in this process, which only a privileged recorder can do. Calls need no token
 * there: the kernel says which process has sent them.
 */
#ifndef USER_API_COLLECTOR_CALL_H
#define USER_API_COLLECTOR_CALL_H

#include <stdint.h>

#define COLLECTOR_VARIABLE "ER_COLLECTOR" /* "SOCKET TOKEN", both in hexadecimal */
#define COLLECTOR_ATTACHED "er_collector.%d" /* the abstract name for an attached process; its PID */
#define COLLECTOR_PROVIDER "er"
#define COLLECTOR_PROBE "collector"

enum {
	COLLECTOR_VERSION = 1,
	COLLECTOR_TOKEN = 32, /* characters */
	COLLECTOR_TEXT = 256, /* bytes of a label, with its NUL */
};

enum collector_op {
	COLLECTOR_PAUSE,
	COLLECTOR_RESUME,
	COLLECTOR_SAMPLE, /* `text` is its label */
	COLLECTOR_TERMINATE,
	COLLECTOR_OPS,
};

struct collector_call {
	uint32_t version, op; /* enum collector_op */
	char token[COLLECTOR_TOKEN]; /* zeros from an attached process */
	char text[COLLECTOR_TEXT]; /* ends with a NUL */
};

#endif
