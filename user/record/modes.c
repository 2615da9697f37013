/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/modes.h"

#include <string.h>

#include "analysis/base/map.h"

static struct modes_of *place_of(struct modes *m, const char *comm)
{
	struct modes_of *of = &m->of[hash_bytes(comm, strnlen(comm, MODES_COMM)) % MODES_NAMES];

	if (strncmp(of->comm, comm, MODES_COMM)) {
		*of = (struct modes_of){ 0 };
		memcpy(of->comm, comm, strnlen(comm, MODES_COMM));
	}
	return of;
}

/* Whether the guesses so far have less kernel time than the told shares require. */
static bool lacks_system(const struct modes_of *of, uint64_t weight_ns)
{
	double told = (double)of->user + (double)of->system, guessed;

	if (told <= 0)
		return false;
	guessed = (double)of->guessed_user + (double)of->guessed_system + (double)weight_ns;
	return (double)of->guessed_system + (double)weight_ns / 2 <= guessed * ((double)of->system / told);
}

uint64_t modes_system(struct modes *m, const char comm[MODES_COMM], uint64_t weight_ns, bool told, uint64_t system_ns)
{
	struct modes_of *of = place_of(m, comm);

	if (told) {
		system_ns = system_ns < weight_ns ? system_ns : weight_ns;
		of->system += system_ns;
		of->user += weight_ns - system_ns;
		return system_ns;
	}
	if (lacks_system(of, weight_ns)) {
		of->guessed_system += weight_ns;
		return weight_ns;
	}
	of->guessed_user += weight_ns;
	return 0;
}
