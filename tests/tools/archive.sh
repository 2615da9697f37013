#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_archive: names and copies of mapped files get into the experiment, from their own
# paths. Files that other users plant there have no effect elsewhere.
. "$(dirname "$0")/../lib/tools.sh"

# mapped NAME: a copy of rec.1.er whose code is in a program, $tmp/work/prog, and in a
# library that no stack uses. The program is older than the recording.
mapped()
{
	put rec.1.er "$1"
	cp "$syn/spin" prog && cp "$syn/many" lib && touch -d '2020-02-02' prog lib
	[ -z "${2:-}" ] || rm -f prog
	sed -i "s/hostname=\"[^\"]*\"/hostname=\"$(uname -n)\"/" "$1/log.xml"
	cat >"$1/map.xml" <<-END
	<event kind="map" object="segment" tstamp="0.0" vaddr="0x10000" size="4096" pagesz="4096" foffset="+0x1000" modes="0x005" chksum="0x0" name="$PWD/prog"/>
	<event kind="map" object="segment" tstamp="0.0" vaddr="0x90000" size="4096" pagesz="4096" foffset="+0x1000" modes="0x005" chksum="0x0" name="$PWD/lib"/>
	<event kind="map" object="segment" tstamp="0.0" vaddr="0xffffffff81000000" size="4096" foffset="+0x0" modes="0x005" name="LinuxKernel"/>
	END
}
files() { (cd "$1/archives" 2>/dev/null && echo * | sed 's/_[^ ]*//g'); }

fresh
mapped a.er
functions() { er_print -printmode , -functions "$1" 2>/dev/null | grep -v '<Total>'; }
functions a.er >"$tmp/before"
check "er_archive writes symbol files" er_archive a.er
check_that "er_archive archives both objects, and not the kernel" "\"$(files a.er)\" == \"lib prog\"" "$(ls a.er/archives)"
rm -f prog lib
functions a.er >"$tmp/after"
check "functions have the same names when the objects are gone" cmp "$tmp/before" "$tmp/after"
check "er_archive succeeds when the objects are gone but archived" er_archive a.er
check_that "no warning is printed" "! $(test -e a.er/archive.log; echo $((! $?)))"

fresh
mapped a.er
check "-a usedldobjects archives" er_archive -a usedldobjects a.er
check_that "used objects: one is archived" "\"$(files a.er)\" == \"prog\"" "$(ls a.er/archives)"
check "er_archive copies objects" cmp prog a.er/archives/prog_*
check "symbol files do not replace a copy" er_archive a.er
check "a copy is still there after er_archive without -A" cmp prog a.er/archives/prog_*
check "-A replaces symbol files with copies" er_archive -A a.er
check "-A leaves a copy of the object" cmp lib a.er/archives/lib_*
check "-F replaces symbol files" er_archive -F a.er
check_that "-F puts a symbol file in place of a copy" "$(stat -c %s a.er/archives/prog_*) < $(stat -c %s prog)"
er_archive -A a.er && er_archive -F -m nothing a.er
check "-F is ignored with -m" cmp prog a.er/archives/prog_*

fresh
mapped a.er
check "-m" er_archive -m 'li[b]$' a.er
check_that "-m archives the objects that match" "\"$(files a.er)\" == \"lib\"" "$(ls a.er/archives)"
check "-a off" er_archive -a off a.er

# A program whose sources are in this directory.
fresh
mapped a.er
printf 'int other(void);\nint main(void)\n{\n\treturn other();\n}\n' >one.c
printf 'int other(void)\n{\n\treturn 0;\n}\n' >two.c
${CC:-gcc} -g -o prog one.c two.c && touch -d '2020-02-02' prog one.c two.c
check "-a src" er_archive -q -m 'one|two' -a src a.er
check_that "-a src archives only the sources" "\"$(files a.er)\" == \"one.c two.c\"" "$(ls a.er/archives)"
check "whole" cmp one.c a.er/archives/one.c_*
check "-a on" er_archive -q -m "$PWD" -a on a.er
check_that "-a on archives all objects" "\"$(files a.er)\" == \"lib one.c prog two.c\"" "$(ls a.er/archives)"
echo >>two.c && rm -rf a.er/archives
check_that "a changed source is not archived" "$(er_archive -m two -a src a.er 2>&1 |
	grep -c '1 of its .* source files are not here, changed since') == 1 && \"$(files a.er)\" == \"\""
