#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The selftests and a recording on Debian's 6.12 kernel, in an emulator.
# Time limit: 560 s
. "$(dirname "$0")/../lib/tap.sh"

cd "$top" && tests/vm/run.sh "${O#"$top"/}" 6.12
