/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of options: name, argument, and the function that puts it into the plan. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/regex.h"
#include "user/options/option_values.h"
#include "user/options/options_impl.h"
#include "user/options/signame.h"

/*
 * The named intervals are not whole milliseconds, so that sampling does not keep step with work
 * that the system does on its ticks. The kernel fires a clock event at most every 10 µs. We count
 * in whole microseconds.
 */
enum {
	INTERVAL_HIGH_NS = 997000,
	INTERVAL_LOW_NS = 100030000,
	INTERVAL_MIN_NS = 10000,
	INTERVAL_MAX_NS = 1000000000,
	INTERVAL_STEP_NS = 1000,
	MAX_TRACE_US = 1000000000,
};

/* The first of several requests wins: `-V --help` prints the version. */
static int request(struct options *o, enum action a)
{
	if (o->action == ACTION_RECORD)
		o->action = a;
	return 0;
}

static int opt_interval(struct options *o, const char *arg, struct diag *d)
{
	static const struct option_word named[] = {
		{ "on", INTERVAL_ON_NS },    { "high", INTERVAL_HIGH_NS }, { "hi", INTERVAL_HIGH_NS },
		{ "low", INTERVAL_LOW_NS },  { "lo", INTERVAL_LOW_NS },	   { "off", 0 },
		{ NULL, 0 },
	};
	double v;
	char *end;

	o->clock_given = true;
	if (option_word(named, arg, &o->plan.capture.interval_ns))
		return 0;
	if (!option_number(arg, &v, &end) || (*end && strcmp(end, "m") && strcmp(end, "u")))
		return diag_error(d, "-p '%s': not an interval: write on, high, low, off, or "
				     "milliseconds such as 5, 2.5 or 500u", arg);
	v *= *end == 'u' ? 1e3 : 1e6;
	if (v > INTERVAL_MAX_NS)
		return diag_error(d, "-p '%s': the interval is above 1 second: write a smaller one",
				  arg);
	if (v == 0)
		return diag_error(d, "-p '%s': no interval: write -p off for no clock profiling", arg);
	if (v < INTERVAL_MIN_NS) {
		diag_warn(d, "-p '%s': below the resolution of the clock: set to %d microseconds",
			  arg, INTERVAL_MIN_NS / 1000);
		v = INTERVAL_MIN_NS;
	}
	/* Half a nanosecond: 0.0123 ms must not become 12 µs less one by binary fractions. */
	o->plan.capture.interval_ns = (uint64_t)(v + 0.5) / INTERVAL_STEP_NS * INTERVAL_STEP_NS;
	return 0;
}

static int opt_time(struct options *o, const char *arg, struct diag *d)
{
	uint64_t first, second;
	char *end;

	if (!option_duration(arg, &first, &end))
		goto bad;
	if (!*end) {
		if (!first)
			goto bad;
		o->plan.begin_ns = 0;
		o->plan.end_ns = first;
		return 0;
	}
	if (*end != '-' || !option_duration(end + 1, &second, &end) || *end)
		goto bad;
	if (second && second <= first)
		return diag_error(d, "-t '%s': ends before it begins: write the earlier time first",
				  arg);
	o->plan.begin_ns = first;
	o->plan.end_ns = second;
	return 0;
bad:
	return diag_error(d, "-t '%s': not a duration: write seconds (10), minutes (1m), or from-to "
			     "(5-15, 5-0 to the end)", arg);
}

static int opt_quiet(struct options *o, const char *arg, struct diag *d)
{
	char *end;

	if (!option_duration(arg, &o->plan.quiet_ns, &end) || *end)
		return diag_error(d, "-q '%s': not a duration: write seconds, such as 0 or 2", arg);
	return 0;
}

static int opt_comment(struct options *o, const char *arg, struct diag *d)
{
	if (o->plan.ncomments == MAX_COMMENTS)
		return diag_error(d, "-C '%s': more than %d comments: leave some out", arg,
				  MAX_COMMENTS);
	o->plan.comments[o->plan.ncomments++] = arg;
	return 0;
}

static bool has_suffix(const char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	return n > k && !strcmp(s + n - k, suffix) && s[n - k - 1] != '/';
}

static int opt_name(struct options *o, const char *arg, struct diag *d)
{
	if (!has_suffix(arg, ".er"))
		return diag_error(d, "-o '%s': the name of an experiment must end in .er", arg);
	o->plan.name = arg;
	return 0;
}

