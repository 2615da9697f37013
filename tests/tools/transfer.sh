#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_cp and er_mv: what they copy, what they refuse, and what they leave behind.
. "$(dirname "$0")/../lib/tools.sh"

for tool in er_cp er_mv; do
	fresh
	put sys.1.er a.er keep.er
	chmod 0640 a.er/profile && touch -d '2020-02-02' a.er/profile
	check "$tool to a new name" $tool a.er b.er
	same "$tool: everything arrived" keep.er b.er
	check_that "$tool: mode and time are kept" \
		"\"$(stat -c '%a %y' b.er/profile | cut -c1-14)\" == \"640 2020-02-02\""
	check "$tool: er_print reads the new experiment" er_print -functions b.er
	if [ $tool = er_cp ]; then same "er_cp leaves the first" keep.er a.er
	else check "er_mv: the old experiment is gone" test ! -e a.er; fi
	check_that "$tool: no other file is there" "\"$(ls -A | tr '\n' ' ')\" ~ /^(a.er )?b.er keep.er $/" "$(ls -A)"

	fresh
	put hostile.1.er a.er
	put rec.1.er b.er
	mkdir dir
	check "$tool several into a directory" $tool a.er/ b.er dir
	check_that "$tool: both are in the directory" "\"$(ls dir | tr '\n' ' ')\" == \"a.er b.er \""

	fresh
	mkdir dir other
	put rec.1.er dir/a.er dir/b.er
	printf '#analyzer experiment group\na.er\nb.er\n' >dir/g.erg
	check "$tool a group into a directory" $tool dir/g.erg other
	check_that "$tool: group and members are in it" "\"$(ls other | tr '\n' ' ')\" == \"a.er b.er g.erg \""
	check "$tool: the group can be read" er_print -experiment_list other/g.erg
	[ $tool = er_cp ] || check_that "er_mv: the old group and members are gone" "\"$(ls dir)\" == \"\"" "$(ls dir)"

	fresh
	put rec.1.er a.er b.er
	mkdir dir plain.er not && put rec.1.er dir/a.er && echo x >file && echo text >plain.er/readme
	mkfifo dir/f && ln -s a.er link.er
	refuses "$tool: the new one exists" "exists already" $tool a.er b.er
	refuses "$tool: … in the directory" "exists already" $tool a.er dir
	refuses "$tool: … a file" "ends in .er" $tool a.er file
	refuses "$tool: a name without .er" "ends in .er" $tool a.er c
	refuses "$tool: several to a new name" "is no directory" $tool a.er b.er c.er
	refuses "$tool: missing" "No such file" $tool gone.er c.er
	refuses "$tool: no experiment" "no log.xml" $tool plain.er c.er
	refuses "$tool: a file" "ends in .er" $tool file c.er
	refuses "$tool: a link" "symbolic link" $tool link.er c.er
	refuses "$tool: a dot" "not the name" $tool . c.er
	refuses "$tool: into itself" "itself" $tool a.er a.er/_b.er
	refuses "$tool: no such directory" "No such file" $tool a.er no/where.er
	refuses "$tool: unknown option" "no such option" $tool -x a.er c.er
	refuses "$tool: a group to a name" "goes into a directory" $tool g.erg c.er
	refuses "$tool: a missing group" "No such file" $tool g.erg dir
	check "$tool -V" $tool -V
	check_that "$tool -h" "\"$($tool -h | head -n 1)\" ~ /^usage: $tool /"
	$tool a.er >"$tmp/out" 2>"$tmp/err"
	check_that "$tool: one operand is too few" "$? == 2 && $(grep -c usage: "$tmp/err") == 1"

	# Files that other users planted in an experiment are copied unchanged or left out,
	# never read.
	fresh
	put rec.1.er a.er
	mkdir a.er/archives && echo secret >outside && ln -s ../../outside a.er/archives/x
	mkfifo a.er/profile2
	timeout 20 $tool a.er c.er >"$tmp/out" 2>"$tmp/err"
	check_that "$tool: a planted link and a fifo do no harm" "$? == 0" "$(cat "$tmp/err")"
	check_that "$tool: the link is a link" "\"$(readlink c.er/archives/x)\" == \"../../outside\""
	[ $tool = er_mv ] || check_that "er_cp: a warning says that the fifo is left out" \
		"$(grep -c 'profile2: is neither' "$tmp/err") == 1" "$(cat "$tmp/err")"
done

# A running recorder: this shell acts as one, as it was started before the file was written.
fresh
put rec.1.er a.er
sed -i -e '/kind="exit"/d' -e "s/hostname=\"[^\"]*\"/hostname=\"$(uname -n)\"/" a.er/log.xml
echo "<recorder version=\"1\" pid=\"$$\" state=\"running\"/>" >a.er/recorder.xml
refuses "er_mv: still being recorded" "still being recorded by er_kernel (process $$)" er_mv a.er b.er
check "er_cp: still being recorded" er_cp a.er b.er
check_that "er_cp: a message says that the experiment is still being recorded" "$(er_cp a.er c.er 2>&1 | grep -c 'still being recorded') == 1"
echo '<recorder version="1" pid="1" state="running"/>' >a.er/recorder.xml
touch -d '1990-01-01' a.er/recorder.xml
check "er_mv: a process of the same number is no recorder" er_mv a.er d.er

# A full disk, and another file system.
[ "$(id -u)" = 0 ] || { skip "small file system" "needs root"; exit; }
fresh
mkdir small
mount -t tmpfs -o size=256k er-test small 2>/dev/null ||
	{ skip "small file system" "cannot mount one"; exit; }
on_exit=unmount
unmount() { cd / && umount "$tmp/work/small"; }
put rec.1.er big.er fit.er keep.er
head -c 1000000 /dev/zero >big.er/archive.log
for tool in er_cp er_mv; do
	refuses "$tool: full disk" "No space left" $tool big.er small/new.er
	check_that "$tool: full disk, the source is intact" "$(stat -c %s big.er/archive.log) == 1000000"
done
check "er_cp to another file system" er_cp fit.er small
same "er_cp: arrived" keep.er small/fit.er
check "er_mv to another file system" er_mv fit.er small/moved.er
same "er_mv: arrived" keep.er small/moved.er
check "er_mv: the source is removed" test ! -e fit.er
