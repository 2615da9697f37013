#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How programs are started. If standard streams are full or closed, every program reports
# that its output was lost, and writes the same files as with open streams. If limits are
# low, nothing is left out silently.
. "$(dirname "$0")/../lib/tools.sh"

# unwritten NAME COMMAND…: with output that cannot be written, the command must end with
# status 1 and a message.
unwritten()
{
	local name=$1 to
	shift
	for to in full closed; do
		if [ $to = full ]; then "$@" >/dev/full 2>err </dev/null
		else "$@" >&- 2>err </dev/null; fi
		check_that "$name, standard output $to" \
			"$? == 1 && \"$(tail -n 1 err)\" ~ /^${1##*/}: cannot write the output: /" \
			"$(cat err)"
	done
}

fresh
put rec.1.er a.er
for tool in er_kernel er_print er_src er_archive er_cp er_mv er_rm er_export; do
	[ -x "$O/bin/$tool" ] || { skip "$tool" "not built"; continue; }
	for option in -V -h; do
		unwritten "$tool $option" $tool $option
	done
done
unwritten "er_print" er_print -functions a.er
unwritten "er_export" er_export a.er
unwritten "er_src" er_src -func /bin/true
[ ! -x "$O/bin/er_kernel" ] || unwritten "er_kernel -n" er_kernel -n

# With too few descriptors, files that cannot be opened would count as missing.
for tool in "er_print -functions" er_export er_archive "er_cp a.er" er_rm; do
	(ulimit -n 20 && refuses "${tool%% *}: too few files may be open" "raise the limit" \
		$tool a.er)
done
(ulimit -S -n 20 && check "er_print: raises the soft limit to the hard limit" er_print -functions a.er)

# If standard error is closed, a file of the experiment must not take its descriptor.
for tool in er_cp er_mv "er_archive -d ."; do
	fresh
	mkdir open closed
	for dir in open closed; do
		(cd $dir && put sys.1.er a.er && mkdir to)
	done
	case $tool in er_archive*) args=a.er ;; *) args="a.er to/b.er" ;; esac
	(cd open && $tool $args </dev/null >out 2>../err)
	(cd closed && $tool $args <&- >&- 2>&-)
	status=$?
	rm -f open/out
	check "$tool: writes the same files with all streams closed" \
		diff -r -x archive.log open closed
	check_that "$tool: exits with status 0 or 1 with all streams closed" "$status < 2"
done
