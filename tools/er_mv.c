/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_mv: moves and renames experiments. Everything is in analysis/tool/. */
#include "analysis/base/streams.h"
#include "analysis/tool/tool.h"

int main(int argc, char **argv)
{
	streams_fill();
	return streams_flush("er_mv", transfer_main(TRANSFER_MOVE, argc, argv));
}
