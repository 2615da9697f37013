/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/rootname.h"

#include "analysis/base/buf.h"
#include "analysis/experiment/mstate.h"
#include "analysis/experiment/packet.h"
#include "analysis/export/gather.h"
#include "analysis/model/names.h"
#include "analysis/views/view_state.h"

const char *state_uname(int64_t state)
{
	return state >= 0 && state < MS_COUNT ? mstate_descs[state].uname : "No state";
}

const char *reason_uname(int64_t reason)
{
	if (reason < 0)
		return "On CPU";
	return reason < REASON_COUNT ? reason_descs[reason].uname : "unknown";
}

unsigned root_by(enum export_root root)
{
	static const unsigned by[] = {
		[ROOT_NONE] = 0, [ROOT_STATE] = BY_STATE, [ROOT_REASON] = BY_STATE | BY_REASON,
		[ROOT_PROCESS] = BY_PROCESS,
	};

	return by[root];
}

void root_put(const struct export *x, const struct bucket_key *k, struct buf *b)
{
	switch (x->root) {
	case ROOT_STATE:
		buf_puts(b, state_uname(k->state));
		break;
	case ROOT_REASON:
		buf_puts(b, k->state < 0 ? state_uname(-1) : reason_uname(k->reason));
		break;
	case ROOT_PROCESS:
		names_put_process(session_names(x->view->session), k->origin, k->pid, 0, k->tid, b);
		break;
	case ROOT_NONE:
		break;
	}
}
