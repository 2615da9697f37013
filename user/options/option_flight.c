/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of recordings in segments: --roll, --flight, and when to dump. */
#include <string.h>

#include "analysis/base/diag.h"
#include "user/options/option_values.h"
#include "user/options/options_impl.h"

enum { ROLL_MIN_NS = 1000000000 };

int opt_roll(struct options *o, const char *arg, struct diag *d)
{
	uint64_t ns;
	char *end;

	if (option_bytes(arg, &o->plan.roll_bytes))
		return 0;
	if (option_duration(arg, &ns, &end) && end[-1] > '9' && !*end && ns >= ROLL_MIN_NS) {
		o->plan.roll_ns = ns;
		return 0;
	}
	return diag_error(d, "--roll '%s': neither a duration nor a size: write one from 1s or 1M, "
			     "such as 60s, 5m, 200M or 1G", arg);
}

int opt_keep(struct options *o, const char *arg, struct diag *d)
{
	if (!option_bytes(arg, &o->plan.keep_bytes))
		return diag_error(d, "--keep '%s': not a size: write one from 1M, such as 500M or 2G",
				  arg);
	return 0;
}

enum { FLIGHT_MIN_MB = 16, FLIGHT_MB = 256 };

/* Parse "60s" or "60s,256M". */
int opt_flight(struct options *o, const char *arg, struct diag *d)
{
	struct plan *p = &o->plan;
	uint64_t ns, bytes = (uint64_t)FLIGHT_MB << 20;
	char *end;

	if (!option_duration(arg, &ns, &end) || end[-1] <= '9' || ns < ROLL_MIN_NS ||
	    (*end && (*end != ',' || !option_bytes(end + 1, &bytes))))
		return diag_error(d, "--flight '%s': not a duration: write one from 1s, such as 60s or "
				     "5m, or with the most memory for it, such as 60s,500M", arg);
	if (bytes < (uint64_t)FLIGHT_MIN_MB << 20)
		return diag_error(d, "--flight '%s': too little memory: write at least %dM", arg,
				  FLIGHT_MIN_MB);
	p->flight_ns = ns;
	p->flight_bytes = bytes;
	return 0;
}

/* Parse "40%" or "40%/10s", a share of a time. */
static bool pressure_limit(const char *s, struct pressure_limit *ret)
{
	struct pressure_limit l = { .window_ns = PRESSURE_MAX_NS };
	char *end;

	if (!option_number(s, &l.percent, &end) || *end != '%' || l.percent <= 0 || l.percent > 100)
		return false;
	if (*++end == '/' && (!option_duration(end + 1, &l.window_ns, &end) || end[-1] <= '9'))
		return false;
	if (*end || l.window_ns < PRESSURE_MIN_NS || l.window_ns > PRESSURE_MAX_NS)
		return false;
	*ret = l;
	return true;
}

int opt_dump_on(struct options *o, const char *arg, struct diag *d)
{
	const char *colon = strchr(arg, ':');

	for (int i = 0; colon && i < PRESSURE_COUNT; i++) {
		const char *name = pressure_name(i);

		if (strlen(name) == (size_t)(colon - arg) && !strncmp(name, arg, colon - arg) &&
		    pressure_limit(colon + 1, &o->plan.pressure[i]))
			return 0;
	}
	if (colon && !strncmp(arg, "signal:", strlen("signal:")))
		return diag_error(d, "--dump-on '%s': a signal has no word before it: write --dump-on %s", arg, colon + 1);
	if (colon)
		return diag_error(d, "--dump-on '%s': not a limit of pressure: write cpu, memory or io, and "
				     "a share of 0.5 to 10 s, such as cpu:40%%/10s", arg);
	if (!strcmp(arg, "end")) {
		o->plan.dump_at_end = true;
		return 0;
	}
	if (o->plan.dump_signal)
		return diag_error(d, "--dump-on '%s': a signal was given already: leave one out", arg);
	return signal_option("--dump-on", arg, &o->plan.dump_signal, d);
}

int opt_cooldown(struct options *o, const char *arg, struct diag *d)
{
	char *end;

	if (!option_duration(arg, &o->plan.cooldown_ns, &end) || *end || end[-1] <= '9')
		return diag_error(d, "--cooldown '%s': not a duration: write one such as 30s, 5m, or 0s "
				     "for none", arg);
	return 0;
}
