/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The properties. Names are gprofng's if it has one for the same thing, so that a
 * filter works with both programs.
 */
#include "analysis/metrics/property.h"

#include <string.h>

#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_io.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/twice.h"
#include "analysis/model/dataobj.h"
#include "analysis/model/names.h"
#include "analysis/model/session.h"
#include "analysis/model/spans.h"

static struct value known(int64_t i)
{
	return (struct value){ i, true };
}

static const struct value unknown = { 0, false };

/* Look a field up by name, for properties that are rarely used. */
static struct value field(const struct hit *h, const char *name)
{
	struct field_ref ref = stream_field(h->stream, name);

	return ref.offset ? known(packet_int(h->packet, ref)) : unknown;
}

static struct value get_thread(const struct hit *h)
{
	return known(hit_thread(h));
}

static struct value get_thrid(const struct hit *h)
{
	return known(hit_thrid(h));
}

static struct value get_lwpid(const struct hit *h)
{
	return known(hit_lwpid(h));
}

static struct value get_cpu(const struct hit *h)
{
	return known(hit_cpu(h));
}

static struct value get_pid(const struct hit *h)
{
	return known(hit_pid(h));
}

static struct value get_serial(const struct hit *h)
{
	unsigned serial = hit_serial(h);

	return known(serial ? serial : 1);
}

static struct value get_sample(const struct hit *h)
{
	return known(hit_sample(h));
}

static struct value get_time(const struct hit *h)
{
	return known(hit_time(h));
}

static struct value get_absolute_time(const struct hit *h)
{
	return known(packet_int(h->packet, h->fields->time));
}

static struct value get_own_time(const struct hit *h)
{
	return known(wrap_minus(packet_int(h->packet, h->fields->time), h->e->start_ns));
}

/* The absolute time when the packet's event began; the packet is written at its end. */
static struct value requested(const struct hit *h)
{
	return field(h, h->stream->kind == ER_PKT_SYNC ? "SRQST" : "IORQST");
}

static struct value get_duration(const struct hit *h)
{
	struct value start = requested(h);

	if (start.known)
		return known(wrap_minus(packet_int(h->packet, h->fields->time), start.i));
	if (h->fields->length.offset && hit_is_wait(h))
		return known(hit_wait_length(h));
	return unknown;
}

static struct value get_start(const struct hit *h)
{
	struct value length = requested(h).known ? get_duration(h) : unknown;

	return known(wrap_minus(hit_time(h), length.known ? length.i : 0));
}

static struct value get_expid(const struct hit *h)
{
	return known(h->e->id);
}

static struct value get_group(const struct hit *h)
{
	return known(h->e->group);
}

static struct value get_reason(const struct hit *h)
{
	return h->fields->reason.offset ? known(hit_reason(h)) : unknown;
}

static struct value get_leaf(const struct hit *h)
{
	const struct session *s = h->session;
	const struct stack *st = &s->stacks.data[h->stack];

	return known(frame_func(s, s->stack_frames.data[st->first])->id);
}

static struct value get_stack_id(const struct hit *h)
{
	return known(h->stack);
}

static struct value get_syscall(const struct hit *h)
{
	return h->fields->syscall.offset ? known(hit_syscall(h)) : unknown;
}

static struct value get_wait_length(const struct hit *h)
{
	return h->fields->length.offset ? known(hit_wait_length(h)) : unknown;
}

/* Threads that run no goroutine have none, and all threads of programs that are not Go. */
static struct value get_goroutine(const struct hit *h)
{
	int64_t number = hit_goroutine(h);

	return number ? known(number) : unknown;
}

static struct value get_tick(const struct hit *h)
{
	return h->stream->kind == ER_PKT_CLOCK ? known(h->stream->ptimer_us) : unknown;
}

static struct value get_mhz(const struct hit *h)
{
	return h->e->mhz > 0 ? known(h->e->mhz) : unknown;
}

