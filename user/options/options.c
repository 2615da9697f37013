/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/options/options.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/diag.h"
#include "user/ctl/server.h"
#include "user/options/options_impl.h"

enum { MAX_ROWS = 64, LONG_BASE = 256 };

#define SEC_NS 1000000000ULL
#define CTL_COMMANDS "pause, resume, sample NAME, dump, status or stop"
#define COOLDOWN_DEFAULT UINT64_MAX /* not given: the duration of --flight is used */
#define SPAN_LIMIT_DEFAULT 10000
#define LIMIT_DEFAULT UINT64_MAX    /* not given: 2000 MB, and none for --flight */

static const char *recorder_name(enum recorder r)
{
	return r == COLLECT ? "collect" : "er_kernel";
}

static const char kernel_usage[] =
	"usage: er_kernel [option …] [load [argument …]]\n"
	"Record what the threads of the whole system do, on its CPUs and off them, into\n"
	"an experiment, while the load runs, for a time, or until Ctrl-C. Read it with\n"
	"er_print.\n\n";

static const char program_usage[] =
	"usage: collect [option …] program [argument …]\n"
	"       collect [option …] -P pid\n"
	"Record what the threads of a program and of its descendants do, on the CPUs and\n"
	"off them, into an experiment. Read it with er_print.\n\n";

void options_usage(enum recorder recorder, FILE *out)
{
	fputs(recorder == COLLECT ? program_usage : kernel_usage, out);
	for (int i = 0; i < noption_rows; i++) {
		char left[64];

		if (!(option_rows[i].recorders & recorder))
			continue;
		snprintf(left, sizeof(left), "%s%.1s%s%s%s%s%s", option_rows[i].letter ? "-" : "",
			 option_rows[i].letter ? (char[]){ option_rows[i].letter, 0 } : "",
			 option_rows[i].letter && option_rows[i].name ? ", " : "", option_rows[i].name ? "--" : "",
			 option_rows[i].name ? option_rows[i].name : "", option_rows[i].arg ? " " : "",
			 option_rows[i].arg ? option_rows[i].arg : "");
		fprintf(out, "  %-22s  %s\n", left, option_rows[i].help);
	}
}

/* '+': the first word that is not an option begins the load. */
static void getopt_tables(enum recorder recorder, char *letters, struct option *longs)
{
	*letters++ = '+';
	*letters++ = ':';
	for (int i = 0; i < noption_rows; i++) {
		if (!(option_rows[i].recorders & recorder))
			continue;
		if (option_rows[i].letter)
			*letters++ = option_rows[i].letter;
		if (option_rows[i].letter && option_rows[i].arg)
			*letters++ = ':';
		if (option_rows[i].name)
			*longs++ = (struct option){ option_rows[i].name,
						    option_rows[i].arg ? required_argument : no_argument,
						    NULL, LONG_BASE + i };
	}
	*letters = 0;
	*longs = (struct option){ 0 };
}

static const struct option_row *row_of(enum recorder recorder, int c)
{
	if (c >= LONG_BASE)
		return &option_rows[c - LONG_BASE];
	for (int i = 0; i < noption_rows; i++) {
		if (option_rows[i].letter == c && option_rows[i].recorders & recorder)
			return &option_rows[i];
	}
	return NULL;
}

/* Report what getopt refused, and the remedy. 0 if the argument may be missing. */
static int refuse(int c, char **argv, struct options *o, struct diag *d)
{
	const struct option_row *row = optopt ? row_of(o->recorder, optopt) : NULL;

	if (c == ':' && row && row->name && !strcmp(row->name, "ctl"))
		return diag_error(d, "--ctl: a command is missing: write " CTL_COMMANDS);

	if (c == ':' && row && row->arg[0] == '[')
		return row->fn(o, NULL, d);
	if (c == ':' && row && optopt >= LONG_BASE)
		return diag_error(d, "--%s: an argument is missing: write --%s %s", row->name,
				  row->name, row->arg);
	if (c == ':' && row)
		return diag_error(d, "-%c: an argument is missing: write -%c %s", optopt, optopt,
				  row->arg);
	if (optopt && optopt < LONG_BASE)
		return diag_error(d, "-%c: no such option: %s --help lists them", optopt,
				  recorder_name(o->recorder));
	return diag_error(d, "%s: no such option: %s --help lists them", argv[optind - 1],
			  recorder_name(o->recorder));
}

/*
 * A flight recorder rolls in memory: the window and at most one part more, and room for some
 * segments in any case.
 */
