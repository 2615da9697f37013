/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/base/diag.h"
#include "user/options/options.h"

static struct options options;
static struct diag diag;

/* Parse a blank separated command line. */
static int parse_for(enum recorder recorder, const char *line)
{
	static char copy[512];
	static char *argv[32];
	int argc = 0;

	options_free(&options);
	diag_free(&diag);
	snprintf(copy, sizeof(copy), "er_kernel %s", line);
	for (char *w = strtok(copy, " "); w && argc < 31; w = strtok(NULL, " "))
		argv[argc++] = w;
	argv[argc] = NULL;
	return options_parse(recorder, argc, argv, &options, &diag);
}

static int parse(const char *line)
{
	return parse_for(ER_KERNEL, line);
}

static void test_intervals(void **state)
{
	static const struct {
		const char *line;
		uint64_t ns;
	} cases[] = {
		{ "-p on", 10007000 },	 { "-p high", 997000 },	   { "-p hi", 997000 },
		{ "-p low", 100030000 }, { "-p lo", 100030000 },   { "-p off", 0 },
		{ "-p 5", 5000000 },	 { "-p 5m", 5000000 },	   { "-p 5000u", 5000000 },
		{ "-p 2.5", 2500000 },	 { "-p .997", 997000 },	   { "-p 0.0123", 12000 },
		{ "-p 1000", 1000000000 }, { "-v", 10007000 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(cases[i].line), 0);
		assert_int_equal(options.plan.capture.interval_ns, cases[i].ns);
		assert_int_equal(diag.nmsgs, 0);
	}
}

static void test_interval_below_resolution_warns(void **state)
{
	assert_int_equal(parse("-p 1u"), 0);
	assert_int_equal(options.plan.capture.interval_ns, 10000);
	assert_int_equal(diag.nwarnings, 1);
}

static void test_times(void **state)
{
	static const struct {
		const char *line;
		double begin, end;
	} cases[] = {
		{ "-t 10", 0, 10 },  { "-t 10s", 0, 10 }, { "-t 1m", 0, 60 },
		{ "-t 5-15", 5, 15 }, { "-t 5-0", 5, 0 },  { "-t 1m-2m", 60, 120 }, { "-t 0.5", 0, 0.5 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(cases[i].line), 0);
		assert_int_equal(options.plan.begin_ns, (uint64_t)(cases[i].begin * 1e9));
		assert_int_equal(options.plan.end_ns, (uint64_t)(cases[i].end * 1e9));
	}
}

static void test_signals(void **state)
{
	const struct {
		const char *word;
		int number;
	} cases[] = {
		{ "USR1", SIGUSR1 }, { "SIGUSR2", SIGUSR2 }, { "usr1", SIGUSR1 }, { "10", 10 },
		{ "RTMIN", SIGRTMIN }, { "RTMIN+2", SIGRTMIN + 2 }, { "SIGRTMAX-1", SIGRTMAX - 1 },
		{ "WINCH", SIGWINCH },
	};
	static const char *const wrong[] = {
		"-l NONE", "-l 0", "-l 65", "-l 1x", "-l RTMIN+99", "-l RTMIN-1", "-l SIG", "-l KILL",
		"-l 2", "-l CHLD", "-y SEGV", "-y USR1,x", "-y USR1,", "-y ,r", "-l 10 -y USR1",
	};
	char line[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(line, sizeof(line), "-l %s", cases[i].word);
		assert_int_equal(parse(line), 0);
		assert_int_equal(options.plan.sample_signal, cases[i].number);
		assert_false(options.plan.begin_paused);
		snprintf(line, sizeof(line), "-y %s,r", cases[i].word);
		assert_int_equal(parse(line), 0);
		assert_int_equal(options.plan.pause_signal, cases[i].number);
		assert_false(options.plan.begin_paused);
	}
	assert_int_equal(parse("-y USR2"), 0);
	assert_true(options.plan.begin_paused);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(parse(wrong[i]), -1);
		assert_int_equal(diag.nmsgs, 1);
	}
}