static int opt_dir(struct options *o, const char *arg, struct diag *d)
{
	o->plan.dir = arg;
	return 0;
}

static int opt_group(struct options *o, const char *arg, struct diag *d)
{
	if (!strcmp(arg, "on"))
		arg = o->recorder == COLLECT ? "test.erg" : "ktest.erg";
	if (!has_suffix(arg, ".erg"))
		return diag_error(d, "-g '%s': the name of a group must end in .erg: write one, or on for the usual name", arg);
	o->plan.group = arg;
	return 0;
}

static int opt_archive(struct options *o, const char *arg, struct diag *d)
{
	static const struct option_word words[] = {
		{ "off", ARCHIVE_NOTHING }, { "on", ARCHIVE_NAMES }, { "copy", ARCHIVE_WHOLE },
		{ NULL, 0 },
	};
	uint64_t v;

	if (!option_word(words, arg, &v))
		return diag_error(d, "-A '%s': write on, off or copy", arg);
	o->plan.archiving = v;
	return 0;
}

int signal_option(const char *option, const char *arg, int *ret, struct diag *d)
{
	const char *why;

	*ret = signal_number(arg);
	why = signal_taken(*ret);
	if (!*ret)
		return diag_error(d, "%s '%s': no such signal: write a name or a number, such as USR1",
				  option, arg);
	if (why)
		return diag_error(d, "%s '%s': this signal is taken: %s: use another one, such as USR1",
				  option, arg, why);
	return 0;
}

static int size_option(const char *option, const char *arg, uint64_t *bytes, struct diag *d)
{
	if (!option_megabytes(arg, bytes))
		return diag_error(d, "%s '%s': not a size: write megabytes, or unlimited", option, arg);
	return 0;
}

static int opt_limit(struct options *o, const char *arg, struct diag *d)
{
	return size_option("-L", arg, &o->plan.limit_bytes, d);
}

static int opt_archive_limit(struct options *o, const char *arg, struct diag *d)
{
	return size_option("--archive-limit", arg, &o->plan.archive_bytes, d);
}

static int opt_sample(struct options *o, const char *arg, struct diag *d)
{
	static const struct option_word words[] = { { "on", 1 }, { "off", 0 }, { NULL, 0 } };
	uint64_t v;

	if (!option_word(words, arg, &v) && (!option_whole(arg, INT_MAX, &v) || !v))
		return diag_error(d, "-S '%s': not a period: write on, off, or whole seconds", arg);
	o->plan.sample_s = v;
	return 0;
}

static int opt_sample_signal(struct options *o, const char *arg, struct diag *d)
{
	return signal_option("-l", arg, &o->plan.sample_signal, d);
}

static int opt_pause_signal(struct options *o, const char *arg, struct diag *d)
{
	const char *comma = strchr(arg, ',');
	__cleanup(freep) char *name = comma ? xstrndup(arg, comma - arg) : xstrdup(arg);

	if (comma && strcmp(comma, ",r"))
		return diag_error(d, "-y '%s': write the signal, or the signal and ,r to record at once",
				  arg);
	o->plan.begin_paused = !comma;
	return signal_option("-y", name, &o->plan.pause_signal, d);
}

static int opt_trace(struct options *o, const char *arg, struct diag *d)
{
	static const struct option_word words[] = {
		{ "off", TRACE_OFF }, { "all", TRACE_ALL }, { "on", TRACE_CALIBRATED },
		{ "calibrate", TRACE_CALIBRATED }, { NULL, 0 },
	};
	uint64_t us;

	if (option_word(words, arg, &o->plan.capture.trace_ns))
		return 0;
	if (!option_whole(arg, MAX_TRACE_US, &us))
		return diag_error(d, "-s '%s': not a threshold: write on, off, all, or microseconds "
				     "such as 100", arg);
	o->plan.capture.trace_ns = us ? us * 1000 : TRACE_ALL;
	return 0;
}

/* -h without an argument, as the last word of the line: list the available counters. */
static int opt_counters(struct options *o, const char *arg, struct diag *d)
{
	if (!arg)
		return request(o, ACTION_COUNTERS);
	return counters_parse(arg, COUNTER_UNITS, d, &o->plan.counters);
}

static int opt_heap(struct options *o, const char *arg, struct diag *d)
{
	static const struct option_word words[] = {
		{ "on", HEAP_ON }, { "off", HEAP_OFF }, { "sampled", HEAP_SAMPLED }, { NULL, 0 },
	};
	uint64_t v;

	if (!option_word(words, arg, &v))
		return diag_error(d, "-H '%s': write on, off or sampled", arg);
	o->plan.heap = v;
	return 0;
}

