/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/span_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/experiment/expwriter.h"
#include "analysis/experiment/span.h"
#include "loaders/capture.h"
#include "loaders/spans.h"
#include "user/api/mark.h"
#include "user/probe/marks.h"
#include "user/probe/seccomp.h"
#include "user/probe/sites.h"
#include "user/record/drain_impl.h"
#include "user/record/plan.h"

_Static_assert((int)ER_SPAN_BUCKETS == SPAN_BUCKETS, "one histogram");

struct sums {
	struct er_span_sums of;
	uint64_t hist[ER_SPAN_BUCKETS];
};

struct name {
	const struct probe_spec *spec; /* borrowed */
	struct probe_sites sites;
	size_t nplaces;          /* that are recorded: sites less those that the kernel refused */
	struct sums base;        /* at the begin of this segment */
	struct sums written;     /* when spans.xml was last written */
};

struct span_set {
	const struct plan *plan;
	struct name *names;
	size_t n;
	size_t nsegments;        /* that are complete */
	uint64_t missed;         /* before this segment */
	VEC(struct capture_span) sites;
	struct capture_spans capture;
};

static bool is_returned(const struct probe_spec *spec, size_t value)
{
	return spec->values[value].number == PROBE_RETURNED;
}

/* What the SPEC wants to know at an end (`end`), what is returned; or at a begin, the arguments. */
static void set_places(struct er_span_site *ret, const struct probe_spec *spec, const struct er_place *places,
		       bool end)
{
	ret->kept = ret->ntests = 0;
	memset(ret->places, 0, sizeof(ret->places));
	for (size_t i = 0; i < spec->nvalues; i++) {
		if (is_returned(spec, i) != end)
			continue;
		ret->places[i] = places[i];
		if (spec->values[i].recorded)
			ret->kept |= 1 << i;
	}
	for (size_t i = 0; i < spec->ntests; i++)
		if (is_returned(spec, spec->tests[i].value) == end)
			ret->tests[ret->ntests++] = spec->tests[i];
}

/* A text that was not in memory at the begin is read at the end, unless the program is another one then. */
static void read_texts_late(struct er_span_site *end, const struct probe_spec *spec,
			    const struct er_place *places)
{
	if (!strncmp(spec->first, "execve", strlen("execve")))
		return;
	for (size_t i = 0; i < spec->nvalues; i++) {
		if (!spec->values[i].is_string)
			continue;
		end->places[i] = places[i];
		end->kept |= 1 << i;
	}
}

static void add_call(struct span_set *s, uint32_t name)
{
	const struct probe_spec *spec = s->names[name].spec;
	const struct probe_sites *sites = &s->names[name].sites;
	struct capture_span at = { .site = { .name = name, .kind = ER_SPAN_CALL }, .syscall = sites->syscall };

	set_places(&at.site, spec, sites->places, false);
	vec_push(&s->sites, at);
	set_places(&at.site, spec, sites->places, true);
	read_texts_late(&at.site, spec, sites->places);
	at.end = true;
	vec_push(&s->sites, at);
}

/* Two functions of one number would only mean that a call that was left is noticed later. */
static uint32_t place_number(const struct uprobe_site *at)
{
	struct stat st = { 0 };

	fstat(at->fd, &st);
	return hash64(hash64(hash64(st.st_dev) ^ st.st_ino) ^ at->offset);
}

/* The ends of a function whose return is not probed. A tail call has not returned anything. */
static void add_ends(struct span_set *s, struct capture_span at, const struct probe_site *site)
{
	at.end = true;
	vec_for_each(end, &site->ends) {
		struct capture_span one = at;

		one.at.offset = end->offset;
		one.site.quiet = end->other;
		one.site.jump = end->jump;
		memcpy(one.site.low, end->low, sizeof(end->low));
		memcpy(one.site.high, end->high, sizeof(end->high));
		if (end->tail)
			one.site.kept = one.site.ntests = 0;
		vec_push(&s->sites, one);
	}
}

/* A function has two places of one address: its entry and its return. */
static void add_site(struct span_set *s, uint32_t name, const struct probe_site *site)
{
	bool pair = probe_spec_is_pair(s->names[name].spec);
	struct capture_span at = { .site = { .name = name, .kind = pair ? ER_SPAN_PAIR : ER_SPAN_FUNCTION },
				   .syscall = -1, .function = site - s->names[name].sites.sites.data,
				   .at = site->at, .end = pair && site->second };

	at.site.place = place_number(&site->at);
	at.site.switched = site->switched;
	set_places(&at.site, s->names[name].spec, site->places, at.end);
	vec_push(&s->sites, at);
	set_places(&at.site, s->names[name].spec, site->places, true);
	if (site->ends.len) {
		add_ends(s, at, site);
		return;
	}
	at.end = at.at.ret = true;
	at.site.popped = 8; /* the return address */
	if (!pair)
		vec_push(&s->sites, at);
}

