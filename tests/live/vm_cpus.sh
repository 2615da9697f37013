#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A recording on a machine of 16 CPUs, in an emulator. CPUS=64 emulates more; it needs
# TEST_LIMIT=2700 VM_LIMIT=3000.
# Time limit: 560 s
. "$(dirname "$0")/../lib/tap.sh"

cd "$top" && SMP=${CPUS:-16} ONLY=manycpus.sh TEST_LIMIT=${TEST_LIMIT:-900} tests/vm/run.sh "${O#"$top"/}" 6.12
