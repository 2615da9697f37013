/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_src: source and disassembly of an object; see analysis/command/ersrc.h. */
#include <locale.h>

#include "analysis/base/streams.h"
#include "analysis/command/ersrc.h"

int main(int argc, char **argv)
{
	streams_fill();
	setlocale(LC_CTYPE, "C.UTF-8");
	return streams_flush("er_src", ersrc_main(argc, argv));
}