/* 0 for calls that move no bytes, as in gprofng. */
static struct value get_bytes(const struct hit *h)
{
	struct value v = field(h, h->stream->kind == ER_PKT_IO ? "IONBYTE" : "HSIZE");

	return v.known ? v : known(0);
}

/* The smallest of 1, 4, 16, … bytes that is not less; -1: the call failed. */
static struct value get_size_class(const struct hit *h)
{
	int64_t n = get_bytes(h).i, limit = 1;

	if (n <= 0)
		return n ? unknown : known(0);
	while (limit < n && limit < (int64_t)1 << 50)
		limit <<= 2;
	return known(limit < n ? limit + 1 : limit);
}

/* The smallest of 1 µs, 10 µs, … that is not less. */
static struct value get_duration_class(const struct hit *h)
{
	int64_t n = get_duration(h).i, limit = 1000;

	if (n <= 0)
		return known(0);
	while (limit < n && limit < 10000000000000)
		limit *= 10;
	return known(limit < n ? limit + 1 : limit);
}

/* The thread's name at the packet's time; if unknown, its process's. */
static const char *get_comm(const struct hit *h)
{
	const struct names *n = session_names(h->session);
	const char *comm = names_thread_at(n, h->e, hit_thread(h), hit_time(h));

	return comm ? comm : names_process_at(n, h->e, hit_pid(h), hit_time(h));
}

static const char *get_cgroup(const struct hit *h)
{
	return names_cgroup_at(session_names(h->session), h->e, hit_thread(h), hit_time(h));
}

static struct value get_file(const struct hit *h)
{
	uint32_t file = experiment_io_file(h->e, h->packet);

	return file ? known(file) : unknown;
}

/* The file's name, also for packets that have only a descriptor. */
static const char *get_file_name(const struct hit *h)
{
	uint32_t file = experiment_io_file(h->e, h->packet);

	return file ? h->e->io_files.data[file].name : NULL;
}

const struct dataobj *hit_data_object(const struct hit *h, uint64_t *offset)
{
	struct field_ref vaddr = stream_field(h->stream, "VADDR");

	if (!vaddr.offset)
		return NULL;
	return session_data_object(h->session, h->e, packet_int(h->packet, vaddr),
				   wrap_minus(packet_int(h->packet, h->fields->time), h->e->start_ns),
				   offset);
}

static struct value get_data_object(const struct hit *h)
{
	uint64_t offset;
	const struct dataobj *o = hit_data_object(h, &offset);

	return o && o->obj ? known(o->id) : unknown;
}

static const char *get_data_name(const struct hit *h)
{
	uint64_t offset;
	const struct dataobj *o = hit_data_object(h, &offset);

	return o ? o->name : NULL;
}

static const char *get_span(const struct hit *h)
{
	const struct span_call *c = hit_span(h);

	return c ? session_spans(h->session)->names.data[c->name].sum.name : NULL;
}

static const char *get_span_text(const struct hit *h)
{
	const struct span_call *c = hit_span(h);

	return c ? span_text(session_spans(h->session), c) : NULL;
}

static struct value get_span_percent(const struct hit *h)
{
	const struct span_call *c = hit_span(h);

	return c ? known(c->percent) : unknown;
}

static struct value get_twice(const struct hit *h)
{
	return known(twice_has(h));
}