static int opt_io(struct options *o, const char *arg, struct diag *d)
{
	static const struct option_word words[] = { { "on", true }, { "off", false }, { NULL, 0 } };
	uint64_t v;

	if (!option_word(words, arg, &v))
		return diag_error(d, "-i '%s': write on or off", arg);
	o->plan.capture.io = v;
	return 0;
}

static int opt_states(struct options *o, const char *arg, struct diag *d)
{
	static const struct option_word words[] = { { "on", true }, { "off", false }, { NULL, 0 } };
	uint64_t v;

	if (!option_word(words, arg, &v))
		return diag_error(d, "--states '%s': write on or off", arg);
	o->plan.capture.states = v;
	return 0;
}

static int opt_budget(struct options *o, const char *arg, struct diag *d)
{
	double v;
	char *end;

	if (!option_number(arg, &v, &end) || (*end && strcmp(end, "%")) || v <= 0 || v > 100)
		return diag_error(d, "--budget '%s': not a share of the CPU time: write percent above "
				     "0 and up to 100, such as 2%%", arg);
	o->plan.budget = v / 100;
	return 0;
}

static int opt_stack_method(struct options *o, const char *arg, struct diag *d)
{
	for (int method = STACKS_BEST; method <= STACKS_NONE; method++) {
		if (!strcmp(stack_method_name(method), arg)) {
			o->plan.capture.stack_method = method;
			return 0;
		}
	}
	return diag_error(d, "--wait-stacks '%s': write best, sched_exit_tp, finish_task_switch, "
			     "switch-out, or none", arg);
}

static int opt_follow(struct options *o, const char *arg, struct diag *d)
{
	static const struct option_word words[] = {
		{ "off", FOLLOW_OFF }, { "on", FOLLOW_SHARED }, { "all", FOLLOW_ALL }, { NULL, 0 },
	};
	__cleanup(freep) char *whole = NULL;
	regex_t re;
	char why[128];
	uint64_t v;
	int err;

	if (option_word(words, arg, &v)) {
		o->plan.follow = v;
		o->plan.max_subs = o->recorder == COLLECT && v == FOLLOW_SHARED ? FEW_SUBS : MANY_SUBS;
		return 0;
	}
	if (*arg != '=')
		return diag_error(d, "-F '%s': write on, off, all, or =regexp", arg);
	if (!arg[1])
		return diag_error(d, "-F '=': the regular expression is missing: write one behind the =, or on "
				     "to follow all");
	whole = xasprintf("^(%s)$", arg + 1); /* as follow_init does */
	err = regex_compile(&re, whole);
	if (err) {
		regerror(err, &re, why, sizeof(why));
		return diag_error(d, "-F '%s': not an extended regular expression: %s", arg, why);
	}
	regfree(&re);
	o->plan.follow = FOLLOW_MATCHING;
	o->plan.follow_regexp = arg + 1;
	return 0;
}

static int opt_target(struct options *o, const char *arg, struct diag *d)
{
	const char *slash = strchr(arg, '/');
	char *first = slash ? xstrndup(arg, slash - arg) : xstrdup(arg);
	uint64_t pid = 0, tid = 0;
	bool ok = option_whole(first, INT_MAX, &pid) && (!slash || option_whole(slash + 1, INT_MAX, &tid));

	free(first);
	if (!ok || (slash ? !tid : !pid))
		return diag_error(d, "-T '%s': not a target: write PID/TID, PID, or 0/TID for a "
				     "kernel thread", arg);
	vec_push(&o->plan.targets, (struct capture_target){ .pid = pid, .tid = tid });
	return 0;
}

/* collect's option for a process that runs already. */
static int opt_attach(struct options *o, const char *arg, struct diag *d)
{
	uint64_t pid;

	if (!option_whole(arg, INT_MAX, &pid) || !pid)
		return diag_error(d, "-P '%s': not a process ID: write a running one's number", arg);
	vec_push(&o->plan.targets, (struct capture_target){ .pid = pid });
	return 0;
}

static int opt_output(struct options *o, const char *arg, struct diag *d)
{
	o->output = arg;
	return *arg ? 0 : diag_error(d, "-O '': names no file: write the name of a file");
}