static int plan_flight(struct plan *p, struct diag *d)
{
	enum { PARTS = 6, ROOM_FOR = 4 };

	if (!p->flight_ns && plan_dumps(p))
		return diag_error(d, "--dump-on: there is nothing in memory to dump: add --flight 60s");
	if (!p->flight_ns && p->cooldown_ns != COOLDOWN_DEFAULT)
		return diag_error(d, "--cooldown: has no effect without --flight: leave it out");
	if (!p->flight_ns)
		return 0;
	if (p->cooldown_ns == COOLDOWN_DEFAULT)
		p->cooldown_ns = p->flight_ns;
	if (plan_rolls(p))
		return diag_error(d, "--flight and --roll: one keeps data in memory, the other on disk: "
				     "leave one out");
	if (p->limit_bytes != LIMIT_DEFAULT)
		return diag_error(d, "--flight and -L: the memory of --flight is the limit, such as "
				     "--flight 60s,500M: leave -L out");
	p->roll_ns = p->flight_ns / PARTS > SEC_NS ? p->flight_ns / PARTS : SEC_NS;
	p->roll_bytes = p->flight_bytes / ROOM_FOR;
	return 0;
}

/* Single threads, or threads of the kernel. */
static bool has_thread_targets(const struct plan *p)
{
	vec_for_each(t, &p->targets)
		if (t->tid)
			return true;
	return false;
}

/* Check combinations of options. */
static int check_whole(const struct options *o, struct diag *d)
{
	const struct plan *p = &o->plan;
	const char *needs_clock = p->capture.split ? "--exact-user" :
				  p->capture.stack_method != STACKS_BEST ? "--wait-stacks" :
				  p->spans.len ? "--span" :
				  p->capture.trace_ns && !p->program ? "-s" : NULL;
	const char *needs_states = needs_clock ? needs_clock : p->capture.trace_ns ? "-s" : NULL;

	if (needs_clock && !p->capture.interval_ns)
		return diag_error(d, "%s: has no effect with -p off: leave one of the two "
				     "out", needs_clock);
	if (needs_states && !p->capture.states)
		return diag_error(d, "%s: has no effect with --states off: leave one of the "
				     "two out", needs_states);
	if (p->span_over_ns && !p->spans.len)
		return diag_error(d, "--span-over: has no effect without --span: add --span NAME=SPEC");
	if (p->span_over_ns && !p->span_limit)
		return diag_error(d, "--span-over: has no effect with --span-limit unlimited, which records each call: "
				     "leave one of the two out");
	if (o->ctl_pid && o->action == ACTION_RECORD)
		return diag_error(d, "--pid: selects a recorder for --ctl, which is missing: "
				     "-T records a process");
	if (p->flight_ns && p->group)
		return diag_error(d, "--flight: makes a group for each dump: leave -g out");
	if (p->keep_bytes && !plan_rolls(p))
		return diag_error(d, "--keep: has no effect without --roll: add --roll 60s");
	if (p->keep_bytes && !p->flight_ns && p->roll_bytes > p->keep_bytes / 2)
		return diag_error(d, "--keep: below two segments of --roll: keep at least twice the size "
				     "of one");
	if (p->sample_signal && p->sample_signal == p->pause_signal)
		return diag_error(d, "-l and -y: use the same signal: choose two");
	if (p->dump_signal && (p->dump_signal == p->sample_signal || p->dump_signal == p->pause_signal))
		return diag_error(d, "--dump-on: uses the signal of -l or -y: choose another one");
	if (p->leave_stopped && !p->load)
		return diag_error(d, "-x: there is no load to leave stopped: name a command");
	if (p->heap && !p->load && !p->targets.len)
		return diag_error(d, "-H: traces the heap of programs, not of the whole system: name a command, or a "
				     "process with -%c", p->program ? 'P' : 'T');
	if (p->heap && !p->load && has_thread_targets(p))
		return diag_error(d, "-H: the threads of a process have one heap: name the whole process with -T");
	if (p->heap && (plan_rolls(p) || p->flight_ns))
		return diag_error(d, "-H: one experiment must have all allocations and frees: leave %s out",
				  p->flight_ns ? "--flight" : "--roll");
	if (p->heap && p->follow == FOLLOW_OFF && !p->program)
		return diag_error(d, "-H: has no effect with -F off: leave one of the two out");
	if (p->jit && !p->load)
		return diag_error(d, "%s: there is no load to set up: name a command",
				  p->program ? "-j" : "--jit");
	if (p->name && p->dir && *p->name == '/')
		return diag_error(d, "-o '%s': is absolute: leave -d out", p->name);
	return 0;
}

#define SAMPLE "sample"

/* Before a recorder is looked for. */
static int check_ctl(const struct options *o, struct diag *d)
{
	static const char *const plain[] = { "pause", "resume", "dump", "status", "stop" };
	const size_t most = CTL_REQUEST - sizeof(SAMPLE);

	if (!strcmp(o->ctl, SAMPLE) && (!o->ctl_arg || !*o->ctl_arg))
		return diag_error(d, "--ctl sample: a name is missing: write --ctl sample NAME");
	if (!strcmp(o->ctl, SAMPLE) && strlen(o->ctl_arg) > most)
		return diag_error(d, "--ctl sample: the name is too long: write at most %zu bytes", most);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (!strcmp(o->ctl, plain[i]) && o->ctl_arg)
			return diag_error(d, "--ctl %s: takes no argument: leave '%s' out", o->ctl, o->ctl_arg);
		if (!strcmp(o->ctl, plain[i]))
			return 0;
	}
	return strcmp(o->ctl, SAMPLE) ? diag_error(d, "--ctl '%s': no such command: write " CTL_COMMANDS, o->ctl) : 0;
}

