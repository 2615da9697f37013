/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of probes. */
#include "user/options/options_impl.h"

int opt_probe(struct options *o, const char *arg, struct diag *d)
{
	return probes_add(&o->plan.probes, arg, false, d);
}

int opt_probe_counts(struct options *o, const char *arg, struct diag *d)
{
	return probes_add(&o->plan.probes, arg, true, d);
}
