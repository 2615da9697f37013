/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings and reports of the page come from a process of their own; if it fails, from this one. */
#include "analysis/export/page_ahead.h"

#include <signal.h>

#include "analysis/base/parallel.h"
#include "analysis/export/export.h"
#include "analysis/export/page_index.h"
#include "tests/unit/session_fixture.h"

static void build(struct opened *o)
{
	fixture_new(o);
	for (int i = 0; i < 30; i++)
		exp_builder_profile(o->builder, 1, "main>work", i % 3 ? MS_USER : MS_USER_LOCK, 20);
	fixture_open(o);
}

static void assert_made(const struct page_ahead *a, const struct export *x)
{
	struct made_reports want = { 0 };
	struct buf findings = { 0 };

	make_fixed_reports(x, &want);
	put_findings(x, &findings);
	assert_non_null(strstr(findings.data, "\"rule\":\"computing\""));
	assert_int_equal(a->findings.len, findings.len);
	assert_memory_equal(a->findings.data, findings.data, findings.len);
	assert_true(want.all.len > 3);
	assert_int_equal(a->reports.all.len, want.all.len);
	for (size_t i = 0; i < want.all.len; i++) {
		const struct made_report *r = &a->reports.all.data[i], *w = &want.all.data[i];

		assert_int_equal(r->which, w->which);
		assert_int_equal(r->nrows, w->nrows);
		assert_int_equal(r->pack.n, w->pack.n);
		assert_memory_equal(r->pack.bytes, w->pack.bytes, w->pack.n);
	}
	made_reports_free(&want);
	buf_free(&findings);
}

static const enum ahead_part none = AHEAD_PARTS;

/* Returns whether this process made a part. One that is killed may have finished before. */
static bool run(enum ahead_part killed)
{
	bool ret;

	struct page_ahead a;
	struct opened o;

	build(&o);
	struct export x = { .view = &o.view, .diag = &o.diag };
	page_ahead_begin(&a, &x);
	for (int part = 0; part < AHEAD_PARTS; part++)
		assert_int_equal(a.processes[part].pid > 0, parallel_parts() > 1);
	if (killed != none && a.processes[killed].pid > 0)
		kill(a.processes[killed].pid, SIGKILL);
	page_ahead_end(&a);
	for (int part = 0; part < AHEAD_PARTS; part++)
		assert_int_equal(a.processes[part].pid, 0);
	ret = a.made_here;
	assert_made(&a, &x);
	page_ahead_free(&a);
	fixture_free(&o);
	return ret;
}

static void test_same(void **state)
{
	assert_int_equal(run(none), parallel_parts() < 2);
}

static void test_killed(enum ahead_part part)
{
	bool made = false;

	for (int i = 0; i < 50 && !made; i++)
		made = run(part);
	assert_true(made);
}

static void test_findings_killed(void **state)
{
	test_killed(AHEAD_FINDINGS);
}

static void test_reports_killed(void **state)
{
	test_killed(AHEAD_REPORTS);
}

/* An export that fails does not wait. */
static void test_given_up(void **state)
{
	struct page_ahead a;
	struct opened o;

	build(&o);
	struct export x = { .view = &o.view, .diag = &o.diag };
	page_ahead_begin(&a, &x);
	pid_t child = a.processes[AHEAD_FINDINGS].pid, other = a.processes[AHEAD_REPORTS].pid;
	page_ahead_free(&a);
	assert_true(child <= 0 || kill(child, 0) < 0);
	assert_true(other <= 0 || kill(other, 0) < 0);
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_findings_killed),
		cmocka_unit_test(test_reports_killed),
		cmocka_unit_test(test_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
