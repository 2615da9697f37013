#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# On Debian's 6.12 kernel, in an emulator: all programs load and record. The whole list of tests/vm/run.sh, which
# vm_6.1.sh runs on the older kernel: ONLY= tests/live/vm_6.12.sh
# Time limit: 560 s
. "$(dirname "$0")/../lib/tap.sh"

cd "$top" && ONLY=${ONLY-smoke.sh counters.sh probe.sh heap.sh io.sh} tests/vm/run.sh "${O#"$top"/}" 6.12
