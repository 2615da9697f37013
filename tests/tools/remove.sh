#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_rm removes experiments and groups, and nothing else.
. "$(dirname "$0")/../lib/tools.sh"

fresh
put sys.1.er a.er b.er c.er
check "er_rm removes several experiments" er_rm a.er b.er/
check_that "er_rm removes no other experiment" "\"$(ls)\" == \"c.er\"" "$(ls)"

fresh
mkdir dir
put rec.1.er dir/a.er dir/b.er c.er
printf '#analyzer experiment group\na.er\n\n# remark\nb.er\ngone.er\n' >dir/g.erg
er_rm dir/g.erg 2>"$tmp/err"
check_that "a group: its experiments and its file" "$? == 0 && \"$(ls dir)\" == \"\" && \"$(echo *)\" == \"c.er dir\"" \
	"$(ls dir; cat "$tmp/err")"
check_that "a missing member is reported" "$(grep -c "gone.er': is not there" "$tmp/err") == 1" "$(cat "$tmp/err")"

# A group may only name experiments below its own directory, unless -a is given.
fresh
mkdir -p dir/sub elsewhere
put rec.1.er dir/a.er dir/sub/b.er elsewhere/c.er
ln -s ../elsewhere dir/link
for member in ../elsewhere/c.er "$PWD/elsewhere/c.er" link/c.er sub/../../elsewhere/c.er; do
	printf '#analyzer experiment group\na.er\n%s\n' "$member" >dir/g.erg
	refuses "a member outside: ${member#$PWD/}" "lies outside the directory of its group" er_rm dir/g.erg
done
check_that "-f: does not remove it either" "\"$(er_rm -f dir/g.erg; ls elsewhere dir | tr '\n' ' ')\" == \"dir: a.er g.erg link sub  elsewhere: c.er \"" \
	"$(ls elsewhere dir)"
printf '#analyzer experiment group\na.er\nsub/b.er\n%s\n' "$PWD/elsewhere/c.er" >dir/g.erg
check "-a removes members outside" er_rm -a dir/g.erg
check_that "-a leaves no member of the group" "$(find . -name '*.er*' | wc -l) == 0" "$(find .)"

fresh
put rec.1.er a.er
mkdir plain.er empty.er && echo x >plain.er/thesis.tex && echo x >file && ln -s a.er link.er
printf '#analyzer experiment group\nplain.er\n' >g.erg
echo x >bad.erg
refuses "missing" "No such file" er_rm gone.er
refuses "a directory that is no experiment" "no log.xml" er_rm plain.er
refuses "a file" "ends in .er" er_rm file
refuses "a link" "symbolic link" er_rm link.er
refuses "a dot" "not the name" er_rm ..
refuses "a group with a wrong member is kept" "no log.xml" er_rm g.erg
refuses "a file that is no group" "first line" er_rm bad.erg
refuses "unknown option" "no such option" er_rm -r a.er
check_that "-f is silent" "\"$(er_rm -f gone.er plain.er link.er bad.erg gone.erg 2>&1; echo $?)\" == \"0\""
check_that "-f removes no more than without" "$(ls -d a.er plain.er file link.er g.erg bad.erg | wc -l) == 6"
check "an empty experiment, as a killed recorder may leave" er_rm empty.er
check "-V" er_rm -V

# Links in an experiment may lead outside; their targets stay.
fresh
mkdir outside && echo precious >outside/file
put rec.1.er a.er
mkdir a.er/archives && ln -s ../../outside a.er/archives/dir && ln -s ../outside/file a.er/notes
ln -s ../outside a.er/_x.er && mkfifo a.er/profile2
check "er_rm removes an experiment with planted links" er_rm a.er
check_that "er_rm removes nothing that planted links lead to" "\"$(cat outside/file) $(ls)\" == \"precious outside\"" "$(ls)"

fresh
put rec.1.er a.er
sed -i -e '/kind="exit"/d' -e "s/hostname=\"[^\"]*\"/hostname=\"$(uname -n)\"/" a.er/log.xml
echo "<recorder version=\"1\" pid=\"$$\" state=\"running\"/>" >a.er/recorder.xml
refuses "still being recorded" "still being recorded by er_kernel (process $$)" er_rm a.er
check "still being recorded, -f" er_rm -f a.er
check "er_rm -f removes an experiment that is still being recorded" test ! -e a.er