/* Parse options up to the load. The first word after --ctl's is its argument, not a load. */
static int parse_all(int argc, char **argv, const char *letters, const struct option *longs,
		     struct options *o, struct diag *d)
{
	int c;

	for (;;) {
		while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
			if (c == '?' || c == ':')
				return refuse(c, argv, o, d);
			if (row_of(o->recorder, c)->fn(o, optarg, d) < 0)
				return -1;
		}
		if (!o->ctl || o->ctl_arg || optind == argc)
			return 0;
		o->ctl_arg = argv[optind++];
	}
}

/* What collect records: a program or one process. */
static int check_program(const struct options *o, struct diag *d)
{
	const struct plan *p = &o->plan;

	if (!p->program || o->action > ACTION_PREVIEW)
		return 0;
	if (!p->load && !p->targets.len)
		return diag_error(d, "there is no program to record: name one, or a process with -P");
	if (p->load && p->targets.len)
		return diag_error(d, "-P: collect records a process or a program '%s', not both: leave one "
				     "out", p->load[0]);
	if (p->targets.len > 1)
		return diag_error(d, "-P: given twice: collect records one process: er_kernel -T records "
				     "several");
	return 0;
}

/* Of collect only: counters replace the clock, unless it is asked for, too. */
static void choose_data(struct options *o)
{
	if (o->recorder == COLLECT && o->plan.counters.len && !o->clock_given)
		o->plan.capture.interval_ns = 0;
}

static struct plan default_plan(enum recorder recorder, char **argv)
{
	return (struct plan){
		.capture = { .interval_ns = INTERVAL_ON_NS, .states = true },
		.program = recorder == COLLECT,
		.quiet_ns = recorder == COLLECT ? 0 : SEC_NS,
		.limit_bytes = LIMIT_DEFAULT,
		.span_limit = SPAN_LIMIT_DEFAULT,
		.archive_bytes = 1000ULL << 20,
		.table_cache = TABLE_CACHE_DIR,
		.sample_s = 1,
		.archiving = ARCHIVE_NAMES,
		.follow = FOLLOW_SHARED,
		.max_subs = recorder == COLLECT ? FEW_SUBS : MANY_SUBS,
		.cooldown_ns = COOLDOWN_DEFAULT,
		.argv = argv,
	};
}

int options_parse(enum recorder recorder, int argc, char **argv, struct options *ret,
		  struct diag *d)
{
	char letters[3 * MAX_ROWS + 3];
	struct option longs[MAX_ROWS + 1];

	/* `gprofng collect kernel` first passes the name by which it was called. */
	if (argc > 1 && !strncmp(argv[1], "--whoami=", strlen("--whoami="))) {
		argv[1] = argv[0];
		argv++;
		argc--;
	}
	*ret = (struct options){
		.recorder = recorder,
		.action = argc > 1 ? ACTION_RECORD :
			  recorder == COLLECT ? ACTION_SUMMARY : ACTION_USAGE,
		.plan = default_plan(recorder, argv),
	};
	assert(noption_rows <= MAX_ROWS);
	getopt_tables(recorder, letters, longs);
	optind = 0;
	opterr = 0;
	if (parse_all(argc, argv, letters, longs, ret, d) < 0)
		return -1;
	if (ret->plan.heap) /* an address means something in one process only */
		ret->plan.max_subs = MANY_SUBS;
	if (ret->ctl && check_ctl(ret, d) < 0)
		return -1;
	if (ret->ctl && ret->action == ACTION_PREVIEW)
		return diag_error(d, "-n: --ctl asks a running recorder, and records nothing itself: leave -n out");
	if (optind < argc && ret->ctl)
		return diag_error(d, "--ctl %s: unexpected word '%s'", ret->ctl, argv[optind]);
	if (optind < argc)
		ret->plan.load = argv + optind;
	choose_data(ret);
	ret->plan.locks = ret->plan.program && ret->plan.capture.trace_ns == TRACE_ALL;
	if (plan_flight(&ret->plan, d) < 0 || check_program(ret, d) < 0 || check_whole(ret, d) < 0)
		return -1;
	if (ret->plan.limit_bytes == LIMIT_DEFAULT)
		ret->plan.limit_bytes = ret->plan.flight_ns ? 0 : 2000ULL << 20;
	ret->plan.capture.states &= ret->plan.capture.interval_ns > 0;
	ret->plan.capture.only_locks = !ret->plan.capture.interval_ns && ret->plan.capture.trace_ns;
	return 0;
}

void options_free(struct options *o)
{
	vec_free(&o->plan.targets);
	vec_for_each(span, &o->plan.spans)
		probe_spec_free(span);
	vec_free(&o->plan.spans);
	counters_free(&o->plan.counters);
	probes_free(&o->plan.probes);
	heap_sites_free(&o->plan.heap_sites);
}