/* The words after --ctl are a request, not a load, wherever --pid stands. */
static void test_control(void **state)
{
	static const struct {
		const char *line, *ctl, *arg, *pid;
	} cases[] = {
		{ "--ctl pause", "pause", NULL, NULL },
		{ "--ctl status --pid 12", "status", NULL, "12" },
		{ "--pid a.er --ctl sample here", "sample", "here", "a.er" },
		{ "--ctl sample here --pid 12", "sample", "here", "12" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(cases[i].line), 0);
		assert_int_equal(options.action, ACTION_CTL);
		assert_string_equal(options.ctl, cases[i].ctl);
		assert_int_equal(!options.ctl_arg, !cases[i].arg);
		assert_int_equal(!options.ctl_pid, !cases[i].pid);
		if (cases[i].arg)
			assert_string_equal(options.ctl_arg, cases[i].arg);
		if (cases[i].pid)
			assert_string_equal(options.ctl_pid, cases[i].pid);
		assert_null(options.plan.load);
	}
	assert_int_equal(parse("--ctl sample one two"), -1);
	assert_int_equal(parse("--pid 12 sleep 1"), -1);
	assert_int_equal(parse("--ctl"), -1);
}

/* No line is longer than 80 columns. */
static void test_usage(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	options_usage(ER_KERNEL, f);
	fclose(f);
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		if (strlen(line) > 80) /* in bytes: an ellipsis has three */
			fail_msg("%zu bytes: %s", strlen(line), line);
	}
	free(text);
}

static void test_refused(void **state)
{
	static const char *const lines[] = {
		"-p often", "-p -5",	"-p 0",	    "-p 5x",   "-p 1001",  "-p 0x5",  "-p nan",
		"-t soon",  "-t 5-2",	"-t 0",	    "-t -1",   "-t 5-",	   "-q x",    "-q -1",
		"-o a",	    "-o .er",	"-o x/.er", "-g grp",  "-A maybe", "-L x",    "-L 0",
		"-S 0",	    "-S x",	"-S 1.5",   "-F maybe", "-F =(", "-F =",   "-T abc",
		"-P 0",	    "-P 5/6",	"-P me",    "-P -1",
		"-T 0",	    "-T 1/",	"-T 1/0",   "-T -1/2", "--none",   "-Z",      "-p",
		"-x",	    "--idle=1",
		"--flight 60", "--flight 0.5s", "--flight 60s,", "--flight 60s,1M", "--flight 60s,5",
		"--flight x,60M", "--flight 60s --roll 5s", "--flight 60s -g a.erg", "--keep 2G",
		"--dump-on USR2", "--cooldown 5s", "--flight 60s --dump-on cpu", "--flight 60s --dump-on KILL",
		"--flight 60s --dump-on cpu:40", "--flight 60s --dump-on disk:40%", "--flight 60s --dump-on cpu:0%",
		"--flight 60s --dump-on io:101%", "--flight 60s --dump-on io:40%/11s", "--flight 60s --dump-on io:40%/0.4s",
		"--flight 60s --dump-on io:40%/5", "--flight 60s --dump-on io:40%x", "--flight 60s --cooldown 5",
		"--flight 60s --dump-on USR1 -l USR1", "--flight 60s --dump-on USR1 -y USR1", "--flight 60s --dump-on",
		"--flight 60s --dump-on USR1 --dump-on USR2", "--flight 60s -L 2000", "--flight 60s -L none",
		"-C 1 -C 2 -C 3 -C 4 -C 5 -C 6 -C 7 -C 8 -C 9 -C 10 -C 11",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (parse(lines[i]) == 0)
			fail_msg("accepted: %s", lines[i]);
		assert_int_equal(diag.nerrors, 1);
	}
}