/* A begin or an end that the program marks. Its name is tested; a begin's id is kept. */
static void add_mark(struct span_set *s, uint32_t name, const struct probe_site *site)
{
	enum { ID, HASH };
	struct capture_span at = {
		.site = { .name = name, .kind = ER_SPAN_PAIR, .mark = 1, .ntests = 1, .place = place_number(&site->at),
			  .places = { [ID] = site->places[0], [HASH] = marks_hash_place() },
			  .tests = { { .constant = mark_hash(s->names[name].spec->name), .value = HASH,
				       .op = ER_TEST_EQ } } },
		.syscall = -1, .function = site - s->names[name].sites.sites.data, .at = site->at, .end = site->second,
	};

	at.site.kept = at.end ? 0 : 1 << ID;
	vec_push(&s->sites, at);
}

/* What a SPEC may say, and is not recorded. */
static int check_spec(const struct probe_spec *spec, struct diag *d)
{
	size_t texts = 0;

	for (size_t i = 0; i < spec->nvalues; i++)
		texts += spec->values[i].is_string;
	if (spec->kind == PROBE_SYSCALL && (!strcmp(spec->first, "exit") || !strcmp(spec->first, "exit_group")))
		return diag_error(d, "--span '%s': %s does not return, so the span would have no end: choose another "
				     "system call", spec->text, spec->first);
	if (texts > 1)
		return diag_error(d, "--span '%s': a span keeps one text: leave out the other arguments of "
				     "type str", spec->text);
	return 0;
}

/* A span must not end the program that it measures. */
static int check_returns(const struct name *n, struct diag *d)
{
	if ((n->spec->kind != PROBE_FUNCTION && n->spec->kind != PROBE_LINE) || n->spec->second)
		return 0;
	vec_for_each(site, &n->sites.sites)
		if (!site->ends.len)
			return seccomp_forbids(n->spec, &n->sites, d) ? -1 : 0;
	return 0;
}

static int find_sites(const struct span_set *s, struct name *n, const pid_t *pids, size_t npids, struct diag *d)
{
	const char *program = s->plan->load ? s->plan->load[0] : NULL;

	return n->spec->kind == PROBE_MARK ? marks_find(n->spec, program, pids, npids, d, &n->sites) :
					     probe_sites_find(n->spec, pids, npids, d, &n->sites);
}

static int find(struct span_set *s, uint32_t name, const pid_t *pids, size_t npids, struct diag *d)
{
	struct name *n = &s->names[name];

	if (check_spec(n->spec, d) < 0 || find_sites(s, n, pids, npids, d) < 0 || check_returns(n, d) < 0)
		return -1;
	if (n->spec->kind == PROBE_SYSCALL)
		add_call(s, name);
	vec_for_each(site, &n->sites.sites) {
		if (n->spec->kind == PROBE_MARK)
			add_mark(s, name, site);
		else
			add_site(s, name, site);
	}
	n->nplaces = n->spec->kind == PROBE_SYSCALL ? 1 : n->sites.sites.len;
	return 0;
}

/* Two names for one system call: its programs know one number for it. */
static int check_calls(const struct span_set *s, struct diag *d)
{
	const struct name *of[ER_MAX_SYSCALLS] = { NULL };

	vec_for_each(site, &s->sites) {
		const struct name *n = &s->names[site->site.name];

		if (site->site.kind != ER_SPAN_CALL || site->end)
			continue;
		if (site->syscall < 0 || site->syscall >= ER_MAX_SYSCALLS)
			return diag_error(d, "--span '%s': this system call cannot be recorded: choose "
					     "another one", n->spec->text);
		if (of[site->syscall])
			return diag_error(d, "--span '%s': this system call has the name '%s' already: leave "
					     "one of the two out", n->spec->text, of[site->syscall]->spec->name);
		of[site->syscall] = n;
	}
	return 0;
}

static int find_all(struct span_set *s, struct diag *d)
{
	size_t n = s->plan->targets.len, npids = 0;
	__cleanup(freep) pid_t *pids = xcalloc(n + 1, sizeof(*pids));

	for (size_t i = 0; i < n; i++)
		if (s->plan->targets.data[i].pid)
			pids[npids++] = s->plan->targets.data[i].pid;
	for (uint32_t i = 0; i < s->n; i++)
		if (find(s, i, pids, npids, d) < 0)
			return -1;
	return check_calls(s, d);
}

int span_set_open(const struct plan *plan, struct diag *d, struct span_set **ret)
{
	struct span_set *s;

	*ret = NULL;
	if (!plan->spans.len)
		return 0;
	s = xcalloc(1, sizeof(*s));
	s->plan = plan;
	s->n = plan->spans.len;
	s->names = xcalloc(s->n, sizeof(*s->names));
	for (size_t i = 0; i < s->n; i++)
		s->names[i].spec = &plan->spans.data[i];
	if (find_all(s, d) < 0) {
		span_set_free(s);
		return -1;
	}
	s->capture = (struct capture_spans){ .sites = s->sites.data, .nsites = s->sites.len, .nnames = s->n,
					     .limit = plan->span_limit, .over_ns = plan->span_over_ns };
	*ret = s;
	return 0;
}

const struct capture_spans *span_set_capture(const struct span_set *s)
{
	return s ? &s->capture : NULL;
}

