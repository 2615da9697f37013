/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_cp: copies experiments. Everything is in analysis/tool/. */
#include "analysis/base/streams.h"
#include "analysis/tool/tool.h"

int main(int argc, char **argv)
{
	streams_fill();
	return streams_flush("er_cp", transfer_main(TRANSFER_COPY, argc, argv));
}
