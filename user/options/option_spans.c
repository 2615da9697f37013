/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of spans. */
#include <limits.h>
#include <string.h>

#include "analysis/base/diag.h"
#include "user/options/option_values.h"
#include "user/options/options_impl.h"

enum { SPAN_LIMIT_MIN = 10, MAX_SPAN_OVER = 1000000 };

int opt_span(struct options *o, const char *arg, struct diag *d)
{
	struct probe_spec spec;

	if (o->plan.spans.len == ER_MAX_SPAN_NAMES)
		return diag_error(d, "--span '%s': %d spans were given already: leave some out", arg,
				  ER_MAX_SPAN_NAMES);
	if (probe_spec_parse(PROBE_FOR_SPAN, arg, d, &spec) < 0) {
		probe_spec_free(&spec);
		return -1;
	}
	vec_for_each(other, &o->plan.spans)
		if (!strcmp(other->name, spec.name)) {
			probe_spec_free(&spec);
			return diag_error(d, "--span '%s': another span has this name: write a different "
					     "one before the =", arg);
		}
	vec_push(&o->plan.spans, spec);
	return 0;
}

int opt_span_limit(struct options *o, const char *arg, struct diag *d)
{
	static const struct option_word words[] = { { "unlimited", 0 }, { NULL, 0 } };
	uint64_t n;

	if (option_word(words, arg, &o->plan.span_limit))
		return 0;
	if (!option_whole(arg, INT_MAX, &n) || n < SPAN_LIMIT_MIN)
		return diag_error(d, "--span-limit '%s': not a rate: write unlimited, or records a second, "
				     "%d or more", arg, SPAN_LIMIT_MIN);
	o->plan.span_limit = n;
	return 0;
}

int opt_span_over(struct options *o, const char *arg, struct diag *d)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	double v;
	char *end;
	bool ok = option_number(arg, &v, &end) && v > 0 && v <= MAX_SPAN_OVER;

	for (size_t i = 0; ok && i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].name))
			o->plan.span_over_ns = v * units[i].ns;
	if (ok && o->plan.span_over_ns)
		return 0;
	return diag_error(d, "--span-over '%s': not a duration: write one such as 10ms, 500us or 1s", arg);
}