static bool is_refused(const struct span_set *s, size_t name, size_t function)
{
	vec_for_each(site, &s->sites)
		if (site->site.name == name && site->function == function)
			return site->at.refused;
	return false;
}

/* A pair needs places to begin and places to end. */
static int report_refused(const struct span_set *s, size_t name, struct diag *d)
{
	struct name *n = &s->names[name];
	__cleanup(freep) const char **names = xcalloc(n->sites.sites.len + 1, sizeof(*names));
	size_t nrefused = 0, left[2] = { 0, 0 };

	for (size_t i = 0; i < n->sites.sites.len; i++) {
		const struct probe_site *site = &n->sites.sites.data[i];

		if (is_refused(s, name, i))
			names[nrefused++] = site->name;
		else
			left[site->second]++;
	}
	n->nplaces -= nrefused;
	if (!nrefused)
		return 0;
	if (probe_spec_is_pair(n->spec) && left[true] < left[false])
		left[false] = left[true];
	return probe_sites_refused(n->spec, names, nrefused, left[false], d);
}

int span_set_refused(struct span_set *s, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; s && i < s->n && !err; i++)
		err = report_refused(s, i, d);
	return err;
}

void span_set_free(struct span_set *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		probe_sites_free(&s->names[i].sites);
	vec_free(&s->sites);
	free(s->names);
	free(s);
}

/* --- spans.xml --- */

static void subtract(struct sums *sums, const struct sums *base)
{
	uint64_t *to = (uint64_t *)sums;
	const uint64_t *from = (const uint64_t *)base;

	for (size_t i = 0; i < sizeof(*sums) / sizeof(*to); i++)
		to[i] -= from[i];
}

static struct sums *sums_of(const struct span_set *s, const struct capture *c, size_t name)
{
	struct sums *sums = xcalloc(1, sizeof(*sums));

	capture_span_sums(c, name, &sums->of, sums->hist);
	return sums;
}

static uint64_t threshold(const struct span_set *s)
{
	if (!s->plan->span_limit)
		return 0;
	return s->plan->span_over_ns ? s->plan->span_over_ns : UINT64_MAX;
}

static void put_row(const struct span_set *s, size_t i, const struct sums *sums, struct buf *b)
{
	const struct name *n = &s->names[i];
	const struct er_span_sums *of = &sums->of;
	struct span_row row = {
		.number = i + 1, .name = n->spec->name, .spec = n->spec->text,
		.sites = n->nplaces,
		.threshold_ns = threshold(s), .count = of->count, .dur_ns = of->dur_ns,
		.max_ns = of->max_ns, .run_ns = of->run_ns, .split = s->plan->capture.split,
		.stolen_ns = of->stolen_ns, .waits = of->waits, .minflt = of->minflt, .majflt = of->majflt,
		.unended = of->unended, .nobegin = of->nobegin, .noroom = of->noroom, .lost = of->lost,
		.hist = sums->hist,
	};

	for (int state = 0; state < ER_OFF_STATES; state++)
		row.state_ns[off_states[state]] = of->off_ns[state];
	row.state_ns[MS_USER] = of->user_ns;
	row.state_ns[MS_SYSTEM] = of->run_ns - of->user_ns;
	span_put_row(b, &row);
}

void span_set_write(const struct span_set *s, const struct capture *c, struct expwriter *founder)
{
	struct buf b = { 0 };

	if (!s || !c)
		return;
	for (size_t i = 0; i < s->n; i++) {
		struct sums *sums = sums_of(s, c, i);

		s->names[i].written = *sums;
		subtract(sums, &s->names[i].base);
		/* The longest call of one segment is known for the first only. */
		if (s->nsegments)
			sums->of.max_ns = 0;
		put_row(s, i, sums, &b);
		free(sums);
	}
	/* A full disk is reported at the next flush. */
	expwriter_replace(founder, SPANS_XML, b.data);
	buf_free(&b);
}

/* A call that began has returned or ended in another way, whatever became of its record. */
static uint64_t vanished(const struct span_set *s, const struct capture *c, uint64_t begun)
{
	uint64_t ended = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct sums *sums = sums_of(s, c, i);

		ended += sums->of.count + sums->of.unended + sums->of.muted;
		free(sums);
	}
	return begun > ended ? begun - ended : 0;
}

void span_set_losses(const struct span_set *s, const struct capture *c, bool stopped, struct buf *b)
{
	struct capture_span_losses losses;
	uint64_t gone;

	if (!s || !c)
		return;
	capture_span_losses(c, &losses);
	gone = stopped ? vanished(s, c, losses.begun) : 0;
	if (losses.missed > s->missed || gone)
		buf_printf(b, "<spanloss missed=\"%" PRIu64 "\" vanished=\"%" PRIu64 "\"/>\n",
			   losses.missed - s->missed, gone);
}

void span_set_restart(struct span_set *s, const struct capture *c)
{
	if (!s)
		return;
	s->nsegments++;
	if (c) {
		struct capture_span_losses losses;

		capture_span_losses(c, &losses);
		s->missed = losses.missed;
	}
	for (size_t i = 0; i < s->n; i++)
		s->names[i].base = s->names[i].written;
}
