#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Time limit: 400 s
# A full disk ends the recording with one message; the data written so far can be read.
. "$(dirname "$0")/../lib/live.sh"

mkdir small
mount -t tmpfs -o size=1m er-test small 2>/dev/null || skip_all "cannot mount a small file system"
on_exit=unmount
unmount() { cd / && umount "$tmp/small"; }
"$syn/kload" 100 >/dev/null 2>&1 &
load=$!
timeout 90 "$er_kernel" -d small -o full.er -p 0.2 -F on -t 100 >record.out 2>record.err
status=$?
kill $load
check_that "full disk: the recorder ends by itself, with a failure" "$status != 0 && $status != 124" "status $status"
check_that "full disk: the message names the cause once" "$(grep -ciE 'no space|disk|full' record.err) == 1" "$(cat record.err)"
check_that "full disk: there is one message" "$(wc -l <record.err) == 1" "$(cat record.err)"
check "full disk: er_print opens the experiment" "$er_print" -header -functions small/full.er
"$er_print" -header small/full.er >header 2>&1
check_that "the header does not say that nothing was lost" \
	"$(grep -c '^Nothing was lost' header) == 0 && $(grep -c 'could not be written to its end' header) == 1" \
	"$(cat header)"
check_that "full disk: the experiment has what was recorded before" \
	"$("$er_print" -printmode , -metrics e.user:e.kcpu:name -functions small/full.er 2>/dev/null |
		grep -c '<Total>') == 1"
check "full disk: gprofng opens the experiment" opens_in_gprofng small/full.er

# The same for the caller's file size limit, which normally kills by a signal (blocks of 512 bytes).
"$syn/kload" 100 >/dev/null 2>&1 &
load=$!
(ulimit -f 200; exec timeout 90 "$er_kernel" -o limit.er -p 0.2 -t 100) >record.out 2>record.err
status=$?
kill $load
check_that "a limit of file sizes ends the recording with a failure" "$status == 1" "status $status"
check_that "a limit of file sizes is reported once" "$(grep -c 'too large' record.err) == 1 && $(wc -l <record.err) == 1" \
	"$(cat record.err)"
check "an experiment cut by a limit of file sizes opens" "$er_print" -header -functions limit.er
"$er_print" -header limit.er >header 2>&1
check_that "the header says what is missing, and why" \
	"$(grep -c '^Nothing was lost' header) == 0 && $(grep -c 'File too large' header) == 1" \
	"$(cat header)"

# Segments fit, their copies of programs do not: the first says so, and the end counts.
mkdir tight
mount -t tmpfs -o size=2500k er-test tight
unmount() { cd / && umount "$tmp/small" "$tmp/tight"; }
timeout 90 "$er_kernel" -d tight -o r.1.er -p 0.2 -F =spin -A copy --roll 1s -t 3.5 >record.out 2>record.err &
pid=$!
"$syn/spin" alpha:5 >/dev/null 2>&1
wait $pid
check_that "archives that do not fit are reported once, and counted at the end" \
	"$(grep -c 'archives are incomplete' record.err) == 1 &&
		$(grep -c 'the archives of [2-9] experiments are incomplete' record.err) == 1 && $(wc -l <record.err) == 2" \
	"$(cat record.err; ls -l tight)"