static void test_flight(void **state)
{
	assert_int_equal(parse("--flight 60s"), 0);
	assert_int_equal(options.plan.flight_ns, 60000000000ULL);
	assert_int_equal(options.plan.flight_bytes, 256 << 20);
	assert_int_equal(options.plan.roll_ns, 10000000000ULL);
	assert_int_equal(options.plan.roll_bytes, 64 << 20);
	assert_int_equal(options.plan.limit_bytes, 0);
	assert_int_equal(parse("--flight 1.5m,1G --keep 1M"), 0);
	assert_int_equal(options.plan.flight_ns, 90000000000ULL);
	assert_int_equal(options.plan.flight_bytes, 1 << 30);
	assert_int_equal(options.plan.cooldown_ns, 90000000000ULL);
	assert_int_equal(parse("--flight 60s --dump-on cpu:40%/2s --dump-on io:0.5% --dump-on USR2 "
			       "--dump-on end --cooldown 0s"), 0);
	assert_true(options.plan.pressure[PRESSURE_CPU].percent == 40);
	assert_int_equal(options.plan.pressure[PRESSURE_CPU].window_ns, 2000000000);
	assert_true(options.plan.pressure[PRESSURE_IO].percent == 0.5);
	assert_int_equal(options.plan.pressure[PRESSURE_IO].window_ns, 10000000000ULL);
	assert_true(options.plan.pressure[PRESSURE_MEMORY].percent == 0);
	assert_int_equal(options.plan.dump_signal, SIGUSR2);
	assert_true(options.plan.dump_at_end);
	assert_int_equal(options.plan.cooldown_ns, 0);
	/* A segment takes a second at least. */
	assert_int_equal(parse("--flight 2s,16M"), 0);
	assert_int_equal(options.plan.roll_ns, 1000000000);
}

static void test_load_keeps_its_options(void **state)
{
	assert_int_equal(parse("-p high make -p -j2 -t"), 0);
	assert_string_equal(options.plan.load[0], "make");
	assert_string_equal(options.plan.load[1], "-p");
	assert_int_equal(options.plan.capture.interval_ns, 997000);
	assert_int_equal(parse("-- -odd"), 0);
	assert_string_equal(options.plan.load[0], "-odd");
}

static void test_targets(void **state)
{
	assert_int_equal(parse("-T 12/13 -T 14 -T 0/2"), 0);
	assert_int_equal(options.plan.targets.len, 3);
	assert_int_equal(options.plan.targets.data[0].pid, 12);
	assert_int_equal(options.plan.targets.data[0].tid, 13);
	assert_int_equal(options.plan.targets.data[1].tid, 0);
	assert_int_equal(options.plan.targets.data[2].pid, 0);
	assert_int_equal(options.plan.targets.data[2].tid, 2);
	assert_int_equal(parse("-P 15 -T 16/17"), 0);
	assert_int_equal(options.plan.targets.len, 2);
	assert_int_equal(options.plan.targets.data[0].pid, 15);
	assert_int_equal(options.plan.targets.data[0].tid, 0);
}

static void test_flags(void **state)
{
	assert_int_equal(parse("-t 1"), 0);
	assert_false(options.plan.verbose || options.plan.leave_stopped || options.plan.capture.idle ||
		     options.plan.capture.exclude_self || options.plan.capture.split);
	assert_int_equal(parse("-v -x --idle --no-self --exact-user true"), 0);
	assert_true(options.plan.verbose && options.plan.leave_stopped && options.plan.capture.idle &&
		    options.plan.capture.exclude_self && options.plan.capture.split);
}

static void test_output(void **state)
{
	assert_int_equal(parse("-t 1"), 0);
	assert_null(options.output);
	assert_int_equal(parse("-O log -t 1"), 0);
	assert_string_equal(options.output, "log");
	assert_int_equal(parse("-O"), -1);
}

static void test_defaults_and_words(void **state)
{
	assert_int_equal(parse(""), 0);
	assert_int_equal(options.action, ACTION_USAGE);
	assert_int_equal(parse("-p on"), 0);
	assert_int_equal(options.action, ACTION_RECORD);
	assert_int_equal(options.plan.limit_bytes, 2000ULL << 20);
	assert_int_equal(options.plan.sample_s, 1);
	assert_int_equal(options.plan.follow, FOLLOW_SHARED);
	assert_int_equal(options.plan.archiving, ARCHIVE_NAMES);
	assert_int_equal(options.plan.quiet_ns, 1000000000);
	assert_int_equal(parse("-L none -S off -F =ng.* -A copy -q 0 -x -n -V true"), 0);
	assert_int_equal(options.plan.limit_bytes, 0);
	assert_int_equal(options.plan.sample_s, 0);
	assert_string_equal(options.plan.follow_regexp, "ng.*");
	assert_int_equal(options.plan.archiving, ARCHIVE_WHOLE);
	assert_int_equal(options.plan.quiet_ns, 0);
	assert_int_equal(options.action, ACTION_PREVIEW);
	assert_true(options.plan.leave_stopped);
	assert_false(options.plan.jit);
	assert_int_equal(parse("--jit -x true"), 0);
	assert_true(options.plan.jit);
}

