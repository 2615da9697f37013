/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/helptext.h"

#include <stddef.h>
#include <string.h>

static const struct command_text texts[] = {
#include "analysis/command/helptext.inc"
};

const struct command_text *command_text(const char *name)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!strcmp(texts[i].name, name))
			return &texts[i];
	}
	return NULL;
}
