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
	int err = probe_spec_parse(PROBE_FOR_PROBE, text, d, &p.spec);

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
	struct capture_probe_site site = { .name = name, .at = at };

	memcpy(site.places, places, sizeof(site.places));
	vec_push(&p->places, site);
}

int probes_find(probe_list *l, const pid_t *pids, size_t n, struct diag *d)
{
	vec_for_each (p, l) {
		if (probe_sites_find(&p->spec, pids, n, d, &p->sites))
			return -1;
		if (p->spec.ret && seccomp_forbids(&p->spec, &p->sites, d))
			return -1;
		vec_for_each (site, &p->sites.sites)
			add_place(p, site->name, site->at, site->places);
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

size_t probe_nplaces(const struct probe *p)
{
	size_t n = 0;

	vec_for_each (place, &p->places)
		n += !place->at.refused;
	return n;
}

int probes_refused(const probe_list *l, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < l->len && !err; i++) {
		const struct probe *p = &l->data[i];
		__cleanup(freep) const char **names = xcalloc(p->places.len + 1, sizeof(*names));
		size_t n = 0;

		vec_for_each (place, &p->places)
			if (place->at.refused)
				names[n++] = place->name;
		err = n ? probe_sites_refused(&p->spec, names, n, p->places.len - n, d) : 0;
	}
	return err;
}

void probes_free(probe_list *l)
{
	vec_for_each (p, l)
		release(p);
	vec_free(l);
}