static void test_states_and_traces(void **state)
{
	static const struct {
		const char *line;
		uint64_t trace_ns;
	} cases[] = {
		{ "-s off", TRACE_OFF }, { "-s all", TRACE_ALL }, { "-s 0", TRACE_ALL },
		{ "-s 100", 100000 },	 { "-s 1", 1000 },	  { "-s on", TRACE_CALIBRATED },
		{ "-s calibrate", TRACE_CALIBRATED }, { "-v", TRACE_OFF },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(cases[i].line), 0);
		assert_true(options.plan.capture.trace_ns == cases[i].trace_ns);
		assert_true(options.plan.capture.states);
	}
	assert_int_equal(parse("--states off"), 0);
	assert_false(options.plan.capture.states);
	assert_int_equal(parse("--states=on --exact-user --budget 2% --wait-stacks switch-out"), 0);
	assert_true(options.plan.capture.states && options.plan.capture.split);
	assert_int_equal(options.plan.capture.stack_method, STACKS_LEAVE);
	assert_true(options.plan.budget > 0.0199 && options.plan.budget < 0.0201);
	assert_int_equal(parse("--budget 0.5"), 0);
	assert_true(options.plan.budget > 0.0049 && options.plan.budget < 0.0051);
}

static void test_states_refused(void **state)
{
	static const char *const lines[] = {
		"-s x", "-s -1", "-s 1.5", "-s 99999999999", "-s", "--states", "--states maybe",
		"--budget", "--budget 0", "--budget 101", "--budget -1", "--budget 2x", "--budget %",
		"--wait-stacks", "--wait-stacks kprobe", "-s on --states off", "-s on -p off --states off",
		"--exact-user -p off", "--exact-user --states off", "--wait-stacks none -p off",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(parse(lines[i]), -1);
		assert_int_equal(diag.nerrors, 1);
		assert_non_null(strchr(diag.msgs[0].text, ':')); /* error, reason, remedy */
	}
	parse("--budget");
	assert_string_equal(diag.msgs[0].text,
			    "--budget: an argument is missing: write --budget percent");
}

/* collect can trace waits for locks alone; er_kernel needs the clock. */
static void test_only_locks(void **state)
{
	static const struct {
		const char *line;
		enum recorder recorder;
		int result;
		bool only_locks;
	} cases[] = {
		{ "-p off -s on true", COLLECT, 0, true },
		{ "-p off -s all true", COLLECT, 0, true },
		{ "-h page-faults,1 -s 100 true", COLLECT, 0, true },
		{ "-s on true", COLLECT, 0, false },
		{ "-p off -s off true", COLLECT, 0, false },
		{ "-p off -s on --exact-user true", COLLECT, -1, false },
		{ "-p off -s on true", ER_KERNEL, -1, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse_for(cases[i].recorder, cases[i].line), cases[i].result);
		if (cases[i].result < 0)
			continue;
		assert_int_equal(options.plan.capture.only_locks, cases[i].only_locks);
		assert_true(!cases[i].only_locks || !options.plan.capture.states);
	}
}