static int opt_java(struct options *o, const char *arg, struct diag *d)
{
	static const struct option_word words[] = { { "on", true }, { "off", false }, { NULL, 0 } };
	uint64_t v;

	if (!option_word(words, arg, &v))
		return diag_error(d, "-j '%s': write on or off", arg);
	o->plan.jit = v;
	return 0;
}

static int opt_preview(struct options *o, const char *arg, struct diag *d)
{
	return request(o, ACTION_PREVIEW);
}

static int opt_version(struct options *o, const char *arg, struct diag *d)
{
	return request(o, ACTION_VERSION);
}

static int opt_check(struct options *o, const char *arg, struct diag *d)
{
	return request(o, ACTION_CHECK);
}

static int opt_status(struct options *o, const char *arg, struct diag *d)
{
	const char *slash = strrchr(arg, '/');

	if (!*(slash ? slash + 1 : arg))
		return diag_error(d, "--status '%s': names no file", arg);
	o->plan.status = arg;
	return 0;
}

static int opt_table_cache(struct options *o, const char *arg, struct diag *d)
{
	if (!*arg)
		return diag_error(d, "--table-cache '': names no directory; write off to keep no unwind tables");
	o->plan.table_cache = strcmp(arg, "off") ? arg : NULL;
	return 0;
}

static int opt_ctl(struct options *o, const char *arg, struct diag *d)
{
	o->ctl = arg;
	return request(o, ACTION_CTL);
}

static int opt_pid(struct options *o, const char *arg, struct diag *d)
{
	o->ctl_pid = arg;
	return 0;
}

static int opt_help(struct options *o, const char *arg, struct diag *d)
{
	return request(o, ACTION_USAGE);
}

#define FLAG(name, member)                                                         \
	static int name(struct options *o, const char *arg, struct diag *d)        \
	{                                                                          \
		o->plan.member = true;                                             \
		return 0;                                                          \
	}

FLAG(opt_exact_user, capture.split);
FLAG(opt_stopped, leave_stopped);
FLAG(opt_jit, jit);
FLAG(opt_each_thread, each_thread);
FLAG(opt_idle, capture.idle);
FLAG(opt_no_self, capture.exclude_self);
FLAG(opt_verbose, verbose);

enum { BOTH = ER_KERNEL | COLLECT };

