/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes recorder.xml in the founder: what the recording produced, lost, left out and cost. The
 * file is rewritten at the end, and meanwhile each second, after ten seconds every fifth. A killed
 * recorder therefore leaves a file that is up to five seconds old and says state="running".
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

/*
 * The counts of capture and recorder at the begin of this segment, to be subtracted. All 0 in the
 * first segment.
 */
struct recorder_base {
	struct er_counts *cpus; /* by CPU; NULL: all 0 */
	struct er_calls *calls; /* by number; NULL: all 0 */
	struct capture_counted counted[ER_MAX_COUNTERS];
	struct capture_probed probed[ER_MAX_PROBES];
	struct capture_cost costs[ER_PROG_COUNT]; /* of each program at its number; runs 0: none */
	uint64_t user_ns, system_ns; /* of the recorder */
};

struct recorder_xml {
	const struct plan *plan;
	const struct capture *capture; /* NULL: nothing is profiled */
	const struct task_perf *perf;  /* has the counters' totals, if there is one; NULL: the capture has them */
	const struct drain *drain;     /* NULL: nothing is profiled */
	const struct drops *drops;
	const struct control *control;
	const struct ksymtab *ksyms;   /* NULL: no kernel symbols */
	uint64_t first_ns; /* when the first segment began: all segments name it */
	uint64_t start_ns, start_asleep_ns;
	uint64_t began_ns, stop_ns; /* when the capture began and ended; 0: not yet */
	struct pauses pauses;
	bool closed;
	enum archives archives;
	size_t unarchived; /* binaries that could be archived and were not */
	bool followed;     /* another segment follows: records that are in rings are counted there */
	struct recorder_base base;
	int unwritten; /* the error of a write that ended the recording; 0: none */
};

/* How long the machine has been suspended since boot, in ns. */
uint64_t recorder_xml_asleep_ns(void);

/* The text of recorder.xml. */
void recorder_xml_write(const struct recorder_xml *a, struct buf *ret);

/* Put what the capture has counted for the whole system into a usage sample. */
void recorder_xml_usage(const struct recorder_xml *a, struct exp_usage *u);

/*
 * A segment that begins at start_ns follows: count from now on. Call it before drain_restart. Free
 * what it keeps with recorder_xml_fini.
 */
void recorder_xml_restart(struct recorder_xml *a, uint64_t start_ns);
void recorder_xml_fini(struct recorder_xml *a);

/* The capture's counts of a CPU, in this segment. */
void recorder_xml_cpu(const struct recorder_xml *a, int cpu, struct er_counts *ret);
/* The records of a kind that the capture has produced since it began, in all segments. */
uint64_t recorder_xml_produced(const struct recorder_xml *a, enum er_kind kind);
void recorder_xml_counts(const struct recorder_xml *a, struct record_counts *ret);

#endif
