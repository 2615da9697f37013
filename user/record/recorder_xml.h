/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes recorder.xml in the founder: what the recording produced, lost, left out and cost. The
 * file is rewritten about once a second and at the end. A killed recorder therefore leaves a file
 * that is a second old and says state="running".
 */
#ifndef USER_RECORD_RECORDER_XML_H
#define USER_RECORD_RECORDER_XML_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "user/record/drain.h"
#include "user/record/drops.h"
#include "user/record/kinds.h"
#include "user/record/ksymtab.h"
#include "user/record/pauses.h"
#include "user/record/plan.h"
#include "user/record/control.h"
#include "loaders/capture.h"

struct exp_usage;

/* The state of the archives. They are written after the capture. */
enum archives {
	ARCHIVES_NONE,        /* none are wanted, or it is not time yet */
	ARCHIVES_RUNNING,     /* being written; if this stays, the recorder was killed */
	ARCHIVES_COMPLETE,
	ARCHIVES_INTERRUPTED, /* by a signal */
	ARCHIVES_NO_ROOM,     /* -L or --archive-limit */
	ARCHIVES_FAILED,      /* the disk, or the recording failed before */
};

struct recorder_xml {
	const struct plan *plan;
	const struct capture *capture; /* NULL: nothing is profiled */
	const struct drain *drain;     /* NULL: nothing is profiled */
	const struct drops *drops;
	const struct control *control;
	const struct ksymtab *ksyms;   /* NULL: no kernel symbols */
	uint64_t start_ns, start_asleep_ns;
	uint64_t began_ns, stop_ns; /* when the capture began and ended; 0: not yet */
	struct pauses pauses;
	bool closed;
	enum archives archives;
	size_t unarchived; /* binaries that could be archived and were not */
	int unwritten; /* the error of a write that ended the recording; 0: none */
};

/* How long the machine has been suspended since boot, in ns. */
uint64_t recorder_xml_asleep_ns(void);

/* The text of recorder.xml. */
void recorder_xml_write(const struct recorder_xml *a, struct buf *ret);

/* Put what the capture has counted for the whole system into a usage sample. */
void recorder_xml_usage(const struct recorder_xml *a, struct exp_usage *u);

void recorder_xml_counts(const struct recorder_xml *a, struct record_counts *ret);

#endif