/* docs/man/er_kernel.1 and collect.1 describe each row; tests/live/recorder_manual.sh compares them. */
const struct option_row option_rows[] = {
	{ BOTH, 'p', NULL, "interval", "on (10.007 ms), high (0.997), low (100.03), off, 500u",
	  opt_interval },
	{ BOTH, 'h', NULL, "[counters]", "profile counters, name[,interval]…; alone: list them",
	  opt_counters },
	{ BOTH, 0, "probe", "spec", "who calls BINARY:FUNCTION, usdt:…, tp:…", opt_probe },
	{ BOTH, 0, "probe-counts", "spec", "the same without stacks: how often", opt_probe_counts },
	{ BOTH, 0, "states", "on|off", "all ten microstates, not only times on a CPU (on)",
	  opt_states },
	{ BOTH, 's', NULL, "on|off|us|all", "trace waits of so many us; on: calibrated (off)",
	  opt_trace },
	{ BOTH, 'H', NULL, "on|off|sampled", "trace the program's heap, or 1 event in 512 KiB (off)", opt_heap },
	{ BOTH, 'i', NULL, "on|off", "trace reads, writes, opens, …, with stacks (off)", opt_io },
	{ BOTH, 0, "exact-user", NULL, "measure user and system time at each system call", opt_exact_user },
	{ BOTH, 0, "budget", "percent", "of all CPU time: above it, drop stacks of waits",
	  opt_budget },
	{ BOTH, 0, "span", "name=spec", "the states of each call: binary:function, …", opt_span },
	{ BOTH, 0, "span-limit", "n", "records of calls a second on a CPU (10000)", opt_span_limit },
	{ BOTH, 0, "span-over", "duration", "first record the calls that last so long", opt_span_over },
	{ BOTH, 't', NULL, "duration", "record 30 s, 2m, or from-to (5-15; 5-0: to the end)",
	  opt_time },
	{ ER_KERNEL, 'q', NULL, "seconds", "quiet period before and after the load (1)", opt_quiet },
	{ ER_KERNEL, 'F', NULL, "on|off|all|=regexp", "processes whose functions are shown (on)",
	  opt_follow },
	{ ER_KERNEL, 'T', NULL, "pid/tid", "only PID/TID, PID, or 0/TID (kernel); repeatable", opt_target },
	{ ER_KERNEL, 'P', NULL, "pid", "only this process, as -T pid; repeatable", opt_attach },
	{ COLLECT, 'P', NULL, "pid", "record this running process, until Ctrl-C or -t", opt_attach },
	{ COLLECT, 'F', NULL, "on|off|all|=regexp", "descendants that are recorded (on)", opt_follow },
	{ ER_KERNEL, 'o', NULL, "name.er", "name of the experiment (ktest.N.er, the next free)",
	  opt_name },
	{ COLLECT, 'o', NULL, "name.er", "name of the experiment (test.N.er, the next free)",
	  opt_name },
	{ BOTH, 'd', NULL, "dir", "directory for the experiment (.)", opt_dir },
	{ BOTH, 'g', NULL, "on|group.erg", "add the experiment to this group; on: the usual name", opt_group },
	{ BOTH, 'O', NULL, "file", "append own messages, not the load's output, to it", opt_output },
	{ BOTH, 'C', NULL, "comment", "keep a comment with the experiment; up to 10 times", opt_comment },
	{ BOTH, 'A', NULL, "on|off|copy", "archive names (on), nothing, or copies of binaries",
	  opt_archive },
	{ BOTH, 'L', NULL, "MB|unlimited", "stop recording profile data at this size (2000)", opt_limit },
	{ ER_KERNEL, 0, "roll", "duration|size", "begin a new experiment after 60s, 5m, 200M, 1G", opt_roll },
	{ ER_KERNEL, 0, "keep", "size", "with --roll, --flight: all of them; the oldest goes", opt_keep },
	{ ER_KERNEL, 0, "flight", "duration[,size]", "keep the last 60s in memory; --ctl dump writes it",
	  opt_flight },
	{ ER_KERNEL, 0, "dump-on", "what", "dump at a signal, cpu:40%, memory:9%/2s, io:5%, end",
	  opt_dump_on },
	{ ER_KERNEL, 0, "cooldown", "duration", "from a dump to the next for pressure (as --flight)",
	  opt_cooldown },
	{ BOTH, 0, "archive-limit", "MB|unlimited", "size limit of archives alone (1000)",
	  opt_archive_limit },
	{ BOTH, 'S', NULL, "on|off|seconds", "period of usage samples (1)", opt_sample },
	{ BOTH, 'l', NULL, "signal", "take a usage sample when this signal comes", opt_sample_signal },
	{ BOTH, 'y', NULL, "signal[,r]", "it pauses and resumes; ,r: begin recording, not paused",
	  opt_pause_signal },
	{ BOTH, 'x', NULL, NULL, "leave the load stopped after its exec, for a debugger", opt_stopped },
	{ ER_KERNEL, 0, "jit", NULL, "have the load's Node and Java name their code", opt_jit },
	{ COLLECT, 'j', NULL, "on|off", "have Java and Node name their code (off)",
	  opt_java },
	{ ER_KERNEL, 0, "idle", NULL, "sample idle CPUs, too, as <IDLE>", opt_idle },
	{ ER_KERNEL, 0, "each-thread", NULL, "the times of each short-lived thread, not sums", opt_each_thread },
	{ ER_KERNEL, 0, "no-self", NULL, "leave er_kernel itself out", opt_no_self },
	{ BOTH, 0, "wait-stacks", "method", "how to capture stacks of waits (best); for tests",
	  opt_stack_method },
	{ BOTH, 0, "table-cache", "dir|off", "keep unwind tables there (" TABLE_CACHE_DIR ")",
	  opt_table_cache },
	{ ER_KERNEL, 0, "status", "file", "keep the state in it, in Prometheus's text format", opt_status },
	{ ER_KERNEL, 0, "ctl", "command", "control a running recorder: pause, resume, status, …",
	  opt_ctl },
	{ ER_KERNEL, 0, "pid", "recorder", "which recorder: process ID, experiment, or socket", opt_pid },
	{ BOTH, 'n', NULL, NULL, "print what would be recorded, and record nothing", opt_preview },
	{ BOTH, 'v', NULL, NULL, "print more about the run", opt_verbose },
	{ BOTH, 0, "check", NULL, "list what this kernel and these privileges allow", opt_check },
	{ BOTH, 'V', "version", NULL, "print the version", opt_version },
	{ BOTH, 0, "help", NULL, "print this text", opt_help },
};

const int noption_rows = sizeof(option_rows) / sizeof(option_rows[0]);
