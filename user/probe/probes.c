/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/probe/probes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/diag.h"
#include "user/probe/seccomp.h"

/* The last part of a target without NAME=: "libc:malloc" is malloc. Others keep letters and digits. */
static char *metric_name(const struct probe_spec *s)
{
	bool named = !strncmp(s->text, s->name, strlen(s->name)) && s->text[strlen(s->name)] == '=';
	char *name = xstrdup(named || !s->first ? s->name : s->first);

	for (char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p))
			*p = '_';
	return name;
}

static int check(const probe_list *l, const struct probe *p, struct diag *d)
{
	if (l->len == ER_MAX_PROBES)
		return diag_error(d, "--probe '%s': more than %d probes: leave some out, or use *",
				  p->spec.text, ER_MAX_PROBES);
	for (size_t i = 0; i < p->spec.nvalues; i++)
		if (p->spec.values[i].is_string)
			return diag_error(d, "--probe '%s': probes record integers only: give the argument a type "
					     "such as int, or record a span (--span)", p->spec.text);
	vec_for_each (other, l)
		if (!strcmp(other->metric, p->metric))
			return diag_error(d, "--probe '%s': another probe has the name '%s': write NAME= before "
					     "one of them", p->spec.text, p->metric);
	return 0;
}

static void release(struct probe *p)
{
	probe_sites_free(&p->sites);
	probe_spec_free(&p->spec);
	vec_free(&p->places);
	free(p->metric);
}

int probes_add(probe_list *l, const char *text, bool counts_only, struct diag *d)
{
	struct probe p = { .counts_only = counts_only };
	int err = probe_spec_parse(counts_only ? PROBE_FOR_COUNTS : PROBE_FOR_PROBE, text, d, &p.spec);

	if (!err) {
		p.metric = metric_name(&p.spec);
		err = check(l, &p, d);
	}
	if (err)
		release(&p);
	else
		vec_push(l, p);
	return err;
}

static void add_place(struct probe *p, const char *name, struct uprobe_site at, const struct er_place *places)
{
	struct capture_probe_site site = { .name = name, .at = at, .function = p->nfunctions++ };

	memcpy(site.places, places, sizeof(site.places));
	vec_push(&p->places, site);
}

/* The ends of a function whose return is not probed. A tail call has not returned anything. */
static void add_ends(struct probe *p, const struct probe_site *at)
{
	vec_for_each (end, &at->ends) {
		struct capture_probe_site site = { .name = at->name, .at = at->at, .function = p->nfunctions,
						   .jump = end->jump };

		site.at.offset = end->offset;
		site.at.ret = false;
		memcpy(site.low, end->low, sizeof(site.low));
		memcpy(site.high, end->high, sizeof(site.high));
		if (!end->tail)
			memcpy(site.places, at->places, sizeof(site.places));
		vec_push(&p->places, site);
	}
	p->nfunctions++;
}

/* Finds the places of one probe, and whether it has return probes of the kernel. */
static int find_places(struct probe *p, const pid_t *pids, size_t n, struct diag *d)
{
	bool returns = false;

	if (probe_sites_find(&p->spec, pids, n, d, &p->sites))
		return -1;
	vec_for_each (site, &p->sites.sites) {
		if (site->ends.len)
			add_ends(p, site);
		else
			add_place(p, site->name, site->at, site->places);
		returns |= p->spec.ret && !site->ends.len;
	}
	return returns && seccomp_forbids(&p->spec, &p->sites, d) ? -1 : 0;
}

int probes_find(probe_list *l, const pid_t *pids, size_t n, struct diag *d)
{
	vec_for_each (p, l) {
		if (find_places(p, pids, n, d))
			return -1;
		if (p->sites.tracepoint >= 0)
			add_place(p, p->spec.name, (struct uprobe_site){ .fd = -1 }, p->sites.places);
	}
	return 0;
}

struct capture_probe *probes_capture(const probe_list *l)
{
	struct capture_probe *ret = xcalloc(l->len + 1, sizeof(*ret));

	for (size_t i = 0; i < l->len; i++) {
		const struct probe *p = &l->data[i];

		ret[i] = (struct capture_probe){
			.option = probe_option(&p->spec), .name = p->spec.text,
			.sites = p->places.data, .nsites = p->places.len,
			.tracepoint = p->sites.tracepoint,
			.tests = p->spec.tests, .ntests = p->spec.ntests, .nvalues = p->spec.nvalues,
			.counts_only = p->counts_only,
		};
	}
	return ret;
}

/* Whether the place is the first of its function. */
static bool is_first(const struct probe *p, size_t place)
{
	return !place || p->places.data[place].function != p->places.data[place - 1].function;
}

size_t probe_nplaces(const struct probe *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->places.len; i++)
		n += is_first(p, i) && !p->places.data[i].at.refused;
	return n;
}

int probes_refused(const probe_list *l, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < l->len && !err; i++) {
		const struct probe *p = &l->data[i];
		__cleanup(freep) const char **names = xcalloc(p->places.len + 1, sizeof(*names));
		size_t n = 0;

		for (size_t k = 0; k < p->places.len; k++)
			if (is_first(p, k) && p->places.data[k].at.refused)
				names[n++] = p->places.data[k].name;
		err = n ? probe_sites_refused(&p->spec, names, n, probe_nplaces(p), d) : 0;
	}
	return err;
}

void probes_free(probe_list *l)
{
	vec_for_each (p, l)
		release(p);
	vec_free(l);
}