static void test_counters(void **state)
{
	assert_int_equal(parse("-h cycles,hi,page-faults -h insts true -h"), 0);
	assert_int_equal(options.action, ACTION_RECORD);
	assert_int_equal(options.plan.counters.len, 3);
	assert_string_equal(options.plan.counters.data[2].name, "insts");
	assert_int_equal(options.plan.capture.interval_ns, 10007000); /* the clock stays on */
	assert_true(options.plan.capture.states);
	assert_string_equal(options.plan.load[1], "-h");
	assert_int_equal(parse("-p off -h page-faults,1"), 0);
	assert_int_equal(options.plan.capture.interval_ns, 0);
	assert_false(options.plan.capture.states);
	/* Alone, and as the last word. */
	assert_int_equal(parse("-h"), 0);
	assert_int_equal(options.action, ACTION_COUNTERS);
	assert_int_equal(parse("-o a.er -h"), 0);
	assert_int_equal(options.action, ACTION_COUNTERS);
	assert_int_equal(parse("-V -h"), 0);
	assert_int_equal(options.action, ACTION_VERSION);
	assert_int_equal(parse("--help"), 0);
	assert_int_equal(options.action, ACTION_USAGE);
	assert_int_equal(parse("-h -v"), -1);
	assert_int_equal(diag.nerrors, 1);
	assert_int_equal(parse("-h nothing"), -1);
	assert_int_equal(diag.nerrors, 1);
}

static void test_collect(void **state)
{
	assert_int_equal(parse_for(COLLECT, "ls -l"), 0);
	assert_true(options.plan.program);
	assert_int_equal(options.plan.capture.interval_ns, 10007000);
	assert_int_equal(options.plan.quiet_ns, 0);
	assert_string_equal(options.plan.load[1], "-l");
	assert_int_equal(parse_for(COLLECT, ""), 0);
	assert_int_equal(options.action, ACTION_SUMMARY);
	assert_int_equal(parse_for(COLLECT, "-P 12"), 0);
	assert_int_equal(options.plan.targets.data[0].pid, 12);
	assert_int_equal(parse_for(COLLECT, "-j on java"), 0);
	assert_true(options.plan.jit);
	assert_int_equal(parse_for(COLLECT, "-s all ls"), 0);
	assert_true(options.plan.locks);
	assert_int_equal(parse_for(COLLECT, "-s on ls"), 0);
	assert_false(options.plan.locks);
	assert_int_equal(parse_for(COLLECT, "-s all -P 12"), 0);
	assert_true(options.plan.locks);
	assert_int_equal(parse_for(COLLECT, "-F all ls"), 0);
	assert_int_equal(options.plan.max_subs, 4096);
	assert_int_equal(parse_for(COLLECT, "-F on ls"), 0);
	assert_int_equal(options.plan.max_subs, 64);
}

/* Only -h cancels the clock. */
static void test_collect_counters(void **state)
{
	assert_int_equal(parse_for(COLLECT, "-h page-faults ls"), 0);
	assert_int_equal(options.plan.capture.interval_ns, 0);
	assert_false(options.plan.capture.states);
	assert_int_equal(parse_for(COLLECT, "-h page-faults -p on ls"), 0);
	assert_int_equal(options.plan.capture.interval_ns, 10007000);
	assert_int_equal(parse_for(COLLECT, "-S off ls"), 0);
	assert_int_equal(options.plan.capture.interval_ns, 10007000);
	assert_int_equal(parse("-h page-faults ls"), 0);
	assert_int_equal(options.plan.capture.interval_ns, 10007000);
}

static void test_collect_refuses(void **state)
{
	static const char *const lines[] = {
		"-v", "-P 12 ls", "-P 12 -P 13", "-P x", "-q 1 ls", "-T 1 ls", "--roll 60s ls", "-j maybe ls",
		"-F =( ls", "-o x ls", "-g y ls", "-x -P 12", "-j on -P 12",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(parse_for(COLLECT, lines[i]), -1);
		assert_int_equal(diag.nerrors, 1);
	}
	assert_int_equal(parse("-j on ls"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collect),
		cmocka_unit_test(test_collect_counters),
		cmocka_unit_test(test_collect_refuses),
		cmocka_unit_test(test_only_locks),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_states_and_traces),
		cmocka_unit_test(test_states_refused),
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_interval_below_resolution_warns),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_control),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_flight),
		cmocka_unit_test(test_load_keeps_its_options),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_defaults_and_words),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	options_free(&options);
	diag_free(&diag);
	return failed;
}
