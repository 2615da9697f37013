#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The capture on the oldest kernel that is supported, in an emulator.
. "$(dirname "$0")/../lib/tap.sh"

cd "$top" && tests/vm/run.sh "$O" 6.1