# All stacks of rec.1.er have one address, 0x10 bytes into the mapping.
rm -rf a.er/archives && touch -d '2020-02-02' two.c
main=$(nm prog | sed -n 's/^0*\([0-9a-f]*\) T main$/\1/p')
sed -i "s/foffset=\"+0x1000\"/foffset=\"+0x$(printf '%x' $((0x$main - 0xc)))\"/" a.er/map.xml
check "-a usedsrc" er_archive -q -a usedsrc a.er
check_that "-a usedsrc archives the source of main" "\"$(files a.er)\" ~ /^one.c/ && \"$(files a.er)\" !~ /two.c/" \
	"$(ls a.er/archives) $(er_export a.er | grep ^stack)"

fresh
mapped a.er
mkdir common
cp -R a.er b.er
check "-d" er_archive -d common -A a.er
check "-d for another experiment" er_archive -d common -A b.er
check_that "-d keeps one copy for two experiments" "$(ls common | wc -l) == 2" "$(ls common)"
check "-d: archives/ has links to the copies" cmp prog a.er/archives/prog_*
rm -f prog lib
functions a.er >one && functions b.er >two
check "er_print opens an experiment archived with -d" cmp one two
check_that "er_print names functions by a copy in the -d directory" "$(functions a.er | grep -c 'no functions found') == 0" "$(functions a.er)"

# Warnings go to standard error and into the experiment.
fresh
mapped a.er gone
er_archive a.er 2>"$tmp/err"
check_that "a missing object is a warning" "$? == 0 && $(grep -c "prog: is not archived: no such file" "$tmp/err") == 1" "$(cat "$tmp/err")"
check_that "the warning is in archive.log" "$(grep -c 'prog: is not archived' a.er/archive.log) == 1"
check_that "-q prints no warning" "\"$(er_archive -q a.er 2>&1)\" == \"\""
cp "$syn/spin" prog
check_that "a changed object is not archived" "$(er_archive a.er 2>&1 | grep -c 'prog: is not archived: changed after') == 1"
check_that "its symbol file is missing" "\"$(files a.er)\" == \"lib\""

fresh
mapped a.er && ln -s a.er link.er && mkdir plain.er && echo x >plain.er/x
put sys.1.er s.er
refuses "missing" "No such file" er_archive gone.er
refuses "no experiment" "no log.xml" er_archive plain.er
refuses "a link" "symbolic link" er_archive link.er
refuses "another machine" "run er_archive there" er_archive s.er
refuses "a descendant" "is part of another" er_archive s.er/_work_PID_12.1.er
refuses "-a" "write off, on" er_archive -a all a.er
refuses "-d" "cannot open" er_archive -d nowhere a.er
refuses "-m" "not a regular expression" er_archive -m '(' a.er
refuses "-m without argument" "needs an argument" er_archive -m
printf '#analyzer experiment group\na.er\n' >g.erg
check "er_archive takes a group" er_archive g.erg
check_that "er_archive of a group archives its members" "\"$(files a.er)\" == \"lib prog\""
check "another machine, with -F" er_archive -F -q s.er

# A file that is no ELF file is no load object and is not copied.
fresh
mapped a.er && echo precious >lib && touch -d '2020-02-02' lib
er_archive -A a.er 2>"$tmp/err"
check_that "a file that is no ELF file is no object" "\"$(files a.er)\" == \"prog\" &&
	$(grep -c 'lib: is not archived: it is no ELF file' "$tmp/err") == 1" "$(cat "$tmp/err")"

# An experiment itself names its files. If another user owns it, only files that this user
# may read are archived.
if [ "$(id -u)" != 0 ]; then
	skip "another owner's experiment" "needs root"
