#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Spans alone, in the virtual machine of run.sh: smoke.sh takes much longer. Not part of a whole run.
. /bin/guest.sh

rm -rf calls.er
er_kernel -o calls.er -q 0 -A off --span 'alpha=spin:alpha(1:int)' --span outer=spin:outer \
	--span call=syscall:clock_nanosleep -- sh -c 'spin alpha:1 "outer>alpha:1"; sleep 1' >out 2>err
says "records spans" "$? == 0" "$(cat err)"
says "each call has a record" "$(grep -c 'name="alpha".* count="2" ' calls.er/spans.xml) == 1 &&
	$(grep -c 'name="outer".* count="1" ' calls.er/spans.xml) == 1 &&
	$(grep -c 'name="call".* count="[1-9]' calls.er/spans.xml) == 1" "$(cat calls.er/spans.xml out)"