const struct property properties[] = {
	{ "THRID", "thread: er_kernel the system's id, else its number from 1", .get = get_thrid },
	{ "TID", "thread, the system's id", .get = get_thread },
	{ "LWPID", "lightweight process: er_kernel the process, else its number from 1",
	  .get = get_lwpid },
	{ "PID", "process", .get = get_pid },
	{ "SERIAL", "which of the processes that had this PID one after the other, from 1",
	  .get = get_serial },
	{ "COMM", "name of the thread at that time, or else of its process", .text = get_comm },
	{ "CGROUP", "path of its cgroup", .text = get_cgroup },
	{ "CPUID", "CPU", .get = get_cpu },
	{ "TSTAMP", "nanoseconds from the start of the recording", .get = get_time },
	{ "TSTAMP_LO", "the same, of its beginning", .get = get_start },
	{ "TSTAMP_HI", "the same, of its end", .get = get_time },
	{ "ETSTAMP", "nanoseconds from the start of its experiment", .get = get_own_time },
	{ "ATSTAMP", "time stamp as recorded", .get = get_absolute_time },
	{ "EVT_TIME", "nanoseconds that it took", "SRQST IORQST WLEN", .get = get_duration },
	{ "SAMPLE", "sample it fell into, -1 none", .get = get_sample },
	{ "EXPID", "experiment, as experiment_list numbers them", .get = get_expid },
	{ "EXPGRID", "experiment or group file that was named, from 1", .get = get_group },
	{ "TWICE", "1 if a recording of a program that is open has it, too; else 0", .get = get_twice },
	{ "LEAF", "function that was running", .get = get_leaf },
	{ "STACKID", "call stack", .get = get_stack_id },
	{ "STATE", "microstate", "MSTATE", .values = &enum_states },
	{ "MSTATE", "microstate", "MSTATE", .values = &enum_states },
	{ "NTICK_USEC", "microseconds of one tick", "NTICK", .get = get_tick },
	{ "FREQ_MHZ", "clock of the CPU", .get = get_mhz },
	{ "REASON", "why a thread was off the CPU", "REASON", .get = get_reason,
	  .values = &enum_reasons },
	{ "SYSCALL", "system call it was in, by number; -1 none", "SYSCALL", .get = get_syscall,
	  .values = &enum_syscalls },
	{ "GOID", "goroutine of Go", "GOID", .get = get_goroutine },
	{ "WAITLEN", "nanoseconds that the wait lasted", "WLEN", .get = get_wait_length },
	{ "SPAN", "span that contains it", "SPAN", .text = get_span },
	{ "SPANPCT", "percentage of the span's calls that are shorter, 0 to 99", "SPAN",
	  .get = get_span_percent },
	{ "SPANTEXT", "text of the span", "SPAN", .text = get_span_text },
	{ "DOBJ", "data object, by number", "VADDR", .get = get_data_object },
	{ "DNAME", "data object, by name", "VADDR", .text = get_data_name },
	{ "HTYPE", "heap function", "HTYPE", .values = &enum_heap_types },
	{ "IOTYPE", "kind of I/O", "IOTYPE", .values = &enum_io_types },
	{ "IOFNAME", "file that was read, written, opened", "IOFNAME", .text = get_file_name },
	{ "IOVFD", "number of a file as it was opened once, in its experiment", "IOFD",
	  .get = get_file },
	{ "IOHEAPBYTES", "bytes allocated, read or written", "HSIZE IONBYTE", .get = get_bytes },
	{ "DATASIZE", "the same, rounded up to a power of 4", "HSIZE IONBYTE",
	  .get = get_size_class },
	{ "DURATION", "nanoseconds that it took, rounded up to a power of 10", "SRQST IORQST WLEN",
	  .get = get_duration_class },
};

const size_t nproperties = sizeof(properties) / sizeof(properties[0]);

/* Other names for rows, from gprofng. */
static const struct {
	const char *name, *means;
} aliases[] = {
	{ "SAMPLE_MAP", "SAMPLE" }, { "EXPID_CMP", "EXPID" }, { "TSTAMP2", "TSTAMP_HI" },
};

const struct property *property_find(const char *name)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		if (!strcmp(aliases[i].name, name))
			name = aliases[i].means;
	}
	for (size_t i = 0; i < nproperties; i++) {
		if (!strcmp(properties[i].name, name))
			return &properties[i];
	}
	return NULL;
}

bool property_in_stream(const struct property *p, const struct exp_stream *st)
{
	for (const char *at = p->fields; at && *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");
		__cleanup(freep) char *name = xstrndup(at, n);

		if (stream_field(st, name).offset)
			return true;
		at += n;
	}
	return !p->fields;
}