else
	chmod 755 "$tmp"
	fresh
	mapped a.er
	printf 'int other(void);\nint main(void)\n{\n\treturn other();\n}\n' >one.c
	printf 'int other(void)\n{\n\treturn 0;\n}\n' >two.c
	mkdir -m 700 closed && cp two.c closed/three.c && sed -i s/other/third/ closed/three.c
	${CC:-gcc} -g -o prog one.c two.c "$PWD/closed/three.c" && touch -d '2020-02-02' prog lib *.c closed/*.c
	chmod 600 one.c && chmod 700 lib && chmod 755 . && cp -R a.er mine.er && chown -R 65534 a.er
	er_archive -m "$PWD" -a on a.er 2>"$tmp/err"
	check_that "only files that another owner may read are archived" \
		"\"$(files a.er)\" == \"prog two.c\"" "$(ls a.er/archives; cat "$tmp/err")"
	check_that "a message says so" "$(grep -c 'lib: is not archived: the owner of the experiment may not read it' \
		"$tmp/err") == 1" "$(cat "$tmp/err")"
	er_archive -m "$PWD" -a on mine.er 2>"$tmp/err"
	check_that "all files of the caller's own experiment are archived" "\"$(files mine.er)\" == \"lib one.c prog three.c two.c\"" "$(ls mine.er/archives)"
	rm -rf a.er && mv mine.er a.er && rm -rf a.er/archives && chown 65533 a.er && chmod -R a+rwX a.er
	chown 65534 one.c lib
	setpriv --reuid=65534 --regid=65534 --clear-groups er_archive -m "$PWD" -a on a.er 2>"$tmp/err"
	check_that "for an ordinary user the permission bits decide" \
		"\"$(files a.er)\" == \"prog two.c\"" "$(ls a.er/archives; cat "$tmp/err")"
fi

# er_print archives an experiment whose recorder did not end properly, once.
fresh
mapped a.er && cp -R a.er closed.er && sed -i '/kind="exit"/d' a.er/log.xml && cp -R a.er other.er
sed -i 's/hostname="[^"]*"/hostname="elsewhere"/' other.er/log.xml
check_that "er_print archives an abandoned experiment" "$(er_print -functions a.er 2>&1 | grep -c 'archived now') == 1"
check_that "er_print archives both objects of an abandoned experiment" "\"$(files a.er)\" == \"lib prog\""
check_that "er_print archives an abandoned experiment once" "$(er_print -functions a.er 2>&1 | grep -c 'archived now') == 0"
er_print -functions closed.er other.er >/dev/null 2>&1
check_that "neither a closed experiment nor another machine's" "$(ls -d closed.er/archives other.er/archives 2>/dev/null | wc -l) == 0"

# Files that other users planted.
fresh
mapped a.er && mkdir outside && ln -s ../outside a.er/archives
er_archive a.er 2>/dev/null
check_that "an archives/ that is a link is refused" "$? == 1 && $(ls outside | wc -l) == 0"
rm a.er/archives && mkdir a.er/archives && echo keep >victim
name=$(put rec.1.er n.er; mapped n.er; er_archive n.er; ls n.er/archives | grep prog)
ln -s "$PWD/victim" "a.er/archives/$name"
er_archive -F a.er
check_that "a planted link is not written through" "\"$(cat victim)\" == \"keep\""
ln -s "$PWD/victim" a.er/archive.log; rm -f prog a.er/archives/prog*
er_archive -q a.er 2>/dev/null
check_that "a planted archive.log is not written through" "\"$(cat victim)\" == \"keep\""

[ "$(id -u)" = 0 ] || { skip "full disk" "needs root"; exit; }
fresh
mkdir small
mount -t tmpfs -o size=64k er-test small 2>/dev/null || { skip "full disk" "cannot mount one"; exit; }
on_exit=unmount
unmount() { cd / && umount "$tmp/work/small"; }
mapped a.er && mkdir a.er/archives && er_cp a.er small && head -c 200000 /dev/zero >>prog && touch -d 2020-02-02 prog
refuses "full disk" "No space left" er_archive -A -m prog small/a.er
