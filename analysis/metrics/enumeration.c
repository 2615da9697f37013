/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The enumerations: names of microstates, wait reasons, system calls, and traced calls. */
#include <string.h>
#include <strings.h>

#include "analysis/experiment/mstate.h"
#include "analysis/experiment/packet.h"
#include "analysis/experiment/syscalls.h"
#include "analysis/metrics/property.h"
#include "analysis/model/session.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool find_name(const char *const *names, size_t n, const char *name, int64_t *ret)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcasecmp(names[i], name)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

static const char *state_name(const struct experiment *e, int64_t value)
{
	return value >= 0 && value < MS_COUNT ? mstate_descs[value].name : NULL;
}

static bool state_value(const struct session *s, const char *name, int64_t *ret)
{
	for (int i = 0; i < MS_COUNT; i++) {
		if (!strcasecmp(mstate_descs[i].name, name)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

const struct enumeration enum_states = {
	"a microstate",
	"USER SYSTEM TRAP TFAULT DFAULT KFAULT USER_LOCK SLEEP WAIT_CPU STOPPED LINUX_CPU "
	"KERNEL_CPU",
	state_name,
	state_value,
};

static const char *reason_name(const struct experiment *e, int64_t value)
{
	return value >= 0 && value < REASON_COUNT ? reason_descs[value].name : NULL;
}

static bool reason_value(const struct session *s, const char *name, int64_t *ret)
{
	for (int i = 0; i < REASON_COUNT; i++) {
		if (!strcasecmp(reason_descs[i].name, name)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

const struct enumeration enum_reasons = {
	"a wait reason",
	"NONE DISK NETWORK PIPE POLL TIMER CHILD USER_LOCK KERNEL_LOCK FILE_LOCK RECLAIM FAULT "
	"WRITEBACK "
	"THROTTLED PREEMPTED WOKEN STOPPED TRACED FROZEN SIGNAL TTY EVENT IPC IO_URING KERNEL_SYNC "
	"NO_WORK EXIT OTHER STOLEN STOLEN_IRQ RUNTIME_IDLE",
	reason_name,
	reason_value,
};

static const char *call_name(const struct experiment *e, int64_t value)
{
	return value == -1 ? "<no system call>" : syscall_name(e->arch, value);
}

/* System call numbers are those of the first experiment's machine. */
static bool call_value(const struct session *s, const char *name, int64_t *ret)
{
	int nr = s->experiments.len ? syscall_number(s->experiments.data[0]->arch, name) : -1;

	*ret = nr;
	return nr >= 0;
}

const struct enumeration enum_syscalls = {
	"a system call", "names of system calls, as in syscalls(2)", call_name, call_value,
};

static const char *const heap_types[] = { "MALLOC", "FREE", "REALLOC", "MMAP", "MUNMAP" };

static const char *heap_name(const struct experiment *e, int64_t value)
{
	return value >= 0 && value < (int64_t)COUNT(heap_types) ? heap_types[value] : NULL;
}

static bool heap_value(const struct session *s, const char *name, int64_t *ret)
{
	return find_name(heap_types, COUNT(heap_types), name, ret);
}

const struct enumeration enum_heap_types = {
	"a heap function", "MALLOC FREE REALLOC MMAP MUNMAP", heap_name, heap_value,
};

static const char *const io_types[] = {
	"READ", "WRITE", "OPEN", "CLOSE", "OTHER",
	"READ_ERROR", "WRITE_ERROR", "OPEN_ERROR", "CLOSE_ERROR", "OTHER_ERROR",
};

static const char *io_name(const struct experiment *e, int64_t value)
{
	return value >= 0 && value < (int64_t)COUNT(io_types) ? io_types[value] : NULL;
}

static bool io_value(const struct session *s, const char *name, int64_t *ret)
{
	return find_name(io_types, COUNT(io_types), name, ret);
}

const struct enumeration enum_io_types = {
	"a kind of I/O",
	"READ WRITE OPEN CLOSE OTHER READ_ERROR WRITE_ERROR OPEN_ERROR CLOSE_ERROR OTHER_ERROR",
	io_name, io_value,
};
